#pragma once
// Losses and weights that are numbers, or an error that says whose are not.

#include <functional>
#include <string>

#include "catenary/datasets/dataset.h"
#include "catenary/links/model.h"

namespace catenary::training {

/// A model's loss that is looked at before anything is updated by it: for StandardUpdater's `loss` and Evaluator's
/// `eval_func`. Where it is NaN or infinite, the error names the examples that have such a loss by themselves, in test
/// mode; of many the first ten. Reading each loss has the host wait for the device. X::FailOnNonNumber looks at the
/// weights instead, after updates.
class CT_API FiniteLoss {
 public:
  /// Names example i, as in "line 7" or "cat.png".
  using Name = std::function<std::string(std::int64_t i)>;

  /// The examples are looked for in `dataset`, which must have those of training and evaluation. "example 3" when no
  /// name is given.
  FiniteLoss(const Model& model, const Dataset& dataset, Name name = {});
  /// The loss, a number (0-d or of one element); throws ValueError when it is not finite.
  Variable operator()(const Batch& batch) const;

 private:
  Model model_;
  Dataset dataset_;
  Name name_;
};

/// The end of a training, before its weights are saved or its program says that all went well: throws ValueError that
/// names the first of the link's parameters and persistent arrays in which a number is NaN or infinite.
/// X::FailOnNonNumber does the same amid a training.
CT_API void check_finite(const Link& link);
inline void check_finite(const Model& model) { check_finite(model.link()); }

}  // namespace catenary::training
