#pragma once
// Private to optimizers/: the state of updates, and grouping of equal items.

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/optimizers/optimizer.h"

namespace catenary {

struct Optimizer::State {
  std::shared_ptr<const OptimizerRule> rule;
  std::shared_ptr<Hyperparameters> hyperparam;
  Model target = {};
  std::int64_t t = 0, epoch = 0;
  bool look_for_non_finite = false, skip = false, use_fp32_update = true;
  // The loss scale. For models without float16 parameters it stays 1 and undecided.
  bool scale_is_given = false;
  std::int64_t interval = 0;  // 0 for a constant scale
  Number scale = 1;
  Array overflowed = {};    // 0-d bool: whether there has ever been an inf or NaN
  double stored_scale = 1;  // read from a snapshot
  bool stored_overflowed = false;

  Array non_finite = {};         // 0-d bool of the last update, if it was checked
  Array in_a_row = {};           // 0-d float32: the number of consecutive updates skipped at a scale of 1
  Array loss = {}, coming = {};  // of the last update and of the one that begins, if known
  std::vector<std::shared_ptr<OptimizerHook>> hooks = {};

  void decide_scale();
  void look_through(const std::vector<Parameter>& parameters);
  void next_scale();
  void serialize_scale(Serializer& serializer);
};

/// A parameter to update.
struct UpdateRule::Job {
  UpdateRule* rule = nullptr;
  std::vector<Array> arrays = {};    // parameter, gradient, state, and for updates in float32 the 16-bit parameter
  std::optional<Number> scale = {};  // loss scale of the gradient, if the update divides it out
};

/// Data common to all parameters of an update.
struct UpdateRule::Call {
  bool flush = false;
  Array unless = {};  // 0-d bool: changes nothing where it is true
};

constexpr std::int64_t kFlushEvery = 8;
constexpr std::int64_t kLookEvery = 32;  // how often, in updates, the host checks whether all updates are skipped

/// Returns the number as an array on the device.
Array on_device(const Number& number, const Device& device);

/// Casts gradients that hooks saw in another dtype back to the parameter's dtype.
void bring_gradients_back(const std::vector<Parameter>& parameters);

/// Returns the entry of a name, or null.
template <class Values>
auto* entry_of(Values& values, const std::string& name) {
  const auto at = std::find_if(values.begin(), values.end(), [&](const auto& entry) { return entry.first == name; });
  return at == values.end() ? nullptr : &at->second;
}

/// Removes the entry of a name.
inline void remove_entry(Hyperparameters::Values& values, const std::string& name) {
  std::erase_if(values, [&](const auto& entry) { return entry.first == name; });
}

/// Calls f with each group of equal items, in the order of each group's first item.
template <class Item, class Alike, class F>
void for_each_group(std::vector<Item> items, const Alike& alike, const F& f) {
  while (!items.empty()) {
    // the first equals itself, even if it contains NaN
    const auto others = std::stable_partition(
        items.begin() + 1, items.end(), [&, first = items.front()](const Item& item) { return alike(first, item); });
    const std::vector<Item> group(std::make_move_iterator(items.begin()), std::make_move_iterator(others));
    items.erase(items.begin(), others);
    f(group);
  }
}

}  // namespace catenary
