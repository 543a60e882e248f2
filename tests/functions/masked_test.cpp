// Elements excluded by a label or a mask do not take part in sums and get no gradient, even if they are NaN or
// infinite.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/autograd/backward.h"
#include "catenary/core/config.h"
#include "catenary/functions/functions.h"
#include "tests/autograd/helpers.h"
#include "tests/functions/helpers.h"

namespace catenary {
namespace {

namespace F = functions;
using F::Reduce;
using test::values;
using Numbers = std::vector<double>;

const double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
const Numbers kSpoilt = {kNan, kInf, -kInf};

/// Two rows, the second is x three times.
Array spoilt(double x, Dtype dtype) { return array<double>({{1, 2, 3}, {x, x, x}}).astype(dtype); }
Variable labels(const std::vector<int>& t, const Shape& shape) { return Variable(array(t).reshape(shape), false); }

void expect_near(const Array& got, const Numbers& wanted, double tolerance = 1e-6) {
  const Numbers all = values(got);
  ASSERT_EQ(all.size(), wanted.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(all[i], wanted[i], tolerance) << i;
}

/// Checks a loss and its gradient, in float32 and float16, and also as a graph for second derivatives.
void check(const std::function<Variable(const Variable&)>& loss, const std::function<Array(Dtype)>& x,
           const Numbers& wanted, const Numbers& gradient) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
    const double tolerance = dtype == Dtype::float32 ? 1e-6 : 2e-3;
    for (const bool twice : {false, true}) {
      SCOPED_TRACE(twice);
      const Variable scores(x(dtype));
      const Variable y = loss(scores);
      expect_near(y.array(), wanted, tolerance);
      // the gradient of an ignored loss may have any value, too
      const Array gy = y.ndim() == 0 ? ones({}, dtype) : array<double>({1, kNan}).astype(dtype).reshape(y.shape());
      const Variable gx = grad({y}, {scores}, {.grad_outputs = {Variable(gy)}, .enable_double_backprop = twice})[0];
      expect_near(gx.array(), gradient, tolerance);
      if (!twice) continue;
      for (double g : values(grad({F::sum(gx * gx)}, {scores})[0].array())) EXPECT_TRUE(std::isfinite(g));
    }
  }
}

// For scores 1, 2, 3 and label 0: log(e + e^2 + e^3) - 1. The gradient is softmax, minus 1 at the label.
const double kLoss = 2.4076059644443806, kP0 = 0.09003057317038046, kP1 = 0.24472847105479764, kP2 = 0.6652409557748218;

TEST(Masked, IgnoredRowsOfSoftmaxCrossEntropy) {
  const Variable t = labels({0, -1}, {2});
  for (const double x : kSpoilt) {
    SCOPED_TRACE(x);
    const auto given = [&](Dtype dtype) { return spoilt(x, dtype); };
    const auto loss = [&](const F::SoftmaxCrossEntropyOptions& options) {
      return [&, options](const Variable& scores) { return F::softmax_cross_entropy(scores, t, options); };
    };
    const Numbers whole = {kP0 - 1, kP1, kP2, 0, 0, 0}, half = {(kP0 - 1) / 2, kP1 / 2, kP2 / 2, 0, 0, 0};
    check(loss({}), given, {kLoss}, whole);
    check(loss({.normalize = false}), given, {kLoss / 2}, half);
    check(loss({.reduce = Reduce::no}), given, {kLoss, 0}, whole);
    // class 0 stands for ignored labels, so its weight must not matter
    const Array weights = array<double>({1, kNan, kInf}).astype(Dtype::float32);
    check(loss({.class_weight = weights}), given, {kLoss}, whole);
    const Variable none = labels({-1, -1}, {2});
    const auto of_none = [&](const Variable& scores) { return F::softmax_cross_entropy(scores, none); };
    check(of_none, given, {0}, {0, 0, 0, 0, 0, 0});
  }
}

TEST(Masked, WeightOfTheFirstClassIsNotTheIgnoredOnes) {
  const Array weights = array<double>({kInf, 1, 1}).astype(Dtype::float32);
  const Variable x(array<double>({{1, 2, 3}, {1, 2, 3}}).astype(Dtype::float32));
  const Variable y = F::softmax_cross_entropy(x, labels({-1, 1}, {2}), {.class_weight = weights});
  expect_near(y.array(), {kLoss - 1});
  y.backward();
  expect_near(x.grad(), {0, 0, 0, kP0, kP1 - 1, kP2});
}

TEST(Masked, IgnoredLabelsOfSigmoidCrossEntropy) {
  const Variable t = labels({1, -1}, {2, 1});
  const double loss = std::log1p(std::exp(-1.0)), slope = -1 / (1 + std::exp(1.0));
  for (const double x : kSpoilt) {
    SCOPED_TRACE(x);
    const auto given = [&](Dtype dtype) { return array<double>({{1}, {x}}).astype(dtype); };
    const auto f = [&](bool normalize, Reduce reduce) {
      return [&, normalize, reduce](const Variable& scores) {
        return F::sigmoid_cross_entropy(scores, t, normalize, reduce);
      };
    };
    check(f(true, Reduce::mean), given, {loss}, {slope, 0});
    check(f(false, Reduce::mean), given, {loss / 2}, {slope / 2, 0});
    check(f(true, Reduce::no), given, {loss, 0}, {slope, 0});
  }
}

TEST(Masked, IgnoredRowsOfNegativeSampling) {
  for (const double spoilt : kSpoilt) {
    const Variable W(array<double>({{0.1, 0.2}, {0.3, 0.4}, {0.5, 0.6}}).astype(Dtype::float32));
    const auto run = [&](const Array& x, const Variable& t) {
      const Variable given(x.astype(Dtype::float32));
      const auto sampler = [](const Shape& shape) { return ones(shape, Dtype::int32); };
      const Variable y = F::negative_sampling(given, t, W, sampler, 2);
      W.cleargrad();
      y.backward();
      std::vector<Array> all = {y.array(), given.grad(), W.grad()};
      return all;
    };
    const std::vector<Array> got = run(array<double>({{1, 2}, {spoilt, spoilt}}), labels({2, -1}, {2}));
    const std::vector<Array> wanted = run(array<double>({{1, 2}}), labels({2}, {1}));
    expect_near(got[0], values(wanted[0]));
    Numbers rows = values(wanted[1]);
    rows.insert(rows.end(), {0, 0});
    expect_near(got[1], rows);
    expect_near(got[2], values(wanted[2]));
  }
}

TEST(Masked, PixelsOfNoInstance) {
  const Array sound = array<double>({1, 2, 3, 4, 5, 6, 7, 8}).reshape({1, 2, 2, 2}).astype(Dtype::float32);
  const Array spoilt = sound.copy();
  spoilt.set(kNan, 0, slice(), 1, 1);
  const Variable t = labels({1, 2, 1, -1}, {1, 2, 2});
  const Variable a(sound), b(spoilt);
  const auto loss = [&](const Variable& x) {
    const auto [variance, distance, norm] = F::discriminative_margin_based_clustering_loss(x, t, 0.1, 2, 2);
    return variance + distance + norm;
  };
  expect_near(loss(b).array(), values(loss(a).array()));
  loss(a).backward();
  loss(b).backward();
  expect_near(b.grad(), values(a.grad()));
}

// The derivative of an excluded element is 0, even if the incoming gradient is infinite.
TEST(Masked, SlopesOfZeroStopInfiniteGradients) {
  const Array x = array<double>({-2, 2}).astype(Dtype::float32), other = array<double>({1, 1}).astype(Dtype::float32);
  const auto gradient = [&](const std::function<Variable(const Variable&)>& f, const Numbers& gy) {
    const Variable v(x);
    const Variable y = f(v);
    const Array g = array(gy).astype(Dtype::float32).reshape(y.shape());
    return values(grad({y}, {v}, {.grad_outputs = {Variable(g)}})[0].array());
  };
  const auto zero_first = [&](const char* name, const std::function<Variable(const Variable&)>& f) {
    EXPECT_EQ(gradient(f, {kInf, 3}), (Numbers{0, 3})) << name;
    EXPECT_EQ(gradient(f, {kNan, 3}), (Numbers{0, 3})) << name;
  };
  zero_first("relu", [](const Variable& v) { return F::relu(v); });
  zero_first("clipped_relu", [](const Variable& v) { return F::clipped_relu(v, 5); });
  zero_first("clip", [](const Variable& v) { return F::clip(v, 0, 5); });
  zero_first("maximum", [&](const Variable& v) { return F::maximum(v, Variable(other)); });
  zero_first("maximum of the other", [&](const Variable& v) { return F::maximum(Variable(other), v); });
  EXPECT_EQ(gradient([&](const Variable& v) { return F::minimum(v, Variable(other)); }, {3, kInf}), (Numbers{3, 0}));
  EXPECT_EQ(gradient([](const Variable& v) { return F::max(v); }, {kInf}), (Numbers{0, kInf}));
  EXPECT_EQ(gradient([](const Variable& v) { return F::leaky_relu(v, 0); }, {3, kInf}), (Numbers{0, kInf}));
  const Variable far(array<double>({{kInf, 0.5}}).astype(Dtype::float32)), near(zeros({1, 2}, Dtype::float32));
  F::huber_loss(far, near, 2).backward();
  expect_near(far.grad(), {2, 0.5});
}

TEST(Masked, DroppedElements) {
  const Array mask = array<double>({0, 1}).astype(Dtype::float32);
  for (const double spoilt : kSpoilt) {
    const Variable x(array<double>({spoilt, 3}).astype(Dtype::float32));
    F::DropoutOptions options;
    options.mask = mask;
    const Variable y = F::dropout(x, 0.5, options);
    EXPECT_EQ(values(y.array()), (Numbers{0, 3}));
    y.set_grad(array<double>({kNan, 2}).astype(Dtype::float32));
    y.backward();
    EXPECT_EQ(values(x.grad()), (Numbers{0, 2}));
    // no dropped element is left in the random half
    const Variable many(full({1000}, spoilt, Dtype::float32));
    int zeros = 0;
    for (double v : values(F::dropout(many, 0.5).array())) zeros += v == 0;
    EXPECT_GT(zeros, 400);
    EXPECT_LT(zeros, 600);
    F::DropconnectOptions connect;
    connect.mask = array<double>({{0, 1}}).astype(Dtype::float32);
    const Variable W(array<double>({{spoilt, 2}}).astype(Dtype::float32)), rows(ones({1, 2}, Dtype::float32));
    connect.ratio = 0;
    EXPECT_EQ(values(F::simplified_dropconnect(rows, W, Variable(), connect).array()), (Numbers{2}));
  }
}

TEST(Masked, KeysThatNobodySees) {
  const Variable seen(array<int>({{1, 0}}).astype(Dtype::bool_), false);
  const Variable minus(array<double>({{0, -kInf}}).astype(Dtype::float32));
  for (const double spoilt : kSpoilt) {
    for (int way = 0; way < 3; ++way) {
      F::AttentionOptions options;
      options.mask = way == 2 ? minus : seen;  // a mask with a gradient uses whole matrices, and so does dropout
      if (way == 1) options.dropout = 1e-9;
      const Variable q(array<double>({{1, 0}}).astype(Dtype::float32)),
          k(array<double>({{1, 2}, {spoilt, spoilt}}).astype(Dtype::float32)),
          v(array<double>({{3, 4}, {spoilt, spoilt}}).astype(Dtype::float32));
      const Variable y = F::scaled_dot_product_attention(q, k, v, options);
      SCOPED_TRACE(way);
      expect_near(y.array(), {3, 4});
      F::sum(y).backward();
      expect_near(q.grad(), {0, 0});
      expect_near(k.grad(), {0, 0, 0, 0});
      expect_near(v.grad(), {1, 1, 0, 0});
    }
  }
}

TEST(Masked, NanIsNotHiddenWhereItCounts) {
  const Variable x(spoilt(kNan, Dtype::float32));
  EXPECT_TRUE(std::isnan(values(F::softmax_cross_entropy(x, labels({0, 1}, {2})).array())[0]));
  const Variable a(array<double>({{kNan, 1}}).astype(Dtype::float32)), b(zeros({1, 2}, Dtype::float32));
  EXPECT_TRUE(std::isnan(values(F::contrastive(a, b, labels({1}, {1})).array())[0]));
  EXPECT_TRUE(std::isnan(values(F::contrastive(a, b, labels({0}, {1})).array())[0]));
}

}  // namespace
}  // namespace catenary
