#pragma once
// Products of matrices and small dense linear algebra, with NumPy's names.
//
// Products take every dtype: integers wrap around, bool is "any of and", 16-bit floats are summed in float32 and
// rounded once. What solves or factors computes in float32, float64, complex64 or complex128 (integers become float64)
// on stacks of matrices: all axes but the last two are a batch. QR, singular values, eigenvalues of general matrices,
// and what is made of them, LU factors and determinants of complex matrices too, are computed by the processor in
// float64 or complex128 for every device, and rounded once; CATENARY_TRACE=ops says so. Norms, singular values,
// eigenvalues of hermitian matrices and the like of complex matrices are real.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catenary/array/array.h"

namespace catenary {

/// What matmul does beside multiplying.
struct MatmulOptions {
  std::optional<Array> bias = {};   ///< [n], added to every row of the product as it is stored
  std::optional<Dtype> dtype = {};  ///< of the product, in which sums are kept; that of the operands where not given
};

/// Matrix product over the last two axes, the axes before them broadcast; 1-d operands are a row at the left, a column
/// at the right. int8 or uint8 operands of a product in int32 are multiplied as they are; others are cast to its dtype
/// first. Throws ShapeError where the extents differ, an operand is 0-d or the bias does not fit. numpy.matmul
CT_API Array matmul(const Array& a, const Array& b, const MatmulOptions& options = {});
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
CT_API const Array einsum(std::string_view subscripts, const std::vector<Array>& operands);
template <class... A>
requires(std::same_as<A, Array>&&...) const Array
    einsum(std::string_view subscripts, const Array& first, const A&... others) {
  return einsum(subscripts, std::vector<Array>{first, others...});
}
/// Kronecker product. numpy.kron
CT_API Array kron(const Array& a, const Array& b);
/// Sum of the diagonal of axes (axis1, axis2); sums' result dtypes. numpy.trace
CT_API Array trace(const Array& x, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1);

namespace linalg {

/// Lower triangular L with L Lᴴ = a, from the lower triangle of a. Throws LinAlgError for a matrix that is not positive
/// definite. numpy.linalg.cholesky
CT_API Array cholesky(const Array& a);
/// Inverses. Throws LinAlgError for a singular matrix. numpy.linalg.inv
CT_API Array inv(const Array& a);
/// Determinants. numpy.linalg.det
CT_API Array det(const Array& a);
/// What slogdet gives.
struct SlogdetResult {
  Array sign;
  Array logabsdet;
};
/// Sign, of complex matrices a number of absolute value 1, and logarithm of the absolute value of the determinants.
/// numpy.linalg.slogdet
CT_API SlogdetResult slogdet(const Array& a);
/// x with a x = b; a 1-d b is one column. Throws LinAlgError for a singular matrix. numpy.linalg.solve
CT_API Array solve(const Array& a, const Array& b);
/// x with tensordot(a, x, x.ndim()) = b: a's first axes are b's, the others x's, after `axes` of a have been moved to
/// its end. Throws LinAlgError unless that is as many equations as unknowns. numpy.linalg.tensorsolve
CT_API Array tensorsolve(const Array& a, const Array& b, const std::optional<Axes>& axes = {});
/// The inverse by which tensordot(tensorinv(a, ind), tensordot(a, x, …), ind) is x: of shape a.shape[ind:] +
/// a.shape[:ind]. Throws ValueError for ind < 1, LinAlgError unless both parts have as many elements.
/// numpy.linalg.tensorinv
CT_API Array tensorinv(const Array& a, int ind = 2);
/// What lu gives.
struct LuResult {
  Array lu;      ///< U, and below the diagonal L without its ones
  Array pivots;  ///< int32: row i was exchanged with row pivots(i)
};
/// LU factors of square matrices with partial pivoting, as scipy.linalg.lu_factor.
CT_API LuResult lu(const Array& a);
/// What eigh gives.
struct EighResult {
  Array values;   ///< ascending
  Array vectors;  ///< orthonormal columns: a vectors = vectors * values
};
/// Eigenvalues and eigenvectors of symmetric or hermitian matrices, from the lower triangle of a or, with uplo "U",
/// from the upper. By Jacobi's method, for small matrices. Throws LinAlgError for elements that are not finite.
/// numpy.linalg.eigh
CT_API EighResult eigh(const Array& a, const std::string& uplo = "L");
/// The eigenvalues alone, ascending. numpy.linalg.eigvalsh
CT_API Array eigvalsh(const Array& a, const std::string& uplo = "L");
/// What eig gives.
struct EigResult {
  Array values;   ///< in no order; those of a real matrix that are conjugate to each other are neighbours
  Array vectors;  ///< columns of norm 1 whose largest element is positive: a vectors = vectors * values
};
/// Eigenvalues and eigenvectors of square matrices. Of real ones both are real where no eigenvalue of the stack has an
/// imaginary part, else complex. Throws LinAlgError for elements that are not finite. numpy.linalg.eig
CT_API EigResult eig(const Array& a);
/// The eigenvalues alone. numpy.linalg.eigvals
CT_API Array eigvals(const Array& a);

/// What qr gives.
struct QrResult {
  Array q;  ///< orthonormal columns; undefined in mode "r"
  Array r;  ///< upper triangular
};
/// a = q r by Householder's reflections; the diagonal of r is real, as LAPACK leaves it. With k the smaller extent of
/// a, mode "reduced" gives q [m, k] and r [k, n], "complete" q [m, m] and r [m, n], "r" only r [k, n], "raw" the
/// transposed array of reflections in q and their factors in r, as LAPACK leaves them. Throws ValueError for another
/// mode. numpy.linalg.qr
CT_API QrResult qr(const Array& a, const std::string& mode = "reduced");
/// What svd gives.
struct SvdResult {
  Array u;   ///< orthonormal columns: [m, m], or [m, k]
  Array s;   ///< singular values, descending: [k]
  Array vh;  ///< orthonormal rows: [n, n], or [k, n]
};
/// a = u s vh, k being the smaller extent of a; without full_matrices only k columns of u and rows of vh, without
/// compute_uv none (they are undefined). hermitian: a is hermitian and only its lower triangle is read. Throws
/// LinAlgError for elements that are not finite. numpy.linalg.svd
CT_API SvdResult svd(const Array& a, bool full_matrices = true, bool compute_uv = true, bool hermitian = false);
/// Singular values, descending. numpy.linalg.svdvals
CT_API Array svdvals(const Array& a);
/// The inverse of Moore and Penrose [n, m]. Singular values up to `rcond` (1e-15 when not given) times the largest
/// count as 0. numpy.linalg.pinv
CT_API Array pinv(const Array& a, std::optional<double> rcond = {}, bool hermitian = false);
/// How many singular values (int64) are larger than `tol`, or than `rtol` times the largest one; rtol is the larger
/// extent times the dtype's epsilon when neither is given. Of fewer than two dimensions 1, or 0 where all is 0. Throws
/// ValueError where both are given. numpy.linalg.matrix_rank
CT_API Array matrix_rank(const Array& a, std::optional<double> tol = {}, bool hermitian = false,
                         std::optional<double> rtol = {});
/// What lstsq gives.
struct LstsqResult {
  Array x;                ///< the shortest x with the smallest |b - a x|: [n] or [n, columns of b]
  Array residuals;        ///< |b - a x|² of each column; empty where the rank is below n or m <= n
  std::int64_t rank = 0;  ///< of a
  Array singular_values;  ///< of a
};
/// Least squares for a [m, n] and b [m] or [m, columns]. Singular values up to `rcond` (the dtype's epsilon times the
/// larger extent when not given) times the largest count as 0. Throws LinAlgError for other shapes. numpy.linalg.lstsq
CT_API LstsqResult lstsq(const Array& a, const Array& b, std::optional<double> rcond = {});

/// Options of solve_triangular.
struct SolveTriangularOptions {
  bool trans = false;          ///< solves with the transposed a
  bool lower = false;          ///< reads the lower triangle of a, else the upper one
  bool unit_diagonal = false;  ///< takes the diagonal to be 1
  bool conjugate = false;      ///< solves with the conjugate of a; with trans with the adjoint
};
/// x with a x = b, of which only a triangle of a is read; shapes as solve. Throws LinAlgError where the diagonal has a
/// 0. scipy.linalg.solve_triangular
CT_API Array solve_triangular(const Array& a, const Array& b, const SolveTriangularOptions& options = {});
/// The product of two or more matrices, in the order that takes the fewest multiplications; the first may be a row and
/// the last a column (1-d). Throws ValueError for fewer than two. numpy.linalg.multi_dot
CT_API Array multi_dot(const std::vector<Array>& arrays);

/// The n-th power; n < 0 of the inverse. numpy.linalg.matrix_power
CT_API Array matrix_power(const Array& a, std::int64_t n);

/// The order of a norm: a number, "fro" (Frobenius) or "nuc" (nuclear), or none. Throws ValueError for another word.
class CT_API NormOrder {
 public:
  enum class Kind : std::uint8_t { none, number, frobenius, nuclear };
  NormOrder() = default;
  NormOrder(std::nullopt_t) {}
  NormOrder(double number) : kind_(Kind::number), number_(number) {}
  NormOrder(const std::optional<double>& number) {
    if (number) *this = *number;
  }
  NormOrder(const std::string& name);
  NormOrder(const char* name) : NormOrder(std::string(name)) {}
  Kind kind() const { return kind_; }
  double number() const { return number_; }
  /// As it was given, for messages.
  std::string str() const;

 private:
  Kind kind_ = Kind::none;
  double number_ = 0;
};

/// Norm over `axis`. Without `ord` the square root of the sum of squares: the 2-norm of vectors, Frobenius' norm of
/// matrices. With it the norm of that order of vectors (one axis; 0 counts what is not 0, infinities give max and min
/// of |x|) or of matrices (two axes; 1, -1, inf, -inf: largest or smallest sum of a column or row; 2, -2, "nuc":
/// largest, smallest, sum of the singular values). A 1-d or 2-d x needs no axis. Throws ValueError for other orders.
/// numpy.linalg.norm
CT_API Array norm(const Array& x, const NormOrder& ord = {}, const AxisArg& axis = {}, bool keepdims = false);
/// The condition number: norm of x times norm of its inverse, infinite for a singular matrix. Without p, for 2 and -2
/// the quotient of singular values, of matrices that need not be square. Throws LinAlgError for empty matrices.
/// numpy.linalg.cond
CT_API Array cond(const Array& x, const NormOrder& p = {});

}  // namespace linalg
}  // namespace catenary
