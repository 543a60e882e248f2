// Eigenvalues of Hermitian matrices: tridiagonal form by reflections, then QR steps with Wilkinson's shift.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "catenary/array/factor.h"
#include "catenary/array/factor_loops.h"
#include "catenary/array/reflections.h"
#include "catenary/array/turns.h"
#include "catenary/core/parallel.h"

namespace catenary::factor {

namespace {

/// A step of tridiagonal(): updates the lower triangle of the last n rows by v and w, and multiplies it by x. The rows
/// are split by n alone, so that results do not depend on the number of threads.
template <class T>
void update_and_multiply(const Matrix<T>& a, std::int64_t n, const T* v, const T* w, const T* x, T* product,
                         std::vector<T>& room) {
  const std::int64_t parts = std::clamp<std::int64_t>(n * n / (2 * kGrain), 1, 8), first = a.rows - n;
  room.resize(static_cast<std::size_t>(parts * n));
  std::vector<std::int64_t> begin;  // of parts of about equal area
  for (std::int64_t part = 0; part <= parts; ++part)
    begin.push_back(
        std::llround(static_cast<double>(n) * std::sqrt(static_cast<double>(part) / static_cast<double>(parts))));
  parallel_for(parts, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t part = from; part < to; ++part) {
      const auto at = static_cast<std::size_t>(part);
      update_rows(
          HermitianRows<T>{a.row(first) + first, a.columns, begin[at], begin[at + 1], v, w, x, room.data() + part * n});
    }
  });
  std::fill_n(product, n, T(0));
  for (std::int64_t part = 0; part < parts; ++part)
    add_multiple(product, T(1), room.data() + part * n, begin[static_cast<std::size_t>(part) + 1]);
}

/// Reduces a Hermitian matrix to a real tridiagonal one, t: a = Q t Qᴴ, where Q is the product of the reflections.
template <class T>
void tridiagonal(const Matrix<T>& a, double* d, double* e, Reflections<T>& reflections) {
  const std::int64_t n = a.rows;
  std::vector<T> column(static_cast<std::size_t>(n)), w(column), product(column), zeros(column), room;
  const T* v = zeros.data();  // of the previous step, whose update is still to come
  for (std::int64_t k = 0;; ++k) {
    const std::int64_t rest = n - k - 1;
    for (std::int64_t i = 0; i <= rest; ++i)
      column[static_cast<std::size_t>(i)] =
          a.row(k + i)[k] - times(v[i], conjugated(w[0])) - times(w[static_cast<std::size_t>(i)], conjugated(v[0]));
    d[k] = std::real(column[0]);
    if (rest == 0) return;
    T* const next = reflections.vector(k);
    T& tau = reflections.tau(k);
    std::copy_n(column.data() + 1, rest, next);
    e[k] = reflector(next, rest, tau);
    // the previous step's update and the product for this one in one pass
    update_and_multiply(a, rest, v + 1, w.data() + 1, next, product.data(), room);
    for (std::int64_t i = 0; i < rest; ++i)
      w[static_cast<std::size_t>(i)] = times(tau, product[static_cast<std::size_t>(i)]);
    add_multiple(w.data(), times(conjugated(tau), dot(next, w.data(), rest)) * -0.5, next, rest);
    v = next;
  }
}

/// Makes a symmetric tridiagonal matrix diagonal by QR steps.
bool diagonalise(std::vector<double>& diagonal, std::vector<double>& below, Turns<double>& turns) {
  const auto d = [&](std::int64_t i) -> double& { return diagonal[static_cast<std::size_t>(i)]; };
  const auto e = [&](std::int64_t i) -> double& { return below[static_cast<std::size_t>(i)]; };
  const auto negligible = [&](std::int64_t i) {
    return std::abs(e(i)) <= kEpsilon / 2 * (std::abs(d(i)) + std::abs(d(i + 1))) ||
           std::abs(e(i)) < std::numeric_limits<double>::min();
  };
  std::int64_t last = static_cast<std::int64_t>(diagonal.size()) - 1;
  for (std::int64_t budget = 60 * (last + 1); last > 0; --budget) {
    if (negligible(last - 1)) {
      e(--last) = 0;
      continue;
    }
    if (budget <= 0) return false;
    std::int64_t first = last - 1;
    while (first > 0 && !negligible(first - 1)) --first;
    const double half = (d(last - 1) - d(last)) / 2, corner = e(last - 1);
    double x = d(first) - d(last) + corner / (half + std::copysign(std::hypot(half, corner), half)) * corner;
    double z = e(first), cosine, sine;
    for (std::int64_t k = first; k < last; ++k) {
      const double r = rotation(x, z, cosine, sine);
      if (k > first) e(k - 1) = r;
      const double gap = d(k + 1) - d(k), change = sine * (sine * gap + 2 * cosine * e(k));
      e(k) = cosine * (cosine * e(k) + sine * gap) - sine * sine * e(k);
      d(k) += change;
      d(k + 1) -= change;
      turns.add(k, cosine, sine);
      x = e(k);
      if (k + 1 == last) break;
      z = sine * e(k + 1);
      e(k + 1) *= cosine;
    }
  }
  turns.apply();
  return true;
}

/// Writes Q z to the rows of vt for the rows z.
template <class T>
void transform_back(const std::vector<double>& rows, const std::vector<std::int64_t>& order,
                    Reflections<T>& reflections, const Matrix<T>& vt) {
  constexpr std::int64_t kRows = 8;  // number of rows that share a vector while it is in the cache
  const std::int64_t n = vt.rows;
  parallel_for((n + kRows - 1) / kRows, std::max<std::int64_t>(kGrain / (n * n * kRows), 1),
               [&](std::int64_t from, std::int64_t until) {
                 for (std::int64_t block = from; block < until; ++block) {
                   const std::int64_t first = block * kRows, count = std::min(kRows, n - first);
                   for (std::int64_t r = first; r < first + count; ++r)
                     std::copy_n(rows.data() + order[static_cast<std::size_t>(r)] * n, n, vt.row(r));
                   for (std::int64_t k = reflections.count - 1; k >= 0; --k)
                     reflect_each(vt.row(first) + k + 1, count, n, reflections.vector(k), reflections.tau(k),
                                  n - k - 1);
                 }
               });
}

}  // namespace

template <class T>
bool eigh(const Matrix<T>& a, double* w, const Matrix<T>& vt) {
  const std::int64_t n = a.rows;
  if (n == 0) return true;
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < (i + 1) * kParts<T>; ++j) {
      const double part = std::abs(parts(a.row(i))[j]);
      if (!std::isfinite(part)) return false;
      largest = std::max(largest, part);
    }
  // Scale by a power of two. Then nothing overflows, and only numbers far below rounding errors underflow.
  const int exponent = largest > 0 ? -std::ilogb(largest) : 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < (i + 1) * kParts<T>; ++j)
      parts(a.row(i))[j] = std::scalbn(parts(a.row(i))[j], exponent);
  std::vector<double> d(static_cast<std::size_t>(n)), e(d.size());
  Reflections<T> reflections(n - 1, n, 1);
  tridiagonal(a, d.data(), e.data(), reflections);
  std::vector<double> rows(static_cast<std::size_t>(vt.rows * n));
  for (std::int64_t i = 0; i < vt.rows; ++i) rows[static_cast<std::size_t>(i * n + i)] = 1;
  Turns<double> turns({rows.data(), vt.rows, n});
  if (!diagonalise(d, e, turns)) return false;
  std::vector<std::int64_t> order(d.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    return d[static_cast<std::size_t>(i)] < d[static_cast<std::size_t>(j)];
  });
  for (std::int64_t i = 0; i < n; ++i)
    w[i] = std::scalbn(d[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])], -exponent);
  if (vt.rows > 0) transform_back(rows, order, reflections, vt);
  return true;
}

template bool eigh(const Matrix<double>& a, double* w, const Matrix<double>& vt);
template bool eigh(const Matrix<Complex>& a, double* w, const Matrix<Complex>& vt);

}  // namespace catenary::factor
