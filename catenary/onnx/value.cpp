#include "catenary/onnx/value.h"

#include <algorithm>
#include <mutex>

#include "catenary/functions/functions.h"

namespace catenary::onnx {

/// Copies of a constant on other devices.
struct Value::Copies {
  std::mutex mutex;
  std::vector<Variable> made;
};

Value Value::sequence(std::vector<Variable> items) {
  Value value;
  value.items_ = std::make_shared<const std::vector<Variable>>(std::move(items));
  return value;
}

Value Value::constant(const Array& array) {
  Value value = array;
  value.copies_ = std::make_shared<Copies>();
  return value;
}

const Variable& Value::variable() const {
  if (!array_.defined()) throw ValueError(items_ ? "a sequence is given where an array is needed" : "a value is empty");
  return array_;
}

const std::vector<Variable>& Value::items() const {
  if (!items_) throw ValueError(array_.defined() ? "an array is given where a sequence is needed" : "a value is empty");
  return *items_;
}

bool Value::is_on(const Device& device) const {
  const auto is_there = [&](const Variable& x) { return x.device() == device; };
  return items_ ? std::ranges::any_of(*items_, is_there) : array_.defined() && is_there(array_);
}

Variable Value::on(const Device& device) const {
  const Variable& x = variable();
  if (x.device() == device) return x;
  if (!copies_) return functions::copy(x, device);
  const std::scoped_lock lock(copies_->mutex);
  for (const Variable& copy : copies_->made)
    if (copy.device() == device) return copy;
  return copies_->made.emplace_back(x.array().to_device(device), false);
}

Value Value::moved(const Device& device) const {
  if (array_.defined()) return on(device);
  if (!items_) return *this;
  std::vector<Variable> all;
  for (const Variable& x : *items_) all.push_back(Value(x).on(device));
  return sequence(std::move(all));
}

}  // namespace catenary::onnx
