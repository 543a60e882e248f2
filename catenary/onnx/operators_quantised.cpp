// Linear quantisation to 8 and 16 bits, and products of quantised arrays.

#include <algorithm>
#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/core/config.h"
#include "catenary/device/float64.h"
#include "catenary/onnx/operators.h"
#include "catenary/onnx/windows.h"

namespace catenary::onnx {

namespace {

/// Gives a scale or zero point the axes of x: one number, one for each element of `axis`, or one for each block.
Array spread(const Call& c, const Array& s, const Array& x, std::int64_t axis) {
  if (s.size() == 1) return s.reshape({});
  const int at = axis_of(c, axis, x.ndim());
  const std::int64_t block = c.integer("block_size", 0);
  if (s.ndim() == x.ndim() && block > 0) {
    return repeat(s, block, at).get(along(at, slice(x.shape(at))));
  }
  return s.reshape(shape_along(x.ndim(), at, s.size()));
}

std::pair<double, double> limits_of(const Call& c, Dtype dtype) {
  switch (dtype) {
    case Dtype::uint8:
      return {0, 255};
    case Dtype::int8:
      return {-128, 127};
    case Dtype::uint16:
      return {0, 65535};
    case Dtype::int16:
      return {-32768, 32767};
    default:
      c.fail("quantisation to {} is not supported", dtype);
  }
}

Values quantized(const Call& c) {
  const Array x = c.array(0);
  const std::int64_t axis = c.opset() >= 13 ? c.integer("axis", 1) : 0;
  c.integer("saturate", 1);
  c.integer("precision", 0);
  const std::int64_t wanted = c.integer("output_dtype", 0);
  Dtype dtype = Dtype::uint8;
  if (c.has(2)) {
    dtype = c.x(2).dtype();
  } else if (wanted != 0) {
    const std::optional<Dtype> found = dtype_of_type(static_cast<int>(wanted));
    if (!found) c.fail("quantisation to {} is not supported", name_of_type(static_cast<int>(wanted)));
    dtype = *found;
  }
  const auto [least, most] = limits_of(c, dtype);
  const Array scale = spread(c, c.array(1), x, axis);
  Array y = rint(divide(x.astype(Dtype::float32), scale.astype(Dtype::float32)));
  if (c.has(2)) y = add(y, spread(c, c.array(2), x, axis).astype(Dtype::float32));
  return {Variable(minimum(maximum(y, least), most).astype(dtype))};
}

Values dequantized(const Call& c) {
  const Array x = c.array(0), scale = c.array(1);
  const std::int64_t axis = c.opset() >= 13 ? c.integer("axis", 1) : 0;
  const std::int64_t wanted = c.integer("output_dtype", 0);
  Array y = x.astype(Dtype::float32);
  if (c.has(2)) y = subtract(y, spread(c, c.array(2), x, axis).astype(Dtype::float32));
  y = multiply(y, spread(c, scale, x, axis).astype(Dtype::float32));
  const std::optional<Dtype> dtype = wanted != 0 ? dtype_of_type(static_cast<int>(wanted)) : scale.dtype();
  if (!dtype) c.fail("{} is not supported", name_of_type(static_cast<int>(wanted)));
  return {Variable(y.astype(*dtype))};
}

/// Returns 8-bit integers minus their zero point (input `zero`, if it is there). `shape` shapes a zero point with
/// several elements.
template <class ShapeOf>
Array without_zero(const Call& c, int x, int zero, ShapeOf&& shape) {
  const Array wide = c.array(x).astype(Dtype::int32);
  if (itemsize(c.x(x).dtype()) != 1) c.fail("products of {} are not supported", c.x(x).dtype());
  return c.has(zero) ? subtract(wide, shape(c.array(zero)).astype(Dtype::int32)) : wide;
}

/// Gives the zero point or scale of rows the axes of a matrix.
Array by_row(const Array& a) {
  return a.ndim() == 1 && a.size() > 1 ? expand_dims(a, 1) : a.size() == 1 ? a.reshape({}) : a;
}
Array by_column(const Array& a) { return a.size() == 1 ? a.reshape({}) : a; }

/// Returns the exact product of two quantised matrices as floating numbers.
Array integer_product(const Call& c, int a, int a_zero, int b, int b_zero) {
  const Array left = without_zero(c, a, a_zero, by_row);
  if (left.ndim() == 0 || c.x(b).ndim() == 0) c.fail("an input has no axis");
  const Array right = c.kept(0, {b, b_zero}, [&] {
    const Array whole = without_zero(c, b, b_zero, by_column);
    return whole.astype(exact_dtype(c, whole, AxisArg(std::max(whole.ndim() - 2, 0))));
  });
  return matmul(left.astype(right.dtype()), right);
}

/// Quantises sums that have the scale `scale` to the scale and zero point of the result.
Values requantized(const Call& c, const Array& sums, const Array& scale, int y_scale, int y_zero) {
  const Dtype dtype = c.has(y_zero) ? c.x(y_zero).dtype() : c.x(0).dtype(), wide = widest_float(c.device());
  const auto [least, most] = limits_of(c, dtype);
  const Array factor = divide(scale, c.array(y_scale).reshape({}).astype(Dtype::float32)).astype(wide);
  Array y = rint(multiply(sums.astype(wide), factor));
  if (c.has(y_zero)) y = add(y, c.array(y_zero).reshape({}).astype(wide));
  return {Variable(minimum(maximum(y, least), most).astype(dtype))};
}

Values quantized_product(const Call& c) {
  const Array scale = multiply(by_row(c.array(1)).astype(Dtype::float32), by_column(c.array(4)).astype(Dtype::float32));
  return requantized(c, integer_product(c, 0, 2, 3, 5), scale, 6, 7);
}

/// Returns the exact convolution of quantised arrays as floating numbers. `bias` is added if it is there.
Array integer_convolution(const Call& c, int x_zero, int weight, int w_zero, int bias) {
  const auto by_output = [&](const Array& a) {
    return a.size() == 1 ? a.reshape({}) : a.reshape(shape_along(c.x(weight).ndim(), 0, a.size()));
  };
  const Array x = without_zero(c, 0, x_zero, by_column);
  if (c.x(weight).ndim() < 3 || c.x(weight).size() == 0)
    c.fail("a weight of shape {} has no spatial axis", c.x(weight).shape());
  const Array w = c.kept(0, {weight, w_zero}, [&] {
    const Array whole = without_zero(c, weight, w_zero, by_output);
    return whole.astype(exact_dtype(c, whole, axes_from(1, whole.ndim())));
  });
  c.list("kernel_shape");
  Windows windows = windows_of(c, x.shape(), spatial(w.shape()));
  F::ConvolutionOptions options;
  const Variable padding = padded(Variable(x.astype(w.dtype())), windows, 0.0);
  options.stride = per_axis(windows.strides);
  options.pad = per_axis(windows.before);
  options.dilate = per_axis(windows.dilations);
  options.groups = c.integer("group", 1);
  const UsingConfig direct_sums(config.winograd, false);  // Winograd's filtering would round
  const Array sums = F::convolution_nd(padding, Variable(w), options).array();
  if (bias < 0 || !c.has(bias)) return sums;
  const Array offset = c.array(bias).reshape(shape_along(w.ndim(), 1, w.shape(0)));
  const Dtype wide = widest_float(c.device());
  return add(sums.astype(wide), offset.astype(wide));
}

Values quantized_convolution(const Call& c) {
  const Array given = c.array(4).astype(Dtype::float32);
  const Array w = given.size() == 1 ? given.reshape({}) : given.reshape(shape_along(c.x(3).ndim(), 1, given.size()));
  const Array scale = multiply(c.array(1).reshape({}).astype(Dtype::float32), w);
  return requantized(c, integer_convolution(c, 2, 3, 5, 8), scale, 6, 7);
}

}  // namespace

Dtype exact_dtype(const Call& c, const Array& weights, const AxisArg& summed) {
  if (weights.size() == 0) return Dtype::float32;
  const auto largest = max(sum(absolute(weights), summed)).astype(Dtype::int64).item<std::int64_t>();
  if (largest * 255 < (1 << 24)) return Dtype::float32;
  if (!has_float64(c.device())) c.fail("sums up to {} are not supported without float64", largest * 255);
  return Dtype::float64;
}

std::array<Array, 3> dynamically_quantized(const Array& x) {
  const Array least = minimum(min(x), 0), most = maximum(max(x), 0), range = subtract(most, least);
  const Array scale = divide(where(equal(range, 0), 1, range).astype(x.dtype()), 255);  // 1 / 255 for zeros
  const Array zero = minimum(maximum(rint(divide(subtract(0, least), scale)), 0), 255);
  const Array y = minimum(maximum(add(rint(divide(x, scale)), zero), 0), 255);
  return {y.astype(Dtype::uint8), scale, zero.astype(Dtype::uint8)};
}

std::span<const Operator> quantised_operators() {
  static const Operator rows[] = {
      {"QuantizeLinear", 10, quantized},
      {"DequantizeLinear", 10, dequantized},
      {"DynamicQuantizeLinear", 11,
       [](const Call& c) {
         const std::array<Array, 3> y = dynamically_quantized(c.array(0));
         return Values{Variable(y[0]), Variable(y[1]), Variable(y[2])};
       }},
      {"QLinearMatMul", 10, quantized_product},
      {"QLinearConv", 10, quantized_convolution},
      {"MatMulInteger", 10,
       [](const Call& c) { return Values{Variable(integer_product(c, 0, 2, 1, 3).astype(Dtype::int32))}; }},
      {"ConvInteger", 10,
       [](const Call& c) { return Values{Variable(integer_convolution(c, 2, 1, 3, -1).astype(Dtype::int32))}; }},
  };
  return rows;
}

}  // namespace catenary::onnx
