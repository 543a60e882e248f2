#pragma once
// Evaluation on all ranks' parts of a dataset.

#include <memory>

#include "catenary/distributed/communicator.h"
#include "catenary/training/extensions/evaluator.h"

namespace catenary::distributed {

/// An evaluator whose means are those over all ranks' batches, on every rank. Each rank runs the one that it was made
/// of over its own part, and sums and counts are exchanged.
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

}  // namespace catenary::distributed
