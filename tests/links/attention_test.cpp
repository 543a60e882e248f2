#include "catenary/links/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/core/config.h"
#include "catenary/functions/functions.h"
#include "catenary/links/normalization.h"
#include "tests/autograd/helpers.h"
#include "tests/links/helpers.h"

namespace catenary {
namespace {

namespace F = functions;
namespace L = links;
using test::numbers;
using test::values;
using tests::expect_near;

TEST(MultiHeadAttention, IsProjectionsAroundAttention) {
  const L::MultiHeadAttention attend(12, 6, {.groups = 2, .head_size = 4});
  const Variable x(numbers({2, 5, 12}));
  const Variable y = attend(x, {.causal = true});
  EXPECT_EQ(y.shape(), (Shape{2, 5, 12}));
  const auto heads = [](const Variable& of, std::int64_t n) {
    return F::transpose(F::reshape(of, {2, 5, n, 4}), {0, 2, 1, 3});
  };
  const Variable plain = F::scaled_dot_product_attention(heads(attend.q(x), 6), heads(attend.k(x), 2),
                                                         heads(attend.v(x), 2), {.causal = true});
  expect_near(y.array(), attend.out(F::reshape(F::transpose(plain, {0, 2, 1, 3}), {2, 5, 24})).array());
  F::sum(F::square(y)).backward();
  for (const Parameter& p : attend.params()) EXPECT_TRUE(p.grad().defined()) << p.name();
  EXPECT_EQ(attend.count_params(), 12 * 24 + 24 + 2 * (12 * 8 + 8) + 24 * 12 + 12);
}

TEST(MultiHeadAttention, OfAnotherSequence) {
  const L::MultiHeadAttention attend(8, 2);
  EXPECT_EQ(attend(numbers({2, 5, 8}), numbers({2, 3, 8})).shape(), (Shape{2, 5, 8}));
  expect_near(attend(numbers({2, 5, 8}), numbers({2, 5, 8})).array(), attend(numbers({2, 5, 8})).array());
}

TEST(MultiHeadAttention, ACacheGivesWhatAWholeCallGives) {
  for (const bool turned : {false, true}) {
    for (const std::int64_t window : {0, 3}) {
      L::MultiHeadAttentionOptions options{.groups = 1};
      if (turned) options.rotary = F::RotaryOptions{.base = 50};
      const L::MultiHeadAttention attend(8, 2, options);
      const auto scope = using_config(config.enable_backprop, false);
      const Array x = numbers({2, 40, 8});
      const Array whole = attend(x, {.causal = true, .window = window}).array();
      L::KeyValueCache cache;
      std::vector<Array> parts;
      std::int64_t at = 0;
      for (const std::int64_t n : {7, 1, 1, 20, 1, 10}) {
        parts.push_back(
            attend(x(slice(), slice(at, at + n)), {.causal = true, .window = window, .cache = &cache}).array());
        at += n;
        EXPECT_EQ(cache.size(), at);
      }
      expect_near(concatenate(parts, 1), whole);
      // again from position 8
      cache.resize(8);
      expect_near(attend(x(slice(), slice(8, 12)), {.causal = true, .window = window, .cache = &cache}).array(),
                  whole(slice(), slice(8, 12)));
    }
  }
}

TEST(MultiHeadAttention, ACopyOfACacheGoesItsOwnWay) {
  const auto scope = using_config(config.enable_backprop, false);
  const L::MultiHeadAttention attend(8, 2);
  const Array x = numbers({1, 6, 8}), other = numbers({1, 6, 8}, 2);
  L::KeyValueCache cache;
  attend(x, {.causal = true, .cache = &cache});
  L::KeyValueCache copy = cache;
  const Array wanted = attend(other, {.causal = true, .cache = &copy}).array().copy();
  L::KeyValueCache again = cache;
  attend(x, {.causal = true, .cache = &cache});
  attend(x, {.causal = true, .cache = &copy});
  expect_near(attend(other, {.causal = true, .cache = &again}).array(), wanted);
}

TEST(MultiHeadAttention, BadInputIsNamed) {
  EXPECT_THROW(L::MultiHeadAttention(8, 3), ValueError);
  EXPECT_THROW(L::MultiHeadAttention(8, 4, {.groups = 3}), ValueError);
  EXPECT_THROW(L::MultiHeadAttention(8, 0), ValueError);
  const L::MultiHeadAttention attend(8, 2);
  EXPECT_THROW(attend(numbers({2, 8})), ShapeError);
  L::KeyValueCache cache;
  EXPECT_THROW(attend(numbers({1, 2, 8}), {.cache = &cache}), ValueError);  // refused while a graph is recorded
  const auto scope = using_config(config.enable_backprop, false);
  EXPECT_THROW(attend(numbers({1, 2, 8}), numbers({1, 2, 8}), {.cache = &cache}), ValueError);
  attend(numbers({1, 2, 8}), {.cache = &cache});
  EXPECT_THROW(attend(numbers({2, 2, 8}), {.cache = &cache}), ShapeError);
  EXPECT_EQ(cache.size(), 2);
  EXPECT_THROW(cache.resize(3), ValueError);
  EXPECT_THROW(cache.append(zeros({1, 2, 1, 4}, Dtype::float64), zeros({1, 2, 1, 4}, Dtype::float64)), DtypeError);
  EXPECT_THROW(cache.append(zeros({1, 2, 1, 4}, Dtype::float32), zeros({1, 2, 2, 4}, Dtype::float32)), ShapeError);
  cache.resize(0);  // no positions are before them
  EXPECT_THROW(cache.append(zeros({1, 2, 1, 4}), zeros({1, 2, 2, 4})), ShapeError);
  cache.append(zeros({3, 2, 1, 4}, Dtype::float64), ones({3, 2, 1, 5}, Dtype::float64));
  cache.append(zeros({3, 2, 20, 4}, Dtype::float64), ones({3, 2, 20, 5}, Dtype::float64));
  EXPECT_EQ(cache.keys().shape(), (Shape{3, 2, 21, 4}));
  EXPECT_TRUE((cache.values() == 1.0).all());
}

TEST(RMSNorm, IsTheFunctionAndItsGammaIsWideWhereThePrecisionIsMixed) {
  const L::RMSNorm norm;
  const Variable x(numbers({3, 5}) * 2.0);
  expect_near(norm(x).array(), F::rms_normalization(x, ones({5}), 1e-6).array());
  const auto scope = using_config(config.dtype, mixed16);
  const L::RMSNorm mixed(4);
  EXPECT_EQ(mixed.gamma.dtype(), Dtype::float32);
  EXPECT_EQ(mixed(numbers({3, 4}).astype(Dtype::float16)).dtype(), Dtype::float16);
}

}  // namespace
}  // namespace catenary
