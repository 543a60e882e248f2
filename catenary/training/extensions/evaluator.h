#pragma once
// Evaluation on a dataset.

#include <functional>
#include <map>

#include "catenary/training/trainer.h"

namespace catenary::training::extensions {

/// Options of Evaluator.
struct EvaluatorOptions {
  Converter converter = {};                              ///< concat_examples by default
  std::optional<Device> device = {};                     ///< where batches are moved
  std::function<Variable(const Batch&)> eval_func = {};  ///< called instead of the model
  bool progress_bar = false;                             ///< show the evaluation's progress, on a terminal
  /// Gives all batches equal weight in the means, as Chainer does. By default batches are weighted by their number of
  /// examples, so that a smaller last batch does not count too much.
  bool weigh_batches_equally = false;
};

/// Runs the model over a dataset in test mode, without a graph, and reports the means over all examples under
/// "validation/…". Batches are weighted by their number of examples. Links with state (StateVariable) start empty, and
/// get their training state back afterwards. (chainer's Evaluator, whose means are over batches)
class CT_API Evaluator : public Extension {
 public:
  Evaluator(const Iterator& iterator, const Model& target, const EvaluatorOptions& options = {});
  Evaluator(const std::map<std::string, Iterator>& iterators, const std::map<std::string, Model>& targets,
            const EvaluatorOptions& options = {});
  std::string default_name() const override { return "validation"; }
  Trigger trigger() const override { return Trigger(1, "epoch"); }
  int priority() const override { return kPriorityWriter; }
  void operator()(Trainer& trainer) override;
  /// Evaluates without a trainer and returns the means.
  std::vector<std::pair<std::string, double>> operator()();
  void finalize() override;
  /// Runs one evaluation. Override it to use the iterator differently. Can also be called directly.
  virtual DictSummary evaluate();
  /// Calls f with every batch of the main iterator, from its beginning, as arguments of the target. Runs in test mode,
  /// without a graph, and with empty states. Throws ValueError if the iterator repeats.
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
