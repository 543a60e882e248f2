#pragma once
// Facts about special functions of one, two or three arguments, in float64 and float32.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "catenary/ops/special.h"

namespace testing_special {

using namespace catenary::math;
using Wide = long double;
using Arguments = std::array<f64, 3>;

/// Wraps a function of one to three numbers as one of their array.
template <class T>
std::function<Wide(const Arguments&)> of(T (*f)(T)) {
  return [f](const Arguments& x) { return Wide(f(static_cast<T>(x[0]))); };
}
template <class T>
std::function<Wide(const Arguments&)> of(T (*f)(T, T)) {
  return [f](const Arguments& x) { return Wide(f(static_cast<T>(x[0]), static_cast<T>(x[1]))); };
}
template <class T>
std::function<Wide(const Arguments&)> of(T (*f)(T, T, T)) {
  return [f](const Arguments& x) { return Wide(f(static_cast<T>(x[0]), static_cast<T>(x[1]), static_cast<T>(x[2]))); };
}

/// A value from 30-digit arithmetic, and the largest relative errors.
struct Fact {
  const char* name;
  std::function<Wide(const Arguments&)> f64, f32;
  Arguments x;
  Wide expected;
  double limit64, limit32;
};

template <class Facts>
void check(const Facts& facts) {
  for (const Fact& k : facts) {
    const Wide size = std::abs(k.expected);
    EXPECT_LE(std::abs(k.f64(k.x) - k.expected), k.limit64 * size)
        << k.name << '(' << k.x[0] << ", " << k.x[1] << ", " << k.x[2] << ") = " << k.f64(k.x);
    if (size > std::numeric_limits<float>::max() || size < std::numeric_limits<float>::min()) continue;
    EXPECT_LE(std::abs(k.f32(k.x) - k.expected), k.limit32 * size)
        << k.name << '(' << k.x[0] << ", " << k.x[1] << ", " << k.x[2] << ") of floats = " << k.f32(k.x);
  }
}

}  // namespace testing_special
