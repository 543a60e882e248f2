#pragma once
// Elementwise functions. Each row of ops/elementwise.def is a function here, with the row's description as its
// documentation: they broadcast, promote by NumPy 2's rules with C++ literals weak, and throw DtypeError for a dtype
// that the row refuses, ShapeError for shapes that do not broadcast. An argument may be a temporary: what is pending of
// it becomes part of the loop that takes the result, and is not stored.

#include "catenary/array/elementwise_core.h"
#include "catenary/ops/op_names.h"

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
/// The same into `out`, to whose shape the operands broadcast, and which may share memory with them. Throws DtypeError
/// where the result does not go into out's dtype by same_kind casting. (the `out` of NumPy's ufuncs)
CT_API void apply_to(Target out, ops::Op op, Operand x);
CT_API void apply_to(Target out, ops::Op op, Operand x, Operand y);
/// a[indices] = f(a[indices], value), or f(a[indices]) of one operand, where an element that is named several times
/// takes every value, in their order. Throws DtypeError where a result does not go into a's dtype by same_kind casting.
/// (numpy.ufunc.at; for sums, maxima and minima scatter_add, scatter_max and scatter_min do it at once)
CT_API void apply_at(Target a, ops::Op op, const std::vector<Index>& indices, const std::optional<Operand>& value = {});

/// NumPy's names for functions that have two.
inline Array true_divide(Operand x, Operand y) { return divide(std::move(x), std::move(y)); }
inline Array mod(Operand x, Operand y) { return remainder(std::move(x), std::move(y)); }
inline Array abs(Operand x) { return absolute(std::move(x)); }
inline Array pow(Operand x, Operand y) { return power(std::move(x), std::move(y)); }
inline Array bitwise_not(Operand x) { return invert(std::move(x)); }
inline Array deg2rad(Operand x) { return radians(std::move(x)); }
inline Array rad2deg(Operand x) { return degrees(std::move(x)); }

}  // namespace catenary
