#include "catenary/functions/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/random.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/core/config.h"
#include "catenary/core/parallel.h"
#include "catenary/device/pool.h"
#include "catenary/functions/functions.h"
#include "tests/autograd/helpers.h"
#include "tests/functions/helpers.h"
#include "tests/gradients.h"

namespace catenary {
namespace {

namespace F = functions;
using namespace gradient_check;
using test::values;
using V = std::vector<Variable>;
using tests::expect_near;

Array waves(const Shape& shape, double phase, Dtype dtype = Dtype::float64) {
  return (test::numbers(shape, phase) * 1.5).astype(dtype);
}

/// Attention with softmax of whole matrices, for shapes [B, H, L, E].
Variable plain(const Variable& q, const Variable& k, const Variable& v, const Array& added) {
  const Variable scores = F::matmul(q, k, false, true) / std::sqrt(static_cast<double>(q.shape(3))) + added;
  return F::matmul(F::softmax(scores, -1), v);
}

Array causal_numbers(std::int64_t queries, std::int64_t keys, std::int64_t first) {
  const Array last = (arange(queries) + first).reshape({queries, 1}), key = arange(keys);
  return where(key <= last, 0.0, -std::numeric_limits<double>::infinity());
}

TEST(Attention, IsSoftmaxOfScoresTimesValues) {
  const Variable q(waves({2, 3, 20, 8}, 0)), k(waves({2, 3, 24, 8}, 1)), v(waves({2, 3, 24, 5}, 2));
  expect_near(F::scaled_dot_product_attention(q, k, v).array(), plain(q, k, v, zeros({1}, Dtype::float64)).array(),
              1e-12);
  const Array causal = causal_numbers(20, 24, 0), later = causal_numbers(20, 24, 4);
  expect_near(F::scaled_dot_product_attention(q, k, v, {.causal = true}).array(), plain(q, k, v, causal).array(),
              1e-12);
  expect_near(F::scaled_dot_product_attention(q, k, v, {.causal = true, .first = 4}).array(),
              plain(q, k, v, later).array(), 1e-12);
  expect_near(F::scaled_dot_product_attention(q, k, v, {.mask = Variable(causal, false)}).array(),
              plain(q, k, v, causal).array(), 1e-12);
  expect_near(F::scaled_dot_product_attention(q, k, v, {.mask = Variable(causal == 0.0, false)}).array(),
              plain(q, k, v, causal).array(), 1e-12);
}

TEST(Attention, AxesBeforeTheRowsAreOptional) {
  const Array q = waves({6, 4}, 0), k = waves({7, 4}, 1), v = waves({7, 3}, 2);
  const Variable y = F::scaled_dot_product_attention(q, k, v);
  EXPECT_EQ(y.shape(), (Shape{6, 3}));
  const auto with = [](const Array& a, const Shape& before) {
    Shape shape = before;
    for (const std::int64_t n : a.shape()) shape.push_back(n);
    return a.reshape(shape);
  };
  for (const Shape& before : {Shape{1}, Shape{1, 1}, Shape{1, 1, 1}}) {
    const Variable z = F::scaled_dot_product_attention(with(q, before), with(k, before), with(v, before));
    EXPECT_EQ(z.array().reshape({6, 3}).to_vector<double>(), y.array().to_vector<double>());
  }
  const Variable five =
      F::scaled_dot_product_attention(waves({2, 3, 4, 5, 6}, 0), waves({2, 3, 2, 7, 6}, 1), waves({2, 3, 2, 7, 2}, 2));
  EXPECT_EQ(five.shape(), (Shape{2, 3, 4, 5, 2}));
}

TEST(Attention, ScalesByTheGivenScale) {
  const Variable q(waves({1, 2, 20, 4}, 0)), k(waves({1, 2, 9, 4}, 1)), v(waves({1, 2, 9, 3}, 2));
  const Variable wanted = F::matmul(F::softmax(F::matmul(q, k, false, true) * 0.3, -1), v);
  F::sum(F::square(wanted)).backward();
  const Array gradient = q.grad();
  for (const double dropout : {0.0, 1e-9}) {  // the second value uses whole matrices
    const Variable x(q.array());
    const Variable y = F::scaled_dot_product_attention(x, k, v, {.scale = 0.3, .dropout = dropout});
    expect_near(y.array(), wanted.array(), 1e-8);
    F::sum(F::square(y)).backward();
    expect_near(x.grad(), gradient, 1e-8);
  }
}

TEST(Attention, MasksHaveAsManyAxesAsTheRest) {
  const Array q = waves({2, 3, 2, 5, 4}, 0), k = waves({2, 3, 2, 6, 4}, 1), v = waves({2, 3, 2, 6, 3}, 2);
  const Array numbers = waves({2, 3, 2, 5, 6}, 3), flags = numbers > -0.5;
  const auto four = [](const Array& x) { return x.reshape({6, 2, x.shape(-2), x.shape(-1)}); };
  for (const Array& mask : {numbers, flags}) {
    const Array y = F::scaled_dot_product_attention(q, k, v, {.mask = Variable(mask, false)}).array();
    const Array wanted =
        F::scaled_dot_product_attention(four(q), four(k), four(v), {.mask = Variable(four(mask), false)}).array();
    expect_near(four(y), wanted, 1e-12);
    // three axes are one head, two axes have no heads
    const Array three =
        F::scaled_dot_product_attention(q(0, 0), k(0, 0), v(0, 0), {.mask = Variable(mask(0, 0), false)}).array();
    expect_near(three, wanted(0), 1e-12);
    const Array two =
        F::scaled_dot_product_attention(q(0, 0, 0), k(0, 0, 0), v(0, 0, 0), {.mask = Variable(mask(0, 0, 0), false)})
            .array();
    expect_near(two, wanted(0, 0), 1e-12);
    // missing axes are broadcast
    expect_near(
        F::scaled_dot_product_attention(q(0), k(0), v(0), {.mask = Variable(mask(0, 0, 0), false)}).array()(0, 0),
        wanted(0, 0), 1e-12);
  }
}

TEST(Attention, AQueryThatIsNanGivesNan) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64, Dtype::float16}) {
    const Array q = waves({1, 1, 20, 4}, 0, dtype), k = waves({1, 1, 9, 4}, 1, dtype),
                v = waves({1, 1, 9, 3}, 2, dtype);
    q.set(std::numeric_limits<double>::quiet_NaN(), 0, 0, 7);
    const std::vector<double> all = values(F::scaled_dot_product_attention(q, k, v).array());
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(std::isnan(all[i]), i / 3 == 7) << dtype << " " << i;
  }
}

TEST(Attention, HeadsShareKeys) {
  const Variable q(waves({2, 6, 20, 8}, 0)), k(waves({2, 2, 9, 8}, 1)), v(waves({2, 2, 9, 8}, 2));
  const auto each = [](const Variable& x) { return F::repeat(x, {3}, 1); };
  expect_near(F::scaled_dot_product_attention(q, k, v).array(),
              F::scaled_dot_product_attention(q, each(k), each(v)).array(), 1e-12);
}

TEST(Attention, GradientsOnceAndTwice) {
  for (const bool causal : {false, true}) {
    const auto f = [=](const V& x) {
      return V{F::scaled_dot_product_attention(x[0], x[1], x[2], {.causal = causal, .first = 2})};
    };
    tests::check_gradients(f, {waves({1, 4, 5, 3}, 0), waves({1, 2, 7, 3}, 1), waves({1, 2, 7, 2}, 2)});
    tests::check_gradients(f, {waves({2, 1, 18, 2}, 0), waves({2, 1, 3, 2}, 1), waves({2, 1, 3, 2}, 2)});
  }
  // a single array as queries, keys and values
  tests::check_gradients([](const V& x) { return V{F::scaled_dot_product_attention(x[0], x[0], x[0])}; },
                         {waves({1, 1, 5, 3}, 0)});
}

/// Returns numbers to add for everything hidden by a mask, a window and causality.
Array unseen(const Array& mask, std::int64_t first, std::int64_t window) {
  const std::int64_t queries = mask.shape(-2), keys = mask.shape(-1);
  const Array last = (arange(queries) + first).reshape({queries, 1}), key = arange(keys);
  return where(logical_and(mask, logical_and(key <= last, key > last - window)), 0.0,
               -std::numeric_limits<double>::infinity());
}

TEST(Attention, MasksAndWindowsTogetherOnceAndTwice) {
  const std::int64_t first = 3, window = 4;
  const Array q = waves({2, 4, 5, 3}, 0), k = waves({2, 2, 8, 3}, 1), v = waves({2, 2, 8, 2}, 2);
  Array seen = waves({2, 1, 5, 8}, 4) > -1.0;
  seen.set(false, 0, 0, 2);  // a row that sees nothing
  const Array added = where(seen, waves({2, 1, 5, 8}, 5), -std::numeric_limits<double>::infinity());
  const auto with = [&](const Variable& mask) {
    return F::AttentionOptions{.mask = mask, .causal = true, .first = first, .window = window};
  };
  for (const Array& mask : {seen, added}) {
    const auto f = [&](const V& x) {
      return V{F::scaled_dot_product_attention(x[0], x[1], x[2], with(Variable(mask, false)))};
    };
    tests::check_gradients(f, {q, k, v});
    // with whole matrices, for rows that see something
    const auto each = [](const Array& x) { return F::repeat(Variable(x), {2}, 1); };
    const Array numbers =
        unseen(seen, first, window) + (mask.dtype() == Dtype::bool_ ? zeros({1}) : where(seen, mask, 0.0));
    const Array expected = plain(Variable(q), each(k), each(v), numbers).array();
    const Array y = f({q, k, v})[0].array();
    expect_near(where(isnan(expected), 0.0, expected), y, 1e-12);
    EXPECT_EQ(values(y(0, 0, 2)), (std::vector<double>{0, 0}));
  }
  // 16-bit results and gradients match float64
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16})
    for (const bool is_bool : {true, false}) {
      const Array mask = is_bool ? seen : added.astype(dtype);
      std::vector<V> results;
      for (const Dtype wide : {dtype, Dtype::float64}) {
        const auto as = [&](const Array& x) { return Variable(x.astype(dtype).astype(wide)); };
        const V x = {as(q), as(k), as(v)};
        const Variable y = F::scaled_dot_product_attention(x[0], x[1], x[2],
                                                           with(Variable(is_bool ? mask : mask.astype(wide), false)));
        V all = grad({y}, x, {.grad_outputs = {as(waves(y.shape(), 6))}, .enable_double_backprop = true});
        const V twice = grad({F::sum(all[0] * all[0])}, x);
        all.insert(all.end(), twice.begin(), twice.end());
        all.push_back(y);
        results.push_back(all);
      }
      for (std::size_t i = 0; i < results[0].size(); ++i) {
        EXPECT_EQ(results[0][i].dtype(), dtype);
        const double size = absolute(results[1][i].array()).max().item<double>();
        expect_near(results[0][i].array(), results[1][i].array(), size * (dtype == Dtype::float16 ? 4e-3 : 3e-2));
      }
    }
}

TEST(Attention, AMaskMayWantAGradient) {
  const auto f = [](const V& x) { return V{F::scaled_dot_product_attention(x[0], x[1], x[2], {.mask = x[3]})}; };
  tests::check_gradients(f, {waves({1, 2, 5, 3}, 0), waves({1, 2, 4, 3}, 1), waves({1, 2, 4, 2}, 2), waves({5, 4}, 3)});
}

TEST(Attention, ARowThatSeesNothingIsZeroOnEachWay) {
  Array seen = ones({20, 4}, Dtype::bool_);
  seen.set(false, 3);
  const Array q = waves({1, 1, 20, 3}, 0), k = waves({1, 1, 4, 3}, 1), v = waves({1, 1, 4, 2}, 2);
  for (const double dropout : {0.0, 1e-9}) {  // the second value uses whole matrices
    const Variable x(q), key(k), value(v);
    const Variable y =
        F::scaled_dot_product_attention(x, key, value, {.mask = Variable(seen, false), .dropout = dropout});
    EXPECT_EQ(values(y.array()(0, 0, 3)), (std::vector<double>{0, 0}));
    F::sum(F::square(y)).backward();
    EXPECT_EQ(values(x.grad()(0, 0, 3)), (std::vector<double>{0, 0, 0}));
    for (double g : values(key.grad())) EXPECT_TRUE(std::isfinite(g));
  }
}

TEST(Attention, DropoutIsOfTheWeightsInTrainingOnly) {
  const Variable q(waves({1, 1, 50, 4}, 0)), k(waves({1, 1, 60, 4}, 1)), v(ones({1, 1, 60, 1}, Dtype::float64));
  random::seed(3);
  const Variable y = F::scaled_dot_product_attention(q, k, v, {.dropout = 0.4});
  double sum = 0;
  for (double x : values(y.array())) sum += x / 50;
  EXPECT_NEAR(sum, 1, 0.1);  // the sum of the remaining weights
  EXPECT_GT(std::abs(values(y.array())[0] - 1), 1e-3);
  const auto scope = using_config(config.train, false);
  for (double x : values(F::scaled_dot_product_attention(q, k, v, {.dropout = 0.4}).array())) EXPECT_NEAR(x, 1, 1e-12);
}

TEST(Attention, DropoutOfHeadsThatShareKeys) {
  const Variable q(waves({1, 6, 20, 8}, 0)), k(waves({1, 2, 9, 8}, 1)), v(waves({1, 2, 9, 8}, 2));
  const Variable each_k(k.array()), each_v(v.array()), other(q.array());
  random::seed(3);
  const Variable y = F::scaled_dot_product_attention(q, k, v, {.causal = true, .first = 3, .dropout = 0.4});
  random::seed(3);
  const Variable same = F::scaled_dot_product_attention(other, F::repeat(each_k, {3}, 1), F::repeat(each_v, {3}, 1),
                                                        {.causal = true, .first = 3, .dropout = 0.4});
  expect_near(y.array(), same.array(), 1e-12);
  F::sum(F::square(y)).backward();
  F::sum(F::square(same)).backward();
  expect_near(q.grad(), other.grad(), 1e-12);
  expect_near(k.grad(), each_k.grad(), 1e-12);
  expect_near(v.grad(), each_v.grad(), 1e-12);
}

TEST(Attention, OneOperandAloneMayWantAGradient) {
  const Array arrays[] = {waves({1, 2, 20, 8}, 0), waves({1, 2, 24, 8}, 1), waves({1, 2, 24, 5}, 2)};
  const auto gradient_of = [&](int which, bool alone) {
    V x;
    for (int i = 0; i < 3; ++i) x.emplace_back(arrays[i], !alone || i == which);
    F::sum(F::square(F::scaled_dot_product_attention(x[0], x[1], x[2], {.causal = true}))).backward();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(x[i].grad().defined(), !alone || i == which) << i;
    return x[which].grad();
  };
  for (int which = 0; which < 3; ++which) expect_near(gradient_of(which, true), gradient_of(which, false), 0);
}

TEST(Attention, SixteenBitsAreSummedInFloat32) {
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    const Variable q(waves({1, 2, 20, 64}, 0).astype(dtype) * 8), k(waves({1, 2, 600, 64}, 1).astype(dtype)),
        v(waves({1, 2, 600, 8}, 2).astype(dtype));
    const auto wide = [](const Variable& x) { return Variable(x.array().astype(Dtype::float64)); };
    const Variable y = F::scaled_dot_product_attention(q, k, v);
    EXPECT_EQ(y.dtype(), dtype);
    expect_near(y.array(), F::scaled_dot_product_attention(wide(q), wide(k), wide(v)).array(),
                dtype == Dtype::float16 ? 1.5 / 2048 : 1.5 / 256);
    EXPECT_NO_THROW(F::sum(y).backward());
    EXPECT_EQ(q.grad().dtype(), dtype);
  }
}

TEST(Attention, MemoryGrowsWithTheLength) {
  const MemoryPool& pool = memory_pool(current_device());
  const auto taken = [&](std::int64_t length) {
    const auto operand = [&](double phase) { return Variable(waves({1, 1, length, 16}, phase, Dtype::float32)); };
    const Variable q = operand(0), k = operand(1), v = operand(2);
    q.array().eval(), k.array().eval(), v.array().eval();
    std::vector<MemoryEvent> events;
    auto* const before = watch_memory(&events);
    F::sum(F::scaled_dot_product_attention(q, k, v, {.causal = true})).backward();
    q.grad().eval();
    current_device().synchronize();
    watch_memory(before);
    std::size_t most = 0;
    for (const MemoryEvent& event : events) most = std::max(most, event.bytes);
    return most;
  };
  EXPECT_GT(pool.used_bytes() + taken(64), 0u);
  EXPECT_LT(taken(2048), 2048u * 2048 * 4 / 4);  // no block is a matrix of all scores, or a quarter of it
}

// Keys are split into parts, each with separate sums for the queries' gradients. Not all heads have parts at once.
TEST(Attention, GradientsTakeLittleMoreThanTheyAre) {
  if (!current_device().is_cpu()) return;  // on other devices a kernel sums each query's gradient directly
  const int threads = num_threads();
  set_num_threads(2);
  const Shape shape{1, 8, 1024, 16};
  const auto operand = [&](double phase) {
    return sin(arange(shape.product(), Dtype::float32) + phase).reshape(shape).eval();
  };
  const Variable q(operand(0)), k(operand(1)), v(operand(2));
  Variable y = F::scaled_dot_product_attention(q, k, v, {.causal = true});
  y.set_grad(operand(3));
  std::vector<MemoryEvent> events;
  auto* const before = watch_memory(&events);
  y.backward();
  watch_memory(before);
  set_num_threads(threads);
  std::int64_t used = 0, most = 0;
  for (const MemoryEvent& event : events) {
    if (event.kind == MemoryEvent::taken) used += static_cast<std::int64_t>(event.block_bytes);
    if (event.kind == MemoryEvent::freed) used -= static_cast<std::int64_t>(event.block_bytes);
    most = std::max(most, used);
  }
  const auto of_one = static_cast<std::int64_t>(q.array().nbytes());
  EXPECT_GE(most, 3 * of_one);
  EXPECT_LT(most, 5 * of_one);
}

TEST(Attention, BadInputIsNamed) {
  const auto of = [](const Shape& q, const Shape& k, const Shape& v, const F::AttentionOptions& options = {}) {
    return F::scaled_dot_product_attention(waves(q, 0), waves(k, 0), waves(v, 0), options);
  };
  EXPECT_THROW(of({4}, {4}, {4}), ShapeError);
  EXPECT_THROW(of({2, 3, 4}, {3, 4}, {3, 4}), ShapeError);
  EXPECT_THROW(of({1, 2, 3, 4}, {2, 2, 3, 4}, {1, 2, 3, 4}), ShapeError);
  EXPECT_THROW(of({1, 2, 3, 4}, {1, 2, 3, 5}, {1, 2, 3, 4}), ShapeError);
  EXPECT_THROW(of({1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 2, 4}), ShapeError);
  EXPECT_THROW(of({1, 3, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}), ShapeError);
  EXPECT_THROW(of({1, 2, 3, 4}, {1, 2, 3, 4}, {1, 1, 3, 4}), ShapeError);
  EXPECT_THROW(of({3, 4}, {3, 4}, {3, 4}, {.mask = Variable(waves({2, 3}, 0))}), ShapeError);
  EXPECT_THROW(of({3, 4}, {3, 4}, {3, 4}, {.mask = Variable(zeros({3, 3}, Dtype::int32), false)}), DtypeError);
  EXPECT_THROW(of({3, 4}, {3, 4}, {3, 4}, {.window = 2}), ValueError);
  EXPECT_THROW(of({3, 4}, {3, 4}, {3, 4}, {.causal = true, .window = -2}), ValueError);
  EXPECT_THROW(of({3, 4}, {3, 4}, {3, 4}, {.dropout = 1}), ValueError);
  EXPECT_THROW(F::scaled_dot_product_attention(waves({3, 4}, 0), waves({3, 4}, 0, Dtype::float32), waves({3, 4}, 0)),
               DtypeError);
  EXPECT_THROW(F::scaled_dot_product_attention(zeros({3, 4}, Dtype::int32), zeros({3, 4}, Dtype::int32),
                                               zeros({3, 4}, Dtype::int32)),
               DtypeError);
}

TEST(RotaryEmbedding, TurnsPairsByTheirAngles) {
  const Array x = waves({2, 3, 6}, 0), positions = arange(3);
  for (const bool interleaved : {false, true}) {
    const auto y =
        values(F::rotary_embedding(x, positions, {.base = 100, .dims = 4, .interleaved = interleaved}).array());
    const auto from = values(x);
    for (std::int64_t row = 0; row < 6; ++row) {
      for (std::int64_t pair = 0; pair < 2; ++pair) {
        const auto a = static_cast<std::size_t>(row * 6 + (interleaved ? 2 * pair : pair)),
                   b = a + (interleaved ? 1 : 2);
        const double angle = static_cast<double>(row % 3) * std::pow(100.0, -static_cast<double>(pair) / 2);
        EXPECT_NEAR(y[a], from[a] * std::cos(angle) - from[b] * std::sin(angle), 1e-12);
        EXPECT_NEAR(y[b], from[b] * std::cos(angle) + from[a] * std::sin(angle), 1e-12);
      }
      for (const std::int64_t rest : {4, 5})
        EXPECT_EQ(y[static_cast<std::size_t>(row * 6 + rest)], from[static_cast<std::size_t>(row * 6 + rest)]);
    }
  }
}

TEST(RotaryEmbedding, GradientsShapesAndErrors) {
  for (const bool interleaved : {false, true})
    tests::check_gradients(
        [=](const V& x) { return V{F::rotary_embedding(x[0], arange(3), {.dims = 4, .interleaved = interleaved})}; },
        {waves({2, 3, 5}, 0)});
  EXPECT_EQ(F::rotary_embedding(waves({0, 3, 4}, 0), arange(3)).shape(), (Shape{0, 3, 4}));
  const Variable half = F::rotary_embedding(waves({2, 3, 4}, 0, Dtype::bfloat16), arange(3));
  EXPECT_EQ(half.dtype(), Dtype::bfloat16);
  EXPECT_THROW(F::rotary_embedding(waves({4}, 0), arange(1)), ShapeError);
  EXPECT_THROW(F::rotary_embedding(waves({3, 4}, 0), arange(2)), ShapeError);
  EXPECT_THROW(F::rotary_embedding(waves({3, 5}, 0), arange(3)), ValueError);
  EXPECT_THROW(F::rotary_embedding(waves({3, 4}, 0), arange(3), {.dims = 6}), ValueError);
  EXPECT_THROW(F::rotary_embedding(zeros({3, 4}, Dtype::int32), arange(3)), DtypeError);
}

TEST(RotaryEmbedding, TakesRates) {
  const Array x = waves({2, 3, 6}, 0), positions = arange(3);
  const auto turned = [&](const F::RotaryOptions& options) {
    return values(F::rotary_embedding(x, positions, options).array());
  };
  EXPECT_EQ(turned({.base = 100, .dims = 4}), turned({.base = 7, .dims = 4, .rates = {1, 0.1}}));
  EXPECT_NE(turned({.base = 100, .dims = 4}), turned({.base = 100, .dims = 4, .rates = {1, 0.2}}));
  EXPECT_THROW(turned({.dims = 4, .rates = {1, 2, 3}}), ValueError);
  EXPECT_THROW(turned({.dims = 4, .rates = {1}}), ValueError);
}

TEST(RotaryRates, OfLongerContexts) {
  const auto near = [](const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-15 * expected[i]) << i;
  };
  near(F::rotary_rates(6, 1000), {1, 0.1, 0.01});
  near(F::rotary_rates(6, 1000, {.factor = 4}), {0.25, 0.025, 0.0025});
  EXPECT_TRUE(F::rotary_rates(0, 1000).empty());
  // in 100 learnt positions the pairs turn 15.9, 1.59 and 0.159 times
  const double turns = 100 * 0.1 / (2 * std::numbers::pi), kept = (turns - 1) / (4 - 1);
  near(F::rotary_rates(6, 1000, {.factor = 8, .learnt = 100}), {1, 0.1 * kept + 0.1 / 8 * (1 - kept), 0.01 / 8});
  EXPECT_THROW(F::rotary_rates(6, 1000, {.factor = 0}), ValueError);
  EXPECT_THROW(F::rotary_rates(6, 1000, {.low = 4, .high = 4}), ValueError);
}

}  // namespace
}  // namespace catenary
