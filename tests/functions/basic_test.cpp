#include <gtest/gtest.h>

#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/autograd/gradient_check.h"
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
using test::check;
using test::sample;

TEST(Elementwise, Gradients) {
  const Array positive = catenary::absolute(sample());
  check("exp", [](const V& x) { return V{F::exp(x[0])}; }, {sample()});
  check("expm1", [](const V& x) { return V{F::expm1(x[0])}; }, {sample()});
  check("log1p", [](const V& x) { return V{F::log1p(x[0])}; }, {positive});
  check("sqrt", [](const V& x) { return V{F::sqrt(x[0])}; }, {positive});
  check("square", [](const V& x) { return V{F::square(x[0])}; }, {sample()});
  check("absolute", [](const V& x) { return V{F::absolute(x[0]) * x[0]}; }, {sample()});
  check("relu", [](const V& x) { return V{F::relu(x[0]) * x[0]}; }, {sample()});
  check("sigmoid", [](const V& x) { return V{F::sigmoid(x[0])}; }, {sample()});
  check("tanh", [](const V& x) { return V{F::tanh(x[0])}; }, {sample()});
  for (const int axis : {0, 1, -1}) {
    check("softmax", [&](const V& x) { return V{F::softmax(x[0], axis)}; }, {sample()});
    check("log_softmax", [&](const V& x) { return V{F::log_softmax(x[0], axis)}; }, {sample()});
  }
}

TEST(Elementwise, Values) {
  EXPECT_EQ(values(F::relu(sample()).array()), (std::vector<double>{0.5, 0, 2, 0.25, 0, 1.25}));
  const Variable e = F::exp(array<int>({0, 1}));
  EXPECT_EQ(e.dtype(), Dtype::float32);
  assert_allclose(e.array(), array<double>({1, std::exp(1.0)}));
  // rows whose exponentials overflow
  assert_allclose(F::softmax(array<float>({1000, 1000, 0, 0}, {2, 2})).array(),
                  array<float>({0.5, 0.5, 0.5, 0.5}, {2, 2}));
  assert_allclose(F::log_softmax(array<double>({1000, 999}, {1, 2})).array(),
                  array<double>({-std::log1p(std::exp(-1.0)), -1 - std::log1p(std::exp(-1.0))}, {1, 2}));
}

TEST(Matmul, Gradients) {
  const Array a = catenary::sin(arange(24, Dtype::float64)).reshape({2, 3, 4});
  const Array b = catenary::cos(arange(40, Dtype::float64)).reshape({2, 4, 5});
  const auto part = [](const Array& x, const Shape& shape) { return x.ravel()(slice(shape.product())).reshape(shape); };
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const auto f = [=](const V& x) { return V{F::matmul(x[0], x[1], ta, tb)}; };
      const auto shaped = [&](const Array& x, Shape shape, bool t) {
        if (t) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
        return part(x, shape);
      };
      check("matrices", f, {shaped(a, {3, 4}, ta), shaped(b, {4, 5}, tb)});
      check("batches", f, {shaped(a, {2, 3, 4}, ta), shaped(b, {2, 4, 5}, tb)});
      check("broadcast", f, {shaped(a, {2, 3, 4}, ta), shaped(b, {4, 5}, tb)});
      check("row", f, {part(a, {4}), shaped(b, {2, 4, 5}, tb)});
      check("column", f, {shaped(a, {2, 3, 4}, ta), part(b, {4})});
      check("vectors", f, {part(a, {4}), part(b, {4})});
    }
  EXPECT_THROW(F::matmul(part(a, {3, 4}), part(b, {5, 4})), ShapeError);
}

TEST(Linear, ValuesGradientsAndErrors) {
  const Array x = catenary::sin(arange(12, Dtype::float64)).reshape({4, 3}),
              W = catenary::cos(arange(6, Dtype::float64)).reshape({2, 3}), b = array<double>({0.5, -1});
  const Array expected = (x.reshape({4, 1, 3}) * W).sum(2) + b;
  assert_allclose(F::linear(x, W, b).array(), expected, 1e-12, 1e-12);
  assert_allclose(F::linear(x, W).array(), expected - b, 1e-12, 1e-12);
  assert_allclose(F::linear(x.T().copy().T(), W.T().copy().T(), b).array(), expected, 1e-12, 1e-12);
  check("linear", [](const V& v) { return V{F::linear(v[0], v[1], v[2])}; }, {x, W, b});
  check("no bias", [](const V& v) { return V{F::linear(v[0], v[1])}; }, {x, W});
  const Array deep = catenary::sin(arange(24, Dtype::float64)).reshape({2, 4, 3});
  EXPECT_EQ(F::linear(deep, W, b, 2).shape(), (Shape{2, 4, 2}));
  check("n_batch_axes", [](const V& v) { return V{F::linear(v[0], v[1], v[2], 2)}; }, {deep, W, b});
  EXPECT_EQ(F::linear(deep.reshape({4, 3, 2, 1}), catenary::cos(arange(12, Dtype::float64)).reshape({2, 6})).shape(),
            (Shape{4, 2}));
  EXPECT_EQ(F::linear(x(slice(0)), W, b).shape(), (Shape{0, 2}));
  EXPECT_THROW(F::linear(x, W.T()), ShapeError);
  EXPECT_THROW(F::linear(array<double>({1, 2, 3}), W), ShapeError);
  EXPECT_THROW(F::linear(x, W, array<double>({1})), ShapeError);
  EXPECT_THROW(F::linear(x.astype(Dtype::float32), W), DtypeError);
  EXPECT_THROW(F::linear(x, W, b, 2), ValueError);
  EXPECT_THROW(F::linear(x, W, b, 0), ValueError);
}

/// -log(softmax(x)[t]) * weight, in plain loops.
double reference_loss(const Array& x, const std::vector<int>& t, int ignore, const std::vector<double>& weight,
                      bool normalize) {
  const std::vector<double> v = x.to_vector<double>();
  const auto classes = static_cast<std::size_t>(x.shape(1));
  double total = 0, count = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i] == ignore) continue;
    double z = 0;
    for (std::size_t c = 0; c < classes; ++c) z += std::exp(v[i * classes + c]);
    total += (std::log(z) - v[i * classes + static_cast<std::size_t>(t[i])]) * weight[static_cast<std::size_t>(t[i])];
    ++count;
  }
  return total / (normalize ? std::max(count, 1.0) : static_cast<double>(t.size()));
}

TEST(SoftmaxCrossEntropy, ValuesAndGradients) {
  const Array x = catenary::sin(arange(12, Dtype::float64) * 1.7).reshape({4, 3}) * 2.0;
  const std::vector<int> labels = {2, -1, 0, 1};
  const Array t = array<int>(labels);
  for (const bool normalize : {true, false})
    for (const bool weighted : {false, true})
      for (const int ignore : {-1, 2}) {
        std::vector<int> used = labels;
        if (ignore == 2) used[1] = 2;
        F::SoftmaxCrossEntropyOptions options;
        options.normalize = normalize;
        options.ignore_label = ignore;
        if (weighted) options.class_weight = array<double>({0.5, 2, 1.5});
        const Variable loss = F::softmax_cross_entropy(x, array<int>(used), options);
        EXPECT_EQ(loss.ndim(), 0);
        EXPECT_NEAR(
            loss.item<double>(),
            reference_loss(x, used, ignore, weighted ? std::vector<double>{0.5, 2, 1.5} : std::vector<double>{1, 1, 1},
                           normalize),
            1e-12);
        check("mean", [&](const V& v) { return V{F::softmax_cross_entropy(v[0], array<int>(used), options)}; }, {x});
        options.reduce = F::Reduce::no;
        EXPECT_EQ(F::softmax_cross_entropy(x, array<int>(used), options).shape(), (Shape{4}));
        check("no", [&](const V& v) { return V{F::softmax_cross_entropy(v[0], array<int>(used), options)}; }, {x});
      }
  const Array deep = catenary::sin(arange(24, Dtype::float64)).reshape({2, 3, 4});
  const Array t2 = array<std::int64_t>({0, 1, 2, -1, 1, 1, 0, 2}, {2, 4});
  check("deep", [&](const V& v) { return V{F::softmax_cross_entropy(v[0], t2)}; }, {deep});
  EXPECT_EQ(F::softmax_cross_entropy(x, array<int>({-1, -1, -1, -1})).item<double>(), 0);
  EXPECT_EQ(F::softmax_cross_entropy(x.astype(Dtype::float32), t).dtype(), Dtype::float32);
  EXPECT_THROW(F::softmax_cross_entropy(x, array<int>({0, 1})), ShapeError);
  EXPECT_THROW(F::softmax_cross_entropy(x, array<float>({0, 1, 1, 1})), DtypeError);
  EXPECT_THROW(F::softmax_cross_entropy(x, array<int>({0, 1, 3, 1})).item<double>(), IndexError);
}

TEST(SoftmaxCrossEntropy, SixteenBits) {
  // a thousand losses whose sum overflows float16
  const Array x = full({1000, 2}, 0, Dtype::float16), t = full({1000}, 1, Dtype::int32);
  x.set(100, slice(), 0);
  const Variable v(x);
  const Variable loss = F::softmax_cross_entropy(v, t);
  EXPECT_EQ(loss.dtype(), Dtype::float16);
  EXPECT_NEAR(loss.array().astype(Dtype::float32).item<float>(), 100, 0.1);
  loss.backward();
  EXPECT_EQ(v.grad().dtype(), Dtype::float16);
  EXPECT_NEAR(v.grad().astype(Dtype::float64).to_vector<double>()[0], 1e-3, 1e-6);
}

TEST(SoftmaxCrossEntropy, Probabilities) {
  const Array x = catenary::sin(arange(12, Dtype::float64)).reshape({4, 3});
  const Array t = F::softmax(catenary::cos(arange(12, Dtype::float64)).reshape({4, 3})).array();
  const Array log_y = F::log_softmax(x).array();
  F::SoftmaxCrossEntropyOptions options;
  EXPECT_NEAR(F::softmax_cross_entropy(x, t).item<double>(), -(t * log_y).sum().item<double>() / 4, 1e-12);
  check("soft", [&](const V& v) { return V{F::softmax_cross_entropy(v[0], t)}; }, {x});
  options.kl_divergence = true;
  EXPECT_NEAR(F::softmax_cross_entropy(x, t, options).item<double>(),
              (t * (catenary::log(t) - log_y)).sum().item<double>() / 4, 1e-6);
  options.reduce = F::Reduce::no;
  EXPECT_EQ(F::softmax_cross_entropy(x, t, options).shape(), (Shape{4}));
}

TEST(Accuracy, Values) {
  const Array y = array<float>({1, 2, 0, 5, 1, 0, 0, 1, 2, 3, 3, 1}, {4, 3});
  EXPECT_FLOAT_EQ(F::accuracy(y, array<int>({1, 0, 0, 0})).item<float>(), 0.75f);
  EXPECT_FLOAT_EQ(F::accuracy(y, array<int>({1, 0, -1, 1}), -1).item<float>(), 2.0f / 3);
  EXPECT_FLOAT_EQ(F::accuracy(y, array<int>({1, 1, 1, 1}), 1).item<float>(), 0);
  EXPECT_EQ(F::accuracy(y, array<int>({1, 0, 0, 0})).ndim(), 0);
  EXPECT_EQ(F::accuracy(y.reshape({2, 3, 2}), array<int>({0, 1, 1, 0}, {2, 2})).dtype(), Dtype::float32);
  EXPECT_THROW(F::accuracy(y, array<int>({1})), ShapeError);
  EXPECT_THROW(F::accuracy(y, y), DtypeError);
}

}  // namespace
}  // namespace catenary
