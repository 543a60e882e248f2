#pragma once
// Private to the library: decompositions of one matrix in host memory, C-ordered and float64.

#include <cstdint>
#include <vector>

namespace catenary::factor {

/// A row-major matrix in somebody else's memory.
struct Matrix {
  double* data = nullptr;
  std::int64_t rows = 0, columns = 0;

  double* row(std::int64_t i) const { return data + i * columns; }
};

/// Householder's QR with LAPACK's signs: R on and above the diagonal, and below it, column by column, the vectors v
/// (without their leading 1) of the reflections H = I - tau v vᵀ whose product is Q. `tau` gets min(rows, columns)
/// numbers.
void qr(const Matrix& a, double* tau);
/// The first q.columns columns of the product of reflections that `qr` left in a.
void qr_columns(const Matrix& a, const double* tau, const Matrix& q);

/// Singular values, largest first, of a matrix that is at least as tall as wide, which is destroyed: s gets a.columns
/// of them. Rows of ut and vt become the left and right singular vectors; ut may have more rows than a has columns, up
/// to a.rows, and both may have none. By reduction to two diagonals and implicit QR steps (Golub and Kahan 1965; steps
/// without shift by Demmel and Kahan 1990). False where the steps do not end, as of elements that are not finite.
bool svd(const Matrix& a, double* s, const Matrix& ut, const Matrix& vt);

}  // namespace catenary::factor
