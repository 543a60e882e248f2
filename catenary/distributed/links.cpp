#include "catenary/distributed/links.h"

namespace catenary::distributed {

MultiNodeBatchNormalization::MultiNodeBatchNormalization(const Shape& size, const Communicator& communicator,
                                                         const links::BatchNormalizationLinkOptions& options)
    : BatchNormalization(size, options) {
  avg_var->fill(0);  // ChainerMN's begins so, Chainer's by 1
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

}  // namespace catenary::distributed
