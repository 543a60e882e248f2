// Compares the math prelude with long double libm: largest error in ulps over sweeps of the whole range, special
// values, signs.
#include "catenary/ops/math.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "catenary/core/half.h"
#include "tests/paths.h"

namespace {

using namespace catenary::math;
using Wide = long double;

template <class T>
struct Bits;
template <>
struct Bits<float> {
  using type = std::uint32_t;
};
template <>
struct Bits<double> {
  using type = std::uint64_t;
};

template <class T>
constexpr T inf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T nan_of = std::numeric_limits<T>::quiet_NaN();

// Returns |got - expected| in units of the last place of T at `expected`. Returns infinity if only one of them is NaN
// or infinite, or if their signs differ.
template <class T>
double ulps(T got, Wide expected) {
  const T rounded = static_cast<T>(expected);
  if (std::isnan(rounded) || std::isnan(got)) return std::isnan(rounded) && std::isnan(got) ? 0 : inf<double>;
  if (got == rounded) return std::signbit(got) == std::signbit(rounded) ? 0 : inf<double>;
  if (std::isinf(got) || std::isinf(rounded)) {  // within an ulp of the overflow threshold both are right
    const T finite = std::isinf(got) ? rounded : got;
    return std::abs(finite) == std::numeric_limits<T>::max() && std::signbit(got) == std::signbit(rounded)
               ? 1
               : inf<double>;
  }
  const int exponent = std::max(std::ilogb(std::abs(expected)), std::numeric_limits<T>::min_exponent - 1);
  return static_cast<double>(std::abs(got - expected) /
                             std::ldexp(Wide(1), exponent - std::numeric_limits<T>::digits + 1));
}

// Returns numbers of every magnitude and sign, evenly spaced in their bits, and special values.
template <class T>
const std::vector<T>& everywhere() {
  static const std::vector<T> values = [] {
    std::vector<T> v;
    using U = typename Bits<T>::type;
    constexpr int steps = 200'000;
    const U step = std::numeric_limits<U>::max() / steps;
    for (int k = 0; k < steps; ++k)
      v.push_back(std::bit_cast<T>(static_cast<U>(step * static_cast<U>(k) + static_cast<U>(k % 97))));
    std::mt19937_64 rng(1);
    std::uniform_real_distribution<double> unit(-1, 1);
    for (double scale : {1.0, 4.0, 30.0, 120.0, 800.0, 1e5})
      for (int k = 0; k < 60'000; ++k) v.push_back(static_cast<T>(unit(rng) * scale));
    for (T x :
         {T(0), T(0.5), T(1), T(2), T(3), T(10), T(0.1), inf<T>, nan_of<T>, std::numeric_limits<T>::min(),
          std::numeric_limits<T>::max(), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::epsilon()}) {
      v.push_back(x);
      v.push_back(-x);
      v.push_back(std::nextafter(x, inf<T>));
      v.push_back(std::nextafter(x, -inf<T>));
    }
    return v;
  }();
  return values;
}

template <class T>
void check(const char* name, const std::vector<T>& points, T (*f)(T), const std::function<Wide(Wide)>& reference,
           double limit) {
  double worst = 0;
  T at = 0;
  for (T x : points) {
    const double error = ulps(f(x), reference(x));
    if (error > worst) {
      worst = error;
      at = x;
    }
  }
  ::testing::Test::RecordProperty(name, std::to_string(worst));
  if (std::getenv("CATENARY_TEST_VERBOSE")) printf("%-16s %7.3f ulp at %.17g\n", name, worst, static_cast<double>(at));
  EXPECT_LE(worst, limit) << name << "(" << std::hexfloat << at << ") = " << f(at) << ", expected " << reference(at);
}

template <class T>
void check2(const char* name, const std::vector<std::pair<T, T>>& points, T (*f)(T, T),
            const std::function<Wide(Wide, Wide)>& reference, double limit) {
  double worst = 0;
  std::pair<T, T> at;
  for (auto [x, y] : points) {
    const double error = ulps(f(x, y), reference(x, y));
    if (error > worst) {
      worst = error;
      at = {x, y};
    }
  }
  if (std::getenv("CATENARY_TEST_VERBOSE"))
    printf("%-16s %7.3f ulp at %.17g %.17g\n", name, worst, static_cast<double>(at.first),
           static_cast<double>(at.second));
  EXPECT_LE(worst, limit) << name << "(" << std::hexfloat << at.first << ", " << at.second
                          << ") = " << f(at.first, at.second) << ", expected " << reference(at.first, at.second);
}

template <class T>
std::vector<T> within(T low, T high) {
  std::vector<T> v;
  for (T x : everywhere<T>())
    if (x >= low && x <= high) v.push_back(x);
  return v;
}

Wide rsqrt(Wide x) { return 1 / std::sqrt(x); }
Wide sigmoid(Wide x) { return 1 / (1 + std::exp(-x)); }
Wide softplus(Wide x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

#define CHECK(type, name, points, reference, limit) \
  check<type>(                                      \
      #name "_" #type, points, ct_##name##_##type, [](Wide x) -> Wide { return reference(x); }, limit)
#define CHECK_BOTH(name, reference, limit)               \
  CHECK(f32, name, everywhere<f32>(), reference, limit); \
  CHECK(f64, name, everywhere<f64>(), reference, limit)

TEST(Math, Exponentials) {
  CHECK_BOTH(exp, std::exp, 1.5);
  CHECK_BOTH(exp2, std::exp2, 1.5);
  CHECK_BOTH(expm1, std::expm1, 2.5);
  CHECK_BOTH(sinh, std::sinh, 2);
  CHECK_BOTH(cosh, std::cosh, 2);
  CHECK_BOTH(tanh, std::tanh, 2);
  CHECK_BOTH(sigmoid, sigmoid, 2);
}

TEST(Math, Logarithms) {
  CHECK_BOTH(log, std::log, 1);
  CHECK_BOTH(log2, std::log2, 1.5);
  CHECK_BOTH(log10, std::log10, 1.5);
  CHECK_BOTH(log1p, std::log1p, 1.5);
  CHECK_BOTH(asinh, std::asinh, 2.5);
  CHECK_BOTH(acosh, std::acosh, 2.5);
  CHECK_BOTH(atanh, std::atanh, 3);
  CHECK_BOTH(softplus, softplus, 2);
}

TEST(Math, Circular) {
  CHECK_BOTH(sin, std::sin, 1.5);
  CHECK_BOTH(cos, std::cos, 1.5);
  CHECK_BOTH(tan, std::tan, 2.5);
  CHECK_BOTH(asin, std::asin, 2);
  CHECK_BOTH(acos, std::acos, 2);
  CHECK_BOTH(atan, std::atan, 2);
}

// Compares with multiple-precision arithmetic. For each exponent, tests a random number and the number nearest to a
// multiple of pi/2 (tests/data/ops/make_circular.py).
TEST(Math, CircularOfAllExponents) {
  std::ifstream file(tests::source_path("tests/data/ops/circular.txt"));
  int digits = 0, singles = 0, doubles = 0;
  std::string at, sine_text, cosine_text;
  while (file >> digits >> at >> sine_text >> cosine_text) {
    const double x = std::strtod(at.c_str(), nullptr);
    const Wide sine = std::strtold(sine_text.c_str(), nullptr), cosine = std::strtold(cosine_text.c_str(), nullptr);
    if (digits == 24) {
      const f32 single = static_cast<f32>(x);
      EXPECT_LE(ulps(ct_sin_f32(single), sine), 1.5) << at;
      EXPECT_LE(ulps(ct_cos_f32(single), cosine), 1.5) << at;
      EXPECT_LE(ulps(ct_tan_f32(single), sine / cosine), 2.5) << at;
      ++singles;
    } else {
      EXPECT_LE(ulps(ct_sin_f64(x), sine), 1.5) << at;
      EXPECT_LE(ulps(ct_cos_f64(x), cosine), 1.5) << at;
      EXPECT_LE(ulps(ct_tan_f64(x), sine / cosine), 2.5) << at;
      ++doubles;
    }
  }
  EXPECT_EQ(singles, 2 * 140);
  EXPECT_EQ(doubles, 2 * 1036);
}

// Tests the border between the two ways to reduce an angle.
TEST(Math, CircularAroundTheBorder) {
  f32 x = 268435456.0f;
  for (int k = 0; k < 2000; ++k) x = std::nextafter(x, 0.0f);
  f64 y = 4194304.0;
  for (int k = 0; k < 2000; ++k) y = std::nextafter(y, 0.0);
  for (int k = 0; k < 4000; ++k, x = std::nextafter(x, inf<f32>), y = std::nextafter(y, inf<f64>)) {
    EXPECT_LE(ulps(ct_sin_f32(-x), std::sin(-Wide(x))), 1.5) << x;
    EXPECT_LE(ulps(ct_cos_f64(-y), std::cos(-Wide(y))), 1.5) << y;
  }
}

TEST(Math, RootsAndRounding) {
  CHECK_BOTH(sqrt, std::sqrt, 0.5);
  CHECK_BOTH(rsqrt, rsqrt, 1.5);
  CHECK_BOTH(cbrt, std::cbrt, 2);
  CHECK_BOTH(floor, std::floor, 0);
  CHECK_BOTH(ceil, std::ceil, 0);
  CHECK_BOTH(trunc, std::trunc, 0);
  CHECK_BOTH(rint, std::rint, 0);
}

// Returns pairs: special values with each other, numbers of similar magnitude, and random pairs.
template <class T>
const std::vector<std::pair<T, T>>& pairs() {
  static const std::vector<std::pair<T, T>> values = [] {
    std::vector<std::pair<T, T>> v;
    const T special[] = {T(0),
                         T(0.5),
                         T(1),
                         T(2),
                         T(2.5),
                         T(3),
                         T(7),
                         T(1) / 3,
                         inf<T>,
                         nan_of<T>,
                         T(1e5),
                         T(1e7),
                         std::numeric_limits<T>::min(),
                         std::numeric_limits<T>::max(),
                         std::numeric_limits<T>::denorm_min()};
    for (T x : special)
      for (T y : special)
        for (int signs = 0; signs < 4; ++signs) v.emplace_back(signs & 1 ? -x : x, signs & 2 ? -y : y);
    std::mt19937_64 rng(2);
    const auto& all = everywhere<T>();
    std::uniform_real_distribution<double> unit(-1, 1);
    for (int k = 0; k < 40'000; ++k) {
      v.emplace_back(all[rng() % all.size()], all[rng() % all.size()]);
      v.emplace_back(static_cast<T>(unit(rng) * 10), static_cast<T>(unit(rng) * 10));
      const T x = all[rng() % all.size()];
      v.emplace_back(x, static_cast<T>(x * unit(rng)));
      v.emplace_back(static_cast<T>(std::exp2(unit(rng) * 8)), static_cast<T>(unit(rng) * 120));
      v.emplace_back(static_cast<T>(std::round(unit(rng) * 20)), static_cast<T>(std::round(unit(rng) * 9)));
    }
    return v;
  }();
  return values;
}

#define CHECK_PAIRS_OF(type, name, reference, limit)                                                              \
  check2<type>(                                                                                                   \
      #name "_" #type, pairs<type>(), ct_##name##_##type, [](Wide x, Wide y) -> Wide { return reference(x, y); }, \
      limit)
#define CHECK_PAIRS(name, reference, limit)    \
  CHECK_PAIRS_OF(f32, name, reference, limit); \
  CHECK_PAIRS_OF(f64, name, reference, limit)

Wide logaddexp(Wide x, Wide y) {
  if (x == y) return x + std::log(Wide(2));
  return std::isnan(x) || std::isnan(y) ? x + y : std::max(x, y) + std::log1p(std::exp(-std::abs(x - y)));
}
Wide logaddexp2(Wide x, Wide y) {
  if (x == y) return x + 1;
  return std::isnan(x) || std::isnan(y) ? x + y
                                        : std::max(x, y) + std::log1p(std::exp2(-std::abs(x - y))) / std::log(Wide(2));
}
Wide maximum(Wide x, Wide y) { return std::isnan(x) || std::isnan(y) ? x + y : x >= y ? x : y; }
Wide minimum(Wide x, Wide y) { return std::isnan(x) || std::isnan(y) ? x + y : x <= y ? x : y; }
Wide fmax_of(Wide x, Wide y) { return std::isnan(y) || x >= y ? x : y; }
Wide fmin_of(Wide x, Wide y) { return std::isnan(y) || x <= y ? x : y; }
Wide heaviside(Wide x, Wide y) { return std::isnan(x) ? x : x == 0 ? y : x > 0; }

TEST(Math, Pairs) {
  CHECK_PAIRS(atan2, std::atan2, 3);
  CHECK_PAIRS(hypot, std::hypot, 1.5);
  CHECK_PAIRS(pow, std::pow, 1);
  CHECK_PAIRS(fmod, std::fmod, 0);
  CHECK_PAIRS(copysign, std::copysign, 0);
  CHECK_PAIRS(maximum, maximum, 0);
  CHECK_PAIRS(minimum, minimum, 0);
  CHECK_PAIRS(fmax, fmax_of, 0);
  CHECK_PAIRS(fmin, fmin_of, 0);
  CHECK_PAIRS(heaviside, heaviside, 0);
}

// The bound covers the rounding of the larger term, of the difference (which the exponential magnifies) and of the sum.
template <class T>
void check_logaddexp(T (*f)(T, T), Wide (*reference)(Wide, Wide)) {
  for (auto [x, y] : pairs<T>()) {
    const Wide expected = reference(x, y), d = std::abs(Wide(x) - Wide(y));
    if (std::isfinite(d) && std::isfinite(static_cast<T>(expected))) {
      const Wide scale = 2 * std::abs(expected) + std::abs(std::max(x, y)) + (1 + d) * std::exp2(-d);
      EXPECT_LE(std::abs(f(x, y) - expected),
                std::numeric_limits<T>::epsilon() * scale + std::numeric_limits<T>::denorm_min())
          << x << " " << y;
    } else {
      EXPECT_EQ(ulps(f(x, y), expected), 0) << x << " " << y;
    }
  }
}

TEST(Math, LogAddExp) {
  check_logaddexp<f32>(ct_logaddexp_f32, logaddexp);
  check_logaddexp<f64>(ct_logaddexp_f64, logaddexp);
  check_logaddexp<f32>(ct_logaddexp2_f32, logaddexp2);
  check_logaddexp<f64>(ct_logaddexp2_f64, logaddexp2);
}

template <class T>
void expect_same(T got, T expected, const char* what, T x, T y) {
  EXPECT_TRUE((std::isnan(got) && std::isnan(expected)) ||
              (got == expected && std::signbit(got) == std::signbit(expected)))
      << what << "(" << std::hexfloat << x << ", " << y << ") = " << got << ", expected " << expected;
}

/// Returns floor(x / y) and x - floor(x / y) y. Truncated division leaves std::fmod(x, y), which is exact. If its sign
/// differs from the sign of y, the floor is one lower and the remainder is larger by y. As in NumPy, a zero quotient
/// has the sign of x / y and a zero remainder the sign of y.
template <class T>
std::pair<Wide, T> floor_division(T x, T y) {
  if (y == 0) return {Wide(x / y), nan_of<T>};
  const T left = std::fmod(x, y);
  const bool below = left != 0 && std::signbit(left) != std::signbit(y);
  const T remainder = below ? left + y : left == 0 ? std::copysign(T(0), y) : left;
  const Wide truncated = std::isinf(y) ? Wide(x) - left : std::round((Wide(x) - left) / y);
  const Wide quotient = below ? truncated - 1 : truncated;
  return {quotient == 0 ? std::copysign(Wide(0), Wide(x) / y) : quotient, remainder};
}

template <class T>
void check_floor_division(T x, T y, T got_quotient, T got_remainder) {
  const auto [quotient, remainder] = floor_division(x, y);
  expect_same(got_remainder, remainder, "remainder", x, y);
  // As in NumPy, x minus the remainder is rounded, and so is the quotient. The floor corrects both errors while two
  // bits are to spare.
  const bool exact = !(std::abs(quotient) >= std::ldexp(Wide(1), std::numeric_limits<T>::digits - 2));
  EXPECT_LE(ulps(got_quotient, quotient), exact ? 0 : 2) << "floor_divide " << x << " " << y;
}

TEST(Math, FloorDivision) {
  for (auto [x, y] : pairs<f32>()) {
    check_floor_division(x, y, ct_floor_divide_f32(x, y), ct_remainder_f32(x, y));
    expect_same(ct_nextafter_f32(x, y), std::nextafter(x, y), "nextafter", x, y);
  }
  for (auto [x, y] : pairs<f64>()) {
    check_floor_division(x, y, ct_floor_divide_f64(x, y), ct_remainder_f64(x, y));
    expect_same(ct_nextafter_f64(x, y), std::nextafter(x, y), "nextafter", x, y);
  }
}

// Exact results must be exact for bases and exponents that users write.
TEST(Math, PowIsExactOnIntegers) {
  for (int b = -20; b <= 20; ++b)
    for (int e = 0; e <= 20; ++e) {
      Wide exact = 1;
      for (int k = 0; k < e; ++k) exact *= b;
      if (std::abs(exact) < 16777216) {
        EXPECT_EQ(ct_pow_f32(static_cast<f32>(b), static_cast<f32>(e)), static_cast<f32>(exact)) << b << "**" << e;
      }
      if (std::abs(exact) < 9007199254740992.0L) {
        EXPECT_EQ(ct_pow_f64(b, e), static_cast<f64>(exact)) << b << "**" << e;
      }
    }
  for (int k = -140; k < 128; ++k) EXPECT_EQ(ct_exp2_f32(static_cast<f32>(k)), std::ldexp(1.0f, k));
  for (int k = -1070; k < 1024; ++k) EXPECT_EQ(ct_exp2_f64(k), std::ldexp(1.0, k));
}

TEST(Math, PartsOfANumber) {
  for (f32 x : everywhere<f32>()) {
    int exponent = 0;
    const f32 mantissa = std::frexp(x, &exponent);
    f32 integral = 0;
    const f32 fraction = std::modf(x, &integral);
    expect_same(ct_frexp_mantissa_f32(x), mantissa, "frexp_mantissa", x, x);
    if (std::isfinite(x)) {
      EXPECT_EQ(ct_frexp_exponent_f32(x), exponent) << x;
    }
    expect_same(ct_modf_fraction_f32(x), fraction, "modf_fraction", x, x);
    expect_same(ct_modf_integral_f32(x), integral, "modf_integral", x, x);
    for (int n : {0, 1, -1, -3, 20, -20, 150, -150, 300, -300, 100000, -2147483647})
      expect_same(ct_ldexp_f32(x, n), std::ldexp(x, n), "ldexp", x, static_cast<f32>(n));
    EXPECT_EQ(ct_isnan_f32(x), std::isnan(x));
    EXPECT_EQ(ct_isinf_f32(x), std::isinf(x));
    EXPECT_EQ(ct_isfinite_f32(x), std::isfinite(x));
    EXPECT_EQ(ct_signbit_f32(x), std::signbit(x));
    expect_same(ct_sign_f32(x), std::isnan(x) ? x : static_cast<f32>((x > 0) - (x < 0)), "sign", x, x);
  }
  for (f64 x : everywhere<f64>()) {
    int exponent = 0;
    const f64 mantissa = std::frexp(x, &exponent);
    f64 integral = 0;
    const f64 fraction = std::modf(x, &integral);
    expect_same(ct_frexp_mantissa_f64(x), mantissa, "frexp_mantissa", x, x);
    if (std::isfinite(x)) {
      EXPECT_EQ(ct_frexp_exponent_f64(x), exponent) << x;
    }
    expect_same(ct_modf_fraction_f64(x), fraction, "modf_fraction", x, x);
    expect_same(ct_modf_integral_f64(x), integral, "modf_integral", x, x);
    for (int n : {0, 1, -1, -3, 20, -20, 1050, -1050, 2100, -2100, 100000, -2147483647})
      expect_same(ct_ldexp_f64(x, n), std::ldexp(x, n), "ldexp", x, static_cast<f64>(n));
    EXPECT_EQ(ct_isnan_f64(x), std::isnan(x));
    EXPECT_EQ(ct_isinf_f64(x), std::isinf(x));
    EXPECT_EQ(ct_isfinite_f64(x), std::isfinite(x));
    EXPECT_EQ(ct_signbit_f64(x), std::signbit(x));
    expect_same(ct_sign_f64(x), std::isnan(x) ? x : static_cast<f64>((x > 0) - (x < 0)), "sign", x, x);
  }
}

// Tests every number of a 16-bit float, the midpoint to the next number, and the neighbours of that midpoint.
template <class H, class F, class G>
void check_narrow(F narrow, G narrow_f64, std::uint16_t infinity) {
  const auto same = [](auto got, float expected, auto of) {
    EXPECT_TRUE(got == expected && std::signbit(got) == std::signbit(expected))
        << of << " gives " << got << ", not " << expected;
  };
  for (std::uint16_t bits = 0; bits < infinity; ++bits) {
    const float low = H::from_bits(bits);
    float high = H::from_bits(static_cast<std::uint16_t>(bits + 1));
    const double next = std::isinf(high) ? 2.0 * low - H::from_bits(static_cast<std::uint16_t>(bits - 1)) : high;
    const double middle = (low + next) / 2;
    const float even = bits % 2 == 0 ? low : high;
    for (const float sign : {1.0f, -1.0f}) {
      same(narrow(sign * low), sign * low, low);
      same(narrow_f64(sign * low), sign * low, low);
      const float single = sign * static_cast<float>(middle);
      same(narrow(single), sign * even, single);
      same(narrow(std::nextafter(single, sign * inf<f32>)), sign * high, single);
      same(narrow(std::nextafter(single, 0.0f)), sign * low, single);
      same(narrow_f64(sign * middle), sign * even, middle);
      same(narrow_f64(std::nextafter(sign * middle, sign * inf<f64>)), sign * high, middle);
      same(narrow_f64(std::nextafter(sign * middle, 0.0)), sign * low, middle);
    }
  }
  const auto bits_of = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  for (f32 x : everywhere<f32>()) {
    EXPECT_EQ(bits_of(narrow(x)), bits_of(H(x))) << x;
    if (std::isnan(x)) {
      EXPECT_EQ(bits_of(static_cast<float>(narrow_f64(x))), bits_of(H(x))) << x;
    }
  }
}

TEST(Math, NarrowFloats) {
  check_narrow<catenary::float16>([](f32 x) { return ct_narrow_f16_f32(x); },
                                  [](f64 x) { return ct_narrow_f16_f64(x); }, 0x7c00);
  check_narrow<catenary::bfloat16>([](f32 x) { return ct_narrow_bf16_f32(x); },
                                   [](f64 x) { return ct_narrow_bf16_f64(x); }, 0x7f80);
}

TEST(Math, Integers) {
  constexpr i32 low32 = std::numeric_limits<i32>::min();
  constexpr i64 low64 = std::numeric_limits<i64>::min();
  struct Row {
    i64 x, y, floor_divide, remainder, fmod;
  };
  for (const Row& r :
       {Row{7, 2, 3, 1, 1}, Row{-7, 2, -4, 1, -1}, Row{7, -2, -4, -1, 1}, Row{-7, -2, 3, -1, -1}, Row{6, 3, 2, 0, 0},
        Row{-6, 3, -2, 0, 0}, Row{5, 0, 0, 0, 0}, Row{-5, 0, 0, 0, 0}, Row{5, -1, -5, 0, 0}, Row{0, 7, 0, 0, 0}}) {
    EXPECT_EQ(ct_floor_divide_i64(r.x, r.y), r.floor_divide) << r.x << " " << r.y;
    EXPECT_EQ(ct_remainder_i64(r.x, r.y), r.remainder) << r.x << " " << r.y;
    EXPECT_EQ(ct_fmod_i64(r.x, r.y), r.fmod) << r.x << " " << r.y;
    const i32 x = static_cast<i32>(r.x), y = static_cast<i32>(r.y);
    EXPECT_EQ(ct_floor_divide_i32(x, y), r.floor_divide) << x << " " << y;
    EXPECT_EQ(ct_remainder_i32(x, y), r.remainder) << x << " " << y;
    EXPECT_EQ(ct_fmod_i32(x, y), r.fmod) << x << " " << y;
    if (r.x >= 0 && r.y >= 0) {
      EXPECT_EQ(ct_floor_divide_u64(r.x, r.y), static_cast<u64>(r.floor_divide));
      EXPECT_EQ(ct_remainder_u64(r.x, r.y), static_cast<u64>(r.remainder));
      EXPECT_EQ(ct_fmod_u64(r.x, r.y), static_cast<u64>(r.fmod));
    }
  }
  EXPECT_EQ(ct_floor_divide_i32(low32, -1), low32);
  EXPECT_EQ(ct_remainder_i32(low32, -1), 0);
  EXPECT_EQ(ct_floor_divide_i64(low64, -1), low64);
  EXPECT_EQ(ct_remainder_i64(low64, -1), 0);
  EXPECT_EQ(ct_absolute_i32(low32), low32);
  EXPECT_EQ(ct_absolute_i64(-3), 3);
  EXPECT_EQ(ct_sign_i64(low64), -1);
  EXPECT_EQ(ct_sign_u64(~u64(0)), 1u);
  EXPECT_EQ(ct_maximum_u64(~u64(0), 1), ~u64(0));
  EXPECT_EQ(ct_minimum_i32(low32, 1), low32);
  EXPECT_EQ(ct_pow_i32(3, 19), 1162261467);
  EXPECT_EQ(ct_pow_i32(-2, 31), low32);
  EXPECT_EQ(ct_pow_i32(7, 0), 1);
  EXPECT_EQ(ct_pow_i32(-1, 2147483647), -1);
  EXPECT_EQ(ct_pow_i64(-3, 39), -4052555153018976267);
  for (const auto& [x, y, left] : {std::array{3, -1, 0},
                                   {0, -1, 0},
                                   {1, -5, 1},
                                   {-1, -2, 1},
                                   {-1, -3, -1},
                                   {low32, -1, 0},
                                   {2, low32, 0},
                                   {-1, low32, 1}}) {
    EXPECT_EQ(ct_pow_i32(x, y), left) << x << " " << y;
    EXPECT_EQ(ct_pow_i64(x, y), left) << x << " " << y;
  }
  EXPECT_EQ(ct_pow_u64(2, 64), 0u);
  EXPECT_EQ(ct_pow_u64(10, 19), 10000000000000000000u);
  EXPECT_EQ(ct_left_shift_i32(1, 31), low32);
  EXPECT_EQ(ct_left_shift_i32(1, 32), 0);
  EXPECT_EQ(ct_left_shift_i64(-1, 64), 0);
  EXPECT_EQ(ct_left_shift_i64(3, -1), 0);
  EXPECT_EQ(ct_right_shift_i32(-8, 1), -4);
  EXPECT_EQ(ct_right_shift_i32(-8, 32), -1);
  EXPECT_EQ(ct_right_shift_i64(8, 64), 0);
  EXPECT_EQ(ct_right_shift_i64(-8, -1), -1);
  EXPECT_EQ(ct_right_shift_u64(~u64(0), 63), 1u);
  EXPECT_EQ(ct_right_shift_u64(~u64(0), 64), 0u);
}

}  // namespace
