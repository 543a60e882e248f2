// Updates parameters, by a single program if they share hyperparameters, dtypes and a device.

#include <algorithm>
#include <cmath>
#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/lazy.h"
#include "catenary/core/format.h"
#include "catenary/optimizers/detail.h"

namespace catenary {

UpdateStep::UpdateStep(const UpdateRule& rule, const std::vector<Array>& arrays, const Array& gradient,
                       const Number& count, const Numbers& numbers)
    : x(arrays[0]),
      g(gradient),
      t(count),
      hyperparam(*rule.hyperparam),
      rule_(rule),
      arrays_(arrays),
      numbers_(numbers) {}

const Number& UpdateStep::number(const std::string& name) const {
  if (const Number* const found = entry_of(numbers_, name)) return *found;
  fail<ValueError>("{}: the rule has no number '{}'", rule_.rule_->name, name);
}

const Array& UpdateStep::operator[](const std::string& name) const {
  for (std::size_t k = 0; k < rule_.state.size(); ++k)
    if (rule_.state[k].first == name) return arrays_[k + 2];
  fail<ValueError>("{}: the rule has no state '{}'", rule_.rule_->name, name);
}

UpdateRule::UpdateRule(std::shared_ptr<const OptimizerRule> rule, std::shared_ptr<const Hyperparameters> optimizer)
    : hyperparam(std::make_shared<Hyperparameters>(std::move(optimizer))), rule_(std::move(rule)) {
  for (const OptimizerState& array : rule_->state) state.emplace_back(array.name, Array());
}

std::int64_t UpdateRule::t() const { return begun_ - std::llround(skipped_.value()); }

bool UpdateRule::in_float32(const Parameter& parameter) const {
  return use_fp32_update && is_16bit_float(parameter.dtype());
}

namespace {
/// Throws FileError if the file has a state that none of `state` takes: v is the velocity of MomentumSGD, but the
/// second moment of Adam, whose m tells them apart.
template <class State>
void refuse_other_state(const Serializer& serializer, const State& state) {
  for (const char* name : {"m", "v", "ms", "mg", "msg", "msdx", "h", "n", "g", "delta", "mem", "g2"}) {
    const bool known = std::ranges::any_of(state, [&](const auto& entry) { return entry.first == name; });
    if (!known && serializer.contains(name)) serializer.reject(name, "belongs to the state of another optimizer");
  }
}
}  // namespace

void UpdateRule::serialize(Serializer& serializer) {
  // Chainer's files have no float32 copy, so it is made from the 16-bit parameter
  if (serializer.loading()) {
    serializer("t", begun_);
    serializer.after_loading([this] { skipped_ = 0; });
    if (serializer.contains("fp32_param"))
      serializer("fp32_param", float32_);
    else
      serializer.after_loading([this] { float32_ = Array(); });
  } else {
    std::int64_t count = t();
    serializer("t", count);
    if (float32_.defined()) serializer("fp32_param", float32_);
  }
  const auto in_file = [&](const auto& entry) { return serializer.contains(entry.first); };
  // A parameter that never had a gradient has no state. If a part is there, all of it must be.
  const bool loads = serializer.loading() && std::ranges::any_of(state, in_file);
  if (serializer.loading() && !state.empty()) refuse_other_state(serializer, state);
  for (auto& [name, array] : state)
    if (serializer.loading() ? loads : array.defined()) serializer(name, array);
}

/// Prepares a parameter: counts, runs the rule's hooks, initialises the state. Returns false if there is nothing to do.
bool UpdateRule::prepare(const Parameter& parameter, Job& job) {
  if (!enabled) return false;
  ++begun_;
  if (!parameter.is_initialized() || !parameter.grad().defined()) return false;
  for (const auto& [name, hook] : hooks) hook(*this, parameter);
  const Array& own = parameter.array();
  const bool wide = in_float32(parameter);
  const auto brought = [&](Array& array, Dtype dtype) {
    array = array.to_device(own.device());                    // the model may have been moved
    if (array.dtype() != dtype) array = array.astype(dtype);  // loaded from a snapshot of another precision
  };
  if (!wide) {
    float32_ = Array();
  } else if (!float32_.defined()) {
    float32_ = own.astype(Dtype::float32);
  } else {
    brought(float32_, Dtype::float32);
  }
  const Array& x = wide ? float32_ : own;
  job = {this, {x, parameter.grad()}};
  if (wide) {
    job.scale = parameter.loss_scale();
    parameter.set_loss_scale({});
  }
  for (std::size_t k = 0; k < state.size(); ++k) {
    auto& [name, array] = state[k];
    const std::optional<double>& first = rule_->state[k].first;
    const Dtype dtype = rule_->state[k].dtype.value_or(is_16bit_float(x.dtype()) ? Dtype::float32 : x.dtype());
    if (!array.defined()) {
      array = Array::empty(x.shape(), dtype, x.device());
      copyto(array, first ? Operand(*first) : Operand(x));
    } else if (!(array.shape() == x.shape())) {
      fail<ShapeError>("the optimizer's state '{}' has shape {}, its parameter {} (was it loaded for another model?)",
                       name, array.shape(), x.shape());
    }
    brought(array, dtype);
    job.arrays.push_back(array);
  }
  if (wide) job.arrays.push_back(own);
  return true;
}

bool UpdateRule::alike(const Job& a, const Job& b) {
  const auto overrides = [](const Job& job) { return job.rule->hyperparam->overrides(); };
  const auto same_scale = [&] {
    return a.scale.has_value() == b.scale.has_value() && (!a.scale || a.scale->is(*b.scale));
  };
  return a.rule->rule_ == b.rule->rule_ && a.rule->begun_ == b.rule->begun_ && a.rule->skipped_.is(b.rule->skipped_) &&
         a.arrays.size() == b.arrays.size() && a.arrays[0].dtype() == b.arrays[0].dtype() &&
         a.arrays[1].dtype() == b.arrays[1].dtype() && a.arrays.back().dtype() == b.arrays.back().dtype() &&
         a.arrays[0].device() == b.arrays[0].device() && same_scale() &&
         ((!overrides(a) && !overrides(b)) || a.rule->hyperparam->all() == b.rule->hyperparam->all());
}

namespace {

/// Every eighth update replaces subnormal numbers in a parameter and its state by 0. An optimizer's averages decay
/// geometrically while gradients are zero, until they become subnormal and stay so, which slows down arithmetic on CPUs
/// a hundred times. Ordinary operations do this, so all devices and execution modes give equal bits. A pass over memory
/// in each update would cost a tenth of the time.
void flush_subnormals(const std::vector<std::vector<Array>>& kept, const Array& unless) {
  const auto flush = [](const std::vector<Array>& a) {
    // 16-bit floats as their computation dtype
    const double smallest =
        a[0].dtype() == Dtype::float64 ? std::numeric_limits<double>::min() : double{std::numeric_limits<float>::min()};
    copyto(a[0], where(absolute(a[0]) < smallest, 0.0, a[0]));
  };
  lazy::for_each_segment(kept, flush, unless);
}

/// A parameter, and the dtype required for its gradient.
struct Wanted {
  Parameter parameter;
  Dtype dtype;
};

/// Whether both share scale, dtypes and device.
bool wanted_alike(const Wanted& a, const Wanted& b) {
  const std::optional<Number>&x = a.parameter.loss_scale(), &y = b.parameter.loss_scale();
  return x.has_value() == y.has_value() && (!x || x->is(*y)) && a.dtype == b.dtype &&
         a.parameter.grad().dtype() == b.parameter.grad().dtype() && a.parameter.device() == b.parameter.device();
}

/// Converts gradients to the required dtype and divides by the loss scale, with a single program for each group of
/// equal dtypes.
void give_wanted(std::vector<Wanted> gradients) {
  for_each_group(std::move(gradients), wanted_alike, [](const std::vector<Wanted>& group) {
    const Parameter& first = group.front().parameter;
    const Dtype dtype = group.front().dtype;
    const bool casts = first.grad().dtype() != dtype;
    std::optional<Number> scale;
    if (first.loss_scale()) scale = first.loss_scale()->to_device(first.device()).eval();
    const bool divides = scale && (scale->on_device() || scale->value() != 1);
    std::vector<std::vector<Array>> segments;
    for (const Wanted& wanted : group) {
      const Array grad = wanted.parameter.grad();
      segments.push_back({grad});
      if (casts) {
        const Array cast = Array::empty(grad.shape(), dtype, grad.device());
        segments.back() = {cast, grad};
        wanted.parameter.set_grad(cast);
      }
      wanted.parameter.set_loss_scale({});
    }
    if (!casts && !divides) return;
    lazy::for_each_segment(segments, [&](const std::vector<Array>& g) {
      if (casts) copyto(g[0], g[1].astype(dtype));
      if (divides) g[0] /= *scale;
    });
  });
}

}  // namespace

void UpdateRule::run(const std::vector<Job>& group, const Call& call) {
  const UpdateRule& rule = *group.front().rule;
  const bool wide = group.front().arrays.size() > rule.state.size() + 2;
  std::vector<std::vector<Array>> segments, kept[2];  // the 16-bit parameters have another dtype than all other arrays
  for (const Job& job : group) {
    segments.push_back(job.arrays);
    if (!call.flush) continue;
    for (std::size_t k = 0; k < job.arrays.size(); ++k)  // index 1 is the gradient
      if (k != 1) kept[job.arrays[k].dtype() == job.arrays.back().dtype()].push_back({job.arrays[k]});
  }
  const Device device = segments.front().front().device();
  // If updates may be skipped, the device computes with t from the first update on. The host's arithmetic gives other
  // bits, and a training resumed from a snapshot, where t is a number, would differ.
  const Number skipped =
      call.unless.defined() ? Number(on_device(rule.skipped_, device)) : Number(rule.skipped_.value());
  const Number t = (static_cast<double>(rule.begun_) - skipped).eval();
  UpdateStep::Numbers numbers;
  if (rule.rule_->numbers) numbers = rule.rule_->numbers({t, *rule.hyperparam});
  for (const auto& [name, number] : numbers) number.eval();
  const std::optional<Number> scale =
      group.front().scale ? std::optional(group.front().scale->to_device(device).eval()) : std::nullopt;
  const auto step = [&](const std::vector<Array>& arrays) {
    const Array &x = arrays[0], &gradient = arrays[1];
    if (!wide) {  // squares of 16-bit gradients would be lost
      const bool is_narrow = is_16bit_float(gradient.dtype());
      return rule.rule_->step({rule, arrays, is_narrow ? gradient.astype(Dtype::float32) : gradient, t, numbers});
    }
    const Array& own = arrays.back();
    // keep changes that other code made to the parameter
    copyto(x, where(x.astype(own.dtype()) == own, x, own));
    Array g = gradient.astype(Dtype::float32);
    if (scale) {
      g = divide(g, *scale);
      copyto(gradient, g.astype(gradient.dtype()));
    }
    rule.rule_->step({rule, arrays, g, t, numbers});
    copyto(own, x.astype(own.dtype()));
  };
  lazy::for_each_segment(segments, step, call.unless);
  for (const auto& arrays : kept) flush_subnormals(arrays, call.unless);
  const Number now =
      call.unless.defined() ? (skipped + Number(call.unless.to_device(device).astype(Dtype::float32))).eval() : skipped;
  for (const Job& job : group) job.rule->skipped_ = now;
}

void UpdateRule::update_all(const std::vector<Parameter>& parameters, const Call& call) {
  std::vector<Job> jobs;
  for (const Parameter& p : parameters) {
    const auto& rule = p.update_rule();
    Job job;
    if (auto* own = dynamic_cast<UpdateRule*>(rule.get())) {
      if (own->prepare(p, job)) jobs.push_back(std::move(job));
    } else if (rule) {
      rule->update(p);
    }
  }
  for_each_group(std::move(jobs), alike, [&](const std::vector<Job>& group) { run(group, call); });
}

/// Converts gradients for hooks: divides by the loss scale, and casts gradients of parameters that are updated in
/// float32 to float32. Gradients without hooks are divided when they are used.
void UpdateRule::unscale_for_hooks(const std::vector<Parameter>& parameters, bool has_hooks) {
  std::vector<Wanted> seen;
  for (const Parameter& p : parameters) {
    if (!p.grad().defined()) continue;
    const auto* const rule = dynamic_cast<const UpdateRule*>(p.update_rule().get());
    const bool wide = rule && rule->in_float32(p);
    if (wide && !has_hooks && rule->hooks.empty()) continue;
    seen.push_back({p, wide ? Dtype::float32 : p.grad().dtype()});
  }
  give_wanted(std::move(seen));
}

void bring_gradients_back(const std::vector<Parameter>& parameters) {
  std::vector<Wanted> seen;
  for (const Parameter& p : parameters)
    if (p.grad().defined() && p.grad().dtype() != p.dtype()) seen.push_back({p, p.dtype()});
  give_wanted(std::move(seen));
}

void UpdateRule::update(const Parameter& parameter) {
  unscale_for_hooks({parameter}, false);
  update_all({parameter}, {.flush = (begun_ + 1) % kFlushEvery == 0});
}

}  // namespace catenary
