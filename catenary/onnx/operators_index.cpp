// Operators that pick, order or scatter elements.

#include <algorithm>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/multiply_at.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/array/view.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

/// Returns indices of any integer dtype as int64. Negative indices count from the end.
Array indices_of(const Array& indices, std::int64_t length) {
  const Array wide = indices.astype(Dtype::int64);
  return where(less(wide, 0), add(wide, length), wide);
}

Values gathered(const Call& c) {
  const Variable x = c.x(0);
  const int axis = axis_of(c, c.integer("axis", 0), x.ndim());
  const Array indices = indices_of(c.array(1), x.shape(axis));
  return {F::get_item(x, along(axis, Index(indices)))};
}

Values gathered_elements(const Call& c) {
  const Array x = c.array(0);
  const int axis = axis_of(c, c.integer("axis", 0), x.ndim());
  return {Variable(take_along_axis(x, indices_of(c.array(1), x.shape(axis)), axis))};
}

/// Returns the index arrays in the last axis of `indices`, for the axes of `shape` from `batch` on.
std::vector<Index> coordinates(const Array& indices, const Shape& shape, int batch) {
  std::vector<Index> all;
  const std::int64_t count = indices.shape(indices.ndim() - 1);
  for (int b = 0; b < batch; ++b)  // position b in its own axis
    all.emplace_back(
        arange(shape[b]).reshape(shape_along(indices.ndim() - 1, b, shape[b])).to_device(indices.device()));
  for (std::int64_t k = 0; k < count; ++k)
    all.emplace_back(indices_of(indices(ellipsis, k), shape[batch + static_cast<int>(k)]));
  return all;
}

Values gathered_nd(const Call& c) {
  const Variable x = c.x(0);
  const auto batch = static_cast<int>(c.integer("batch_dims", 0));
  const Array indices = c.array(1);
  if (indices.ndim() == 0 || batch < 0 || batch + indices.shape(indices.ndim() - 1) > x.ndim())
    c.fail("indices of shape {} do not fit an array of shape {}", indices.shape(), x.shape());
  return {F::get_item(x, coordinates(indices, x.shape(), batch))};
}

/// How ScatterElements and ScatterND combine an update with the element.
void scatter(const Call& c, const Array& to, const std::vector<Index>& at, const Array& updates) {
  const std::string how = c.text("reduction", "none");
  if (how == "none")
    to.set_at(at, updates);
  else if (how == "add")
    scatter_add(to, at, updates);
  else if (how == "max")
    scatter_max(to, at, updates);
  else if (how == "min")
    scatter_min(to, at, updates);
  else
    multiply_at(to, at, updates);
}

Values scattered_elements(const Call& c) {
  const Array result = copy(c.array(0)), given = c.array(1);
  const int axis = axis_of(c, c.integer("axis", 0), result.ndim());
  std::vector<Index> at;
  for (int i = 0; i < given.ndim(); ++i)
    at.emplace_back(
        i == axis
            ? broadcast_to(indices_of(given, result.shape(axis)), given.shape())
            : arange(given.shape(i)).reshape(shape_along(given.ndim(), i, given.shape(i))).to_device(given.device()));
  scatter(c, result, at, c.array(2));
  return {Variable(result)};
}

Values scattered_nd(const Call& c) {
  const Array result = copy(c.array(0));
  scatter(c, result, coordinates(c.array(1), result.shape(), 0), c.array(2));
  return {Variable(result)};
}

Values compressed(const Call& c) {
  const Array x = c.array(0), condition = c.array(1);
  if (!c.find("axis")) return {Variable(compress(condition, x.reshape({-1})))};
  return {Variable(compress(condition, x, axis_of(c, c.integer("axis"), x.ndim())))};
}

Values nonzero_of(const Call& c) {
  const Array x = c.array(0);
  return {Variable(stack(nonzero(atleast_1d(x)), 0))};
}

Values top_k(const Call& c) {
  const Array x = c.array(0);
  const int axis = axis_of(c, c.integer("axis", -1), x.ndim());
  const std::int64_t k = c.opset() >= 10 ? c.integers(1).value_or(Integers{0}).at(0) : c.integer("k");
  const bool largest = c.integer("largest", 1) != 0;
  c.integer("sorted", 1);
  if (k < 0 || k > x.shape(axis)) c.fail("k is {} for an axis of {}", k, x.shape(axis));
  // a stable sort of the reversed order keeps the first of equal elements first
  const auto first = [&](const Array& a) { return a.get(along(axis, Index(slice(k)))); };
  Array order;
  if (largest) {
    const Array back = argsort(flip(x, axis), axis);
    order = subtract(x.shape(axis) - 1, flip(back, axis));
  } else {
    order = argsort(x, axis);
  }
  const Array indices = first(order);
  return {Variable(take_along_axis(x, indices, axis)), Variable(indices.astype(Dtype::int64))};
}

/// Accumulates by cumsum or cumprod. `neutral` is the result for no element.
Values cumulative(const Call& c, Array (*f)(const Array&, const std::optional<int>&, std::optional<Dtype>),
                  int neutral) {
  const Variable x = c.x(0);
  const int axis = axis_of(c, c.integers(1).value_or(Integers{0}).at(0), x.ndim());
  const bool exclusive = c.integer("exclusive", 0) != 0, reverse = c.integer("reverse", 0) != 0;
  Array values = reverse ? flip(x.array(), axis) : x.array();
  if (exclusive && values.shape(axis) > 0) {
    const auto part = [&](const Slice& s) { return values.get(along(axis, Index(s))); };
    values = concatenate({full_like(part(slice(0, 1)), neutral), part(slice(0, values.shape(axis) - 1))}, axis);
  }
  const Array result = f(values, axis, x.dtype());
  return {Variable(reverse ? flip(result, axis) : result)};
}

/// Returns distinct elements or slices, their first positions, the inverse, and how often each occurs.
Values distinct(const Call& c) {
  const Array x = c.array(0);
  const bool sorted = c.integer("sorted", 1) != 0;
  UniqueOptions options;
  options.return_index = options.return_inverse = options.return_counts = true;
  if (c.find("axis")) options.axis = axis_of(c, c.integer("axis"), x.ndim());
  UniqueResult r = unique(x, options);
  r.inverse = r.inverse.reshape({-1});
  if (!sorted) {  // in the order of first occurrences
    const Array order = argsort(r.index);
    r.values = take(r.values, order, options.axis.value_or(0));
    r.index = take(r.index, order);
    r.counts = take(r.counts, order);
    r.inverse = take(argsort(order), r.inverse);
  }
  return {Variable(r.values), Variable(r.index), Variable(r.inverse), Variable(r.counts)};
}

Values bits_as(const Call& c) {
  const Array x = c.array(0);
  const Dtype dtype = dtype_to(c, c.integer("to"));
  if (itemsize(dtype) != itemsize(x.dtype())) c.fail("{} and {} have other numbers of bits", x.dtype(), dtype);
  return {Variable(view(x, dtype))};
}

Values reversed_sequences(const Call& c) {
  const Array x = c.array(0), lengths = c.array(1).astype(Dtype::int64);
  const int time = axis_of(c, c.integer("time_axis", 0), x.ndim()),
            batch = axis_of(c, c.integer("batch_axis", 1), x.ndim());
  const auto shaped = [&](const Array& a, int axis) { return a.reshape(shape_along(x.ndim(), axis, x.shape(axis))); };
  const Array steps = shaped(arange(x.shape(time)).to_device(c.device()), time), length = shaped(lengths, batch);
  const Array order = where(less(steps, length), subtract(subtract(length, 1), steps), steps);
  return {Variable(take_along_axis(x, broadcast_to(order, x.shape()), time))};
}

}  // namespace

std::span<const Operator> index_operators() {
  static const Operator rows[] = {
      {"Gather", 1, gathered},
      {"GatherElements", 11, gathered_elements},
      {"GatherND", 11, gathered_nd},
      {"ScatterElements", 11, scattered_elements},
      {"ScatterND", 11, scattered_nd},
      {"Compress", 9, compressed},
      {"NonZero", 9, nonzero_of},
      {"TopK", 1, top_k},
      {"CumSum", 11, [](const Call& c) { return cumulative(c, cumsum, 0); }},
      {"CumProd", 26, [](const Call& c) { return cumulative(c, cumprod, 1); }},
      {"Scatter", 9, scattered_elements},
      {"Unique", 11, distinct},
      {"BitCast", 26, bits_as},
      {"ReverseSequence", 10, reversed_sequences},
  };
  return rows;
}

}  // namespace catenary::onnx
