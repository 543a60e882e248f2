#pragma once
// A model whose links are on different ranks.

#include <vector>

#include "catenary/distributed/communicator.h"
#include "catenary/links/sequential.h"

namespace catenary::distributed {

/// Links of this rank, each with the ranks that send its inputs and receive its output. An empty list of ranks means
/// the input or the output of the whole list. Call it with the input on ranks that have an input, and without arguments
/// elsewhere. If no link of a rank produces the list's output, the call returns a delegate, and the rank must call
/// backward on it. (chainermn.MultiNodeChainList)
class CT_API MultiNodeChainList : public ChainList {
 public:
  explicit MultiNodeChainList(const Communicator& communicator) : communicator_(communicator) {}
  /// Adds a link. Throws ValueError for a rank that does not exist or is this rank.
  void add_link(const Model& link, const std::vector<int>& rank_in = {}, const std::vector<int>& rank_out = {});
  Variable operator()() const { return (*this)(Batch()); }
  Variable operator()(const Variable& x) const { return (*this)(Batch({x})); }
  /// Runs the links. Throws ValueError if there are no links.
  Variable operator()(const Batch& inputs) const;
  std::string type_name() const override { return "MultiNodeChainList"; }

 private:
  struct Ends {
    std::vector<int> in, out;
  };
  Communicator communicator_;
  std::vector<Ends> ends_;
};

}  // namespace catenary::distributed
