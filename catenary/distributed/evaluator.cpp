#include "catenary/distributed/evaluator.h"

#include "catenary/core/format.h"

namespace catenary::distributed {

MultiNodeEvaluator::MultiNodeEvaluator(std::shared_ptr<training::extensions::Evaluator> evaluator,
                                       const Communicator& communicator)
    : Evaluator(*evaluator), evaluator_(std::move(evaluator)), communicator_(communicator) {}

DictSummary MultiNodeEvaluator::evaluate() {
  std::vector<std::pair<std::string, Summary::Sums>> own;
  const DictSummary summary = evaluator_->evaluate();
  for (const auto& [name, values] : summary.entries()) own.emplace_back(name, values.sums());
  DictSummary all;
  for (const auto& entries : communicator_.allgather_obj(own))
    for (const auto& [name, sums] : entries) all.add(name, sums);
  return all;
}

void detail::check_evaluation_root(const Communicator& communicator, int root) {
  if (root < 0 || root >= communicator.size())
    fail<ValueError>("GenericMultiNodeEvaluator: root {} does not exist; the communicator has {} ranks", root,
                     communicator.size());
}

}  // namespace catenary::distributed
