#include "catenary/functions/noise.h"

#include <cmath>

#include "catenary/array/elementwise_core.h"
#include "catenary/array/random.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/array.h"
#include "catenary/functions/masked.h"
#include "catenary/functions/math_basic.h"

namespace catenary::functions {

namespace {

/// True with probability 1 - ratio, decided by 32 random bits per element.
Array kept(const Shape& shape, double ratio, const Device& device) {
  const auto limit = static_cast<std::int64_t>(std::ceil(ratio * 4294967296.0));
  return random::bits(shape, {.device = device}) >= limit;
}

/// Scales the elements kept by a mask of one byte each.
struct Dropout : Unary<Dropout, keep::nothing> {
  Dropout(const Array& mask, double scale) : mask(mask), scale(scale) {}
  static constexpr const char* kName = "Dropout";
  CT_ATTRIBUTES(mask, scale)
  Array f(const Array& x) { return masked(x); }
  auto df(const auto& gy, const auto&, const auto&) { return masked(gy); }
  template <class T>
  T masked(const T& x) const {
    if (mask.dtype() == Dtype::bool_) return detail::only_where(mask, x * scale);
    return detail::only_where(mask != 0, x * mask * scale);
  }
  Array mask;
  double scale;
};

}  // namespace

Variable dropout(const Variable& x, double ratio, const DropoutOptions& options) {
  CT_DEFINED(x);
  if (!(ratio >= 0 && ratio < 1)) fail<ValueError>("dropout: ratio must be in [0, 1), not {}", ratio);
  if (!config.train) {
    if (options.return_mask) *options.return_mask = Array();
    return x;
  }
  if (!is_floating(x.dtype())) fail<DtypeError>("dropout: x must be floating, not {}", x.dtype());
  const bool given = options.mask.defined();
  if (given && options.mask.shape() != x.shape())
    fail<ShapeError>("dropout: the mask must be {} as x, not {}", x.shape(), options.mask.shape());
  if (ratio == 0 && !given && !options.return_mask) return x;
  const double scale = given ? 1 : 1 / (1 - ratio);
  const Array mask = given ? options.mask.astype(x.dtype()) : kept(x.shape(), ratio, x.device());
  const Variable y = apply(node<Dropout>(mask, scale), x);
  if (options.return_mask) *options.return_mask = mask.astype(x.dtype()) * scale;
  return y;
}

Variable gaussian(const Variable& mean, const Variable& ln_var, const GaussianOptions& options) {
  CT_DEFINED(mean, ln_var);
  if (mean.shape() != ln_var.shape())
    fail<ShapeError>("gaussian: mean and ln_var must have equal shapes, not {} and {}", mean.shape(), ln_var.shape());
  if (mean.dtype() != ln_var.dtype() || !is_floating(mean.dtype()))
    fail<DtypeError>("gaussian: mean and ln_var must have equal floating dtypes, not {} and {}", mean.dtype(),
                     ln_var.dtype());
  if (options.eps.defined() && options.eps.shape() != mean.shape())
    fail<ShapeError>("gaussian: eps must be {} as mean, not {}", mean.shape(), options.eps.shape());
  const Array eps = options.eps.defined()
                        ? options.eps.astype(mean.dtype())
                        : random::standard_normal(mean.shape(), {.dtype = mean.dtype(), .device = mean.device()});
  if (options.return_eps) *options.return_eps = eps;
  return mean + exp(ln_var * 0.5) * eps;
}

Variable gumbel_softmax(const Variable& log_pi, double tau, int axis) {
  CT_DEFINED(log_pi);
  if (!is_floating(log_pi.dtype())) fail<DtypeError>("gumbel_softmax: log_pi must be floating, not {}", log_pi.dtype());
  const Array noise = random::gumbel(0.0, 1.0, log_pi.shape(), {.dtype = log_pi.dtype(), .device = log_pi.device()});
  return softmax((log_pi + noise) / tau, axis);
}

Variable zoneout(const Variable& h, const Variable& x, double ratio) {
  CT_DEFINED(h, x);
  if (!(ratio >= 0 && ratio <= 1)) fail<ValueError>("zoneout: ratio must be in [0, 1], not {}", ratio);
  if (h.shape() != x.shape())
    fail<ShapeError>("zoneout: h and x must have equal shapes, not {} and {}", h.shape(), x.shape());
  return config.train ? where(kept(x.shape(), ratio, x.device()), x, h) : x;
}

Variable simplified_dropconnect(const Variable& x, const Variable& W, const Variable& b,
                                const DropconnectOptions& options) {
  CT_DEFINED(x, W);
  const double ratio = options.train ? options.ratio : 0;
  if (!(ratio >= 0 && ratio < 1)) fail<ValueError>("simplified_dropconnect: ratio must be in [0, 1), not {}", ratio);
  if (x.ndim() < 2 || W.ndim() != 2 || x.size() != x.shape(0) * W.shape(1))
    fail<ShapeError>("simplified_dropconnect: x must be (n, in…) and W (out, in), not {} and {}", x.shape(), W.shape());
  const std::int64_t n = x.shape(0), out = W.shape(0), in = W.shape(1);
  if (b.defined() && b.shape() != Shape{out})
    fail<ShapeError>("simplified_dropconnect: b must be ({},), not {}", out, b.shape());
  Array mask = options.mask;
  if (!mask.defined()) mask = kept(options.use_batchwise_mask ? Shape{n, out, in} : Shape{out, in}, ratio, x.device());
  if (mask.shape() != W.shape() && mask.shape() != Shape{n, out, in})
    fail<ShapeError>("simplified_dropconnect: the mask must be {} or {}, not {}", W.shape(), Shape{n, out, in},
                     mask.shape());
  const Variable weights = detail::only_where(mask != 0, W * (mask.astype(W.dtype()) * (1 / (1 - ratio))));
  const Variable rows = reshape(x, {n, in});
  const Variable y = weights.ndim() == 2 ? matmul(rows, weights, false, true)
                                         : reshape(matmul(weights, reshape(rows, {n, in, 1})), {n, out});
  return b.defined() ? y + b : y;
}

}  // namespace catenary::functions
