#include "catenary/distributed/links.h"

#include "catenary/core/format.h"
#include "catenary/distributed/functions.h"

namespace catenary::distributed {

MultiNodeBatchNormalization::MultiNodeBatchNormalization(const Shape& size, const Communicator& communicator,
                                                         const links::BatchNormalizationLinkOptions& options)
    : BatchNormalization(size, options) {
  avg_var->fill(0);  // as in ChainerMN; Chainer starts with 1
  detail::share_statistics(*this, communicator);
}

void detail::share_statistics(const Link& model, const Communicator& communicator) {
  if (communicator.size() == 1) return;
  model.for_each_link([&](const std::string&, const Link& link) {
    if (const auto* normalization = dynamic_cast<const links::BatchNormalization*>(&link))
      normalization->set_mean_over_processes(
          [communicator](const Array& own) { return communicator.allreduce_mean(own); });
  });
}

namespace {
// Each state has a separate tag, so that backward may receive them in any order. scatter_dataset uses -1.
constexpr int kFirstStateTag = -2;
}  // namespace

void detail::check_neighbours(const Communicator& communicator, std::optional<int> rank_in,
                              std::optional<int> rank_out) {
  for (const std::optional<int>& rank : {rank_in, rank_out})
    if (rank && (*rank < 0 || *rank >= communicator.size() || *rank == communicator.rank()))
      fail<ValueError>("create_multi_node_n_step_rnn: rank {} is invalid; expected another rank below {}", *rank,
                       communicator.size());
}

detail::States detail::receive_states(const Communicator& communicator, std::optional<int> rank, int n) {
  States states(static_cast<std::size_t>(n));
  if (!rank) return states;
  for (int i = 0; i < n; ++i)
    states[static_cast<std::size_t>(i)] = functions::recv(communicator, *rank, {}, kFirstStateTag - i);
  return states;
}

Variable detail::send_states(const Communicator& communicator, std::optional<int> rank, const States& states) {
  Variable delegate;
  for (std::size_t i = 0; rank && i < states.size(); ++i) {
    const Variable state = delegate.defined() ? functions::pseudo_connect(delegate, states[i]) : states[i];
    delegate = functions::send(state, communicator, *rank, kFirstStateTag - static_cast<int>(i));
  }
  return delegate;
}

}  // namespace catenary::distributed
