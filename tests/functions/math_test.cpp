#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/indexing.h"
#include "catenary/array/linalg.h"
#include "catenary/array/reduction.h"
#include "catenary/array/statistics.h"
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

template <class F>
Function unary(F f) {
  return [f](const V& x) { return V{f(x[0])}; };
}
template <class F>
Function binary(F f) {
  return [f](const V& x) { return V{f(x[0], x[1])}; };
}
/// Irregular numbers in [low, high].
Array numbers_between(const Shape& shape, double low = -1, double high = 1, double seed = 1) {
  return (test::numbers(shape, seed) + 1) * (0.5 * (high - low)) + low;
}
using Unary = Variable (*)(const Variable&);

TEST(MathElementwise, Gradients) {
  const Array x = numbers_between({2, 3}, -0.8, 0.8), positive = numbers_between({2, 3}, 0.3, 1.7),
              y = numbers_between({3}, 0.4, 0.9, 2);
  for (const auto& [name, f] : std::initializer_list<std::pair<const char*, Unary>>{{"sin", F::sin},
                                                                                    {"cos", F::cos},
                                                                                    {"tan", F::tan},
                                                                                    {"arcsin", F::arcsin},
                                                                                    {"arccos", F::arccos},
                                                                                    {"arctan", F::arctan},
                                                                                    {"sinh", F::sinh},
                                                                                    {"cosh", F::cosh},
                                                                                    {"arctanh", F::arctanh},
                                                                                    {"erf", F::erf},
                                                                                    {"erfc", F::erfc},
                                                                                    {"erfcx", F::erfcx},
                                                                                    {"erfinv", F::erfinv},
                                                                                    {"ndtr", F::ndtr},
                                                                                    {"log_ndtr", F::log_ndtr}})
    check(name, unary(f), {x}, 5e-4);
  for (const auto& [name, f] : std::initializer_list<std::pair<const char*, Unary>>{{"log2", F::log2},
                                                                                    {"log10", F::log10},
                                                                                    {"rsqrt", F::rsqrt},
                                                                                    {"erfcinv", F::erfcinv},
                                                                                    {"lgamma", F::lgamma},
                                                                                    {"digamma", F::digamma}})
    check(name, unary(f), {positive}, 1e-3);
  check("ndtri", unary(F::ndtri), {numbers_between({5}, 0.2, 0.8)}, 5e-4);
  check(
      "zeta", [](const V& q) { return V{F::zeta(2.5, q[0])}; }, {positive}, 1e-3);
  check(
      "polygamma", [](const V& q) { return V{F::polygamma(2, q[0])}; }, {positive + 0.5}, 1e-3);
  check("arctan2", binary(F::arctan2), {x, y});
  check("fmod", binary(F::fmod), {array<double>({2.3, 2.9, 4.1}), array<double>({0.7, 0.8, 0.9})});
  check("maximum", [](const V& v) { return V{F::maximum(v[0], v[1]) * v[0]}; }, {x, y});
  check("minimum", [](const V& v) { return V{F::minimum(v[0], v[1]) * v[0]}; }, {x, y});
  check("clip", [](const V& v) { return V{F::clip(v[0], -0.5, 0.6) * v[0]}; }, {x});
  check("linear_interpolate", [](const V& v) { return V{F::linear_interpolate(v[0], v[1], v[2])}; },
        {x, positive, numbers_between({2, 3}, -1, 1, 3)});
  check("bias", [](const V& v) { return V{F::bias(v[0], v[1])}; }, {numbers_between({2, 3, 2}), y});
  check("scale", [](const V& v) { return V{F::scale(v[0], v[1])}; }, {numbers_between({2, 3, 2}), y});
}

TEST(MathElementwise, ValuesAndErrors) {
  const Array x = array<double>({-1.5, 0, 2.25});
  EXPECT_EQ(values(F::fix(x).array()), (std::vector<double>{-1, 0, 2}));
  EXPECT_EQ(values(F::sign(x).array()), (std::vector<double>{-1, 0, 1}));
  EXPECT_EQ(values(F::clip(x, {}, 1.0).array()), (std::vector<double>{-1.5, 0, 1}));
  EXPECT_FALSE(F::floor(Variable(x)).requires_grad());
  EXPECT_EQ(F::maximum(array<float>({1}), array<float>({2})).dtype(), Dtype::float32);
  EXPECT_THROW(F::clip(x, {}, {}), ValueError);
  EXPECT_THROW(F::clip(x, 1.0, 1.0), ValueError);
  EXPECT_THROW(F::bias(numbers_between({2, 3}), numbers_between({2})), ShapeError);
  EXPECT_THROW(F::linear_interpolate(x, x, numbers_between({2})), ShapeError);
  // scipy.special.polygamma(2, 1.5), zeta(3, 0.5)
  assert_allclose(F::polygamma(2, array<double>({1.5})).array(), array<double>({-0.8287966442343199}), 0, 1e-10);
  assert_allclose(F::zeta(3, array<double>({0.5})).array(), array<double>({8.414398322117159}), 0, 1e-10);
}

TEST(MathReduction, Gradients) {
  const Array x = numbers_between({2, 3, 2});
  for (const AxisArg& axis : {AxisArg(), AxisArg(1), AxisArg({0, -1})})
    for (const bool keepdims : {false, true}) {
      check("max", [&](const V& v) { return V{F::max(v[0] * v[0], axis, keepdims)}; }, {x});
      check("min", [&](const V& v) { return V{F::min(v[0] * v[0], axis, keepdims)}; }, {x});
      check("mean", [&](const V& v) { return V{F::mean(v[0] * v[0], axis, keepdims)}; }, {x});
      check("prod", [&](const V& v) { return V{F::prod(v[0], axis, keepdims)}; }, {x});
      check("logsumexp", [&](const V& v) { return V{F::logsumexp(v[0], axis)}; }, {x});
    }
  const auto weighted = [](const V& v) { return V{F::average(v[0], 1, v[1])}; };
  check("average", weighted, {x, numbers_between({3}, 0.5, 1)});
  check("average of all", [](const V& v) { return V{F::average(v[0], {}, v[1])}; },
        {x, numbers_between({2, 3, 2}, 0.5, 1)});
  for (const std::optional<int>& axis : {std::optional<int>(), std::optional<int>(0), std::optional<int>(-2)}) {
    check("cumsum", [&](const V& v) { return V{F::cumsum(v[0], axis) * v[0].size()}; }, {x});
    check("cumprod", [&](const V& v) { return V{F::cumprod(v[0], axis)}; }, {x});
  }
  check("batch_l2_norm_squared", unary(F::batch_l2_norm_squared), {x});
}

TEST(MathReduction, ZerosAndTies) {
  // d prod / dx with zeros: the product of the others
  const Variable x(array<double>({2, 0, 3, 4}));
  F::prod(x).backward();
  EXPECT_EQ(values(x.grad()), (std::vector<double>{0, 24, 0, 0}));
  x.cleargrad();
  F::sum(F::cumprod(x, 0)).backward();
  EXPECT_EQ(values(x.grad()), (std::vector<double>{1, 2 + 6 + 24, 0, 0}));
  const Variable equal(array<double>({1, 1, 0}));
  F::max(equal).backward();
  EXPECT_EQ(values(equal.grad()), (std::vector<double>{1, 1, 0}));
  EXPECT_EQ(F::argmax(equal).dtype(), Dtype::int32);
  EXPECT_EQ(values(F::argmin(numbers_between({2, 3}), 1).array()), values(numbers_between({2, 3}).argmin(1)));
  EXPECT_THROW(F::average(numbers_between({2, 3}), {0, 1}, numbers_between({2})), ValueError);
  EXPECT_THROW(F::average(numbers_between({2, 3}), 0, numbers_between({3})), ShapeError);
  EXPECT_THROW(F::max(Array::empty({0}, Dtype::float64)), ValueError);
}

TEST(MathMatrix, Products) {
  check("batch_matmul", [](const V& v) { return V{F::batch_matmul(v[0], v[1], true)}; },
        {numbers_between({2, 4, 3}), numbers_between({2, 4})});
  const Array a = numbers_between({2, 3, 4}), b = numbers_between({3, 4, 5}, -1, 1, 2);
  check("tensordot", [](const V& v) { return V{F::tensordot(v[0], v[1])}; }, {a, b});
  check("tensordot of axes", [](const V& v) { return V{F::tensordot(v[0], v[1], {2, 1}, {1, 0})}; }, {a, b});
  assert_allclose(F::tensordot(a, b).array(), catenary::tensordot(a, b));
  assert_allclose(F::tensordot(a, b, {2, 1}, {1, 0}).array(), catenary::tensordot(a, b, Axes{2, 1}, Axes{1, 0}));
  assert_allclose(F::tensordot(a, b, 0).array(), catenary::tensordot(a, b, 0));
  EXPECT_THROW(F::tensordot(a, a, 1), ShapeError);
  EXPECT_THROW(F::batch_matmul(a, b), ShapeError);
}

TEST(MathMatrix, Einsum) {
  const Array a = numbers_between({2, 3}), b = numbers_between({3, 4}, -1, 1, 2), c = numbers_between({4, 2}, -1, 1, 3),
              s = numbers_between({3, 3});
  struct Case {
    const char* subscripts;
    std::vector<Array> operands;
  };
  for (const Case& e : std::vector<Case>{{"ij,jk->ik", {a, b}},
                                         {"ij,jk,ki", {a, b, c}},
                                         {"ij,jk,kl->il", {a, b, c}},
                                         {"ij->j", {a}},
                                         {"ij->", {a}},
                                         {"ii->i", {s}},
                                         {"ii", {s}},
                                         {"ii,ij->ij", {s, s}},
                                         {"i...,i...->...", {numbers_between({2, 3, 1}), numbers_between({2, 4})}},
                                         {"...ij,jk->...ik", {numbers_between({2, 2, 3}), b}},
                                         {"i,j", {numbers_between({2}), numbers_between({3})}}}) {
    assert_allclose(F::einsum(e.subscripts, V(e.operands.begin(), e.operands.end())).array(),
                    catenary::einsum(e.subscripts, e.operands), 1e-12, 1e-12);
    check(
        e.subscripts, [&](const V& v) { return V{F::einsum(e.subscripts, v)}; }, e.operands);
  }
  // no elements
  const Variable empty(Array::empty({0, 4}, Dtype::float64));
  F::sum(F::einsum("ab,ab->ab", {empty, empty})).backward();
  EXPECT_EQ(empty.grad().shape(), (Shape{0, 4}));
  EXPECT_THROW(F::einsum("ij,jk", {a}), ValueError);
  EXPECT_THROW(F::einsum("i?", {a}), ValueError);
  EXPECT_THROW(F::einsum("ij->ik", {a}), ValueError);
  EXPECT_THROW(F::einsum("ijk", {a}), ShapeError);
  EXPECT_THROW(F::einsum("ij,ij", {a, b}), ShapeError);
}

TEST(MathMatrix, SquareMatrices) {
  const Array m = numbers_between({3, 3}) + eye(3) * 2.0, batch = numbers_between({2, 3, 3}) + eye(3) * 2.0;
  check("inv", unary(F::inv), {m});
  check("batch_inv", unary(F::batch_inv), {batch});
  check("det", unary(F::det), {m});
  check("batch_det", unary(F::batch_det), {batch});
  check("cholesky", [](const V& v) { return V{F::cholesky(F::matmul(v[0], v[0], false, true))}; }, {m});
  for (const auto f : {F::inv, F::det}) {
    const Array half = f(m.astype(Dtype::float16)).array();
    EXPECT_EQ(half.dtype(), Dtype::float16);
    EXPECT_TRUE(allclose(half.astype(Dtype::float64), f(m).array(), 5e-3, 5e-3));
  }
  EXPECT_THROW(F::inv(batch), ShapeError);
  EXPECT_THROW(F::inv(zeros({2, 2})), ValueError);
}

}  // namespace
}  // namespace catenary
