// Eigenvalues of general matrices: Hessenberg form by reflections, Schur form T by shifted QR steps, eigenvectors of T
// by back substitution. Real matrices use Francis' double steps, so that real eigenvalues stay exactly real.

#include <algorithm>
#include <cmath>
#include <vector>

#include "catenary/array/factor.h"
#include "catenary/array/reflections.h"
#include "catenary/core/parallel.h"

namespace catenary::factor {

namespace {

constexpr int kSteps = 60;  // for one eigenvalue; every tenth step uses another shift, in case the usual shifts repeat

double size(double x) { return std::abs(x); }
double size(const Complex& x) { return std::abs(x.real()) + std::abs(x.imag()); }

/// Replaces a by D⁻¹ a D, whose rows and columns have similar norms. Returns the diagonal of D, powers of two.
template <class T>
std::vector<double> balance(const Matrix<T>& a) {
  const std::int64_t n = a.rows;
  std::vector<double> scales(static_cast<std::size_t>(n), 1);
  for (bool again = true; again;) {
    again = false;
    for (std::int64_t i = 0; i < n; ++i) {
      double column = 0, row = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        if (j == i) continue;
        column += size(a.row(j)[i]);
        row += size(a.row(i)[j]);
      }
      if (column == 0 || row == 0) continue;
      const double before = column + row;
      double factor = 1, column_now = column, row_now = row;
      for (; column_now < row_now / 2; factor *= 2, column_now *= 2) row_now /= 2;
      for (; column_now >= row_now * 2; factor /= 2, column_now /= 2) row_now *= 2;
      double& scale = scales[static_cast<std::size_t>(i)];
      // Larger scales would overflow or underflow for strongly graded matrices.
      const bool fits = std::abs(std::ilogb(scale * factor)) < 500;
      if (factor == 1 || !fits || column_now + row_now >= 0.95 * before) continue;
      again = true;
      scale *= factor;
      for (std::int64_t j = 0; j < n; ++j) a.row(i)[j] /= factor;
      for (std::int64_t j = 0; j < n; ++j) a.row(j)[i] *= factor;
    }
  }
  return scales;
}

/// Replaces a by its Hessenberg form h, with a = q h qᴴ. The rows of qt, which may be empty, become the columns of q.
template <class T>
void hessenberg(const Matrix<T>& a, const Matrix<T>& qt) {
  const std::int64_t n = a.rows;
  Reflections<T> all(n - 1, n, 1);
  std::vector<T> conjugate(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    T* v = all.vector(k);
    const std::int64_t rest = n - k - 1;
    for (std::int64_t i = 0; i < rest; ++i) v[i] = a.row(k + 1 + i)[k];
    a.row(k + 1)[k] = reflector(v, rest, all.tau(k));
    for (std::int64_t i = k + 2; i < n; ++i) a.row(i)[k] = 0;
    std::transform(v, v + rest, conjugate.data(), [](const T& x) { return conjugated(x); });
    reflect_rows<T>({a.row(k + 1) + k + 1, rest, rest, n}, v, all.tau(k));
    reflect_columns<T>({a.row(0) + k + 1, n, rest, n}, conjugate.data(), all.tau(k));
  }
  all.columns_into_rows(qt);
}

/// Returns where the active block that ends at `last` begins: the element left of its first diagonal element is 0 or
/// negligible.
template <class T>
std::int64_t block_begin(const Matrix<T>& h, std::int64_t last) {
  for (std::int64_t i = last; i > 0; --i) {
    const double near = size(h.row(i - 1)[i - 1]) + size(h.row(i)[i]), below = size(h.row(i)[i - 1]);
    if (below <= kEpsilon / 2 * near || below < std::numeric_limits<double>::min()) {
      h.row(i)[i - 1] = 0;
      return i;
    }
  }
  return 0;
}

/// The rotation [[cosine, sine], [-conj(sine), cosine]] maps (x, y) to (r, 0).
struct Givens {
  double cosine = 1;
  Complex sine = 0;

  Givens(Complex x, Complex y) {
    if (y == 0.0) return;
    const double scale = std::max(size(x), size(y)) < 0x1p-500 ? 0x1p500 : 1;
    x *= scale;
    y *= scale;
    const double length = std::hypot(std::abs(x), std::abs(y));
    cosine = std::abs(x) / length;
    sine = times(x == 0.0 ? Complex(1) : x / std::abs(x), std::conj(y)) / length;
  }
  /// Rotates n elements of two rows.
  void rows(Complex* upper, Complex* lower, std::int64_t n) const {
    for (std::int64_t i = 0; i < n; ++i) {
      const Complex x = upper[i], y = lower[i];
      upper[i] = times(cosine, x) + times(sine, y);
      lower[i] = times(cosine, y) - times(std::conj(sine), x);
    }
  }
  /// Applies the adjoint to columns `at` and at + 1 of rows first … end - 1.
  void columns(const Matrix<Complex>& a, std::int64_t at, std::int64_t first, std::int64_t end) const {
    for (std::int64_t i = first; i < end; ++i) {
      Complex& left = a.row(i)[at];
      Complex& right = a.row(i)[at + 1];
      const Complex x = left, y = right;
      left = times(cosine, x) + times(std::conj(sine), y);
      right = times(cosine, y) - times(sine, x);
    }
  }
  /// Rotates Schur vectors, which are stored as rows: multiplies their unitary matrix by the adjoint.
  void vectors(const Matrix<Complex>& of, std::int64_t at) const {
    if (of.rows == 0) return;
    Complex *left = of.row(at), *right = of.row(at + 1);
    for (std::int64_t i = 0; i < of.columns; ++i) {
      const Complex x = left[i], y = right[i];
      left[i] = times(cosine, x) + times(std::conj(sine), y);
      right[i] = times(cosine, y) - times(sine, x);
    }
  }
};

/// Returns the eigenvalue of the 2 x 2 block that ends at `last` that is nearer to its last element.
Complex shift_of(const Matrix<Complex>& h, std::int64_t last) {
  const Complex a = h.row(last - 1)[last - 1], d = h.row(last)[last];
  const Complex bc = h.row(last - 1)[last] * h.row(last)[last - 1], p = (a - d) * 0.5, root = std::sqrt(p * p + bc);
  const Complex far = std::abs(p + root) > std::abs(p - root) ? p + root : p - root;
  return far == 0.0 ? d : d - bc / far;
}

/// Reduces a complex Hessenberg matrix to Schur form: completely if zt has rows, else only its diagonal. The rows of zt
/// are rotated along.
bool schur(const Matrix<Complex>& h, const Matrix<Complex>& zt, Complex* w) {
  const std::int64_t n = h.rows;
  int steps = 0;
  for (std::int64_t last = n - 1; last > 0;) {
    const std::int64_t first = block_begin(h, last);
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    if (++steps > kSteps) return false;
    const Complex shift = steps % 10 == 0 ? h.row(last)[last] + size(h.row(last)[last - 1]) : shift_of(h, last);
    const std::int64_t from = zt.rows > 0 ? 0 : first, end = zt.rows > 0 ? n : last + 1;
    Complex x = h.row(first)[first] - shift, y = h.row(first + 1)[first];
    for (std::int64_t k = first; k < last; ++k) {
      const Givens givens(x, y);
      const std::int64_t left = std::max(first, k - 1);
      givens.rows(h.row(k) + left, h.row(k + 1) + left, end - left);
      if (k > first) h.row(k + 1)[k - 1] = 0;
      givens.columns(h, k, from, std::min(k + 2, last) + 1);
      givens.vectors(zt, k);
      if (k + 1 < last) {
        x = h.row(k + 1)[k];
        y = h.row(k + 2)[k];
      }
    }
  }
  for (std::int64_t i = 0; i < n; ++i) w[i] = h.row(i)[i];
  return true;
}

/// A reflection of up to three rows and columns.
struct Bulge {
  double v[3];
  double tau = 0, beta;
  int n;

  Bulge(double x, double y, double z, int n) : v{x, y, z}, n(n) { beta = reflector(v, n, tau); }
  void rows(const Matrix<double>& of, std::int64_t at, std::int64_t first, std::int64_t end) const {
    if (tau == 0) return;
    for (std::int64_t j = first; j < end; ++j) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += v[i] * of.row(at + i)[j];
      for (int i = 0; i < n; ++i) of.row(at + i)[j] -= tau * sum * v[i];
    }
  }
  void columns(const Matrix<double>& of, std::int64_t at, std::int64_t first, std::int64_t end) const {
    if (tau == 0) return;
    for (std::int64_t i = first; i < end; ++i) {
      double* row = of.row(i) + at;
      double sum = 0;
      for (int j = 0; j < n; ++j) sum += v[j] * row[j];
      for (int j = 0; j < n; ++j) row[j] -= tau * sum * v[j];
    }
  }
};

/// Performs two steps at once. Their shifts are the eigenvalues of the last 2 x 2 block, or with `other` exceptional
/// shifts.
void double_step(const Matrix<double>& h, const Matrix<double>& zt, std::int64_t first, std::int64_t last, bool other) {
  const std::int64_t n = h.rows, from = zt.rows > 0 ? 0 : first, end = zt.rows > 0 ? n : last + 1;
  double a = h.row(last - 1)[last - 1], d = h.row(last)[last], bc = h.row(last - 1)[last] * h.row(last)[last - 1];
  if (other) {
    const double s = size(h.row(last)[last - 1]) + size(h.row(last - 1)[last - 2]);
    a = d = h.row(last)[last] + 0.75 * s;
    bc = -0.4375 * s * s;
  }
  // The first column of the product of both steps, divided by the element below the first.
  const double top = h.row(first)[first], next = h.row(first + 1)[first + 1], below = h.row(first + 1)[first];
  double x = ((a - top) * (d - top) - bc) / below + h.row(first)[first + 1], y = next + top - a - d,
         z = h.row(first + 2)[first + 1];
  for (std::int64_t k = first; k < last; ++k) {
    const int size = k + 2 <= last ? 3 : 2;
    const Bulge bulge(x, y, z, size);
    if (k > first) {
      h.row(k)[k - 1] = bulge.beta;
      for (int i = 1; i < size; ++i) h.row(k + i)[k - 1] = 0;
    }
    bulge.rows(h, k, k, end);
    bulge.columns(h, k, from, std::min(k + 3, last) + 1);
    if (zt.rows > 0) bulge.rows(zt, k, 0, n);
    if (k + 1 == last) break;
    x = h.row(k + 1)[k];
    y = h.row(k + 2)[k];
    z = k + 3 <= last ? h.row(k + 3)[k] : 0;
  }
}

/// Computes the eigenvalues of the 2 x 2 block that begins at k. If they are real, makes the block triangular.
void split(const Matrix<double>& h, const Matrix<double>& zt, std::int64_t k, Complex* w) {
  const double a = h.row(k)[k], b = h.row(k)[k + 1], c = h.row(k + 1)[k], d = h.row(k + 1)[k + 1];
  const double p = (a - d) / 2, scale = std::max({std::abs(p), std::abs(b), std::abs(c)});
  const double square = (p / scale) * (p / scale) + (b / scale) * (c / scale);
  if (square < 0) {
    w[k] = {d + p, scale * std::sqrt(-square)};
    w[k + 1] = std::conj(w[k]);
    return;
  }
  const double z = p + std::copysign(scale * std::sqrt(square), p);
  w[k] = d + z;
  w[k + 1] = z == 0 ? d : d - b / z * c;
  // (z, c) is an eigenvector of w[k].
  const double length = std::hypot(z, c), cosine = z / length, sine = c / length;
  const auto turn = [&](double& x, double& y) {
    const double left = x;
    x = cosine * left + sine * y;
    y = cosine * y - sine * left;
  };
  if (zt.rows > 0) {
    for (std::int64_t j = k; j < h.columns; ++j) turn(h.row(k)[j], h.row(k + 1)[j]);
    for (std::int64_t i = 0; i < k + 2; ++i) turn(h.row(i)[k], h.row(i)[k + 1]);
    for (std::int64_t j = 0; j < zt.columns; ++j) turn(zt.row(k)[j], zt.row(k + 1)[j]);
  }
  h.row(k + 1)[k] = 0;
}

/// Reduces a real Hessenberg matrix to Schur form. 2 x 2 blocks with complex eigenvalues remain.
bool schur(const Matrix<double>& h, const Matrix<double>& zt, Complex* w) {
  int steps = 0;
  for (std::int64_t last = h.rows - 1; last >= 0;) {
    const std::int64_t first = block_begin(h, last);
    if (first + 1 >= last) {
      if (first == last) {
        w[last] = h.row(last)[last];
      } else {
        split(h, zt, first, w);
      }
      last = first - 1;
      steps = 0;
      continue;
    }
    if (++steps > kSteps) return false;
    double_step(h, zt, first, last, steps % 10 == 0);
  }
  return true;
}

/// Makes the 2 x 2 blocks on the diagonal of t triangular.
void triangularise(const Matrix<Complex>& t, const Matrix<Complex>& zt, const Complex* w) {
  const std::int64_t n = t.rows;
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    if (t.row(k + 1)[k] == 0.0) continue;
    const Givens givens(w[k] - t.row(k + 1)[k + 1], t.row(k + 1)[k]);
    givens.rows(t.row(k) + k, t.row(k + 1) + k, n - k);
    givens.columns(t, k, 0, k + 2);
    givens.vectors(zt, k);
    t.row(k + 1)[k] = 0;
  }
}

/// Divides x by its norm and rotates it so that its largest element is positive.
void normalise(Complex* x, std::int64_t n) {
  const double length = norm(x, n);
  std::int64_t largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] /= length;
    // Among elements that are equal but for rounding, take the first.
    if (std::norm(x[i]) > std::norm(x[largest]) * (1 + 16 * kEpsilon)) largest = i;
  }
  const double top = std::abs(x[largest]);
  const Complex turn = std::conj(x[largest]) / top;
  for (std::int64_t i = 0; i < n; ++i) x[i] = times(turn, x[i]);
  x[largest] = top;
}

/// Sets the vectors of eigenvalues with a negative imaginary part, which follow their conjugates.
void conjugate_pairs(const Matrix<Complex>& vt, const Complex* w) {
  for (std::int64_t k = 0; k + 1 < vt.rows; ++k)
    if (w[k].imag() > 0)
      std::transform(vt.row(k), vt.row(k) + vt.columns, vt.row(k + 1), [](const Complex& x) { return std::conj(x); });
}

/// Writes the eigenvector of t's k-th eigenvalue to x: a combination of Schur vectors, multiplied by `scales`.
void eigenvector(const Matrix<Complex>& t, const Matrix<Complex>& zt, std::int64_t k, const std::vector<double>& scales,
                 Complex* x) {
  const std::int64_t n = t.rows;
  const Complex value = t.row(k)[k];
  double largest = std::numeric_limits<double>::min() / kEpsilon;
  for (std::int64_t i = 0; i <= k; ++i)
    for (std::int64_t j = i; j <= k; ++j) largest = std::max(largest, size(t.row(i)[j]));
  std::vector<Complex> y(static_cast<std::size_t>(k + 1));
  y.back() = 1;
  for (std::int64_t i = k - 1; i >= 0; --i) {
    Complex sum = 0;
    for (std::int64_t j = i + 1; j <= k; ++j) sum += times(t.row(i)[j], y[static_cast<std::size_t>(j)]);
    Complex gap = t.row(i)[i] - value;
    if (size(gap) < kEpsilon * largest) gap = kEpsilon * largest;  // for equal eigenvalues
    Complex& element = y[static_cast<std::size_t>(i)] = -sum / gap;
    if (const double grown = size(element); grown > 0x1p200)
      for (std::int64_t j = i; j <= k; ++j) y[static_cast<std::size_t>(j)] /= grown;
  }
  std::fill_n(x, n, Complex(0));
  for (std::int64_t j = 0; j <= k; ++j) add_multiple(x, y[static_cast<std::size_t>(j)], zt.row(j), n);
  // The scales may be powers of two far apart, so find the largest element first.
  double most = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] *= scales[static_cast<std::size_t>(i)];
    most = std::max(most, size(x[i]));
  }
  for (std::int64_t i = 0; i < n; ++i) x[i] /= most;
  normalise(x, n);
}

}  // namespace

template <class T>
bool eig(const Matrix<T>& a, Complex* w, const Matrix<Complex>& vt, bool vectors) {
  const std::int64_t n = a.rows;
  if (n == 0) return true;
  double* const elements = parts(a.data);
  const std::int64_t count = n * n * kParts<T>;
  double largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(elements[i]));
  // Scale by a power of two. Then nothing overflows, and only numbers far below rounding errors underflow.
  const int exponent = largest > 0 ? -std::ilogb(largest) : 0;
  for (std::int64_t i = 0; i < count; ++i) elements[i] = std::scalbn(elements[i], exponent);
  const std::vector<double> scales = balance(a);
  std::vector<T> schur_vectors(static_cast<std::size_t>(vectors ? n * n : 0));
  const Matrix<T> zt{schur_vectors.data(), vectors ? n : 0, n};
  hessenberg(a, zt);
  if (!schur(a, zt, w)) return false;
  if (vectors) {
    std::vector<Complex> form(a.data, a.data + n * n), turned(schur_vectors.begin(), schur_vectors.end());
    const Matrix<Complex> t{form.data(), n, n}, turned_zt{turned.data(), n, n};
    triangularise(t, turned_zt, w);
    for (std::int64_t k = 0; k < n; ++k) t.row(k)[k] = w[k];
    parallel_for(n, std::max<std::int64_t>(kGrain / (n * n), 1), [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t k = from; k < to; ++k) {
        Complex* x = vt.row(k);
        eigenvector(t, turned_zt, k, scales, x);
        if (kParts<T> == 2 || w[k].imag() != 0) continue;
        // The real part of a real eigenvalue's vector is also an eigenvector. Within a multiple eigenvalue, dropping
        // the imaginary part may remove more than rounding errors, but any combination is an eigenvector there.
        for (std::int64_t i = 0; i < n; ++i) x[i] = x[i].real();
        normalise(x, n);
      }
    });
    if (kParts<T> == 1) conjugate_pairs(vt, w);
  }
  for (std::int64_t k = 0; k < n; ++k)
    w[k] = {std::scalbn(w[k].real(), -exponent), std::scalbn(w[k].imag(), -exponent)};
  return true;
}

void normalise_rows(const Matrix<Complex>& vt, const Complex* w, bool real) {
  for (std::int64_t k = 0; k < vt.rows; ++k) normalise(vt.row(k), vt.columns);
  if (real) conjugate_pairs(vt, w);
}

template bool eig(const Matrix<double>& a, Complex* w, const Matrix<Complex>& vt, bool vectors);
template bool eig(const Matrix<Complex>& a, Complex* w, const Matrix<Complex>& vt, bool vectors);

}  // namespace catenary::factor
