#pragma once
// The values that models take, compute and return.

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary::onnx {

/// An array, a sequence of arrays, or an empty value, which stands for an omitted input and an empty optional.
class CT_API Value {
 public:
  Value() = default;
  template <class X>
  requires(!std::same_as<std::remove_cvref_t<X>, Value> && std::convertible_to<X, Variable>) Value(X&& x)
      : array_(converted(std::forward<X>(x))) {}
  static Value sequence(std::vector<Variable> items);
  /// Makes a value of an array that never changes: `on` copies it to each device only once.
  static Value constant(const Array& array);

  bool defined() const { return array_.defined() || items_; }
  bool is_sequence() const { return items_ != nullptr; }
  bool is_constant() const { return copies_ != nullptr; }
  /// Returns the array. Throws ValueError for a sequence and an empty value.
  const Variable& variable() const;
  const Array& array() const { return variable().array(); }
  /// Returns the arrays of a sequence. Throws ValueError for other values.
  const std::vector<Variable>& items() const;
  /// Returns whether an array, or one of a sequence, is on a device.
  bool is_on(const Device& device) const;
  /// Returns the array on a device.
  Variable on(const Device& device) const;
  /// Returns the value with its arrays on a device.
  Value moved(const Device& device) const;

 private:
  struct Copies;
  /// Converts implicitly, so that arrays become variables without gradient.
  static Variable converted(Variable x) { return x; }

  Variable array_;
  std::shared_ptr<const std::vector<Variable>> items_;
  std::shared_ptr<Copies> copies_;
};

/// The inputs or results of a node or a model.
using Values = std::vector<Value>;

}  // namespace catenary::onnx
