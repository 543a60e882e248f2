#pragma once
// Fourier transforms of pairs of variables: real and imaginary parts.

#include <utility>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// Returns the discrete Fourier transform along the last axis of x = (real part, imaginary part), as such a pair. Any
/// length is allowed. Throws ShapeError and DtypeError unless both parts have one shape and one floating dtype.
/// (chainer.functions.fft)
CT_API std::pair<Variable, Variable> fft(const std::pair<Variable, Variable>& x);
/// Returns the inverse transform, divided by the number of elements n. (chainer.functions.ifft)
CT_API std::pair<Variable, Variable> ifft(const std::pair<Variable, Variable>& x);

}  // namespace catenary::functions
