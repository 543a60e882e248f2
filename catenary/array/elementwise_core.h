#pragma once
// The library's own sources include this file in place of elementwise.h. It declares the rows of ops/elementwise.def
// that these sources call, and the functions that are no rows. A new row then recompiles only the sources that use it.

#include "catenary/array/array.h"

namespace catenary {

CT_API Array negative(Operand x), absolute(Operand x), sign(Operand x), conjugate(Operand x), square(Operand x),
    sqrt(Operand x), rsqrt(Operand x), exp(Operand x), expm1(Operand x), log(Operand x), log2(Operand x),
    log10(Operand x), log1p(Operand x), sin(Operand x), cos(Operand x), tan(Operand x), arcsin(Operand x),
    arccos(Operand x), arctan(Operand x), sinh(Operand x), cosh(Operand x), tanh(Operand x), arcsinh(Operand x),
    arccosh(Operand x), arctanh(Operand x), rint(Operand x), floor(Operand x), ceil(Operand x), trunc(Operand x),
    isnan(Operand x), isinf(Operand x), isfinite(Operand x), logical_not(Operand x), invert(Operand x),
    sigmoid(Operand x), softplus(Operand x), relu(Operand x), erf(Operand x), erfc(Operand x), erfcx(Operand x),
    erfinv(Operand x), erfcinv(Operand x), ndtr(Operand x), ndtri(Operand x), log_ndtr(Operand x), lgamma(Operand x),
    digamma(Operand x);
CT_API Array add(Operand x, Operand y), subtract(Operand x, Operand y), multiply(Operand x, Operand y),
    divide(Operand x, Operand y), floor_divide(Operand x, Operand y), remainder(Operand x, Operand y),
    fmod(Operand x, Operand y), power(Operand x, Operand y), maximum(Operand x, Operand y),
    minimum(Operand x, Operand y), arctan2(Operand x, Operand y), equal(Operand x, Operand y),
    not_equal(Operand x, Operand y), less(Operand x, Operand y), less_equal(Operand x, Operand y),
    greater(Operand x, Operand y), greater_equal(Operand x, Operand y), logical_and(Operand x, Operand y),
    logical_or(Operand x, Operand y), logical_xor(Operand x, Operand y), bitwise_and(Operand x, Operand y),
    bitwise_or(Operand x, Operand y), bitwise_xor(Operand x, Operand y), left_shift(Operand x, Operand y),
    right_shift(Operand x, Operand y), polygamma(Operand x, Operand y), zeta(Operand x, Operand y);

/// Returns x as a new array. Throws DtypeError for bool. (numpy.positive)
CT_API Array positive(const Array& x);
/// Returns |x| as a float. (numpy.fabs)
CT_API Array fabs(const Operand& x);
/// Returns x where the condition is true, else y. The three broadcast. (numpy.where)
CT_API Array where(Operand condition, Operand x, Operand y);
/// Returns min(max(x, low), high). An omitted bound does not limit. (numpy.clip)
CT_API Array clip(const Array& x, const std::optional<Operand>& low, const std::optional<Operand>& high);
/// Returns x * 2**exponent for an integer array of exponents. Throws DtypeError for uint64 exponents, OverflowError for
/// a literal that int32 cannot hold. (numpy.ldexp)
CT_API Array ldexp(const Operand& x, const Operand& exponent);
/// Returns the mantissa in [0.5, 1) and the int32 exponent with x = mantissa * 2**exponent. (numpy.frexp)
CT_API std::pair<Array, Array> frexp(const Operand& x);
/// Returns the fractional and the integral part, both with the sign of x. (numpy.modf)
CT_API std::pair<Array, Array> modf(const Operand& x);
/// Returns floor_divide and remainder. (numpy.divmod)
CT_API std::pair<Array, Array> divmod(const Operand& x, const Operand& y);

/// Returns the dtype that a binary operation computes in: arrays promote, literals are weak. (numpy.result_type)
CT_API Dtype result_type(const Operand& x, const Operand& y);
/// Writes `value` to every element of `target`, cast and broadcast. (numpy.copyto)
CT_API void copyto(Target target, const Operand& value);
/// Writes `value` to the elements of `target` where the mask `where` is true.
CT_API void copyto(Target target, const Operand& value, const Array& where);

}  // namespace catenary
