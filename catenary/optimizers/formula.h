#pragma once
// An optimizer's formula by itself, for those who keep parameters and their state elsewhere: the Python package, where
// both are Chainer's.

#include "catenary/optimizers/optimizer.h"

namespace catenary {

/// What an optimizer does to parameters, without the optimizer's own counts, hooks and state.
class CT_API OptimizerFormula {
 public:
  /// That of an optimizer, whatever it is set up for.
  explicit OptimizerFormula(const Optimizer& optimizer);
  /// The state that a parameter has, in the order in which it is given.
  const std::vector<OptimizerState>& state() const { return rule_->state; }
  /// The hyperparameters, with the values that the optimizer had.
  const Hyperparameters::Values& hyperparameters() const { return hyperparameters_; }
  /// Update number t (from 1) of parameters that share dtype and device and all of `values`: each of `parameters` is
  /// the parameter, its gradient, and its state, of one shape. The parameter and the state are changed in place, by one
  /// program where all are C-ordered. Throws ValueError for a value that is no hyperparameter, for another number of
  /// arrays and for t < 1, ShapeError for arrays of other shapes, DtypeError for 16-bit floats and integers.
  void update(const std::vector<std::vector<Array>>& parameters, std::int64_t t,
              const Hyperparameters::Values& values) const;

 private:
  std::shared_ptr<const OptimizerRule> rule_;
  Hyperparameters::Values hyperparameters_;
};

}  // namespace catenary
