#pragma once
// Private to functions/: checks and reductions that losses share.

#include "catenary/autograd/operators.h"
#include "catenary/functions/loss.h"

namespace catenary::functions::detail {

/// Throws DtypeError unless both are of one floating dtype, ShapeError unless they are of one shape.
void check_alike(const Array& a, const Array& b, const char* what);
/// The sum of losses, divided by the first extent.
Variable mean_of_rows(const Variable& losses, std::int64_t rows);
/// sum, mean or no; throws ValueError for another one.
Variable reduce_elements(const Variable& losses, Reduce reduce, const char* what);
/// Throws ValueError unless `reduce` is one of two.
void check_reduce(Reduce reduce, Reduce one, Reduce other, const char* what);

}  // namespace catenary::functions::detail
