// Losses.

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

/// Returns the negative log likelihood of the labels (input 1) with the weights of classes (input 2). `scores` is
/// [n, classes, axes…], the labels are [n, axes…].
Variable likelihood_loss(const Call& c, const Variable& scores) {
  const Array labels = c.array(1).astype(Dtype::int64);
  const std::string reduction = c.text("reduction", "mean");
  const int ndim = scores.ndim();
  if (ndim < 2) c.fail("scores must have an axis of classes, not the shape {}", scores.shape());
  Shape samples;
  for (int axis = 0; axis < ndim; ++axis)
    if (axis != 1) samples.push_back(scores.shape(axis));
  if (labels.shape() != samples)
    c.fail("labels of shape {} do not fit scores of shape {}", labels.shape(), scores.shape());
  Array label = labels.reshape({labels.size()}), kept;
  if (c.find("ignore_index")) {
    kept = not_equal(label, c.integer("ignore_index"));
    label = where(kept, label, 0);
  }
  const auto only_kept = [&](const Variable& v) { return kept.defined() ? F::where(kept, v, Scalar(0.0)) : v; };
  const Variable weight = only_kept(c.has(2) ? F::get_item(c.x(2), {Index(label)})
                                             : Variable(ones(label.shape(), scores.dtype()).to_device(c.device())));
  const Variable rows = F::reshape(F::moveaxis(scores, 1, ndim - 1), {label.size(), scores.shape(1)});
  const Variable loss = only_kept(-F::select_item(rows, Variable(label)) * weight);
  if (reduction == "none") return F::reshape(loss, samples);
  if (reduction == "sum") return F::sum(loss);
  return F::sum(loss) / F::sum(weight);
}

Values softmax_cross_entropy_loss(const Call& c) {
  const Variable scores = F::log_softmax(c.x(0), 1);
  return {likelihood_loss(c, scores), scores};
}

}  // namespace

std::span<const Operator> loss_operators() {
  static const Operator rows[] = {
      {"NegativeLogLikelihoodLoss", 12, [](const Call& c) { return Values{likelihood_loss(c, c.x(0))}; }},
      {"SoftmaxCrossEntropyLoss", 12, softmax_cross_entropy_loss},
  };
  return rows;
}

}  // namespace catenary::onnx
