// Elementwise functions.

#include <cmath>
#include <numbers>

#include "catenary/onnx/export_call.h"

namespace catenary::onnx::exporting {

namespace {

/// Input 0 with the result's dtype.
std::string input_of(const ExportCall& c) { return c.as_result(0); }

template <const char* const& type>
Names with_number(const ExportCall& c) {
  return {c.node(type, {input_of(c), c.number(c.real("c"))})};
}
template <const char* const& type>
Names number_with(const ExportCall& c) {
  return {c.node(type, {c.number(c.real("c")), input_of(c)})};
}
constexpr const char *kAdd = "Add", *kSub = "Sub", *kMul = "Mul", *kDiv = "Div", *kPow = "Pow";

Names power_by_number(const ExportCall& c) {
  if (c.real("c") == 2) return {c.node("Mul", {input_of(c), input_of(c)})};
  return with_number<kPow>(c);
}

std::string scaled(const ExportCall& c, const std::string& x, double factor) {
  return factor == 1 ? x : c.node("Mul", {x, c.number(factor)});
}
Names logarithm(const ExportCall& c, double base) {
  return {scaled(c, c.node("Log", {input_of(c)}), 1 / std::log(base))};
}

/// (1 + f(x / sqrt(2))) / 2, where f is Erf.
std::string normal_distribution(const ExportCall& c) {
  const std::string erf = c.node("Erf", {scaled(c, input_of(c), 1 / std::numbers::sqrt2)});
  return scaled(c, c.node("Add", {erf, c.number(1)}), 0.5);
}

Names gelu(const ExportCall& c) {
  if (c.opset() >= 20) return {c.node("Gelu", {input_of(c)})};
  return {c.node("Mul", {input_of(c), normal_distribution(c)})};
}
Names gelu_by_tanh(const ExportCall& c) {
  const std::string x = input_of(c);
  if (c.opset() >= 20) return {c.node("Gelu", {x}, {{"approximate", "tanh"}})};
  const std::string cube = c.node("Mul", {c.node("Mul", {x, x}), x});
  const std::string inner = scaled(c, c.node("Add", {x, scaled(c, cube, 0.044715)}), std::sqrt(2 / std::numbers::pi));
  const std::string open = c.node("Add", {c.node("Tanh", {inner}), c.number(1)});
  return {c.node("Mul", {scaled(c, x, 0.5), open})};
}

Names clipped(const ExportCall& c, std::optional<double> low, std::optional<double> high) {
  Names inputs = {input_of(c), low ? c.number(*low) : ""};
  if (high) inputs.push_back(c.number(*high));
  return {c.node("Clip", inputs)};
}
Names clip_rows(const ExportCall& c) {
  const auto bound = [&](const char* name) { return c.has(name) ? std::optional(c.real(name)) : std::nullopt; };
  return clipped(c, bound("low"), bound("high"));
}

Names softplus(const ExportCall& c) {
  const double beta = c.real("beta");
  return {scaled(c, c.node("Softplus", {scaled(c, input_of(c), beta)}), 1 / beta)};
}

/// where(x >= 0, x, x * r), where r does not depend on the inputs.
Names randomized_relu(const ExportCall& c) {
  const std::string x = input_of(c), below = c.node("Mul", {x, c.constant(c.array("r"))});
  return {c.node("Where", {c.node("GreaterOrEqual", {x, c.number(0)}), x, below})};
}

Names concatenated_relu(const ExportCall& c) {
  const std::string x = input_of(c);
  return {c.node("Concat", {c.node("Relu", {x}), c.node("Relu", {c.node("Neg", {x})})}, {{"axis", c.axis()}})};
}

/// The angle of (x1, x0), from the arc tangent of x0 / x1.
Names angle(const ExportCall& c) {
  const std::string y = c.as_result(0), x = c.as_result(1), zero = c.number(0);
  const std::string half =
      c.node("Where", {c.node("Less", {y, zero}), c.number(-std::numbers::pi), c.number(std::numbers::pi)});
  const std::string turn = c.node("Where", {c.node("Less", {x, zero}), half, zero});
  return {c.node("Add", {c.node("Atan", {c.node("Div", {y, x})}), turn})};
}

/// p x + (1 - p) y
Names interpolated(const ExportCall& c) {
  const std::string p = c.as_result(0), rest = c.node("Sub", {c.number(1), p});
  return {c.node("Add", {c.node("Mul", {p, c.as_result(1)}), c.node("Mul", {rest, c.as_result(2)})})};
}

/// The condition is an attribute. It may come from an input of the model.
std::string condition_of(const ExportCall& c) {
  const auto [a, b] = c.both("condition");
  if (const auto input = c.input_equal_to(std::get<Array>(*a), std::get<Array>(*b)))
    return c.node("Cast", {*input}, {{"to", type_of_dtype(Dtype::bool_)}});
  const Array condition = c.array("condition");
  return c.constant(condition.dtype() == Dtype::bool_ ? condition : condition != 0);
}
Names chosen(const ExportCall& c) {
  if (c.count() == 2) return {c.node("Where", {condition_of(c), c.as_result(0), c.as_result(1)})};
  const std::string x = c.as_result(0), number = c.number(c.real("number"));
  const bool first = c.flag("where_true");
  return {c.node("Where", {condition_of(c), first ? x : number, first ? number : x})};
}

Names swish(const ExportCall& c) {
  const std::string x = c.as_result(0);
  return {c.node("Mul", {x, c.node("Sigmoid", {c.node("Mul", {x, c.as_result(1)})})})};
}

std::string absolute_difference(const ExportCall& c) {
  return c.node("Abs", {c.node("Sub", {c.as_result(0), c.as_result(1)})});
}
std::string squared_difference(const ExportCall& c) {
  const std::string difference = c.node("Sub", {c.as_result(0), c.as_result(1)});
  return c.node("Mul", {difference, difference});
}
Names huber_loss(const ExportCall& c) {
  const double delta = c.real("delta");
  const std::string d = absolute_difference(c);
  const std::string square = scaled(c, c.node("Mul", {d, d}), 0.5),
                    line = scaled(c, c.node("Sub", {d, c.number(0.5 * delta)}), delta);
  return {c.node("Where", {c.node("LessOrEqual", {d, c.number(delta)}), square, line})};
}
Names bernoulli_loss(const ExportCall& c) {
  const std::string product = c.node("Mul", {c.as_result(0), c.as_result(1)});
  return {c.node("Sub", {c.node("Softplus", {c.as_result(1)}), product})};
}
Names mean_of(const ExportCall& c, const std::string& x) { return {c.node("ReduceMean", {x}, {{"keepdims", 0}})}; }

constexpr ExportRow kElementwise[] = {
    {"Absolute", "Abs"},
    {"AbsoluteError", nullptr, [](const ExportCall& c) -> Names { return {absolute_difference(c)}; }},
    {"Add", "Add"},
    {"AddConstant", nullptr, with_number<kAdd>},
    {"Arccos", "Acos"},
    {"Arcsin", "Asin"},
    {"Arctan", "Atan"},
    {"Arctan2", nullptr, angle},
    {"Arctanh", "Atanh"},
    {"BernoulliNLL", nullptr, bernoulli_loss},
    {"CReLU", nullptr, concatenated_relu},
    {"Cast", nullptr, [](const ExportCall& c) -> Names { return {input_of(c)}; }},
    {"Clip", nullptr, clip_rows},
    {"ClippedReLU", nullptr, [](const ExportCall& c) { return clipped(c, 0, c.real("z")); }},
    {"Copy", nullptr, [](const ExportCall& c) -> Names { return {c.x(0)}; }},
    {"Cos", "Cos"},
    {"Cosh", "Cosh"},
    {"Div", "Div"},
    {"DivConstant", nullptr, with_number<kDiv>},
    {"DivFromConstant", nullptr, number_with<kDiv>},
    {"ELU", nullptr,
     [](const ExportCall& c) -> Names {
       return {c.node("Elu", {input_of(c)}, {{"alpha", c.real("alpha")}})};
     }},
    {"Erf", "Erf"},
    {"Erfc", nullptr,
     [](const ExportCall& c) -> Names {
       return {c.node("Sub", {c.number(1), c.node("Erf", {input_of(c)})})};
     }},
    {"Exp", "Exp"},
    {"Expm1", nullptr,
     [](const ExportCall& c) -> Names {
       return {c.node("Sub", {c.node("Exp", {input_of(c)}), c.number(1)})};
     }},
    {"Fmod", nullptr,
     [](const ExportCall& c) -> Names {
       return {c.node("Mod", {c.as_result(0), c.as_result(1)}, {{"fmod", 1}})};
     }},
    {"GELU", nullptr, gelu},
    {"HardSigmoid", nullptr,
     [](const ExportCall& c) -> Names {
       return {c.node("HardSigmoid", {input_of(c)}, {{"alpha", 0.2}, {"beta", 0.5}})};
     }},
    {"HuberLoss", nullptr, huber_loss},
    {"Identity", nullptr, [](const ExportCall& c) -> Names { return {c.x(0)}; }},
    {"LeakyReLU", nullptr,
     [](const ExportCall& c) -> Names {
       return {c.node("LeakyRelu", {input_of(c)}, {{"alpha", c.real("slope")}})};
     }},
    {"LinearInterpolate", nullptr, interpolated},
    {"Log", "Log"},
    {"Log10", nullptr, [](const ExportCall& c) { return logarithm(c, 10); }},
    {"Log1p", nullptr,
     [](const ExportCall& c) -> Names {
       return {c.node("Log", {c.node("Add", {input_of(c), c.number(1)})})};
     }},
    {"Log2", nullptr, [](const ExportCall& c) { return logarithm(c, 2); }},
    {"Maximum", "Max"},
    {"MeanAbsoluteError", nullptr, [](const ExportCall& c) { return mean_of(c, absolute_difference(c)); }},
    {"MeanSquaredError", nullptr, [](const ExportCall& c) { return mean_of(c, squared_difference(c)); }},
    {"Minimum", "Min"},
    {"Mul", "Mul"},
    {"MulConstant", nullptr, with_number<kMul>},
    {"Ndtr", nullptr, [](const ExportCall& c) -> Names { return {normal_distribution(c)}; }},
    {"Neg", "Neg"},
    {"PReLUFunction", "PRelu"},
    {"PowConstVar", nullptr, number_with<kPow>},
    {"PowVarConst", nullptr, power_by_number},
    {"PowVarVar", "Pow"},
    {"RReLU", nullptr, randomized_relu},
    {"ReLU", "Relu"},
    {"RsqrtFunction", nullptr,
     [](const ExportCall& c) -> Names { return {c.node("Reciprocal", {c.node("Sqrt", {input_of(c)})})}; }},
    {"SiLU", nullptr,
     [](const ExportCall& c) -> Names {
       return {c.node("Mul", {input_of(c), c.node("Sigmoid", {input_of(c)})})};
     }},
    {"Sigmoid", "Sigmoid"},
    {"Sin", "Sin"},
    {"Sinh", "Sinh"},
    {"Softplus", nullptr, softplus},
    {"Sqrt", "Sqrt"},
    {"Square", nullptr,
     [](const ExportCall& c) -> Names {
       return {c.node("Mul", {input_of(c), input_of(c)})};
     }},
    {"SquaredError", nullptr, [](const ExportCall& c) -> Names { return {squared_difference(c)}; }},
    {"Sub", "Sub"},
    {"SubFromConstant", nullptr, number_with<kSub>},
    {"Swish", nullptr, swish},
    {"Tan", "Tan"},
    {"Tanh", "Tanh"},
    {"TanhGELU", nullptr, gelu_by_tanh},
    {"Where", nullptr, chosen},
};

}  // namespace

std::span<const ExportRow> exported_elementwise() { return kElementwise; }

}  // namespace catenary::onnx::exporting
