#pragma once
// Fourier transforms of pairs of variables: real and imaginary parts.

#include <utility>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// The discrete Fourier transform along the last axis of x = (real part, imaginary part), as such a pair, for any
/// length. Both parts have one shape and one floating dtype; else ShapeError and DtypeError. (chainer.functions.fft)
CT_API std::pair<Variable, Variable> fft(const std::pair<Variable, Variable>& x);
/// Its inverse: of n elements, it divides by n. (chainer.functions.ifft)
CT_API std::pair<Variable, Variable> ifft(const std::pair<Variable, Variable>& x);

}  // namespace catenary::functions
