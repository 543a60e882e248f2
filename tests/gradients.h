#pragma once
// Compares gradients of a function, and of its gradient, with finite differences.

#include <gtest/gtest.h>

#include <vector>

#include "catenary/autograd/gradient_check.h"
#include "catenary/core/config.h"
#include "catenary/device/device.h"

namespace tests {

/// Disables fusion on devices until the end of the scope. A gradient check runs many programs once, and compiling one
/// takes a third of a second on OpenCL, while kernels of single operations are shared by all checks. Random programs
/// and reference vectors test that fused programs give equal results.
[[nodiscard]] inline auto one_by_one_on_devices() {
  return catenary::using_config(catenary::config.fusion, catenary::current_device().is_cpu());
}

inline void check_gradients(const catenary::gradient_check::Function& f, const std::vector<catenary::Array>& x,
                            const catenary::gradient_check::CheckOptions& options = {}) {
  const auto scope = one_by_one_on_devices();
  EXPECT_NO_THROW(catenary::gradient_check::check_backward(f, x, {}, {}, options));
  EXPECT_NO_THROW(catenary::gradient_check::check_double_backward(f, x, {}, {}, {}, options));
}

}  // namespace tests
