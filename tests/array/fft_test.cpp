// Compares catenary::fft with sums in long double.

#include "catenary/array/fft.h"

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <tuple>
#include <utility>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/array/view.h"
#include "catenary/core/error.h"
#include "catenary/device/float64.h"
#include "tests/array/complex_numbers.h"

namespace ct = catenary;
namespace fft = catenary::fft;
using namespace testing_arrays;
using ct::Dtype;
using ct::Shape;

namespace {

using Wide = std::complex<long double>;

std::vector<C> random_signal(std::int64_t n, unsigned seed, bool real = false) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> one(-1, 1);
  std::vector<C> all(static_cast<std::size_t>(n));
  for (C& z : all) z = {one(random), real ? 0 : one(random)};
  return all;
}

Dtype widest() { return ct::has_float64(ct::current_device()) ? Dtype::complex128 : Dtype::complex64; }

/// Returns the defining sums over one axis of [before, n, after], for `length` elements, times `scale`.
std::vector<C> sums(const std::vector<C>& x, std::int64_t before, std::int64_t n, std::int64_t after,
                    std::int64_t length, bool inverse, double scale) {
  const long double turn = (inverse ? 2 : -2) * std::acos(-1.0L) / static_cast<long double>(length);
  std::vector<C> y(static_cast<std::size_t>(before * length * after));
  for (std::int64_t b = 0; b < before; ++b)
    for (std::int64_t a = 0; a < after; ++a)
      for (std::int64_t f = 0; f < length; ++f) {
        Wide total = 0;
        for (std::int64_t t = 0; t < std::min(n, length); ++t)
          total += Wide(x[static_cast<std::size_t>((b * n + t) * after + a)]) *
                   std::polar(1.0L, turn * static_cast<long double>(f * t % length));
        y[static_cast<std::size_t>((b * length + f) * after + a)] = C(total * static_cast<long double>(scale));
      }
  return y;
}

void expect_near(const Array& a, const std::vector<C>& expected, const Shape& shape, Dtype dtype) {
  ASSERT_EQ(a.shape(), shape);
  ASSERT_EQ(a.dtype(), dtype);
  const std::vector<C> values = a.to_device(ct::Device()).to_vector<C>();
  ASSERT_EQ(values.size(), expected.size());
  double largest = 1;
  for (const C& z : expected) largest = std::max(largest, std::abs(z));
  const double close = (ct::part_dtype(dtype) == Dtype::float32 ? 2e-6 : 1e-14) * largest;
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_LE(std::abs(values[i] - expected[i]), close) << i;
}

TEST(FourierTransforms, OfAllLengthsOnAllAxes) {
  for (const Dtype dtype : {Dtype::complex64, widest()})
    for (const std::int64_t n : {1, 2, 3, 5, 8, 12, 17, 30, 97, 128}) {
      const std::vector<C> v = random_signal(2 * n * 3, static_cast<unsigned>(n));
      const Array x = from(v, {2, n, 3}, dtype);
      const std::vector<C> given = x.to_device(ct::Device()).to_vector<C>();
      for (const bool inverse : {false, true}) {
        const double scale = inverse ? 1 / static_cast<double>(n) : 1;
        const auto transform = inverse ? fft::ifft : fft::fft;
        expect_near(transform(x, {.axis = 1}), sums(given, 2, n, 3, n, inverse, scale), {2, n, 3}, dtype);
        expect_near(transform(x.transpose({0, 2, 1}), {}).transpose({0, 2, 1}), sums(given, 2, n, 3, n, inverse, scale),
                    {2, n, 3}, dtype);
        // truncated, and padded with zeros
        for (const std::int64_t length : {std::max<std::int64_t>(1, n - 2), n + 3})
          expect_near(transform(x, {.n = length, .axis = -2}),
                      sums(given, 2, n, 3, length, inverse, inverse ? 1 / static_cast<double>(length) : 1),
                      {2, length, 3}, dtype);
      }
    }
}

// On cards, up to 2048 elements of complex64 fit local memory, with a chirp up to 1024. Longer transforms take two
// steps. Checks some elements only, because sums for all would take long.
TEST(FourierTransforms, OfLongOnes) {
  for (const Dtype dtype : {Dtype::complex64, widest()})
    // 5402 is 73 times 74 and 56693 is 91 times 623, where 73 and 623 need chirps
    for (const std::int64_t n : {64, 1021, 2048, 2053, 2500, 5402, 6000, 56693})
      for (const auto& [before, after] : {std::pair(1, 1), {3, 1}, {1, 5}, {2, 3}, {17, 1}}) {
        if (n > 10000 && before * after > 1) continue;
        const Array x =
            from(random_signal(before * n * after, static_cast<unsigned>(n + after)), {before, n, after}, dtype);
        const std::vector<C> given = x.to_device(ct::Device()).to_vector<C>();
        for (const bool inverse : {false, true}) {
          const Array y = (inverse ? fft::ifft : fft::fft)(x, {.axis = 1, .norm = fft::Norm::ortho});
          const std::vector<C> values = y.to_device(ct::Device()).to_vector<C>();
          const double close = ct::part_dtype(dtype) == Dtype::float32 ? 4e-6 : 4e-14;
          for (const std::int64_t f : {std::int64_t{0}, std::int64_t{1}, n / 3, n / 2 + 1, n - 1})
            for (int b = 0; b < before; b += 2)
              for (int a = 0; a < after; a += 2) {
                Wide total = 0;
                for (std::int64_t t = 0; t < n; ++t)
                  total += Wide(given[static_cast<std::size_t>((b * n + t) * after + a)]) *
                           std::polar(1.0L, (inverse ? 2 : -2) * std::acos(-1.0L) *
                                                static_cast<long double>(f * t % n) / static_cast<long double>(n));
                const C expected(total / std::sqrt(static_cast<long double>(n)));
                ASSERT_LE(std::abs(values[static_cast<std::size_t>((b * n + f) * after + a)] - expected), close)
                    << dtype << ' ' << n << ' ' << before << ' ' << after << ' ' << inverse << ' ' << f;
              }
        }
      }
}

// Too long for two steps in local memory, so it takes one pass after another.
TEST(FourierTransforms, OfOneImpulseInManyElements) {
  const std::int64_t n = std::int64_t{1} << 23;
  Array x = ct::zeros({n}, Dtype::complex64);
  x(1).fill(1);
  const Array y = fft::fft(x);
  for (const std::int64_t f : {std::int64_t{0}, std::int64_t{1}, n / 4, n / 3, n / 2, n - 1}) {
    const C expected(
        std::polar(1.0L, -2 * std::acos(-1.0L) * static_cast<long double>(f) / static_cast<long double>(n)));
    EXPECT_LE(std::abs(y(f).to_device(ct::Device()).to_vector<C>()[0] - expected), 1e-6) << f;
  }
}

TEST(FourierTransforms, OfRealNumbersAndBack) {
  const Dtype part = ct::part_dtype(widest());
  for (const std::int64_t n : {1, 2, 5, 6, 31, 64}) {
    const Array x = from(random_signal(2 * n, static_cast<unsigned>(n), true), {2, n}, part);
    const std::vector<C> given = x.to_device(ct::Device()).to_vector<C>();
    const std::vector<C> whole = sums(given, 2, n, 1, n, false, 1);
    std::vector<C> half;
    for (std::int64_t r = 0; r < 2; ++r)
      for (std::int64_t f = 0; f <= n / 2; ++f) half.push_back(whole[static_cast<std::size_t>(r * n + f)]);
    const Array y = fft::rfft(x);
    expect_near(y, half, {2, n / 2 + 1}, widest());
    expect_near(fft::irfft(y, {.n = n}), given, {2, n}, part);
    expect_near(fft::hfft(fft::ihfft(x), {.n = n}), given, {2, n}, part);
    for (C& z : half) z = std::conj(z) / static_cast<double>(n);
    expect_near(fft::ihfft(x), half, {2, n / 2 + 1}, widest());
    expect_near(fft::fft(x), whole, {2, n}, widest());
    if (n % 2 == 0) expect_near(fft::irfft(y), given, {2, n}, part);
  }
  // not the transform of a real signal: the imaginary parts at both ends are ignored, as in NumPy
  const Array odd = from({{1, 5}, {2, 1}, {3, 7}}, {3}, Dtype::complex64);
  expect_near(fft::irfft(odd), {2, -1, 0, 0}, {4}, Dtype::float32);
}

// Long tables of factors are products of short ones.
TEST(FourierTransforms, OfManyRealNumbersAndBack) {
  for (const std::int64_t n : {2, 8194, 40000}) {
    for (const Dtype part : {Dtype::float32, ct::part_dtype(widest())}) {
      const double tolerance = part == Dtype::float32 ? 2e-6 : 4e-15;
      const std::int64_t count = n == 2 ? 33000 : 8;
      const Array x = from(random_signal(count * n, 5, true), {count, n}, part);
      const std::vector<double> given = x.to_vector<double>();
      const Array half = fft::fft(x)(ct::slice(), ct::slice(0, n / 2 + 1));
      EXPECT_LE(ct::max(ct::absolute(fft::rfft(x) - half)).item<double>(),
                std::sqrt(static_cast<double>(n)) * tolerance);
      EXPECT_LE(ct::max(ct::absolute(fft::rfft(x.T(), {.axis = 0}).T() - half)).item<double>(),
                std::sqrt(static_cast<double>(n)) * tolerance);
      const Array rows = fft::irfft(half), columns = fft::irfft(half.T(), {.axis = 0}).T();
      for (const Array& y : {rows, columns}) {
        const std::vector<double> found = y.to_vector<double>();
        for (std::size_t i = 0; i < given.size(); ++i) ASSERT_NEAR(found[i], given[i], tolerance) << n << " at " << i;
      }
    }
  }
}

TEST(FourierTransforms, NormsAndDtypes) {
  const Array x = from(random_signal(6, 1), {6}, Dtype::complex64);
  const std::vector<C> given = x.to_device(ct::Device()).to_vector<C>();
  const double root = 1 / std::sqrt(6.0);
  expect_near(fft::fft(x, {.norm = fft::Norm::ortho}), sums(given, 1, 6, 1, 6, false, root), {6}, Dtype::complex64);
  expect_near(fft::ifft(x, {.norm = fft::Norm::ortho}), sums(given, 1, 6, 1, 6, true, root), {6}, Dtype::complex64);
  expect_near(fft::fft(x, {.norm = fft::Norm::forward}), sums(given, 1, 6, 1, 6, false, 1 / 6.0), {6},
              Dtype::complex64);
  expect_near(fft::ifft(x, {.norm = fft::Norm::forward}), sums(given, 1, 6, 1, 6, true, 1), {6}, Dtype::complex64);
  for (const Dtype d : {Dtype::float16, Dtype::bfloat16, Dtype::float32})
    EXPECT_EQ(fft::fft(ct::ones({4}, d)).dtype(), Dtype::complex64) << d;
  for (const Dtype d : {Dtype::bool_, Dtype::int8, Dtype::int64})
    EXPECT_EQ(fft::rfft(ct::ones({4}, d)).dtype(), widest()) << d;
  EXPECT_EQ(ct::fft::irfft(ct::ones({3}, Dtype::float16)).dtype(), Dtype::float16);
  EXPECT_EQ(ct::fft::hfft(ct::ones({3}, Dtype::bfloat16)).dtype(), Dtype::bfloat16);
}

TEST(FourierTransforms, OfSeveralAxes) {
  const Array x = from(random_signal(4 * 3 * 6, 2), {4, 3, 6}, Dtype::complex64);
  const auto one_by_one = [](Array y, std::initializer_list<int> axes) {
    for (int axis : axes) y = fft::fft(y, {.axis = axis});
    return y.to_device(ct::Device()).to_vector<C>();
  };
  expect_near(fft::fftn(x), one_by_one(x, {0, 1, 2}), {4, 3, 6}, Dtype::complex64);
  expect_near(fft::fftn(x, {.axes = ct::Axes{0, -1}}), one_by_one(x, {0, 2}), {4, 3, 6}, Dtype::complex64);
  expect_near(fft::fftn(x, {.s = Shape{3, 6}}), one_by_one(x, {1, 2}), {4, 3, 6}, Dtype::complex64);
  expect_near(fft::ifftn(fft::fftn(x)), x.to_device(ct::Device()).to_vector<C>(), {4, 3, 6}, Dtype::complex64);
  EXPECT_EQ(fft::fftn(x, {.s = Shape{2, 8}}).shape(), (Shape{4, 2, 8}));
  const Array real = ct::real(x);
  expect_near(fft::irfftn(fft::rfftn(real), {.s = Shape{4, 3, 6}}), real.to_device(ct::Device()).to_vector<C>(),
              {4, 3, 6}, Dtype::float32);
  EXPECT_EQ(fft::rfftn(real).shape(), (Shape{4, 3, 4}));
  expect_near(fft::fftn(x, {.axes = ct::Axes{1, 0, -2}}), one_by_one(x, {1, 0, 1}), {4, 3, 6}, Dtype::complex64);
  EXPECT_EQ(fft::fftn(x, {.axes = ct::Axes{}}).shape(), x.shape());
}

TEST(FourierTransforms, FrequenciesAndShifts) {
  const Dtype part = ct::part_dtype(widest());
  expect_array(fft::fftfreq(5, 0.5), {0, 0.4, 0.8, -0.8, -0.4}, {5}, part, 1e-6);
  expect_array(fft::fftfreq(4), {0, 0.25, -0.5, -0.25}, {4}, part, 1e-6);
  expect_array(fft::rfftfreq(5), {0, 0.2, 0.4}, {3}, part, 1e-6);
  const Array x = ct::arange(6).reshape({2, 3});
  expect_array(fft::fftshift(x), {5, 3, 4, 2, 0, 1}, {2, 3}, Dtype::int64);
  expect_array(fft::ifftshift(fft::fftshift(x)), {0, 1, 2, 3, 4, 5}, {2, 3}, Dtype::int64);
  expect_array(fft::fftshift(x, 1), {2, 0, 1, 5, 3, 4}, {2, 3}, Dtype::int64);
}

// Imaginary parts at the ends are ignored, whatever their values. Results are contiguous.
TEST(FourierTransforms, OfRealResultsAlone) {
  // a length whose transform mixes the parts of all elements
  const double inf = std::numeric_limits<double>::infinity();
  for (const auto& [first, middle] :
       {std::pair(inf, 0.0), std::pair(0.0, -inf), std::pair(std::nan(""), 1.0), std::pair(1e30, -1e30)}) {
    std::vector<C> ones(1010, 1), expected(2018, 0);
    ones.front() = {1, first};
    ones.back() = {1, middle};
    expected.front() = 1;
    expect_near(fft::irfft(from(ones, {1010}, Dtype::complex64)), expected, {2018}, Dtype::float32);
  }
  // with an odd length, the last element has a mirror image
  expect_near(fft::irfft(from({{3, 5}, {0, 3}}, {2}, Dtype::complex64), {.n = 3}),
              {1, 1 - std::sqrt(3.0), 1 + std::sqrt(3.0)}, {3}, Dtype::float32);
  const Array x = from(random_signal(10, 4, true), {2, 5}, Dtype::float32);
  EXPECT_TRUE(fft::rfft(x).is_contiguous() && fft::irfft(x).is_contiguous() && fft::ihfft(x).is_contiguous());
  for (const Dtype d : {Dtype::float16, Dtype::bfloat16}) {
    const Array narrow = x.astype(d), wide = narrow.astype(Dtype::float32);
    EXPECT_EQ(fft::rfft(narrow).to_vector<C>(), fft::rfft(wide).to_vector<C>());
    EXPECT_EQ(fft::irfft(narrow).to_vector<float>(), fft::irfft(wide).astype(d).to_vector<float>());
  }
}

TEST(FourierTransforms, NormsOfHalves) {
  const Dtype part = ct::part_dtype(widest());
  for (const std::int64_t n : {5, 6}) {
    const Array x = from(random_signal(n, 3, true), {n}, part);
    const std::vector<C> given = x.to_device(ct::Device()).to_vector<C>();
    const double root = 1 / std::sqrt(static_cast<double>(n)), count = 1 / static_cast<double>(n);
    const std::vector<C> whole = sums(given, 1, n, 1, n, false, 1);
    const Array half = from({whole.begin(), whole.begin() + n / 2 + 1}, {n / 2 + 1}, widest());
    for (const auto& [norm, forth, back] : {std::tuple(fft::Norm::backward, 1.0, count),
                                            {fft::Norm::ortho, root, root},
                                            {fft::Norm::forward, count, 1.0}}) {
      const auto first = [&](std::vector<C> all) {
        all.resize(static_cast<std::size_t>(n / 2 + 1));
        return all;
      };
      expect_near(fft::rfft(x, {.norm = norm}), first(sums(given, 1, n, 1, n, false, forth)), {n / 2 + 1}, widest());
      expect_near(fft::ihfft(x, {.norm = norm}), first(sums(given, 1, n, 1, n, true, back)), {n / 2 + 1}, widest());
      expect_near(fft::irfft(half, {.n = n, .norm = norm}), sums(whole, 1, n, 1, n, true, back), {n}, part);
      expect_near(fft::hfft(half, {.n = n, .norm = norm}), sums(whole, 1, n, 1, n, false, forth), {n}, part);
    }
  }
}

TEST(FourierTransforms, OfSeveralAxesOfRealNumbers) {
  const Array x = from(random_signal(4 * 3 * 5, 6, true), {4, 3, 5}, Dtype::float32);
  const std::vector<C> given = x.to_device(ct::Device()).to_vector<C>();
  const auto values = [](const Array& y) { return y.to_device(ct::Device()).to_vector<C>(); };
  for (const auto norm : {fft::Norm::backward, fft::Norm::ortho, fft::Norm::forward}) {
    const Array half = fft::rfftn(x, {.axes = ct::Axes{2, 0}, .norm = norm});
    expect_near(half, values(fft::fftn(x, {.axes = ct::Axes{0, 2}, .norm = norm})(ct::slice(0, 3))), {3, 3, 5},
                Dtype::complex64);
    expect_near(fft::irfftn(half, {.s = Shape{5, 4}, .axes = ct::Axes{2, 0}, .norm = norm}), given, {4, 3, 5},
                Dtype::float32);
    expect_near(fft::ifftn(fft::fftn(x, {.norm = norm}), {.norm = norm}), given, {4, 3, 5}, Dtype::complex64);
  }
  EXPECT_EQ(fft::fftn(x, {.axes = ct::Axes{}}).dtype(), Dtype::complex64);
  EXPECT_EQ(fft::irfftn(ct::ones({0, 3}, Dtype::complex64), {.axes = ct::Axes{1}}).shape(), (Shape{0, 4}));
  EXPECT_THROW(fft::rfftn(x, {.axes = ct::Axes{}}), ct::ShapeError);
  EXPECT_THROW(fft::irfftn(x, {.axes = ct::Axes{}}), ct::ShapeError);
}

TEST(FourierTransforms, FrequenciesOfSamplesThatAreFarApart) {
  const Dtype part = ct::part_dtype(widest());
  expect_array(fft::rfftfreq(6, 0.25), {0, 2 / 3.0, 4 / 3.0, 2}, {4}, part, 1e-6);
  expect_array(fft::fftfreq(1, 3), {0}, {1}, part);
  EXPECT_THROW(fft::fftfreq(0), ct::ValueError);
  EXPECT_THROW(fft::rfftfreq(0), ct::ValueError);
  const Array x = ct::arange(6).reshape({2, 3});
  const Array same = fft::fftshift(x, ct::Axes{});
  expect_array(same, {0, 1, 2, 3, 4, 5}, {2, 3}, Dtype::int64);
  expect_array(fft::fftshift(x, ct::Axes{1, -1}), {1, 2, 0, 4, 5, 3}, {2, 3},
               Dtype::int64);  // shifted twice, as in NumPy
  EXPECT_THROW(fft::fftshift(x, 2), ct::ShapeError);
  same.fill(7);  // no axes: returns a copy too
  EXPECT_EQ(x(1, 2).item<int>(), 5);
}

TEST(FourierTransforms, OfWhatIsNoTransform) {
  const Array x = ct::ones({4, 3}, Dtype::float32);
  EXPECT_THROW(fft::fft(x, {.axis = 2}), ct::ShapeError);
  EXPECT_THROW(fft::fft(x, {.n = 0}), ct::ValueError);
  EXPECT_THROW(fft::fft(ct::ones({4, 0}, Dtype::float32)), ct::ValueError);
  EXPECT_THROW(fft::irfft(ct::ones({3, 1}, Dtype::complex64)), ct::ValueError);  // a length of 2 (1 - 1)
  EXPECT_THROW(fft::hfft(x, {.n = 0}), ct::ValueError);
  EXPECT_THROW(fft::rfft(x.astype(Dtype::complex64)), ct::DtypeError);
  EXPECT_THROW(fft::fftn(x, {.s = Shape{1, 2, 3}}), ct::ShapeError);
  EXPECT_THROW(fft::fftn(x, {.s = Shape{1}, .axes = ct::Axes{0, 1}}), ct::ShapeError);
  EXPECT_THROW(fft::fft(ct::ones({}, Dtype::float32)), ct::ShapeError);
  EXPECT_EQ(fft::fft(ct::ones({0, 4}, Dtype::float32)).shape(), (Shape{0, 4}));
}

}  // namespace
