#pragma once
// Products of matrices and small dense linear algebra, with NumPy's names.
//
// Products take every dtype: integers wrap around, bool is "any of and", 16-bit floats are summed in float32 and
// rounded once. What solves or factors computes in float32 or float64 (integers become float64) on stacks of square
// matrices.

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "catenary/array/array.h"

namespace catenary {

/// Matrix product over the last two axes, the axes before them broadcast; 1-d operands are a row at the left, a column
/// at the right. Throws ShapeError where the extents differ or an operand is 0-d. numpy.matmul
CT_API Array matmul(const Array& a, const Array& b);
/// Sum over the last axis of a and the second to last of b; a product where one is 0-d. numpy.dot
CT_API Array dot(const Array& a, const Array& b);
/// Sum of products of the flattened arrays: 0-d. numpy.vdot
CT_API Array vdot(const Array& a, const Array& b);
/// Sum over the last axes of both. numpy.inner
CT_API Array inner(const Array& a, const Array& b);
/// Products of all pairs of elements: [a.size(), b.size()]. numpy.outer
CT_API Array outer(const Array& a, const Array& b);
/// Sum over the last `axes` axes of a and the first of b, in order. numpy.tensordot
CT_API Array tensordot(const Array& a, const Array& b, int axes = 2);
/// Sum over a_axes of a and b_axes of b, pairwise.
CT_API Array tensordot(const Array& a, const Array& b, const Axes& a_axes, const Axes& b_axes);
/// Einstein's sums: letters name axes, "..." stands for broadcast ones, a letter twice in an operand is its diagonal;
/// without "->" the result has the letters that occur once, in alphabetical order. Several operands are contracted from
/// left to right. Throws ValueError for subscripts that make no sense and ShapeError where they do not fit.
/// numpy.einsum
CT_API Array einsum(std::string_view subscripts, const std::vector<Array>& operands);
template <class... A>
requires(std::same_as<A, Array>&&...) Array
    einsum(std::string_view subscripts, const Array& first, const A&... others) {
  return einsum(subscripts, std::vector<Array>{first, others...});
}
/// Kronecker product. numpy.kron
CT_API Array kron(const Array& a, const Array& b);
/// Sum of the diagonal of axes (axis1, axis2); sums' result dtypes. numpy.trace
CT_API Array trace(const Array& x, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1);

namespace linalg {

/// Lower triangular L with L Lᵀ = a, from the lower triangle of a. Throws ValueError for a matrix that is not positive
/// definite. numpy.linalg.cholesky
CT_API Array cholesky(const Array& a);
/// Inverses. Throws ValueError for a singular matrix. numpy.linalg.inv
CT_API Array inv(const Array& a);
/// Determinants. numpy.linalg.det
CT_API Array det(const Array& a);
/// What slogdet gives.
struct SlogdetResult {
  Array sign;
  Array logabsdet;
};
/// Sign and logarithm of the absolute value of the determinants. numpy.linalg.slogdet
CT_API SlogdetResult slogdet(const Array& a);
/// x with a x = b; a 1-d b is one column. Throws ValueError for a singular matrix. numpy.linalg.solve
CT_API Array solve(const Array& a, const Array& b);
/// What lu gives.
struct LuResult {
  Array lu;      ///< U, and below the diagonal L without its ones
  Array pivots;  ///< int32: row i was exchanged with row pivots(i)
};
/// LU factors with partial pivoting, as scipy.linalg.lu_factor.
CT_API LuResult lu(const Array& a);
/// What eigh gives.
struct EighResult {
  Array values;   ///< ascending
  Array vectors;  ///< orthonormal columns: a vectors = vectors * values
};
/// Eigenvalues and eigenvectors of symmetric matrices, from the lower triangle of a. By Jacobi's method,
/// for small matrices. Throws ValueError for elements that are not finite. numpy.linalg.eigh
CT_API EighResult eigh(const Array& a);
/// The n-th power; n < 0 of the inverse. numpy.linalg.matrix_power
CT_API Array matrix_power(const Array& a, std::int64_t n);

/// Norm over `axis`. Without `ord` the square root of the sum of squares: the 2-norm of vectors, Frobenius' norm of
/// matrices. With it the norm of that order of vectors (one axis; 0 counts what is not 0, infinities give max and min
/// of |x|) or of matrices (two axes; 1, -1, inf, -inf: largest or smallest sum of a column or row). A 1-d or 2-d x
/// needs no axis. Throws ValueError for other orders of matrices. numpy.linalg.norm
CT_API Array norm(const Array& x, std::optional<double> ord = {}, const AxisArg& axis = {}, bool keepdims = false);

}  // namespace linalg
}  // namespace catenary
