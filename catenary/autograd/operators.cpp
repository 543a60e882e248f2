#include "catenary/autograd/operators.h"

#include <algorithm>
#include <cmath>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/reduction.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/core/format.h"

namespace catenary::functions {

namespace {

std::string text(const Scalar& s) {
  if (s.kind() != Scalar::Kind::real) return std::to_string(s.integer());
  const std::string digits = fmt::format("{}", s.real());
  return digits.find_first_not_of("-0123456789") == std::string::npos ? digits + ".0"
                                                                      : digits;  // as Python prints a float
}

struct Add : Binary<Add, keep::nothing> {
  static constexpr const char* kName = "Add";
  std::string label() const override { return "_ + _"; }
  static Array f(const Array& a, const Array& b) { return a + b; }
  static auto df0(const auto& gy, const auto&, const auto&, const auto&) { return gy; }
  static auto df1(const auto& gy, const auto&, const auto&, const auto&) { return gy; }
};
struct Sub : Binary<Sub, keep::nothing> {
  static constexpr const char* kName = "Sub";
  std::string label() const override { return "_ - _"; }
  static Array f(const Array& a, const Array& b) { return a - b; }
  static auto df0(const auto& gy, const auto&, const auto&, const auto&) { return gy; }
  static auto df1(const auto& gy, const auto&, const auto&, const auto&) { return -gy; }
};
struct Mul : Binary<Mul, keep::x0 | keep::x1> {
  static constexpr const char* kName = "Mul";
  std::string label() const override { return "_ * _"; }
  static Array f(const Array& a, const Array& b) { return a * b; }
  static auto df0(const auto& gy, const auto&, const auto& b, const auto&) { return gy * b; }
  static auto df1(const auto& gy, const auto& a, const auto&, const auto&) { return gy * a; }
};
struct Div : Binary<Div, keep::x0 | keep::x1> {
  static constexpr const char* kName = "Div";
  std::string label() const override { return "_ / _"; }
  static Array f(const Array& a, const Array& b) { return a / b; }
  static auto df0(const auto& gy, const auto&, const auto& b, const auto&) { return gy / b; }
  static auto df1(const auto& gy, const auto& a, const auto& b, const auto&) { return -gy * a / (b * b); }
};
struct PowVarVar : Binary<PowVarVar, keep::x0 | keep::x1 | keep::y> {
  static constexpr const char* kName = "PowVarVar";
  std::string label() const override { return "_ ** _"; }
  static Array f(const Array& a, const Array& b) { return catenary::power(a, b); }
  static Variable df0(const Variable& gy, const Variable& a, const Variable& b, const Variable&) {
    return gy * b * pow(a, b - 1.0);
  }
  static Variable df1(const Variable& gy, const Variable& a, const Variable&, const Variable& y) {
    return gy * y * log(a);
  }
};

/// An operation with a literal.
template <class F, unsigned kept>
struct WithConstant : Unary<F, kept> {
  explicit WithConstant(const Scalar& c) : c(c) {}
  CT_ATTRIBUTES_OF(F, c)
  Scalar c;
};
struct AddConstant : WithConstant<AddConstant, keep::nothing> {
  using WithConstant::WithConstant;
  static constexpr const char* kName = "AddConstant";
  std::string label() const override { return "_ + " + text(c); }
  Array f(const Array& x) { return catenary::add(x, c); }
  auto df(const auto& gy, const auto&, const auto&) { return gy; }
};
struct SubFromConstant : WithConstant<SubFromConstant, keep::nothing> {
  using WithConstant::WithConstant;
  static constexpr const char* kName = "SubFromConstant";
  std::string label() const override { return text(c) + " - _"; }
  Array f(const Array& x) { return catenary::subtract(c, x); }
  auto df(const auto& gy, const auto&, const auto&) { return -gy; }
};
struct MulConstant : WithConstant<MulConstant, keep::nothing> {
  using WithConstant::WithConstant;
  static constexpr const char* kName = "MulConstant";
  std::string label() const override { return "_ * " + text(c); }
  Array f(const Array& x) { return catenary::multiply(x, c); }
  auto df(const auto& gy, const auto&, const auto&) { return gy * c.real(); }
};
struct DivFromConstant : WithConstant<DivFromConstant, keep::x> {
  using WithConstant::WithConstant;
  static constexpr const char* kName = "DivFromConstant";
  std::string label() const override { return text(c) + " / _"; }
  Array f(const Array& x) { return catenary::divide(c, x); }
  auto df(const auto& gy, const auto& x, const auto&) { return -gy * c.real() / (x * x); }
};
struct DivConstant : WithConstant<DivConstant, keep::nothing> {
  using WithConstant::WithConstant;
  static constexpr const char* kName = "DivConstant";
  std::string label() const override { return "_ / " + text(c); }
  Array f(const Array& x) { return catenary::divide(x, c); }
  auto df(const auto& gy, const auto&, const auto&) { return gy / c.real(); }
};
struct PowVarConst : WithConstant<PowVarConst, keep::x> {
  using WithConstant::WithConstant;
  static constexpr const char* kName = "PowVarConst";
  std::string label() const override { return "_ ** " + text(c); }
  Array f(const Array& x) { return c.real() == 2 ? x * x : catenary::power(x, c); }
  Variable df(const Variable& gy, const Variable& x, const Variable&) {
    if (c.real() == 0) return gy * 0.0;
    return gy * c.real() * (c.real() == 2 ? x : pow(x, c.real() - 1));
  }
};
struct PowConstVar : WithConstant<PowConstVar, keep::y> {
  using WithConstant::WithConstant;
  static constexpr const char* kName = "PowConstVar";
  std::string label() const override { return text(c) + " ** _"; }
  Array f(const Array& x) { return catenary::power(c, x); }
  auto df(const auto& gy, const auto&, const auto& y) { return gy * y * std::log(c.real()); }
};

struct Neg : Unary<Neg, keep::nothing> {
  static constexpr const char* kName = "Neg";
  std::string label() const override { return "__neg__"; }
  static Array f(const Array& x) { return -x; }
  static auto df(const auto& gy, const auto&, const auto&) { return -gy; }
};
struct Log : Unary<Log, keep::x> {
  static constexpr const char* kName = "Log";
  static Array f(const Array& x) { return catenary::log(as_float(x)); }
  static auto df(const auto& gy, const auto& x, const auto&) { return gy / x; }
};
struct Identity : Unary<Identity, keep::nothing> {
  static constexpr const char* kName = "Identity";
  static Array f(const Array& x) { return x; }
  static auto df(const auto& gy, const auto&, const auto&) { return gy; }
};
struct Cast : Unary<Cast, keep::nothing> {
  explicit Cast(Dtype dtype) : dtype(dtype) {}
  static constexpr const char* kName = "Cast";
  CT_ATTRIBUTES(dtype)
  Array f(const Array& x) { return x.astype(dtype); }
  Variable df(const Variable& gy, const Variable&, const Variable&) { return cast(gy, input_dtype(0)); }
  Dtype dtype;
};
struct Copy : Unary<Copy, keep::nothing> {
  explicit Copy(const Device& to) : to(to) {}
  static constexpr const char* kName = "Copy";
  CT_ATTRIBUTES(to)
  Array f(const Array& x) {
    from = x.device();
    return from == to ? x.copy() : x.to_device(to);
  }
  Variable df(const Variable& gy, const Variable&, const Variable&) { return copy(gy, from); }
  Device to, from;
};

/// Functions that only move elements or add them up: one input, and a gradient that depends on gy and the input's
/// shape.
struct BroadcastTo : Unary<BroadcastTo, keep::nothing> {
  explicit BroadcastTo(const Shape& shape) : shape(shape) {}
  static constexpr const char* kName = "BroadcastTo";
  CT_ATTRIBUTES(shape)
  Array f(const Array& x) { return x.broadcast_to(shape); }
  Variable df(const Variable& gy, const Variable&, const Variable&) { return sum_to(gy, input_shape(0)); }
  Shape shape;
};
struct SumTo : Unary<SumTo, keep::nothing> {
  explicit SumTo(const Shape& shape) : shape(shape) {}
  static constexpr const char* kName = "SumTo";
  CT_ATTRIBUTES(shape)
  Array f(const Array& x) { return array_sum_to(x, shape); }
  Variable df(const Variable& gy, const Variable&, const Variable&) { return broadcast_to(gy, input_shape(0)); }
  Shape shape;
};
struct Sum : Unary<Sum, keep::nothing> {
  Sum(const AxisArg& axis, bool keepdims) : axis(axis), keepdims(keepdims) {}
  static constexpr const char* kName = "Sum";
  CT_ATTRIBUTES(axis, keepdims)
  Array f(const Array& x) { return catenary::sum(x, axis, keepdims); }
  Variable df(const Variable& gy, const Variable&, const Variable&) {
    const Shape& shape = input_shape(0);
    if (keepdims) return broadcast_to(gy, shape);
    Shape kept = shape;
    for (const std::int64_t i : axis.normalized(shape.size(), "sum")) kept[static_cast<int>(i)] = 1;
    return broadcast_to(reshape(gy, kept), shape);
  }
  AxisArg axis;
  bool keepdims;
};
struct Reshape : Unary<Reshape, keep::nothing> {
  explicit Reshape(const Shape& shape) : shape(shape) {}
  static constexpr const char* kName = "Reshape";
  CT_ATTRIBUTES(shape)
  Array f(const Array& x) { return x.reshape(shape); }
  Variable df(const Variable& gy, const Variable&, const Variable&) { return reshape(gy, input_shape(0)); }
  Shape shape;
};
struct Transpose : Unary<Transpose, keep::nothing> {
  explicit Transpose(const Axes& axes) : axes(axes) {}
  static constexpr const char* kName = "Transpose";
  CT_ATTRIBUTES(axes)
  Array f(const Array& x) { return x.transpose(axes); }
  Variable df(const Variable& gy, const Variable&, const Variable&) {
    if (axes.empty()) return transpose(gy);
    Axes back = axes;
    for (int i = 0; i < axes.size(); ++i) back[normalize_axis(axes[i], axes.size(), "transpose")] = i;
    return transpose(gy, back);
  }
  Axes axes;
};

struct GetItemGrad;
Variable get_item_grad(const Variable& gy, const std::vector<Index>& indices, const Shape& shape);

struct GetItem : Unary<GetItem, keep::nothing> {
  explicit GetItem(const std::vector<Index>& indices) : indices(indices) {}
  static constexpr const char* kName = "GetItem";
  CT_ATTRIBUTES(indices)
  Array f(const Array& x) { return x.get(indices); }
  Variable df(const Variable& gy, const Variable&, const Variable&) {
    return get_item_grad(gy, indices, input_shape(0));
  }
  std::vector<Index> indices;
};
/// Scatters gy to the indices of an array of zeros and adds where indices repeat. 16-bit floats are added in float32,
/// because a bfloat16 sum of ones stops growing at 256.
struct GetItemGrad : Unary<GetItemGrad, keep::nothing> {
  GetItemGrad(const std::vector<Index>& indices, const Shape& shape) : indices(indices), shape(shape) {}
  static constexpr const char* kName = "GetItemGrad";
  CT_ATTRIBUTES(indices, shape)
  Array f(const Array& gy) {
    const Dtype sums = catenary::detail::dtype_of_sums(gy.dtype(), indices);
    const Array gx = Array::empty(shape, sums, gy.device());
    gx.fill(0);
    scatter_add(gx, indices, as_dtype(gy, sums));
    return as_dtype(gx, gy.dtype());
  }
  Variable df(const Variable& ggx, const Variable&, const Variable&) { return get_item(ggx, indices); }
  std::vector<Index> indices;
  Shape shape;
};
Variable get_item_grad(const Variable& gy, const std::vector<Index>& indices, const Shape& shape) {
  return apply(node<GetItemGrad>(indices, shape), gy);
}

}  // namespace

Variable add(const Variable& a, const Variable& b) { return apply(node<Add>(), a, b); }
Variable add(const Variable& a, const Scalar& b) { return apply(node<AddConstant>(b), a); }
Variable add(const Scalar& a, const Variable& b) { return add(b, a); }
Variable add(const std::vector<Variable>& xs) {
  CT_DEFINED(xs);
  if (xs.empty()) fail<ValueError>("add: there is nothing to add");
  Variable total = xs[0];
  for (std::size_t i = 1; i < xs.size(); ++i) total = add(total, xs[i]);
  return total;
}
Variable subtract(const Variable& a, const Variable& b) { return apply(node<Sub>(), a, b); }
Variable subtract(const Variable& a, const Scalar& b) {
  return add(a, b.kind() == Scalar::Kind::real ? Scalar(-b.real()) : Scalar(-b.integer()));
}
Variable subtract(const Scalar& a, const Variable& b) { return apply(node<SubFromConstant>(a), b); }
Variable multiply(const Variable& a, const Variable& b) { return apply(node<Mul>(), a, b); }
Variable multiply(const Variable& a, const Scalar& b) { return apply(node<MulConstant>(b), a); }
Variable multiply(const Scalar& a, const Variable& b) { return multiply(b, a); }
Variable divide(const Variable& a, const Variable& b) { return apply(node<Div>(), a, b); }
Variable divide(const Variable& a, const Scalar& b) { return apply(node<DivConstant>(b), a); }
Variable divide(const Scalar& a, const Variable& b) { return apply(node<DivFromConstant>(a), b); }
Variable power(const Variable& a, const Variable& b) { return apply(node<PowVarVar>(), a, b); }
Variable power(const Variable& a, const Scalar& b) { return apply(node<PowVarConst>(b), a); }
Variable power(const Scalar& a, const Variable& b) { return apply(node<PowConstVar>(a), b); }
Variable negative(const Variable& x) { return apply(node<Neg>(), x); }
Variable log(const Variable& x) { return apply(node<Log>(), x); }

Variable cast(const Variable& x, Dtype dtype) {
  CT_DEFINED(x);
  return x.dtype() == dtype ? x : apply(node<Cast>(dtype), x);
}
Variable broadcast_to(const Variable& x, const Shape& shape) {
  CT_DEFINED(x);
  return x.shape() == shape ? x : apply(node<BroadcastTo>(shape), x);
}
Variable sum_to(const Variable& x, const Shape& shape) {
  CT_DEFINED(x);
  return x.shape() == shape ? x : apply(node<SumTo>(shape), x);
}
Variable sum(const Variable& x, const AxisArg& axis, bool keepdims) { return apply(node<Sum>(axis, keepdims), x); }
Variable reshape(const Variable& x, const Shape& shape) {
  CT_DEFINED(x);
  return x.shape() == shape ? x : apply(node<Reshape>(shape), x);
}
Variable transpose(const Variable& x, const Axes& axes) { return apply(node<Transpose>(axes), x); }
Variable get_item(const Variable& x, const std::vector<Index>& indices) { return apply(node<GetItem>(indices), x); }
Variable copy(const Variable& x, const Device& device) { return apply(node<Copy>(device), x); }
Variable identity(const Variable& x) { return apply(node<Identity>(), x); }

Array as_float(const Array& x) { return is_floating(x.dtype()) ? x : x.astype(get_dtype()); }

Array as_dtype(Array x, Dtype dtype) { return detail::as_dtype(std::move(x), dtype); }

Array array_sum_to(const Array& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (broadcast_shapes(x.shape(), shape, "sum_to") != x.shape())
    fail<ShapeError>("sum_to: shape {} does not broadcast to {}", shape, x.shape());
  const int lead = x.ndim() - shape.size();
  Axes axes;
  for (int i = 0; i < x.ndim(); ++i)
    if (i < lead || shape[i - lead] != x.shape(i)) axes.push_back(i);
  return catenary::sum(x, axes, true).reshape(shape);
}

}  // namespace catenary::functions
