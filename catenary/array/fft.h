#pragma once
// Discrete Fourier transforms with numpy.fft's names and conventions.

#include <optional>
#include <utility>

#include "catenary/array/array.h"

namespace catenary {

namespace detail {
/// Discrete Fourier transforms along the last axis, times `scale`: y[f] = scale * sum over t of (re + i im)[t] exp(-2
/// pi i f t / n), or with inverse exp(+…), as a pair of real and imaginary parts. Without `im` it is zero. float32 or
/// float64, 16-bit floats by float32. Throws ShapeError for a last axis without elements or parts that differ,
/// DtypeError and DeviceError; messages name `function`.
std::pair<Array, Array> fourier_transform(const char* function, const Array& re, const std::optional<Array>& im,
                                          bool inverse, double scale);
}  // namespace detail

namespace fft {

/// Which way is divided by n: the inverse one, each by its root, or the one that is not inverse. (NumPy's `norm`)
enum class Norm : std::uint8_t { backward, ortho, forward };

/// How one axis is transformed.
struct Options {
  std::optional<std::int64_t> n = {};  ///< its length: elements behind are left out, what is missing is 0
  int axis = -1;
  Norm norm = Norm::backward;
};

// Of integers and of float64 the transforms are complex128 (complex64 on a device without float64), of other floats
// complex64; irfft and hfft give a 16-bit float's own dtype back, as NumPy's. All throw ShapeError for an axis that is
// not there, ValueError for a length below 1.

/// The transform of one axis: y[f] = sum over t of x[t] exp(-2 pi i f t / n). (numpy.fft.fft)
CT_API Array fft(const Array& x, const Options& options = {});
/// Its inverse. (numpy.fft.ifft)
CT_API Array ifft(const Array& x, const Options& options = {});
/// The first n / 2 + 1 elements of the transform of real numbers: the others are their conjugates. Throws DtypeError
/// for complex numbers. (numpy.fft.rfft)
CT_API Array rfft(const Array& x, const Options& options = {});
/// Its inverse: n real numbers, 2 (m - 1) from m elements where nothing is said. (numpy.fft.irfft)
CT_API Array irfft(const Array& x, const Options& options = {});
/// The real transform of what has conjugates at mirrored places, of which half is given. (numpy.fft.hfft)
CT_API Array hfft(const Array& x, const Options& options = {});
/// Its inverse. (numpy.fft.ihfft)
CT_API Array ihfft(const Array& x, const Options& options = {});

/// How several axes are transformed.
struct OptionsN {
  std::optional<Shape> s = {};    ///< their lengths
  std::optional<Axes> axes = {};  ///< the last s.size() ones, or all, where nothing is said
  Norm norm = Norm::backward;
};
/// The transforms of several axes, one after the other. (numpy.fft.fftn and its like)
CT_API Array fftn(const Array& x, const OptionsN& options = {});
CT_API Array ifftn(const Array& x, const OptionsN& options = {});
/// rfft along the last of the axes, fft along the others; and the inverse.
CT_API Array rfftn(const Array& x, const OptionsN& options = {});
CT_API Array irfftn(const Array& x, const OptionsN& options = {});

/// The frequencies of a transform of n samples that are d apart: 0, 1, …, -2, -1 times 1 / (n d). (numpy.fft.fftfreq)
CT_API Array fftfreq(std::int64_t n, double d = 1);
/// Those of rfft. (numpy.fft.rfftfreq)
CT_API Array rfftfreq(std::int64_t n, double d = 1);
/// The frequency 0 moved to the middle of the axes, and back; of an axis that is named twice it moves twice. Throws
/// ShapeError for an axis that is not there. (numpy.fft.fftshift, ifftshift)
CT_API Array fftshift(const Array& x, const AxisArg& axes = {});
CT_API Array ifftshift(const Array& x, const AxisArg& axes = {});

}  // namespace fft
}  // namespace catenary
