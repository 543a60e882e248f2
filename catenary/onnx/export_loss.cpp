// Losses of scores and labels, and accuracy.

#include "catenary/array/elementwise_core.h"
#include "catenary/onnx/export_call.h"

namespace catenary::onnx::exporting {

namespace {

std::string all_summed(const ExportCall& c, const std::string& x) {
  return c.node("ReduceSum", {x}, {{"keepdims", 0}});
}

/// Labels as int64, and where they count.
struct ExportedLabels {
  std::string labels, counted;

  ExportedLabels(const ExportCall& c, std::int64_t ignored)
      : labels(c.cast(c.x(1), c.dtype(1), Dtype::int64)),
        counted(c.node("Not", {c.node("Equal", {labels, c.number(static_cast<double>(ignored), Dtype::int64)})})) {}

  /// Labels, with 0 where they do not count.
  std::string known(const ExportCall& c) const { return c.node("Where", {counted, labels, c.number(0, Dtype::int64)}); }
  /// The number of labels that count, at least 1.
  std::string count(const ExportCall& c) const {
    return c.node("Max", {all_summed(c, c.cast(counted, Dtype::bool_, c.result_dtype())), c.number(1)});
  }
};

/// Reduces losses by the function's attributes `reduce` and `normalize`.
Names reduced_losses(const ExportCall& c, const ExportedLabels& t, const std::string& losses) {
  const std::string kept = c.node("Where", {t.counted, losses, c.number(0)});
  if (c.text("reduce") == "no") return {kept};
  const std::string count = c.flag("normalize")
                                ? t.count(c)
                                : c.cast(c.node("Squeeze", {c.size(c.extents(0)[0])}), Dtype::int64, c.result_dtype());
  return {c.node("Div", {all_summed(c, kept), count})};
}

Names softmax_cross_entropy(const ExportCall& c) {
  const ExportedLabels t(c, c.integer("ignore_label"));
  const std::string known = t.known(c), axis = c.constant(Integers{1});
  const std::string scores = c.node("LogSoftmax", {c.as_result(0)}, {{"axis", 1}});
  const std::string picked = c.node("GatherElements", {scores, c.node("Unsqueeze", {known, axis})}, {{"axis", 1}});
  std::string losses = c.node("Neg", {c.node("Squeeze", {picked, axis})});
  if (c.has("class_weight")) {
    const std::string weight = c.constant(c.array("class_weight").astype(c.result_dtype()));
    losses = c.node("Mul", {losses, c.node("Gather", {weight, known})});
  }
  return reduced_losses(c, t, losses);
}

Names sigmoid_cross_entropy(const ExportCall& c) {
  const std::string x = c.as_result(0);
  const std::string product = c.node("Mul", {x, c.cast(c.x(1), c.dtype(1), c.result_dtype())});
  return reduced_losses(c, {c, -1}, c.node("Sub", {c.node("Softplus", {x}), product}));
}

Names accuracy(const ExportCall& c) {
  const std::string best = c.node("ArgMax", {c.x(0)}, {{"axis", 1}, {"keepdims", 0}});
  Extents from = c.extents(0);
  from.erase(from.begin() + 1);
  const auto number_of = [&](const std::string& where) { return c.cast(where, Dtype::bool_, c.result_dtype()); };
  const std::string label = c.cast(c.x(1), c.dtype(1), Dtype::int64);
  const std::string right = c.node("Equal", {c.reshape(best, from, c.extents(1)), label});
  if (!c.has("ignore_label")) return {c.node("ReduceMean", {number_of(right)}, {{"keepdims", 0}})};
  const ExportedLabels t(c, c.integer("ignore_label"));
  const std::string counted = c.node("And", {right, t.counted});
  return {c.node("Div", {all_summed(c, number_of(counted)), t.count(c)})};
}

constexpr ExportRow kLoss[] = {
    {"Accuracy", nullptr, accuracy},
    {"SigmoidCrossEntropy", nullptr, sigmoid_cross_entropy},
    {"SoftmaxCrossEntropy", nullptr, softmax_cross_entropy},
};

}  // namespace

std::span<const ExportRow> exported_loss() { return kLoss; }

}  // namespace catenary::onnx::exporting
