// Operators on single elements, with broadcasting.

#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

/// Computes by `f` of Variables if all inputs are floating, else by `g` of arrays, in the inputs' dtype.
template <class Real, class Whole>
Values by_kind(const Call& c, Real real, Whole whole) {
  const Variable x = c.x(0);
  if (is_inexact(x.dtype())) return {real(x)};
  return {Variable(whole(x.array()).astype(x.dtype()))};
}

template <class Real, class Whole>
Values of_two(const Call& c, Real real, Whole whole) {
  const Variable x = c.x(0), y = c.x(1);
  if (is_inexact(x.dtype()) && x.dtype() == y.dtype()) return {real(x, y)};
  return {Variable(whole(x.array(), y.array()).astype(x.dtype()))};
}

Values of_arrays(const Call& c, Array (*f)(Operand, Operand)) { return {Variable(f(c.array(0), c.array(1)))}; }

Values divided(const Call& c) {
  return of_two(
      c, [](const Variable& x, const Variable& y) { return x / y; },
      [](const Array& x, const Array& y) {
        // rounds towards zero
        const Array quotient = floor_divide(x, y);
        if (kind(x.dtype()) != Kind::signed_int) return quotient;
        const Array inexact = logical_and(not_equal(multiply(quotient, y), x), not_equal(less(x, 0), less(y, 0)));
        return add(quotient, inexact);
      });
}

Values modulo(const Call& c) {
  const bool sign_of_dividend = c.integer("fmod", 0) != 0;
  const Array x = c.array(0), y = c.array(1);
  return {Variable(sign_of_dividend ? fmod(x, y) : remainder(x, y))};
}

/// Folds any number of inputs by a function of two.
template <class Real, class Whole>
Values folded(const Call& c, Real real, Whole whole) {
  Variable result = c.x(0);
  for (int i = 1; i < c.count(); ++i) {
    const Variable x = c.x(i);
    result = is_inexact(result.dtype()) ? real(result, x) : Variable(whole(result.array(), x.array()));
  }
  return {result};
}

Values sum_of_all(const Call& c) {
  return folded(
      c, [](const Variable& x, const Variable& y) { return x + y; },
      [](const Array& x, const Array& y) { return add(x, y); });
}

/// Folds by a function of Variables that does not broadcast by itself.
template <class Whole>
Values folded_broadcast(const Call& c, Variable (*real)(const Variable&, const Variable&), Whole whole) {
  return folded(
      c,
      [&](const Variable& x, const Variable& y) {
        const Shape shape = broadcast_shapes({x.shape(), y.shape()});
        return real(F::broadcast_to(x, shape), F::broadcast_to(y, shape));
      },
      whole);
}

Values raised(const Call& c) {
  const Variable x = c.x(0), y = c.x(1);
  if (is_inexact(x.dtype())) return {x.dtype() == y.dtype() ? F::power(x, y) : F::power(x, F::cast(y, x.dtype()))};
  const Array result = is_inexact(y.dtype()) ? power(x.array().astype(Dtype::float64), y.array().astype(Dtype::float64))
                                             : power(x.array(), y.array());
  return {Variable(result.astype(x.dtype()))};
}

/// Clip: bounds are attributes before opset 11, then inputs.
Values clipped(const Call& c) {
  const Variable x = c.x(0);
  if (c.opset() < 11) {
    const double least = c.real("min", -3.402823466e38), most = c.real("max", 3.402823466e38);
    return {F::clip(x, least, most)};
  }
  const auto bound = [&](int i) -> std::optional<double> {
    if (!c.has(i)) return {};
    return c.array(i).astype(Dtype::float64).item<double>();
  };
  const std::optional<double> least = bound(1), most = bound(2);
  if (!is_inexact(x.dtype()) || (least && most && *least > *most)) {
    Array result = x.array();
    if (least) result = maximum(result, c.array(1));
    if (most) result = minimum(result, c.array(2));
    return {Variable(result)};
  }
  return {least || most ? F::clip(x, least, most) : x};
}

Values chosen(const Call& c) {
  const Variable condition = c.x(0), x = c.x(1), y = c.x(2);
  const Shape shape = broadcast_shapes({condition.shape(), x.shape(), y.shape()});
  if (!is_floating(x.dtype())) return {Variable(where(condition.array(), x.array(), y.array()))};
  return {F::where(F::broadcast_to(condition, shape), F::broadcast_to(x, shape), F::broadcast_to(y, shape))};
}

Values sloped(const Call& c) {
  const Variable x = c.x(0), slope = c.x(1);
  return {F::maximum(x, x * 0) + slope * F::minimum(x, x * 0)};
}

Values gelu(const Call& c) {
  const std::string form = c.text("approximate", "none");
  if (form != "none" && form != "tanh") c.fail("approximate is '{}' where 'none' or 'tanh' is known", form);
  return {F::gelu(c.x(0), form == "tanh" ? F::GeluForm::tanh : F::GeluForm::erf)};
}

Values shifted(const Call& c) {
  const std::string direction = c.text("direction");
  if (direction != "LEFT" && direction != "RIGHT") c.fail("direction is '{}' where LEFT or RIGHT is known", direction);
  return {Variable(direction == "LEFT" ? left_shift(c.array(0), c.array(1)) : right_shift(c.array(0), c.array(1)))};
}

Values infinite(const Call& c) {
  const bool positive = c.integer("detect_positive", 1) != 0, negative = c.integer("detect_negative", 1) != 0;
  const Array x = c.array(0), found = isinf(x);
  if (positive && negative) return {Variable(found)};
  if (!positive && !negative) return {Variable(zeros_like(found))};
  return {Variable(logical_and(found, positive ? greater(x, 0) : less(x, 0)))};
}

Values selu(const Call& c) {
  const double alpha = c.real("alpha", 1.67326319217681884765625), gamma = c.real("gamma", 1.05070102214813232421875);
  return {F::selu(c.x(0), alpha, gamma)};
}

Values celu(const Call& c) {
  const double alpha = c.real("alpha", 1.0);
  const Variable x = c.x(0);
  return {F::relu(x) + F::minimum((F::exp(x / alpha) - 1) * alpha, x * 0)};
}

Values thresholded(const Call& c) {
  const double alpha = c.real("alpha", 1.0);
  const Variable x = c.x(0);
  return {F::where(Variable(greater(x.array(), alpha)), x, x * 0)};
}

Values hard_sigmoid(const Call& c) {
  const double alpha = c.real("alpha", 0.2), beta = c.real("beta", 0.5);
  return {F::clip(c.x(0) * alpha + beta, 0.0, 1.0)};
}

Values swish(const Call& c) {
  const double alpha = c.real("alpha", 1.0);
  const Variable x = c.x(0);
  return {x * F::sigmoid(x * alpha)};
}

Values shrunk(const Call& c) {
  const double bias = c.real("bias", 0.0), limit = c.real("lambd", 0.5);
  const Array x = c.array(0), inner = where(greater(x, limit), subtract(x, bias), multiply(x, 0));
  return {Variable(where(less(x, -limit), add(x, bias), inner).astype(x.dtype()))};
}

}  // namespace

std::span<const Operator> elementwise_operators() {
#define CT_ROW(name, since, expression)                             \
  {                                                                 \
    name, since, [](const Call& c) -> Values { return expression; } \
  }
#define CT_OF_X(name, since, expression) \
  CT_ROW(name, since, {[](const Variable& x) -> Variable { return expression; }(c.x(0))})
  static const Operator rows[] = {
      CT_ROW("Abs", 6,
             by_kind(
                 c, [](const Variable& x) { return F::absolute(x); }, [](const Array& x) { return absolute(x); })),
      CT_ROW("Neg", 6,
             by_kind(
                 c, [](const Variable& x) { return -x; }, [](const Array& x) { return negative(x); })),
      CT_ROW("Sign", 9,
             by_kind(
                 c, [](const Variable& x) { return F::sign(x); }, [](const Array& x) { return sign(x); })),
      CT_OF_X("Acos", 7, F::arccos(x)),
      CT_OF_X("Asin", 7, F::arcsin(x)),
      CT_OF_X("Atan", 7, F::arctan(x)),
      CT_OF_X("Acosh", 9, Variable(arccosh(x.array()))),
      CT_OF_X("Asinh", 9, Variable(arcsinh(x.array()))),
      CT_OF_X("Atanh", 9, F::arctanh(x)),
      CT_OF_X("Cos", 7, F::cos(x)),
      CT_OF_X("Sin", 7, F::sin(x)),
      CT_OF_X("Tan", 7, F::tan(x)),
      CT_OF_X("Cosh", 9, F::cosh(x)),
      CT_OF_X("Sinh", 9, F::sinh(x)),
      CT_OF_X("Tanh", 6, F::tanh(x)),
      CT_OF_X("Exp", 6, F::exp(x)),
      CT_OF_X("Log", 6, F::log(x)),
      CT_OF_X("Sqrt", 6, F::sqrt(x)),
      CT_OF_X("Reciprocal", 6, 1 / x),
      CT_OF_X("Ceil", 6, F::ceil(x)),
      CT_OF_X("Floor", 6, F::floor(x)),
      CT_OF_X("Round", 11, Variable(rint(x.array()))),
      CT_OF_X("Erf", 9, F::erf(x)),
      CT_OF_X("Relu", 6, is_floating(x.dtype()) ? F::relu(x) : Variable(maximum(x.array(), 0))),
      CT_OF_X("Sigmoid", 6, F::sigmoid(x)),
      CT_OF_X("Softplus", 1, F::softplus(x)),
      CT_OF_X("Softsign", 1, x / (F::absolute(x) + 1)),
      CT_OF_X("Mish", 18, x * F::tanh(F::softplus(x))),
      CT_OF_X("HardSwish", 14, x * F::clip(x * (1.0 / 6) + 0.5, 0.0, 1.0)),
      CT_OF_X("IsNaN", 9, Variable(isnan(x.array()))),
      CT_OF_X("Not", 1, Variable(logical_not(x.array()))),
      CT_OF_X("BitwiseNot", 18, Variable(invert(x.array()))),
      {"Swish", 24, swish},
      CT_ROW("LeakyRelu", 6, {F::leaky_relu(c.x(0), c.real("alpha", 0.01))}),
      CT_ROW("Elu", 6, {F::elu(c.x(0), c.real("alpha", 1.0))}),
      {"Selu", 6, selu},
      {"Celu", 12, celu},
      {"ThresholdedRelu", 10, thresholded},
      {"HardSigmoid", 6, hard_sigmoid},
      {"Shrink", 9, shrunk},
      CT_ROW("Add", 7,
             of_two(
                 c, [](const Variable& x, const Variable& y) { return x + y; },
                 [](const Array& x, const Array& y) { return add(x, y); })),
      CT_ROW("Sub", 7,
             of_two(
                 c, [](const Variable& x, const Variable& y) { return x - y; },
                 [](const Array& x, const Array& y) { return subtract(x, y); })),
      CT_ROW("Mul", 7,
             of_two(
                 c, [](const Variable& x, const Variable& y) { return x * y; },
                 [](const Array& x, const Array& y) { return multiply(x, y); })),
      {"Div", 7, divided},
      {"Mod", 10, modulo},
      {"Pow", 7, raised},
      {"Sum", 6, sum_of_all},
      CT_ROW("Max", 6, folded_broadcast(c, F::maximum, [](const Array& x, const Array& y) { return maximum(x, y); })),
      CT_ROW("Min", 6, folded_broadcast(c, F::minimum, [](const Array& x, const Array& y) { return minimum(x, y); })),
      CT_ROW("Mean", 6, {sum_of_all(c)[0].variable() / static_cast<double>(c.count())}),
      {"Clip", 6, clipped},
      {"Where", 9, chosen},
      {"PRelu", 7, sloped},
      {"Gelu", 20, gelu},
      {"BitShift", 11, shifted},
      {"IsInf", 10, infinite},
      CT_ROW("Equal", 7, of_arrays(c, equal)),
      CT_ROW("Greater", 7, of_arrays(c, greater)),
      CT_ROW("Less", 7, of_arrays(c, less)),
      CT_ROW("GreaterOrEqual", 12, of_arrays(c, greater_equal)),
      CT_ROW("LessOrEqual", 12, of_arrays(c, less_equal)),
      CT_ROW("And", 7, of_arrays(c, logical_and)),
      CT_ROW("Or", 7, of_arrays(c, logical_or)),
      CT_ROW("Xor", 7, of_arrays(c, logical_xor)),
      CT_ROW("BitwiseAnd", 18, of_arrays(c, bitwise_and)),
      CT_ROW("BitwiseOr", 18, of_arrays(c, bitwise_or)),
      CT_ROW("BitwiseXor", 18, of_arrays(c, bitwise_xor)),
  };
#undef CT_OF_X
#undef CT_ROW
  return rows;
}

}  // namespace catenary::onnx
