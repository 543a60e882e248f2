#include "catenary/optimizers/formula.h"

#include "catenary/core/format.h"
#include "catenary/optimizers/detail.h"

namespace catenary {

OptimizerFormula::OptimizerFormula(const Optimizer& optimizer)
    : rule_(optimizer.state_->rule), hyperparameters_(optimizer.hyperparam().all()) {}

void OptimizerFormula::update(const std::vector<std::vector<Array>>& parameters, std::int64_t t,
                              const Hyperparameters::Values& values) const {
  if (t < 1) fail<ValueError>("{}: expected the number of an update, from 1, but it is {}", rule_->name, t);
  const auto own = std::make_shared<Hyperparameters>(hyperparameters_);
  for (const auto& [name, value] : values) own->set(name, value);
  for (const std::vector<Array>& arrays : parameters) {
    if (arrays.size() != 2 + rule_->state.size())
      fail<ValueError>("{}: expected a parameter, its gradient and {} arrays of state, given {} arrays", rule_->name,
                       rule_->state.size(), arrays.size());
    for (const Array& a : arrays) {
      if (a.dtype() != parameters[0][0].dtype() || (a.dtype() != Dtype::float32 && a.dtype() != Dtype::float64))
        fail<DtypeError>("{}: expected all in float32 or all in float64, given {} and {}", rule_->name,
                         parameters[0][0].dtype(), a.dtype());
      if (!(a.shape() == arrays[0].shape()))
        fail<ShapeError>("{}: a parameter has shape {}, its gradient or state {}", rule_->name, arrays[0].shape(),
                         a.shape());
    }
  }
  if (parameters.empty()) return;
  UpdateRule rule(rule_, own);
  rule.begun_ = t;
  std::vector<UpdateRule::Job> jobs;
  for (const std::vector<Array>& arrays : parameters) jobs.push_back({&rule, arrays});
  UpdateRule::run(jobs, {.flush = t % kFlushEvery == 0});
}

}  // namespace catenary
