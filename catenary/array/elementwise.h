#pragma once
// Elementwise functions. Each row of ops/elementwise.def is a function here, with the row's description as its
// documentation: they broadcast, promote by NumPy 2's rules with C++ literals weak, and throw DtypeError for a dtype
// that the row refuses, ShapeError for shapes that do not broadcast. An argument may be a temporary: what is pending of
// it becomes part of the loop that takes the result, and is not stored.

#include "catenary/array/array.h"
#include "catenary/ops/op.h"

namespace catenary {

#define CT_PARAMETERS_1 Operand x
#define CT_PARAMETERS_2 Operand x, Operand y
#define CT_OP(name, arity, ...) CT_API Array name(CT_PARAMETERS_##arity);
#include "catenary/ops/elementwise.def"
#undef CT_OP
#undef CT_PARAMETERS_1
#undef CT_PARAMETERS_2

/// An elementwise function by its row, for those who have the row at run time.
CT_API Array apply(ops::Op op, Operand x);
CT_API Array apply(ops::Op op, Operand x, Operand y);

/// x itself, as a new array; bool is refused. (numpy.positive)
CT_API Array positive(const Array& x);
/// NumPy's names for functions that have two.
inline Array true_divide(Operand x, Operand y) { return divide(std::move(x), std::move(y)); }
inline Array mod(Operand x, Operand y) { return remainder(std::move(x), std::move(y)); }
inline Array abs(Operand x) { return absolute(std::move(x)); }
inline Array pow(Operand x, Operand y) { return power(std::move(x), std::move(y)); }
inline Array bitwise_not(Operand x) { return invert(std::move(x)); }
inline Array deg2rad(Operand x) { return radians(std::move(x)); }
inline Array rad2deg(Operand x) { return degrees(std::move(x)); }
/// |x| as a float. (numpy.fabs)
CT_API Array fabs(const Operand& x);
/// x where the condition is true, else y; the three broadcast. (numpy.where)
CT_API Array where(Operand condition, Operand x, Operand y);
/// min(max(x, low), high); an end that is left out does not limit. (numpy.clip)
CT_API Array clip(const Array& x, const std::optional<Operand>& low, const std::optional<Operand>& high);
/// x * 2**exponent, exponent an integer array. (numpy.ldexp)
CT_API Array ldexp(const Operand& x, const Operand& exponent);
/// Mantissa in [0.5, 1) and int32 exponent with x = mantissa * 2**exponent. (numpy.frexp)
CT_API std::pair<Array, Array> frexp(const Operand& x);
/// Fraction and integral part, both with the sign of x. (numpy.modf)
CT_API std::pair<Array, Array> modf(const Operand& x);
/// floor_divide and remainder. (numpy.divmod)
CT_API std::pair<Array, Array> divmod(const Operand& x, const Operand& y);

/// dtype that a binary operation computes in: arrays promote, literals are weak. (numpy.result_type)
CT_API Dtype result_type(const Operand& x, const Operand& y);
/// Writes `value` into every element of `target`, cast and broadcast. (numpy.copyto)
CT_API void copyto(const Array& target, const Operand& value);
/// The same where `mask` is true.
CT_API void copyto(const Array& target, const Operand& value, const Array& where);

}  // namespace catenary
