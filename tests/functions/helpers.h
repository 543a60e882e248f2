#pragma once
// Helpers for tests of functions.

#include <gtest/gtest.h>

#include <vector>

#include "catenary/array/creation.h"
#include "tests/arrays.h"
#include "tests/autograd/helpers.h"
#include "tests/gradients.h"

namespace catenary::test {

/// tests::waves in float64.
inline Array numbers(const Shape& shape, double phase = 1) { return tests::waves(shape, phase, Dtype::float64); }

inline Array sample() { return array<double>({0.5, -1.5, 2, 0.25, -0.75, 1.25}, {2, 3}); }

/// Runs tests::check_gradients on the function of that name.
inline void check(const char* name, const gradient_check::Function& f, const std::vector<Array>& x,
                  const gradient_check::CheckOptions& options = {}) {
  SCOPED_TRACE(name);
  tests::check_gradients(f, x, options);
}
inline void check(const char* name, const gradient_check::Function& f, const std::vector<Array>& x, double tolerance) {
  check(name, f, x, {.atol = tolerance, .rtol = tolerance});
}

}  // namespace catenary::test
