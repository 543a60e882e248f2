#pragma once
// A model whose links lie on different ranks.

#include <vector>

#include "catenary/distributed/communicator.h"
#include "catenary/links/sequential.h"

namespace catenary::distributed {

/// Links of this rank, each with the ranks that it takes its inputs from and gives its output to; no rank means the
/// list's own input, and its own output. Called with the input on ranks that have one and without arguments elsewhere.
/// A rank whose links give nothing of their own gets a delegate, on which it must call backward.
/// (chainermn.MultiNodeChainList)
class CT_API MultiNodeChainList : public ChainList {
 public:
  explicit MultiNodeChainList(const Communicator& communicator) : communicator_(communicator) {}
  /// Throws ValueError for a rank that is not there or this one.
  void add_link(const Model& link, const std::vector<int>& rank_in = {}, const std::vector<int>& rank_out = {});
  Variable operator()() const { return (*this)(Batch()); }
  Variable operator()(const Variable& x) const { return (*this)(Batch({x})); }
  /// Throws ValueError where there are no links.
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
