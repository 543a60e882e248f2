#pragma once
// Matrix products and small dense linear algebra, with NumPy's names.
//
// Products take every dtype. Integers wrap around, bool means "any of and", and 16-bit floats are summed in float32 and
// rounded once. Solvers and factorisations work on stacks of matrices: all axes but the last two are a batch. They
// compute in float32, float64, complex64 or complex128; integers become float64. Norms, singular values and eigenvalues
// of Hermitian matrices are real.
//
// On the CPU, LAPACK computes if it is installed (OpenBLAS, MKL or another library; see device/libraries.h).
//
// Some functions run on the CPU in float64 or complex128, whatever the device, and round once: QR, singular values,
// eigenvalues of general matrices, all functions based on these, and LU factors and determinants of complex matrices.
// CATENARY_TRACE=ops reports them.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catenary/array/array.h"

namespace catenary {

/// Options of matmul.
struct MatmulOptions {
  std::optional<Array> bias = {};   ///< [n], added to every row of the product as it is stored
  std::optional<Dtype> dtype = {};  ///< of the product and its sums; default: that of the operands
};

/// Computes the matrix product over the last two axes; the axes before them broadcast. A 1-d a is a row, a 1-d b is a
/// column. int8 or uint8 operands of an int32 product are multiplied without a cast; other operands are first cast to
/// the product's dtype. Throws ShapeError if the sizes do not match, an operand is 0-d or the bias does not fit.
/// numpy.matmul
CT_API Array matmul(const Array& a, const Array& b, const MatmulOptions& options = {});
/// Sums products over the last axis of a and the second to last of b. If one is 0-d, multiplies elementwise. numpy.dot
CT_API Array dot(const Array& a, const Array& b);
/// Sums the products of the flattened arrays: 0-d. numpy.vdot
CT_API Array vdot(const Array& a, const Array& b);
/// Sums products over the last axes of both arrays. numpy.inner
CT_API Array inner(const Array& a, const Array& b);
/// Computes the products of all pairs of elements: [a.size(), b.size()]. numpy.outer
CT_API Array outer(const Array& a, const Array& b);
/// Sums products over the last `axes` axes of a and the first `axes` axes of b, in order. numpy.tensordot
CT_API Array tensordot(const Array& a, const Array& b, int axes = 2);
/// Sums products over a_axes of a and b_axes of b, pairwise.
CT_API Array tensordot(const Array& a, const Array& b, const Axes& a_axes, const Axes& b_axes);
/// Computes Einstein sums. Letters name axes, "..." stands for broadcast axes, and a letter twice in an operand takes
/// its diagonal. Without "->" the result has the letters that occur once, in alphabetical order. Several operands are
/// contracted from left to right. Throws ValueError for invalid subscripts, ShapeError for operands that do not fit
/// them. numpy.einsum
CT_API const Array einsum(std::string_view subscripts, const std::vector<Array>& operands);
template <class... A>
requires(std::same_as<A, Array>&&...) const Array
    einsum(std::string_view subscripts, const Array& first, const A&... others) {
  return einsum(subscripts, std::vector<Array>{first, others...});
}
/// Computes the Kronecker product. numpy.kron
CT_API Array kron(const Array& a, const Array& b);
/// Sums the diagonals of axes (axis1, axis2). The result dtype is that of sum. numpy.trace
CT_API Array trace(const Array& x, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1);

namespace linalg {

/// Computes the lower triangular L with L Lᴴ = a, from the lower triangle of a. Throws LinAlgError for a matrix that is
/// not positive definite. numpy.linalg.cholesky
CT_API Array cholesky(const Array& a);
/// Computes inverses. Throws LinAlgError for a singular matrix. numpy.linalg.inv
CT_API Array inv(const Array& a);
/// Computes determinants. numpy.linalg.det
CT_API Array det(const Array& a);
/// The result of slogdet.
struct SlogdetResult {
  Array sign;
  Array logabsdet;
};
/// Computes the sign of the determinants and the logarithm of their absolute value. The sign for a complex matrix is a
/// number of absolute value 1. numpy.linalg.slogdet
CT_API SlogdetResult slogdet(const Array& a);
/// Solves a x = b for x. A 1-d b is a single column. Throws LinAlgError for a singular matrix. numpy.linalg.solve
CT_API Array solve(const Array& a, const Array& b);
/// Solves tensordot(a, x, x.ndim()) = b for x. `axes` of a are first moved to its end. The first axes of a are then
/// those in b, the others those in x. Throws LinAlgError unless there are as many equations as unknowns.
/// numpy.linalg.tensorsolve
CT_API Array tensorsolve(const Array& a, const Array& b, const std::optional<Axes>& axes = {});
/// Computes the inverse for which tensordot(tensorinv(a, ind), tensordot(a, x, …), ind) is x. Its shape is
/// a.shape[ind:] + a.shape[:ind]. Throws ValueError for ind < 1, LinAlgError unless both parts have as many elements.
/// numpy.linalg.tensorinv
CT_API Array tensorinv(const Array& a, int ind = 2);
/// The result of lu.
struct LuResult {
  Array lu;      ///< U on and above the diagonal, L without its unit diagonal below it
  Array pivots;  ///< int32: row i was exchanged with row pivots(i)
};
/// Computes LU factors of square matrices with partial pivoting. scipy.linalg.lu_factor
CT_API LuResult lu(const Array& a);
/// The result of eigh.
struct EighResult {
  Array values;   ///< ascending
  Array vectors;  ///< orthonormal columns: a vectors = vectors * values
};
/// Computes eigenvalues and eigenvectors of symmetric or Hermitian matrices. Reads the lower triangle of a, or the
/// upper one with uplo "U". GPUs use Jacobi's method, which suits small matrices. Throws LinAlgError for non-finite
/// elements. numpy.linalg.eigh
CT_API EighResult eigh(const Array& a, const std::string& uplo = "L");
/// Computes the eigenvalues alone, ascending, as eigh. numpy.linalg.eigvalsh
CT_API Array eigvalsh(const Array& a, const std::string& uplo = "L");
/// The result of eig.
struct EigResult {
  Array values;   ///< unordered; conjugate eigenvalues of a real matrix are neighbours
  Array vectors;  ///< columns of norm 1 with a positive largest element: a vectors = vectors * values
};
/// Computes eigenvalues and eigenvectors of square matrices. For real matrices both are real if no eigenvalue of the
/// stack has an imaginary part, else complex. Throws LinAlgError for non-finite elements. numpy.linalg.eig
CT_API EigResult eig(const Array& a);
/// Computes the eigenvalues alone, as eig. numpy.linalg.eigvals
CT_API Array eigvals(const Array& a);

/// The result of qr.
struct QrResult {
  Array q;  ///< orthonormal columns; undefined in mode "r"
  Array r;  ///< upper triangular
};
/// Computes a = q r by Householder reflections. The diagonal of r is real, as in LAPACK. With k = min(m, n), the modes
/// return:
/// - "reduced": q [m, k] and r [k, n]
/// - "complete": q [m, m] and r [m, n]
/// - "r": only r [k, n]
/// - "raw": the transposed array of reflections in q and their factors in r, as in LAPACK
/// Throws ValueError for another mode. numpy.linalg.qr
CT_API QrResult qr(const Array& a, const std::string& mode = "reduced");
/// The result of svd.
struct SvdResult {
  Array u;   ///< orthonormal columns: [m, m], or [m, k]
  Array s;   ///< singular values, descending: [k]
  Array vh;  ///< orthonormal rows: [n, n], or [k, n]
};
/// Computes the singular value decomposition a = u s vh, with k = min(m, n). Without full_matrices, u has k columns and
/// vh has k rows. Without compute_uv, u and vh are undefined. With hermitian, a must be Hermitian and only its lower
/// triangle is read. Throws LinAlgError for non-finite elements. numpy.linalg.svd
CT_API SvdResult svd(const Array& a, bool full_matrices = true, bool compute_uv = true, bool hermitian = false);
/// Computes the singular values, descending. numpy.linalg.svdvals
CT_API Array svdvals(const Array& a);
/// Computes the Moore-Penrose inverse [n, m]. Singular values up to `rcond` (default: 1e-15) times the largest count as
/// 0. numpy.linalg.pinv
CT_API Array pinv(const Array& a, std::optional<double> rcond = {}, bool hermitian = false);
/// Counts the singular values (int64) above `tol`, or above `rtol` times the largest one. The default rtol is max(m, n)
/// times the dtype's epsilon. For fewer than two dimensions the rank is 0 if all elements are 0, else 1. Throws
/// ValueError if both are given. numpy.linalg.matrix_rank
CT_API Array matrix_rank(const Array& a, std::optional<double> tol = {}, bool hermitian = false,
                         std::optional<double> rtol = {});
/// The result of lstsq.
struct LstsqResult {
  Array x;                ///< the shortest x with the smallest |b - a x|: [n] or [n, columns of b]
  Array residuals;        ///< |b - a x|² of each column; empty if rank < n or m <= n
  std::int64_t rank = 0;  ///< the rank of a
  Array singular_values;  ///< the singular values of a
};
/// Solves least squares for a [m, n] and b [m] or [m, columns]. Singular values up to `rcond` times the largest count
/// as 0; rcond defaults to max(m, n) times the dtype's epsilon. Throws LinAlgError for other shapes. numpy.linalg.lstsq
CT_API LstsqResult lstsq(const Array& a, const Array& b, std::optional<double> rcond = {});

/// Options of solve_triangular.
struct SolveTriangularOptions {
  bool trans = false;          ///< solves with the transpose of a
  bool lower = false;          ///< reads the lower triangle of a instead of the upper one
  bool unit_diagonal = false;  ///< takes the diagonal to be 1
  bool conjugate = false;      ///< solves with the conjugate of a, or with its adjoint if trans is set, too
};
/// Solves a x = b for x, reading only one triangle of a. Shapes are as in solve. Throws LinAlgError for a 0 on the
/// diagonal. scipy.linalg.solve_triangular
CT_API Array solve_triangular(const Array& a, const Array& b, const SolveTriangularOptions& options = {});
/// Multiplies two or more matrices in the order that needs the fewest multiplications. The first may be a row and the
/// last a column (1-d). Throws ValueError for fewer than two. numpy.linalg.multi_dot
CT_API Array multi_dot(const std::vector<Array>& arrays);

/// Computes the n-th power; for n < 0, powers of the inverse. numpy.linalg.matrix_power
CT_API Array matrix_power(const Array& a, std::int64_t n);

/// The order of a norm: none, a number, "fro" (Frobenius) or "nuc" (nuclear). Throws ValueError for another word.
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
  /// Returns the order as the user gave it, for messages.
  std::string str() const;

 private:
  Kind kind_ = Kind::none;
  double number_ = 0;
};

/// Computes the norm over `axis`, by default the square root of the sum of squares: the 2-norm of vectors and the
/// Frobenius norm of matrices. With `ord` and one axis, the vector norm: 0 counts nonzero elements, infinities give max
/// and min of |x|. With `ord` and two axes, the matrix norm: 1, -1, inf and -inf give the largest or smallest sum of a
/// column or row; 2, -2 and "nuc" give the largest, the smallest and the sum of the singular values. A 1-d or 2-d x
/// needs no axis. Throws ValueError for other orders. numpy.linalg.norm
CT_API Array norm(const Array& x, const NormOrder& ord = {}, const AxisArg& axis = {}, bool keepdims = false);
/// Computes the condition number: the norm of x times the norm of its inverse, infinite for a singular matrix. By
/// default and for 2 and -2 it is the ratio of singular values, and matrices need not be square. Throws LinAlgError for
/// empty matrices. numpy.linalg.cond
CT_API Array cond(const Array& x, const NormOrder& p = {});

}  // namespace linalg
}  // namespace catenary
