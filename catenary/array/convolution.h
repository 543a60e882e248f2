#pragma once
// Private to the library: convolutions of arrays in their three passes, each of which is a derivative of the other two.
// Shapes are the caller's to check (functions/convolution.cpp).

#include <cstdint>
#include <optional>

#include "catenary/array/array.h"
#include "catenary/core/fields.h"
#include "catenary/core/window.h"

namespace catenary {

/// How the windows of a convolution lie on its data.
struct Convolving {
  Window window;
  std::int64_t groups = 1;
  Shape extents;  ///< of the data's last axes
  Shape counts;   ///< windows on each of them
};
CT_FIELDS(Convolving, window, groups, extents, counts)

/// y [N, K, counts…] of x [N, C, extents…] and w [K, C / groups, taps…], plus b [K]. It lies in memory as x does:
/// channels last or in C order. DeviceError for operands of several devices, in each of the three. With `result`, y has
/// that dtype: float32 of bfloat16, without bias, where the device multiplies_into_float32.
Array convolve(const Array& x, const Array& w, const Convolving& how, const std::optional<Array>& b = {},
               std::optional<Dtype> result = {});
/// x's gradient for that of y, which is also a transposed convolution: plus b [C]. It lies in memory as y does.
Array convolve_to_data(const Array& y, const Array& w, const Convolving& how, const std::optional<Array>& b = {});
/// w's gradient for that of y. It lies in memory as an array of w's shape with these strides.
Array convolve_to_filter(const Array& x, const Array& y, const Convolving& how, const Strides& like);

}  // namespace catenary
