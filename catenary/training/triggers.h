#pragma once
// Triggers beyond Trigger(period, unit).

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "catenary/reporter/reporter.h"
#include "catenary/training/extension.h"
#include "catenary/training/updater.h"

namespace catenary::training::triggers {

/// A trigger's last answer. Handles that share it get equal answers within an iteration.
class CT_API LastAnswer {
 public:
  /// Whether the trigger has been asked in this iteration.
  bool answered(const UpdaterBase& updater) const;
  bool fired() const { return fired_.value_or(false); }
  /// Returns the epochs or iterations up to which it has been answered.
  double before(const UpdaterBase& updater, bool by_epoch) const;
  /// Stores the answer and returns it.
  bool answer(const UpdaterBase& updater, bool fired);
  void serialize(Serializer& serializer);

 private:
  std::int64_t iteration_ = 0;
  double epoch_detail_ = 0;
  std::optional<bool> fired_;
};

/// Fires every `period` epochs or iterations. (chainer.training.triggers.IntervalTrigger)
class CT_API IntervalTrigger : public TriggerBase {
 public:
  IntervalTrigger(double period, std::string unit);
  bool operator()(Trainer& trainer) override;
  void serialize(Serializer& serializer) override;
  bool training_length(std::int64_t& period, std::string& unit) const override;

 private:
  double period_;
  std::string unit_;
  LastAnswer last_;
};

/// Fires at the given points, in epochs or iterations. (ManualScheduleTrigger)
class CT_API ManualScheduleTrigger : public TriggerBase {
 public:
  ManualScheduleTrigger(std::vector<double> points, std::string unit);
  bool operator()(Trainer& trainer) override;
  void serialize(Serializer& serializer) override;

 private:
  std::vector<double> points_;
  std::string unit_;
  LastAnswer last_;
};

/// Fires when the mean of a reported value since the last check is the best so far. (BestValueTrigger)
class CT_API BestValueTrigger : public TriggerBase {
 public:
  BestValueTrigger(std::string key, std::function<bool(double best, double now)> better,
                   Trigger trigger = Trigger(1, "epoch"));
  bool operator()(Trainer& trainer) override;
  void serialize(Serializer& serializer) override;
  const std::optional<double>& best_value() const { return best_; }

 private:
  std::string key_;
  std::function<bool(double, double)> better_;
  Trigger trigger_;
  std::optional<double> best_;
  Summary summary_;
};
/// Returns a trigger that fires when the value is larger than ever.
CT_API BestValueTrigger MaxValueTrigger(std::string key, Trigger trigger = Trigger(1, "epoch"));
/// Returns a trigger that fires when the value is smaller than ever.
CT_API BestValueTrigger MinValueTrigger(std::string key, Trigger trigger = Trigger(1, "epoch"));

/// Options of EarlyStoppingTrigger.
struct EarlyStoppingOptions {
  Trigger check_trigger = Trigger(1, "epoch");
  int patience = 5;           ///< checks without improvement
  std::string mode = "auto";  ///< "min", "max", or by name: accuracy up, all others down
  bool verbose = false;
  double max_epochs = 100;  ///< the latest end
};
/// A stop trigger that fires when the monitored value has not improved for `patience` checks, or at max_epochs.
/// (EarlyStoppingTrigger)
class CT_API EarlyStoppingTrigger : public TriggerBase {
 public:
  explicit EarlyStoppingTrigger(std::string monitor = "main/loss", EarlyStoppingOptions options = {});
  bool operator()(Trainer& trainer) override;
  void serialize(Serializer& serializer) override;
  bool training_length(std::int64_t& period, std::string& unit) const override;

 private:
  std::string monitor_;
  EarlyStoppingOptions options_;
  Trigger max_trigger_;
  bool larger_is_better_;
  int count_ = 0;
  std::optional<double> best_;
  Summary summary_;
};

/// Fires once: in the first iteration, and optionally again after resuming. (OnceTrigger)
class CT_API OnceTrigger : public TriggerBase {
 public:
  explicit OnceTrigger(bool call_on_resume = false);
  bool operator()(Trainer& trainer) override;
  void serialize(Serializer& serializer) override;

 private:
  bool call_on_resume_;
  bool flag_first_ = true, flag_resumed_ = true;
};

/// Fires every `period` seconds. (TimeTrigger)
class CT_API TimeTrigger : public TriggerBase {
 public:
  explicit TimeTrigger(double period);
  bool operator()(Trainer& trainer) override;
  void serialize(Serializer& serializer) override;

 private:
  double period_, next_time_;
};

}  // namespace catenary::training::triggers
