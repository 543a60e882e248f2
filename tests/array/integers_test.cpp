// Functions of integers: gcd, lcm, bitwise_count.

#include <bit>
#include <limits>
#include <numeric>
#include <random>

#include "catenary/array/elementwise.h"
#include "catenary/core/error.h"
#include "tests/array/expect.h"

namespace ct = catenary;

namespace {

using namespace testing_arrays;

TEST(Integers, OfAllDtypes) {
  for (const Dtype dtype : {Dtype::int8, Dtype::uint8, Dtype::int16, Dtype::uint16, Dtype::int32, Dtype::uint32,
                            Dtype::int64, Dtype::uint64}) {
    const Array x = make<int>({12, 0, 7, 100, 0, 96}, {2, 3}).astype(dtype), y = make<int>({18, 5, 0}).astype(dtype);
    expect_array(ct::gcd(x, y), {6, 5, 7, 2, 5, 96}, {2, 3}, dtype);
    expect_array(ct::lcm(make<int>({4, 0, 3}).astype(dtype), 6), {12, 0, 6}, {3}, dtype);
    expect_array(ct::bitwise_count(x), {2, 0, 3, 3, 0, 2}, {2, 3}, Dtype::uint8);
  }
}

TEST(Integers, OfNegativeAndExtremeNumbers) {
  expect_array(ct::gcd(make<int>({-12, 12, -7}), make<int>({18, -18, 0})), {6, 6, 7}, {3}, Dtype::int32);
  expect_array(ct::lcm(make<int>({-4, 4, 0}), make<int>({6, -6, 0})), {12, 12, 0}, {3}, Dtype::int32);
  expect_array(ct::bitwise_count(make<int>({-1, -7, -128})), {1, 3, 1}, {3}, Dtype::uint8);
  expect_array(ct::gcd(make<std::int8_t>({-128, 6}), make<std::int8_t>({6, -128})), {2, 2}, {2}, Dtype::int8);
  constexpr std::uint64_t high = std::uint64_t{1} << 63;
  EXPECT_EQ(
      ct::gcd(make<std::uint64_t>({high}), make<std::uint64_t>({std::uint64_t{3} << 40}))(0).item<std::uint64_t>(),
      std::uint64_t{1} << 40);
  expect_array(ct::bitwise_count(make<std::uint64_t>({high, ~std::uint64_t{0}, 0})), {1, 64, 0}, {3}, Dtype::uint8);
  expect_array(ct::bitwise_count(make<std::int64_t>({std::numeric_limits<std::int64_t>::min()})), {1}, {1},
               Dtype::uint8);
}

TEST(Integers, AsTheStandardLibrary) {
  std::mt19937_64 random(4);
  std::vector<std::int64_t> a(1003), b(1003);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<std::int64_t>(random()) >> (random() % 62 + 1);
    b[i] = static_cast<std::int64_t>(random()) >> (random() % 62 + 1);
  }
  const Array x = make<std::int64_t>(a), y = make<std::int64_t>(b);
  const auto divisors = ct::gcd(x, y).to_vector<std::int64_t>();
  const auto bits = ct::bitwise_count(x).to_vector<std::int64_t>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(divisors[i], std::gcd(a[i], b[i])) << a[i] << ' ' << b[i];
    ASSERT_EQ(bits[i], std::popcount(static_cast<std::uint64_t>(std::abs(a[i])))) << a[i];
  }
}

TEST(Integers, RefusesOtherDtypes) {
  EXPECT_THROW(ct::gcd(make<float>({1}), 2), ct::DtypeError);
  EXPECT_THROW(ct::lcm(make<int>({1}).astype(Dtype::bool_), make<int>({1}).astype(Dtype::bool_)), ct::DtypeError);
  EXPECT_THROW(ct::bitwise_count(make<float>({1})), ct::DtypeError);
  expect_array(ct::bitwise_count(make<int>({1, 0}).astype(Dtype::bool_)), {1, 0}, {2}, Dtype::uint8);
  EXPECT_EQ(ct::gcd(Array::empty({0, 3}, Dtype::int32), 2).shape(), (Shape{0, 3}));
}

}  // namespace
