#pragma once
// Links that connect all inputs with all outputs.

#include <functional>
#include <optional>

#include "catenary/links/link.h"

namespace catenary::links {

struct LinearOptions {
  bool nobias = false;
  std::optional<ParameterInit> initialW = {};  ///< LeCunNormal when not given
  ParameterInit initial_bias = 0;
};

/// y = x Wᵀ + b for x (N, in_size), W (out_size, in_size). (chainer.links.Linear)
class CT_API Linear : public Link {
 public:
  /// The input size is found at the first call.
  explicit Linear(std::int64_t out_size, const LinearOptions& options = {});
  Linear(std::int64_t in_size, std::int64_t out_size, const LinearOptions& options = {});
  /// Axes before n_batch_axes are batch axes, the others are inputs.
  Variable operator()(const Variable& x, int n_batch_axes = 1) const;
  std::string type_name() const override { return "Linear"; }
  std::int64_t out_size;
  Parameter W, b;
  CT_LINKS(W, b)
};

}  // namespace catenary::links
