// The inner loops of array/factor.h, compiled for each instruction set (see core/cpu_features.h).
#include "catenary/array/factor_loops.h"

#include <algorithm>

namespace catenary::factor {
namespace CT_SIMD_NAMESPACE {
namespace {

using Complex = std::complex<double>;

constexpr std::int64_t kLanes = 8;  // sums at a time, the same on each instruction set, for equal bits

double conjugated(double x) { return x; }
Complex conjugated(const Complex& x) { return {x.real(), -x.imag()}; }
double times(double x, double y) { return x * y; }
Complex times(const Complex& x, const Complex& y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

/// Returns the sum of `lanes` in pairs.
template <class T>
T total(T* lanes) {
  for (std::int64_t width = kLanes / 2; width > 0; width /= 2)
    for (std::int64_t j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  return lanes[0];
}

/// Computes xᴴ y.
template <class T>
T dot(const T* x, const T* y, std::int64_t n) {
  T lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::int64_t j = 0; j < kLanes; ++j) lanes[j] += times(conjugated(x[i + j]), y[i + j]);
  for (std::int64_t j = 0; i + j < n; ++j) lanes[j] += times(conjugated(x[i + j]), y[i + j]);
  return total(lanes);
}

/// Updates columns 0 … columns - 1 of a row and adds its conjugate times `factor` to `product`. Returns the row's
/// product with x.
template <class T>
T update_row(T* __restrict row, std::int64_t columns, const T* v, const T* w, T of_v, T of_w, const T* x, T factor,
             T* __restrict product) {
  T lanes[kLanes] = {};
  const auto some = [&](std::int64_t first, std::int64_t count) {
    T elements[kLanes];
    for (std::int64_t j = 0; j < count; ++j)
      elements[j] = row[first + j] - times(of_v, conjugated(w[first + j])) - times(of_w, conjugated(v[first + j]));
    for (std::int64_t j = 0; j < count; ++j) row[first + j] = elements[j];
    for (std::int64_t j = 0; j < count; ++j) product[first + j] += times(conjugated(elements[j]), factor);
    for (std::int64_t j = 0; j < count; ++j) lanes[j] += times(elements[j], x[first + j]);
  };
  std::int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes) some(i, kLanes);
  some(i, columns - i);
  return total(lanes);
}

template <class T>
void update_all(const HermitianRows<T>& r) {
  std::fill_n(r.product, r.end, T(0));
  for (std::int64_t i = r.begin; i < r.end; ++i) {
    T* row = r.a + i * r.stride;
    const T left = update_row(row, i, r.v, r.w, r.v[i], r.w[i], r.x, r.x[i], r.product);
    row[i] = std::real(row[i] - times(r.v[i], conjugated(r.w[i])) - times(r.w[i], conjugated(r.v[i])));
    r.product[i] += left + times(row[i], r.x[i]);
  }
}

template <class T>
void reflect_all(T* rows, std::int64_t count, std::int64_t stride, const T* v, T tau, std::int64_t n) {
  for (std::int64_t r = 0; r < count; ++r) {
    T* row = rows + r * stride;
    const T factor = times(tau, dot(v, row, n));
    for (std::int64_t i = 0; i < n; ++i) row[i] -= times(factor, v[i]);
  }
}

}  // namespace

void turn_rows(const Turn* turns, std::int64_t count, double* rows, std::int64_t stride, std::int64_t columns) {
  for (std::int64_t t = 0; t < count; ++t) {
    double* __restrict upper = rows + turns[t].row * stride;
    double* __restrict lower = upper + stride;
    const double cosine = turns[t].cosine, sine = turns[t].sine;
    for (std::int64_t i = 0; i < columns; ++i) {
      const double x = upper[i], y = lower[i];
      upper[i] = cosine * x + sine * y;
      lower[i] = cosine * y - sine * x;
    }
  }
}

void update_real(const HermitianRows<double>& rows) { update_all(rows); }
void update_complex(const HermitianRows<Complex>& rows) { update_all(rows); }
void reflect_real(double* rows, std::int64_t count, std::int64_t stride, const double* v, double tau, std::int64_t n) {
  reflect_all(rows, count, stride, v, tau, n);
}
void reflect_complex(Complex* rows, std::int64_t count, std::int64_t stride, const Complex* v, Complex tau,
                     std::int64_t n) {
  reflect_all(rows, count, stride, v, tau, n);
}

}  // namespace CT_SIMD_NAMESPACE
}  // namespace catenary::factor
