#include <gtest/gtest.h>

#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/random.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/core/config.h"
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
using test::sample;

void check_weighted(const char* name, const Function& f, const std::vector<Array>& x, double tolerance = 1e-4) {
  // multiplied by x, so that second derivatives are not all 0
  const Function weighted = [&](const V& v) {
    V y = f(v);
    y.push_back(y[0] * F::sum(v[0]));
    return y;
  };
  test::check(name, weighted, x, tolerance);
}

TEST(Activation, Gradients) {
  check_weighted("clipped_relu", [](const V& x) { return V{F::clipped_relu(x[0], 1.0)}; }, {sample()});
  check_weighted("relu6", [](const V& x) { return V{F::relu6(x[0] * 4.0)}; }, {sample()});
  for (const double slope : {0.2, 0.0, -0.5})
    check_weighted("leaky_relu", [&](const V& x) { return V{F::leaky_relu(x[0], slope)}; }, {sample()});
  for (const double alpha : {1.0, 0.5, -0.5})
    check_weighted("elu", [&](const V& x) { return V{F::elu(x[0], alpha)}; }, {sample()});
  check_weighted("selu", [](const V& x) { return V{F::selu(x[0])}; }, {sample()});
  check_weighted("prelu", [](const V& x) { return V{F::prelu(x[0], x[1])}; },
                 {sample(), array<double>({0.25, 0.5, -0.75})});
  check_weighted("prelu of one", [](const V& x) { return V{F::prelu(x[0], x[1])}; },
                 {sample(), array<double>({0.25}, Shape{})});
  check_weighted("swish", [](const V& x) { return V{F::swish(x[0], x[1])}; },
                 {sample(), array<double>({0.25, 0.5, -0.75})});
  for (const int axis : {0, 1, -1})
    check_weighted("crelu", [&](const V& x) { return V{F::crelu(x[0], axis)}; }, {sample()});
  for (const double beta : {1.0, 2.5})
    check_weighted("softplus", [&](const V& x) { return V{F::softplus(x[0], beta)}; }, {sample()});
  check_weighted("hard_sigmoid", [](const V& x) { return V{F::hard_sigmoid(x[0] * 1.5)}; }, {sample()});
  check_weighted("maxout", [](const V& x) { return V{F::maxout(x[0], 3)}; }, {sample()});
  F::RReLUOptions slopes;
  slopes.r = catenary::full({2, 3}, 0.25);
  check_weighted("rrelu", [&](const V& x) { return V{F::rrelu(x[0], 0.125, 0.5, slopes)}; }, {sample()});
}

/// At 0 leaky_relu's gradient is the slope, as in Chainer and PyTorch. At infinity elu's gradient is 1, also when only
/// the result is kept.
TEST(Activation, GradientsAtTheEdges) {
  const double inf = HUGE_VAL;
  const auto gradient = [](const Variable& y, const Variable& x) {
    F::sum(y * array<double>({1, 2, 3, 4})).backward();
    return values(x.grad());
  };
  for (const double slope : {0.5, 0.0, -0.5}) {
    const Variable x(array<double>({0, -1, inf, -0.0}));
    EXPECT_EQ(gradient(F::leaky_relu(x, slope), x), (std::vector<double>{slope, 2 * slope, 3, 4 * slope}));
  }
  for (const double alpha : {1.0, 0.5, -0.5}) {
    const Variable x(array<double>({0, -inf, inf, 1}));
    EXPECT_EQ(gradient(F::elu(x, alpha), x), (std::vector<double>{alpha, 0, 3, 4}));
  }
  const Variable W(array<double>({0.5}, Shape{}));
  EXPECT_EQ(gradient(F::prelu(array<double>({0, -1, inf, 1}), W), W), (std::vector<double>{-2}));
}

TEST(Activation, Values) {
  EXPECT_EQ(values(F::leaky_relu(sample(), 0.5).array()), (std::vector<double>{0.5, -0.75, 2, 0.25, -0.375, 1.25}));
  EXPECT_EQ(values(F::clipped_relu(sample(), 1).array()), (std::vector<double>{0.5, 0, 1, 0.25, 0, 1}));
  EXPECT_EQ(values(F::maxout(sample(), 3).array()), (std::vector<double>{2, 1.25}));
  EXPECT_EQ(F::crelu(sample()).shape(), (Shape{2, 6}));
  EXPECT_EQ(values(F::hard_sigmoid(array<double>({-3, 0, 3})).array()), (std::vector<double>{0, 0.5, 1}));
  assert_allclose(F::selu(array<double>({-1, 1})).array(), array<double>({-1.1113307378125625, 1.0507009873554805}));
  assert_allclose(F::softplus(array<float>({100, -100}), 2).array(), array<float>({100, 0}));
  for (const auto& f :
       {+[](const Variable& x) { return F::elu(x); }, +[](const Variable& x) { return F::leaky_relu(x); },
        +[](const Variable& x) { return F::relu6(x); }, +[](const Variable& x) { return F::softplus(x); },
        +[](const Variable& x) { return F::hard_sigmoid(x); }}) {
    const Variable x(sample().astype(Dtype::float32));
    const Variable y = f(x);
    EXPECT_EQ(y.dtype(), Dtype::float32);
    F::sum(y).backward();
    EXPECT_EQ(x.grad().dtype(), Dtype::float32);
  }
}

TEST(Activation, GelusAndSilu) {
  const Array x = linspace(-6, 6, 25, {.dtype = Dtype::float64});
  const auto from = values(x), gelu = values(F::gelu(x).array()),
             by_tanh = values(F::gelu(x, F::GeluForm::tanh).array()), silu = values(F::silu(x).array()),
             glu = values(F::swiglu(x, x + 1.0).array());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double a = from[i];
    EXPECT_NEAR(gelu[i], a * std::erfc(-a / std::sqrt(2.0)) / 2, 1e-14);
    EXPECT_NEAR(by_tanh[i], a / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (a + 0.044715 * a * a * a))), 1e-14);
    EXPECT_NEAR(silu[i], a / (1 + std::exp(-a)), 1e-14);
    EXPECT_NEAR(glu[i], a / (1 + std::exp(-a)) * (a + 1), 1e-13);
  }
  check_weighted("gelu", [](const V& v) { return V{F::gelu(v[0])}; }, {sample()});
  check_weighted("gelu by tanh", [](const V& v) { return V{F::gelu(v[0], F::GeluForm::tanh)}; }, {sample()});
  check_weighted("silu", [](const V& v) { return V{F::silu(v[0])}; }, {sample()});
  check_weighted("swiglu", [](const V& v) { return V{F::swiglu(v[0], v[1])}; }, {sample(), sample() * 0.5});
  EXPECT_THROW(F::swiglu(sample(), sample()(0)), ShapeError);
  // at -4, 1 + erf(-4 / sqrt(2)) = 6e-5, which 16 bits would lose
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    const Variable v(array<double>({-4, -3, 0.5}).astype(dtype));
    const Variable y = F::gelu(v);
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_NEAR(values(y.array().astype(Dtype::float64))[0], -4 * std::erfc(4 / std::sqrt(2.0)) / 2, 1e-6);
    F::sum(y).backward();
    EXPECT_EQ(v.grad().dtype(), dtype);
  }
}

TEST(Activation, RandomSlopes) {
  const Array x = -ones({1000}, Dtype::float32);
  Array r;
  F::RReLUOptions options;
  options.return_r = &r;
  const Variable train = F::rrelu(x, 0.1, 0.3, options);
  EXPECT_EQ(r.dtype(), Dtype::float32);
  assert_allclose(train.array(), -r);
  EXPECT_GE(r.min().item<double>(), 0.1 - 1e-6);
  EXPECT_LT(r.max().item<double>(), 0.3 + 1e-6);
  EXPECT_NEAR(r.mean().item<double>(), 0.2, 0.01);
  const auto scope = test_mode();
  assert_allclose(F::rrelu(x, 0.1, 0.3).array(), x * 0.2);
}

TEST(Activation, Errors) {
  EXPECT_THROW(F::prelu(sample(), ones({2})), ShapeError);
  EXPECT_THROW(F::swish(sample(), ones({2, 3})), ShapeError);
  EXPECT_THROW(F::maxout(sample(), 2), ShapeError);
  EXPECT_THROW(F::maxout(sample(), 0), ValueError);
  EXPECT_THROW(F::rrelu(sample(), 0.5, 0.25), ValueError);
  EXPECT_THROW(F::crelu(sample(), 2), ShapeError);
}

}  // namespace
}  // namespace catenary
