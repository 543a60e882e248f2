#include "catenary/functions/evaluation.h"

#include "catenary/array/elementwise_core.h"
#include "catenary/array/sorting.h"
#include "catenary/autograd/attributes.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/format.h"
#include "catenary/device/float64.h"
#include "catenary/functions/labels.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

class Accuracy : public FunctionNode {
 public:
  Accuracy(std::optional<std::int64_t> ignore_label, bool checked) : ignore_label_(ignore_label), checked_(checked) {}
  const char* name() const override { return "Accuracy"; }
  CT_ATTRIBUTES(ignore_label_, checked_)

 protected:
  Arrays forward(Inputs in) override {
    const Array &y = in[0], &t = in[1];
    if (!is_floating(y.dtype())) fail<DtypeError>("accuracy: y must be floating, not {}", y.dtype());
    detail::check_integers("accuracy", "t", t);
    if (y.ndim() < 2) fail<ShapeError>("accuracy: y must be (n, classes, …), not {}", y.shape());
    Shape labels = y.shape();
    labels.erase(1);
    if (t.size() != labels.product()) fail<ShapeError>("accuracy: t {} does not fit y {}", t.shape(), y.shape());
    const detail::Labels known{"accuracy", "t", t, y.shape(1), ignore_label_};
    if (!checked_) known.check();
    Array right = y.argmax(1).reshape(t.shape()) == t;
    if (!ignore_label_) return std::move(right).astype(y.dtype()).mean();
    const Array counted = known.counted();
    const Dtype wide = widest_float(y.device());
    const Array total = counted.sum().astype(wide);
    return ((right & counted).sum().astype(wide) / catenary::maximum(total, 1.0)).astype(y.dtype());
  }

 private:
  std::optional<std::int64_t> ignore_label_;
  bool checked_;  // the labels have been checked before
};

/// Predicted and actual classes.
struct Predictions {
  Array predicted, actual;  // 1-d, `classes` where the label is ignored
  std::int64_t classes;
};
Predictions predictions_of(const Array& y, const Array& t, std::optional<std::int64_t> label_num,
                           std::int64_t ignore_label) {
  if (!is_floating(y.dtype())) fail<DtypeError>("classification_summary: y must be floating, not {}", y.dtype());
  detail::check_integers("classification_summary", "t", t);
  Shape expected = y.shape();
  if (y.ndim() >= 2) expected.erase(1);
  if (y.ndim() < 2 || t.shape() != expected)
    fail<ShapeError>("classification_summary: y must be (n, classes, d…) and t (n, d…), not {} and {}", y.shape(),
                     t.shape());
  const detail::Labels known{"classification_summary", "t", t, label_num ? *label_num : y.shape(1), ignore_label};
  const std::int64_t classes = label_num ? *label_num : known.largest() + 1;
  if (label_num) known.check();
  const Array labels = known.values().ravel(), ignored = labels == ignore_label;
  return {catenary::where(ignored, classes, y.argmax(1).ravel()), catenary::where(ignored, classes, labels), classes};
}

}  // namespace

Variable binary_accuracy(const Variable& y, const Variable& t) {
  CT_DEFINED(y, t);
  if (!is_floating(y.dtype())) fail<DtypeError>("binary_accuracy: y must be floating, not {}", y.dtype());
  detail::check_integers("binary_accuracy", "t", t.array());
  if (y.shape() != t.shape())
    fail<ShapeError>("binary_accuracy: y and t must have equal shapes, not {} and {}", y.shape(), t.shape());
  const detail::Labels known{"binary_accuracy", "t", t.array(), 2, -1};
  known.check<ValueError>();
  const Array count = catenary::maximum(known.counted().sum(), 1);
  const Array right = ((y.array() >= 0).astype(t.dtype()) == t.array()).sum();
  const Dtype wide = widest_float(y.device());
  return Variable((right.astype(wide) / count.astype(wide)).astype(y.dtype()), false);
}

ClassificationSummary classification_summary(const Variable& y, const Variable& t,
                                             std::optional<std::int64_t> label_num, double beta,
                                             std::int64_t ignore_label) {
  const Predictions labels = predictions_of(y.array(), t.array(), label_num, ignore_label);
  const auto count = [&](const Array& which) {
    return catenary::bincount(which, {}, labels.classes + 1)(slice(labels.classes));
  };
  const Dtype wide = widest_float(y.device());
  const Array support = count(labels.actual);
  const Array right =
      count(catenary::where(labels.predicted == labels.actual, labels.actual, labels.classes)).astype(wide);
  const Array precision = right / count(labels.predicted).astype(wide);
  const Array recall = right / support.astype(wide);
  const double square = beta * beta;
  const Array fbeta = (1 + square) * precision * recall / (square * precision + recall);
  return {precision, recall, fbeta, support};
}

std::pair<Variable, Variable> precision(const Variable& y, const Variable& t, std::optional<std::int64_t> label_num,
                                        std::int64_t ignore_label) {
  CT_DEFINED(y, t);
  const ClassificationSummary all = classification_summary(y, t, label_num, 1.0, ignore_label);
  return {all.precision, all.support};
}
std::pair<Variable, Variable> recall(const Variable& y, const Variable& t, std::optional<std::int64_t> label_num,
                                     std::int64_t ignore_label) {
  CT_DEFINED(y, t);
  const ClassificationSummary all = classification_summary(y, t, label_num, 1.0, ignore_label);
  return {all.recall, all.support};
}
std::pair<Variable, Variable> fbeta_score(const Variable& y, const Variable& t, std::optional<std::int64_t> label_num,
                                          double beta, std::int64_t ignore_label) {
  CT_DEFINED(y, t);
  const ClassificationSummary all = classification_summary(y, t, label_num, beta, ignore_label);
  return {all.fbeta, all.support};
}
std::pair<Variable, Variable> f1_score(const Variable& y, const Variable& t, std::optional<std::int64_t> label_num,
                                       std::int64_t ignore_label) {
  return fbeta_score(y, t, label_num, 1.0, ignore_label);
}

Variable r2_score(const Variable& pred, const Variable& truth, Multioutput multioutput) {
  CT_DEFINED(pred, truth);
  if (!is_floating(pred.dtype()) || !is_floating(truth.dtype()))
    fail<DtypeError>("r2_score: both must be floating, not {} and {}", pred.dtype(), truth.dtype());
  if (pred.shape() != truth.shape() || pred.ndim() == 0)
    fail<ShapeError>("r2_score: both must have equal shapes with at least one axis, not {} and {}", pred.shape(),
                     truth.shape());
  const auto wide = [](const Variable& v) { return as_dtype(v.array(), promote(v.dtype(), Dtype::float32)); };
  const Array p = wide(pred), t = wide(truth);
  const Array residual = catenary::square(p - t).sum(0);
  const Array total = catenary::square(t - t.mean(0)).sum(0);
  const Array constant = total == 0;
  const Array scores = catenary::where(constant, 0.0, 1.0 - residual / catenary::where(constant, 1.0, total));
  const bool as_one = multioutput == Multioutput::uniform_average;
  return Variable((as_one ? scores.mean() : scores).astype(pred.dtype()), false);
}

Variable detail::accuracy_of_checked(const Variable& y, const Variable& t) {
  return apply(node<Accuracy>(std::nullopt, true), y, t);
}

Variable accuracy(const Variable& y, const Variable& t, std::optional<std::int64_t> ignore_label) {
  return apply(node<Accuracy>(ignore_label, false), y, t);
}

std::span<const Signature> detail::evaluation_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("evaluation.accuracy", accuracy, "y", labels("t"), "ignore_label"),
      CT_SIGNATURE("evaluation.binary_accuracy", binary_accuracy, "y", labels("t")),
      signature_of(
          "chainer.functions.evaluation.classification_summary.classification_summary",
          [](const Variable& y, const Variable& t, std::optional<std::int64_t> label_num, double beta,
             std::int64_t ignore_label) {
            ClassificationSummary all = classification_summary(y, t, label_num, beta, ignore_label);
            return std::array{all.precision, all.recall, all.fbeta, all.support};
          },
          "y", labels("t"), otherwise("label_num", std::nullopt), otherwise("beta", 1.0),
          otherwise("ignore_label", -1)),
      CT_SIGNATURE("evaluation.classification_summary", precision, "y", labels("t"),
                   otherwise("label_num", std::nullopt), "ignore_label"),
      CT_SIGNATURE("evaluation.classification_summary", recall, "y", labels("t"), otherwise("label_num", std::nullopt),
                   "ignore_label"),
      CT_SIGNATURE("evaluation.classification_summary", f1_score, "y", labels("t"),
                   otherwise("label_num", std::nullopt), "ignore_label"),
      signature_of(
          "chainer.functions.evaluation.r2_score.r2_score",
          [](const Variable& pred, const Variable& truth, const std::optional<Variable>& sample_weight,
             Multioutput multioutput) { return sample_weight ? Variable() : r2_score(pred, truth, multioutput); },
          "pred", "true", otherwise("sample_weight", std::nullopt),
          otherwise("multioutput", Multioutput::uniform_average)),
  };
  return all;
}

}  // namespace catenary::functions
