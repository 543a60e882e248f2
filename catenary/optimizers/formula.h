#pragma once
// An optimizer's formula for programs that store parameters and state elsewhere. The Python package uses it for
// Chainer's parameters.

#include "catenary/optimizers/optimizer.h"

namespace catenary {

/// Updates parameters like an optimizer, without its counters, hooks and state.
class CT_API OptimizerFormula {
 public:
  /// Copies the formula and the hyperparameters of an optimizer, with or without a target.
  explicit OptimizerFormula(const Optimizer& optimizer);
  /// The state arrays of a parameter, in the order that update() expects.
  const std::vector<OptimizerState>& state() const { return rule_->state; }
  /// The hyperparameters, with the optimizer's values.
  const Hyperparameters::Values& hyperparameters() const { return hyperparameters_; }
  /// Runs update number t (from 1) for parameters that share dtype, device and `values`. Each entry of `parameters` is
  /// a parameter, its gradient and its state arrays, of equal shapes. Changes parameters and state in place, with a
  /// single program if all are C-ordered. Throws ValueError for unknown hyperparameters, a wrong number of arrays and t
  /// < 1, ShapeError for different shapes, and DtypeError for 16-bit floats and integers.
  void update(const std::vector<std::vector<Array>>& parameters, std::int64_t t,
              const Hyperparameters::Values& values) const;

 private:
  std::shared_ptr<const OptimizerRule> rule_;
  Hyperparameters::Values hyperparameters_;
};

}  // namespace catenary
