#include "catenary/training/triggers.h"

#include <cmath>

#include "catenary/core/format.h"
#include "catenary/training/trainer.h"

namespace catenary::training {

TriggerBase::~TriggerBase() = default;
Extension::~Extension() = default;

Trigger::Trigger(double period, const std::string& unit)
    : implementation_(std::make_shared<triggers::IntervalTrigger>(period, unit)) {}

namespace triggers {

namespace {

void check_unit(const std::string& unit) {
  if (unit != "epoch" && unit != "iteration")
    fail<ValueError>("trigger: unit must be 'epoch' or 'iteration', got '{}'", unit);
}

/// Saves or loads a value that older snapshots may lack.
template <class T>
void maybe(Serializer& serializer, const std::string& key, T& value) {
  if (!serializer.loading() || serializer.contains(key)) serializer(key, value);
}

}  // namespace

bool LastAnswer::answered(const UpdaterBase& updater) const {
  return updater.iteration() == iteration_ && (fired_ || iteration_ == 0);
}

double LastAnswer::before(const UpdaterBase& updater, bool by_epoch) const {
  const bool unknown = updater.iteration() == iteration_;  // the snapshot was saved after the question
  if (!by_epoch) return static_cast<double>(unknown || iteration_ < 0 ? updater.iteration() - 1 : iteration_);
  return unknown || epoch_detail_ < 0 ? updater.previous_epoch_detail().value_or(0) : epoch_detail_;
}

bool LastAnswer::answer(const UpdaterBase& updater, bool fired) {
  iteration_ = updater.iteration();
  epoch_detail_ = updater.epoch_detail();
  fired_ = fired;
  return fired;
}

void LastAnswer::serialize(Serializer& serializer) {
  maybe(serializer, "previous_iteration", iteration_);
  maybe(serializer, "previous_epoch_detail", epoch_detail_);
  // the loaded trigger may be another one, so its answer is not loaded
  if (serializer.loading()) serializer.after_loading([this] { fired_.reset(); });
}

IntervalTrigger::IntervalTrigger(double period, std::string unit) : period_(period), unit_(std::move(unit)) {
  check_unit(unit_);
  if (!(period > 0)) fail<ValueError>("trigger: the period must be positive, got {}", period);
}

bool IntervalTrigger::operator()(Trainer& trainer) {
  UpdaterBase& updater = *trainer.updater();
  if (last_.answered(updater)) return last_.fired();
  const bool by_epoch = unit_ == "epoch";
  const double now = by_epoch ? updater.epoch_detail() : static_cast<double>(updater.iteration());
  return last_.answer(updater, std::floor(last_.before(updater, by_epoch) / period_) != std::floor(now / period_));
}

void IntervalTrigger::serialize(Serializer& serializer) { last_.serialize(serializer); }

bool IntervalTrigger::training_length(std::int64_t& period, std::string& unit) const {
  period = static_cast<std::int64_t>(std::ceil(period_));
  unit = unit_;
  return true;
}

ManualScheduleTrigger::ManualScheduleTrigger(std::vector<double> points, std::string unit)
    : points_(std::move(points)), unit_(std::move(unit)) {
  check_unit(unit_);
}

bool ManualScheduleTrigger::operator()(Trainer& trainer) {
  UpdaterBase& updater = *trainer.updater();
  if (last_.answered(updater)) return last_.fired();
  const bool by_epoch = unit_ == "epoch";
  const double now = by_epoch ? updater.epoch_detail() : static_cast<double>(updater.iteration());
  const double before = last_.before(updater, by_epoch);
  bool fire = false;
  for (double point : points_) fire = fire || (before < point && point <= now);
  return last_.answer(updater, fire);
}

void ManualScheduleTrigger::serialize(Serializer& serializer) { last_.serialize(serializer); }

BestValueTrigger::BestValueTrigger(std::string key, std::function<bool(double, double)> better, Trigger trigger)
    : key_(std::move(key)), better_(std::move(better)), trigger_(std::move(trigger)) {}

bool BestValueTrigger::operator()(Trainer& trainer) {
  if (const Reported* value = trainer.observation().find(key_)) summary_.add(*value);
  if (!trigger_(trainer) || summary_.empty()) return false;
  const double now = summary_.mean();
  summary_ = Summary();
  if (best_ && !better_(*best_, now)) return false;
  best_ = now;
  return true;
}

void BestValueTrigger::serialize(Serializer& serializer) {
  Serializer trigger = serializer["_trigger"], summary = serializer["_summary"];
  trigger_.serialize(trigger);
  summary_.serialize(summary);
  maybe(serializer, "_best_value", best_);
}

BestValueTrigger MaxValueTrigger(std::string key, Trigger trigger) {
  return BestValueTrigger(
      std::move(key), [](double best, double now) { return now > best; }, std::move(trigger));
}
BestValueTrigger MinValueTrigger(std::string key, Trigger trigger) {
  return BestValueTrigger(
      std::move(key), [](double best, double now) { return now < best; }, std::move(trigger));
}

EarlyStoppingTrigger::EarlyStoppingTrigger(std::string monitor, EarlyStoppingOptions options)
    : monitor_(std::move(monitor)), options_(std::move(options)), max_trigger_(options_.max_epochs, "epoch") {
  if (options_.mode != "auto" && options_.mode != "min" && options_.mode != "max")
    fail<ValueError>("EarlyStoppingTrigger: mode must be 'auto', 'min' or 'max', got '{}'", options_.mode);
  larger_is_better_ =
      options_.mode == "max" || (options_.mode == "auto" && monitor_.find("accuracy") != std::string::npos);
}

bool EarlyStoppingTrigger::operator()(Trainer& trainer) {
  if (const Reported* value = trainer.observation().find(monitor_)) summary_.add(*value);
  if (max_trigger_(trainer)) return true;
  if (!options_.check_trigger(trainer) || summary_.empty()) return false;
  const double now = summary_.mean();
  summary_ = Summary();
  if (!best_ || (larger_is_better_ ? now > *best_ : now < *best_)) {
    best_ = now;
    count_ = 0;
  } else {
    ++count_;
  }
  if (count_ < options_.patience) return false;
  if (options_.verbose) fmt::print("Epoch {}: early stopping\n", trainer.updater()->epoch());
  return true;
}

void EarlyStoppingTrigger::serialize(Serializer& serializer) {
  Serializer check = serializer["_check_trigger"], most = serializer["_max_trigger"], summary = serializer["_summary"];
  options_.check_trigger.serialize(check);
  max_trigger_.serialize(most);
  summary_.serialize(summary);
  maybe(serializer, "_count", count_);
  maybe(serializer, "_best", best_);
}

bool EarlyStoppingTrigger::training_length(std::int64_t& period, std::string& unit) const {
  return max_trigger_.training_length(period, unit);
}

OnceTrigger::OnceTrigger(bool call_on_resume) : call_on_resume_(call_on_resume) {}
bool OnceTrigger::operator()(Trainer&) {
  const bool fire = flag_first_ || (call_on_resume_ && flag_resumed_);
  flag_resumed_ = flag_first_ = false;
  return fire;
}
void OnceTrigger::serialize(Serializer& serializer) { maybe(serializer, "flag_first", flag_first_); }

TimeTrigger::TimeTrigger(double period) : period_(period), next_time_(period) {
  if (!(period > 0)) fail<ValueError>("TimeTrigger: the period must be positive, got {}", period);
}
bool TimeTrigger::operator()(Trainer& trainer) {
  if (next_time_ >= trainer.elapsed_time()) return false;
  next_time_ += period_;
  return true;
}
void TimeTrigger::serialize(Serializer& serializer) { maybe(serializer, "next_time", next_time_); }

}  // namespace triggers
}  // namespace catenary::training
