// Operators that combine the elements along axes.

#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

struct Reduced {
  Variable x;
  AxisArg axes;
  bool keepdims;
  bool nothing;  ///< no axis is given, and none is reduced
};

/// Reads a reduction's inputs. Axes are an attribute before opset `since`.
Reduced reduced(const Call& c, std::int64_t since) {
  const Variable x = c.x(0);
  const bool keepdims = c.integer("keepdims", 1) != 0;
  const bool noop = c.opset() >= since && c.integer("noop_with_empty_axes", 0) != 0;
  const std::optional<Integers> axes = c.axes(1, since);
  if (!axes || axes->empty()) return {x, {}, keepdims, noop};
  return {x, AxisArg(Axes(*axes)), keepdims, false};
}

template <class Real, class Whole>
Values computed(const Reduced& r, Real real, Whole whole) {
  if (is_inexact(r.x.dtype())) return {real(r.x)};
  return {Variable(whole(r.x.array()).astype(r.x.dtype()))};
}

/// Returns the result of a reduction without elements, where every element is `value`.
Values of_nothing(const Reduced& r, const Scalar& value) {
  const Array shaped = sum(r.x.array().astype(Dtype::float32), r.axes, r.keepdims);
  return {Variable(full(shaped.shape(), value, r.x.dtype()).to_device(r.x.device()))};
}

/// Returns the largest or smallest number of a dtype.
Scalar extreme(Dtype dtype, bool largest) {
  if (is_inexact(dtype))
    return largest ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  if (dtype == Dtype::bool_) return largest;
  const int bits = static_cast<int>(itemsize(dtype)) * 8;
  if (kind(dtype) == Kind::unsigned_int)
    return largest ? static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - std::min(bits, 63))) : 0;
  const auto most = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - bits));
  return largest ? most : -most - 1;
}

/// The result of a reduction of an empty array that has no value of its own.
enum class OfNothing { error, least, most };

/// Reduces by `real` of Variables or `whole` of arrays, whose axes are an input since opset `since`.
template <class Real, class Whole>
Values reduced_by(const Call& c, Real real, Whole whole, OfNothing empty = OfNothing::error, std::int64_t since = 18) {
  const Reduced r = reduced(c, since);
  if (r.nothing) return {r.x};
  if (r.x.size() == 0 && empty != OfNothing::error)
    return of_nothing(r, extreme(r.x.dtype(), empty == OfNothing::most));
  return computed(
      r, [&](const Variable& x) { return real(x, r.axes, r.keepdims); },
      [&](const Array& x) { return whole(x, r.axes, r.keepdims); });
}

/// Computes `after(sum(before(x)))` in floating numbers.
template <class Before, class After>
Values around_sum(const Call& c, Before before, After after) {
  const Reduced r = reduced(c, 18);
  const Variable x = is_inexact(r.x.dtype()) ? r.x : Variable(r.x.array().astype(Dtype::float64));
  const Variable inner = before(x);
  const Variable result = after(r.nothing ? inner : F::sum(inner, r.axes, r.keepdims));
  return {result.dtype() == r.x.dtype() ? result : Variable(result.array().astype(r.x.dtype()))};
}

Values log_sum_exp(const Call& c) {
  const Reduced r = reduced(c, 18);
  if (r.nothing) return {r.x};
  if (r.x.size() == 0) return of_nothing(r, extreme(r.x.dtype(), false));
  const Array x = is_inexact(r.x.dtype()) ? r.x.array() : r.x.array().astype(Dtype::float64);
  return {Variable(logsumexp(x, r.axes, r.keepdims).astype(r.x.dtype()))};
}

Values position(const Call& c, Array (*find)(const Array&, const std::optional<int>&, bool)) {
  const Array x = c.array(0);
  const int axis = axis_of(c, c.integer("axis", 0), x.ndim());
  const bool keepdims = c.integer("keepdims", 1) != 0, last = c.integer("select_last_index", 0) != 0;
  if (!last) return {Variable(find(x, axis, keepdims))};
  return {Variable(subtract(x.shape(axis) - 1, find(flip(x, axis), axis, keepdims)))};
}

/// Softmax and its like: along one axis since opset 13, before over all axes from `axis` on.
Values over_axis(const Call& c, Variable (*f)(const Variable&, int)) {
  const Variable x = c.x(0);
  const int axis = axis_of(c, c.integer("axis", c.opset() >= 13 ? -1 : 1), x.ndim());
  if (c.opset() >= 13) return {f(x, axis)};
  return {F::reshape(f(as_rows(x, axis), 1), x.shape())};
}

Variable hardmax(const Variable& x, int axis) {
  const Array first = argmax(x.array(), axis, true);
  const Array positions = arange(x.shape(axis)).to_device(x.device());
  return Variable(equal(positions.reshape(shape_along(x.ndim(), axis, x.shape(axis))), first).astype(x.dtype()));
}

}  // namespace

std::span<const Operator> reduction_operators() {
  static const auto same = [](const Variable& x) { return x; };
#define CT_REDUCE(name, function, ...)                                                                    \
  {                                                                                                       \
    name, 1, [](const Call& c) {                                                                          \
      return reduced_by(                                                                                  \
          c, [](const Variable& x, const AxisArg& a, bool keep) { return F::function(x, a, keep); },      \
          [](const Array& x, const AxisArg& a, bool keep) { return function(x, a, keep); } __VA_OPT__(, ) \
              __VA_ARGS__);                                                                               \
    }                                                                                                     \
  }
  static const Operator rows[] = {
      CT_REDUCE("ReduceSum", sum, OfNothing::error, 13),
      CT_REDUCE("ReduceMean", mean),
      CT_REDUCE("ReduceMax", max, OfNothing::least),
      CT_REDUCE("ReduceMin", min, OfNothing::most),
      CT_REDUCE("ReduceProd", prod),
      {"ReduceL1", 1,
       [](const Call& c) {
         return around_sum(
             c, [](const Variable& x) { return F::absolute(x); }, same);
       }},
      {"ReduceL2", 1,
       [](const Call& c) {
         return around_sum(
             c, [](const Variable& x) { return x * x; }, [](const Variable& x) { return F::sqrt(x); });
       }},
      {"ReduceSumSquare", 1,
       [](const Call& c) {
         return around_sum(
             c, [](const Variable& x) { return x * x; }, same);
       }},
      {"ReduceLogSum", 1,
       [](const Call& c) { return around_sum(c, same, [](const Variable& x) { return F::log(x); }); }},
      {"ReduceLogSumExp", 1, log_sum_exp},
      {"ArgMax", 1, [](const Call& c) { return position(c, argmax); }},
      {"ArgMin", 1, [](const Call& c) { return position(c, argmin); }},
      {"Softmax", 1, [](const Call& c) { return over_axis(c, F::softmax); }},
      {"LogSoftmax", 1, [](const Call& c) { return over_axis(c, F::log_softmax); }},
      {"Hardmax", 1, [](const Call& c) { return over_axis(c, hardmax); }},
  };
#undef CT_REDUCE
  return rows;
}

}  // namespace catenary::onnx
