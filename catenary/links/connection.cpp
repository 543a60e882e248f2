#include "catenary/links/connection.h"

#include "catenary/functions/connection.h"
#include "catenary/initializers/initializers.h"

namespace catenary::links {

namespace {

/// The given initializer, or LeCunNormal.
ParameterInit weight_init(const std::optional<ParameterInit>& given) {
  return given ? *given : ParameterInit(initializers::LeCunNormal());
}

}  // namespace

Linear::Linear(std::int64_t out, const LinearOptions& options) : out_size(out), W(weight_init(options.initialW), "W") {
  if (!options.nobias) b = Parameter(options.initial_bias, Shape{out}, "b");
}

Linear::Linear(std::int64_t in, std::int64_t out, const LinearOptions& options) : Linear(out, options) {
  W.initialize({out, in});
}

Variable Linear::operator()(const Variable& x, int n_batch_axes) const {
  if (!W.is_initialized()) {
    std::int64_t in = 1;
    for (int axis = n_batch_axes; axis < x.ndim(); ++axis) in *= x.shape()[axis];
    W.initialize({out_size, in});
  }
  return hooked(
      *this,
      [&] { return b.defined() ? functions::linear(x, W, b, n_batch_axes) : functions::linear(x, W, n_batch_axes); },
      x);
}

}  // namespace catenary::links
