#include "catenary/functions/activation.h"

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/random.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/functions/array.h"
#include "catenary/functions/masked.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/math_reduction.h"
#include "catenary/functions/math_special.h"
#include "catenary/functions/rows.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

struct ReLU : Unary<ReLU, keep::y> {
  static constexpr const char* kName = "ReLU";
  static Array f(const Array& x) { return catenary::relu(x); }
  static auto df(const auto& gy, const auto&, const auto& y) { return detail::only_where(values_of(y) > 0, gy); }
};
struct Sigmoid : Unary<Sigmoid, keep::y> {
  static constexpr const char* kName = "Sigmoid";
  static Array f(const Array& x) { return catenary::sigmoid(as_float(x)); }
  static auto df(const auto& gy, const auto&, const auto& y) { return gy * y * (1.0 - y); }
};
struct Tanh : Unary<Tanh, keep::y> {
  static constexpr const char* kName = "Tanh";
  static Array f(const Array& x) { return catenary::tanh(as_float(x)); }
  static auto df(const auto& gy, const auto&, const auto& y) { return gy * (1.0 - y * y); }
};

/// The dtype for sums and differences of close numbers.
Dtype wide_of(Dtype dtype) { return promote(dtype, Dtype::float32); }

struct Softmax : Unary<Softmax, keep::y> {
  explicit Softmax(int axis) : axis(axis) {}
  static constexpr const char* kName = "Softmax";
  CT_ATTRIBUTES(axis)
  Array f(const Array& input) {
    const Array given = as_float(input);
    if (detail::has_softmax_rows(given, axis)) return detail::softmax_rows(SoftmaxOp::softmax, given, axis);
    const Array x = as_dtype(given, wide_of(given.dtype()));
    const Array e = catenary::exp(x - x.max(axis, true));
    return as_dtype(e / e.sum(axis, true), given.dtype());
  }
  Variable df(const Variable& gy, const Variable&, const Variable& given) {
    if (!config.enable_backprop && detail::has_softmax_rows(given.array(), axis))
      return Variable(detail::softmax_rows_back(SoftmaxOp::softmax_back, given.array(), gy.array(), axis), false);
    const Variable y = cast(given, wide_of(given.dtype())), p = gy * y;
    return cast(p - y * sum(p, axis, true), given.dtype());
  }
  int axis;
};
struct LogSoftmax : Unary<LogSoftmax, keep::y> {
  explicit LogSoftmax(int axis) : axis(axis) {}
  static constexpr const char* kName = "LogSoftmax";
  CT_ATTRIBUTES(axis)
  Array f(const Array& input) {
    const Array given = as_float(input);
    if (detail::has_softmax_rows(given, axis)) return detail::softmax_rows(SoftmaxOp::log_softmax, given, axis);
    const Array x = as_dtype(given, wide_of(given.dtype()));
    const Array shifted = x - x.max(axis, true);
    return as_dtype(shifted - catenary::log(catenary::exp(shifted).sum(axis, true)), given.dtype());
  }
  Variable df(const Variable& given, const Variable&, const Variable& y) {
    if (!config.enable_backprop && detail::has_softmax_rows(y.array(), axis))
      return Variable(detail::softmax_rows_back(SoftmaxOp::log_softmax_back, y.array(), given.array(), axis), false);
    const Variable gy = cast(given, wide_of(given.dtype()));
    return cast(gy - exp(cast(y, gy.dtype())) * sum(gy, axis, true), given.dtype());
  }
  int axis;
};

struct ClippedReLU : Unary<ClippedReLU, keep::y> {
  explicit ClippedReLU(double z) : z(z) {}
  static constexpr const char* kName = "ClippedReLU";
  CT_ATTRIBUTES(z)
  Array f(const Array& x) { return catenary::minimum(catenary::maximum(x, 0), z).astype(x.dtype()); }
  auto df(const auto& gy, const auto&, const auto& y) {
    return detail::only_where((values_of(y) > 0) & (values_of(y) < z), gy);
  }
  double z;
};

/// x, or slope(x) where x <= 0, as in Chainer: at 0 the gradient is the slope. Without a negative slope, y shows the
/// sign of x, which need not be kept.
template <unsigned kept>
struct LeakyReLU : Unary<LeakyReLU<kept>, kept> {
  explicit LeakyReLU(double slope) : slope(slope) {}
  static constexpr const char* kName = "LeakyReLU";
  CT_ATTRIBUTES(slope)
  Array f(const Array& x) { return catenary::where(x <= 0, x * slope, x); }
  auto df(const auto& gy, const auto& x, const auto& y) {
    const Array negative = values_of(kept == keep::x ? x : y) <= 0;
    return detail::either(negative, gy * slope, gy);
  }
  double slope;
};
template <unsigned kept>
struct ELU : Unary<ELU<kept>, kept> {
  explicit ELU(double alpha) : alpha(alpha) {}
  static constexpr const char* kName = "ELU";
  CT_ATTRIBUTES(alpha)
  Array f(const Array& input) {
    const Array x = as_float(input);
    return catenary::where(x > 0, x, catenary::expm1(x) * alpha);
  }
  auto df(const auto& gy, const auto& x, const auto& y) {
    const Array positive = values_of(kept == keep::y ? y : x) > 0;
    return gy * where(positive, Scalar(1.0), y + alpha);  // also if y is infinite
  }
  double alpha;
};
struct PReLU : Binary<PReLU, keep::x0 | keep::x1> {
  static constexpr const char* kName = "PReLUFunction";
  static Array f(const Array& x, const Array& W) { return catenary::where(x >= 0, x, x * W); }
  static auto df0(const auto& gy, const auto& x, const auto& W, const auto&) {
    return detail::either(values_of(x) >= 0, gy, gy * W);
  }
  static auto df1(const auto& gy, const auto& x, const auto&, const auto&) {
    return gy * where(values_of(x) < 0, x, Scalar(0.0));  // also if x is infinite
  }
};
struct RReLU : Unary<RReLU, keep::y> {
  explicit RReLU(const Array& r) : r(r) {}
  static constexpr const char* kName = "RReLU";
  CT_ATTRIBUTES(r)
  Array f(const Array& x) { return catenary::where(x >= 0, x, x * r); }
  auto df(const auto& gy, const auto&, const auto& y) { return detail::either(values_of(y) >= 0, gy, gy * r); }
  Array r;
};
struct CReLU : Unary<CReLU, keep::x> {
  explicit CReLU(int axis) : axis(axis) {}
  static constexpr const char* kName = "CReLU";
  CT_ATTRIBUTES(axis)
  Array f(const Array& x) {
    return concatenate({catenary::relu(x), catenary::relu(-x)}, normalize_axis(axis, x.ndim(), "crelu"));
  }
  Variable df(const Variable& gy, const Variable& x, const Variable&) {
    const int a = normalize_axis(axis, x.ndim(), "crelu");
    std::vector<Index> former(static_cast<std::size_t>(a + 1), slice()), latter = former;
    former.back() = slice(x.shape(a));
    latter.back() = slice(x.shape(a), none);
    return detail::only_where(x.array() > 0, get_item(gy, former)) -
           detail::only_where(x.array() < 0, get_item(gy, latter));
  }
  int axis;
};
struct Softplus : Unary<Softplus, keep::x> {
  explicit Softplus(double beta) : beta(beta) {}
  static constexpr const char* kName = "Softplus";
  CT_ATTRIBUTES(beta)
  Array f(const Array& x) { return catenary::softplus(as_float(x) * beta) / beta; }
  Variable df(const Variable& gy, const Variable& x, const Variable&) { return gy * sigmoid(x * beta); }
  double beta;
};
struct Swish : Binary<Swish, keep::x0 | keep::x1> {
  static constexpr const char* kName = "Swish";
  static Array f(const Array& x, const Array& beta) { return x * catenary::sigmoid(x * beta); }
  static Variable df0(const Variable& gy, const Variable& x, const Variable& beta, const Variable&) {
    const Variable s = sigmoid(x * beta), by = x * s * beta;
    return gy * (by + s * (1.0 - by));
  }
  static Variable df1(const Variable& gy, const Variable& x, const Variable& beta, const Variable&) {
    const Variable y = x * sigmoid(x * beta);
    return gy * y * (x - y);
  }
};
/// Keeps intermediate results of 16-bit floats in float32.
template <class F>
struct Wide : Unary<F, keep::x> {
  Array f(const Array& input) {
    const Array x = as_float(input);
    return as_dtype(F::value(as_dtype(x, wide_of(x.dtype()))), x.dtype());
  }
  Variable df(const Variable& gy, const Variable& x, const Variable&) {
    const Dtype wide = wide_of(x.dtype());
    return cast(cast(gy, wide) * F::slope(cast(x, wide)), x.dtype());
  }
};
struct GELU : Wide<GELU> {
  static constexpr const char* kName = "GELU";
  static constexpr double kRoot = 0.70710678118654752440;     // sqrt(1 / 2)
  static constexpr double kDensity = 0.39894228040143267794;  // 1 / sqrt(2 pi)
  Array f(const Array& input) {
    const Array x = as_float(input);
    return detail::has_gelu(x) ? detail::gelu_rows(x) : Wide::f(x);
  }
  Variable df(const Variable& gy, const Variable& x, const Variable& y) {
    if (!config.enable_backprop && detail::has_gelu(x.array()))
      return Variable(detail::gelu_rows(x.array(), gy.array()), false);
    return Wide::df(gy, x, y);
  }
  static Array value(const Array& x) { return x * (catenary::erf(x * kRoot) + 1.0) * 0.5; }
  static Variable slope(const Variable& x) { return (erf(x * kRoot) + 1.0) * 0.5 + x * exp(x * x * -0.5) * kDensity; }
};
struct TanhGELU : Wide<TanhGELU> {
  static constexpr const char* kName = "TanhGELU";
  static constexpr double kRoot = 0.79788456080286535588, kCube = 0.044715;  // sqrt(2 / pi)
  static Array value(const Array& x) { return x * (catenary::tanh((x + x * x * x * kCube) * kRoot) + 1.0) * 0.5; }
  static Variable slope(const Variable& x) {
    const Variable squares = x * x, t = tanh(x * (squares * kCube + 1.0) * kRoot);
    return (t + 1.0) * 0.5 + x * (1.0 - t * t) * (squares * (3 * kCube) + 1.0) * (0.5 * kRoot);
  }
};
struct SiLU : Wide<SiLU> {
  static constexpr const char* kName = "SiLU";
  static Array value(const Array& x) { return x * catenary::sigmoid(x); }
  static Variable slope(const Variable& x) {
    const Variable s = sigmoid(x);
    return s * (x * (1.0 - s) + 1.0);
  }
};
struct HardSigmoid : Unary<HardSigmoid, keep::x> {
  static constexpr const char* kName = "HardSigmoid";
  static Array f(const Array& x) { return catenary::minimum(catenary::maximum(as_float(x) * 0.2 + 0.5, 0), 1); }
  static auto df(const auto& gy, const auto& x, const auto&) {
    return detail::only_where((values_of(x) > -2.5) & (values_of(x) < 2.5), gy * 0.2);
  }
};

/// Reshapes a weight for x's axes from the second on, with axes of length 1 for the others.
Variable along_channels(const Variable& x, const Variable& w, const char* what) {
  Shape shape = Shape::filled(x.ndim(), 1);
  bool fits = w.ndim() < x.ndim();
  for (int i = 0; fits && i < w.ndim(); ++i) {
    fits = w.shape(i) == x.shape(i + 1);
    shape[i + 1] = w.shape(i);
  }
  if (!fits)
    fail<ShapeError>("{} {} does not fit x {}: it must have x's shape without its first axis", what, w.shape(),
                     x.shape());
  if (!is_floating(x.dtype()) || w.dtype() != x.dtype())
    fail<DtypeError>("{} must be floating and have x's dtype, not {} and {}", what, w.dtype(), x.dtype());
  return reshape(w, shape);
}

}  // namespace

Variable relu(const Variable& x) { return apply(node<ReLU>(), x); }
Variable sigmoid(const Variable& x) { return apply(node<Sigmoid>(), x); }
Variable tanh(const Variable& x) { return apply(node<Tanh>(), x); }
Variable softmax(const Variable& x, int axis) { return apply(node<Softmax>(axis), x); }
Variable log_softmax(const Variable& x, int axis) { return apply(node<LogSoftmax>(axis), x); }
Variable clipped_relu(const Variable& x, double z) { return apply(node<ClippedReLU>(z), x); }
Variable relu6(const Variable& x) { return clipped_relu(x, 6.0); }
Variable leaky_relu(const Variable& x, double slope) {
  CT_DEFINED(x);
  if (slope >= 0) return apply(node<LeakyReLU<keep::y>>(slope), x);
  return apply(node<LeakyReLU<keep::x>>(slope), x);
}
Variable elu(const Variable& x, double alpha) {
  CT_DEFINED(x);
  if (alpha >= 0) return apply(node<ELU<keep::y>>(alpha), x);
  return apply(node<ELU<keep::x | keep::y>>(alpha), x);
}
Variable selu(const Variable& x, double alpha, double scale) { return elu(x, alpha) * scale; }
Variable prelu(const Variable& x, const Variable& W) {
  CT_DEFINED(x, W);
  return apply(node<PReLU>(), x, along_channels(x, W, "prelu: W"));
}
Variable rrelu(const Variable& x, double l, double u, const RReLUOptions& options) {
  CT_DEFINED(x);
  if (!(0 <= l && l < u && u < 1)) fail<ValueError>("rrelu: l and u must be 0 <= l < u < 1, not {} and {}", l, u);
  Array r = options.r;
  if (!config.train) {
    r = full_like(x.array(), (l + u) / 2);
  } else if (!r.defined()) {
    r = random::uniform(l, u, x.shape(), {.dtype = x.dtype(), .device = x.device()});
  }
  if (r.shape() != x.shape()) fail<ShapeError>("rrelu: r must be {} as x, not {}", x.shape(), r.shape());
  if (options.return_r) *options.return_r = r;
  return apply(node<RReLU>(r), x);
}
Variable crelu(const Variable& x, int axis) { return apply(node<CReLU>(axis), x); }
Variable softplus(const Variable& x, double beta) { return apply(node<Softplus>(beta), x); }
Variable swish(const Variable& x, const Variable& beta) {
  CT_DEFINED(x, beta);
  return apply(node<Swish>(), x, along_channels(x, beta, "swish: beta"));
}
Variable gelu(const Variable& x, GeluForm form) {
  CT_DEFINED(x);
  return form == GeluForm::erf ? apply(node<GELU>(), x) : apply(node<TanhGELU>(), x);
}
Variable silu(const Variable& x) { return apply(node<SiLU>(), x); }
Variable swiglu(const Variable& gate, const Variable& x) {
  CT_DEFINED(gate, x);
  if (gate.shape() != x.shape())
    fail<ShapeError>("swiglu: gate and x must have equal shapes, not {} and {}", gate.shape(), x.shape());
  return silu(gate) * x;
}
Variable hard_sigmoid(const Variable& x) { return apply(node<HardSigmoid>(), x); }
Variable maxout(const Variable& x, std::int64_t pool_size, int axis) {
  CT_DEFINED(x);
  if (pool_size < 1) fail<ValueError>("maxout: pool_size must be positive, not {}", pool_size);
  const int a = normalize_axis(axis, x.ndim(), "maxout");
  if (x.shape(a) % pool_size != 0)
    fail<ShapeError>("maxout: axis {} of x {} is no multiple of pool_size {}", axis, x.shape(), pool_size);
  Shape shape = x.shape();
  shape[a] /= pool_size;
  shape.insert(a + 1, pool_size);
  return max(reshape(x, shape), a + 1);
}

std::span<const Signature> detail::activation_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("activation.relu", relu, "x"),
      CT_SIGNATURE("activation.clipped_relu", relu6, "x"),
      CT_SIGNATURE("activation.clipped_relu", clipped_relu, "x", "z"),
      CT_SIGNATURE("activation.leaky_relu", leaky_relu, "x", "slope"),
      CT_SIGNATURE("activation.elu", elu, "x", "alpha"),
      CT_SIGNATURE("activation.selu", selu, "x", otherwise("alpha", kSeluAlpha), "scale"),
      CT_SIGNATURE("activation.prelu", prelu, "x", "W"),
      CT_SIGNATURE("activation.crelu", crelu, "x", "axis"),
      CT_SIGNATURE("activation.softplus", softplus, "x", "beta"),
      CT_SIGNATURE("activation.swish", swish, "x", "beta"),
      CT_SIGNATURE("activation.maxout", maxout, "x", "pool_size", "axis"),
      CT_SIGNATURE("activation.sigmoid", sigmoid, "x"),
      CT_SIGNATURE("activation.hard_sigmoid", hard_sigmoid, "x"),
      CT_SIGNATURE("activation.tanh", tanh, "x"),
      CT_SIGNATURE("activation.softmax", softmax, "x", "axis"),
      CT_SIGNATURE("activation.log_softmax", log_softmax, "x", "axis"),
  };
  return all;
}

}  // namespace catenary::functions
