#include "catenary/distributed/evaluator.h"

#include <array>

namespace catenary::distributed {

MultiNodeEvaluator::MultiNodeEvaluator(std::shared_ptr<training::extensions::Evaluator> evaluator,
                                       const Communicator& communicator)
    : Evaluator(*evaluator), evaluator_(std::move(evaluator)), communicator_(communicator) {}

DictSummary MultiNodeEvaluator::evaluate() {
  using Entry = std::pair<std::string, std::array<double, 3>>;
  std::vector<Entry> own;
  const DictSummary summary = evaluator_->evaluate();
  for (const auto& [name, values] : summary.entries()) {
    const Summary::Sums sums = values.sums();
    own.push_back({name, {sums.x, sums.x2, sums.n}});
  }
  DictSummary all;
  for (const std::vector<Entry>& entries : communicator_.allgather_obj(own))
    for (const auto& [name, sums] : entries) all.add(name, Summary::Sums{sums[0], sums[1], sums[2]});
  return all;
}

}  // namespace catenary::distributed
