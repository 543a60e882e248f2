// Optimizers of ai.onnx.preview.training. Their inputs are a rate, a step, and then lists: parameters, gradients,
// states.

#include <cmath>

#include "catenary/array/elementwise_core.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

/// The inputs of an optimizer.
struct Update {
  const Call& c;
  int lists;  ///< with those of the states
  double rate, step;
  int count;  ///< of parameters

  Update(const Call& call, int states) : c(call), lists(states + 2), rate(number(0)), step(number(1)) {
    if (c.count() < 2 + lists || (c.count() - 2) % lists != 0)
      c.fail("{} inputs are no rate, step and {} lists", c.count(), lists);
    count = (c.count() - 2) / lists;
  }
  double number(int i) const { return c.array(i).astype(Dtype::float64).reshape({}).item<double>(); }
  Array list(int which, int i) const { return c.array(2 + which * count + i); }
  /// Returns the gradient of parameter `i`, including the gradient of a penalty on its norm.
  Array gradient(int i, double norm) const {
    return norm == 0 ? list(1, i) : add(list(1, i), multiply(list(0, i), norm));
  }
};

/// Appends lists of results.
Values joined(const std::vector<Values>& lists) {
  Values all;
  for (const Values& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

Values adagrad(const Call& c) {
  const Update u(c, 1);
  const double norm = c.real("norm_coefficient", 0.0), epsilon = c.real("epsilon", 1e-6),
               rate = u.rate / (1 + u.step * c.real("decay_factor", 0.0));
  Values xs, squares;
  for (int i = 0; i < u.count; ++i) {
    const Array g = u.gradient(i, norm), h = add(u.list(2, i), multiply(g, g));
    xs.emplace_back(subtract(u.list(0, i), divide(multiply(g, rate), add(sqrt(h), epsilon))));
    squares.emplace_back(h);
  }
  return joined({xs, squares});
}

Values momentum(const Call& c) {
  const Update u(c, 1);
  const double norm = c.real("norm_coefficient"), alpha = c.real("alpha"), given = c.real("beta"),
               beta = u.step > 0 ? given : 1;
  const std::string mode = c.text("mode");
  if (mode != "standard" && mode != "nesterov") c.fail("mode '{}' is not known", mode);
  Values xs, velocities;
  for (int i = 0; i < u.count; ++i) {
    const Array g = u.gradient(i, norm), v = add(multiply(u.list(2, i), alpha), multiply(g, beta));
    const Array move = mode == "standard" ? v : add(g, multiply(v, alpha));
    xs.emplace_back(subtract(u.list(0, i), multiply(move, u.rate)));
    velocities.emplace_back(v);
  }
  return joined({xs, velocities});
}

Values adam(const Call& c) {
  const Update u(c, 2);
  const double norm = c.real("norm_coefficient", 0.0), after = c.real("norm_coefficient_post", 0.0),
               alpha = c.real("alpha", 0.9), beta = c.real("beta", 0.999), epsilon = c.real("epsilon", 1e-6);
  const double rate =
      u.step > 0 ? u.rate * std::sqrt(1 - std::pow(beta, u.step)) / (1 - std::pow(alpha, u.step)) : u.rate;
  Values xs, means, squares;
  for (int i = 0; i < u.count; ++i) {
    const Array g = u.gradient(i, norm);
    const Array v = add(multiply(u.list(2, i), alpha), multiply(g, 1 - alpha));
    const Array h = add(multiply(u.list(3, i), beta), multiply(multiply(g, g), 1 - beta));
    const Array x = subtract(u.list(0, i), divide(multiply(v, rate), add(sqrt(h), epsilon)));
    xs.emplace_back(multiply(x, 1 - after));
    means.emplace_back(v);
    squares.emplace_back(h);
  }
  return joined({xs, means, squares});
}

}  // namespace

std::span<const Operator> training_operators() {
  static const Operator rows[] = {
      {"Adagrad", 1, adagrad, "ai.onnx.preview.training"},
      {"Adam", 1, adam, "ai.onnx.preview.training"},
      {"Momentum", 1, momentum, "ai.onnx.preview.training"},
  };
  return rows;
}

}  // namespace catenary::onnx
