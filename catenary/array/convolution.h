#pragma once
// Private to the library: the three passes of array convolutions. Each pass is a derivative of the other two. The
// caller checks the shapes (functions/convolution.cpp).

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
  Shape extents;  ///< sizes of the data's last axes
  Shape counts;   ///< windows along each of them
};
CT_FIELDS(Convolving, window, groups, extents, counts)

/// Computes y [N, K, counts…] from x [N, C, extents…], w [K, C / groups, taps…] and the optional bias b [K]. y has the
/// memory order of x: channels-last or C order. With `result`, y has that dtype: float32 from bfloat16, without bias,
/// on devices that multiplies_into_float32. All three passes throw DeviceError for operands on different devices.
Array convolve(const Array& x, const Array& w, const Convolving& how, const std::optional<Array>& b = {},
               std::optional<Dtype> result = {});
/// Computes x's gradient from y's gradient, which is also a transposed convolution, plus the optional bias b [C]. The
/// result has the memory order of y.
Array convolve_to_data(const Array& y, const Array& w, const Convolving& how, const std::optional<Array>& b = {});
/// Computes w's gradient from y's gradient. The result has w's shape and the memory order of the strides `like`.
Array convolve_to_filter(const Array& x, const Array& y, const Convolving& how, const Strides& like);

}  // namespace catenary
