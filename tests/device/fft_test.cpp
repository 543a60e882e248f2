// Fourier transforms on the current device against sums in float64.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/indexing.h"
#include "catenary/core/parallel.h"
#include "catenary/device/device.h"
#include "tests/device/same.h"

namespace catenary {
namespace {

using Complex = std::complex<double>;
using Values = std::vector<Complex>;

Values numbers(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  Values values(static_cast<std::size_t>(n));
  const auto number = [&] { return static_cast<float>(random() % 20001) / 10000 - 1; };
  for (Complex& value : values) value = {number(), number()};
  return values;
}

/// Sums over rows of n elements.
class Sums {
 public:
  Sums(std::int64_t n, bool inverse) : n_(n) {
    for (std::int64_t j = 0; j < n; ++j)
      roots_.push_back(
          std::polar(1.0, (inverse ? 2 : -2) * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n)));
  }
  /// That of a frequency, for the row that begins at x.
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
  Values roots_;
};
Values all_sums(const Values& x, std::int64_t n, bool inverse = false) {
  const Sums sums(n, inverse);
  Values y;
  for (std::size_t row = 0; row < x.size(); row += static_cast<std::size_t>(n))
    for (std::int64_t f = 0; f < n; ++f) y.push_back(sums.at(&x[row], f));
  return y;
}

/// Complex rows as a pair of arrays.
struct Pair {
  Array re, im;

  Pair(const Shape& shape, Dtype dtype) : re(Array::empty(shape, dtype)), im(Array::empty(shape, dtype)) {}
  Pair(const Array& re, const Array& im) : re(re), im(im) {}
  static Pair of(const Values& x, const Shape& shape, Dtype dtype) {
    std::vector<float> re, im;
    for (const Complex& value : x) {
      re.push_back(static_cast<float>(value.real()));
      im.push_back(static_cast<float>(value.imag()));
    }
    return {Array::from_host(re.data(), shape, Dtype::float32).astype(dtype),
            Array::from_host(im.data(), shape, Dtype::float32).astype(dtype)};
  }
  Values values() const {
    const auto a = re.to_vector<double>(), b = im.to_vector<double>();
    Values all;
    for (std::size_t i = 0; i < a.size(); ++i) all.emplace_back(a[i], b[i]);
    return all;
  }
};

void transform(const Pair& x, const Pair& y, bool inverse = false, double scale = 1) {
  const View im = readable(x.im);
  compute(x.re.device(), primitives::Fft{inverse, scale, readable(x.re), &im, writable(y.re), writable(y.im)});
}

/// The largest difference, in parts of the root of the mean square.
double difference(const Values& a, const Values& b) {
  double square = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    square += std::norm(b[i]);
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest / std::sqrt(square / static_cast<double>(a.size()));
}

std::vector<Dtype> dtypes() {
  return current_device().info().has_f64 ? std::vector{Dtype::float32, Dtype::float64} : std::vector{Dtype::float32};
}
double tolerance(Dtype dtype) { return dtype == Dtype::float64 ? 4e-15 : 2e-6; }

void expect_transforms(std::int64_t rows, std::int64_t n, Dtype dtype) {
  const Values x = numbers(rows * n, static_cast<unsigned>(n));
  const Pair in = Pair::of(x, {rows, n}, dtype), out({rows, n}, dtype);
  transform(in, out);
  EXPECT_LT(difference(out.values(), all_sums(x, n)), tolerance(dtype)) << n;
  const Pair back({rows, n}, dtype);
  transform(out, back, true, 1.0 / static_cast<double>(n));
  EXPECT_LT(difference(back.values(), x), tolerance(dtype)) << n << " back";
}

TEST(Fft, EveryShortLength) {
  for (const Dtype dtype : dtypes())
    for (std::int64_t n = 1; n <= 64; n += testing_devices::small() ? 9 : 1)
      expect_transforms(n % 3 == 0 ? 19 : 3, n, dtype);
}

TEST(Fft, PrimesAndTheirMultiples) {
  const bool few = !current_device().is_cpu();
  for (const Dtype dtype : dtypes()) {
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

TEST(Fft, ALongLength) {
  const bool cpu = current_device().is_cpu();
  const std::int64_t n = cpu ? 1 << 20 : testing_devices::large(1 << 16);
  const Values x = numbers(n, 5);
  const Sums sums(n, false);
  std::vector<std::size_t> frequencies;
  Values expected;
  for (std::int64_t i = 0; i < (cpu ? 64 : 4); ++i) {
    frequencies.push_back(static_cast<std::size_t>(i * i * 251 % n));
    expected.push_back(sums.at(x.data(), i * i * 251 % n));
  }
  for (const Dtype dtype : dtypes()) {
    const Pair in = Pair::of(x, {1, n}, dtype), out({1, n}, dtype);
    transform(in, out);
    const Values y = out.values();
    Values some;
    for (const std::size_t frequency : frequencies) some.push_back(y[frequency]);
    EXPECT_LT(difference(some, expected), tolerance(dtype));
    transform(out, out, true, 1.0 / static_cast<double>(n));
    EXPECT_LT(difference(out.values(), x), tolerance(dtype)) << "back, in its place";
  }
}

TEST(Fft, AnyStridesAndRealInput) {
  const std::int64_t rows = 11, n = 60;
  const Values x = numbers(rows * n, 9);
  const Values expected = all_sums(x, n), backwards = all_sums(x, n, true);
  const Dtype dtype = Dtype::float32;
  const Pair in = Pair::of(x, {rows, n}, dtype);
  // interleaved complex numbers, in their place; columns; rows that are walked backwards
  const Array numbers = Array::empty({rows, n, 2}, dtype), columns = Array::empty({2, n, rows}, dtype),
              reversed = Array::empty({2, rows, n}, dtype);
  for (const Pair& lie : {Pair(numbers(ellipsis, 0), numbers(ellipsis, 1)), Pair(columns[0].T(), columns[1].T()),
                          Pair(reversed[0](slice(none, none, -1)), reversed[1](slice(none), slice(none, none, -1)))}) {
    lie.re.set_at({ellipsis}, in.re);
    lie.im.set_at({ellipsis}, in.im);
    const Pair out({rows, n}, dtype);
    transform(lie, out, true, 0.5);
    Values half = backwards;
    for (Complex& value : half) value *= 0.5;
    EXPECT_LT(difference(out.values(), half), tolerance(dtype));
    transform(lie, lie);
    EXPECT_LT(difference(lie.values(), expected), tolerance(dtype));
  }
  Values real = x;
  for (Complex& value : real) value = value.real();
  const Pair out({rows, n}, dtype);
  for (const bool inverse : {false, true}) {
    compute(in.re.device(), primitives::Fft{inverse, 1, readable(in.re), nullptr, writable(out.re), writable(out.im)});
    EXPECT_LT(difference(out.values(), all_sums(real, n, inverse)), tolerance(dtype));
  }
}

TEST(Fft, HasTheSameBitsForAnyNumberOfThreads) {
  const int threads = num_threads();
  const Pair in = Pair::of(numbers(50 * 96, 3), {50, 96}, Dtype::float32), one({50, 96}, Dtype::float32),
             three({50, 96}, Dtype::float32);
  set_num_threads(1);
  transform(in, one);
  set_num_threads(3);
  transform(in, three);
  set_num_threads(threads);
  EXPECT_TRUE(testing_devices::same(one.re, three.re) && testing_devices::same(one.im, three.im));
}

}  // namespace
}  // namespace catenary
