#pragma once
// Private to optimizers/: how an optimizer is written. The rule is arithmetic on arrays; grouping, state and hooks are
// optimizer.cpp's.

#include "catenary/array/elementwise_core.h"
#include "catenary/optimizers/optimizer.h"

namespace catenary {

/// What a rule sees: hyperparameters, the count of updates (from 1), the parameter, its gradient and its state, all
/// 1-d.
struct UpdateStep {
  const Hyperparameters& hyperparam;
  std::int64_t t;
  const Array& x;
  const Array& g;
  const Array* s;
  double operator()(const char* name) const { return hyperparam.get(name); }
};

struct Optimizer::Rule {
  std::string name;
  std::vector<std::string> state;  ///< names of the arrays, as in Chainer's snapshots
  std::function<void(const UpdateStep&)> step;
  double initial = 0;  ///< of the first state array
};

struct Optimizer::State {
  Rule rule;
  std::shared_ptr<Hyperparameters> hyperparam = std::make_shared<Hyperparameters>();
  Model target;
  std::int64_t t = 0, epoch = 0;
  std::optional<double> loss_scale;
  std::vector<std::shared_ptr<OptimizerHook>> hooks;
};

}  // namespace catenary
