#pragma once
// An optimizer whose gradients are the means over all ranks.

#include <memory>
#include <optional>

#include "catenary/distributed/communicator.h"
#include "catenary/optimizers/optimizer.h"

namespace catenary::distributed {

/// Options of create_multi_node_optimizer.
struct MultiNodeOptimizerOptions {
  bool zero_fill =
      true;  ///< a parameter without a gradient counts as one of zeros, so that ranks may use different parts
  /// As ChainerMN: the first update gives all ranks rank 0's parameters and does nothing else.
  bool first_update_broadcasts_only = false;
  /// Each update goes by the gradients of the update before, which are exchanged while the next are computed; the first
  /// one only starts that, changes nothing and does not count. For communicators that exchange in the background:
  /// pure_nccl, flat and non_cuda_aware. (ChainerMN has it for pure_nccl only.) What is on its way is not part of a
  /// snapshot: after resuming the first update is such a one again.
  bool double_buffering = false;
  /// Gradients are exchanged while backward computes others: by default where communicator.overlaps(). The bits are the
  /// same.
  std::optional<bool> overlap = {};
};

namespace detail {
CT_API void add_exchange(const Optimizer& optimizer, const Communicator& communicator,
                         const MultiNodeOptimizerOptions& options);
}  // namespace detail

/// Has updates of this optimizer begin with the mean of all ranks' gradients, before clipping and other hooks see them,
/// and returns it. Before its first loss each new target gets rank 0's parameters on all ranks: update(loss) runs a
/// forward pass for parameters that wait for their shapes, which leaves no trace in random numbers, persistent arrays
/// and reports. update() alone comes after a backward; where the ranks' parameters differ then, it gives them rank 0's
/// and does no step, as the gradients are other parameters' (so call bcast_data(model) before the loop). With the
/// communicators flat and non_cuda_aware gradients can be exchanged in buckets, by a thread of their own and while
/// update(loss) still computes others, with the same bits; with pure_nccl they are exchanged in a stream of their own.
/// Throws ValueError on every rank where models differ, for overlap with any other communicator, and for
/// double_buffering with naive and dummy.
/// (chainermn.create_multi_node_optimizer)
template <std::derived_from<Optimizer> O>
O create_multi_node_optimizer(const O& optimizer, const Communicator& communicator,
                              const MultiNodeOptimizerOptions& options = {}) {
  detail::add_exchange(optimizer, communicator, options);
  return optimizer;
}

}  // namespace catenary::distributed
