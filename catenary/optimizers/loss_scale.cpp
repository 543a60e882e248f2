// Loss scales, and skipped updates.

#include <algorithm>
#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/lazy.h"
#include "catenary/array/reduction.h"
#include "catenary/core/format.h"
#include "catenary/optimizers/detail.h"

namespace catenary {

namespace {

constexpr std::int64_t kMostInARow = 8;   // skipped updates allowed at a scale of 1: a batch may be bad
constexpr std::int64_t kInterval = 1000;  // updates between doublings of the scale, as in Chainer
constexpr double kMostScale = 65504;      // the largest number of float16

}  // namespace

Array on_device(const Number& number, const Device& device) {
  if (number.on_device()) return number.array().to_device(device);
  const Array array = Array::empty({}, Dtype::float32, device);
  array.fill(number.value());
  return array;
}

void Optimizer::loss_scaling(std::int64_t interval, std::optional<double> scale) const {
  if (scale && !(*scale > 0 && std::isfinite(*scale)))
    fail<ValueError>("{}: loss_scaling: the scale must be a positive number, not {}", name(), *scale);
  if (!scale && interval < 1)
    fail<ValueError>("{}: loss_scaling: the interval must be 1 or more, not {}", name(), interval);
  state_->scale_is_given = true;
  state_->interval = scale ? 0 : interval;
  state_->scale = scale.value_or(1);
  state_->overflowed = Array();
}

void Optimizer::set_loss_scale(double scale) const { loss_scaling({}, scale); }

const Number& Optimizer::loss_scale() const {
  state_->decide_scale();
  return state_->scale;
}

bool Optimizer::is_safe_to_update() const {
  return state_->interval == 0 || !state_->non_finite.defined() || !state_->non_finite.item<bool>();
}

/// Models with float16 parameters get a dynamic scale by default.
void Optimizer::State::decide_scale() {
  if (scale_is_given || !target.defined()) return;
  const std::vector<Parameter> parameters = target.link().params(false);
  const bool is_needed =
      std::any_of(parameters.begin(), parameters.end(), [](const Parameter& p) { return p.dtype() == Dtype::float16; });
  interval = is_needed ? kInterval : 0;
}

/// Computes the scale of the next update, by Chainer's rule.
void Optimizer::State::next_scale() {
  const Device device = non_finite.device();
  const Array now = on_device(scale, device);
  const Array by_scale = logical_and(non_finite, greater(now, 1.0));  // at a scale of 1 the overflow has another cause
  overflowed = overflowed.defined() ? logical_or(overflowed.to_device(device), by_scale) : by_scale;
  const double slowly = std::pow(2.0, 1.0 / static_cast<double>(interval));
  const Array before = in_a_row.defined() ? in_a_row.to_device(device) : on_device(0, device);
  in_a_row = where(logical_and(non_finite, logical_not(by_scale)), before + 1.0, 0.0);
  const Array next = where(non_finite, now * 0.5, where(overflowed, now * slowly, now * 2.0));
  scale = Number(maximum(minimum(next, kMostScale), 1.0).eval());
  overflowed.eval();
  in_a_row.eval();
}

void Optimizer::look_for_non_finite(bool look) const { state_->look_for_non_finite = look; }

const Array& Optimizer::non_finite() const {
  if (!state_->non_finite.defined())
    fail<ValueError>("{}: non_finite(): call look_for_non_finite() before the update", name());
  return state_->non_finite;
}

namespace {

/// Names gradients that are not finite: "the gradients of /l1/W and 3 other parameters are not finite".
std::string gradients_without_number(const Link& link) {
  std::string first;
  int others = 0;
  for (const auto& [path, p] : link.namedparams(false)) {
    if (!p.grad().defined() || isfinite(p.grad()).all()) continue;
    others += !first.empty();
    if (first.empty()) first = path;
  }
  if (first.empty()) return "hooks have replaced the non-finite values in the gradients";
  if (others == 0) return fmt::format("the gradient of {} is not finite", first);
  return fmt::format("the gradients of {} and {} other parameter{} are not finite", first, others,
                     others == 1 ? "" : "s");
}

}  // namespace

void Optimizer::check_skipped_updates() const {
  const State& s = *state_;
  if (s.interval == 0 || !s.in_a_row.defined()) return;
  const auto in_a_row = s.in_a_row.item<std::int64_t>();
  if (in_a_row < std::min(kMostInARow, s.t)) return;
  std::string loss;
  if (s.loss.defined() && s.loss.size() == 1) {
    const double value = s.loss.reshape({}).item<double>();
    loss = std::isnan(value) ? "the loss is nan, and " : fmt::format("the loss is {}, and ", value);
  }
  fail<ValueError>(
      "{}: {} skipped, as gradients were inf or NaN at a loss scale of 1: {}{}. Look for such "
      "numbers in the data (training::FiniteLoss names the examples), or for a model that leaves the range of its "
      "dtype",
      name(), in_a_row == 1 ? "the last update was" : fmt::format("the last {} updates were", in_a_row), loss,
      gradients_without_number(target().link()));
}

/// Saves or loads a dynamic scale. Chainer's snapshots have none, so the current one stays.
void Optimizer::State::serialize_scale(Serializer& serializer) {
  if (serializer.loading()) {
    if (!serializer.contains("loss_scale")) return;
    serializer("loss_scale", stored_scale);
    serializer("loss_scale_overflowed", stored_overflowed);
    serializer.after_loading([this] {
      decide_scale();
      if (interval == 0) return;  // a constant scale stays
      scale = stored_scale;
      overflowed = stored_overflowed ? full({}, true) : Array();
    });
  } else if (interval > 0) {
    stored_scale = scale.value();
    stored_overflowed = overflowed.defined() && overflowed.item<bool>();
    serializer("loss_scale", stored_scale);
    serializer("loss_scale_overflowed", stored_overflowed);
  }
}

/// Checks the gradients for inf and NaN.
void Optimizer::State::look_through(const std::vector<Parameter>& parameters) {
  std::vector<Array> gradients;
  for (const Parameter& p : parameters)
    if (p.grad().defined()) gradients.push_back(p.grad());
  non_finite = lazy::any_of_segments(gradients, [](const Array& g) { return logical_not(isfinite(g)); }).eval();
}

}  // namespace catenary
