// Compares Fourier transforms on the current device with sums in float64.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/core/parallel.h"
#include "catenary/device/device.h"
#include "tests/device/same.h"

namespace catenary {
namespace {

using Complex = std::complex<double>;
using Spectrum = std::vector<Complex>;

Spectrum signal(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  Spectrum values(static_cast<std::size_t>(n));
  const auto number = [&] { return static_cast<float>(random() % 20001) / 10000 - 1; };
  for (Complex& value : values) value = {number(), number()};
  return values;
}

/// Direct sums over rows of n elements.
class Sums {
 public:
  Sums(std::int64_t n, bool inverse) : n_(n) {
    for (std::int64_t j = 0; j < n; ++j)
      roots_.push_back(
          std::polar(1.0, (inverse ? 2 : -2) * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n)));
  }
  /// Returns the sum for a frequency of the row at x.
  Complex at(const Complex* x, std::int64_t frequency) const {
    long double re = 0, im = 0;
    std::int64_t place = 0;
    for (std::int64_t t = 0; t < n_; ++t) {
      const Complex w = roots_[static_cast<std::size_t>(place)];
      re += x[t].real() * w.real() - x[t].imag() * w.imag();
      im += x[t].real() * w.imag() + x[t].imag() * w.real();
      place += frequency;
      if (place >= n_) place -= n_;
    }
    return {static_cast<double>(re), static_cast<double>(im)};
  }

 private:
  std::int64_t n_;
  Spectrum roots_;
};
Spectrum all_sums(const Spectrum& x, std::int64_t n, bool inverse = false) {
  const Sums sums(n, inverse);
  Spectrum y;
  for (std::size_t row = 0; row < x.size(); row += static_cast<std::size_t>(n))
    for (std::int64_t f = 0; f < n; ++f) y.push_back(sums.at(&x[row], f));
  return y;
}

/// Complex rows as a pair of arrays.
struct Pair {
  Array re, im;

  Pair(const Shape& shape, Dtype dtype) : re(Array::empty(shape, dtype)), im(Array::empty(shape, dtype)) {}
  Pair(const Array& re, const Array& im) : re(re), im(im) {}
  static Pair of(const Spectrum& x, const Shape& shape, Dtype dtype) {
    std::vector<float> re, im;
    for (const Complex& value : x) {
      re.push_back(static_cast<float>(value.real()));
      im.push_back(static_cast<float>(value.imag()));
    }
    return {Array::from_host(re.data(), shape, Dtype::float32).astype(dtype),
            Array::from_host(im.data(), shape, Dtype::float32).astype(dtype)};
  }
  Spectrum values() const {
    const auto a = re.to_vector<double>(), b = im.to_vector<double>();
    Spectrum all;
    for (std::size_t i = 0; i < a.size(); ++i) all.emplace_back(a[i], b[i]);
    return all;
  }
};

/// Transforms rows, or along the middle axis of three.
void transform(const Pair& x, const Pair& y, bool inverse = false, double scale = 1) {
  const auto three = [](const Array& a) { return a.ndim() == 3 ? a : expand_dims(a, 2); };
  const View im = readable(three(x.im));
  compute(x.re.device(),
          primitives::Fft{inverse, scale, readable(three(x.re)), &im, writable(three(y.re)), writable(three(y.im))});
}

/// Returns the largest difference relative to the root mean square.
double difference(const Spectrum& a, const Spectrum& b) {
  double square = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    square += std::norm(b[i]);
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest / std::sqrt(square / static_cast<double>(a.size()));
}

std::vector<Dtype> wide_dtypes() {
  return current_device().info().has_f64 ? std::vector{Dtype::float32, Dtype::float64} : std::vector{Dtype::float32};
}
double tolerance(Dtype dtype) { return dtype == Dtype::float64 ? 4e-15 : 2e-6; }

void expect_transforms(std::int64_t rows, std::int64_t n, Dtype dtype) {
  const Spectrum x = signal(rows * n, static_cast<unsigned>(n));
  const Pair in = Pair::of(x, {rows, n}, dtype), out({rows, n}, dtype);
  transform(in, out);
  EXPECT_LT(difference(out.values(), all_sums(x, n)), tolerance(dtype)) << n;
  const Pair back({rows, n}, dtype);
  transform(out, back, true, 1.0 / static_cast<double>(n));
  EXPECT_LT(difference(back.values(), x), tolerance(dtype)) << n << " back";
}

TEST(Fft, EveryShortLength) {
  for (const Dtype dtype : wide_dtypes())
    for (std::int64_t n = 1; n <= 64; n += testing_devices::small() ? 9 : 1)
      expect_transforms(n % 3 == 0 ? 19 : 3, n, dtype);
}

TEST(Fft, PrimesAndTheirMultiples) {
  const bool few = !current_device().is_cpu();
  for (const Dtype dtype : wide_dtypes()) {
    int count = 0;
    for (std::int64_t n = 67; n <= 1009; n += 2) {
      bool prime = true;
      for (std::int64_t d = 3; d * d <= n; d += 2) prime = prime && n % d != 0;
      if (prime && (!few || ++count % 24 == 1)) expect_transforms(1, n, dtype);
    }
    for (const std::int64_t n : {2 * 127, 4 * 131, 13 * 17, 3 * 5 * 7 * 11, 8 * 8 * 9, 1018})
      expect_transforms(2, n, dtype);
  }
}

void expect_long_transform(std::int64_t n) {
  const bool cpu = current_device().is_cpu();
  const Spectrum x = signal(n, 5);
  const Sums sums(n, false);
  std::vector<std::size_t> frequencies;
  Spectrum expected;
  for (std::int64_t i = 0; i < (cpu ? 64 : 4); ++i) {
    frequencies.push_back(static_cast<std::size_t>(i * i * 251 % n));
    expected.push_back(sums.at(x.data(), i * i * 251 % n));
  }
  for (const Dtype dtype : wide_dtypes()) {
    const Pair in = Pair::of(x, {1, n}, dtype), out({1, n}, dtype);
    transform(in, out);
    const Spectrum y = out.values();
    Spectrum some;
    for (const std::size_t frequency : frequencies) some.push_back(y[frequency]);
    EXPECT_LT(difference(some, expected), tolerance(dtype));
    transform(out, out, true, 1.0 / static_cast<double>(n));
    EXPECT_LT(difference(out.values(), x), tolerance(dtype)) << "back, in its place";
  }
}

TEST(Fft, ALongLength) { expect_long_transform(current_device().is_cpu() ? 1 << 20 : testing_devices::large(1 << 16)); }

// On a processor its convolution takes two steps.
TEST(Fft, ALongPrime) { expect_long_transform(current_device().is_cpu() ? 100003 : testing_devices::large(10007)); }

TEST(Fft, AnyStridesAndRealInput) {
  const std::int64_t rows = 11, n = 60;
  const Spectrum x = signal(rows * n, 9);
  const Spectrum expected = all_sums(x, n), backwards = all_sums(x, n, true);
  const Dtype dtype = Dtype::float32;
  const Pair in = Pair::of(x, {rows, n}, dtype);
  // interleaved complex numbers in place, columns, and reversed rows
  const Array numbers = Array::empty({rows, n, 2}, dtype), columns = Array::empty({2, n, rows}, dtype),
              reversed = Array::empty({2, rows, n}, dtype);
  for (const Pair& lie : {Pair(numbers(ellipsis, 0), numbers(ellipsis, 1)), Pair(columns[0].T(), columns[1].T()),
                          Pair(reversed[0](slice(none, none, -1)), reversed[1](slice(none), slice(none, none, -1)))}) {
    lie.re.set_at({ellipsis}, in.re);
    lie.im.set_at({ellipsis}, in.im);
    const Pair out({rows, n}, dtype);
    transform(lie, out, true, 0.5);
    Spectrum half = backwards;
    for (Complex& value : half) value *= 0.5;
    EXPECT_LT(difference(out.values(), half), tolerance(dtype));
    transform(lie, lie);
    EXPECT_LT(difference(lie.values(), expected), tolerance(dtype));
  }
  Spectrum real = x;
  for (Complex& value : real) value = value.real();
  const Pair out({rows, n}, dtype);
  for (const bool inverse : {false, true}) {
    compute(in.re.device(), primitives::Fft{inverse, 1, readable(expand_dims(in.re, 2)), nullptr,
                                            writable(expand_dims(out.re, 2)), writable(expand_dims(out.im, 2))});
    EXPECT_LT(difference(out.values(), all_sums(real, n, inverse)), tolerance(dtype));
  }
}

/// Three axes, with complex numbers that are interleaved or in separate arrays.
TEST(Fft, AlongAMiddleAxis) {
  const std::vector<Shape> small = {{2, 12, 5}, {1, 30, 40}, {3, 64, 17}, {5, 7, 1},
                                    {40, 9, 2}, {2, 131, 3}, {21, 35, 1}};
  const std::vector<Shape> long_ones = {{1, 300, 1}, {2, 1000, 1}, {1, 1485, 2}, {3, 1216, 1}};
  std::vector<Shape> shapes = small;
  if (current_device().is_cpu()) shapes.insert(shapes.end(), long_ones.begin(), long_ones.end());
  for (const Dtype dtype : wide_dtypes())
    for (const Shape& shape : shapes) {
      SCOPED_TRACE(::testing::PrintToString(shape.product()) + " numbers along " + std::to_string(shape[1]));
      const std::int64_t n = shape[1];
      const Spectrum x = signal(shape.product(), static_cast<unsigned>(n));  // rows, rearranged in `lying`
      const auto lying = [&](const Array& rows) { return moveaxis(rows.reshape({shape[0], shape[2], n}), 2, 1); };
      const auto in_rows = [&](const Pair& lie) {
        return Pair(moveaxis(lie.re, 1, 2).copy(), moveaxis(lie.im, 1, 2).copy()).values();
      };
      const Pair rows = Pair::of(x, {shape[0] * shape[2], n}, dtype);
      const Array turns = Array::empty({2, shape[0], n, shape[2], 2}, dtype);
      const Pair apart(shape, dtype), in_turn(turns[0](ellipsis, 0), turns[0](ellipsis, 1)),
          other(turns[1](ellipsis, 0), turns[1](ellipsis, 1));
      for (const bool inverse : {false, true}) {
        const Spectrum expected = all_sums(x, n, inverse);
        for (const Pair& from : {apart, in_turn})
          for (const Pair& to : {apart, in_turn, other}) {
            from.re.set(lying(rows.re));
            from.im.set(lying(rows.im));
            transform(from, to, inverse, 2);
            Spectrum y = in_rows(to);
            for (Complex& value : y) value *= 0.5;
            EXPECT_LT(difference(y, expected), tolerance(dtype));
          }
      }
    }
}

/// Too long for vectors of transforms to fit a cache. Each equals its transform alone.
TEST(Fft, LongOnesBesideEachOther) {
  const std::int64_t n = testing_devices::large(8192), count = 20;
  const Spectrum x = signal(n * count, 8);
  const Sums sums(n, false);
  for (const Dtype dtype : wide_dtypes()) {
    const Pair rows = Pair::of(x, {count, n}, dtype), in(rows.re.T().copy(), rows.im.T().copy()),
               out({1, n, count}, dtype), alone({1, n}, dtype);
    transform({expand_dims(in.re, 0), expand_dims(in.im, 0)}, out);
    for (const std::int64_t row : {0, 7, 19}) {
      const Index whole = slice(row, row + 1);
      transform({rows.re(whole), rows.im(whole)}, alone);
      const Spectrum found = Pair(out.re(0, ellipsis, row).copy(), out.im(0, ellipsis, row).copy()).values();
      EXPECT_LT(difference(found, alone.values()), tolerance(dtype));
      const std::int64_t f = 1234 % n;
      EXPECT_LT(std::abs(found[static_cast<std::size_t>(f)] - sums.at(&x[static_cast<std::size_t>(row * n)], f)),
                tolerance(dtype) * std::sqrt(static_cast<double>(n)));
    }
  }
}

TEST(Fft, HasTheSameBitsForAnyNumberOfThreads) {
  const int threads = num_threads();
  for (const Shape& shape : {Shape{50, 96}, Shape{1, 4096}}) {
    const Pair in = Pair::of(signal(shape.product(), 3), shape, Dtype::float32), one(shape, Dtype::float32),
               three(shape, Dtype::float32);
    set_num_threads(1);
    transform(in, one);
    set_num_threads(3);
    transform(in, three);
    set_num_threads(threads);
    EXPECT_TRUE(testing_devices::same(one.re, three.re) && testing_devices::same(one.im, three.im));
  }
}

}  // namespace
}  // namespace catenary
