#include "catenary/distributed/extensions.h"

#include <utility>

#include "catenary/array/elementwise_core.h"

namespace catenary::distributed {

ObservationAggregator::ObservationAggregator(const Communicator& communicator, std::string original_key,
                                             std::string aggregated_key, const training::Trigger& comm_trigger)
    : communicator_(communicator),
      original_(std::move(original_key)),
      aggregated_(aggregated_key.empty() ? original_ : std::move(aggregated_key)),
      trigger_(comm_trigger) {}

void ObservationAggregator::operator()(training::Trainer& trainer) {
  if (const Reported* value = trainer.observation().find(original_)) summary_.add(*value);
  if (!trigger_(trainer)) return;
  Summary all;
  for (const Summary::Sums& sums : communicator_.allgather_obj(summary_.sums())) all.add(sums);
  summary_ = Summary();
  if (!all.empty()) trainer.observation()[aggregated_] = all.mean();
}

void ObservationAggregator::serialize(Serializer& serializer) {
  Serializer trigger = serializer["_comm_trigger"], summary = serializer["_summary"];
  trigger_.serialize(trigger);
  summary_.serialize(summary);
}

void AllreducePersistent::operator()() const {
  if (communicator_.size() == 1) return;
  for (const auto& [name, array] : model_.link().namedpersistents())
    if (is_floating(array.dtype())) copyto(array, communicator_.allreduce_mean(array));
}

MultiNodeEarlyStoppingTrigger::MultiNodeEarlyStoppingTrigger(const Communicator& communicator,
                                                             const std::string& monitor,
                                                             const training::triggers::EarlyStoppingOptions& options)
    : aggregator_(communicator, monitor, monitor + "-aggregated"), stopping_(monitor + "-aggregated", options) {}

bool MultiNodeEarlyStoppingTrigger::operator()(training::Trainer& trainer) {
  aggregator_(trainer);
  return stopping_(trainer);
}

}  // namespace catenary::distributed
