#pragma once
// Elementwise functions, one for each row of ops/elementwise.def. The row's description is the documentation. Arguments
// broadcast and promote by NumPy 2's rules with weak C++ literals. DtypeError is thrown for a dtype that the row
// refuses, ShapeError for shapes that do not broadcast. The pending operations of a temporary argument join the loop
// that uses the result, and the temporary is not stored.

#include "catenary/array/elementwise_core.h"
#include "catenary/ops/op_names.h"

namespace catenary {

#define CT_PARAMETERS_1 Operand x
#define CT_PARAMETERS_2 Operand x, Operand y
#define CT_PARAMETERS_3 Operand x, Operand y, Operand z
#define CT_OP(name, arity, ...) CT_API Array name(CT_PARAMETERS_##arity);
#include "catenary/ops/elementwise.def"
#undef CT_OP
#undef CT_PARAMETERS_1
#undef CT_PARAMETERS_2
#undef CT_PARAMETERS_3

/// Applies an elementwise function that is chosen at run time by its row.
CT_API Array apply(ops::Op op, Operand x);
CT_API Array apply(ops::Op op, Operand x, Operand y);
CT_API Array apply(ops::Op op, Operand x, Operand y, Operand z);
/// Applies an elementwise function and writes the result to `out`. The operands broadcast to the shape of `out` and may
/// share memory with it. Throws DtypeError if same_kind casting does not allow out's dtype. (the `out` of NumPy's
/// ufuncs)
CT_API void apply_to(Target out, ops::Op op, Operand x);
CT_API void apply_to(Target out, ops::Op op, Operand x, Operand y);
/// Computes a[indices] = f(a[indices], value), or f(a[indices]) for unary functions. An element that is named several
/// times is updated by every value, in order. Throws DtypeError if same_kind casting does not allow a's dtype.
/// (numpy.ufunc.at; for sums, maxima and minima scatter_add, scatter_max and scatter_min are faster)
CT_API void apply_at(Target a, ops::Op op, const std::vector<Index>& indices, const std::optional<Operand>& value = {});

/// NumPy's second names for functions that have two.
inline Array true_divide(Operand x, Operand y) { return divide(std::move(x), std::move(y)); }
inline Array mod(Operand x, Operand y) { return remainder(std::move(x), std::move(y)); }
inline Array abs(Operand x) { return absolute(std::move(x)); }
inline Array pow(Operand x, Operand y) { return power(std::move(x), std::move(y)); }
inline Array bitwise_not(Operand x) { return invert(std::move(x)); }
inline Array deg2rad(Operand x) { return radians(std::move(x)); }
inline Array rad2deg(Operand x) { return degrees(std::move(x)); }

}  // namespace catenary
