#pragma once
// Evaluation on a dataset that is divided among all ranks.

#include <algorithm>
#include <memory>
#include <vector>

#include "catenary/distributed/communicator.h"
#include "catenary/training/extensions/evaluator.h"

namespace catenary::distributed {

/// An evaluator whose means are over the examples of all ranks, on every rank (over batches if the wrapped evaluator
/// counts batches). Each rank runs the wrapped evaluator on its part, which may be empty; then the ranks exchange sums
/// and weights.
class CT_API MultiNodeEvaluator : public training::extensions::Evaluator {
 public:
  MultiNodeEvaluator(std::shared_ptr<training::extensions::Evaluator> evaluator, const Communicator& communicator);
  std::string default_name() const override { return evaluator_->default_name(); }
  training::Trigger trigger() const override { return evaluator_->trigger(); }
  int priority() const override { return evaluator_->priority(); }
  DictSummary evaluate() override;

 private:
  std::shared_ptr<training::extensions::Evaluator> evaluator_;
  Communicator communicator_;
};

/// Wraps an evaluator and keeps the overrides of a class derived from Evaluator.
/// (chainermn.create_multi_node_evaluator)
template <std::derived_from<training::extensions::Evaluator> E>
MultiNodeEvaluator create_multi_node_evaluator(const E& evaluator, const Communicator& communicator) {
  return {std::make_shared<E>(evaluator), communicator};
}

namespace detail {
CT_API void check_evaluation_root(const Communicator& communicator, int root);
}  // namespace detail

/// Base class for evaluations that are not means over batches. Each rank computes a result for each of its batches,
/// whose number may differ between ranks, and the root combines all results. (chainermn's GenericMultiNodeEvaluator)
template <Packable R>
class GenericMultiNodeEvaluator : public training::Extension {
 public:
  /// Makes the evaluator. The iterator must not repeat. Throws ValueError for a root that is not a rank.
  GenericMultiNodeEvaluator(const Communicator& communicator, const Iterator& iterator, const Model& target,
                            const training::extensions::EvaluatorOptions& options = {}, int root = 0)
      : communicator_(communicator), batches_(iterator, target, options), root_(root) {
    detail::check_evaluation_root(communicator, root);
  }
  std::string default_name() const override { return "validation"; }
  training::Trigger trigger() const override { return training::Trigger(1, "epoch"); }
  int priority() const override { return training::kPriorityWriter; }
  void operator()(training::Trainer&) override { (*this)(); }
  /// Runs the evaluation without a trainer.
  void operator()() {
    std::vector<R> own;
    batches_.for_each_batch([&](const Batch& arguments) { own.push_back(calc_local(arguments)); });
    const std::vector<std::vector<R>> all = communicator_.gather_obj(own, root_);
    if (communicator_.rank() != root_) return;
    std::vector<R> results;  // the ranks' first batches before their second batches
    std::size_t most = 0;
    for (const std::vector<R>& of : all) most = std::max(most, of.size());
    for (std::size_t batch = 0; batch < most; ++batch)
      for (const std::vector<R>& of : all)
        if (batch < of.size()) results.push_back(of[batch]);
    aggregate(results);
  }
  void finalize() override { batches_.finalize(); }
  /// Called on each rank for each of its batches, in test mode and without a graph.
  virtual R calc_local(const Batch& arguments) = 0;
  /// Called on the root with the results of calc_local from all ranks: the results of the first batches by rank, then
  /// of the second batches, and so on. Values that it reports appear in the trainer's log.
  virtual void aggregate(const std::vector<R>& results) = 0;

 protected:
  const Model& target() const { return batches_.target(); }

 private:
  Communicator communicator_;
  training::extensions::Evaluator batches_;
  int root_;
};

}  // namespace catenary::distributed
