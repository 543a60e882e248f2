#include "catenary/functions/forget.h"

#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/random.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/core/config.h"
#include "catenary/device/pool.h"
#include "catenary/functions/functions.h"
#include "tests/arrays.h"
#include "tests/gradients.h"
#include "tests/texts.h"

namespace catenary {
namespace {

namespace F = functions;

Array floats(const Shape& shape, double seed = 1) { return tests::waves(shape, seed, Dtype::float32); }
bool same_bits(const Array& a, const Array& b) { return a.shape() == b.shape() && (a == b).all(); }

/// Two layers with everything that a second pass can break: dropout, running statistics, and results that depend on
/// them.
struct Block {
  Variable W{floats({8, 8}, 3)};
  Variable gamma{ones({8}, Dtype::float32)}, beta{zeros({8}, Dtype::float32)};
  Array mean = floats({8}, 4) * 0.1, var = ones({8}, Dtype::float32) * 0.7;

  Variable operator()(const Variable& x) const {
    F::BatchNormalizationOptions plain;
    plain.running_mean = mean;
    plain.running_var = var;
    const Variable h = F::dropout(F::tanh(F::batch_normalization(F::linear(x, W), gamma, beta, plain)));
    F::BatchRenormalizationOptions options;
    options.running_mean = mean;
    options.running_var = var;
    options.update_statistics = true;
    return F::batch_renormalization(F::linear(h, W), gamma, beta, 1.2, 0.3, options);
  }
};

TEST(Forget, GivesTheSameBits) {
  const auto scope = tests::one_by_one_on_devices();
  const auto train = [](bool forgets) {
    random::seed(3);
    const Block first, second, third;
    const Variable x(floats({6, 8}));
    const auto last = [&](const Variable& v) { return third(second(v)); };
    // nested
    const auto nested = [&](const Variable& v) { return F::forget(last, first(v)); };
    const Variable y = forgets ? F::forget(nested, x) : last(first(x));
    F::sum(y * floats({6, 8}, 5)).backward();
    std::vector<Array> all = {y.array(), x.grad()};
    for (const Block* block : {&first, &second, &third})
      for (const Array& a : {block->W.grad(), block->gamma.grad(), block->beta.grad(), block->mean, block->var})
        all.push_back(a);
    all.push_back(random::standard_normal({3}, {.dtype = Dtype::float32}));
    return all;
  };
  const std::vector<Array> plain = train(false), forgotten = train(true);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(same_bits(plain[i], forgotten[i])) << i;
}

// The second pass of the second function begins where the first one's ended, but the generator does not continue there.
TEST(Forget, LeavesTheGeneratorWhereItWas) {
  const auto next = [](bool learns) {
    random::seed(3);
    const Variable x(floats({64}));
    const auto drop = [](const Variable& v) { return F::dropout(v); };
    const Variable first = F::forget(drop, x);
    const Variable second = F::forget(drop, x * 2);  // computed again before the first one
    if (learns) F::sum(first + second).backward();
    return random::standard_normal({3}, {.dtype = Dtype::float32});
  };
  EXPECT_TRUE(same_bits(next(false), next(true)));
}

TEST(Forget, KeepsLessMemory) {
  const auto scope = tests::one_by_one_on_devices();
  MemoryPool& pool = memory_pool(current_device());
  const auto held = [&](bool forgets) {
    const Variable x(floats({256, 256}));
    const auto block = [](Variable v) {
      for (int i = 0; i < 8; ++i) v = F::tanh(F::exp(F::sin(v)));
      return v;
    };
    current_device().synchronize();
    const std::size_t before = pool.used_bytes();
    const Variable y = forgets ? F::forget(block, x) : block(x);
    y.array().eval();
    current_device().synchronize();
    const std::size_t bytes = pool.used_bytes() - before;
    F::sum(y).backward();
    EXPECT_TRUE(x.grad().defined());
    return bytes;
  };
  const std::size_t plain = held(false), forgotten = held(true);
  EXPECT_LT(3 * forgotten, plain);
}

TEST(Forget, TakesAndGivesSeveral) {
  const Variable a(floats({3})), b(floats({3}, 2)), W(floats({4, 2}, 3));
  const auto several = [](const Variable& x, const Variable& y) { return Variables{x * y, x + y, x}; };
  const Variables ys = F::forget(several, a, b);
  ASSERT_EQ(ys.size(), 3u);
  (F::sum(ys[0]) + F::sum(ys[2])).backward();
  EXPECT_TRUE(same_bits(a.grad(), b.array() + 1.0f));
  EXPECT_TRUE(same_bits(b.grad(), a.array()));
  // parameters learn even if no input needs a gradient
  const Array ids = array({1, 3}).astype(Dtype::int32);
  F::sum(F::forget([&](const Variable& x) { return F::embed_id(x, W); }, ids)).backward();
  EXPECT_TRUE(same_bits(W.grad().sum(1), array({0, 2, 0, 2}).astype(Dtype::float32)));
}

TEST(Forget, RefusesASecondDerivative) {
  const Variable x(floats({3}));
  const Variable y = F::sum(F::forget([](const Variable& v) { return v * v; }, x));
  EXPECT_THROW(y.backward(false, true), ValueError);
}

TEST(Forget, IsInTheModeOfTheFirstTime) {
  const Variable x(floats({64}));
  Variable y;
  {
    const auto scope = test_mode();
    y = F::sum(F::forget([](const Variable& v) { return F::dropout(v); }, x));
  }
  y.backward();
  EXPECT_TRUE(same_bits(x.grad(), ones({64}, Dtype::float32)));
  const auto off = no_backprop_mode();
  EXPECT_EQ(F::forget([](const Variable& v) { return v * v; }, x).creator(), nullptr);
}

TEST(Forget, IsTheSameNumberOfVariablesAndShapesAgain) {
  const Variable x(floats({3}));
  const auto error_with = [&](const std::function<Variables(const Variable&)>& first,
                              const std::function<Variables(const Variable&)>& again) {
    return tests::error_of<ValueError>([&] {
      const Variables ys = F::forget([&](const Variable& v) { return F::recomputing() ? again(v) : first(v); }, x);
      F::sum(ys[0]).backward();
    });
  };
  const auto one = [](const Variable& v) { return Variables{v * 2}; };
  const auto two = [](const Variable& v) { return Variables{v * 2, v * 3}; };
  EXPECT_EQ(error_with(one, two),
            "forget: the function returned 1 variables in the first call, but 2 when it was computed again");
  EXPECT_EQ(error_with(two, one),
            "forget: the function returned 2 variables in the first call, but 1 when it was computed again");
  EXPECT_EQ(error_with(two, [](const Variable&) { return Variables(); }),
            "forget: the function returned 2 variables in the first call, but 0 when it was computed again");
  EXPECT_EQ(error_with(one, [](const Variable& v) { return Variables{v[0]}; }),
            "forget: result was (3,), float32 the first time, and is (), float32 when it is computed again");
  EXPECT_EQ(error_with(one, [](const Variable& v) { return Variables{F::cast(v, Dtype::float16)}; }),
            "forget: result was (3,), float32 the first time, and is (3,), float16 when it is computed again");
  EXPECT_EQ(error_with(one, [](const Variable&) { return Variables{Variable()}; }),
            "forget: result was (3,), float32 the first time, and is nothing when it is computed again");
  EXPECT_FALSE(F::recomputing());
  EXPECT_TRUE(config.enable_backprop);
}

// Gradients of captured variables, which may also be used elsewhere.
TEST(Forget, KnowsVariablesFromElsewhere) {
  const Variable x(floats({3})), W(floats({3}, 2)), V(floats({3}, 3)), unused(floats({3}, 4));
  const auto run = [&](bool forgets, double loss_scale) {
    for (const Variable& v : {x, W, V, unused}) v.cleargrad();
    const Variable h = F::tanh(x * W);  // computed before, and used by the function
    const auto f = [&](const Variable& v) { return F::sin(v * W) * h + F::exp(h * V) * x; };
    const Variable y = forgets ? F::forget(f, x) : f(x);
    F::sum(y * W * h).backward(false, false, loss_scale);  // W is reached before and after the function
    EXPECT_FALSE(unused.grad().defined());
    for (const Variable& v : {x, W, V}) EXPECT_EQ(v.loss_scale(), loss_scale);
    return std::vector<Array>{x.grad(), W.grad(), V.grad()};
  };
  const std::vector<Array> plain = run(false, 64), forgotten = run(true, 64);
  for (std::size_t i = 0; i < plain.size(); ++i) gradient_check::assert_allclose(plain[i], forgotten[i], 1e-5, 1e-5);
  // only the gradients asked for, without changing any grad
  for (const Variable& v : {x, W, V}) v.cleargrad();
  const auto square = [&](const Variable& v) { return v * W * W; };
  const Variable y = F::forget(square, x);
  const std::vector<Variable> grads = grad({y}, {W, V});
  gradient_check::assert_allclose(grads[0].array(), 2.0f * x.array() * W.array());
  EXPECT_FALSE(grads[1].defined());
  EXPECT_FALSE(W.grad().defined());
}

TEST(Forget, AnOutputMayBeAnExistingVariable) {
  const Variable x(floats({3})), W(floats({3}, 2));
  const Variables ys = F::forget([&](const Variable& v) { return Variables{W, v, W * v}; }, x);
  (F::sum(ys[0] * 3) + F::sum(ys[1] * 5)).backward();
  EXPECT_TRUE(same_bits(W.grad(), full({3}, 3, Dtype::float32)));
  EXPECT_TRUE(same_bits(x.grad(), full({3}, 5, Dtype::float32)));
}

TEST(Forget, HasTheSettingsAndTheDeviceOfTheFirstTime) {
  const Variable x(floats({3}));
  std::vector<std::string> settings;
  Variable y;
  {
    const auto dtype = using_config(config.dtype, Dtype::float16);
    const auto winograd = using_config(config.winograd, false);
    y = F::sum(F::forget(
        [&](const Variable& v) {
          settings.push_back(config_to_string() + current_device().name());
          return v * 2;
        },
        x));
  }
  const std::string before = config_to_string();
  y.backward();
  ASSERT_EQ(settings.size(), 2u);
  const auto without = [](std::string text) {  // the part that must differ
    for (const char* name : {"in_recomputing ", "enable_backprop "}) {
      const std::size_t begin = text.find(name);
      text.erase(begin, text.find('\n', begin) - begin);
    }
    return text;
  };
  EXPECT_NE(settings[0], settings[1]);
  EXPECT_EQ(without(settings[0]), without(settings[1]));
  EXPECT_NE(without(before), without(settings[0]));
  EXPECT_EQ(config_to_string(), before);
}

}  // namespace
}  // namespace catenary
