#pragma once
// Helpers for tests of links.

#include "catenary/array/random.h"
#include "catenary/autograd/variable.h"
#include "tests/arrays.h"

namespace catenary::test {

/// tests::waves in float32.
inline Array numbers(const Shape& shape, double phase = 0, Dtype dtype = Dtype::float32) {
  return tests::waves(shape, phase, dtype);
}

/// numbers() as a variable without gradient, rounded to a dtype.
inline Variable given(const Shape& shape, double phase = 0, Dtype dtype = Dtype::float32) {
  return Variable(numbers(shape, phase).astype(dtype).eval(), false);
}

/// Normally distributed numbers.
inline Array normal_numbers(const Shape& shape) { return random::standard_normal(shape, {.dtype = Dtype::float32}); }

}  // namespace catenary::test
