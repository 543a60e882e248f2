#pragma once
// Links that compute across ranks.

#include <optional>
#include <vector>

#include "catenary/distributed/communicator.h"
#include "catenary/links/normalization.h"
#include "catenary/links/rnn.h"

namespace catenary::distributed {

/// Batch normalization by the mean and variance over the batches of all ranks during training. The batches should have
/// equal sizes. The gradients of gamma and beta are means over the ranks. (chainermn.links.MultiNodeBatchNormalization)
class CT_API MultiNodeBatchNormalization : public links::BatchNormalization {
 public:
  MultiNodeBatchNormalization(const Shape& size, const Communicator& communicator,
                              const links::BatchNormalizationLinkOptions& options = {});
  MultiNodeBatchNormalization(std::int64_t size, const Communicator& communicator,
                              const links::BatchNormalizationLinkOptions& options = {})
      : MultiNodeBatchNormalization(Shape{size}, communicator, options) {}
  std::string type_name() const override { return "MultiNodeBatchNormalization"; }
};

namespace detail {
CT_API void share_statistics(const Link& model, const Communicator& communicator);
}  // namespace detail

/// Returns a copy of a model in which every BatchNormalization works like MultiNodeBatchNormalization.
/// (chainermn.links.create_mnbn_model)
template <std::derived_from<Link> L>
L create_mnbn_model(const L& model, const Communicator& communicator) {
  L result = copy_link(model, CopyMode::copy);
  detail::share_statistics(result, communicator);
  return result;
}

/// The result of a multi-node n_step link: the link's result, and a delegate if it has sent its states to a rank.
struct MultiNodeNStepResult : catenary::functions::NStepResult {
  Variable delegate;
};

namespace detail {
using States = std::vector<Variable>;  // hy, and cy of LSTMs
/// Throws ValueError for a rank that does not exist or is this rank.
CT_API void check_neighbours(const Communicator& communicator, std::optional<int> rank_in, std::optional<int> rank_out);
CT_API States receive_states(const Communicator& communicator, std::optional<int> rank, int n);
/// Returns one delegate for all states, or an undefined Variable if there is no rank to send to.
CT_API Variable send_states(const Communicator& communicator, std::optional<int> rank, const States& states);
}  // namespace detail

/// An n_step link that receives its initial states from one rank and sends its final states to another, for sequences
/// divided over several ranks in order.
template <std::derived_from<links::NStepBase> L>
class MultiNodeNStepRNN : public Chain {
 public:
  MultiNodeNStepRNN(const L& link, const Communicator& communicator, std::optional<int> rank_in,
                    std::optional<int> rank_out)
      : actual_rnn(link), communicator_(communicator), rank_in_(rank_in), rank_out_(rank_out) {
    detail::check_neighbours(communicator, rank_in, rank_out);
  }
  /// Runs the link on sequences [length, in], whose number must be equal on all these ranks. A rank that sends must
  /// call backward on the delegate, or on a variable joined to it by functions::pseudo_connect.
  MultiNodeNStepResult operator()(const std::vector<Variable>& xs) const {
    const detail::States before = detail::receive_states(communicator_, rank_in_, L::n_cells);
    MultiNodeNStepResult result;
    catenary::functions::NStepResult& after = result;
    detail::States sent;
    if constexpr (L::n_cells == 2) {
      after = actual_rnn(before[0], before[1], xs);
      sent = {after.hy, after.cy};
    } else {
      after = actual_rnn(before[0], xs);
      sent = {after.hy};
    }
    result.delegate = detail::send_states(communicator_, rank_out_, sent);
    return result;
  }
  std::string type_name() const override { return "MultiNodeNStepRNN"; }
  L actual_rnn;
  CT_LINKS(actual_rnn)

 private:
  Communicator communicator_;
  std::optional<int> rank_in_, rank_out_;
};

/// Wraps an NStepLSTM, NStepGRU, NStepRNNTanh, NStepRNNReLU or a bidirectional form. Without rank_in the states start
/// at zero; without rank_out they are not sent. Throws ValueError for a rank that does not exist or is this rank.
/// (chainermn.links.create_multi_node_n_step_rnn)
template <std::derived_from<links::NStepBase> L>
MultiNodeNStepRNN<L> create_multi_node_n_step_rnn(const L& actual_link, const Communicator& communicator,
                                                  std::optional<int> rank_in = {}, std::optional<int> rank_out = {}) {
  return {actual_link, communicator, rank_in, rank_out};
}

}  // namespace catenary::distributed
