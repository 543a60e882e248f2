#pragma once
// How good predictions are. These functions have no gradient.

#include <optional>
#include <utility>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// Fraction of the labels t [n, d…] that are the largest of y [n, classes, d…] (or [n, classes] for t of n elements);
/// labels equal to ignore_label do not count, and 0 where all are ignored. 0-d, of y's dtype. Throws ShapeError,
/// DtypeError, and IndexError for a label that is no class. (chainer.functions.accuracy)
CT_API Variable accuracy(const Variable& y, const Variable& t, std::optional<std::int64_t> ignore_label = {});

/// Fraction of the labels t (1, or 0, of y's shape) that are right about y >= 0; those that are -1 do not count, and 0
/// where all are. Throws ShapeError, DtypeError, and ValueError for another label. (chainer.functions.binary_accuracy)
CT_API Variable binary_accuracy(const Variable& y, const Variable& t);

/// One value for each class, 1-d: NaN where a class never occurs (or is never predicted).
struct ClassificationSummary {
  Variable precision;  ///< of what was predicted, how much was right (float64, or the widest that the device has)
  Variable recall;     ///< of what is there, how much was predicted (float64)
  Variable fbeta;      ///< weighted harmonic mean of both (float64)
  Variable support;    ///< how often the class occurs (int64)
};
/// How well y [n, classes, d…] predicts the labels t [n, d…], by class. label_num is the largest label and 1 when left
/// out; labels equal to ignore_label do not count. Throws ShapeError, DtypeError, and IndexError for a label that is
/// neither below label_num nor, where that is left out, a class of y.
/// (chainer.functions.classification_summary)
CT_API ClassificationSummary classification_summary(const Variable& y, const Variable& t,
                                                    std::optional<std::int64_t> label_num = {}, double beta = 1.0,
                                                    std::int64_t ignore_label = -1);
/// One member of it, and the support. (chainer.functions.precision, recall, fbeta_score, f1_score)
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

/// What r2_score gives for several outputs: their mean, or one value each.
enum class Multioutput : std::uint8_t { uniform_average, raw_values };
/// Coefficient of determination over the first axis: 1 - Σ(prediction - truth)² / Σ(truth - mean)², and 0 where the
/// truth is constant. Throws ShapeError and DtypeError. (chainer.functions.r2_score)
CT_API Variable r2_score(const Variable& pred, const Variable& truth,
                         Multioutput multioutput = Multioutput::uniform_average);

}  // namespace catenary::functions
