#pragma once
// Gradients of a function, once and twice differentiated, against finite differences.

#include <gtest/gtest.h>

#include <vector>

#include "catenary/autograd/gradient_check.h"
#include "catenary/core/config.h"
#include "catenary/device/device.h"

namespace tests {

/// Until the end of the scope the operations on a device are not fused. A check of gradients runs many programs once,
/// and to compile each takes a third of a second on OpenCL; operations one by one are kernels that all checks share.
/// That fused programs give the same is what the random programs and the reference vectors test.
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
