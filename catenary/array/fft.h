#pragma once
// Private to the library: Fourier transforms of pairs of arrays, on which functions stand.

#include <optional>
#include <utility>

#include "catenary/array/array.h"

namespace catenary {

/// Discrete Fourier transforms along the last axis, times `scale`: y[f] = scale * sum over t of (re + i im)[t] exp(-2
/// pi i f t / n), or with inverse exp(+…), as a pair of real and imaginary parts. Without `im` it is zero. float32 or
/// float64, 16-bit floats by float32. Throws ShapeError for a last axis without elements or parts that differ,
/// DtypeError and DeviceError; messages name `function`.
std::pair<Array, Array> fourier_transform(const char* function, const Array& re, const std::optional<Array>& im,
                                          bool inverse, double scale);

}  // namespace catenary
