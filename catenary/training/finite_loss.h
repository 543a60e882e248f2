#pragma once
// Checks that losses and weights are finite, with errors that name the examples or weights.

#include <functional>
#include <string>

#include "catenary/datasets/dataset.h"
#include "catenary/links/model.h"

namespace catenary::training {

/// Checks a model's loss before an update: pass it as StandardUpdater's `loss` or Evaluator's `eval_func`. If the loss
/// is NaN or infinite, the error names the examples (at most ten) that have such a loss in test mode. Reading each loss
/// makes the host wait for the device. To check weights after updates, use X::FailOnNonNumber.
class CT_API FiniteLoss {
 public:
  /// Names example i, for example "line 7" or "cat.png".
  using Name = std::function<std::string(std::int64_t i)>;

  /// `dataset` must contain the examples of training and evaluation. Without `name`, errors say "example 3".
  FiniteLoss(const Model& model, const Dataset& dataset, Name name = {});
  /// Returns the loss, 0-d or of one element. Throws ValueError if it is not finite.
  Variable operator()(const Batch& batch) const;

 private:
  Model model_;
  Dataset dataset_;
  Name name_;
};

/// Throws ValueError that names the first of the link's parameters and persistent arrays with a NaN or infinite value.
/// Call it after training, before saving weights. X::FailOnNonNumber checks during training.
CT_API void check_finite(const Link& link);
inline void check_finite(const Model& model) { check_finite(model.link()); }

}  // namespace catenary::training
