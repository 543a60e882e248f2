#pragma once
// Private to the library: decompositions of one matrix in host memory, C-ordered, of double or std::complex<double>.

#include <complex>
#include <cstdint>
#include <vector>

namespace catenary::factor {

/// A row-major matrix in somebody else's memory.
template <class T>
struct Matrix {
  T* data = nullptr;
  std::int64_t rows = 0, columns = 0;

  T* row(std::int64_t i) const { return data + i * columns; }
};

/// Householder's QR with LAPACK's signs: R, whose diagonal is real, on and above the diagonal, and below it, column by
/// column, the vectors v (without their leading 1) of the reflections H = I - tau v vᴴ whose product is Q. `tau` gets
/// min(rows, columns) numbers.
template <class T>
void qr(const Matrix<T>& a, T* tau);
/// The first q.columns columns of the product of reflections that `qr` left in a.
template <class T>
void qr_columns(const Matrix<T>& a, const T* tau, const Matrix<T>& q);

/// Singular values, largest first, of a matrix that is at least as tall as wide, which is destroyed: s gets a.columns
/// of them. Rows of ut and vt become the left and right singular vectors, a = Σ s u vᴴ; ut may have more rows than a
/// has columns, up to a.rows, and both may have none. By reduction to two diagonals and implicit QR steps (Golub and
/// Kahan 1965; steps without shift by Demmel and Kahan 1990). False where the steps do not end, as of elements that are
/// not finite.
template <class T>
bool svd(const Matrix<T>& a, double* s, const Matrix<T>& ut, const Matrix<T>& vt);

/// LU factors of a square matrix with partial pivoting, in its place: U, and below the diagonal L without its ones. Row
/// i was exchanged with row pivots[i]. As LAPACK's, a pivot has the largest |re| + |im|.
void lu(const Matrix<std::complex<double>>& a, std::int32_t* pivots);

/// Eigenvalues w of a square matrix, which is destroyed, and with `vectors` a row of vt for each: an eigenvector of
/// norm 1 whose largest element is positive. Of a real matrix the values that are not real are neighbours, each
/// conjugate to the other, that with the positive imaginary part first, and so are their vectors; those of real values
/// are real. By Hessenberg's form and shifted QR steps (Golub and Van Loan, Matrix Computations, 7.4 to 7.6), after
/// scaling by powers of two (Parlett and Reinsch 1969). False where the steps do not end. Elements must be finite.
template <class T>
bool eig(const Matrix<T>& a, std::complex<double>* w, const Matrix<std::complex<double>>& vt, bool vectors);

}  // namespace catenary::factor
