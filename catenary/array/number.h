#pragma once
// A number of which perhaps only the device knows the value.

#include "catenary/array/array.h"

namespace catenary {

/// A double, or a 0-d array of float32 that the device computes. Arithmetic of such numbers, and of them with arrays,
/// waits for nothing; to read one that is on the device does.
class CT_API Number {
 public:
  Number(double value = 0) : value_(value) {}
  /// Throws ShapeError unless the array is 0-d, DtypeError unless it is float32.
  explicit Number(Array array);

  bool on_device() const { return array_.defined(); }
  const Array& array() const { return array_; }
  double value() const { return on_device() ? array_.item<double>() : value_; }
  /// What an elementwise operation takes: `array / number`. The number must live as long.
  operator Operand() const { return on_device() ? Operand(array_) : Operand(value_); }
  /// The same number where `device` reads it.
  Number to_device(const Device& device) const { return on_device() ? Number(array_.to_device(device)) : *this; }
  /// Computes what is pending of it.
  const Number& eval() const;
  /// Are both the same double, or one array?
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
/// 1 - base^exponent, exact for a base near 1 on the device, too.
CT_API Number one_minus_power(double base, const Number& exponent);

}  // namespace catenary
