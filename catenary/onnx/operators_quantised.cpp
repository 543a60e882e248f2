// Linear quantisation to 8 and 16 bits.

#include <algorithm>
#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/onnx/operators.h"

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

Values dynamically_quantized(const Call& c) {
  const Array x = c.array(0);
  const Array least = minimum(min(x), 0), most = maximum(max(x), 0), scale = divide(subtract(most, least), 255);
  const Array zero = minimum(maximum(rint(divide(subtract(0, least), scale)), 0), 255);
  const Array y = minimum(maximum(add(rint(divide(x, scale)), zero), 0), 255);
  return {Variable(y.astype(Dtype::uint8)), Variable(scale), Variable(zero.astype(Dtype::uint8))};
}

}  // namespace

std::span<const Operator> quantised_operators() {
  static const Operator rows[] = {
      {"QuantizeLinear", 10, quantized},
      {"DequantizeLinear", 10, dequantized},
      {"DynamicQuantizeLinear", 11, dynamically_quantized},
  };
  return rows;
}

}  // namespace catenary::onnx
