#pragma once
// Models and updates for tests of training with 16-bit parameters.

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/links/link.h"
#include "catenary/optimizers/optimizers.h"
#include "tests/training/rules.h"

namespace catenary::tests_of_precision {

namespace O = optimizers;
using ::tests::rule_of;
using ::tests::Values;
using ::tests::values_of;

constexpr double kInf = std::numeric_limits<double>::infinity();

inline Array made(const Shape& shape, Dtype dtype, double phase) {
  Values values;
  for (std::int64_t i = 0; i < shape.product(); ++i) values.push_back(std::sin(static_cast<double>(i) + phase));
  return Array::from_host(values.data(), shape, Dtype::float64, Device()).astype(dtype).to_device(current_device());
}

struct Three : Link {
  Parameter a, b, c;
  CT_LINKS(a, b, c)
  explicit Three(Dtype dtype)
      : a(Parameter::from_array(made({3, 4}, dtype, 1))),
        b(Parameter::from_array(made({5}, dtype, 2))),
        c(Parameter::from_array(made({1}, dtype, 3))) {}
  std::vector<Parameter> all() const { return {a, b, c}; }
};

/// Everything that a training continues with, as in a snapshot.
inline std::vector<Values> state_of(const Three& model) {
  std::vector<Values> all;
  for (const Parameter& p : model.all()) {
    all.push_back(values_of(p.array()));
    for (const auto& [name, array] : rule_of(p).state)
      if (array.defined()) all.push_back(values_of(array));
  }
  return all;
}

/// Sets every gradient element to `gradient` times the loss scale of backward, and updates.
inline void update(const Optimizer& optimizer, const Three& model, double gradient, double scale = 1) {
  for (const Parameter& p : model.all()) {
    p.set_grad(full(p.shape(), gradient * scale, p.dtype()));
    p.set_loss_scale(scale);
  }
  optimizer.update();
}

inline std::vector<std::function<Optimizer()>> all_optimizers() {
  return {[]() -> Optimizer { return O::SGD(0.01); },
          []() -> Optimizer { return O::MomentumSGD({.lr = 0.01}); },
          []() -> Optimizer { return O::CorrectedMomentumSGD({.lr = 0.01}); },
          []() -> Optimizer { return O::NesterovAG({.lr = 0.01}); },
          []() -> Optimizer { return O::AdaGrad({.lr = 0.01}); },
          []() -> Optimizer { return O::AdaDelta(); },
          []() -> Optimizer { return O::RMSprop({.lr = 0.01}); },
          []() -> Optimizer { return O::RMSpropGraves(); },
          []() -> Optimizer { return O::SMORMS3({.lr = 0.01}); },
          []() -> Optimizer { return O::MSVAG({.lr = 0.01}); },
          []() -> Optimizer { return O::Adam({.alpha = 0.01}); },
          []() -> Optimizer { return O::AdamW({.alpha = 0.01}); },
          []() -> Optimizer { return O::AMSGrad({.alpha = 0.01}); },
          []() -> Optimizer { return O::AdaBound({.alpha = 0.01}); },
          []() -> Optimizer { return O::AMSBound({.alpha = 0.01}); }};
}

/// Gradients that differ between steps and elements.
inline void varied_update(const Optimizer& optimizer, const Three& model, int step) {
  double phase = step;
  for (const Parameter& p : model.all()) p.set_grad(made(p.shape(), p.dtype(), phase += 0.7));
  optimizer.update();
}

}  // namespace catenary::tests_of_precision
