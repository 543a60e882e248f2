#pragma once
// Private to the library: Householder reflections H = I - tau v vᴴ of double and std::complex<double>, the building
// blocks of decompositions.

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "catenary/array/factor.h"
#include "catenary/core/parallel.h"

namespace catenary::factor {

using Complex = std::complex<double>;

inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
inline constexpr std::int64_t kGrain = 1 << 15;  // fewest multiplications that pay for a thread

inline double conjugated(double x) { return x; }
inline Complex conjugated(const Complex& x) { return std::conj(x); }

/// Multiplies without the check for infinities in `operator*` of complex numbers.
inline double times(double x, double y) { return x * y; }
inline Complex times(const Complex& x, const Complex& y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}
inline Complex times(double x, const Complex& y) { return {x * y.real(), x * y.imag()}; }

/// Returns the real and imaginary parts, interleaved.
inline double* parts(double* x) { return x; }
inline const double* parts(const double* x) { return x; }
inline double* parts(Complex* x) { return reinterpret_cast<double*>(x); }
inline const double* parts(const Complex* x) { return reinterpret_cast<const double*>(x); }
template <class T>
constexpr std::int64_t kParts = sizeof(T) / sizeof(double);

/// Computes xᴴ y.
template <class T>
T dot(const T* x, const T* y, std::int64_t n) {
  T sums[4] = {0, 0, 0, 0};  // several sums, so that an addition need not wait for the previous one
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int j = 0; j < 4; ++j) sums[j] += times(conjugated(x[i + j]), y[i + j]);
  for (; i < n; ++i) sums[0] += times(conjugated(x[i]), y[i]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Computes y += factor x.
template <class T>
void add_multiple(T* y, T factor, const T* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] += times(factor, x[i]);
}

/// Computes the Euclidean norm without overflow.
inline double norm(const double* x, std::int64_t n) {
  const double squares = dot(x, x, n);
  if ((squares > 1e-280 && squares < 1e280) || std::isnan(squares)) return std::sqrt(squares);
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  if (largest == 0 || std::isinf(largest)) return largest;
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += (x[i] / largest) * (x[i] / largest);
  return largest * std::sqrt(sum);
}
inline double norm(const Complex* x, std::int64_t n) { return norm(parts(x), 2 * n); }

/// Turns x into the vector of the reflection whose Hᴴ maps it to (beta, 0, 0, …): x[0] becomes 1. Returns beta, which
/// is real.
template <class T>
double reflector(T* x, std::int64_t n, T& tau) {
  const T alpha = x[0];
  const double size = std::abs(alpha), rest = norm(x + 1, n - 1);
  const bool there = rest == 0 && std::imag(alpha) == 0;
  if (!there && std::max(size, rest) < 0x1p-900) {
    // Scale up: subnormal numbers have too few digits for an accurate reflection.
    for (std::int64_t i = 0; i < n; ++i) x[i] *= 0x1p900;
    return reflector(x, n, tau) * 0x1p-900;
  }
  x[0] = 1;
  tau = 0;
  if (there) return std::real(alpha);
  const double beta = -std::copysign(std::hypot(size, rest), std::real(alpha));
  tau = (beta - alpha) / beta;
  for (std::int64_t i = 1; i < n; ++i) x[i] /= alpha - beta;
  return beta;
}

/// A part of a row-major matrix.
template <class T>
struct Block {
  T* data;
  std::int64_t rows, columns, stride;
};

/// Computes block = Hᴴ block. Columns are independent, so threads share them.
template <class T>
void reflect_rows(const Block<T>& block, const T* v, T tau) {
  if (tau == T(0)) return;
  const T factor = -conjugated(tau);
  parallel_for(block.columns, std::max<std::int64_t>(kGrain / block.rows, 16), [&](std::int64_t from, std::int64_t to) {
    std::vector<T> sums(static_cast<std::size_t>(to - from));
    for (std::int64_t i = 0; i < block.rows; ++i)
      add_multiple(sums.data(), conjugated(v[i]), block.data + i * block.stride + from, to - from);
    for (std::int64_t i = 0; i < block.rows; ++i)
      add_multiple(block.data + i * block.stride + from, times(factor, v[i]), sums.data(), to - from);
  });
}

/// Computes block = block H from the conjugate of v.
template <class T>
void reflect_columns(const Block<T>& block, const T* conjugate_v, T tau) {
  if (tau == T(0)) return;
  parallel_for(block.rows, std::max<std::int64_t>(kGrain / block.columns, 1), [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      T* row = block.data + i * block.stride;
      add_multiple(row, times(-tau, dot(conjugate_v, row, block.columns)), conjugate_v, block.columns);
    }
  });
}

/// The vectors of reflections, stored consecutively. The k-th vector begins at element k + `shift`.
template <class T>
struct Reflections {
  std::int64_t count, length, shift;
  std::vector<T> vectors, taus;

  Reflections(std::int64_t count, std::int64_t length, std::int64_t shift)
      : count(count),
        length(length),
        shift(shift),
        vectors(static_cast<std::size_t>(count * length)),
        taus(static_cast<std::size_t>(count)) {}
  /// Returns the nonzero part of the k-th vector.
  T* vector(std::int64_t k) { return vectors.data() + k * length + k + shift; }
  T& tau(std::int64_t k) { return taus[static_cast<std::size_t>(k)]; }
  std::int64_t extent(std::int64_t k) const { return length - k - shift; }

  /// Computes the first columns of the product of the reflections as rows of `to`.
  void columns_into_rows(const Matrix<T>& to) {
    constexpr std::int64_t kRows = 8;  // number of rows that share a vector while it is in the cache
    const std::int64_t blocks = (to.rows + kRows - 1) / kRows;
    parallel_for(blocks, std::max<std::int64_t>(kGrain / std::max<std::int64_t>(count * length * kRows, 1), 1),
                 [&](std::int64_t from, std::int64_t until) {
                   for (std::int64_t b = from; b < until; ++b) {
                     const std::int64_t first = b * kRows, end = std::min(first + kRows, to.rows);
                     for (std::int64_t r = first; r < end; ++r) {
                       std::fill_n(to.row(r), length, T(0));
                       to.row(r)[r] = 1;
                     }
                     for (std::int64_t k = std::min(count, end) - 1; k >= 0; --k) {
                       if (tau(k) == T(0)) continue;
                       const T* v = vector(k);
                       const std::int64_t n = extent(k);
                       for (std::int64_t r = first; r < end; ++r) {
                         T* row = to.row(r) + k + shift;
                         add_multiple(row, times(-tau(k), dot(v, row, n)), v, n);
                       }
                     }
                   }
                 });
  }
};

}  // namespace catenary::factor
