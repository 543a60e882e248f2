#include "catenary/functions/math_elementwise.h"

#include <numbers>

#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/core/format.h"
#include "catenary/functions/masked.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

struct Log2 : Unary<Log2, keep::x> {
  static constexpr const char* kName = "Log2";
  static Array f(const Array& x) { return catenary::log2(as_float(x)); }
  static auto df(const auto& gy, const auto& x, const auto&) { return gy / (x * std::numbers::ln2); }
};
struct Log10 : Unary<Log10, keep::x> {
  static constexpr const char* kName = "Log10";
  static Array f(const Array& x) { return catenary::log10(as_float(x)); }
  static auto df(const auto& gy, const auto& x, const auto&) { return gy / (x * std::numbers::ln10); }
};
struct RSqrt : Unary<RSqrt, keep::y> {
  static constexpr const char* kName = "RsqrtFunction";
  std::string label() const override { return "rsqrt"; }
  static Array f(const Array& x) { return catenary::rsqrt(as_float(x)); }
  static auto df(const auto& gy, const auto&, const auto& y) { return gy * -0.5 * y * y * y; }
};

struct Sin : Unary<Sin, keep::x> {
  static constexpr const char* kName = "Sin";
  static Array f(const Array& x) { return catenary::sin(as_float(x)); }
  static Variable df(const Variable& gy, const Variable& x, const Variable&) { return gy * cos(x); }
};
struct Cos : Unary<Cos, keep::x> {
  static constexpr const char* kName = "Cos";
  static Array f(const Array& x) { return catenary::cos(as_float(x)); }
  static Variable df(const Variable& gy, const Variable& x, const Variable&) { return -gy * sin(x); }
};
struct Tan : Unary<Tan, keep::y> {
  static constexpr const char* kName = "Tan";
  static Array f(const Array& x) { return catenary::tan(as_float(x)); }
  static auto df(const auto& gy, const auto&, const auto& y) { return gy * (y * y + 1.0); }
};
struct Arcsin : Unary<Arcsin, keep::x> {
  static constexpr const char* kName = "Arcsin";
  static Array f(const Array& x) { return catenary::arcsin(as_float(x)); }
  static Variable df(const Variable& gy, const Variable& x, const Variable&) { return gy * rsqrt(1.0 - x * x); }
};
struct Arccos : Unary<Arccos, keep::x> {
  static constexpr const char* kName = "Arccos";
  static Array f(const Array& x) { return catenary::arccos(as_float(x)); }
  static Variable df(const Variable& gy, const Variable& x, const Variable&) { return -gy * rsqrt(1.0 - x * x); }
};
struct Arctan : Unary<Arctan, keep::x> {
  static constexpr const char* kName = "Arctan";
  static Array f(const Array& x) { return catenary::arctan(as_float(x)); }
  static auto df(const auto& gy, const auto& x, const auto&) { return gy / (x * x + 1.0); }
};
struct Arctan2 : Binary<Arctan2, keep::x0 | keep::x1> {
  static constexpr const char* kName = "Arctan2";
  static Array f(const Array& a, const Array& b) { return catenary::arctan2(as_float(a), as_float(b)); }
  static auto df0(const auto& gy, const auto& a, const auto& b, const auto&) { return gy * b / (a * a + b * b); }
  static auto df1(const auto& gy, const auto& a, const auto& b, const auto&) { return -gy * a / (a * a + b * b); }
};
struct Sinh : Unary<Sinh, keep::x> {
  static constexpr const char* kName = "Sinh";
  static Array f(const Array& x) { return catenary::sinh(as_float(x)); }
  static Variable df(const Variable& gy, const Variable& x, const Variable&) { return gy * cosh(x); }
};
struct Cosh : Unary<Cosh, keep::x> {
  static constexpr const char* kName = "Cosh";
  static Array f(const Array& x) { return catenary::cosh(as_float(x)); }
  static Variable df(const Variable& gy, const Variable& x, const Variable&) { return gy * sinh(x); }
};
struct Arctanh : Unary<Arctanh, keep::x> {
  static constexpr const char* kName = "Arctanh";
  static Array f(const Array& x) { return catenary::arctanh(as_float(x)); }
  static auto df(const auto& gy, const auto& x, const auto&) { return gy / (1.0 - x * x); }
};

struct Clip : Unary<Clip, keep::x> {
  Clip(std::optional<double> low, std::optional<double> high) : low(low), high(high) {}
  static constexpr const char* kName = "Clip";
  CT_ATTRIBUTES(low, high)
  Array f(const Array& x) {
    Array y = x;
    if (low) y = catenary::maximum(y, *low);
    if (high) y = catenary::minimum(y, *high);
    return y.astype(x.dtype());
  }
  auto df(const auto& gy, const auto& x, const auto&) {
    const Array& v = values_of(x);
    return detail::only_where(low && high ? (v >= *low) & (v <= *high) : low ? v >= *low : v <= *high, gy);
  }
  std::optional<double> low, high;
};
struct Maximum : Binary<Maximum, keep::x0 | keep::x1> {
  static constexpr const char* kName = "Maximum";
  static Array f(const Array& a, const Array& b) { return catenary::maximum(a, b); }
  static auto df0(const auto& gy, const auto& a, const auto& b, const auto&) {
    return detail::only_where(values_of(a) >= values_of(b), gy);
  }
  static auto df1(const auto& gy, const auto& a, const auto& b, const auto&) {
    return detail::only_where(!(values_of(a) >= values_of(b)), gy);
  }
};
struct Minimum : Binary<Minimum, keep::x0 | keep::x1> {
  static constexpr const char* kName = "Minimum";
  static Array f(const Array& a, const Array& b) { return catenary::minimum(a, b); }
  static auto df0(const auto& gy, const auto& a, const auto& b, const auto&) {
    return detail::only_where(values_of(a) <= values_of(b), gy);
  }
  static auto df1(const auto& gy, const auto& a, const auto& b, const auto&) {
    return detail::only_where(!(values_of(a) <= values_of(b)), gy);
  }
};
struct Fmod : Binary<Fmod, keep::x0 | keep::x1> {
  static constexpr const char* kName = "Fmod";
  std::string label() const override { return "fmod"; }
  static Array f(const Array& a, const Array& b) { return catenary::fmod(a, b); }
  static auto df0(const auto& gy, const auto&, const auto&, const auto&) { return gy; }
  static auto df1(const auto& gy, const auto& a, const auto& b, const auto&) {
    return -gy * catenary::trunc(values_of(a) / values_of(b));
  }
};

class LinearInterpolate : public FunctionNode {
 public:
  const char* name() const override { return "LinearInterpolate"; }
  CT_ATTRIBUTES()

 protected:
  Arrays forward(Inputs in) override {
    const Array &p = in[0], &x = in[1], &y = in[2];
    if (x.shape() != p.shape() || y.shape() != p.shape())
      fail<ShapeError>("linear_interpolate: p, x and y must have one shape, not {}, {} and {}", p.shape(), x.shape(),
                       y.shape());
    retain_inputs({0, 1, 2});
    return p * x + (1 - p) * y;
  }
  Variables backward(Targets targets, Grads gys) override {
    const Variable &gz = gys[0], p = retained_input(0);
    return gradients(targets, [&](int i) -> Variable {
      if (i == 0) return gz * (retained_input(1) - retained_input(2));
      return i == 1 ? gz * p : gz - gz * p;
    });
  }
};

/// y with axes of length 1 added, so that its axes align with x's from `axis` on.
Variable aligned(const Variable& x, const Variable& y, int axis, const char* what) {
  const int from = normalize_axis(axis, x.ndim() + 1, what);
  Shape shape = Shape::filled(x.ndim(), 1);
  bool fits = from + y.ndim() <= x.ndim();
  for (int i = 0; fits && i < y.ndim(); ++i) {
    fits = y.shape(i) == x.shape(from + i);
    shape[from + i] = y.shape(i);
  }
  if (!fits) fail<ShapeError>("{}: y {} does not fit x {} from axis {} on", what, y.shape(), x.shape(), axis);
  return reshape(y, shape);
}

}  // namespace

Variable log2(const Variable& x) { return apply(node<Log2>(), x); }
Variable log10(const Variable& x) { return apply(node<Log10>(), x); }
Variable rsqrt(const Variable& x) { return apply(node<RSqrt>(), x); }
Variable sin(const Variable& x) { return apply(node<Sin>(), x); }
Variable cos(const Variable& x) { return apply(node<Cos>(), x); }
Variable tan(const Variable& x) { return apply(node<Tan>(), x); }
Variable arcsin(const Variable& x) { return apply(node<Arcsin>(), x); }
Variable arccos(const Variable& x) { return apply(node<Arccos>(), x); }
Variable arctan(const Variable& x) { return apply(node<Arctan>(), x); }
Variable arctan2(const Variable& x1, const Variable& x2) { return apply(node<Arctan2>(), x1, x2); }
Variable sinh(const Variable& x) { return apply(node<Sinh>(), x); }
Variable cosh(const Variable& x) { return apply(node<Cosh>(), x); }
Variable arctanh(const Variable& x) { return apply(node<Arctanh>(), x); }

Variable sign(const Variable& x) {
  CT_DEFINED(x);
  return catenary::sign(x.array());
}
Variable ceil(const Variable& x) {
  CT_DEFINED(x);
  return catenary::ceil(x.array());
}
Variable floor(const Variable& x) {
  CT_DEFINED(x);
  return catenary::floor(x.array());
}
Variable fix(const Variable& x) {
  CT_DEFINED(x);
  return catenary::trunc(x.array());
}

Variable clip(const Variable& x, std::optional<double> x_min, std::optional<double> x_max) {
  CT_DEFINED(x);
  if (!x_min && !x_max) fail<ValueError>("clip: x_min or x_max must be given");
  if (x_min && x_max && !(*x_min < *x_max))
    fail<ValueError>("clip: x_min {} must be less than x_max {}", *x_min, *x_max);
  return apply(node<Clip>(x_min, x_max), x);
}
Variable maximum(const Variable& x1, const Variable& x2) { return apply(node<Maximum>(), x1, x2); }
Variable minimum(const Variable& x1, const Variable& x2) { return apply(node<Minimum>(), x1, x2); }
Variable fmod(const Variable& x, const Variable& divisor) { return apply(node<Fmod>(), x, divisor); }
Variable linear_interpolate(const Variable& p, const Variable& x, const Variable& y) {
  return apply(node<LinearInterpolate>(), p, x, y);
}

Variable bias(const Variable& x, const Variable& y, int axis) {
  CT_DEFINED(x, y);
  return x + aligned(x, y, axis, "bias");
}
Variable scale(const Variable& x, const Variable& y, int axis) {
  CT_DEFINED(x, y);
  return x * aligned(x, y, axis, "scale");
}

std::span<const Signature> detail::math_elementwise_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("math.exponential", log2, "x"),
      CT_SIGNATURE("math.exponential", log10, "x"),
      CT_SIGNATURE("math.sqrt", rsqrt, "x"),
      CT_SIGNATURE("math.trigonometric", sin, "x"),
      CT_SIGNATURE("math.trigonometric", cos, "x"),
      CT_SIGNATURE("math.trigonometric", tan, "x"),
      CT_SIGNATURE("math.trigonometric", arcsin, "x"),
      CT_SIGNATURE("math.trigonometric", arccos, "x"),
      CT_SIGNATURE("math.trigonometric", arctan, "x"),
      CT_SIGNATURE("math.hyperbolic", sinh, "x"),
      CT_SIGNATURE("math.hyperbolic", cosh, "x"),
      CT_SIGNATURE("math.arctanh", arctanh, "x"),
      CT_SIGNATURE("math.sign", sign, "x"),
      CT_SIGNATURE("math.ceil", ceil, "x"),
      CT_SIGNATURE("math.floor", floor, "x"),
      CT_SIGNATURE("math.fix", fix, "x"),
      CT_SIGNATURE("math.trigonometric", arctan2, "x1", "x2"),
      CT_SIGNATURE("math.clip", clip, "x", "x_min", "x_max"),
      CT_SIGNATURE("math.maximum", maximum, "x1", "x2"),
      CT_SIGNATURE("math.minimum", minimum, "x1", "x2"),
      CT_SIGNATURE("math.fmod", fmod, "x", "divisor"),
      CT_SIGNATURE("math.linear_interpolate", linear_interpolate, "p", "x", "y"),
      CT_SIGNATURE("math.bias", bias, "x", "y", "axis"),
      CT_SIGNATURE("math.scale", scale, "x", "y", "axis"),
  };
  return all;
}

}  // namespace catenary::functions
