#pragma once
// Measures of predictions. These functions have no gradient.

#include <optional>
#include <utility>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// Returns the fraction of labels t [n, d…] that have the highest score in y [n, classes, d…] (or in y [n, classes] for
/// t of n elements). Labels equal to ignore_label do not count. The result is 0-d, of y's dtype, and 0 if all labels
/// are ignored. Throws ShapeError, DtypeError, and IndexError for labels that are not classes.
/// (chainer.functions.accuracy)
CT_API Variable accuracy(const Variable& y, const Variable& t, std::optional<std::int64_t> ignore_label = {});

/// Returns the fraction of labels t (1 or 0, of y's shape) that equal y >= 0. Labels of -1 do not count. The result is
/// 0 if all labels are ignored. Throws ShapeError, DtypeError, and ValueError for other labels.
/// (chainer.functions.binary_accuracy)
CT_API Variable binary_accuracy(const Variable& y, const Variable& t);

/// Measures for each class, 1-d. NaN for classes that never occur (or are never predicted).
struct ClassificationSummary {
  Variable
      precision;     ///< correct predictions among all predictions of the class (float64, or the device's widest float)
  Variable recall;   ///< correct predictions among all occurrences of the class (float64)
  Variable fbeta;    ///< weighted harmonic mean of precision and recall (float64)
  Variable support;  ///< occurrences of the class (int64)
};
/// Evaluates predictions y [n, classes, d…] of labels t [n, d…] by class. By default label_num is the largest label
/// plus 1. Labels equal to ignore_label do not count. Throws ShapeError, DtypeError, and IndexError for labels that are
/// not below label_num or, without label_num, not classes of y. (chainer.functions.classification_summary)
CT_API ClassificationSummary classification_summary(const Variable& y, const Variable& t,
                                                    std::optional<std::int64_t> label_num = {}, double beta = 1.0,
                                                    std::int64_t ignore_label = -1);
/// Return one measure of classification_summary, and the support. (chainer.functions.precision, recall, fbeta_score,
/// f1_score)
CT_API std::pair<Variable, Variable> precision(const Variable& y, const Variable& t,
                                               std::optional<std::int64_t> label_num = {},
                                               std::int64_t ignore_label = -1);
CT_API std::pair<Variable, Variable> recall(const Variable& y, const Variable& t,
                                            std::optional<std::int64_t> label_num = {}, std::int64_t ignore_label = -1);
CT_API std::pair<Variable, Variable> fbeta_score(const Variable& y, const Variable& t,
                                                 std::optional<std::int64_t> label_num = {}, double beta = 1.0,
                                                 std::int64_t ignore_label = -1);
CT_API std::pair<Variable, Variable> f1_score(const Variable& y, const Variable& t,
                                              std::optional<std::int64_t> label_num = {},
                                              std::int64_t ignore_label = -1);

/// Whether r2_score averages over outputs or returns a value for each.
enum class Multioutput : std::uint8_t { uniform_average, raw_values };
/// Returns the coefficient of determination over the first axis: 1 - Σ(prediction - truth)² / Σ(truth - mean)², and 0
/// where the truth is constant. Throws ShapeError and DtypeError. (chainer.functions.r2_score)
CT_API Variable r2_score(const Variable& pred, const Variable& truth,
                         Multioutput multioutput = Multioutput::uniform_average);

}  // namespace catenary::functions
