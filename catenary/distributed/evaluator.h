#pragma once
// Evaluation on all ranks' parts of a dataset.

#include <algorithm>
#include <memory>
#include <vector>

#include "catenary/distributed/communicator.h"
#include "catenary/training/extensions/evaluator.h"

namespace catenary::distributed {

/// An evaluator whose means are those over all ranks' examples (over batches where the one that it was made of says
/// so), on every rank. Each rank runs that one over its own part, which may be empty, and sums and weights are
/// exchanged.
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

/// Takes a class derived from Evaluator as it is. (chainermn.create_multi_node_evaluator)
template <std::derived_from<training::extensions::Evaluator> E>
MultiNodeEvaluator create_multi_node_evaluator(const E& evaluator, const Communicator& communicator) {
  return {std::make_shared<E>(evaluator), communicator};
}

namespace detail {
CT_API void check_evaluation_root(const Communicator& communicator, int root);
}  // namespace detail

/// An evaluation that is no mean over batches. To be derived from: each rank makes something of each of its batches, of
/// which they may have different numbers, and the root gets all that was made. (chainermn's GenericMultiNodeEvaluator)
template <Packable R>
class GenericMultiNodeEvaluator : public training::Extension {
 public:
  /// The iterator must not repeat. Throws ValueError for a root that is no rank.
  GenericMultiNodeEvaluator(const Communicator& communicator, const Iterator& iterator, const Model& target,
                            const training::extensions::EvaluatorOptions& options = {}, int root = 0)
      : communicator_(communicator), batches_(iterator, target, options), root_(root) {
    detail::check_evaluation_root(communicator, root);
  }
  std::string default_name() const override { return "validation"; }
  training::Trigger trigger() const override { return training::Trigger(1, "epoch"); }
  int priority() const override { return training::kPriorityWriter; }
  void operator()(training::Trainer&) override { (*this)(); }
  /// The same without a trainer.
  void operator()() {
    std::vector<R> own;
    batches_.for_each_batch([&](const Batch& arguments) { own.push_back(calc_local(arguments)); });
    const std::vector<std::vector<R>> all = communicator_.gather_obj(own, root_);
    if (communicator_.rank() != root_) return;
    std::vector<R> results;  // first batches before second ones
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
  /// Called on the root with what all ranks' calls of calc_local gave: of the ranks' first batches by rank, then of
  /// their second ones, and so on. What it reports appears in the trainer's log.
  virtual void aggregate(const std::vector<R>& results) = 0;

 protected:
  const Model& target() const { return batches_.target(); }

 private:
  Communicator communicator_;
  training::extensions::Evaluator batches_;
  int root_;
};

}  // namespace catenary::distributed
