#pragma once
// Private to functions/: checks and reductions for losses.

#include "catenary/autograd/operators.h"
#include "catenary/functions/loss.h"

namespace catenary::functions::detail {

/// Throws DtypeError unless both have one floating dtype, and ShapeError unless their shapes are equal.
void check_alike(const Array& a, const Array& b, const char* what);
/// Returns the sum of losses divided by the length of the first axis.
Variable mean_of_rows(const Variable& losses, std::int64_t rows);
/// Returns the sum or mean, or losses unchanged for no. Throws ValueError for other values.
Variable reduce_elements(const Variable& losses, Reduce reduce, const char* what);
/// Throws ValueError unless `reduce` is `one` or `other`.
void check_reduce(Reduce reduce, Reduce one, Reduce other, const char* what);

}  // namespace catenary::functions::detail
