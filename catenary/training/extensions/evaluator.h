#pragma once
// Evaluation on a dataset.

#include <functional>
#include <map>

#include "catenary/training/trainer.h"

namespace catenary::training::extensions {

/// Options of Evaluator.
struct EvaluatorOptions {
  Converter converter = {};                              ///< concat_examples when not given
  std::optional<Device> device = {};                     ///< where batches go
  std::function<Variable(const Batch&)> eval_func = {};  ///< called instead of the model
  bool progress_bar = false;                             ///< of the evaluation itself, on a terminal
  /// Are all batches of one weight in the means, as in Chainer? Else each weighs as many as it has examples, so that a
  /// smaller last batch does not count too much.
  bool weigh_batches_equally = false;
};

/// Runs the model over a dataset in test mode, without a graph, and reports the means over all examples under
/// "validation/…": each batch's values weigh as many as it has examples. Links that remember (StateVariable) begin with
/// nothing, and have what the training left there when it is over. (chainer's Evaluator, whose means are over batches)
class CT_API Evaluator : public Extension {
 public:
  Evaluator(const Iterator& iterator, const Model& target, const EvaluatorOptions& options = {});
  Evaluator(const std::map<std::string, Iterator>& iterators, const std::map<std::string, Model>& targets,
            const EvaluatorOptions& options = {});
  std::string default_name() const override { return "validation"; }
  Trigger trigger() const override { return Trigger(1, "epoch"); }
  int priority() const override { return kPriorityWriter; }
  void operator()(Trainer& trainer) override;
  /// The same without a trainer; returns the means.
  std::vector<std::pair<std::string, double>> operator()();
  void finalize() override;
  /// What one evaluation is; override it to do something else with the iterator. Can be called by itself, too.
  virtual DictSummary evaluate();
  /// Calls f with every batch of the main iterator as the target's arguments, from its beginning, in test mode, without
  /// a graph, and with links that remember nothing. Throws ValueError where the iterator repeats.
  void for_each_batch(const std::function<void(const Batch& arguments)>& f) const;
  const Iterator& iterator(const std::string& name = "main") const;
  const Model& target(const std::string& name = "main") const;

 private:
  void for_each(const std::function<void(const Batch& arguments, std::int64_t examples)>& f) const;
  Reporter reporter() const;
  DictSummary evaluate_by_name();

  std::map<std::string, Iterator> iterators_;
  std::map<std::string, Model> targets_;
  EvaluatorOptions options_;
};

}  // namespace catenary::training::extensions
