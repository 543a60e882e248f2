#include "catenary/array/factor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "catenary/core/parallel.h"

namespace catenary::factor {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr std::int64_t kGrain = 1 << 15;  // multiplications that are worth a thread

double dot(const double* x, const double* y, std::int64_t n) {
  double sums[4] = {0, 0, 0, 0};  // several, so that an addition need not wait for the one before
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int j = 0; j < 4; ++j) sums[j] += x[i + j] * y[i + j];
  for (; i < n; ++i) sums[0] += x[i] * y[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void add_multiple(double* y, double factor, const double* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

/// Euclid's norm, without overflow.
double norm(const double* x, std::int64_t n) {
  const double squares = dot(x, x, n);
  if ((squares > 1e-280 && squares < 1e280) || std::isnan(squares)) return std::sqrt(squares);
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  if (largest == 0 || std::isinf(largest)) return largest;
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += (x[i] / largest) * (x[i] / largest);
  return largest * std::sqrt(sum);
}

/// Turns x into the vector of the reflection that takes it to (beta, 0, 0, …): x[0] becomes 1. Gives beta.
double reflector(double* x, std::int64_t n, double& tau) {
  const double alpha = x[0], rest = norm(x + 1, n - 1);
  if (rest != 0 && std::max(std::abs(alpha), rest) < 0x1p-900) {
    // Numbers without all their digits would give a matrix that is no reflection.
    for (std::int64_t i = 0; i < n; ++i) x[i] *= 0x1p900;
    return reflector(x, n, tau) * 0x1p-900;
  }
  x[0] = 1;
  tau = 0;
  if (rest == 0) return alpha;
  const double beta = -std::copysign(std::hypot(alpha, rest), alpha);
  tau = (beta - alpha) / beta;
  for (std::int64_t i = 1; i < n; ++i) x[i] /= alpha - beta;
  return beta;
}

/// A part of a row-major matrix.
struct Block {
  double* data;
  std::int64_t rows, columns, stride;
};

/// block = H block. Columns do not know of each other, so threads take some each.
void reflect_rows(const Block& block, const double* v, double tau) {
  if (tau == 0) return;
  parallel_for(block.columns, std::max<std::int64_t>(kGrain / block.rows, 16), [&](std::int64_t from, std::int64_t to) {
    std::vector<double> sums(static_cast<std::size_t>(to - from));
    for (std::int64_t i = 0; i < block.rows; ++i)
      add_multiple(sums.data(), v[i], block.data + i * block.stride + from, to - from);
    for (std::int64_t i = 0; i < block.rows; ++i)
      add_multiple(block.data + i * block.stride + from, -tau * v[i], sums.data(), to - from);
  });
}

/// block = block H.
void reflect_columns(const Block& block, const double* v, double tau) {
  if (tau == 0) return;
  parallel_for(block.rows, std::max<std::int64_t>(kGrain / block.columns, 1), [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      double* row = block.data + i * block.stride;
      add_multiple(row, -tau * dot(row, v, block.columns), v, block.columns);
    }
  });
}

/// The vectors of reflections, one after the other: the k-th begins at element k + `shift`.
struct Reflections {
  std::int64_t count, length, shift;
  std::vector<double> vectors, taus;

  Reflections(std::int64_t count, std::int64_t length, std::int64_t shift)
      : count(count),
        length(length),
        shift(shift),
        vectors(static_cast<std::size_t>(count * length)),
        taus(static_cast<std::size_t>(count)) {}
  /// Where the k-th vector differs from 0.
  double* vector(std::int64_t k) { return vectors.data() + k * length + k + shift; }
  std::int64_t extent(std::int64_t k) const { return length - k - shift; }

  /// Rows of `to` become the first columns of the product.
  void columns_into_rows(const Matrix& to) {
    constexpr std::int64_t kRows = 8;  // that share a vector while it is in the cache
    const std::int64_t blocks = (to.rows + kRows - 1) / kRows;
    parallel_for(blocks, std::max<std::int64_t>(kGrain / std::max<std::int64_t>(count * length * kRows, 1), 1),
                 [&](std::int64_t from, std::int64_t until) {
                   for (std::int64_t b = from; b < until; ++b) {
                     const std::int64_t first = b * kRows, end = std::min(first + kRows, to.rows);
                     for (std::int64_t r = first; r < end; ++r) {
                       std::fill_n(to.row(r), length, 0.0);
                       to.row(r)[r] = 1;
                     }
                     for (std::int64_t k = std::min(count, end) - 1; k >= 0; --k) {
                       const double tau = taus[static_cast<std::size_t>(k)];
                       if (tau == 0) continue;
                       const double* v = vector(k);
                       const std::int64_t n = extent(k);
                       for (std::int64_t r = first; r < end; ++r) {
                         double* row = to.row(r) + k + shift;
                         add_multiple(row, -tau * dot(row, v, n), v, n);
                       }
                     }
                   }
                 });
  }
};

/// A plane rotation of rows `row` and `row` + 1 of a matrix of vectors.
struct Turn {
  std::int64_t row;
  double cosine, sine;
};

/// The rotation that takes (f, g) to (r, 0).
double rotation(double f, double g, double& cosine, double& sine) {
  if (g == 0) {
    cosine = 1;
    sine = 0;
    return f;
  }
  // Numbers without all their digits would give a matrix that is no rotation.
  const double scale = std::max(std::abs(f), std::abs(g)) < 0x1p-500 ? 0x1p500 : 1;
  f *= scale;
  g *= scale;
  const double r = std::copysign(std::hypot(f, g), f);
  cosine = f / r;
  sine = g / r;
  return r / scale;
}

/// Rotations that wait until there are enough of them: columns do not know of each other, so a few at a time stay in
/// the cache through all rotations, and threads take some each.
class Turns {
 public:
  explicit Turns(const Matrix& of) : of_(of) {}
  void add(std::int64_t row, double cosine, double sine) {
    if (of_.rows == 0) return;
    turns_.push_back({row, cosine, sine});
    if (turns_.size() == std::size_t{1} << 18) apply();
  }
  void apply() {
    constexpr std::int64_t kColumns = 64;
    const std::int64_t chunks = (of_.columns + kColumns - 1) / kColumns;
    parallel_for(chunks, 1, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t chunk = from; chunk < to; ++chunk) {
        const std::int64_t first = chunk * kColumns, n = std::min(kColumns, of_.columns - first);
        for (const Turn& turn : turns_) {
          double *upper = of_.row(turn.row) + first, *lower = upper + of_.columns;
          for (std::int64_t i = 0; i < n; ++i) {
            const double x = upper[i], y = lower[i];
            upper[i] = turn.cosine * x + turn.sine * y;
            lower[i] = turn.cosine * y - turn.sine * x;
          }
        }
      }
    });
    turns_.clear();
  }

 private:
  Matrix of_;
  std::vector<Turn> turns_;
};

/// The smaller singular value of [[f, g], [0, h]].
double smaller_of_two(double f, double g, double h) {
  const double larger = (std::hypot(f + h, g) + std::hypot(f - h, g)) / 2;
  return larger == 0 ? 0 : std::abs(f) / larger * std::abs(h);
}

/// An upper bidiagonal matrix on its way to a diagonal one.
struct Bidiagonal {
  std::vector<double> d, e;
  Turns left, right;

  double& diagonal(std::int64_t i) { return d[static_cast<std::size_t>(i)]; }
  double& above(std::int64_t i) { return e[static_cast<std::size_t>(i)]; }

  /// Is element i beside the diagonal 0, or so small that it may be?
  bool negligible(std::int64_t i) {
    const double near = std::abs(diagonal(i)) + std::abs(diagonal(i + 1));
    return std::abs(above(i)) <= kEpsilon / 2 * near || std::abs(above(i)) < std::numeric_limits<double>::min();
  }

  /// A step on rows and columns first … last that loses no accuracy of small singular values. A 0 on the diagonal
  /// comes out as a 0 at the end.
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

  /// The same with a shift: the bulge that the first rotation makes is chased down.
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

  /// Steps until nothing is left beside the diagonal.
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
      if (singular || shift <= top * std::sqrt(kEpsilon)) {  // its square would vanish beside the top's
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

void qr(const Matrix& a, double* tau) {
  std::vector<double> v(static_cast<std::size_t>(a.rows));
  for (std::int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    const std::int64_t n = a.rows - k;
    for (std::int64_t i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = a.row(k + i)[k];
    const double beta = reflector(v.data(), n, tau[k]);
    reflect_rows({a.row(k) + k + 1, n, a.columns - k - 1, a.columns}, v.data(), tau[k]);
    a.row(k)[k] = beta;
    for (std::int64_t i = 1; i < n; ++i) a.row(k + i)[k] = v[static_cast<std::size_t>(i)];
  }
}

void qr_columns(const Matrix& a, const double* tau, const Matrix& q) {
  const std::int64_t count = std::min(a.rows, a.columns);
  Reflections reflections(count, a.rows, 0);
  for (std::int64_t k = 0; k < count; ++k) {
    reflections.taus[static_cast<std::size_t>(k)] = tau[k];
    double* v = reflections.vector(k);
    v[0] = 1;
    for (std::int64_t i = k + 1; i < a.rows; ++i) v[i - k] = a.row(i)[k];
  }
  std::vector<double> rows(static_cast<std::size_t>(q.rows * q.columns));
  reflections.columns_into_rows({rows.data(), q.columns, q.rows});
  for (std::int64_t i = 0; i < q.rows; ++i)
    for (std::int64_t j = 0; j < q.columns; ++j) q.row(i)[j] = rows[static_cast<std::size_t>(j * q.rows + i)];
}

bool svd(const Matrix& a, double* s, const Matrix& ut, const Matrix& vt) {
  const std::int64_t m = a.rows, n = a.columns;
  if (n == 0) {
    for (std::int64_t i = 0; i < ut.rows; ++i)
      for (std::int64_t j = 0; j < m; ++j) ut.row(i)[j] = i == j;
    return true;
  }
  double largest = 0;
  for (std::int64_t i = 0; i < m * n; ++i) {
    if (!std::isfinite(a.data[i])) return false;
    largest = std::max(largest, std::abs(a.data[i]));
  }
  // Scaled by a power of two, so that nothing overflows and only what is far below rounding underflows.
  const int exponent = largest > 0 ? -std::ilogb(largest) : 0;
  for (std::int64_t i = 0; i < m * n; ++i) a.data[i] = std::scalbn(a.data[i], exponent);

  Bidiagonal b{std::vector<double>(static_cast<std::size_t>(n)), std::vector<double>(static_cast<std::size_t>(n)),
               Turns(ut), Turns(vt)};
  Reflections left(n, m, 0), right(n - 1, n, 1);
  for (std::int64_t k = 0; k < n; ++k) {
    double* v = left.vector(k);
    for (std::int64_t i = k; i < m; ++i) v[i - k] = a.row(i)[k];
    double& tau = left.taus[static_cast<std::size_t>(k)];
    b.diagonal(k) = reflector(v, m - k, tau);
    if (k + 1 == n) break;
    reflect_rows({a.row(k) + k + 1, m - k, n - k - 1, n}, v, tau);
    double* w = right.vector(k);
    std::copy_n(a.row(k) + k + 1, n - k - 1, w);
    double& right_tau = right.taus[static_cast<std::size_t>(k)];
    b.above(k) = reflector(w, n - k - 1, right_tau);
    if (k + 1 < m) reflect_columns({a.row(k + 1) + k + 1, m - k - 1, n - k - 1, n}, w, right_tau);
  }
  left.columns_into_rows(ut);
  right.columns_into_rows(vt);
  if (!b.diagonalise()) return false;

  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t i, std::int64_t j) { return std::abs(b.diagonal(i)) > std::abs(b.diagonal(j)); });
  const auto rearrange = [&](const Matrix& vectors, bool with_signs) {
    if (vectors.rows == 0) return;
    std::vector<double> rows(vectors.data, vectors.data + n * vectors.columns);
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

}  // namespace catenary::factor
