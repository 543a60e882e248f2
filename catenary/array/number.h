#pragma once
// A number whose value may be on the device.

#include "catenary/array/array.h"

namespace catenary {

/// A double, or a 0-d float32 array that the device computes. Arithmetic between Numbers, and between Numbers and
/// arrays, does not wait for the device. Reading the value does.
class CT_API Number {
 public:
  Number(double value = 0) : value_(value) {}
  /// Takes a 0-d float32 array. Throws ShapeError unless it is 0-d, DtypeError unless it is float32.
  explicit Number(Array array);

  bool on_device() const { return array_.defined(); }
  const Array& array() const { return array_; }
  double value() const { return on_device() ? array_.item<double>() : value_; }
  /// Converts to an operand of elementwise operations: `array / number`. The Number must outlive the operand.
  operator Operand() const { return on_device() ? Operand(array_) : Operand(value_); }
  /// Returns this number with its value where `device` can read it.
  Number to_device(const Device& device) const { return on_device() ? Number(array_.to_device(device)) : *this; }
  /// Runs pending operations that compute the value.
  const Number& eval() const;
  /// Returns whether both hold the same double, or the same array.
  bool is(const Number& other) const;
  friend bool operator==(const Number& number, double value) { return number.value() == value; }

 private:
  double value_ = 0;
  Array array_;
};

CT_API Number operator+(const Number& a, const Number& b);
CT_API Number operator-(const Number& a, const Number& b);
CT_API Number operator*(const Number& a, const Number& b);
CT_API Number operator/(const Number& a, const Number& b);
CT_API Number sqrt(const Number& x);
CT_API Number minimum(const Number& a, const Number& b);
/// Computes 1 - base^exponent, precisely even for a base near 1.
CT_API Number one_minus_power(double base, const Number& exponent);

}  // namespace catenary
