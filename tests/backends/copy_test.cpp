#include "catenary/backends/cpu/movement/copy.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/elementwise.h"
#include "catenary/core/cpu_features.h"
#include "catenary/core/error.h"
#include "catenary/core/half.h"
#include "catenary/core/parallel.h"
#include "catenary/io/host_array.h"

namespace catenary {
namespace {

using cpu::contiguous_view;
using cpu::StridedView;

class CopyTest : public testing::Test {
 protected:
  void TearDown() override { set_num_threads(threads_), set_simd_level(level_); }
  static std::vector<SimdLevel> levels() {
    std::vector<SimdLevel> found;
    for (SimdLevel level : {SimdLevel::v2, SimdLevel::v3, SimdLevel::v4, SimdLevel::native})
      if (level <= best_simd_level() && (level != SimdLevel::native || best_simd_level() == level))
        found.push_back(level);
    return found;
  }

 private:
  int threads_ = num_threads();
  SimdLevel level_ = simd_level();
};

std::vector<std::byte> pattern(std::int64_t bytes) {
  std::vector<std::byte> data(static_cast<std::size_t>(bytes));
  std::uint32_t state = 12345;
  for (std::byte& b : data) {
    state = state * 1664525u + 1013904223u;
    b = static_cast<std::byte>(state >> 24);
  }
  return data;
}

// Copies element by element.
void reference_copy(const StridedView& dst, const StridedView& src) {
  const std::size_t size = itemsize(src.dtype);
  const std::int64_t n = src.shape.product();
  std::vector<std::byte> away(static_cast<std::size_t>(n) * size);
  for (int pass = 0; pass < 2; ++pass)
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t rest = i, offset = 0;
      const StridedView& view = pass ? dst : src;
      for (int a = view.shape.size() - 1; a >= 0; --a) {
        offset += rest % view.shape[a] * view.strides[a];
        rest /= view.shape[a];
      }
      std::byte* at = static_cast<std::byte*>(view.data) + offset * static_cast<std::int64_t>(size);
      std::byte* mine = away.data() + static_cast<std::size_t>(i) * size;
      pass ? std::memcpy(at, mine, size) : std::memcpy(mine, at, size);
    }
}

struct Views {
  Shape shape;
  Strides dst, src;
  std::int64_t dst_first, src_first, dst_size, src_size;
};

const Views kLayouts[] = {
    {{}, {}, {}, 0, 0, 1, 1},
    {{0}, {1}, {1}, 0, 0, 0, 0},
    {{3, 0, 2}, {0, 2, 1}, {0, 2, 1}, 0, 0, 0, 0},
    {{70001}, {1}, {1}, 0, 0, 70001, 70001},
    {{70001}, {1}, {-1}, 0, 70000, 70001, 70001},
    {{501}, {-1}, {-1}, 500, 500, 501, 501},
    {{501}, {3}, {2}, 1, 3, 1600, 1100},
    {{40, 70}, {70, 1}, {70, 1}, 0, 0, 2800, 2800},
    {{40, 70}, {70, 1}, {1, 40}, 0, 0, 2800, 2800},                        // transposed
    {{300, 261}, {261, 1}, {1, 300}, 0, 0, 78300, 78300},                  // transposed, threads
    {{40, 70}, {1, 40}, {70, 1}, 0, 0, 2800, 2800},                        // into a transposed view
    {{40, 70}, {-100, 1}, {1, -41}, 3950, 2850, 4100, 3000},               // transposed and reversed
    {{5, 33, 47}, {1551, 47, 1}, {1551, 1, 33}, 0, 0, 7755, 7755},         // batch of transposes
    {{5, 33, 47}, {1551, 47, 1}, {1, 5, 165}, 0, 0, 7755, 7755},           // reversed axes
    {{4, 3, 56, 5}, {840, 280, 5, 1}, {840, 1, 15, 3}, 0, 0, 3360, 3360},  // NHWC to NCHW
    {{30, 40}, {40, 1}, {0, 1}, 0, 0, 1200, 40},                           // broadcast
    {{30, 40}, {40, 1}, {1, 0}, 0, 0, 1200, 30},
    {{30, 40}, {40, 1}, {0, 0}, 0, 0, 1200, 1},
    {{6, 7, 8}, {112, 16, 2}, {1, 48, 6}, 1, 0, 700, 400},
    {{2, 1, 3, 1, 2}, {6, 99, 2, -5, 1}, {1, 7, 4, 7, 2}, 0, 0, 12, 12},
};

TEST_F(CopyTest, MovesElementsOfEverySizeAndLayout) {
  for (SimdLevel level : levels())
    for (int threads : {1, 2, 3})
      for (Dtype dtype : {Dtype::uint8, Dtype::float16, Dtype::float32, Dtype::float64})
        for (const Views& layout : kLayouts) {
          set_simd_level(level);
          set_num_threads(threads);
          const auto size = static_cast<std::int64_t>(itemsize(dtype));
          auto src = pattern(layout.src_size * size);
          auto got = pattern(layout.dst_size * size + 1);
          auto expected = got;
          const StridedView from{src.data() + layout.src_first * size, dtype, layout.shape, layout.src};
          cpu::strided_copy({got.data() + layout.dst_first * size, dtype, layout.shape, layout.dst}, from);
          reference_copy({expected.data() + layout.dst_first * size, dtype, layout.shape, layout.dst}, from);
          EXPECT_EQ(got, expected) << dtype_name(dtype) << " " << layout.shape.str() << " to " << layout.dst.str()
                                   << " from " << layout.src.str() << ", threads " << threads;
        }
}

TEST_F(CopyTest, CastsThroughEveryLayout) {
  for (int threads : {1, 2})
    for (const Views& layout : kLayouts) {
      set_num_threads(threads);
      std::vector<std::int16_t> src(static_cast<std::size_t>(layout.src_size));
      std::iota(src.begin(), src.end(), -300);
      std::vector<float> wide(src.begin(), src.end());
      std::vector<float> got(static_cast<std::size_t>(layout.dst_size + 1), -1), expected = got;
      cpu::strided_copy({got.data() + layout.dst_first, Dtype::float32, layout.shape, layout.dst},
                        {src.data() + layout.src_first, Dtype::int16, layout.shape, layout.src});
      reference_copy({expected.data() + layout.dst_first, Dtype::float32, layout.shape, layout.dst},
                     {wide.data() + layout.src_first, Dtype::float32, layout.shape, layout.src});
      EXPECT_EQ(got, expected) << layout.shape.str() << " to " << layout.dst.str() << " from " << layout.src.str();
    }
}

TEST_F(CopyTest, OverlapIsAsIfCopiedAwayFirst) {
  for (std::int64_t shift : {1, 7, 5000}) {
    std::vector<float> data(20000);
    std::iota(data.begin(), data.end(), 0.0f);
    auto forward = data, backward = data;
    const std::int64_t n = 20000 - shift;
    cpu::strided_copy(contiguous_view(forward.data() + shift, Dtype::float32, {n}),
                      contiguous_view(forward.data(), Dtype::float32, {n}));
    cpu::strided_copy(contiguous_view(backward.data(), Dtype::float32, {n}),
                      contiguous_view(backward.data() + shift, Dtype::float32, {n}));
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(forward[i + shift], data[i]);
      ASSERT_EQ(backward[i], data[i + shift]);
    }
  }
  std::vector<std::int32_t> square(64 * 64);
  std::iota(square.begin(), square.end(), 0);
  const auto before = square;
  cpu::strided_copy({square.data(), Dtype::int32, {64, 64}, {64, 1}}, {square.data(), Dtype::int32, {64, 64}, {1, 64}});
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j) ASSERT_EQ(square[i * 64 + j], before[j * 64 + i]);
  std::vector<std::int32_t> reversed{1, 2, 3, 4, 5};
  cpu::strided_copy({reversed.data(), Dtype::int32, {5}, {1}}, {reversed.data() + 4, Dtype::int32, {5}, {-1}});
  EXPECT_EQ(reversed, (std::vector<std::int32_t>{5, 4, 3, 2, 1}));
  // Views the bytes as another dtype.
  std::vector<float> numbers{1.5f, -2.0f, 3.25f};
  cpu::strided_copy(contiguous_view(numbers.data(), Dtype::int32, {3}),
                    contiguous_view(numbers.data(), Dtype::float32, {3}));
  std::int32_t ints[3];
  std::memcpy(ints, numbers.data(), sizeof ints);
  EXPECT_EQ(ints[0], 1);
  EXPECT_EQ(ints[1], -2);
  EXPECT_EQ(ints[2], 3);
}

TEST_F(CopyTest, ShapesMustBeEqual) {
  float x[6] = {};
  EXPECT_THROW(cpu::strided_copy(contiguous_view(x, Dtype::float32, {2}), contiguous_view(x + 3, Dtype::float32, {3})),
               ShapeError);
}

// Returns the result of a scalar C cast on x86, without undefined behaviour.
template <class I>
I x86_integer(double x) {
  const bool fits64 = x >= -9223372036854775808.0 && x < 9223372036854775808.0;
  if constexpr (std::is_same_v<I, std::uint64_t>) {
    if (x >= 9223372036854775808.0) return x < 18446744073709551616.0 ? static_cast<std::uint64_t>(x) : 0;
    return fits64 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(x)) : 0x8000000000000000u;
  } else if constexpr (sizeof(I) == 8 || std::is_same_v<I, std::uint32_t>) {
    return static_cast<I>(fits64 ? static_cast<std::int64_t>(x) : std::numeric_limits<std::int64_t>::min());
  } else {
    const bool fits = x >= -2147483648.0 && x < 2147483648.0;
    return static_cast<I>(fits ? static_cast<std::int32_t>(x) : std::numeric_limits<std::int32_t>::min());
  }
}

template <class D, class S>
D reference_cast(S x) {
  constexpr bool from_float = std::is_floating_point_v<S> || std::is_same_v<S, float16> || std::is_same_v<S, bfloat16>;
  if constexpr (std::is_same_v<D, S>) {
    return x;
  } else if constexpr (std::is_same_v<D, bool>) {
    return from_float ? static_cast<double>(x) != 0 : x != S{0};
  } else if constexpr (std::is_integral_v<D>) {
    if constexpr (from_float) return x86_integer<D>(static_cast<double>(x));
    return static_cast<D>(x);
  } else if constexpr (std::is_same_v<D, float16> || std::is_same_v<D, bfloat16>) {
    if constexpr (!std::is_same_v<S, double>) {
      return D(static_cast<float>(x));
    } else {  // the nearest of both neighbours, ties to even, by exact arithmetic
      const D guess(static_cast<float>(x));
      if (!std::isfinite(x) || x == 0) return guess;
      D best = guess;
      for (int step : {-1, 1}) {
        const D other = D::from_bits(static_cast<std::uint16_t>(guess.bits + step));
        if (!std::isfinite(static_cast<float>(other)) || !std::isfinite(static_cast<float>(guess))) continue;
        const double d_best = std::abs(static_cast<double>(static_cast<float>(best)) - x);
        const double d_other = std::abs(static_cast<double>(static_cast<float>(other)) - x);
        if (d_other < d_best || (d_other == d_best && other.bits % 2 == 0)) best = other;
      }
      return best;
    }
  } else {
    return static_cast<D>(x);
  }
}

template <class T>
bool same_value(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a == b;
  } else {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
  }
}

template <class T>
std::vector<T> interesting_values() {
  std::vector<T> values;
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (std::is_integral_v<T>) {
    using L = std::numeric_limits<T>;
    values = {T(0),   T(1),    T(2),     T(-1),    T(100),          T(127),
              T(128), T(-128), L::min(), L::max(), T(L::max() - 1), T(L::max() / 2)};
    for (int i = 0; i < 60; ++i)
      values.push_back(static_cast<T>(0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(i + 1) >> (i % 3)));
  } else {
    const double inf = std::numeric_limits<double>::infinity();
    for (double x : {0.0,
                     -0.0,
                     0.5,
                     -0.5,
                     0.99,
                     1.0,
                     -1.0,
                     1.5,
                     -1.5,
                     127.9,
                     128.0,
                     200.0,
                     255.5,
                     -128.5,
                     -129.0,
                     300.0,
                     32768.0,
                     65504.0,
                     65519.0,
                     65520.0,
                     70000.0,
                     -70000.0,
                     1e-5,
                     6e-8,
                     3e-8,
                     2.98e-8,
                     1e-10,
                     2147483520.0,
                     2147483648.0,
                     -2147483648.0,
                     -2147483904.0,
                     3e9,
                     4294967296.0,
                     1e12,
                     9.2e18,
                     9223372036854775808.0,
                     -9223372036854775808.0,
                     1e19,
                     1.8e19,
                     2e19,
                     -1e19,
                     1e30,
                     3e38,
                     1e39,
                     -1e300,
                     inf,
                     -inf,
                     std::nan(""),
                     1.00048828125,
                     1.000488281250001,
                     1.00146484375,
                     1.0014648437499,
                     1.00390625,
                     1.003906250000001,
                     1.01171875,
                     1.0117187499999})
      values.push_back(static_cast<T>(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(x)));
  }
  return values;
}

TEST_F(CopyTest, CastsBetweenAllDtypes) {
  for (SimdLevel level : levels()) {
    set_simd_level(level);
    for (int from = 0; from < kRealDtypes; ++from)
      for (int to = 0; to < kRealDtypes; ++to)
        visit_dtype(static_cast<Dtype>(from), [&](auto s) {
          visit_dtype(static_cast<Dtype>(to), [&](auto d) {
            using S = decltype(s);
            using D = decltype(d);
            const auto values = interesting_values<S>();
            const std::size_t n = 3 * values.size() + 1;
            std::unique_ptr<S[]> src(new S[n]);
            std::unique_ptr<D[]> dst(new D[n]);
            for (std::size_t i = 0; i < n; ++i) src[i] = values[i % values.size()];
            cpu::cast(dst.get(), static_cast<Dtype>(to), src.get(), static_cast<Dtype>(from),
                      static_cast<std::int64_t>(n));
            for (std::size_t i = 0; i < n; ++i)
              ASSERT_TRUE(same_value(dst[i], reference_cast<D>(src[i])))
                  << dtype_name(static_cast<Dtype>(from)) << " " << static_cast<double>(src[i]) << " to "
                  << dtype_name(static_cast<Dtype>(to)) << " gave " << static_cast<double>(dst[i]) << ", expected "
                  << static_cast<double>(reference_cast<D>(src[i]));
          });
        });
  }
}

TEST_F(CopyTest, Every16BitFloatRoundTrips) {
  for (SimdLevel level : levels())
    for (Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
      set_simd_level(level);
      std::vector<std::uint16_t> bits(65536), back(65536);
      std::iota(bits.begin(), bits.end(), std::uint16_t{0});
      std::vector<float> wide(65536);
      cpu::cast(wide.data(), Dtype::float32, bits.data(), dtype, 65536);
      cpu::cast(back.data(), dtype, wide.data(), Dtype::float32, 65536);
      for (int i = 0; i < 65536; ++i) {
        const float expected =
            dtype == Dtype::float16 ? detail::half_to_float(bits[i]) : detail::bfloat_to_float(bits[i]);
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(wide[i]));
        } else {
          ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]), std::bit_cast<std::uint32_t>(expected)) << i;
          ASSERT_EQ(back[i], bits[i]);
        }
      }
    }
}

TEST_F(CopyTest, ProgramsOf16BitFloatsGiveTheSameBitsAtEveryLevel) {
  // Every float16, with a block's end that does not fill a vector, and float32 of all exponents, between two float16,
  // and NaN.
  std::vector<std::uint16_t> halves;
  for (unsigned i = 0; i < 65536; ++i) halves.push_back(static_cast<std::uint16_t>(i));
  for (unsigned i = 0; i < 5; ++i) halves.push_back(static_cast<std::uint16_t>(0x3c00 + i));
  std::vector<std::uint32_t> floats;
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) floats.push_back(static_cast<std::uint32_t>(random()));
  for (std::uint32_t half = 0; half < 65536; ++half) {
    const auto bits = std::bit_cast<std::uint32_t>(detail::half_to_float(static_cast<std::uint16_t>(half)));
    for (const std::uint32_t beside : {0x0fffu, 0x1000u, 0x1001u}) floats.push_back(bits + beside);
  }
  const auto from = [](const auto& bits, Dtype dtype) {
    return Array::from_host(bits.data(), {static_cast<std::int64_t>(bits.size())}, dtype, Device());
  };
  const Array x = from(halves, Dtype::float16), y = from(floats, Dtype::float32);
  const float zero = -0.0f;  // adding it does not change a number
  for (SimdLevel level : levels()) {
    set_simd_level(level);
    const auto doubled = (x * 2).astype(Dtype::float32).to_vector<float>();
    const auto same = (x * 1).to_vector<float16>();
    const auto rounded = (y + zero).astype(Dtype::float16).to_vector<float16>();
    const auto widened = ((y + zero).astype(Dtype::float16).astype(Dtype::float32) + zero).to_vector<float>();
    for (std::size_t i = 0; i < halves.size(); ++i) {
      const float value = detail::half_to_float(halves[i]);
      ASSERT_EQ(same[i].bits, detail::float_to_half(value)) << halves[i] << " at level " << static_cast<int>(level);
      const float twice = detail::half_to_float(detail::float_to_half(value * 2));
      ASSERT_TRUE(std::isnan(twice) ? std::isnan(doubled[i]) : doubled[i] == twice) << halves[i];
    }
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const std::uint16_t half = detail::float_to_half(std::bit_cast<float>(floats[i]));
      ASSERT_EQ(rounded[i].bits, half) << floats[i] << " at level " << static_cast<int>(level);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(widened[i]), std::bit_cast<std::uint32_t>(detail::half_to_float(half)))
          << floats[i] << " at level " << static_cast<int>(level);
    }
  }
}

TEST_F(CopyTest, LargeCopiesThatBypassTheCaches) {
  const std::int64_t n = 3100;  // 38 MB, above the limit for streaming stores
  std::vector<std::uint32_t> src(n * n);
  std::iota(src.begin(), src.end(), 1u);
  for (int threads : {1, 2}) {
    set_num_threads(threads);
    const auto memory = io::HostArray::empty(Dtype::uint32, {n, 3104});
    auto* raw = memory.as<std::uint32_t>();
    for (std::int64_t lead : {std::int64_t{3104}, n}) {
      const StridedView dst{raw, Dtype::uint32, {n, n}, {lead, 1}};
      cpu::strided_copy(dst, {src.data(), Dtype::uint32, {n, n}, {1, n}});
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(raw[i * lead + j], src[j * n + i]);
    }
    cpu::strided_copy({raw + 1, Dtype::uint32, {n * n}, {1}}, {src.data(), Dtype::uint32, {n * n}, {1}});
    EXPECT_EQ(std::memcmp(raw + 1, src.data(), src.size() * 4), 0);
  }
}

}  // namespace
}  // namespace catenary
