// Spline coefficients, and values of splines between the elements.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "catenary/core/parallel.h"
#include "loops.h"

namespace catenary_python {

namespace {

constexpr int kTaps = 6;  // of a spline of order 5

/// Returns the poles of the inverse of the B-spline's filter.
std::vector<double> poles_of(int order) {
  using std::sqrt;
  switch (order) {
    case 2:
      return {sqrt(8.0) - 3};
    case 3:
      return {sqrt(3.0) - 2};
    case 4:
      return {sqrt(664 - sqrt(438976.0)) + sqrt(304.0) - 19, sqrt(664 + sqrt(438976.0)) - sqrt(304.0) - 19};
    default:
      return {sqrt(67.5 - sqrt(4436.25)) + sqrt(26.25) - 6.5, sqrt(67.5 + sqrt(4436.25)) - sqrt(26.25) - 6.5};
  }
}

/// Lines of n elements side by side: element k of line c is at k * width + c.
struct Lines {
  double* x;
  std::int64_t n, width;
  double* at(std::int64_t k) const { return x + k * width; }
};

/// Adds z^k times element source(k), for k < count, to `sums`. Stops where the terms are below rounding.
template <class F>
void add_powers(const Lines& lines, double z, std::int64_t count, double* sums, const F& source) {
  double power = 1;
  for (std::int64_t k = 0; k < count && std::abs(power) > 1e-30; ++k, power *= z) {
    const double* const from = lines.at(source(k));
    for (std::int64_t c = 0; c < lines.width; ++c) sums[c] += power * from[c];
  }
}

/// Replaces the lines by their filtering with one pole, forward and backward. `extension` is 'symmetric' (the edges
/// repeat), 'reflect' or 'wrap'.
void filter_lines(const Lines& lines, double z, const std::string& extension, std::vector<double>& scratch) {
  const std::int64_t n = lines.n, width = lines.width;
  scratch.assign(static_cast<std::size_t>(width), 0.0);
  double* const sums = scratch.data();
  const std::int64_t period = extension == "wrap" ? n : extension == "symmetric" ? 2 * n : 2 * n - 2;
  add_powers(lines, z, period, sums, [&](std::int64_t k) {  // element -k of the continued line
    if (extension == "wrap") return (n - k) % n;
    if (extension == "symmetric") return k == 0 ? 0 : k <= n ? k - 1 : 2 * n - k;
    return k < n ? k : 2 * n - 2 - k;
  });
  const double whole = 1 - std::pow(z, static_cast<double>(period));
  for (std::int64_t c = 0; c < width; ++c) lines.at(0)[c] = sums[c] / whole;
  for (std::int64_t k = 1; k < n; ++k)
    for (std::int64_t c = 0; c < width; ++c) lines.at(k)[c] += z * lines.at(k - 1)[c];
  double *const last = lines.at(n - 1), *const before = lines.at(n - 2);
  if (extension == "wrap") {
    std::fill(sums, sums + width, 0.0);
    add_powers(lines, z, n, sums, [&](std::int64_t k) { return (n - 1 + k) % n; });
    for (std::int64_t c = 0; c < width; ++c) last[c] = -z / whole * sums[c];
  } else if (extension == "symmetric") {
    for (std::int64_t c = 0; c < width; ++c) last[c] *= z / (z - 1);
  } else {
    for (std::int64_t c = 0; c < width; ++c) last[c] = z / (z * z - 1) * (z * before[c] + last[c]);
  }
  for (std::int64_t k = n - 2; k >= 0; --k)
    for (std::int64_t c = 0; c < width; ++c) lines.at(k)[c] = z * (lines.at(k + 1)[c] - lines.at(k)[c]);
}

/// Returns the spline coefficients of float64 x along an axis with at least two elements.
nb::object coefficients(const Array& x, int axis, int order, const std::string& extension) {
  if (!on_host({&x}) || x.dtype() != Dtype::float64) return nb::none();
  const Array out = Array::empty(x.shape(), x.dtype(), x.device());
  const double* const from = x.data<double>();
  double* const to = out.mutable_data<double>();
  const std::int64_t n = x.shape(axis);
  std::int64_t inner = 1;
  for (int k = axis + 1; k < x.ndim(); ++k) inner *= x.shape(k);
  const std::int64_t lines = x.size() / n, wide = std::clamp<std::int64_t>(8192 / n, 8, 256);
  const std::vector<double> poles = poles_of(order);
  double gain = 1;
  for (const double z : poles) gain *= (1 - z) * (1 - 1 / z);
  without_gil(is_large(x), [&] {
    ct::parallel_for((lines + wide - 1) / wide, std::max<std::int64_t>(1, 16384 / (n * wide)),
                     [&](std::int64_t begin, std::int64_t end) {
                       std::vector<double> block(static_cast<std::size_t>(n * wide)), scratch;
                       for (std::int64_t b = begin; b < end; ++b) {
                         const std::int64_t first = b * wide, width = std::min(wide, lines - first);
                         const auto start = [&](std::int64_t c) {
                           return (first + c) / inner * n * inner + (first + c) % inner;
                         };
                         for (std::int64_t c = 0; c < width; ++c)
                           for (std::int64_t k = 0, at = start(c); k < n; ++k, at += inner)
                             block[static_cast<std::size_t>(k * width + c)] = from[at] * gain;
                         for (const double z : poles) filter_lines({block.data(), n, width}, z, extension, scratch);
                         for (std::int64_t c = 0; c < width; ++c)
                           for (std::int64_t k = 0, at = start(c); k < n; ++k, at += inner)
                             to[at] = block[static_cast<std::size_t>(k * width + c)];
                       }
                     });
  });
  return nb::cast(out);
}

/// The neighbours along one axis that an interpolated value needs.
struct Taps {
  std::array<double, kTaps> weights;
  std::array<std::int64_t, kTaps> places;  // in elements from the array's first, or -1 for the constant
  bool is_outside;
};

/// Finds the neighbours of coordinates along an axis of n elements.
struct Axis {
  std::int64_t n, stride, border;
  int order;
  std::string mode;

  static double modulo(double x, double n) {
    const double r = std::fmod(x, n);
    return r < 0 ? r + n : r;
  }
  static std::int64_t modulo(std::int64_t x, std::int64_t n) { return (x % n + n) % n; }

  /// Maps a coordinate into the array.
  double inside(double c, bool& is_outside) const {
    const auto size = static_cast<double>(n - 2 * border);
    if (mode == "constant") {
      is_outside = c < 0 || c > size - 1;
      return is_outside ? 0 : c;
    }
    if (mode == "mirror") {
      if (size == 1) return 0;
      c = modulo(c, 2 * size - 2);
      return c > size - 1 ? 2 * size - 2 - c : c;
    }
    if (mode == "reflect") {
      c = modulo(c + 0.5, 2 * size);
      return (c > size ? 2 * size - c : c) - 0.5;
    }
    if (mode == "grid-wrap") return modulo(c, size);
    if (mode == "wrap") return size == 1 ? 0 : c >= 0 && c <= size - 1 ? c : modulo(c, size - 1);
    return c;
  }

  /// Maps an index into the array, or to -1 for the constant.
  std::int64_t element(std::int64_t i) const {
    if (i >= 0 && i < n) return i;
    if (mode == "grid-constant") return -1;
    if (mode == "nearest") return std::clamp<std::int64_t>(i, 0, n - 1);
    if (mode == "grid-wrap") return modulo(i, n);
    if (mode == "reflect") {
      i = modulo(i, 2 * n);
      return i >= n ? 2 * n - 1 - i : i;
    }
    if (n == 1) return 0;
    i = modulo(i, 2 * n - 2);
    return i >= n ? 2 * n - 2 - i : i;
  }

  /// Evaluates the B-splines around a coordinate at distance g, in [0, 1), from the previous element.
  void weigh(double g, std::array<double, kTaps>& w) const {
    // each order follows from the one below it: w[k] = ((k' + g) w[k - 1] + …) / order
    w[0] = 1;
    for (int p = 1; p <= order; ++p) {
      double carried = 0;
      for (int k = 0; k < p; ++k) {  // w[k] covers [k - g, …) of order p - 1
        const double right = g + (p - 1 - k), left = p - right, own = w[static_cast<std::size_t>(k)] / p;
        w[static_cast<std::size_t>(k)] = carried + left * own;
        carried = right * own;
      }
      w[static_cast<std::size_t>(p)] = carried;
    }
  }

  Taps find(double c) const {
    Taps taps;
    taps.is_outside = false;
    c = inside(c, taps.is_outside) + static_cast<double>(border);
    if (order % 2 == 0) c += 0.5;
    const double first = std::floor(c);
    // beyond int64, and for NaN, any element will do, as the value is NaN or far outside
    const auto start = std::abs(first) < 1e15 ? static_cast<std::int64_t>(first) - order / 2 : 0;
    weigh(c - first, taps.weights);
    for (int k = 0; k <= order; ++k) {
      const std::int64_t i = element(start + k);
      taps.places[static_cast<std::size_t>(k)] = i < 0 ? -1 : i * stride;
    }
    return taps;
  }
};

/// Sums the product of neighbours along the axes from `axis` on.
double sum_of(const double* x, const Taps* const* taps, int axis, int ndim, int order, double constant) {
  const Taps& own = *taps[axis];
  double sum = 0;
  for (int k = 0; k <= order; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const std::int64_t place = own.places[at];
    const double value = place < 0          ? constant
                         : axis + 1 == ndim ? x[place]
                                            : sum_of(x + place, taps, axis + 1, ndim, order, constant);
    sum += own.weights[at] * value;
  }
  return sum;
}

/// Interpolates the coefficients x at coordinates, one float64 array of the result's shape for each axis, which may
/// repeat values by strides of 0. `border` elements surround the array on each side.
nb::object interpolated(const Array& x, const std::vector<Array>& coordinates, int order, const std::string& mode,
                        double constant, std::int64_t border) {
  if (!on_host({&x}) || x.dtype() != Dtype::float64 || x.size() == 0 || coordinates.empty()) return nb::none();
  for (const Array& c : coordinates)
    if (!c.device().is_cpu() || c.dtype() != Dtype::float64 || c.shape() != coordinates[0].shape()) return nb::none();
  const ct::Shape& shape = coordinates[0].shape();
  const Array out = Array::empty(shape, x.dtype(), x.device());
  const int ndim = x.ndim(), last = shape.size() - 1;
  std::vector<Axis> axes;
  for (int k = 0; k < ndim; ++k) axes.push_back({x.shape(k), x.strides()[k], border, order, mode});
  std::vector<const double*> values;
  for (const Array& c : coordinates) values.push_back(c.data<double>());
  const double* const from = x.data<double>();
  double* const to = out.mutable_data<double>();
  const std::int64_t n = last < 0 ? 1 : shape[last], rows = out.size() / std::max<std::int64_t>(n, 1);
  without_gil(is_large(out), [&] {
    ct::parallel_for(rows, std::max<std::int64_t>(1, 1024 / n), [&](std::int64_t begin, std::int64_t end) {
      // the neighbours along an axis stay from row to row if its coordinates depend on the last index only
      std::vector<std::vector<Taps>> found(static_cast<std::size_t>(ndim));
      std::vector<const Taps*> taps(static_cast<std::size_t>(ndim));
      for (std::int64_t row = begin; row < end; ++row) {
        for (int a = 0; a < ndim; ++a) {
          const Array& c = coordinates[static_cast<std::size_t>(a)];
          std::vector<Taps>& own = found[static_cast<std::size_t>(a)];
          std::int64_t offset = 0, left = row;
          bool varies = false;
          for (int k = last - 1; k >= 0; --k) {
            offset += left % shape[k] * c.strides()[k];
            left /= shape[k];
            varies = varies || c.strides()[k] != 0;
          }
          if (!varies && !own.empty()) continue;
          const std::int64_t step = last < 0 ? 0 : c.strides()[last];
          own.resize(static_cast<std::size_t>(step == 0 ? 1 : n));
          for (std::size_t i = 0; i < own.size(); ++i)
            own[i] = axes[static_cast<std::size_t>(a)].find(
                values[static_cast<std::size_t>(a)][offset + static_cast<std::int64_t>(i) * step]);
        }
        for (std::int64_t i = 0; i < n; ++i) {
          bool is_outside = false;
          for (std::size_t a = 0; a < taps.size(); ++a) {
            taps[a] = &found[a][found[a].size() == 1 ? 0 : static_cast<std::size_t>(i)];
            is_outside = is_outside || taps[a]->is_outside;
          }
          to[row * n + i] = is_outside ? constant : sum_of(from, taps.data(), 0, ndim, order, constant);
        }
      }
    });
  });
  return nb::cast(out);
}

}  // namespace

void register_spline_loops(nb::module_& m) {
  m.def("_spline_coefficients", coefficients);
  m.def("_spline_values", interpolated);
}

}  // namespace catenary_python
