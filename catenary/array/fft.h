#pragma once
// Discrete Fourier transforms with the names and conventions of numpy.fft.

#include <optional>
#include <utility>

#include "catenary/array/array.h"

namespace catenary {

namespace detail {
/// Computes discrete Fourier transforms along the last axis, times `scale`: y[f] = scale * sum over t of (re + i im)[t]
/// exp(-2 pi i f t / n), or exp(+…) with `inverse`. Returns the real and the imaginary part. A missing `im` counts as
/// zero. Takes float32 or float64, and 16-bit floats by way of float32. Throws ShapeError for an empty last axis or
/// parts of different shapes, DtypeError and DeviceError; messages name `function`.
std::pair<Array, Array> fourier_transform(const char* function, const Array& re, const std::optional<Array>& im,
                                          bool inverse, double scale);
}  // namespace detail

namespace fft {

/// Which transforms are divided: the inverse by n (backward), both by sqrt(n) (ortho), or the forward one by n.
/// (NumPy's `norm`)
enum class Norm : std::uint8_t { backward, ortho, forward };

/// Options of a transform along one axis.
struct Options {
  std::optional<std::int64_t> n = {};  ///< length of the transform: x is cut or padded with zeros to it
  int axis = -1;
  Norm norm = Norm::backward;
};

// Transforms of integers and float64 are complex128 (complex64 on a device without float64), of other floats complex64.
// irfft and hfft return a 16-bit float's own dtype, as in NumPy. All functions throw ShapeError for an invalid axis and
// ValueError for a length below 1.

/// Computes the transform of one axis: y[f] = sum over t of x[t] exp(-2 pi i f t / n). (numpy.fft.fft)
CT_API Array fft(const Array& x, const Options& options = {});
/// Computes the inverse of fft. (numpy.fft.ifft)
CT_API Array ifft(const Array& x, const Options& options = {});
/// Computes the first n / 2 + 1 elements of the transform of real numbers. The remaining elements are their conjugates.
/// Throws DtypeError for complex numbers. (numpy.fft.rfft)
CT_API Array rfft(const Array& x, const Options& options = {});
/// Computes the inverse of rfft: n real numbers, by default 2 (m - 1) from m elements. (numpy.fft.irfft)
CT_API Array irfft(const Array& x, const Options& options = {});
/// Computes the real transform of a Hermitian-symmetric signal from its first half. (numpy.fft.hfft)
CT_API Array hfft(const Array& x, const Options& options = {});
/// Computes the inverse of hfft. (numpy.fft.ihfft)
CT_API Array ihfft(const Array& x, const Options& options = {});

/// Options of a transform along several axes.
struct OptionsN {
  std::optional<Shape> s = {};    ///< lengths along the axes
  std::optional<Axes> axes = {};  ///< default: the last s.size() axes, or all axes without s
  Norm norm = Norm::backward;
};
/// Transform several axes, one after another. (numpy.fft.fftn, ifftn)
CT_API Array fftn(const Array& x, const OptionsN& options = {});
CT_API Array ifftn(const Array& x, const OptionsN& options = {});
/// Transform real numbers: rfft along the last of the axes and fft along the others, and the inverse. (numpy.fft.rfftn,
/// irfftn)
CT_API Array rfftn(const Array& x, const OptionsN& options = {});
CT_API Array irfftn(const Array& x, const OptionsN& options = {});

/// Returns the frequencies of a transform of n samples with spacing d: 0, 1, …, -2, -1 times 1 / (n d).
/// (numpy.fft.fftfreq)
CT_API Array fftfreq(std::int64_t n, double d = 1);
/// Returns the frequencies of rfft. (numpy.fft.rfftfreq)
CT_API Array rfftfreq(std::int64_t n, double d = 1);
/// Move the frequency 0 to the middle of the axes, and back. An axis that is named twice is shifted twice. Throw
/// ShapeError for an invalid axis. (numpy.fft.fftshift, ifftshift)
CT_API Array fftshift(const Array& x, const AxisArg& axes = {});
CT_API Array ifftshift(const Array& x, const AxisArg& axes = {});

}  // namespace fft
}  // namespace catenary
