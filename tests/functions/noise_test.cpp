#include "catenary/functions/noise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/random.h"
#include "catenary/array/statistics.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/core/config.h"
#include "catenary/functions/functions.h"
#include "tests/autograd/helpers.h"
#include "tests/functions/helpers.h"

namespace catenary {
namespace {

namespace F = functions;
using namespace gradient_check;
using test::values;
using V = std::vector<Variable>;
using test::numbers;

class Noise : public testing::Test {
 protected:
  void SetUp() override { random::seed(7); }
  UsingConfig<decltype(config.train)> train_{config.train, true};
};

TEST_F(Noise, DropoutKeepsTheMean) {
  for (const double ratio : {0.0, 0.2, 0.9}) {
    const Variable x(ones({100, 100}, Dtype::float32));
    Array mask;
    const Variable y = F::dropout(x, ratio, {.return_mask = &mask});
    EXPECT_EQ(y.dtype(), Dtype::float32);
    const double share = (y.array() != 0).sum().item<double>() / 10000;
    EXPECT_NEAR(share, 1 - ratio, 0.02);
    EXPECT_TRUE(array_equal(y.array(), mask));
    EXPECT_FLOAT_EQ(y.array().max().item<float>(), static_cast<float>(1 / (1 - ratio)));
    // the gradient follows the value
    EXPECT_TRUE(array_equal(grad({y}, {x}, {.grad_outputs = {x}})[0].array(), mask));
  }
}

TEST_F(Noise, DropoutWithAMask) {
  const Array mask = array<double>({{0, 2, 2}, {2, 0, 2}});
  const Function f = [&](const V& x) { return V{F::square(F::dropout(x[0], 0.5, {.mask = mask}))}; };
  EXPECT_NO_THROW(check_backward(f, {numbers({2, 3})}));
  EXPECT_NO_THROW(check_double_backward(f, {numbers({2, 3})}));
  EXPECT_TRUE(array_equal(F::dropout(ones({2, 3}), 0.5, {.mask = mask}).array(), mask));
  EXPECT_THROW(F::dropout(ones({3}), 0.5, {.mask = mask}), ShapeError);
  EXPECT_THROW(F::dropout(ones({3}), 1), ValueError);
  EXPECT_THROW(F::dropout(ones({3}), -0.1), ValueError);
  EXPECT_THROW(F::dropout(ones({3}, Dtype::int32)), DtypeError);
}

TEST_F(Noise, NothingHappensInTests) {
  const auto test = using_config(config.train, false);
  const Variable x(ones({3})), h(zeros({3}));
  Array mask = ones({3});
  EXPECT_TRUE(F::dropout(x, 0.5, {.return_mask = &mask}).is(x));
  EXPECT_FALSE(mask.defined());
  EXPECT_TRUE(F::zoneout(h, x).is(x));
}

TEST_F(Noise, NothingIsDroppedByARatioOfZero) {
  const Variable x(ones({2, 3}));
  random::seed(1);
  const Array next = random::random({4});
  random::seed(1);
  EXPECT_TRUE(F::dropout(x, 0).is(x));
  EXPECT_TRUE(array_equal(random::random({4}), next));  // no random number was drawn
  Array mask;
  EXPECT_TRUE(array_equal(F::dropout(x, 0, {.return_mask = &mask}).array(), mask));
}

TEST_F(Noise, SeedsRepeat) {
  const Variable x(ones({50}));
  const Array first = F::dropout(x).array(), second = F::dropout(x).array();
  EXPECT_FALSE(array_equal(first, second));
  random::seed(7);
  EXPECT_TRUE(array_equal(F::dropout(x).array(), first));
}

TEST_F(Noise, Gaussian) {
  Array eps;
  const Variable mean(full({10000}, 3.0)), ln_var(full({10000}, std::log(4.0)));
  const Variable y = F::gaussian(mean, ln_var, {.return_eps = &eps});
  EXPECT_NEAR(y.array().mean().item<double>(), 3, 0.1);
  assert_allclose(y.array(), eps * 2 + 3);
  const Array fixed = numbers({5}, 2);
  const Function f = [&](const V& x) { return V{F::gaussian(x[0], x[1], {.eps = fixed})}; };
  EXPECT_NO_THROW(check_backward(f, {numbers({5}, 0), numbers({5}, 1)}));
  EXPECT_NO_THROW(check_double_backward(f, {numbers({5}, 0), numbers({5}, 1)}));
  EXPECT_THROW(F::gaussian(mean, Variable(zeros({2}))), ShapeError);
  EXPECT_THROW(F::gaussian(mean, Variable(zeros({10000}, Dtype::float32))), DtypeError);
  EXPECT_THROW(F::gaussian(mean, ln_var, {.eps = fixed}), ShapeError);
}

TEST_F(Noise, GumbelSoftmax) {
  const Array p = array<double>({0.7, 0.2, 0.1});
  const Variable y = F::gumbel_softmax(catenary::log(p).broadcast_to({5000, 3}).copy(), 0.1);
  assert_allclose(y.array().sum(1), ones({5000}));
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR((y.array().argmax(1) == i).astype(Dtype::float64).mean().item<double>(),
                values(p)[static_cast<std::size_t>(i)], 0.03);
}

TEST_F(Noise, Zoneout) {
  const Variable h(zeros({10000})), x(ones({10000}));
  const Variable y = F::zoneout(h, x, 0.3);
  EXPECT_NEAR(y.array().mean().item<double>(), 0.7, 0.03);
  const std::vector<Variable> g = grad({y}, {h, x}, {.grad_outputs = {ones({10000})}});
  EXPECT_TRUE(array_equal(g[1].array(), y.array()));
  EXPECT_TRUE(array_equal(g[0].array(), 1 - y.array()));
  EXPECT_THROW(F::zoneout(h, Variable(zeros({2}))), ShapeError);
  EXPECT_THROW(F::zoneout(h, x, 1.5), ValueError);
}

TEST_F(Noise, SimplifiedDropconnect) {
  const Array x = numbers({4, 3}, 0), W = numbers({5, 3}, 1), b = numbers({5}, 2);
  const Variable all = F::simplified_dropconnect(x, W, b, {.train = false});
  assert_allclose(all.array(), F::linear(x, W, b).array());
  for (const Array& mask : {numbers({5, 3}) > 0, numbers({4, 5, 3}) > 0}) {
    const Function f = [&](const V& v) { return V{F::simplified_dropconnect(v[0], v[1], v[2], {.mask = mask})}; };
    EXPECT_NO_THROW(check_backward(f, {x, W, b}));
    EXPECT_NO_THROW(check_double_backward(f, {x, W, b}));
  }
  const Array many = ones({2000, 3}), weights = ones({5, 3});
  for (const bool batchwise : {true, false})
    EXPECT_EQ(F::simplified_dropconnect(many, weights, {}, {.use_batchwise_mask = batchwise}).shape(),
              (Shape{2000, 5}));
  EXPECT_NEAR(F::simplified_dropconnect(many, weights).array().mean().item<double>(), 3, 0.1);
  EXPECT_THROW(F::simplified_dropconnect(x, numbers({5, 4})), ShapeError);
  EXPECT_THROW(F::simplified_dropconnect(x, W, b, {.ratio = 1}), ValueError);
  EXPECT_THROW(F::simplified_dropconnect(x, W, numbers({4})), ShapeError);
  EXPECT_THROW(F::simplified_dropconnect(x, W, b, {.mask = ones({3, 5})}), ShapeError);
}

}  // namespace
}  // namespace catenary
