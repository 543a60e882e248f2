#include "catenary/training/extensions/values.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "catenary/array/elementwise_core.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/core/format.h"
#include "catenary/training/finite_loss.h"

namespace catenary::training::extensions {

Shift::Shift(std::string attr, ShiftOptions options) : attr_(std::move(attr)), options_(std::move(options)) {
  if (options_.warmup < 0) fail<ValueError>("a schedule's warmup must not be negative, got {}", options_.warmup);
}

double Shift::warmed_up(double init, std::int64_t t) const {
  if (t >= options_.warmup) return value(init, t - options_.warmup);
  // the first update already has a nonzero value
  return value(init, 0) * static_cast<double>(t + 1) / static_cast<double>(options_.warmup + 1);
}

void Shift::initialize(Trainer& trainer) {
  Hyperparameters& all = trainer.updater().optimizer(options_.optimizer).hyperparam();
  if (!all.contains(attr_)) fail<ValueError>("{}: {}", default_name(), all.missing(attr_));
  if (options_.init) init_ = options_.init;
  if (!init_) init_ = all.get(attr_);
  all.set(attr_, last_value_ ? *last_value_ : warmed_up(*init_, 0));
}

void Shift::operator()(Trainer& trainer) {
  ++t_;
  last_value_ = warmed_up(init_.value(), t_);
  trainer.updater().optimizer(options_.optimizer).hyperparam().set(attr_, *last_value_);
}

void Shift::serialize(Serializer& serializer) {
  if (!serializer.loading() || serializer.contains("_t")) serializer("_t", t_);
  if (!serializer.loading() || serializer.contains("_last_value")) serializer("_last_value", last_value_);
  // missing in Chainer's snapshots, which ignore additional keys
  if (!serializer.loading() || serializer.contains("_init")) serializer("_init", init_);
}

namespace {
/// For schedules whose final value is fixed.
ShiftOptions without_target(const char* name, ShiftOptions options) {
  if (options.target)
    fail<ValueError>("{}: its final value is fixed, so a target of {} would have no effect", name, *options.target);
  return options;
}
}  // namespace

double Shift::limited(double value, bool growing) const {
  if (!options_.target) return value;
  // compare ratios, so that negative values are limited, too
  const double target = *options_.target;
  return (growing ? value / target > 1 : value / target < 1) ? target : value;
}

ExponentialShift::ExponentialShift(std::string attr, double rate, ShiftOptions options)
    : Shift(std::move(attr), std::move(options)), rate_(rate) {
  if (rate < 0) fail<ValueError>("ExponentialShift: the rate must not be negative, got {}", rate);
}
double ExponentialShift::value(double init, std::int64_t t) const {
  return limited(init * std::pow(rate_, static_cast<double>(t)), rate_ > 1);
}

CosineShift::CosineShift(std::string attr, std::int64_t max_count, ShiftOptions options)
    : Shift(std::move(attr), std::move(options)), max_count_(max_count) {
  if (max_count <= 0) fail<ValueError>("CosineShift: max_count must be positive, got {}", max_count);
}
double CosineShift::value(double init, std::int64_t t) const {
  const double target = options().target.value_or(0);
  const double part = std::min(static_cast<double>(t) / static_cast<double>(max_count_), 1.0);
  return target + (init - target) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

InverseShift::InverseShift(std::string attr, double gamma, double power, ShiftOptions options)
    : Shift(std::move(attr), std::move(options)), gamma_(gamma), power_(power) {
  if (gamma < 0) fail<ValueError>("InverseShift: gamma must not be negative, got {}", gamma);
}
double InverseShift::value(double init, std::int64_t t) const {
  return limited(init * std::pow(1 + gamma_ * static_cast<double>(t), -power_), power_ < 0);
}

LinearShift::LinearShift(std::string attr, std::pair<double, double> values,
                         std::pair<std::int64_t, std::int64_t> times, ShiftOptions options)
    : Shift(std::move(attr), without_target("LinearShift", std::move(options))), values_(values), times_(times) {
  if (times.first >= times.second)
    fail<ValueError>("LinearShift: time {} does not come before {}", times.first, times.second);
}
double LinearShift::value(double, std::int64_t t) const {
  if (t <= times_.first) return values_.first;
  if (t >= times_.second) return values_.second;
  const double rate = static_cast<double>(t - times_.first) / static_cast<double>(times_.second - times_.first);
  return values_.first + rate * (values_.second - values_.first);
}

MultistepShift::MultistepShift(std::string attr, double gamma, std::vector<std::int64_t> steps, ShiftOptions options)
    : Shift(std::move(attr), without_target("MultistepShift", std::move(options))),
      gamma_(gamma),
      steps_(std::move(steps)) {
  std::sort(steps_.begin(), steps_.end());
}
double MultistepShift::value(double init, std::int64_t t) const {
  return init *
         std::pow(gamma_, static_cast<double>(std::upper_bound(steps_.begin(), steps_.end(), t) - steps_.begin()));
}

PolynomialShift::PolynomialShift(std::string attr, double rate, std::int64_t max_count, ShiftOptions options)
    : Shift(std::move(attr), std::move(options)), rate_(rate), max_count_(max_count) {
  if (max_count <= 0) fail<ValueError>("PolynomialShift: max_count must be positive, got {}", max_count);
}
double PolynomialShift::value(double init, std::int64_t t) const {
  const double decay = std::max(1 - static_cast<double>(t) / static_cast<double>(max_count_), 0.0);
  return limited(init * std::pow(decay, rate_), rate_ < 0);
}

StepShift::StepShift(std::string attr, double gamma, std::int64_t step, ShiftOptions options)
    : Shift(std::move(attr), std::move(options)), gamma_(gamma), step_(step) {
  if (step <= 0) fail<ValueError>("StepShift: step must be positive, got {}", step);
}
double StepShift::value(double init, std::int64_t t) const {
  return limited(init * std::pow(gamma_, static_cast<double>(t / step_)), gamma_ > 1);
}

WarmupShift::WarmupShift(std::string attr, double warmup_start, std::int64_t warmup_iter, ShiftOptions options)
    : Shift(std::move(attr), without_target("WarmupShift", std::move(options))),
      warmup_start_(warmup_start),
      warmup_iter_(warmup_iter) {
  if (warmup_iter <= 0) fail<ValueError>("WarmupShift: warmup_iter must be positive, got {}", warmup_iter);
}
double WarmupShift::value(double init, std::int64_t t) const {
  if (t >= warmup_iter_) return init;
  return warmup_start_ + (init - warmup_start_) * static_cast<double>(t) / static_cast<double>(warmup_iter_);
}

void observe_value::operator()(Trainer& trainer) { trainer.observation()[key_] = function_(trainer); }

observe_value observe_lr(const std::string& optimizer_name, const std::string& observation_key) {
  return observe_value(observation_key, [optimizer_name](Trainer& trainer) {
    return trainer.updater().optimizer(optimizer_name).learning_rate();
  });
}

void unchain_variables::operator()(Trainer& trainer) {
  for (const auto& [name, reported] : trainer.observation())
    if (reported.variable().defined()) reported.variable().unchain_backward();
}

void FailOnNonNumber::operator()(Trainer& trainer) {
  for (const auto& [name, optimizer] : trainer.updater()->optimizers()) {
    try {
      check_finite(optimizer.target());
      optimizer.check_skipped_updates();
    } catch (const ValueError& error) {
      fail<ValueError>("FailOnNonNumber: optimizer '{}', iteration {}: {}", name, trainer.updater()->iteration(),
                       error.what());
    }
  }
}

MicroAverage::MicroAverage(std::string numerator_key, std::string denominator_key, std::string result_key,
                           Trigger trigger)
    : numerator_key_(std::move(numerator_key)),
      denominator_key_(std::move(denominator_key)),
      result_key_(std::move(result_key)),
      trigger_(std::move(trigger)) {}

void MicroAverage::operator()(Trainer& trainer) {
  Observation& observation = trainer.observation();
  const Reported *numerator = observation.find(numerator_key_), *denominator = observation.find(denominator_key_);
  if (!numerator || !denominator) return;
  numerator_ += numerator->value();
  denominator_ += denominator->value();
  if (!trigger_(trainer)) return;
  observation[result_key_] = numerator_ / denominator_;
  numerator_ = denominator_ = 0;
}

void MicroAverage::serialize(Serializer& serializer) {
  Serializer trigger = serializer["_trigger"];
  trigger_.serialize(trigger);
  if (serializer.loading() && !serializer.contains("_numerator")) return;
  serializer("_numerator", numerator_);
  serializer("_denominator", denominator_);
}

ParameterStatistics::ParameterStatistics(const Link& link, ParameterStatisticsOptions options)
    : parameters_(link.namedparams()), options_(std::move(options)) {}

void ParameterStatistics::operator()(Trainer& trainer) {
  const std::vector<double> sigmas = {0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87};
  const auto describe = [&](const std::string& name, const Array& x) {
    if (!x.defined() || x.size() == 0) return;
    Observation& observation = trainer.observation();
    const auto put = [&](const std::string& statistic, const Array& value) {
      observation[name + "/" + statistic] = value.item<double>();
    };
    put("mean", mean(x));
    put("std", std(x));
    put("min", min(x));
    put("max", max(x));
    put("zeros", sum(equal(x, 0)));
    const std::vector<double> percentiles = percentile(x, sigmas).to_vector<double>();
    for (std::size_t i = 0; i < sigmas.size(); ++i)
      observation[fmt::format("{}/percentile/{}", name, i)] = percentiles[i];
  };
  for (const auto& [path, parameter] : parameters_) {
    if (!parameter.is_initialized()) continue;
    const std::string name = (options_.prefix.empty() ? "" : options_.prefix + "/") + path.substr(1);
    if (options_.report_params) describe(name + "/data", parameter.array());
    if (options_.report_grads) describe(name + "/grad", parameter.grad());
  }
}

}  // namespace catenary::training::extensions
