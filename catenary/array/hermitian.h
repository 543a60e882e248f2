#pragma once
// Private: adjoints of stacks of matrices.

#include "catenary/array/array.h"

namespace catenary::detail {

/// Returns the conjugate transposes of the matrices; for real matrices a view.
Array adjoint(const Array& a);
/// Returns the Hermitian matrices with these lower triangles. Imaginary parts of the diagonal are ignored.
Array hermitian_of(const Array& a);

}  // namespace catenary::detail
