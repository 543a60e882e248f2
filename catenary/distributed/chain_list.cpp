#include "catenary/distributed/chain_list.h"

#include "catenary/core/format.h"
#include "catenary/distributed/functions.h"

namespace catenary::distributed {

void MultiNodeChainList::add_link(const Model& link, const std::vector<int>& rank_in,
                                  const std::vector<int>& rank_out) {
  for (const std::vector<int>* ranks : {&rank_in, &rank_out})
    for (const int rank : *ranks)
      if (rank < 0 || rank >= communicator_.size() || rank == communicator_.rank())
        fail<ValueError>("MultiNodeChainList::add_link: rank {} is invalid; expected another rank below {}", rank,
                         communicator_.size());
  ChainList::add_link(link);
  ends_.push_back({rank_in, rank_out});
}

Variable MultiNodeChainList::operator()(const Batch& inputs) const {
  if (size() == 0) fail<ValueError>("MultiNodeChainList: rank {} has no links", communicator_.rank());
  // order each message after the previous one, so that backward takes them in reverse
  Variable delegate, output;
  const auto behind = [&](const Variable& y) {
    return delegate.defined() ? functions::pseudo_connect(delegate, y) : y;
  };
  for (std::int64_t i = 0; i < size(); ++i) {
    const Ends& ends = ends_[static_cast<std::size_t>(i)];
    std::vector<Variable> xs;
    for (const int rank : ends.in) {
      xs.push_back(functions::recv(communicator_, rank, delegate));
      delegate = Variable();  // recv has joined it to its result
    }
    Variable y = (*this)[i](ends.in.empty() ? inputs : Batch(xs));
    if (ends.out.empty()) {
      if (output.defined())
        fail<ValueError>("MultiNodeChainList: two links give the output of rank {}", communicator_.rank());
      output = y;
      continue;
    }
    for (const int rank : ends.out) delegate = functions::send(behind(y), communicator_, rank);
  }
  return output.defined() ? behind(output) : delegate;
}

}  // namespace catenary::distributed
