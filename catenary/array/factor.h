#pragma once
// Private to the library: decompositions of one C-ordered matrix of double or std::complex<double> in host memory.

#include <complex>
#include <cstdint>
#include <vector>

namespace catenary::factor {

/// A row-major matrix in foreign memory.
template <class T>
struct Matrix {
  T* data = nullptr;
  std::int64_t rows = 0, columns = 0;

  T* row(std::int64_t i) const { return data + i * columns; }
};

/// Computes the Householder QR decomposition with LAPACK's signs. R, with a real diagonal, is stored on and above the
/// diagonal. Each column below the diagonal holds the vector v, without its leading 1, of a reflection H = I - tau v
/// vᴴ; the product of the reflections is Q. `tau` receives min(rows, columns) numbers.
template <class T>
void qr(const Matrix<T>& a, T* tau);
/// Computes the first q.columns columns of Q from the reflections that `qr` stored in a.
template <class T>
void qr_columns(const Matrix<T>& a, const T* tau, const Matrix<T>& q);

/// Computes the singular values of a matrix with rows >= columns, largest first, into s (a.columns numbers); a is
/// destroyed. Rows of ut and vt become the left and right singular vectors: a = Σ s u vᴴ. ut may have up to a.rows
/// rows, and both may be empty. Uses bidiagonalisation and implicit QR steps (Golub and Kahan 1965), with zero-shift
/// steps by Demmel and Kahan (1990). Returns false if the steps do not converge, for example because of non-finite
/// elements.
template <class T>
bool svd(const Matrix<T>& a, double* s, const Matrix<T>& ut, const Matrix<T>& vt);

/// Computes the eigenvalues w of the Hermitian matrix with the lower triangle of a, ascending; a is destroyed. Rows of
/// vt, which may be empty, become the eigenvectors. Uses a tridiagonal form and QR steps (Golub and Van Loan, Matrix
/// Computations, 8.3). Returns false for elements that are not finite or steps that do not converge.
template <class T>
bool eigh(const Matrix<T>& a, double* w, const Matrix<T>& vt);

/// Computes the LU factors of a square matrix in place, with partial pivoting: U on and above the diagonal, L without
/// its unit diagonal below it. Row i was exchanged with row pivots[i]. As in LAPACK, the pivot has the largest |re| +
/// |im|.
void lu(const Matrix<std::complex<double>>& a, std::int32_t* pivots);

/// Computes the eigenvalues w of a square matrix, which is destroyed. With `vectors`, each row of vt becomes an
/// eigenvector of norm 1 with a positive largest element. For a real matrix, real eigenvalues have real vectors, and
/// complex eigenvalues come in adjacent conjugate pairs, the positive imaginary part first. Uses the Hessenberg form
/// and shifted QR steps (Golub and Van Loan, Matrix Computations, 7.4 to 7.6) after scaling by powers of two (Parlett
/// and Reinsch 1969). Returns false if the steps do not converge. Elements must be finite.
template <class T>
bool eig(const Matrix<T>& a, std::complex<double>* w, const Matrix<std::complex<double>>& vt, bool vectors);

/// Divides eigenvectors in rows by their norm and turns them so that their largest element is positive. For a `real`
/// matrix, conjugate pairs of eigenvalues get conjugate vectors.
void normalise_rows(const Matrix<std::complex<double>>& vt, const std::complex<double>* w, bool real);

}  // namespace catenary::factor
