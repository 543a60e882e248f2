// Operators of opset 6 that have another meaning than those of opset 7.

#include <algorithm>

#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

/// Computes the operator of opset 7 without attributes that it does not know.
Values of_opset_7(const Call& c, Values inputs, std::initializer_list<const char*> removed) {
  Node node = c.node();
  std::erase_if(node.attributes,
                [&](const Attribute& a) { return std::ranges::find(removed, a.name) != removed.end(); });
  const Call later(node, 7, std::move(inputs), c.device());
  Values results = find_operator(node.domain, node.type, 7)->compute(later);
  later.refuse_other_attributes();
  for (const Attribute& a : c.node().attributes) c.find(a.name.c_str());
  return results;
}

Values inputs_of(const Call& c) {
  Values all;
  for (int i = 0; i < c.count(); ++i) all.push_back(c.has(i) ? c.value(i) : Value());
  return all;
}

/// Inputs broadcast only if the node says so, and from an axis on.
Values aligned(const Call& c) {
  const Variable x = c.x(0);
  Variable y = c.x(1);
  if (c.integer("broadcast", 0) != 0) {
    const int axis = axis_of(c, c.integer("axis", x.ndim() - y.ndim()), x.ndim() + 1);
    Integers shape(y.shape().begin(), y.shape().end());
    while (static_cast<int>(shape.size()) < x.ndim() - axis) shape.push_back(1);
    y = F::reshape(y, Shape(shape));
  } else if (x.shape() != y.shape() && y.size() != 1) {
    c.fail("shapes {} and {} differ, and the node does not broadcast", x.shape(), y.shape());
  }
  return of_opset_7(c, {x, y}, {"broadcast", "axis"});
}

Values product_of_opset_6(const Call& c) {
  c.integer("broadcast", 0);
  return of_opset_7(c, inputs_of(c), {"broadcast"});
}

void check_inference(const Call& c) {
  if (c.integer("is_test", 0) == 0) c.fail("training mode is not supported: export the model for inference");
}

Values for_inference(const Call& c) {
  check_inference(c);
  return of_opset_7(c, inputs_of(c), {"is_test"});
}

/// The slope has one element, or one for each channel.
Values sloped_per_channel(const Call& c) {
  const Variable x = c.x(0), slope = c.x(1);
  const bool is_per_channel = slope.ndim() == 1 && slope.size() > 1 && x.ndim() > 2;
  return of_opset_7(c, {x, is_per_channel ? F::reshape(slope, shape_along(x.ndim() - 1, 0, slope.size())) : slope}, {});
}

}  // namespace

std::span<const Operator> early_operators() {
  static const Operator rows[] = {
      {"Add", 6, aligned},
      {"Sub", 6, aligned},
      {"Mul", 6, aligned},
      {"Div", 6, aligned},
      {"Pow", 1, aligned},
      {"Equal", 1, aligned},
      {"Greater", 1, aligned},
      {"Less", 1, aligned},
      {"And", 1, aligned},
      {"Or", 1, aligned},
      {"Xor", 1, aligned},
      {"Gemm", 6, product_of_opset_6},
      {"BatchNormalization", 6, for_inference, "", check_inference},
      {"Dropout", 6, for_inference, "", check_inference},
      {"PRelu", 6, sloped_per_channel},
  };
  return rows;
}

}  // namespace catenary::onnx
