// Named numbers, where a parameter's values override the optimizer's.

#include "catenary/core/format.h"
#include "catenary/optimizers/detail.h"

namespace catenary {

namespace {

/// Sets the value of a name, and appends new names.
void put(Hyperparameters::Values& values, const std::string& name, double value) {
  if (double* const known = entry_of(values, name)) {
    *known = value;
  } else {
    values.emplace_back(name, value);
  }
}

}  // namespace

Hyper::Hyper(const Optimizer& optimizer, std::string name)
    : all_(optimizer.state_->hyperparam), name_(std::move(name)) {
  all_->get(name_);
}

double Hyperparameters::get(const std::string& name) const {
  if (const double* const own = entry_of(values_, name)) return *own;
  if (!parent_) fail<ValueError>("{}", missing(name));
  const double* const factor = entry_of(factors_, name);
  const double value = parent_->get(name);
  return factor ? *factor * value : value;
}

bool Hyperparameters::contains(const std::string& name) const {
  return entry_of(values_, name) || (parent_ && parent_->contains(name));
}

void Hyperparameters::set(const std::string& name, double value) {
  get(name);
  remove_entry(factors_, name);
  put(values_, name, value);
}

void Hyperparameters::scale(const std::string& name, double factor) {
  if (!parent_ || !parent_->contains(name)) fail<ValueError>("{}", missing(name));
  remove_entry(values_, name);
  put(factors_, name, factor);
}

Hyperparameters::Values Hyperparameters::all() const {
  Values result = parent_ ? parent_->all() : Values{};
  for (const auto& [name, factor] : factors_)
    if (double* const value = entry_of(result, name)) *value *= factor;
  for (const auto& [name, value] : values_) put(result, name, value);
  return result;
}

std::string Hyperparameters::missing(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& entry : all()) names.push_back(entry.first);
  return fmt::format("there is no hyperparameter '{}'; there {}: {}{}", name, names.size() == 1 ? "is" : "are",
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
                     (name == "lr" || name == "learning_rate") && contains(rate_name())
                         ? fmt::format(" (the rate is '{}')", rate_name())
                         : "");
}

double Hyperparameters::learning_rate(std::int64_t t) const {
  return t == 0 ? get(rate_name()) : learning_rate(Number(static_cast<double>(t))).value();
}

Number Hyperparameters::learning_rate(const Number& t) const {
  const std::string rate = rate_name();
  if (rate == "lr" || !contains("beta1")) return get(rate);
  return get("alpha") * sqrt(one_minus_power(get("beta2"), t)) / one_minus_power(get("beta1"), t);
}

}  // namespace catenary
