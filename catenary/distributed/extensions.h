#pragma once
// Trainer extensions that work across ranks.

#include <string>

#include "catenary/distributed/communicator.h"
#include "catenary/training/trainer.h"
#include "catenary/training/triggers.h"

namespace catenary::distributed {

/// Reports the mean, over all ranks and since the last report, of a value that each rank's model reports.
/// (chainermn.extensions.ObservationAggregator)
class CT_API ObservationAggregator : public training::Extension {
 public:
  /// Averages `original_key` and reports it as `aggregated_key`, by default under the original key. The ranks
  /// communicate when `comm_trigger` fires.
  ObservationAggregator(const Communicator& communicator, std::string original_key, std::string aggregated_key = {},
                        const training::Trigger& comm_trigger = training::Trigger(1, "iteration"));
  std::string default_name() const override { return "ObservationAggregator"; }
  int priority() const override { return training::kPriorityEditor; }
  void operator()(training::Trainer& trainer) override;
  void serialize(Serializer& serializer) override;

 private:
  Communicator communicator_;
  std::string original_, aggregated_;
  training::Trigger trigger_;
  Summary summary_;
};

/// Replaces the floating persistent arrays of a model, such as running means, by their means over all ranks, before
/// other extensions of an epoch use them. (chainermn.extensions.AllreducePersistent)
class CT_API AllreducePersistent : public training::Extension {
 public:
  AllreducePersistent(const Model& model, const Communicator& communicator)
      : model_(model), communicator_(communicator) {}
  std::string default_name() const override { return "AllreducePersistent"; }
  training::Trigger trigger() const override { return training::Trigger(1, "epoch"); }
  int priority() const override { return training::kPriorityWriter + 1; }
  void operator()(training::Trainer&) override { (*this)(); }
  /// Averages the arrays without a trainer.
  void operator()() const;

 private:
  Model model_;
  Communicator communicator_;
};

/// An EarlyStoppingTrigger on the means over all ranks, so that all ranks stop together. Every rank must report the
/// monitored value. (chainermn.extensions.MultiNodeEarlyStoppingTrigger)
class CT_API MultiNodeEarlyStoppingTrigger : public training::TriggerBase {
 public:
  explicit MultiNodeEarlyStoppingTrigger(const Communicator& communicator, const std::string& monitor = "main/loss",
                                         const training::triggers::EarlyStoppingOptions& options = {});
  bool operator()(training::Trainer& trainer) override;
  void serialize(Serializer& serializer) override { stopping_.serialize(serializer); }
  bool training_length(std::int64_t& period, std::string& unit) const override {
    return stopping_.training_length(period, unit);
  }

 private:
  ObservationAggregator aggregator_;
  training::triggers::EarlyStoppingTrigger stopping_;
};

}  // namespace catenary::distributed
