#pragma once
// Private to the library: the inner loops of array/factor.h, compiled for each instruction set.

#include <complex>
#include <cstdint>

#include "catenary/core/cpu_features.h"

namespace catenary::factor {

/// A plane rotation of rows `row` and `row` + 1 of a matrix of vectors.
struct Turn {
  std::int64_t row;
  double cosine, sine;
};

/// A step of the reduction to tridiagonal form, for some rows of the lower triangle of a Hermitian matrix.
template <class T>
struct HermitianRows {
  T* a;                     ///< the element in row 0, column 0
  std::int64_t stride;      ///< between rows
  std::int64_t begin, end;  ///< rows
  const T *v, *w;           ///< a -= v wᴴ + w vᴴ first
  const T* x;               ///< then the product with x
  T* product;               ///< receives the rows' contribution, in the first `end` elements
};

// clang-format off
CT_SIMD_DECLARE(
  /// Applies rotations to `columns` columns of rows that are `stride` apart.
  void turn_rows(const Turn* turns, std::int64_t count, double* rows, std::int64_t stride, std::int64_t columns);
  /// Updates rows and multiplies them.
  void update_real(const HermitianRows<double>& rows);
  void update_complex(const HermitianRows<std::complex<double>>& rows);
  /// Reflects each of `count` rows of length n, which are `stride` apart: row -= tau (vᴴ row) v.
  void reflect_real(double* rows, std::int64_t count, std::int64_t stride, const double* v, double tau, std::int64_t n);
  void reflect_complex(std::complex<double>* rows, std::int64_t count, std::int64_t stride,
                       const std::complex<double>* v, std::complex<double> tau, std::int64_t n);
)
// clang-format on

inline void update_rows(const HermitianRows<double>& rows) { CT_SIMD_SELECT(update_real)(rows); }
inline void update_rows(const HermitianRows<std::complex<double>>& rows) { CT_SIMD_SELECT(update_complex)(rows); }
inline void reflect_each(double* rows, std::int64_t count, std::int64_t stride, const double* v, double tau,
                         std::int64_t n) {
  CT_SIMD_SELECT(reflect_real)(rows, count, stride, v, tau, n);
}
inline void reflect_each(std::complex<double>* rows, std::int64_t count, std::int64_t stride,
                         const std::complex<double>* v, std::complex<double> tau, std::int64_t n) {
  CT_SIMD_SELECT(reflect_complex)(rows, count, stride, v, tau, n);
}

}  // namespace catenary::factor
