#include "catenary/functions/math_reduction.h"

#include <algorithm>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/core/format.h"
#include "catenary/functions/in_float32.h"
#include "catenary/functions/masked.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

/// Restores the reduced axes of a result as axes of length 1.
Variable with_axes(const Variable& y, const AxisArg& axis, const Shape& shape) {
  Shape kept = shape;
  for (const std::int64_t i : axis.normalized(shape.size(), "reduction")) kept[static_cast<int>(i)] = 1;
  return reshape(y, kept);
}
/// Indices that slice one axis and keep the axes before it.
std::vector<Index> along(int axis, const Slice& s) {
  std::vector<Index> indices(static_cast<std::size_t>(axis), slice());
  indices.emplace_back(s);
  return indices;
}
Variable flipped(const Variable& x, int axis) { return get_item(x, along(axis, slice(none, none, -1))); }

template <class F>
struct Extremum : Unary<F, keep::x | keep::y> {
  Extremum(const AxisArg& axis, bool keepdims) : axis(axis), keepdims(keepdims) {}
  CT_ATTRIBUTES_OF(F, axis, keepdims)
  Variable df(const Variable& gy, const Variable& x, const Variable& y) {
    const Variable kept = with_axes(y, axis, x.shape());
    return detail::only_where(x.array() == kept.array(), with_axes(gy, axis, x.shape()));
  }
  AxisArg axis;
  bool keepdims;
};
struct Max : Extremum<Max> {
  using Extremum::Extremum;
  static constexpr const char* kName = "Max";
  Array f(const Array& x) { return catenary::max(x, axis, keepdims); }
};
struct Min : Extremum<Min> {
  using Extremum::Extremum;
  static constexpr const char* kName = "Min";
  Array f(const Array& x) { return catenary::min(x, axis, keepdims); }
};

class IndexOfMax : public FunctionNode {
 public:
  explicit IndexOfMax(const std::optional<int>& axis) : axis_(axis) {}
  const char* name() const override { return "ArgMax"; }
  CT_ATTRIBUTES(axis_)

 protected:
  Arrays forward(Inputs x) override { return catenary::argmax(x[0], axis_).astype(Dtype::int32); }

 private:
  std::optional<int> axis_;
};
class IndexOfMin : public FunctionNode {
 public:
  explicit IndexOfMin(const std::optional<int>& axis) : axis_(axis) {}
  const char* name() const override { return "ArgMin"; }
  CT_ATTRIBUTES(axis_)

 protected:
  Arrays forward(Inputs x) override { return catenary::argmin(x[0], axis_).astype(Dtype::int32); }

 private:
  std::optional<int> axis_;
};

struct Mean : Unary<Mean, keep::nothing> {
  Mean(const AxisArg& axis, bool keepdims) : axis(axis), keepdims(keepdims) {}
  static constexpr const char* kName = "Mean";
  CT_ATTRIBUTES(axis, keepdims)
  Array f(const Array& x) { return catenary::mean(as_float(x), axis, keepdims); }
  Variable df(const Variable& gy, const Variable&, const Variable&) {
    const Shape& shape = input_shape(0);
    double count = 1;
    for (const std::int64_t i : axis.normalized(shape.size(), "mean"))
      count *= static_cast<double>(shape[static_cast<int>(i)]);
    return broadcast_to(with_axes(gy / count, axis, shape), shape);
  }
  AxisArg axis;
  bool keepdims;
};

struct LogSumExp : Unary<LogSumExp, keep::x | keep::y> {
  explicit LogSumExp(const AxisArg& axis) : axis(axis) {}
  static constexpr const char* kName = "LogSumExp";
  CT_ATTRIBUTES(axis)
  Array f(const Array& x) { return catenary::logsumexp(as_float(x), axis); }
  Variable df(const Variable& gy, const Variable& x, const Variable& y) {
    return with_axes(gy, axis, x.shape()) * exp(x - with_axes(y, axis, x.shape()));
  }
  AxisArg axis;
};

struct CumSum : Unary<CumSum, keep::nothing> {
  explicit CumSum(int axis) : axis(axis) {}
  static constexpr const char* kName = "Cumsum";
  CT_ATTRIBUTES(axis)
  Array f(const Array& x) { return catenary::cumsum(x, axis); }
  Variable df(const Variable& gy, const Variable&, const Variable&) {
    return flipped(cumsum(flipped(gy, axis), axis), axis);
  }
  int axis;
};

/// Inserts ones at the beginning of an axis.
struct OneInFront : Unary<OneInFront, keep::nothing> {
  explicit OneInFront(int axis) : axis(axis) {}
  static constexpr const char* kName = "OneInFront";
  CT_ATTRIBUTES(axis)
  Array f(const Array& x) {
    Shape shape = x.shape();
    shape[axis] = 1;
    const Array one = Array::empty(shape, x.dtype(), x.device());
    one.fill(1);
    return concatenate({one, x}, axis);
  }
  Variable df(const Variable& gy, const Variable&, const Variable&) {
    return get_item(gy, along(axis, slice(1, none)));
  }
  int axis;
};
Variable one_in_front(const Variable& x, int axis) { return apply(node<OneInFront>(axis), x); }
Variable without_last(const Variable& x, int axis) { return get_item(x, along(axis, slice(0, -1))); }
/// The product of all earlier elements, 1 for the first element.
Variable product_before(const Variable& x, int axis) {
  return without_last(cumprod(one_in_front(x, axis), axis), axis);
}

/// y[i] = add[i] + mul[i] y[i - 1] along an axis, y[0] = add[0]. mul[0] is not used.
class Recurrence : public FunctionNode {
 public:
  explicit Recurrence(int axis) : axis_(axis) {}
  const char* name() const override { return "Cumprodsum"; }
  CT_ATTRIBUTES(axis_)

 protected:
  Arrays forward(Inputs in) override {
    retain_inputs({0});
    retain_outputs({0});
    const Array &mul = in[0], &add = in[1];
    const Array y = Array::empty(add.shape(), add.dtype(), add.device());
    Array last;
    for (std::int64_t i = 0; i < add.shape(axis_); ++i) {
      const std::vector<Index> at = along(axis_, slice(i, i + 1));
      last = i == 0 ? add.get(at) : add.get(at) + mul.get(at) * last;
      y.set_at(at, last);
    }
    return y;
  }
  Variables backward(Targets targets, Grads gys) override;

 private:
  int axis_;
};
/// g[i] = gy[i] + x[i + 1] g[i + 1]: the gradient that reaches element i of a recurrence through later elements.
Variable recurrence_back(const Variable& x, const Variable& gy, int axis) {
  // shift x so that x[i + 1] is at i, where the last element is not used
  const Variable next = flipped(without_last(one_in_front(flipped(x, axis), axis), axis), axis);
  return flipped(apply(node<Recurrence>(axis), flipped(next, axis), flipped(gy, axis)), axis);
}
Variables Recurrence::backward(Targets targets, Grads gys) {
  const Variable gadd = recurrence_back(retained_input(0), gys[0], axis_);
  return gradients(targets, [&](int i) {
    if (i == 1) return gadd;
    // mul[i] is multiplied with y[i - 1], mul[0] with nothing
    const Variable before = without_last(one_in_front(retained_output(0), axis_), axis_);
    const Array first = arange(before.shape(axis_), Dtype::int64).to_device(before.device()) > 0;
    Shape shape = Shape::filled(before.ndim(), 1);
    shape[axis_] = before.shape(axis_);
    return gadd * before * first.reshape(shape);
  });
}

struct CumProd : Unary<CumProd, keep::x> {
  explicit CumProd(int axis) : axis(axis) {}
  static constexpr const char* kName = "Cumprod";
  CT_ATTRIBUTES(axis)
  Array f(const Array& x) { return catenary::cumprod(x, axis); }
  Variable df(const Variable& gy, const Variable& x, const Variable&) {
    return product_before(x, axis) * recurrence_back(x, gy, axis);
  }
  int axis;
};

struct Prod : Unary<Prod, keep::x> {
  Prod(const AxisArg& axis, bool keepdims) : axis(axis), keepdims(keepdims) {}
  static constexpr const char* kName = "Prod";
  CT_ATTRIBUTES(axis, keepdims)
  Array f(const Array& x) { return catenary::prod(x, axis, keepdims); }
  /// The product of all other elements: earlier ones times later ones.
  Variable df(const Variable& gy, const Variable& x, const Variable&) {
    const Axes reduced = axis.normalized(x.ndim(), "prod");
    Axes order = reduced;
    for (int i = 0; i < x.ndim(); ++i)
      if (std::find(reduced.begin(), reduced.end(), i) == reduced.end()) order.push_back(i);
    Axes back = order;
    Shape moved = x.shape();
    std::int64_t count = 1;
    for (int i = 0; i < order.size(); ++i) {
      back[static_cast<int>(order[i])] = i;
      moved[i] = x.shape(static_cast<int>(order[i]));
      if (i < reduced.size()) count *= moved[i];
    }
    const Variable line =
        reshape(x.ndim() > 0 ? transpose(x, order) : x, {count, x.size() / std::max<std::int64_t>(count, 1)});
    const Variable others = product_before(line, 0) * flipped(product_before(flipped(line, 0), 0), 0);
    const Variable shaped = reshape(others, moved);
    return (x.ndim() > 0 ? transpose(shaped, back) : shaped) * with_axes(gy, axis, x.shape());
  }
  AxisArg axis;
  bool keepdims;
};

}  // namespace

Variable max(const Variable& x, const AxisArg& axis, bool keepdims) { return apply(node<Max>(axis, keepdims), x); }
Variable min(const Variable& x, const AxisArg& axis, bool keepdims) { return apply(node<Min>(axis, keepdims), x); }
Variable argmax(const Variable& x, const std::optional<int>& axis) { return apply(node<IndexOfMax>(axis), x); }
Variable argmin(const Variable& x, const std::optional<int>& axis) { return apply(node<IndexOfMin>(axis), x); }
Variable mean(const Variable& x, const AxisArg& axis, bool keepdims) { return apply(node<Mean>(axis, keepdims), x); }
Variable average(const Variable& x, const AxisArg& axis, const Variable& weights, bool keepdims) {
  CT_DEFINED(x);
  if (!weights.defined()) return mean(x, axis, keepdims);
  if (const auto narrow = detail::in_float32(
          [&](const Variable& a, const Variable& w) { return average(a, axis, w, keepdims); }, x, weights))
    return *narrow;
  if (axis.all()) {
    if (weights.shape() != x.shape())
      fail<ShapeError>("average: without an axis weights must be {} as x, not {}", x.shape(), weights.shape());
    return sum(x * weights, axis, keepdims) / sum(weights);
  }
  const Axes axes = axis.normalized(x.ndim(), "average");
  if (axes.size() != 1) fail<ValueError>("average: weights take one axis or none, not {}", axes.size());
  const int a = static_cast<int>(axes[0]);
  if (weights.size() != x.shape(a))
    fail<ShapeError>("average: weights {} do not fit axis {} of x {}", weights.shape(), a, x.shape());
  Shape shape = Shape::filled(x.ndim(), 1);
  shape[a] = x.shape(a);
  return sum(x * reshape(weights, shape), axis, keepdims) / sum(weights);
}
Variable prod(const Variable& x, const AxisArg& axis, bool keepdims) {
  CT_DEFINED(x);
  if (const auto narrow = detail::in_float32([&](const Variable& a) { return prod(a, axis, keepdims); }, x))
    return *narrow;
  return apply(node<Prod>(axis, keepdims), x);
}
Variable logsumexp(const Variable& x, const AxisArg& axis) {
  CT_DEFINED(x);
  if (const auto narrow = detail::in_float32([&](const Variable& a) { return logsumexp(a, axis); }, x)) return *narrow;
  return apply(node<LogSumExp>(axis), x);
}
Variable cumsum(const Variable& x, const std::optional<int>& axis) {
  CT_DEFINED(x);
  if (!axis) return cumsum(reshape(x, {x.size()}), 0);
  return apply(node<CumSum>(normalize_axis(*axis, x.ndim(), "cumsum")), x);
}
Variable cumprod(const Variable& x, const std::optional<int>& axis) {
  CT_DEFINED(x);
  if (const auto narrow = detail::in_float32([&](const Variable& a) { return cumprod(a, axis); }, x)) return *narrow;
  if (!axis) return cumprod(reshape(x, {x.size()}), 0);
  return apply(node<CumProd>(normalize_axis(*axis, x.ndim(), "cumprod")), x);
}
Variable batch_l2_norm_squared(const Variable& x) {
  CT_DEFINED(x);
  if (const auto narrow = detail::in_float32([&](const Variable& a) { return batch_l2_norm_squared(a); }, x))
    return *narrow;
  if (x.ndim() < 2)
    fail<ShapeError>("batch_l2_norm_squared: x must have a batch axis and other axes, not {}", x.shape());
  Axes axes;
  for (int i = 1; i < x.ndim(); ++i) axes.push_back(i);
  return sum(square(x), axes);
}

std::span<const Signature> detail::math_reduction_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("math.sum", sum, "x", otherwise("axis", AxisArg()), "keepdims"),
      CT_SIGNATURE("math.sum", sum_to, "x", "shape"),
      CT_SIGNATURE("math.minmax", max, "x", otherwise("axis", AxisArg()), "keepdims"),
      CT_SIGNATURE("math.minmax", min, "x", otherwise("axis", AxisArg()), "keepdims"),
      CT_SIGNATURE("math.prod", prod, "x", otherwise("axis", AxisArg()), "keepdims"),
      CT_SIGNATURE("math.average", average, "x", otherwise("axis", AxisArg()), otherwise("weights", Variable()),
                   "keepdims"),
      CT_SIGNATURE("math.logsumexp", logsumexp, "x", "axis"),
      CT_SIGNATURE("math.minmax", argmax, "x", "axis"),
      CT_SIGNATURE("math.minmax", argmin, "x", "axis"),
      CT_SIGNATURE("math.cumsum", cumsum, "x", "axis"),
      CT_SIGNATURE("math.cumprod", cumprod, "x", "axis"),
      CT_SIGNATURE("math.batch_l2_norm_squared", batch_l2_norm_squared, "x"),
  };
  return all;
}

}  // namespace catenary::functions
