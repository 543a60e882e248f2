#include "catenary/backends/cpu/gemm/gemm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "catenary/core/cpu_features.h"
#include "catenary/core/error.h"
#include "catenary/core/parallel.h"

namespace catenary {
namespace {

using cpu::BfloatUnit;
using cpu::FloatUnit;
using cpu::GemmProvider;
using std::int64_t;

template <class T>
constexpr bool kFloating = std::is_floating_point_v<T> || std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

template <class T>
T random_value(std::mt19937& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return random() % 4 == 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random());
  } else {
    return static_cast<T>(static_cast<float>(random() % 4001) / 1000.0f - 2.0f);
  }
}

enum class Layout { rows, columns, padded, both_strided, reversed, repeated };

// A strided matrix. Elements in the gaps have values too, which must not change.
template <class T>
struct Matrix {
  int64_t rows, columns, rs, cs, start = 0;
  std::vector<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>> data;

  Matrix(int64_t r, int64_t c, Layout layout, std::mt19937& random) : rows(r), columns(c) {
    int64_t size = 1;
    switch (layout) {
      case Layout::rows:
        rs = c, cs = 1, size = r * c;
        break;
      case Layout::columns:
        rs = 1, cs = r, size = r * c;
        break;
      case Layout::padded:
        rs = c + 3, cs = 1, size = r * (c + 3);
        break;
      case Layout::both_strided:
        cs = 2, rs = 2 * c + 1, size = r * (2 * c + 1);
        break;
      case Layout::reversed:
        rs = -c, cs = -1, size = r * c, start = r * c - 1;
        break;
      case Layout::repeated:
        rs = 0, cs = 1, size = c;
        break;
    }
    data.resize(std::max<int64_t>(size, 1));
    start = std::max<int64_t>(start, 0);
    for (auto& x : data) x = random_value<T>(random);
  }
  auto* pointer() { return data.data() + start; }
  T operator()(int64_t i, int64_t j) const { return static_cast<T>(data[start + i * rs + j * cs]); }
};

struct Sizes {
  int64_t m, n, k;
};

template <class T, class R>
cpu::Gemm product(Sizes s, Matrix<T>& a, Matrix<T>& b, Matrix<R>& c) {
  return {.m = s.m,
          .n = s.n,
          .k = s.k,
          .a = {a.pointer(), dtype_of<T>, a.rs, a.cs},
          .b = {b.pointer(), dtype_of<T>, b.rs, b.cs},
          .c = {c.pointer(), dtype_of<R>, c.rs, c.cs}};
}

cpu::Gemm product(Sizes s, std::vector<float>& a, std::vector<float>& b, std::vector<float>& c) {
  return {.m = s.m,
          .n = s.n,
          .k = s.k,
          .a = {a.data(), Dtype::float32, s.k, 1},
          .b = {b.data(), Dtype::float32, s.n, 1},
          .c = {c.data(), Dtype::float32, s.n, 1}};
}

// Operands have type T, the result and the biases R.
template <class T, class R = T>
void check(Sizes s, Layout la, Layout lb, Layout lc, bool with_bias_n, bool with_bias_m, bool accumulate) {
  std::mt19937 random(static_cast<unsigned>(s.m * 10007 + s.n * 101 + s.k));
  Matrix<T> a(s.m, s.k, la, random), b(s.k, s.n, lb, random);
  Matrix<R> c(s.m, s.n, lc, random);
  Matrix<R> bias_n(1, s.n, Layout::rows, random), bias_m(1, s.m, Layout::rows, random);
  const auto before = c;
  cpu::Gemm g = product(s, a, b, c);
  if (with_bias_n) g.bias_n = bias_n.pointer();
  if (with_bias_m) g.bias_m = bias_m.pointer();
  g.accumulate = accumulate;
  cpu::gemm(g);

  auto expected = before;
  std::size_t wrong = 0;
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      if constexpr (kFloating<T>) {
        double sum = 0, magnitude = 0;
        for (int64_t p = 0; p < s.k; ++p) {
          const double term = static_cast<double>(a(i, p)) * static_cast<double>(b(p, j));
          sum += term;
          magnitude += std::abs(term);
        }
        for (double term : {accumulate ? static_cast<double>(before(i, j)) : 0.0,
                            with_bias_n ? static_cast<double>(bias_n(0, j)) : 0.0,
                            with_bias_m ? static_cast<double>(bias_m(0, i)) : 0.0}) {
          sum += term;
          magnitude += std::abs(term);
        }
        const double inner = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24;
        const double outer = std::is_same_v<R, float16> ? 0x1p-11 : std::is_same_v<R, bfloat16> ? 0x1p-8 : inner;
        const double tolerance = magnitude * inner * static_cast<double>(s.k + 3) + std::abs(sum) * outer * 1.01;
        wrong += !(std::abs(static_cast<double>(c(i, j)) - sum) <= tolerance);
      } else {
        std::uint64_t sum = accumulate ? static_cast<std::uint64_t>(before(i, j)) : 0;
        if (with_bias_n) sum += static_cast<std::uint64_t>(bias_n(0, j));
        if (with_bias_m) sum += static_cast<std::uint64_t>(bias_m(0, i));
        for (int64_t p = 0; p < s.k; ++p)
          sum += static_cast<std::uint64_t>(a(i, p)) * static_cast<std::uint64_t>(b(p, j));
        wrong += c(i, j) != static_cast<R>(sum);
      }
      // gaps are compared below
      expected.data[expected.start + i * expected.rs + j * expected.cs] = c(i, j);
    }
  }
  const std::string what =
      fmt::format("{} {} {}x{}x{} layouts {}{}{} epilogue {:d}{:d}{:d} {}", dtype_name(dtype_of<T>),
                  dtype_name(dtype_of<R>), s.m, s.n, s.k, static_cast<int>(la), static_cast<int>(lb),
                  static_cast<int>(lc), with_bias_n, with_bias_m, accumulate, simd_level_name(simd_level()));
  EXPECT_EQ(wrong, 0u) << what;
  EXPECT_EQ(std::memcmp(expected.data.data(), c.data.data(), c.data.size() * sizeof(R)), 0)
      << what << ": wrote beside the elements of C";
}

std::vector<SimdLevel> levels() {
  if (best_simd_level() == SimdLevel::native) return {SimdLevel::native};
  std::vector<SimdLevel> all;
  for (SimdLevel level : {SimdLevel::v2, SimdLevel::v3, SimdLevel::v4})
    if (level <= best_simd_level()) all.push_back(level);
  return all;
}

class Gemm : public testing::Test {
 protected:
  void SetUp() override { cpu::set_gemm_provider(GemmProvider::own); }
  void TearDown() override {
    cpu::set_gemm_provider(GemmProvider::automatic);
    cpu::set_bfloat_unit(unit_);
    cpu::set_float_unit(float_unit_);
    set_simd_level(level_);
    set_num_threads(threads_);
  }

 private:
  SimdLevel level_ = simd_level();
  BfloatUnit unit_ = cpu::bfloat_unit();
  FloatUnit float_unit_ = cpu::float_unit();
  int threads_ = num_threads();
};

template <class T>
class GemmOf : public Gemm {};
using Dtypes = testing::Types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                              std::uint32_t, std::uint64_t, float16, bfloat16, float, double>;
TYPED_TEST_SUITE(GemmOf, Dtypes);

TYPED_TEST(GemmOf, SizesAroundTheEdgesOfTiles) {
  for (SimdLevel level : levels()) {
    set_simd_level(level);
    for (int64_t m : {1, 2, 5, 13, 14, 15, 29, 61})
      for (int64_t n : {1, 3, 15, 16, 17, 32, 33, 71})
        for (int64_t k : {1, 4, 31, 40})
          check<TypeParam>({m, n, k}, Layout::rows, Layout::rows, Layout::rows, false, false, false);
  }
}

TYPED_TEST(GemmOf, EveryLayout) {
  for (SimdLevel level : levels()) {
    set_simd_level(level);
    for (Sizes s : {Sizes{7, 10, 9}, Sizes{43, 38, 35}, Sizes{1, 50, 47}, Sizes{50, 1, 47}, Sizes{1, 1, 9}}) {
      for (int a = 0; a < 6; ++a)
        for (int b = 0; b < 6; ++b)
          for (int c = 0; c < 5; ++c)
            check<TypeParam>(s, static_cast<Layout>(a), static_cast<Layout>(b), static_cast<Layout>(c), a % 2, b % 2,
                             (a + c) % 2);
    }
  }
}

TYPED_TEST(GemmOf, EveryEpilogue) {
  for (SimdLevel level : levels()) {
    set_simd_level(level);
    for (Sizes s : {Sizes{10, 10, 10}, Sizes{37, 45, 50}, Sizes{20, 40, 800}, Sizes{1, 70, 40}, Sizes{70, 1, 40}})
      for (int e = 0; e < 8; ++e)
        for (Layout c : {Layout::rows, Layout::columns, Layout::both_strided})
          check<TypeParam>(s, Layout::rows, Layout::columns, c, e & 1, e & 2, e & 4);
  }
}

TYPED_TEST(GemmOf, NoDepthGivesZerosOrTheBias) {
  for (Sizes s : {Sizes{3, 4, 0}, Sizes{40, 50, 0}, Sizes{1, 5, 0}, Sizes{5, 1, 0}, Sizes{1, 1, 0}})
    for (int e = 0; e < 8; ++e) check<TypeParam>(s, Layout::rows, Layout::rows, Layout::rows, e & 1, e & 2, e & 4);
}

TYPED_TEST(GemmOf, NothingToCompute) {
  TypeParam untouched = TypeParam(1);
  constexpr Dtype dtype = dtype_of<TypeParam>;
  const cpu::Gemm g = {
      .m = 3, .n = 3, .k = 2, .a = {nullptr, dtype, 2, 1}, .b = {nullptr, dtype, 3, 1}, .c = {&untouched, dtype, 3, 1}};
  for (int i = 0; i < 3; ++i) {
    cpu::Gemm nothing = g;
    (i == 0 ? nothing.m : i == 1 ? nothing.n : nothing.batch) = 0;
    cpu::gemm(nothing);
  }
  EXPECT_EQ(untouched, TypeParam(1));
}

TYPED_TEST(GemmOf, Batches) {
  std::mt19937 random(5);
  constexpr int64_t batch = 6, m = 9, n = 11, k = 13;
  for (bool repeat_a : {false, true}) {
    for (bool repeat_b : {false, true}) {
      for (bool backwards : {false, true}) {
        Matrix<TypeParam> a(batch * m, k, Layout::rows, random), b(batch * k, n, Layout::rows, random);
        Matrix<TypeParam> c(batch * m, n, Layout::rows, random), bias(1, n, Layout::rows, random);
        auto expected = c;
        const int64_t c_bs = backwards ? -m * n : m * n, c_start = backwards ? (batch - 1) * m * n : 0;
        cpu::Gemm g = product({m, n, k}, a, b, c);
        g.batch = batch;
        g.bias_n = bias.pointer();
        g.accumulate = true;
        g.a.batch_stride = repeat_a ? 0 : m * k;
        g.b.batch_stride = repeat_b ? 0 : k * n;
        g.c.data = c.pointer() + c_start;
        g.c.batch_stride = c_bs;
        cpu::gemm(g);
        for (int64_t i = 0; i < batch; ++i) {
          cpu::Gemm one = g;
          one.batch = 1;
          one.a.data = a.pointer() + (repeat_a ? 0 : i * m * k);
          one.b.data = b.pointer() + (repeat_b ? 0 : i * k * n);
          one.c.data = expected.pointer() + c_start + i * c_bs;
          cpu::gemm(one);
        }
        for (int64_t i = 0; i < batch * m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            if constexpr (kFloating<TypeParam>) {
              EXPECT_NEAR(static_cast<double>(c(i, j)), static_cast<double>(expected(i, j)), 0.3);
            } else {
              EXPECT_EQ(c(i, j), expected(i, j));
            }
          }
      }
    }
  }
}

TEST_F(Gemm, LargeProductsInSeveralBlocks) {
  for (SimdLevel level : levels()) {
    set_simd_level(level);
    check<float>({345, 70, 900}, Layout::rows, Layout::columns, Layout::rows, true, false, true);
    check<float>({17, 2100, 400}, Layout::columns, Layout::rows, Layout::rows, false, true, false);
    check<float>({100, 130, 700}, Layout::rows, Layout::columns, Layout::columns, true, true, true);
    check<float>({36, 100, 700}, Layout::padded, Layout::columns, Layout::rows, true, true, false);
    check<double>({200, 50, 1000}, Layout::padded, Layout::reversed, Layout::columns, true, true, false);
    check<float16>({50, 60, 1000}, Layout::rows, Layout::columns, Layout::rows, true, false, true);
  }
}

// Compares each available unit with float64, at sizes around its panels: 32 rows, 32 columns, steps of 32.
TEST_F(Gemm, EveryUnitForBfloat16) {
  for (BfloatUnit unit : {BfloatUnit::widened, BfloatUnit::dots, BfloatUnit::tiles}) {
    if (!cpu::has_bfloat_unit(unit)) {
      EXPECT_THROW(cpu::set_bfloat_unit(unit), DeviceError);
      continue;
    }
    SCOPED_TRACE(static_cast<int>(unit));
    cpu::set_bfloat_unit(unit);
    for (Sizes s : {Sizes{33, 33, 33}, Sizes{31, 65, 32}, Sizes{64, 32, 64}, Sizes{97, 40, 1030}, Sizes{20, 300, 96},
                    Sizes{300, 17, 160}, Sizes{32, 64, 31}, Sizes{45, 50, 0}, Sizes{3, 200, 64}, Sizes{200, 1, 70}})
      for (int a = 0; a < 6; ++a)
        for (int b = 0; b < 6; ++b)
          for (int e : {0, 5, 7}) {
            const auto la = static_cast<Layout>(a), lb = static_cast<Layout>(b), lc = static_cast<Layout>((a + b) % 5);
            check<bfloat16>(s, la, lb, lc, e & 1, e & 2, e & 4);
            check<bfloat16, float>(s, la, lb, lc, e & 1, e & 2, e & 4);
          }
  }
}

// More than one block of rows, columns and depth. Also few columns with rows that are read in place, and remaining
// rows.
TEST_F(Gemm, LargeProductsOfBfloat16) {
  for (BfloatUnit unit : {BfloatUnit::widened, BfloatUnit::dots, BfloatUnit::tiles}) {
    if (!cpu::has_bfloat_unit(unit)) continue;
    SCOPED_TRACE(static_cast<int>(unit));
    cpu::set_bfloat_unit(unit);
    check<bfloat16>({1090, 290, 530}, Layout::rows, Layout::rows, Layout::rows, true, false, true);
    check<bfloat16>({530, 1090, 300}, Layout::columns, Layout::columns, Layout::rows, false, true, false);
    check<bfloat16>({70, 2300, 600}, Layout::rows, Layout::columns, Layout::columns, true, true, true);
    check<bfloat16, float>({1090, 290, 530}, Layout::rows, Layout::columns, Layout::rows, true, false, true);
    check<bfloat16, float>({40, 700, 1184}, Layout::rows, Layout::columns, Layout::rows, true, true, true);
    check<bfloat16>({150, 700, 1100}, Layout::columns, Layout::rows, Layout::rows, false, false, false);
    for (int64_t columns : {2, 5, 31, 33, 64, 65})
      for (int64_t depth : {32, 1184, 1185})
        for (Layout layout : {Layout::rows, Layout::padded})
          check<bfloat16>({203, columns, depth}, layout, Layout::columns, Layout::rows, true, false, true);
  }
}

// A NaN in A or B must reach only its row or column, whatever values pad the panels.
TEST_F(Gemm, NansOfBfloat16StayInTheirRowsAndColumns) {
  for (BfloatUnit unit : {BfloatUnit::widened, BfloatUnit::dots, BfloatUnit::tiles}) {
    if (!cpu::has_bfloat_unit(unit)) continue;
    cpu::set_bfloat_unit(unit);
    constexpr int64_t m = 35, n = 37, k = 45;
    std::mt19937 random(1);
    Matrix<bfloat16> a(m, k, Layout::rows, random), b(k, n, Layout::columns, random), c(m, n, Layout::rows, random);
    a.data[34 * k + 44] = bfloat16(NAN);
    b.data[36 * k + 44] = bfloat16(INFINITY);
    cpu::gemm(product({m, n, k}, a, b, c));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        EXPECT_EQ(std::isfinite(static_cast<float>(c(i, j))), i != 34 && j != 36) << i << " " << j;
  }
}

std::vector<FloatUnit> float_units() {
  std::vector<FloatUnit> units = {FloatUnit::vectors};
  if (cpu::has_bfloat_unit(BfloatUnit::tiles)) units.push_back(FloatUnit::tiles);
  return units;
}

// Products large enough for tiles, at sizes around panels: 32 rows, 32 columns, steps of 32, blocks of 256.
TEST_F(Gemm, EveryUnitForFloat32) {
  if (float_units().size() == 1) {
    EXPECT_THROW(cpu::set_float_unit(FloatUnit::tiles), DeviceError);
  }
  for (FloatUnit unit : float_units()) {
    SCOPED_TRACE(static_cast<int>(unit));
    cpu::set_float_unit(unit);
    for (Sizes s : {Sizes{128, 128, 64}, Sizes{131, 163, 97}, Sizes{97, 210, 290}})
      for (int a = 0; a < 6; ++a)
        for (int b = 0; b < 6; ++b)
          check<float>(s, static_cast<Layout>(a), static_cast<Layout>(b), static_cast<Layout>((a + b) % 5), b & 1,
                       a & 2, a & 1);
    check<float>({1090, 290, 530}, Layout::rows, Layout::rows, Layout::rows, true, false, true);
    check<float>({70, 2300, 300}, Layout::columns, Layout::columns, Layout::columns, true, true, true);
    check<float>({530, 1090, 200}, Layout::columns, Layout::rows, Layout::rows, false, true, false);
  }
}

// Numbers of all magnitudes: sums of three pieces by tiles must be as near to float64 as float32's sums are.
TEST_F(Gemm, PiecesAreAsExactAsFloat32) {
  constexpr int64_t m = 128, n = 160, k = 1000;
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> exponent(-10, 10);
  for (bool wide : {false, true}) {
    std::vector<float> a(m * k), b(k * n), c(m * n);
    for (auto* x : {&a, &b})
      for (float& y : *x) y = normal(random) * (wide ? std::exp2(exponent(random)) : 1);
    std::vector<double> errors;
    for (FloatUnit unit : float_units()) {
      cpu::set_float_unit(unit);
      cpu::gemm(product({m, n, k}, a, b, c));
      double squares = 0;
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0, magnitude = 0;
          for (int64_t p = 0; p < k; ++p) {
            const double term = static_cast<double>(a[i * k + p]) * b[p * n + j];
            sum += term;
            magnitude += std::abs(term);
          }
          squares += std::pow((c[i * n + j] - sum) / magnitude, 2);
        }
      errors.push_back(std::sqrt(squares / (m * n)));
    }
    EXPECT_LT(errors[0], 0x1p-22);
    EXPECT_LE(errors.back(), errors[0]);
  }
}

// Elements that cannot be split, or whose pieces would be lost, must give float32's results: each in a row of A or a
// column of B, among other elements, in every layout.
TEST_F(Gemm, NoUnitSpoilsFloat32) {
  const float all[] = {
      NAN,    INFINITY, -INFINITY, std::numeric_limits<float>::max(), -3.4e38f, 1e38f, 2e-38f, 1e-36f, 1e-42f, 1e-30f,
      1e-15f, 0.0f,     -0.0f};
  constexpr int64_t m = 140, n = 150, k = 70;
  std::mt19937 random(7);
  for (Layout la : {Layout::rows, Layout::columns, Layout::both_strided}) {
    for (Layout lb : {Layout::rows, Layout::columns, Layout::both_strided}) {
      Matrix<float> a(m, k, la, random), b(k, n, lb, random), c(m, n, Layout::rows, random);
      int64_t at = 3;
      for (float x : all) {
        // One among ones, and a whole row or column of that magnitude.
        a.data[a.start + at * a.rs + 41 * a.cs] = x;
        b.data[b.start + 41 * b.rs + (at + 2) * b.cs] = x;
        for (int64_t p = 0; p < k && !std::isnan(x); ++p) {
          a.data[a.start + (at + 5) * a.rs + p * a.cs] = x * (0.5f + 1.0f / static_cast<float>(p + 3));
          b.data[b.start + p * b.rs + (at + 7) * b.cs] = x * (0.5f + 1.0f / static_cast<float>(p + 3));
        }
        at += 10;
      }
      for (FloatUnit unit : float_units()) {
        cpu::set_float_unit(unit);
        cpu::gemm(product({m, n, k}, a, b, c));
        int wrong = 0;
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            double sum = 0, magnitude = 0;
            bool fits = true;  // all partial sums fit float32
            for (int64_t p = 0; p < k; ++p) {
              const double term = static_cast<double>(a(i, p)) * b(p, j);
              sum += term;
              if (std::isfinite(term)) magnitude += std::abs(term);
              fits = fits && magnitude < 3e38;
            }
            const double x = c(i, j);
            if (!fits) continue;
            wrong += !(std::isnan(sum)   ? std::isnan(x)
                       : std::isinf(sum) ? x == sum
                                         : std::abs(x - sum) <= magnitude * 0x1p-20 + 0x1p-120);
          }
        }
        EXPECT_EQ(wrong, 0) << static_cast<int>(unit) << " layouts " << static_cast<int>(la) << static_cast<int>(lb);
      }
    }
  }
}

// Small elements beside large ones that are multiplied by 0.
TEST_F(Gemm, NoUnitLosesSmallElementsBesideLargeOnes) {
  const auto power = [](int n) { return std::ldexp(1.0f, n); };
  struct Case {
    float a[2], b[2];
  };
  for (const Case& c : {Case{{1, 1.2345678f * power(-119)}, {0, power(119)}},
                        Case{{1, 1.2345678f * power(-90)}, {0, 1}}, Case{{1, power(-130)}, {0, power(120)}},
                        Case{{0x1.fffffep63f, 0}, {0x1.fffffep63f, 0}}, Case{{1, 1.2345678f * power(-99)}, {0, 3}}}) {
    constexpr int64_t m = 128, n = 130, k = 64;
    std::vector<float> a(m * k), b(k * n), all(m * n);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t p = 0; p < 2; ++p) a[i * k + 40 * p] = c.a[p];
    for (int64_t j = 0; j < n; ++j)
      for (int64_t p = 0; p < 2; ++p) b[40 * p * n + j] = c.b[p];
    for (FloatUnit unit : float_units()) {
      cpu::set_float_unit(unit);
      cpu::gemm(product({m, n, k}, a, b, all));
      const double expected = static_cast<double>(c.a[0]) * c.b[0] + static_cast<double>(c.a[1]) * c.b[1];
      for (float x : all) ASSERT_NEAR(x, expected, std::abs(expected) * 0x1p-23) << static_cast<int>(unit);
    }
  }
}

template <class T>
std::vector<T> product_with(int threads, Sizes s, Layout la, Layout lb) {
  set_num_threads(threads);
  std::mt19937 random(3);
  Matrix<T> a(s.m, s.k, la, random), b(s.k, s.n, lb, random), c(s.m, s.n, Layout::rows, random);
  cpu::gemm(product(s, a, b, c));
  return c.data;
}

TEST_F(Gemm, BitsDoNotDependOnThreads) {
  for (SimdLevel level : levels()) {
    set_simd_level(level);
    for (Layout la : {Layout::rows, Layout::columns}) {
      for (Layout lb : {Layout::rows, Layout::columns}) {
        for (Sizes s : {Sizes{33, 40, 36}, Sizes{203, 157, 801}, Sizes{1, 1003, 517}, Sizes{1003, 1, 517},
                        Sizes{5, 900, 400}, Sizes{100, 130, 300}, Sizes{36, 300, 300}}) {
          const auto one = product_with<float>(1, s, la, lb);
          const auto one_double = product_with<double>(1, s, la, lb);
          const auto bits = [&](int threads) {
            std::vector<std::uint16_t> all;
            for (bfloat16 x : product_with<bfloat16>(threads, s, la, lb)) all.push_back(x.bits);
            return all;
          };
          const auto one_bfloat = bits(1);
          for (int threads : {2, 3, 5}) {
            EXPECT_EQ(one_bfloat, bits(threads)) << s.m << " " << s.n << " " << s.k;
            EXPECT_EQ(one, product_with<float>(threads, s, la, lb)) << s.m << " " << s.n << " " << s.k;
            EXPECT_EQ(one_double, product_with<double>(threads, s, la, lb)) << s.m << " " << s.n << " " << s.k;
          }
        }
      }
    }
  }
}

TEST_F(Gemm, InfinitiesAndNansStayInTheirRowsAndColumns) {
  for (Sizes s : {Sizes{10, 10, 10}, Sizes{45, 50, 60}, Sizes{20, 1, 40}}) {
    std::vector<float> a(s.m * s.k, 1.0f), b(s.k * s.n, 1.0f), c(s.m * s.n, NAN);  // C's old values must not matter
    a[2 * s.k + 1] = NAN;
    a[3 * s.k] = INFINITY;
    cpu::gemm(product(s, a, b, c));
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        const float x = c[i * s.n + j];
        if (i == 2) {
          EXPECT_TRUE(std::isnan(x));
        } else {
          EXPECT_EQ(x, i == 3 ? INFINITY : static_cast<float>(s.k));
        }
      }
    }
  }
}

TEST_F(Gemm, NegativeSizesAndDtypesThatDoNotFitAreErrors) {
  float x = 0;
  const cpu::Gemm g = {.m = 1,
                       .n = 1,
                       .k = 1,
                       .a = {&x, Dtype::float32, 1, 1},
                       .b = {&x, Dtype::float32, 1, 1},
                       .c = {&x, Dtype::float32, 1, 1}};
  cpu::Gemm few = g, fewer = g, mixed = g;
  few.m = -1;
  fewer.batch = -2;
  mixed.b.dtype = Dtype::bfloat16;
  EXPECT_THROW(cpu::gemm(few), ValueError);
  EXPECT_THROW(cpu::gemm(fewer), ValueError);
  EXPECT_THROW(cpu::gemm(mixed), DtypeError);
}

TEST_F(Gemm, OnednnAgreesWhereItIsThere) {
  if (!cpu::onednn_available()) {
    EXPECT_NE(cpu::gemm_provider_info().find("oneDNN: "), std::string::npos);
    EXPECT_THROW(cpu::set_gemm_provider(GemmProvider::onednn), DeviceError);
    return;
  }
  EXPECT_EQ(cpu::gemm_provider_info().rfind("oneDNN ", 0), 0u) << cpu::gemm_provider_info();
  cpu::set_gemm_provider(GemmProvider::onednn);
  for (Sizes s :
       {Sizes{1, 1, 1}, Sizes{1, 40, 30}, Sizes{40, 1, 30}, Sizes{31, 45, 60}, Sizes{60, 50, 500}, Sizes{5, 6, 0}})
    for (int a = 0; a < 6; ++a)
      for (int b = 0; b < 6; ++b)
        for (int e = 0; e < 8; ++e)
          check<float>(s, static_cast<Layout>(a), static_cast<Layout>(b), static_cast<Layout>((a + b + e) % 5), e & 1,
                       e & 2, e & 4);
}

}  // namespace
}  // namespace catenary
