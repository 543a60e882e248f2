#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/core/config.h"
#include "catenary/functions/functions.h"
#include "tests/arrays.h"
#include "tests/autograd/helpers.h"
#include "tests/functions/helpers.h"
#include "tests/gradients.h"

namespace catenary {
namespace {

namespace F = functions;
using namespace gradient_check;
using test::values;
using V = std::vector<Variable>;
using tests::channels_last;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Numbers that are far enough apart that small steps do not change the maximum.
Array distinct_numbers(const Shape& shape) {
  const std::int64_t n = shape.product();
  std::vector<double> all(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = static_cast<double>(i * 7919 % n) / 10 - 1;
  return array(all, shape);
}
void check_pooling(const char* name, const Function& f, const Array& x) { test::check(name, f, {x}, 1e-3); }

TEST(MaxPooling, ValuesIndicesAndTies) {
  const Array x = array<double>({1, 2, 3, 4, 5,  //
                                 5, 5, 1, 0, 9,  //
                                 2, 5, 7, 7, 1},
                                {1, 1, 3, 5});
  Array indices;
  EXPECT_EQ(values(F::max_pooling_2d(x, 2, {.return_indices = &indices}).array()),
            (std::vector<double>{5, 4, 9, 5, 7, 1}));
  EXPECT_EQ(indices.dtype(), Dtype::int64);
  EXPECT_EQ(values(indices), (std::vector<double>{2, 1, 2, 1, 0, 0}));
  EXPECT_EQ(values(F::max_pooling_2d(x, 2, {.cover_all = false}).array()), (std::vector<double>{5, 4}));
  EXPECT_EQ(values(F::max_pooling_2d(x, {3, 2}, {.stride = {1, 2}, .pad = {0, 1}, .cover_all = false}).array()),
            (std::vector<double>{5, 7, 9}));
  const Variable v(x);
  F::sum(F::max_pooling_2d(v, {2, 3}, {.stride = 1, .cover_all = false})).backward();
  EXPECT_EQ(values(v.grad()), (std::vector<double>{0, 0, 0, 0, 0, 1, 1, 0, 0, 2, 0, 0, 2, 0, 0}));
}

TEST(MaxPooling, NaNAndInfinity) {
  const double nan = std::nan("");
  const Variable x(array<double>({-kInfinity, -kInfinity, nan, 1, 2, nan, nan, -kInfinity}, {1, 1, 8}));
  Array indices;
  const Variable y = F::max_pooling_1d(x, 2, {.return_indices = &indices});
  const std::vector<double> found = values(y.array());
  EXPECT_EQ(found[0], -kInfinity);
  EXPECT_TRUE(std::isnan(found[1]) && std::isnan(found[2]) && std::isnan(found[3]));
  EXPECT_EQ(values(indices), (std::vector<double>{0, 0, 1, 0}));
  // only padding
  EXPECT_EQ(values(F::max_pooling_1d(array<double>({3}, {1, 1, 1}), 1, {.pad = 1}).array()),
            (std::vector<double>{-kInfinity, 3, -kInfinity}));
  EXPECT_TRUE(std::isnan(values(
      F::average_pooling_1d(array<double>({3}, {1, 1, 1}), 1, {.pad = 1, .pad_value = std::nullopt}).array())[0]));
}

TEST(MaxPooling, Gradients) {
  const Array x = distinct_numbers({2, 3, 5, 4});
  check_pooling(
      "2d", [](const V& v) { return V{F::max_pooling_2d(v[0], 2)}; }, x);
  check_pooling(
      "overlap", [](const V& v) { return V{F::max_pooling_2d(v[0], 3, {.stride = 2, .pad = 1})}; }, x);
  check_pooling(
      "channels last",
      [](const V& v) {
        return V{F::max_pooling_2d(v[0], {3, 2}, {.stride = {1, 2}, .cover_all = false})};
      },
      channels_last(x));
  check_pooling(
      "1d", [](const V& v) { return V{F::max_pooling_1d(v[0], 3, {.stride = 2, .pad = 1})}; },
      distinct_numbers({2, 3, 7}));
  check_pooling(
      "3d",
      [](const V& v) {
        return V{F::max_pooling_3d(v[0], 2, {.stride = {2, 1, 2}})};
      },
      distinct_numbers({1, 2, 3, 3, 5}));
}

TEST(AveragePooling, ValuesAndGradients) {
  const Array x = array<double>({1, 2, 3, 4, 5, 6}, {1, 1, 2, 3});
  EXPECT_EQ(values(F::average_pooling_2d(x, 2, {.pad = 1}).array()), (std::vector<double>{0.25, 1.25, 1, 2.75}));
  EXPECT_EQ(values(F::average_pooling_2d(x, 2, {.pad = 1, .pad_value = std::nullopt}).array()),
            (std::vector<double>{1, 2.5, 4, 5.5}));
  const Array y = distinct_numbers({2, 3, 5, 4});
  check_pooling(
      "2d", [](const V& v) { return V{F::average_pooling_2d(v[0], 2)}; }, y);
  check_pooling(
      "overlap", [](const V& v) { return V{F::average_pooling_2d(v[0], 3, {.stride = 2, .pad = 1})}; },
      channels_last(y));
  check_pooling(
      "inside",
      [](const V& v) {
        return V{F::average_pooling_nd(v[0], 3, {.stride = 2, .pad = {1, 2}, .pad_value = std::nullopt})};
      },
      y);
  check_pooling(
      "1d", [](const V& v) { return V{F::average_pooling_1d(v[0], 2, {.stride = 1})}; }, distinct_numbers({2, 3, 7}));
  check_pooling(
      "3d", [](const V& v) { return V{F::average_pooling_3d(v[0], 2)}; }, distinct_numbers({1, 2, 4, 2, 5}));
}

/// Pools x [1, 1, four axes] window by window. `add` receives the elements of a window, `value` returns its result.
template <class Value>
std::vector<double> pooled_over_four(const Array& x, const Shape& size, const Shape& stride, const Shape& pad,
                                     const Shape& counts, const Value& value) {
  const std::vector<double> all = values(x);
  const auto visit = [](const Shape& extents, const auto& f) {
    for (std::int64_t a = 0; a < extents[0]; ++a)
      for (std::int64_t b = 0; b < extents[1]; ++b)
        for (std::int64_t c = 0; c < extents[2]; ++c)
          for (std::int64_t d = 0; d < extents[3]; ++d) f(Shape{a, b, c, d});
  };
  std::vector<double> results;
  visit(counts, [&](const Shape& window) {
    std::vector<double> inside;
    visit(size, [&](const Shape& tap) {
      std::int64_t at = 0;
      for (int i = 0; i < 4; ++i) {
        const std::int64_t place = window[i] * stride[i] + tap[i] - pad[i];
        if (place < 0 || place >= x.shape(i + 2)) return;
        at = at * x.shape(i + 2) + place;
      }
      inside.push_back(all[static_cast<std::size_t>(at)]);
    });
    results.push_back(value(inside));
  });
  return results;
}

TEST(Pooling, FourAxes) {
  const Array x = distinct_numbers({1, 1, 3, 4, 2, 5});
  const Shape size{2, 3, 1, 2}, stride{1, 2, 1, 3}, pad{1, 0, 0, 1}, counts{4, 1, 2, 2};
  const Variable most = F::max_pooling_nd(x, size, {.stride = stride, .pad = pad, .cover_all = false});
  EXPECT_EQ(most.shape(), (Shape{1, 1, 4, 1, 2, 2}));
  EXPECT_EQ(values(most.array()), pooled_over_four(x, size, stride, pad, counts, [](const std::vector<double>& in) {
              return *std::max_element(in.begin(), in.end());
            }));
  const auto mean = [](const std::vector<double>& in) {
    return std::accumulate(in.begin(), in.end(), 0.0) / static_cast<double>(in.size());
  };
  const auto padded_mean = [&](const std::vector<double>& in) {
    return std::accumulate(in.begin(), in.end(), 0.0) / static_cast<double>(size.product());
  };
  const auto expected = [&](const auto& value) {
    return array(pooled_over_four(x, size, stride, pad, counts, value), {1, 1, 4, 1, 2, 2});
  };
  tests::expect_near(F::average_pooling_nd(x, size, {.stride = stride, .pad = pad, .pad_value = std::nullopt}).array(),
                     expected(mean), 1e-12);
  tests::expect_near(F::average_pooling_nd(x, size, {.stride = stride, .pad = pad}).array(), expected(padded_mean),
                     1e-12);
  EXPECT_EQ(F::max_pooling_nd(zeros({2, 3, 4, 4, 4, 4, 4}), 2, {.stride = 3}).shape(), (Shape{2, 3, 2, 2, 2, 2, 2}));
  check_pooling(
      "four axes", [](const V& v) { return V{F::max_pooling_nd(v[0], 2, {.stride = 1, .pad = 1})}; },
      distinct_numbers({1, 2, 2, 1, 3, 2}));
  check_pooling(
      "four axes, means",
      [](const V& v) {
        return V{F::average_pooling_nd(v[0], 2, {.stride = {1, 2, 1, 1}, .pad_value = std::nullopt})};
      },
      distinct_numbers({1, 2, 2, 3, 3, 2}));
  Array indices;
  EXPECT_THROW(F::max_pooling_nd(x, 2, {.return_indices = &indices}), ValueError);
  EXPECT_THROW(F::max_pooling_nd(x, {2, 2}), ValueError);
  EXPECT_THROW(F::average_pooling_nd(x, 2, {.pad_value = 1}), ValueError);
  EXPECT_THROW(F::unpooling_nd(x, 2), ValueError);
}

TEST(Unpooling, ValuesAndGradients) {
  const Array x = array<double>({1, 2}, {1, 1, 2, 1});
  EXPECT_EQ(values(F::unpooling_2d(x, 2, {.cover_all = false}).array()), (std::vector<double>{1, 1, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(F::unpooling_2d(x, 2).shape(), (Shape{1, 1, 3, 1}));
  EXPECT_EQ(values(F::unpooling_2d(x, 2, {.outsize = {5, 2}, .cover_all = false}).array()),
            (std::vector<double>{1, 1, 1, 1, 2, 2, 2, 2, 0, 0}));
  // overlapping windows are added
  EXPECT_EQ(values(F::unpooling_1d(array<double>({1, 2, 4}, {1, 1, 3}), 3, {.stride = 1, .cover_all = false}).array()),
            (std::vector<double>{1, 3, 7, 6, 4}));
  EXPECT_THROW(F::unpooling_2d(x, 2, {.outsize = {9, 2}}), ShapeError);
  EXPECT_THROW(F::unpooling_2d(x, 2, {.outsize = {4}}), ShapeError);
  const Array y = distinct_numbers({2, 3, 3, 2});
  check_pooling(
      "2d", [](const V& v) { return V{F::unpooling_2d(v[0], 2)}; }, y);
  check_pooling(
      "overlap", [](const V& v) { return V{F::unpooling_2d(v[0], 3, {.stride = 2, .pad = 1})}; }, channels_last(y));
  check_pooling(
      "1d", [](const V& v) { return V{F::unpooling_1d(v[0], 2, {.cover_all = false})}; }, distinct_numbers({2, 3, 4}));
  check_pooling(
      "3d",
      [](const V& v) {
        return V{F::unpooling_3d(v[0], {1, 2, 3})};
      },
      distinct_numbers({1, 2, 2, 2, 2}));
  // pooling reverses unpooling, also if 9 taps are not a power of two
  const Array square = distinct_numbers({1, 2, 5, 5}).astype(Dtype::float32);
  const Variable spread = F::unpooling_2d(square, 3);
  EXPECT_EQ(values(F::max_pooling_2d(spread, 3).array()), values(square));
}

TEST(Upsampling, PutsElementsWhereTheyWere) {
  const Array x = distinct_numbers({2, 3, 5, 4}) + 5.0;
  Array indices;
  const Variable y = F::max_pooling_2d(x, 2, {.return_indices = &indices});
  const Variable up = F::upsampling_2d(y, indices, 2, {.outsize = {5, 4}});
  EXPECT_EQ(values(up.array()), values(catenary::where(up.array() == x, x, 0)));
  EXPECT_EQ(values(F::max_pooling_2d(up, 2).array()), values(y.array()));
  check_pooling(
      "upsampling",
      [&](const V& v) {
        return V{F::upsampling_2d(v[0], indices.astype(Dtype::int32), 2, {.outsize = {5, 4}})};
      },
      y.array());
  EXPECT_THROW(F::upsampling_2d(y, indices.astype(Dtype::float32), 2), DtypeError);
  EXPECT_THROW(F::upsampling_2d(x, indices, 2), ShapeError);
  EXPECT_THROW(
      {
        F::upsampling_2d(y, indices + 3, 2);
        current_device().synchronize();
      },
      IndexError);
}

TEST(SpatialPyramidPooling, ShapesAndGradients) {
  const Array x = distinct_numbers({2, 3, 5, 7});
  EXPECT_EQ(F::spatial_pyramid_pooling_2d(x, 3).shape(), (Shape{2, 3 * 21, 1, 1}));
  EXPECT_EQ(values(F::spatial_pyramid_pooling_2d(x, 1).array()), values(x.max({2, 3})));
  check_pooling(
      "pyramid", [](const V& v) { return V{F::spatial_pyramid_pooling_2d(v[0], 2)}; }, x);
  EXPECT_THROW(F::spatial_pyramid_pooling_2d(x, 2, "avg"), ValueError);
  EXPECT_THROW(F::spatial_pyramid_pooling_2d(x, 0), ValueError);
  EXPECT_THROW(F::spatial_pyramid_pooling_2d(x.astype(Dtype::int32), 2), DtypeError);
}

TEST(Pooling, StaysAsItLies) {
  const Array x = distinct_numbers({2, 3, 6, 4}), last = channels_last(x);
  const auto lies = [](const Array& a) { return a.strides()[1] == 1; };
  const Variable v(last);
  const Variable y = F::max_pooling_2d(v, 2), mean = F::average_pooling_2d(v, 3, {.stride = 1});
  EXPECT_TRUE(lies(y.array()) && lies(mean.array()));
  EXPECT_EQ(values(y.array()), values(F::max_pooling_2d(x, 2).array()));
  EXPECT_EQ(values(mean.array()), values(F::average_pooling_2d(x, 3, {.stride = 1}).array()));
  F::sum(y * y).backward();
  EXPECT_TRUE(lies(v.grad()));
  EXPECT_TRUE(F::max_pooling_2d(x, 2).array().is_contiguous());
}

TEST(Pooling, SmallDtypesAndEmptyArrays) {
  const Array x = distinct_numbers({1, 2, 4, 4});
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    const Variable y = F::average_pooling_2d(x.astype(dtype), 2);
    EXPECT_EQ(y.dtype(), dtype);
    assert_allclose(y.array().astype(Dtype::float32), F::average_pooling_2d(x.astype(Dtype::float32), 2).array(), 1e-2,
                    1e-2);
  }
  const Variable empty(zeros({0, 2, 4, 4}));
  const Variable y = F::max_pooling_2d(empty, 2);
  EXPECT_EQ(y.shape(), (Shape{0, 2, 2, 2}));
  F::sum(y).backward();
  EXPECT_EQ(empty.grad().shape(), (Shape{0, 2, 4, 4}));
  EXPECT_EQ(F::average_pooling_2d(zeros({2, 0, 4, 4}), 2).shape(), (Shape{2, 0, 2, 2}));
}

TEST(Pooling, InvalidArgumentsAreNamed) {
  const Array x = distinct_numbers({1, 2, 4, 4});
  EXPECT_THROW(F::max_pooling_1d(x, 2), ShapeError);
  EXPECT_THROW(F::max_pooling_2d(x, 7, {.cover_all = false}), ShapeError);
  EXPECT_THROW(F::max_pooling_2d(x, 0), ValueError);
  EXPECT_THROW(F::max_pooling_2d(x, 2, {.stride = 0}), ValueError);
  EXPECT_THROW(F::max_pooling_2d(x, {2, 2, 2}), ValueError);
  EXPECT_THROW(F::max_pooling_nd(distinct_numbers({2, 3}), 2), ValueError);
  EXPECT_THROW(F::max_pooling_2d(x.astype(Dtype::int32), 2), DtypeError);
  EXPECT_THROW(F::average_pooling_2d(x, 2, {.pad_value = 1}), ValueError);
}

}  // namespace
}  // namespace catenary
