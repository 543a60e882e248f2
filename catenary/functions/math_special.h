#pragma once
// Special functions of probability theory: error functions, normal distribution, gamma functions.

#include "catenary/autograd/operators.h"

namespace catenary::functions {

/// Compute the error function, 1 - erf(x), and exp(x²) erfc(x). (chainer.functions.erf, erfc, erfcx)
CT_API Variable erf(const Variable& x);
CT_API Variable erfc(const Variable& x);
CT_API Variable erfcx(const Variable& x);
/// Compute the inverses of erf and erfc. (chainer.functions.erfinv, erfcinv)
CT_API Variable erfinv(const Variable& x);
CT_API Variable erfcinv(const Variable& x);
/// Compute the cumulative distribution of the standard normal, its inverse and its logarithm. (chainer.functions.ndtr,
/// ndtri, log_ndtr)
CT_API Variable ndtr(const Variable& x);
CT_API Variable ndtri(const Variable& x);
CT_API Variable log_ndtr(const Variable& x);
/// Compute the logarithm of the absolute gamma function, and its derivative. (chainer.functions.lgamma, digamma)
CT_API Variable lgamma(const Variable& x);
CT_API Variable digamma(const Variable& x);
/// Computes the n-th derivative of digamma at x. n and x broadcast, the result has x's dtype, and n has no gradient.
/// (chainer.functions.polygamma)
CT_API Variable polygamma(const Variable& n, const Variable& x);
CT_API Variable polygamma(std::int64_t n, const Variable& x);
/// Computes the Hurwitz zeta function: the sum of (q + k)^-x over k >= 0. x has no gradient. (chainer.functions.zeta)
CT_API Variable zeta(double x, const Variable& q);

}  // namespace catenary::functions
