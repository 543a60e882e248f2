#pragma once
// Links whose ranks compute together.

#include "catenary/distributed/communicator.h"
#include "catenary/links/normalization.h"

namespace catenary::distributed {

/// Batch normalization by the mean and variance over the batches of all ranks, which should be of one size, while
/// training. The gradients of gamma and beta are means over the ranks. (chainermn.links.MultiNodeBatchNormalization)
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

/// A copy of a model in which every BatchNormalization works as MultiNodeBatchNormalization does.
/// (chainermn.links.create_mnbn_model)
template <std::derived_from<Link> L>
L create_mnbn_model(const L& model, const Communicator& communicator) {
  L result = copy_link(model, CopyMode::copy);
  detail::share_statistics(result, communicator);
  return result;
}

}  // namespace catenary::distributed
