#include "catenary/array/factor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "catenary/array/reflections.h"
#include "catenary/array/turns.h"
#include "catenary/core/parallel.h"

namespace catenary::factor {

namespace {

/// Returns the smaller singular value of [[f, g], [0, h]].
double smaller_of_two(double f, double g, double h) {
  const double larger = (std::hypot(f + h, g) + std::hypot(f - h, g)) / 2;
  return larger == 0 ? 0 : std::abs(f) / larger * std::abs(h);
}

/// A real upper bidiagonal matrix during its reduction to a diagonal one. T is the type of the vectors.
template <class T>
struct Bidiagonal {
  std::vector<double> d, e;
  Turns<T> left, right;

  double& diagonal(std::int64_t i) { return d[static_cast<std::size_t>(i)]; }
  double& above(std::int64_t i) { return e[static_cast<std::size_t>(i)]; }

  /// Returns whether off-diagonal element i is 0 or negligible.
  bool negligible(std::int64_t i) {
    const double near = std::abs(diagonal(i)) + std::abs(diagonal(i + 1));
    return std::abs(above(i)) <= kEpsilon / 2 * near || std::abs(above(i)) < std::numeric_limits<double>::min();
  }

  /// Performs a zero-shift step on rows and columns first … last, which keeps small singular values accurate. A 0 on
  /// the diagonal moves to the end.
  void step_without_shift(std::int64_t first, std::int64_t last) {
    double cosine = 1, sine = 0, left_cosine = 1, left_sine = 0;
    for (std::int64_t i = first; i < last; ++i) {
      const double r = rotation(diagonal(i) * cosine, above(i), cosine, sine);
      if (i > first) above(i - 1) = left_sine * r;
      right.add(i, cosine, sine);
      diagonal(i) = rotation(left_cosine * r, diagonal(i + 1) * sine, left_cosine, left_sine);
      left.add(i, left_cosine, left_sine);
    }
    const double end = diagonal(last) * cosine;
    diagonal(last) = end * left_cosine;
    above(last - 1) = end * left_sine;
  }

  /// Performs a step with a shift: chases the bulge of the first rotation down.
  void step(std::int64_t first, std::int64_t last, double shift) {
    const double top = diagonal(first);
    double f = (std::abs(top) - shift) * (std::copysign(1.0, top) + shift / top), g = above(first), cosine, sine;
    for (std::int64_t i = first; i < last; ++i) {
      const double r = rotation(f, g, cosine, sine);
      if (i > first) above(i - 1) = r;
      right.add(i, cosine, sine);
      f = cosine * diagonal(i) + sine * above(i);
      above(i) = cosine * above(i) - sine * diagonal(i);
      g = sine * diagonal(i + 1);
      diagonal(i + 1) *= cosine;
      diagonal(i) = rotation(f, g, cosine, sine);
      left.add(i, cosine, sine);
      f = cosine * above(i) + sine * diagonal(i + 1);
      diagonal(i + 1) = cosine * diagonal(i + 1) - sine * above(i);
      if (i + 1 < last) {
        g = sine * above(i + 1);
        above(i + 1) *= cosine;
      }
    }
    above(last - 1) = f;
  }

  /// Performs steps until all off-diagonal elements are 0.
  bool diagonalise() {
    std::int64_t last = static_cast<std::int64_t>(d.size()) - 1;
    for (std::int64_t budget = 60 * (last + 1); last > 0; --budget) {
      if (negligible(last - 1)) {
        above(--last) = 0;
        continue;
      }
      if (budget <= 0) return false;
      std::int64_t first = last - 1;
      bool singular = diagonal(first) == 0;
      for (; first > 0 && !negligible(first - 1); --first) singular |= diagonal(first - 1) == 0;
      const double shift = smaller_of_two(diagonal(last - 1), above(last - 1), diagonal(last));
      const double top = std::abs(diagonal(first));
      if (singular || shift <= top * std::sqrt(kEpsilon)) {  // its square would vanish beside the square of the top
        step_without_shift(first, last);
      } else {
        step(first, last, shift);
      }
    }
    left.apply();
    right.apply();
    return true;
  }
};

}  // namespace

template <class T>
void qr(const Matrix<T>& a, T* tau) {
  std::vector<T> v(static_cast<std::size_t>(a.rows));
  for (std::int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    const std::int64_t n = a.rows - k;
    for (std::int64_t i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = a.row(k + i)[k];
    const double beta = reflector(v.data(), n, tau[k]);
    reflect_rows<T>({a.row(k) + k + 1, n, a.columns - k - 1, a.columns}, v.data(), tau[k]);
    a.row(k)[k] = beta;
    for (std::int64_t i = 1; i < n; ++i) a.row(k + i)[k] = v[static_cast<std::size_t>(i)];
  }
}

template <class T>
void qr_columns(const Matrix<T>& a, const T* tau, const Matrix<T>& q) {
  const std::int64_t count = std::min(a.rows, a.columns);
  Reflections<T> reflections(count, a.rows, 0);
  for (std::int64_t k = 0; k < count; ++k) {
    reflections.tau(k) = tau[k];
    T* v = reflections.vector(k);
    v[0] = 1;
    for (std::int64_t i = k + 1; i < a.rows; ++i) v[i - k] = a.row(i)[k];
  }
  std::vector<T> rows(static_cast<std::size_t>(q.rows * q.columns));
  reflections.columns_into_rows({rows.data(), q.columns, q.rows});
  for (std::int64_t i = 0; i < q.rows; ++i)
    for (std::int64_t j = 0; j < q.columns; ++j) q.row(i)[j] = rows[static_cast<std::size_t>(j * q.rows + i)];
}

template <class T>
bool svd(const Matrix<T>& a, double* s, const Matrix<T>& ut, const Matrix<T>& vt) {
  const std::int64_t m = a.rows, n = a.columns;
  if (n == 0) {
    for (std::int64_t i = 0; i < ut.rows; ++i)
      for (std::int64_t j = 0; j < m; ++j) ut.row(i)[j] = i == j;
    return true;
  }
  double* const elements = parts(a.data);
  const std::int64_t count = m * n * kParts<T>;
  double largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(elements[i])) return false;
    largest = std::max(largest, std::abs(elements[i]));
  }
  // Scale by a power of two. Then nothing overflows, and only numbers far below rounding errors underflow.
  const int exponent = largest > 0 ? -std::ilogb(largest) : 0;
  for (std::int64_t i = 0; i < count; ++i) elements[i] = std::scalbn(elements[i], exponent);

  Bidiagonal<T> b{std::vector<double>(static_cast<std::size_t>(n)), std::vector<double>(static_cast<std::size_t>(n)),
                  Turns<T>(ut), Turns<T>(vt)};
  Reflections<T> left(n, m, 0), right(n - 1, n, 1);
  std::vector<T> row(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    T* v = left.vector(k);
    for (std::int64_t i = k; i < m; ++i) v[i - k] = a.row(i)[k];
    b.diagonal(k) = reflector(v, m - k, left.tau(k));
    if (k + 1 == n) break;
    reflect_rows<T>({a.row(k) + k + 1, m - k, n - k - 1, n}, v, left.tau(k));
    T* w = right.vector(k);
    std::transform(a.row(k) + k + 1, a.row(k) + n, w, [](const T& x) { return conjugated(x); });
    b.above(k) = reflector(w, n - k - 1, right.tau(k));
    std::transform(w, w + n - k - 1, row.data(), [](const T& x) { return conjugated(x); });
    if (k + 1 < m) reflect_columns<T>({a.row(k + 1) + k + 1, m - k - 1, n - k - 1, n}, row.data(), right.tau(k));
  }
  left.columns_into_rows(ut);
  right.columns_into_rows(vt);
  if (!b.diagonalise()) return false;

  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t i, std::int64_t j) { return std::abs(b.diagonal(i)) > std::abs(b.diagonal(j)); });
  const auto rearrange = [&](const Matrix<T>& vectors, bool with_signs) {
    if (vectors.rows == 0) return;
    std::vector<T> rows(vectors.data, vectors.data + n * vectors.columns);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t from = order[static_cast<std::size_t>(i)];
      const double sign = with_signs && b.diagonal(from) < 0 ? -1 : 1;
      for (std::int64_t j = 0; j < vectors.columns; ++j)
        vectors.row(i)[j] = sign * rows[static_cast<std::size_t>(from * vectors.columns + j)];
    }
  };
  rearrange(ut, false);
  rearrange(vt, true);
  for (std::int64_t i = 0; i < n; ++i)
    s[i] = std::scalbn(std::abs(b.diagonal(order[static_cast<std::size_t>(i)])), -exponent);
  return true;
}

void lu(const Matrix<Complex>& a, std::int32_t* pivots) {
  const std::int64_t n = a.rows;
  const auto size = [](const Complex& x) { return std::abs(x.real()) + std::abs(x.imag()); };
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (size(a.row(i)[k]) > size(a.row(pivot)[k])) pivot = i;
    pivots[k] = static_cast<std::int32_t>(pivot);
    if (pivot != k) std::swap_ranges(a.row(k), a.row(k) + n, a.row(pivot));
    const Complex top = a.row(k)[k];
    if (top == 0.0) continue;
    const std::int64_t rest = n - k - 1;
    parallel_for(rest, std::max<std::int64_t>(kGrain / (rest + 1), 1), [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = k + 1 + from; i < k + 1 + to; ++i) {
        a.row(i)[k] /= top;
        add_multiple(a.row(i) + k + 1, -a.row(i)[k], a.row(k) + k + 1, rest);
      }
    });
  }
}

template void qr(const Matrix<double>& a, double* tau);
template void qr(const Matrix<Complex>& a, Complex* tau);
template void qr_columns(const Matrix<double>& a, const double* tau, const Matrix<double>& q);
template void qr_columns(const Matrix<Complex>& a, const Complex* tau, const Matrix<Complex>& q);
template bool svd(const Matrix<double>& a, double* s, const Matrix<double>& ut, const Matrix<double>& vt);
template bool svd(const Matrix<Complex>& a, double* s, const Matrix<Complex>& ut, const Matrix<Complex>& vt);

}  // namespace catenary::factor
