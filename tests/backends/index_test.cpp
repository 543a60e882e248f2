#include "catenary/backends/cpu/movement/index.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "catenary/core/error.h"
#include "catenary/core/parallel.h"

namespace catenary {
namespace {

using cpu::AdvancedIndex;
using cpu::contiguous_view;
using cpu::StridedView;
using Indices = std::vector<std::int64_t>;

class IndexTest : public testing::Test {
 protected:
  void TearDown() override { set_num_threads(threads_); }

 private:
  int threads_ = num_threads();
};

std::vector<std::uint8_t> bytes_of(std::int64_t n, std::uint32_t state = 1) {
  std::vector<std::uint8_t> data(static_cast<std::size_t>(n));
  for (auto& b : data) {
    state = state * 1664525u + 1013904223u;
    b = static_cast<std::uint8_t>(state >> 24);
  }
  return data;
}

Indices indices_of(std::int64_t count, std::int64_t n, std::int64_t low) {
  Indices indices(count);
  std::uint32_t state = 7;
  for (auto& i : indices) {
    state = state * 1664525u + 1013904223u;
    i = low + static_cast<std::int64_t>(state >> 8) % (n - low);
  }
  return indices;
}

TEST_F(IndexTest, TakeEveryWidthAndMode) {
  struct Case {
    std::int64_t outer, n, count, inner;
  };
  for (auto [outer, n, count, inner] : {Case{1, 10, 7, 1},
                                        {3, 5, 8, 4},
                                        {1, 1, 3, 1},
                                        {2, 3, 0, 5},
                                        {0, 3, 4, 5},
                                        {2, 4, 3, 0},
                                        {1, 1000, 70000, 1},
                                        {2, 50, 4000, 17},
                                        {1, 300, 3000, 33},
                                        {40000, 3, 2, 1}})
    for (Dtype dtype : {Dtype::bool_, Dtype::bfloat16, Dtype::int32, Dtype::float64})
      for (IndexMode mode : {IndexMode::raise, IndexMode::wrap, IndexMode::clip})
        for (int threads : {1, 2}) {
          set_num_threads(threads);
          const std::int64_t bytes = inner * static_cast<std::int64_t>(itemsize(dtype));
          const auto src = bytes_of(outer * n * bytes);
          const Indices indices =
              mode == IndexMode::raise ? indices_of(count, n, -n) : indices_of(count, 3 * n, -3 * n);
          std::vector<std::uint8_t> got(outer * count * bytes), expected;
          cpu::take(got.data(), src.data(), dtype, indices.data(), outer, n, count, inner, mode);
          for (std::int64_t o = 0; o < outer; ++o)
            for (std::int64_t i : indices) {
              const std::int64_t at =
                  mode == IndexMode::clip ? std::clamp<std::int64_t>(i, 0, n - 1) : ((i % n) + n) % n;
              const auto row = src.begin() + (o * n + at) * bytes;
              expected.insert(expected.end(), row, row + bytes);
            }
          ASSERT_EQ(got, expected) << outer << " " << n << " " << count << " " << inner << " " << dtype_name(dtype);
        }
}

TEST_F(IndexTest, LargeTakeThatBypassesTheCaches) {
  const std::int64_t n = 1000, count = 150000, inner = 67;  // 40 MB, with unaligned rows
  std::vector<float> src(n * inner), got(count * inner + 1);
  std::iota(src.begin(), src.end(), 0.0f);
  const Indices indices = indices_of(count, n, -n);
  cpu::take(got.data() + 1, src.data(), Dtype::float32, indices.data(), 1, n, count, inner);
  for (std::int64_t i = 0; i < count; ++i)
    ASSERT_EQ(std::memcmp(&got[1 + i * inner], &src[(indices[i] + n) % n * inner], inner * 4), 0);
}

TEST_F(IndexTest, ErrorsNameIndexAxisAndSize) {
  float src[6] = {}, dst[6] = {1, 2, 3, 4, 5, 6};
  for (std::int64_t bad : {std::int64_t{3}, std::int64_t{-4}, std::numeric_limits<std::int64_t>::min()}) {
    const Indices indices{0, bad};
    try {
      cpu::take(dst, src, Dtype::float32, indices.data(), 1, 3, 2, 2, IndexMode::raise, 1);
      FAIL();
    } catch (const IndexError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("index " + std::to_string(bad) + " "), std::string::npos) << text;
      EXPECT_NE(text.find("axis 1 with size 3"), std::string::npos) << text;
    }
    EXPECT_EQ(dst[0], 1);
    AdvancedIndex index{{2}, {{indices.data(), {1}, 3, 2, 0}}, {2}, {1}};
    EXPECT_THROW(cpu::gather(contiguous_view(dst, Dtype::float32, {2, 2}), src, index), IndexError);
    EXPECT_THROW(cpu::scatter(dst, index, contiguous_view(src, Dtype::float32, {2, 2}), ScatterMode::assign),
                 IndexError);
    EXPECT_THROW(cpu::take_along_axis(dst, src, Dtype::float32, indices.data(), 1, 3, 2, 1), IndexError);
    EXPECT_EQ(dst[0], 1);
    EXPECT_THROW(cpu::gather(contiguous_view(dst, Dtype::float32, {2, 3}), src, index), ShapeError);
  }
  const Indices one{0};
  EXPECT_THROW(cpu::take(dst, src, Dtype::float32, one.data(), 1, 0, 1, 1, IndexMode::wrap), IndexError);
  EXPECT_THROW(cpu::take(dst, src, Dtype::float32, one.data(), 1, 0, 1, 1), IndexError);
}

// A (4, 50, 6) array indexed on axes 0 and 2 by (7, 1) and (300,). The middle axis remains.
struct TwoAxes {
  Indices first = indices_of(7, 4, -4), second = indices_of(300, 6, -6);
  AdvancedIndex index{{7, 300}, {{first.data(), {1, 0}, 4, 300, 0}, {second.data(), {0, 1}, 6, 1, 2}}, {50}, {6}};
  std::int64_t offset(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (first[i] + 4) % 4 * 300 + k * 6 + (second[j] + 6) % 6;
  }
};

TEST_F(IndexTest, GatherBroadcastsIndicesAndKeepsTheRest) {
  const TwoAxes two;
  for (Dtype dtype : {Dtype::int8, Dtype::float16, Dtype::float32, Dtype::int64})
    for (int threads : {1, 2}) {
      set_num_threads(threads);
      const auto size = static_cast<std::int64_t>(itemsize(dtype));
      const auto src = bytes_of(4 * 50 * 6 * size);
      for (const Strides& strides : {Strides{15000, 50, 1}, Strides{1, 350, 7}, Strides{-15000, 50, 1}}) {
        std::vector<std::uint8_t> got(7 * 300 * 50 * size);
        const std::int64_t first = strides[0] < 0 ? 6 * 15000 : 0;
        cpu::gather({got.data() + first * size, dtype, {7, 300, 50}, strides}, src.data(), two.index);
        for (std::int64_t i = 0; i < 7; ++i)
          for (std::int64_t j = 0; j < 300; ++j)
            for (std::int64_t k = 0; k < 50; ++k)
              ASSERT_EQ(std::memcmp(&got[(first + i * strides[0] + j * strides[1] + k * strides[2]) * size],
                                    &src[two.offset(i, j, k) * size], size),
                        0);
      }
    }
  // An empty index, a 0-d index, and no inner axis.
  const std::int64_t at = -1;
  float row[3] = {1, 2, 3}, out = 0;
  cpu::gather(contiguous_view(&out, Dtype::float32, {}), row, {{}, {{&at, {}, 3, 1, 0}}, {}, {}});
  EXPECT_EQ(out, 3);
  cpu::gather(contiguous_view(&out, Dtype::float32, {0, 3}), row, {{0}, {{nullptr, {1}, 3, 1, 0}}, {3}, {1}});
}

template <class T>
T reference_update(ScatterMode mode, T a, T b) {
  if (mode == ScatterMode::assign) return b;
  if constexpr (std::is_same_v<T, bool>) {
    return mode == ScatterMode::min ? a && b : a || b;
  } else if constexpr (std::is_integral_v<T>) {
    if (mode == ScatterMode::add) return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    return mode == ScatterMode::max ? std::max(a, b) : std::min(a, b);
  } else {
    using R = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const R x = static_cast<R>(a), y = static_cast<R>(b);
    if (mode == ScatterMode::add) return T(x + y);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? a : b;
    return T(mode == ScatterMode::max ? std::max(x, y) : std::min(x, y));
  }
}

TEST_F(IndexTest, ScatterActsInOrderOnEveryDtype) {
  const TwoAxes two;
  for (int d = 0; d < kRealDtypes; ++d)
    visit_dtype(static_cast<Dtype>(d), [&](auto zero) {
      using T = decltype(zero);
      const auto dtype = static_cast<Dtype>(d);
      const auto value = [](std::int64_t i) {
        if constexpr (std::is_same_v<T, bool>)
          return i % 3 == 0;
        else if constexpr (std::is_integral_v<T>)
          return static_cast<T>(i * 2654435761);
        else
          return i % 5003 == 77 ? T(std::numeric_limits<float>::quiet_NaN())
                                : T(static_cast<float>(i % 1009) * 0.37f - 180);
      };
      std::unique_ptr<T[]> values(new T[7 * 300 * 50]);
      for (std::int64_t i = 0; i < 7 * 300 * 50; ++i) values[i] = value(i);
      for (ScatterMode mode : {ScatterMode::assign, ScatterMode::add, ScatterMode::max, ScatterMode::min})
        for (const Strides& strides : {Strides{15000, 50, 1}, Strides{1, 350, 7}, Strides{0, 50, 1}}) {
          std::unique_ptr<T[]> expected(new T[1200]);
          for (int i = 0; i < 1200; ++i) expected[i] = value(i + 5);
          for (std::int64_t i = 0; i < 7; ++i)
            for (std::int64_t j = 0; j < 300; ++j)
              for (std::int64_t k = 0; k < 50; ++k) {
                T& element = expected[two.offset(i, j, k)];
                element = reference_update(mode, element, values[i * strides[0] + j * strides[1] + k * strides[2]]);
              }
          for (int threads : {1, 2, 3}) {
            set_num_threads(threads);
            std::unique_ptr<T[]> got(new T[1200]);
            for (int i = 0; i < 1200; ++i) got[i] = value(i + 5);
            cpu::scatter(got.get(), two.index, {values.get(), dtype, {7, 300, 50}, strides}, mode);
            ASSERT_EQ(std::memcmp(got.get(), expected.get(), 1200 * sizeof(T)), 0)
                << dtype_name(dtype) << " mode " << int(mode) << " threads " << threads;
          }
        }
    });
}

TEST_F(IndexTest, ScatterLongRowsAndSingleElements) {
  // An embedding's gradient, with long rows divided by columns, and a histogram, with single elements divided by range.
  for (std::int64_t inner : {1, 300}) {
    const std::int64_t n = 100, count = 60000 / inner;
    const Indices indices = indices_of(count, n, -n);
    std::vector<float> values(count * inner), expected(n * inner, 0.5f);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 977) * 0.1f;
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < inner; ++j) expected[(indices[i] + n) % n * inner + j] += values[i * inner + j];
    const AdvancedIndex index{{count}, {{indices.data(), {1}, n, inner, 0}}, {inner}, {1}};
    for (int threads : {1, 2, 5}) {
      set_num_threads(threads);
      std::vector<float> got(n * inner, 0.5f);
      cpu::scatter(got.data(), index, contiguous_view(values.data(), Dtype::float32, {count, inner}), ScatterMode::add);
      ASSERT_EQ(got, expected);
    }
  }
}

TEST_F(IndexTest, Nonzero) {
  for (const Shape& shape : {Shape{0}, Shape{1}, Shape{100003}, Shape{3, 0, 2}, Shape{37, 41, 53}})
    for (Dtype dtype : {Dtype::bool_, Dtype::int16, Dtype::float16, Dtype::float64})
      for (int threads : {1, 2}) {
        set_num_threads(threads);
        const std::int64_t n = shape.product();
        std::vector<std::uint8_t> data(n * static_cast<std::int64_t>(itemsize(dtype)), 0);
        Indices expected;
        for (std::int64_t i = 0; i < n; ++i)
          if (i * 7919 % 13 < 4) {
            data[i * static_cast<std::int64_t>(itemsize(dtype))] = 1;
            expected.push_back(i);
          }
        const auto count = static_cast<std::int64_t>(expected.size());
        const StridedView view = contiguous_view(data.data(), dtype, shape);
        ASSERT_EQ(cpu::count_nonzero(view), count);
        Indices got(shape.size() * count);
        cpu::nonzero(got.data(), count, view);
        const Strides strides = contiguous_strides(shape);
        for (std::int64_t i = 0; i < count; ++i) {
          std::int64_t flat = 0;
          for (int a = 0; a < shape.size(); ++a) {
            ASSERT_LT(got[a * count + i], shape[a]);
            flat += got[a * count + i] * strides[a];
          }
          ASSERT_EQ(flat, expected[i]);
        }
      }
  // All true: counting eight at a time must not overflow.
  std::vector<std::uint8_t> all(100003, 1);
  ASSERT_EQ(cpu::count_nonzero(contiguous_view(all.data(), Dtype::bool_, {100003})), 100003);
  Indices places(100003);
  cpu::nonzero(places.data(), 100003, contiguous_view(all.data(), Dtype::bool_, {100003}));
  for (std::int64_t i = 0; i < 100003; ++i) ASSERT_EQ(places[i], i);
  // A transposed view: C order of the view, not of memory. NaN and -0.0.
  const double square[4] = {0, std::nan(""), -0.0, 3};
  const StridedView view{const_cast<double*>(square), Dtype::float64, {2, 2}, {1, 2}};
  ASSERT_EQ(cpu::count_nonzero(view), 2);
  Indices got(4);
  cpu::nonzero(got.data(), 2, view);
  EXPECT_EQ(got, (Indices{1, 1, 0, 1}));
  EXPECT_EQ(cpu::count_nonzero(contiguous_view(square + 3, Dtype::float64, {})), 1);
  EXPECT_THROW(cpu::nonzero(got.data(), 1, contiguous_view(square, Dtype::float64, {})), ValueError);
  EXPECT_THROW(cpu::nonzero(got.data(), 1, view), ValueError);
}

TEST_F(IndexTest, AlongAnAxis) {
  struct Case {
    std::int64_t outer, n, count, inner;
  };
  for (auto [outer, n, count, inner] :
       {Case{1, 9, 4, 1}, {3, 5, 7, 4}, {1, 20, 300, 200}, {500, 10, 30, 3}, {0, 3, 2, 1}, {2, 3, 0, 1}})
    for (int threads : {1, 2}) {
      set_num_threads(threads);
      const std::int64_t size = outer * count * inner;
      const Indices indices = indices_of(size, n, -n);
      std::vector<float> src(outer * n * inner), got(size);
      std::iota(src.begin(), src.end(), 0.0f);
      cpu::take_along_axis(got.data(), src.data(), Dtype::float32, indices.data(), outer, n, count, inner);
      for (std::int64_t i = 0; i < size; ++i)
        ASSERT_EQ(got[i], src[(i / (count * inner) * n + (indices[i] + n) % n) * inner + i % inner]);
    }
}

}  // namespace
}  // namespace catenary
