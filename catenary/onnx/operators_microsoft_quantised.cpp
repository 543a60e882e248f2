// The domain com.microsoft: operators on 8-bit numbers with a scale and a zero point.

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

/// Returns input i minus the zero point in input `zero`, as int32. A vector of zero points is one for each column.
Array centred_integers(const Call& c, int i, int zero) {
  const Array x = c.array(i).astype(Dtype::int32);
  return c.has(zero) ? subtract(x, c.array(zero).astype(Dtype::int32)) : x;
}

/// Returns the numbers that input i stands for, whose scale and zero point are the two inputs after it.
Array real_numbers(const Call& c, int i) {
  return multiply(centred_integers(c, i, i + 2).astype(Dtype::float32), c.array(i + 1));
}

/// Rounds y to the dtype of 8 bits, whose scale and zero point are the inputs `i` and i + 1.
Values rounded_numbers(const Call& c, const Array& y, int i, Dtype dtype) {
  if (dtype != Dtype::uint8 && dtype != Dtype::int8) c.fail("quantisation to {} is not supported", dtype);
  Array whole = rint(divide(y, c.array(i)));
  if (c.has(i + 1)) whole = add(whole, c.array(i + 1).astype(Dtype::float32));
  const double least = dtype == Dtype::int8 ? -128 : 0;
  return {Variable(minimum(maximum(whole, least), least + 255).astype(dtype))};
}

Values of_two_quantised(const Call& c, Array (*f)(Operand, Operand)) {
  return rounded_numbers(c, f(real_numbers(c, 0), real_numbers(c, 3)), 6, c.x(0).dtype());
}

/// Applies f to the numbers of input 0.
template <class Function>
Values of_one_quantised(const Call& c, Function f) {
  return rounded_numbers(c, f(Variable(real_numbers(c, 0))).array(), 3, c.x(0).dtype());
}

Values joined_quantised(const Call& c) {
  const std::int64_t axis = c.integer("axis");
  if (c.count() < 5 || (c.count() - 2) % 3 != 0)
    c.fail("{} inputs are not arrays with scales and zero points", c.count());
  std::vector<Array> parts;
  for (int i = 2; i < c.count(); i += 3) parts.push_back(real_numbers(c, i));
  return rounded_numbers(c, concatenate(parts, axis_of(c, axis, parts[0].ndim())), 0, c.x(2).dtype());
}

Values average_quantised(const Call& c) {
  const bool channels_last = c.integer("channels_last", 0) != 0;
  return of_one_quantised(c, [&](const Variable& x) {
    const int first = channels_last ? 1 : 2;
    Axes axes;
    for (int axis = first; axis < x.ndim() - (channels_last ? 1 : 0); ++axis) axes.push_back(axis);
    return F::mean(x, AxisArg(axes), true);
  });
}

Values leaky_relu_quantised(const Call& c) {
  const double alpha = c.real("alpha", 0.01);
  return of_one_quantised(c, [&](const Variable& x) { return F::leaky_relu(x, alpha); });
}

Values softmax_quantised(const Call& c) {
  const std::int64_t version = c.integer("opset");
  const int axis = axis_of(c, c.integer("axis", -1), c.x(0).ndim());
  return of_one_quantised(c, [&](const Variable& x) {
    return version >= 13 ? F::softmax(x, axis) : F::reshape(F::softmax(as_rows(x, axis), 1), x.shape());
  });
}

Array transposed_if(const Array& a, bool transposes) { return transposes ? swapaxes(a, -2, -1) : a; }

Values general_product_quantised(const Call& c) {
  const double alpha = c.real("alpha", 1.0);
  const bool transa = c.integer("transA", 0) != 0, transb = c.integer("transB", 0) != 0;
  if (transb && c.has(5) && c.x(5).size() > 1) c.fail("zero points of columns with transB are not supported");
  Array sums =
      matmul(transposed_if(centred_integers(c, 0, 2), transa), transposed_if(centred_integers(c, 3, 5), transb));
  if (c.has(6)) sums = add(sums, c.array(6));
  const Array y = multiply(sums.astype(Dtype::float32), multiply(multiply(c.array(1), c.array(4)), alpha));
  if (!c.has(7)) return {Variable(y.astype(Dtype::float32))};
  return rounded_numbers(c, y, 7, c.has(8) ? c.x(8).dtype() : c.x(0).dtype());
}

/// Returns the product of integers, scaled, plus the optional input `bias`.
Values scaled_product(const Call& c, const Array& a, const Array& b, const Array& scale, int bias) {
  const Array y = multiply(matmul(a, b).astype(scale.dtype()), scale);
  return {Variable(c.has(bias) ? add(y, c.array(bias)) : y)};
}

Values product_of_integers(const Call& c) {
  return scaled_product(c, centred_integers(c, 0, 4), centred_integers(c, 1, 5), multiply(c.array(2), c.array(3)), 6);
}

Values dynamically_quantised_product(const Call& c) {
  const auto [x, scale, zero] = dynamically_quantized(c.array(0));
  const Array whole = subtract(x.astype(Dtype::int32), zero.astype(Dtype::int32));
  return scaled_product(c, whole, centred_integers(c, 1, 3), multiply(scale, c.array(2)), 4);
}

}  // namespace

std::span<const Operator> microsoft_quantised_operators() {
  constexpr const char* domain = "com.microsoft";
  static const Operator rows[] = {
      {"QLinearAdd", 1, [](const Call& c) { return of_two_quantised(c, add); }, domain},
      {"QLinearMul", 1, [](const Call& c) { return of_two_quantised(c, multiply); }, domain},
      {"QLinearSigmoid", 1,
       [](const Call& c) { return of_one_quantised(c, [](const Variable& x) { return F::sigmoid(x); }); }, domain},
      {"QLinearLeakyRelu", 1, leaky_relu_quantised, domain},
      {"QLinearSoftmax", 1, softmax_quantised, domain},
      {"QLinearConcat", 1, joined_quantised, domain},
      {"QLinearGlobalAveragePool", 1, average_quantised, domain},
      {"QGemm", 1, general_product_quantised, domain},
      {"MatMulIntegerToFloat", 1, product_of_integers, domain},
      {"DynamicQuantizeMatMul", 1, dynamically_quantised_product, domain},
  };
  return rows;
}

}  // namespace catenary::onnx
