#include "catenary/array/creation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/array/facts.h"

namespace ct = catenary;
using ct::Dtype;

TEST(Creation, FromValues) {
  expect(ct::array({1.f, 2.f}), Dtype::float32, {2}, {1, 2});
  expect(ct::array({{1, 2}, {3, 4}}), Dtype::int32, {2, 2}, {1, 2, 3, 4});
  expect(ct::array({{{1.0}, {2.0}}}), Dtype::float64, {1, 2, 1}, {1, 2});
  expect(ct::array({{{{1}}, {{2}}}}, Dtype::uint8), Dtype::uint8, {1, 2, 1, 1}, {1, 2});
  expect(ct::array({true, false}), Dtype::bool_, {2}, {1, 0});
  expect(ct::array(3), Dtype::int32, {}, {3});
  expect(ct::array(2.5f, Dtype::float16), Dtype::float16, {}, {2.5});
  expect(ct::array(std::vector<double>{1, 2, 3, 4}, {2, 2}), Dtype::float64, {2, 2}, {1, 2, 3, 4});
  expect(ct::array(std::vector<std::vector<float>>{{1, 2}, {3, 4}}), Dtype::float32, {2, 2}, {1, 2, 3, 4});
  expect(ct::array(std::vector<bool>{true, false, true}), Dtype::bool_, {3}, {1, 0, 1});
  expect(ct::array({300, -1}, Dtype::uint8), Dtype::uint8, {2}, {44, 255});
  EXPECT_THROW(ct::array({{1, 2}, {3}}), ct::ShapeError);
  EXPECT_THROW(ct::array(std::vector<int>{1, 2, 3}, ct::Shape{2, 2}), ct::ShapeError);
}

// Promotes like NumPy: array({1.5, NAN}) has a double and a float.
TEST(Creation, FromValuesOfSeveralTypes) {
  expect(ct::array({1.5, -INFINITY, 2}), Dtype::float64, {3}, {1.5, -INFINITY, 2});
  EXPECT_TRUE(std::isnan(ct::array({1.5, NAN})(1).item<double>()));
  expect(ct::array({1.f, std::int8_t{2}}), Dtype::float32, {2}, {1, 2});
  expect(ct::array({1, std::int64_t{1} << 40}), Dtype::int64, {2}, {1, 1099511627776.0});
  expect(ct::array({true, 2}), Dtype::int32, {2}, {1, 2});
  expect(ct::array({{1, 2.5}, {3, 4}}), Dtype::float64, {2, 2}, {1, 2.5, 3, 4});
  expect(ct::array({{1.5}, {2}}), Dtype::float64, {2, 1}, {1.5, 2});
  expect(ct::array({{{1, 2.5}}, {{3, 4.5}}}, Dtype::float32), Dtype::float32, {2, 1, 2}, {1, 2.5, 3, 4.5});
  EXPECT_THROW(ct::array({{1, 2.5}, {3}}), ct::ShapeError);
  EXPECT_THROW(ct::array({{1, 2.5}, 3}), ct::ShapeError);
  EXPECT_THROW(ct::array({1.5, {2, 3}}), ct::ShapeError);
}

TEST(Creation, CopiesAndHandles) {
  const ct::Array a = ct::zeros({2});
  EXPECT_TRUE(ct::asarray(a).is(a));
  EXPECT_FALSE(ct::asarray(a, Dtype::float32).is(a));
  const ct::Array b = ct::array(a);
  b.fill(1);
  expect(a, Dtype::float64, {2}, {0, 0});
  EXPECT_TRUE(ct::ascontiguousarray(a).is(a));
  expect(ct::ascontiguousarray(ct::array({{1, 2}, {3, 4}}).T()), Dtype::int32, {2, 2}, {1, 3, 2, 4});
}

TEST(Creation, ItemsAreConvertedAsArrays) {
  const ct::Array host = ct::array({-3.7, 0.1, -0.0, 100.0, 6e-8, 3e38, double{INFINITY}, double{NAN}}, Dtype::float64)
                             .to_device(ct::Device());
  for (int d = 0; d < ct::kRealDtypes; ++d) {
    const auto dtype = static_cast<Dtype>(d);
    const std::int64_t count = ct::is_floating(dtype) ? host.size() : 4;  // others do not fit integers
    const ct::Array values = host.astype(dtype);
    for (std::int64_t i = 0; i < count; ++i) {
      const ct::Array one = dtype == Dtype::float64 ? values(i) : values(i).to_device(ct::current_device());
      const auto wide = values(i).astype(Dtype::float64).to_vector<double>()[0];
      const double item = one.item<double>();
      EXPECT_TRUE(item == wide || (std::isnan(item) && std::isnan(wide))) << ct::dtype_name(dtype) << i;
      EXPECT_EQ(std::signbit(item), std::signbit(wide)) << ct::dtype_name(dtype) << i;
      if (i >= 4) continue;
      EXPECT_EQ(one.item<std::int64_t>(), values(i).astype(Dtype::int64).to_vector<std::int64_t>()[0]);
      EXPECT_EQ(one.item<std::uint64_t>(), values(i).astype(Dtype::uint64).to_vector<std::uint64_t>()[0]);
      EXPECT_EQ(one.item<bool>(), values(i).astype(Dtype::bool_).to_vector<bool>()[0]);
    }
  }
  EXPECT_THROW(ct::array({1, 2}).item<double>(), ct::ShapeError);
}

TEST(Creation, Filled) {
  expect(ct::zeros({2, 0}), Dtype::float64, {2, 0}, {});
  expect(ct::ones({3}, Dtype::uint8), Dtype::uint8, {3}, {1, 1, 1});
  expect(ct::full({2}, 7), Dtype::int64, {2}, {7, 7});
  expect(ct::full({2}, 1.5, Dtype::float16), Dtype::float16, {2}, {1.5, 1.5});
  expect(ct::full({2}, 1e19, Dtype::uint64), Dtype::uint64, {2}, {1e19, 1e19});
  const ct::Array wide = ct::zeros({2, 3}, Dtype::uint64);
  wide(ct::slice(), ct::slice(0, 3, 2)).fill(0x1p63);
  expect(wide, Dtype::uint64, {2, 3}, {0x1p63, 0, 0x1p63, 0x1p63, 0, 0x1p63});
  expect(ct::full({2, 2}, ct::array({1.f, 2.f})), Dtype::float32, {2, 2}, {1, 2, 1, 2});
  expect(ct::full({1}, true), Dtype::bool_, {1}, {1});
  const ct::Array i = ct::array({{1, 2}, {3, 4}});
  expect(ct::full_like(i, 3.9), Dtype::int32, {2, 2}, {3, 3, 3, 3});
  expect(ct::ones_like(i, Dtype::float32), Dtype::float32, {2, 2}, {1, 1, 1, 1});
  EXPECT_EQ(ct::empty_like(i).shape(), (ct::Shape{2, 2}));
  EXPECT_THROW(ct::zeros({-1, 2}), ct::ShapeError);
}

TEST(Creation, Diagonals) {
  expect(ct::eye(3, 4, 1, Dtype::int32), Dtype::int32, {3, 4}, {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  expect(ct::eye(2, 3, -1), Dtype::float64, {2, 3}, {0, 0, 0, 1, 0, 0});
  expect(ct::eye(2, 2, 5), Dtype::float64, {2, 2}, {0, 0, 0, 0});
  expect(ct::identity(2), Dtype::float64, {2, 2}, {1, 0, 0, 1});
  expect(ct::tri(3, 4, 1), Dtype::float64, {3, 4}, {1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1});
}

TEST(Creation, Arange) {
  expect(ct::arange(3), Dtype::int64, {3}, {0, 1, 2});
  expect(ct::arange(3, 20, 4), Dtype::int64, {5}, {3, 7, 11, 15, 19});
  expect(ct::arange(5, 0, -2), Dtype::int64, {3}, {5, 3, 1});
  expect(ct::arange(5, 0), Dtype::int64, {0}, {});
  expect(ct::arange(2.5), Dtype::float64, {3}, {0, 1, 2});
  expect(ct::arange(1, 2, 0.5), Dtype::float64, {2}, {1, 1.5});
  expect(ct::arange(3, Dtype::float32), Dtype::float32, {3}, {0, 1, 2});
  expect(ct::arange(1, 3, Dtype::int8), Dtype::int8, {2}, {1, 2});
  expect(ct::arange(0.0, 1.0, 0.3, Dtype::float32), Dtype::float32, {4}, {0, 0.3f, 2 * 0.3f, 3 * 0.3f});
  expect(ct::arange(0.0, 1.0, 0.1), Dtype::float64, {10}, {0, 0.1, 0.2, 3 * 0.1, 0.4, 0.5, 6 * 0.1, 7 * 0.1, 0.8, 0.9});
  expect(ct::arange(0.0, 5.0, 1.5, Dtype::int64), Dtype::int64, {4}, {0, 1, 2, 3});
  expect(ct::arange(2, Dtype::bool_), Dtype::bool_, {2}, {0, 1});
  EXPECT_THROW(ct::arange(0, 5, 0), ct::ValueError);
  EXPECT_THROW(ct::arange(0.0, 1e300, 1e-10), ct::Error);
  EXPECT_THROW(ct::arange(3, Dtype::bool_), ct::DtypeError);
}

TEST(Creation, ArangeOfIntegersBeyondInt64) {
  constexpr std::uint64_t m = std::uint64_t{1} << 63;
  const auto values = [](const ct::Array& a) {
    EXPECT_EQ(a.dtype(), Dtype::uint64);
    std::vector<std::uint64_t> host(static_cast<std::size_t>(a.size()));
    a.copy_to_host(host.data());
    return host;
  };
  using V = std::vector<std::uint64_t>;
  EXPECT_EQ(values(ct::arange(m - 1, m + 2, Dtype::uint64)), (V{m - 1, m, m + 1}));
  EXPECT_EQ(values(ct::arange(m + 7, m + 1, -3, Dtype::uint64)), (V{m + 7, m + 4}));
  EXPECT_EQ(values(ct::arange(m, m + 30, 7, Dtype::uint64)), (V{m, m + 7, m + 14, m + 21, m + 28}));
  EXPECT_EQ(values(ct::arange(m + 1, m, Dtype::uint64)), V{});
  EXPECT_EQ(values(ct::arange(2, m + 6, std::int64_t{1} << 62, Dtype::uint64)), (V{2, 2 + m / 2, 2 + m}));
  EXPECT_EQ(values(ct::arange(5, 8, Dtype::uint64)), (V{5, 6, 7}));
  EXPECT_EQ(values(ct::arange(0x1p63, 0x1.8p63, 0x1p61, Dtype::uint64)), (V{m, m + m / 4}));
  EXPECT_EQ(values(ct::arange(0x1p62, 0x1.8p63, 0x1p63, Dtype::uint64)), (V{m / 2}));
}

TEST(Creation, Spaces) {
  expect(ct::linspace(2, 3, 5), Dtype::float64, {5}, {2, 2.25, 2.5, 2.75, 3});
  expect(ct::linspace(2, 3, 5, {.endpoint = false}), Dtype::float64, {5}, {2, 2.2, 2 + 2 * 0.2, 2 + 3 * 0.2, 2.8});
  expect(ct::linspace(0, 1, 1), Dtype::float64, {1}, {0});
  expect(ct::linspace(0, 1, 0), Dtype::float64, {0}, {});
  expect(ct::linspace(-1.5, 3, 4, {.dtype = Dtype::int64}), Dtype::int64, {4}, {-2, 0, 1, 3});
  expect(ct::logspace(0, 2, 3), Dtype::float64, {3}, {1, 10, 100});
  expect(ct::logspace(0, 3, 4, {.base = 2, .dtype = Dtype::int32}), Dtype::int32, {4}, {1, 2, 4, 8});
  const std::vector<double> g = ct::geomspace(-1000, -1, 4).to_vector<double>();
  EXPECT_EQ(g.front(), -1000);
  EXPECT_NEAR(g[1], -100, 1e-11);
  EXPECT_EQ(g.back(), -1);
  EXPECT_THROW(ct::linspace(0, 1, -1), ct::ValueError);
  const ct::Array low = ct::array({0, 1}), high = ct::array({{2.0}, {5.0}});
  expect(ct::linspace(low, high, 3), Dtype::float64, {3, 2, 2}, {0, 1, 0, 1, 1, 1.5, 2.5, 3, 2, 2, 5, 5});
  expect(ct::linspace(low, ct::array({4, 2}), 3, {.endpoint = false, .dtype = Dtype::int32, .axis = -1}), Dtype::int32,
         {2, 3}, {0, 1, 2, 1, 1, 1});
  expect(ct::linspace(low.astype(Dtype::float32), 3, 1), Dtype::float32, {1, 2}, {0, 1});
  EXPECT_THROW(ct::linspace(low, high, -1), ct::ValueError);
  EXPECT_THROW(ct::geomspace(0, 1, 3), ct::ValueError);
  EXPECT_THROW(ct::geomspace(-1, 1, 3), ct::ValueError);
}

TEST(Creation, Grids) {
  const ct::Array x = ct::array({1, 2, 3}), y = ct::array({10.f, 20.f});
  const std::vector<ct::Array> xy = ct::meshgrid({x, y}), ij = ct::meshgrid({x, y}, {.indexing = "ij", .sparse = true});
  expect(xy[0], Dtype::int32, {2, 3}, {1, 2, 3, 1, 2, 3});
  expect(xy[1], Dtype::float32, {2, 3}, {10, 10, 10, 20, 20, 20});
  expect(ij[0], Dtype::int32, {3, 1}, {1, 2, 3});
  expect(ij[1], Dtype::float32, {1, 2}, {10, 20});
  expect(ct::indices({2, 3}), Dtype::int64, {2, 2, 3}, {0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2});
  expect(ct::indices({2, 1}, Dtype::bool_), Dtype::bool_, {2, 2, 1}, {0, 1, 0, 0});
  EXPECT_THROW(ct::indices({2, 3}, Dtype::bool_), ct::DtypeError);
  expect(ct::vander(ct::array({1.0, 2.0, 3.0}), 3), Dtype::float64, {3, 3}, {1, 1, 1, 4, 2, 1, 9, 3, 1});
  EXPECT_THROW(ct::meshgrid({x}, {.indexing = "yx"}), ct::ValueError);
}
