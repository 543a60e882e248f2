#pragma once
// Special functions of probability theory: error functions, normal distribution, gamma functions.

#include "catenary/autograd/operators.h"

namespace catenary::functions {

/// Error function, 1 - erf(x), exp(x²) erfc(x). (chainer.functions.erf, erfc, erfcx)
CT_API Variable erf(const Variable& x);
CT_API Variable erfc(const Variable& x);
CT_API Variable erfcx(const Variable& x);
/// Inverses of erf and erfc. (chainer.functions.erfinv, erfcinv)
CT_API Variable erfinv(const Variable& x);
CT_API Variable erfcinv(const Variable& x);
/// Cumulative distribution of the standard normal, its inverse and its logarithm. (chainer.functions.ndtr, ndtri,
/// log_ndtr)
CT_API Variable ndtr(const Variable& x);
CT_API Variable ndtri(const Variable& x);
CT_API Variable log_ndtr(const Variable& x);
/// Logarithm of the absolute gamma function, and its derivative. (chainer.functions.lgamma, digamma)
CT_API Variable lgamma(const Variable& x);
CT_API Variable digamma(const Variable& x);
/// n-th derivative of digamma at x; n and x broadcast, the result has x's dtype, and n has no gradient.
/// (chainer.functions.polygamma)
CT_API Variable polygamma(const Variable& n, const Variable& x);
CT_API Variable polygamma(std::int64_t n, const Variable& x);
/// Hurwitz zeta function: sum of (q + k)^-x over k >= 0. x has no gradient. (chainer.functions.zeta)
CT_API Variable zeta(double x, const Variable& q);

}  // namespace catenary::functions
