#pragma once
// An optimizer that averages gradients over all ranks.

#include <memory>
#include <optional>

#include "catenary/distributed/communicator.h"
#include "catenary/optimizers/optimizer.h"

namespace catenary::distributed {

/// Options of create_multi_node_optimizer.
struct MultiNodeOptimizerOptions {
  bool zero_fill = true;  ///< a missing gradient counts as zeros, so that ranks may use different parts of the model
  /// As in ChainerMN: the first update only copies rank 0's parameters to all ranks.
  bool first_update_broadcasts_only = false;
  /// Updates with the gradients of the previous iteration, whose exchange overlaps with the computation of the next
  /// ones. The first update only starts an exchange and does not count. Requires a communicator that exchanges in the
  /// background: pure_nccl, flat or non_cuda_aware. (ChainerMN supports pure_nccl only.) A snapshot does not contain an
  /// exchange in progress, so the first update after resuming only starts one again.
  bool double_buffering = false;
  /// Exchanges gradients during backward, with identical results. Default: communicator.overlaps().
  std::optional<bool> overlap = {};
};

namespace detail {
CT_API void add_exchange(const Optimizer& optimizer, const Communicator& communicator,
                         const MultiNodeOptimizerOptions& options);
}  // namespace detail

/// Returns the optimizer, modified so that each update first replaces the gradients by their means over all ranks,
/// before clipping and other hooks.
///
/// - Parameters: each new target gets rank 0's parameters on all ranks before its first loss. For parameters without
///   shapes, update(loss) first runs a forward pass that leaves random numbers, persistent arrays and reports
///   unchanged.
/// - update() without a loss follows a backward. If the ranks' parameters differ then, it copies rank 0's parameters
///   and skips the step, since the gradients belong to other parameters. Call bcast_data(model) before the loop to
///   avoid this.
/// - Overlap: flat and non_cuda_aware can exchange gradients in buckets by a background thread while update(loss)
///   computes, with identical results. pure_nccl exchanges on a separate stream.
///
/// Throws ValueError on every rank if models differ, for overlap with another communicator, and for double_buffering
/// with naive and dummy. (chainermn.create_multi_node_optimizer)
template <std::derived_from<Optimizer> O>
O create_multi_node_optimizer(const O& optimizer, const Communicator& communicator,
                              const MultiNodeOptimizerOptions& options = {}) {
  detail::add_exchange(optimizer, communicator, options);
  return optimizer;
}

}  // namespace catenary::distributed
