// Decorrelated batch normalization: whitening by the inverse square root of the covariance.

#include <algorithm>
#include <optional>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/autograd/attributes.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/function_node.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/functions/array.h"
#include "catenary/functions/forget.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/math_reduction.h"
#include "catenary/functions/normalization.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

/// Eigenvalues as columns [n, c, 1] and eigenvectors of a stack of symmetric matrices [n, c, c].
struct Spectrum {
  Array values, vectors;
  explicit Spectrum(const linalg::EighResult& e)
      : values(e.values.reshape({e.values.shape(0), e.values.shape(1), 1})), vectors(e.vectors) {}
  Array rows() const { return matrix_transpose(values); }
  /// vectors x vectorsᵀ, and its reverse.
  Array back(const Array& x) const { return catenary::matmul(catenary::matmul(vectors, x), matrix_transpose(vectors)); }
  Array into(const Array& x) const { return catenary::matmul(catenary::matmul(matrix_transpose(vectors), x), vectors); }
};

/// z with s z + z s = q, for symmetric positive definite s [n, c, c]. (Lyapunov's equation)
class Lyapunov : public FunctionNode {
 public:
  const char* name() const override { return "Lyapunov"; }
  CT_ATTRIBUTES()

 protected:
  Arrays forward(Inputs x) override {
    retain_inputs({0});
    retain_outputs({0});
    const Spectrum s(linalg::eigh(x[0]));
    return s.back(s.into(x[1]) / (s.values + s.rows()));
  }
  Variables backward(Targets targets, Grads gz) override {
    const Variable gq = apply_to(retained_input(0), gz[0]);
    return gradients(targets, [&](int i) {
      if (i == 1) return gq;
      const Variable z = retained_output(0);
      return -(matmul(gq, z, false, true) + matmul(z, gq, true));
    });
  }

 private:
  static Variable apply_to(const Variable& s, const Variable& q) { return catenary::apply(node<Lyapunov>(), s, q); }
};

/// a^(-1/2) of symmetric positive definite matrices [n, c, c].
class InverseRoot : public FunctionNode {
 public:
  const char* name() const override { return "InverseRoot"; }
  CT_ATTRIBUTES()

 protected:
  Arrays forward(Inputs x) override {
    retain_outputs({0});
    spectrum_.emplace(linalg::eigh(x[0]));
    spectrum_->values = catenary::rsqrt(spectrum_->values);
    return catenary::matmul(spectrum_->vectors * spectrum_->rows(), matrix_transpose(spectrum_->vectors));
  }
  Variables backward(Targets, Grads gy) override {
    // y y = a⁻¹, so y dy + dy y = -y² da y². The gradient is -y² z y², where y z + z y = gy.
    if (!config.enable_backprop) {
      // in the basis that diagonalises y, widely spread eigenvalues cost no precision
      const Array &s = spectrum_->values, t = spectrum_->rows();
      return Variable(spectrum_->back(-(spectrum_->into(gy[0].array()) * (s * s) * (t * t) / (s + t))), false);
    }
    const Variable y = retained_output(0), square = matmul(y, y);
    return -matmul(matmul(square, catenary::apply(node<Lyapunov>(), y, gy[0])), square);
  }

 private:
  std::optional<Spectrum> spectrum_;  // of y
};

/// The layout of x [n, channels, d…] as [groups, channels of a group, n d…].
struct Groups {
  std::int64_t groups, channels, count;
  Axes axes;      ///< channels first, equals its own reverse
  Shape swapped;  ///< x's shape with channels first

  Groups(const Variable& x, int n, const char* what) : groups(n) {
    if (x.ndim() < 2) fail<ShapeError>("{}: x must be (n, channels, d…), not {}", what, x.shape());
    if (!is_floating(x.dtype())) fail<DtypeError>("{}: x must be floating, not {}", what, x.dtype());
    if (n < 1 || x.shape(1) % n != 0)
      fail<ValueError>("{}: {} channels are no multiple of {} groups", what, x.shape(1), n);
    channels = x.shape(1) / n;
    count = x.shape(1) ? x.size() / x.shape(1) : 0;
    axes = {1, 0};
    swapped = {x.shape(1), x.shape(0)};
    for (int i = 2; i < x.ndim(); ++i) {
      axes.push_back(i);
      swapped.push_back(x.shape(i));
    }
  }
  Variable grouped(const Variable& x) const { return reshape(transpose(x, axes), {groups, channels, count}); }
  Variable restored(const Variable& y) const { return transpose(reshape(y, swapped), axes); }
  void check(const Shape& shape, const Shape& expected, const char* name, const char* what) const {
    if (shape != expected)
      fail<ShapeError>("{}: {} must be {} for {} groups of {} channels, not {}", what, name, expected, groups, channels,
                       shape);
  }
  Shape mean_shape() const { return {groups, channels}; }
  Shape projection_shape() const { return {groups, channels, channels}; }
};

Dtype wide(Dtype dtype) { return is_16bit_float(dtype) ? Dtype::float32 : dtype; }

}  // namespace

Variable decorrelated_batch_normalization(const Variable& x, const DecorrelatedBatchNormalizationOptions& options) {
  CT_DEFINED(x);
  const char* what = "decorrelated_batch_normalization";
  const Groups g(x, options.groups, what);
  const Array &running_mean = options.running_mean, &running_projection = options.running_projection;
  if (running_mean.defined()) g.check(running_mean.shape(), g.mean_shape(), "running_mean", what);
  if (running_projection.defined())
    g.check(running_projection.shape(), g.projection_shape(), "running_projection", what);
  if (g.count == 0) fail<ShapeError>("{}: x of shape {} has no elements", what, x.shape());
  const Dtype dtype = wide(x.dtype());
  const Variable wide_x = g.grouped(cast(x, dtype)), mean = functions::mean(wide_x, 2, true), centered = wide_x - mean;
  const double n = static_cast<double>(g.count);
  const Array ridge = options.eps * catenary::eye(g.channels, {}, 0, dtype).to_device(x.device());
  const Variable covariance = matmul(centered, centered, false, true) / n + ridge;
  const Variable projection = apply(node<InverseRoot>(), covariance);
  const auto update = [&](const Array& running, const Array& batch, double factor) {
    if (!running.defined() || recomputing()) return;
    running *= options.decay;
    running += (batch.reshape(running.shape()) * ((1 - options.decay) * factor)).astype(running.dtype());
  };
  update(running_mean, mean.array(), 1);
  update(running_projection, projection.array(), n / std::max(n - 1, 1.0));  // unbiased
  return cast(g.restored(matmul(projection, centered)), x.dtype());
}

Variable fixed_decorrelated_batch_normalization(const Variable& x, const Variable& mean, const Variable& projection,
                                                int groups) {
  CT_DEFINED(x, mean, projection);
  const char* what = "fixed_decorrelated_batch_normalization";
  const Groups g(x, groups, what);
  g.check(mean.shape(), g.mean_shape(), "mean", what);
  g.check(projection.shape(), g.projection_shape(), "projection", what);
  const Dtype dtype = wide(promote(x.dtype(), promote(mean.dtype(), projection.dtype())));
  const Variable centered = g.grouped(cast(x, dtype)) - reshape(cast(mean, dtype), {g.groups, g.channels, 1});
  return cast(g.restored(matmul(cast(projection, dtype), centered)), x.dtype());
}

std::span<const Signature> detail::decorrelation_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("normalization.decorrelated_batch_normalization", decorrelated_batch_normalization, "x",
                   options("=...")),
      CT_SIGNATURE("normalization.decorrelated_batch_normalization", fixed_decorrelated_batch_normalization, "x",
                   "mean", "projection", "groups"),
  };
  return all;
}

}  // namespace catenary::functions
