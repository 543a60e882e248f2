#include "catenary/array/random.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "catenary/array/elementwise.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/backends/cpu/random/random.h"
#include "tests/array/expect.h"

namespace ct = catenary;
namespace random_ = ct::random;
using namespace testing_arrays;

namespace {

/// Expects mean and variance within 5 standard errors.
void expect_moments(const Array& x, double mean, double variance) {
  const double n = static_cast<double>(x.size());
  const Array wide = x.astype(Dtype::float64);
  EXPECT_NEAR(ct::mean(wide).item<double>(), mean, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(ct::var(wide).item<double>() / variance, 1, 15 / std::sqrt(n));
}

TEST(Random, BitsAreThoseOfPhilox) {
  random_::Generator generator{.seed = 42, .call = 7};
  const Array bits = random_::bits({3, 5}, {.generator = &generator});
  std::vector<std::uint32_t> expected(15);
  ct::cpu::random_bits(expected.data(), 15, 42, 7);
  EXPECT_EQ(bits.to_vector<std::uint32_t>(), expected);
  EXPECT_EQ(generator.call, 8u);
}

TEST(Random, SeedAndStateReproduce) {
  random_::seed(1);
  const std::vector<double> first = random_::rand(10).to_vector<double>();
  const random_::Generator state = random_::get_state();
  const std::vector<double> second = random_::randn(2, 3).to_vector<double>();
  random_::seed(1);
  EXPECT_EQ(random_::rand(10).to_vector<double>(), first);
  random_::set_state(state);
  EXPECT_EQ(random_::randn(2, 3).to_vector<double>(), second);
  random_::seed(2);
  EXPECT_NE(random_::rand(10).to_vector<double>(), first);
}

TEST(Random, Uniform) {
  random_::seed(3);
  for (Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    const Array x = random_::random({20000}, {.dtype = dtype});
    EXPECT_EQ(x.dtype(), dtype);
    EXPECT_GE(ct::min(x).item<double>(), 0);
    EXPECT_LT(ct::max(x).item<double>(), 1);
    expect_moments(x,
                   dtype == Dtype::bfloat16  ? 0.5 - 1.0 / 512
                   : dtype == Dtype::float16 ? 0.5 - 1.0 / 4096
                                             : 0.5,
                   1.0 / 12);
  }
  expect_moments(random_::uniform(-2, 4, {20000}, {.dtype = Dtype::float32}), 1, 3);
  EXPECT_EQ(random_::uniform(0, 1, {2, 3}).shape(), (Shape{2, 3}));
  EXPECT_EQ(random_::uniform(0, 1, {}).shape(), Shape{});
  const Array low = make<double>({0, 100}), high = make<double>({1, 101});
  const Array x = random_::uniform(low, high, Shape{500, 2});
  EXPECT_TRUE(ct::greater_equal(x, low).all() && ct::less(x, high).all());
  EXPECT_EQ(random_::uniform(low, high).shape(), Shape{2});
  EXPECT_THROW(random_::uniform(low, high, Shape{3}), ct::ShapeError);
  EXPECT_THROW(random_::random({2}, {.dtype = Dtype::int32}), ct::DtypeError);
  EXPECT_EQ(random_::random({0, 3}).size(), 0);
  EXPECT_EQ(random_::random({}).ndim(), 0);
}

TEST(Random, Continuous) {
  random_::seed(4);
  const Shape many{40000};
  const Array z = random_::standard_normal(many);
  expect_moments(z, 0, 1);
  EXPECT_NEAR(ct::mean(ct::less(ct::absolute(z), 1)).item<double>(), 0.6827, 0.012);
  expect_moments(random_::normal(5, 2, many, {.dtype = Dtype::float32}), 5, 4);
  EXPECT_EQ(random_::normal(0, 1, many, {.dtype = Dtype::float16}).dtype(), Dtype::float16);
  expect_moments(random_::exponential(3, many), 3, 9);
  expect_moments(random_::gumbel(1, 2, many), 1 + 2 * 0.5772156649, 4 * 1.6449340668);
  expect_moments(random_::laplace(1, 2, many), 1, 8);
  EXPECT_TRUE(ct::isfinite(random_::normal(0, 1, many, {.dtype = Dtype::float32})).all());
  EXPECT_THROW(random_::normal(0, -1, many), ct::ValueError);
}

TEST(Random, Integers) {
  random_::seed(5);
  const Array x = random_::randint(-3, 4, {70000});
  EXPECT_EQ(x.dtype(), Dtype::int64);
  const Array counts = ct::bincount(ct::add(x, 3));
  EXPECT_EQ(counts.size(), 7);
  for (double count : counts.to_vector<double>()) EXPECT_NEAR(count, 10000, 500);
  EXPECT_EQ(random_::randint(10, {5}, {.dtype = Dtype::uint8}).dtype(), Dtype::uint8);
  const Array wide = random_::randint(std::int64_t{-1} << 62, std::int64_t{1} << 62, {1000});
  EXPECT_GT(ct::max(wide).item<std::int64_t>(), std::int64_t{1} << 60);
  EXPECT_LT(ct::min(wide).item<std::int64_t>(), -(std::int64_t{1} << 60));
  expect_array(random_::randint(5, 6, {3}), {5, 5, 5}, {3}, Dtype::int64);
  EXPECT_THROW(random_::randint(3, 3, {2}), ct::ValueError);
  EXPECT_THROW(random_::randint(0, 257, {2}, {.dtype = Dtype::uint8}), ct::ValueError);
  EXPECT_THROW(random_::randint(0, 2, {2}, {.dtype = Dtype::float32}), ct::DtypeError);
}

// An integer is the upper half of the 128-bit product of 64 random bits and the number of integers.
TEST(Random, IntegersOfWideRangesHaveEveryCarry) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min(), highest = -(lowest + 1);
  const Shape many{2000};
  for (const auto& [low, high] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 3},
                                                          {-5, std::int64_t{1} << 31},
                                                          {0, std::int64_t{1} << 32},
                                                          {0, (std::int64_t{1} << 40) + 12345},
                                                          {-7, highest},
                                                          {lowest, highest},
                                                          {lowest, lowest + 2}}) {
    random_::seed(7);
    const auto upper = random_::bits(many).to_vector<std::uint32_t>(),
               lower = random_::bits(many).to_vector<std::uint32_t>();
    random_::seed(7);
    const auto drawn = random_::randint(low, high, many).to_vector<std::int64_t>();
    const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const std::uint64_t word = std::uint64_t{upper[i]} << 32 | lower[i];
      const auto offset = static_cast<std::uint64_t>(Wide{word} * range >> 64);
      ASSERT_EQ(drawn[i], static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset)) << low << " " << high;
    }
  }
}

TEST(Random, Discrete) {
  random_::seed(6);
  const Shape many{30000};
  EXPECT_NEAR(ct::mean(random_::bernoulli(0.3, many)).item<double>(), 0.3, 0.014);
  expect_array(random_::bernoulli(make<double>({0, 1})), {0, 1}, {2}, Dtype::bool_);
  expect_moments(random_::binomial(20, 0.25, many), 5, 3.75);
  expect_array(random_::binomial(7, 1, {2}), {7, 7}, {2}, Dtype::int64);
  expect_moments(random_::poisson(4.5, many), 4.5, 4.5);
  expect_array(random_::poisson(0, {2}), {0, 0}, {2}, Dtype::int64);
  EXPECT_THROW(random_::bernoulli(1.5, many), ct::ValueError);
  EXPECT_THROW(random_::binomial(-1, 0.5), ct::ValueError);
  EXPECT_THROW(random_::binomial(2.5, 0.5), ct::ValueError);
  EXPECT_THROW(random_::poisson(-1), ct::ValueError);
}

TEST(Random, CountsOfArraysOfParameters) {
  random_::seed(8);
  // Frequencies are within five standard deviations of the probabilities.
  const Array n = make<std::int64_t>({1, 3}).reshape({2, 1}), p = make<double>({0, 0.3, 1});
  const Array drawn = random_::binomial(n, p, Shape{20000, 2, 3});
  EXPECT_EQ(drawn.dtype(), Dtype::int64);
  const auto share = [&](std::int64_t row, std::int64_t column, std::int64_t k) {
    const Array all = drawn(ct::slice(), row, column);
    return static_cast<double>(ct::count_nonzero(ct::equal(all, k)).item<std::int64_t>()) / 20000;
  };
  EXPECT_EQ(share(0, 0, 0), 1);
  EXPECT_EQ(share(1, 0, 0), 1);
  EXPECT_EQ(share(0, 2, 1), 1);
  EXPECT_EQ(share(1, 2, 3), 1);
  const double expected[] = {0.343, 0.441, 0.189, 0.027};
  for (std::int64_t k = 0; k < 4; ++k)
    EXPECT_NEAR(share(1, 1, k), expected[k], 5 * std::sqrt(expected[k] * (1 - expected[k]) / 20000)) << k;
  EXPECT_NEAR(share(0, 1, 1), 0.3, 5 * std::sqrt(0.21 / 20000));

  const Array means = make<float>({0.5, 30, 4000});
  const Array counts = random_::poisson(means, Shape{20000, 3}, {.dtype = Dtype::float64});
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto mean = static_cast<double>(means[i].item<float>());
    expect_moments(counts(ct::slice(), i), mean, mean);
  }
  EXPECT_EQ(random_::poisson(means).shape(), Shape{3});
  EXPECT_EQ(random_::poisson(ct::Array::empty({0, 2}, Dtype::float32)).shape(), (Shape{0, 2}));
  EXPECT_EQ(random_::binomial(5, make<double>({0.5, 0.5}), Shape{0, 2}).shape(), (Shape{0, 2}));
  EXPECT_THROW(random_::poisson(make<double>({1, -1})), ct::ValueError);
  EXPECT_THROW(random_::binomial(make<std::int64_t>({3, 4}), make<double>({0.1, 1.5})), ct::ValueError);
  EXPECT_THROW(random_::binomial(3, p, Shape{2}), ct::ShapeError);
}

TEST(Random, ProbabilitiesMayBeRounded) {
  random_::seed(9);
  const Array p = ct::divide(make<double>({1, 2, 3, 1}), 7.0).astype(Dtype::float32);
  const Array drawn = random_::choice(4, {30000}, {.p = p});
  EXPECT_NEAR(ct::mean(drawn).item<double>(), 11.0 / 7, 0.03);
  EXPECT_THROW(random_::choice(2, {3}, {.p = make<double>({0.5, 0.4999})}), ct::ValueError);
  EXPECT_THROW(random_::choice(2, {3}, {.p = make<float>({0.5, 0.499})}), ct::ValueError);
}

TEST(Random, Orders) {
  random_::seed(7);
  std::vector<std::int64_t> order = random_::permutation(1000).to_vector<std::int64_t>();
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (std::int64_t i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  const Array x = make<int>({0, 0, 1, 10, 2, 20, 3, 30, 4, 40}, {5, 2});
  random_::shuffle(x);
  expect_array(ct::sort(x, 0), {0, 0, 1, 10, 2, 20, 3, 30, 4, 40}, {5, 2}, Dtype::int32);
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(x(i, 0).item<int>() * 10, x(i, 1).item<int>());
  EXPECT_EQ(random_::permutation(0).size(), 0);
  EXPECT_THROW(random_::permutation(-1), ct::ValueError);
}

TEST(Random, Choice) {
  random_::seed(8);
  const Array p = make<double>({0.5, 0, 0.25, 0.25});
  const std::vector<double> counts = ct::bincount(random_::choice(4, {20000}, {.p = p}), {}, 4).to_vector<double>();
  EXPECT_NEAR(counts[0], 10000, 400);
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[2], 5000, 350);
  expect_array(ct::sort(random_::choice(4, {3}, {.replace = false, .p = p})), {0, 2, 3}, {3}, Dtype::int64);
  expect_array(ct::sort(random_::choice(5, {5}, {.replace = false})), {0, 1, 2, 3, 4}, {5}, Dtype::int64);
  EXPECT_TRUE(ct::isin(random_::choice(make<float>({1.5f, 2.5f}), {4, 2}), make<float>({1.5f, 2.5f})).all());
  EXPECT_THROW(random_::choice(4, {5}, {.replace = false}), ct::ValueError);
  EXPECT_THROW(random_::choice(4, {4}, {.replace = false, .p = p}), ct::ValueError);
  EXPECT_THROW(random_::choice(4, {1}, {.p = p * 2}), ct::ValueError);
  EXPECT_THROW(random_::choice(3, {1}, {.p = p}), ct::ShapeError);
}

}  // namespace
