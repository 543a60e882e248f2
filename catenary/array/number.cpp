#include "catenary/array/number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "catenary/array/elementwise_core.h"
#include "catenary/core/format.h"

namespace catenary {

namespace {

/// Computes with `host` if both numbers are known on the host, else on the device.
template <class Host, class OnDevice>
Number combine(const Number& a, const Number& b, const Host& host, const OnDevice& device) {
  if (!a.on_device() && !b.on_device()) return host(a.value(), b.value());
  return Number(device(Operand(a), Operand(b)));
}

}  // namespace

Number::Number(Array array) : array_(std::move(array)) {
  if (array_.ndim() != 0) fail<ShapeError>("Number: a 0-d array is expected, not one of shape {}", array_.shape());
  if (array_.dtype() != Dtype::float32)
    fail<DtypeError>("Number: an array of float32 is expected, not of {}", array_.dtype());
}

const Number& Number::eval() const {
  if (on_device()) array_.eval();
  return *this;
}

bool Number::is(const Number& other) const {
  if (on_device() != other.on_device()) return false;
  return on_device() ? &array_.body() == &other.array_.body()
                     : std::bit_cast<std::uint64_t>(value_) == std::bit_cast<std::uint64_t>(other.value_);
}

Number operator+(const Number& a, const Number& b) {
  return combine(
      a, b, [](double x, double y) { return x + y; }, [](const Operand& x, const Operand& y) { return add(x, y); });
}
Number operator-(const Number& a, const Number& b) {
  return combine(
      a, b, [](double x, double y) { return x - y; },
      [](const Operand& x, const Operand& y) { return subtract(x, y); });
}
Number operator*(const Number& a, const Number& b) {
  return combine(
      a, b, [](double x, double y) { return x * y; },
      [](const Operand& x, const Operand& y) { return multiply(x, y); });
}
Number operator/(const Number& a, const Number& b) {
  return combine(
      a, b, [](double x, double y) { return x / y; }, [](const Operand& x, const Operand& y) { return divide(x, y); });
}
Number minimum(const Number& a, const Number& b) {
  return combine(
      a, b, [](double x, double y) { return std::min(x, y); },
      [](const Operand& x, const Operand& y) { return minimum(x, y); });
}
Number sqrt(const Number& x) { return x.on_device() ? Number(sqrt(Operand(x))) : Number(std::sqrt(x.value())); }

Number one_minus_power(double base, const Number& exponent) {
  if (!exponent.on_device()) return 1 - std::pow(base, exponent.value());
  return Number(negative(expm1(multiply(exponent, std::log(base)))));
}

}  // namespace catenary
