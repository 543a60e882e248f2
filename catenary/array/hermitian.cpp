#include "catenary/array/hermitian.h"

#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/view.h"

namespace catenary::detail {

Array adjoint(const Array& a) {
  const Array transposed = matrix_transpose(a);
  return is_complex(a.dtype()) ? conjugate(transposed) : transposed;
}

Array hermitian_of(const Array& a) {
  const Array whole = tril(a) + adjoint(tril(a, -1));
  if (!is_complex(a.dtype())) return whole;
  const Array written = whole.copy();
  copyto(imag(diagonal(written, 0, -2, -1)), 0);
  return written;
}

}  // namespace catenary::detail
