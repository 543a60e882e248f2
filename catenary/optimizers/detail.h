#pragma once
// Private to optimizers/: what an update knows, and how what is alike is taken together.

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
  // The loss scale: 1 and not decided for a model that has no float16 parameter.
  bool scale_is_given = false;
  std::int64_t interval = 0;  // 0: the scale does not change
  Number scale = 1;
  Array overflowed = {};    // 0-d bool: was there an inf or a NaN ever?
  double stored_scale = 1;  // in a snapshot
  bool stored_overflowed = false;

  Array non_finite = {};  // 0-d bool of the last update, where it looked
  Array in_a_row = {};    // 0-d float32: the last updates, one after the other, that were skipped at a scale of 1
  Array loss = {}, coming = {};  // of the last update, and of the one that begins, where they are known
  std::vector<std::shared_ptr<OptimizerHook>> hooks = {};

  void decide_scale();
  void look_through(const std::vector<Parameter>& parameters);
  void next_scale();
  void serialize_scale(Serializer& serializer);
};

/// One parameter that is about to be updated.
struct UpdateRule::Job {
  UpdateRule* rule = nullptr;
  std::vector<Array> arrays = {};    // parameter, gradient, state; where it is updated in float32, the 16-bit parameter
  std::optional<Number> scale = {};  // what is in the gradient, where it is divided out with the update
};

/// What all parameters of an update have in common.
struct UpdateRule::Call {
  bool flush = false;
  Array unless = {};  // 0-d bool: nothing is to change where it is true
};

constexpr std::int64_t kFlushEvery = 8;
constexpr std::int64_t kLookEvery = 32;  // updates after which the host asks whether all are skipped

/// The number where the device reads it, whether the device or the host knows it.
Array on_device(const Number& number, const Device& device);

/// Gradients that hooks saw in another dtype than the parameter's are in the parameter's again.
void bring_gradients_back(const std::vector<Parameter>& parameters);

/// The entry of a name, or null.
template <class Values>
auto* entry_of(Values& values, const std::string& name) {
  const auto at = std::find_if(values.begin(), values.end(), [&](const auto& entry) { return entry.first == name; });
  return at == values.end() ? nullptr : &at->second;
}

/// Takes the entry of a name out.
inline void remove_entry(Hyperparameters::Values& values, const std::string& name) {
  std::erase_if(values, [&](const auto& entry) { return entry.first == name; });
}

/// Calls f with the items that are alike, group after group, in the order of each group's first.
template <class Item, class Alike, class F>
void for_each_group(std::vector<Item> items, const Alike& alike, const F& f) {
  while (!items.empty()) {
    // the first is like itself, even where it has a NaN
    const auto others = std::stable_partition(
        items.begin() + 1, items.end(), [&, first = items.front()](const Item& item) { return alike(first, item); });
    const std::vector<Item> group(std::make_move_iterator(items.begin()), std::make_move_iterator(others));
    items.erase(items.begin(), others);
    f(group);
  }
}

}  // namespace catenary
