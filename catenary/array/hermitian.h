#pragma once
// Private: adjoints of stacks of matrices.

#include "catenary/array/array.h"

namespace catenary::detail {

/// The conjugate transposed matrices; of real ones views.
Array adjoint(const Array& a);
/// The hermitian matrices of these lower triangles; what is imaginary on the diagonal does not count.
Array hermitian_of(const Array& a);

}  // namespace catenary::detail
