#include <gtest/gtest.h>

#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/reduction.h"
#include "catenary/autograd/config.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/functions/functions.h"
#include "tests/autograd/helpers.h"

namespace catenary {
namespace {

namespace F = functions;
using namespace gradient_check;
using test::array;
using V = std::vector<Variable>;

void check(const char* name, const Function& f, const std::vector<Array>& x, double tolerance = 1e-3) {
  SCOPED_TRACE(name);
  CheckOptions options;
  options.atol = options.rtol = tolerance;
  options.eps = 1e-4;
  EXPECT_NO_THROW(check_backward(f, x, {}, {}, options));
  EXPECT_NO_THROW(check_double_backward(f, x, {}, {}, {}, options));
}
Array numbers(const Shape& shape, double seed = 1) {
  return catenary::sin(arange(shape.product(), Dtype::float64) * 1.7 + seed).reshape(shape);
}

TEST(BatchNormalization, ValuesAndRunningStatistics) {
  const Array x = numbers({4, 3, 2}), gamma = numbers({3}, 2), beta = numbers({3}, 3);
  F::BatchNormalizationOptions options;
  options.running_mean = zeros({3});
  options.running_var = ones({3});
  options.decay = 0.75;
  const Variable y = F::batch_normalization(x, gamma, beta, options);
  const Array mean = catenary::mean(x, {0, 2}), var = catenary::var(x, {0, 2});
  const auto column = [](const Array& a) { return a.reshape({3, 1}); };
  const Array expected = (x - column(mean)) / catenary::sqrt(column(var) + 2e-5) * column(gamma) + column(beta);
  assert_allclose(y.array(), expected, 1e-12, 1e-12);
  assert_allclose(options.running_mean, mean * 0.25, 1e-12, 1e-12);
  assert_allclose(options.running_var, var * (0.25 * 8 / 7) + 0.75, 1e-12, 1e-12);
  assert_allclose(F::fixed_batch_normalization(x, gamma, beta, mean, var).array(), expected, 1e-12, 1e-12);

  // over the last axis only
  options = {};
  options.axis = Axes{2};
  const Array by_row = F::batch_normalization(x, ones({4, 3}), zeros({4, 3}), options).array();
  assert_allclose(by_row.mean(2), zeros({4, 3}), 1e-12);
  // half: statistics in float32
  const Array half =
      F::batch_normalization(x.astype(Dtype::float16), gamma.astype(Dtype::float32), beta.astype(Dtype::float32))
          .array();
  EXPECT_EQ(half.dtype(), Dtype::float16);
  assert_allclose(half.astype(Dtype::float64), expected, 5e-3, 5e-3);
}

TEST(BatchNormalization, Gradients) {
  const Array x = numbers({4, 3, 2}), gamma = numbers({3}, 2), beta = numbers({3}, 3), var = numbers({3}, 4) + 2.0;
  check("batch_normalization", [](const V& v) { return V{F::batch_normalization(v[0], v[1], v[2])}; },
        {x, gamma, beta});
  F::BatchNormalizationOptions options;
  options.axis = Axes{0, 1};
  check("axis", [&](const V& v) { return V{F::batch_normalization(v[0], v[1], v[2], options)}; },
        {x, numbers({2}, 2), numbers({2}, 3)});
  check("fixed", [](const V& v) { return V{F::fixed_batch_normalization(v[0], v[1], v[2], v[3], v[4])}; },
        {x, gamma, beta, numbers({3}, 5), var});
  EXPECT_THROW(F::batch_normalization(x, numbers({2}), beta), ShapeError);
  EXPECT_THROW(F::batch_normalization(x, gamma, numbers({2})), ShapeError);
}

TEST(BatchRenormalization, IsBatchNormalizationWithinTheLimits) {
  const Array x = numbers({8, 3}), gamma = numbers({3}, 2), beta = numbers({3}, 3);
  F::BatchRenormalizationOptions options;
  options.running_mean = numbers({3}, 6) * 0.1;
  options.running_var = ones({3}) * 0.6;
  EXPECT_THROW(F::batch_renormalization(x, gamma, beta, 3, 5, {}), ValueError);
  // rmax 1 and dmax 0: batch_normalization; wide limits: the running statistics
  assert_allclose(F::batch_renormalization(x, gamma, beta, 1, 0, options).array(),
                  F::batch_normalization(x, gamma, beta).array(), 1e-12, 1e-12);
  assert_allclose(F::batch_renormalization(x, gamma, beta, 1e3, 1e3, options).array(),
                  F::fixed_batch_normalization(x, gamma, beta, options.running_mean, options.running_var).array(), 1e-6,
                  1e-6);
  options.update_statistics = true;
  F::batch_renormalization(x, gamma, beta, 1, 0, options);
  assert_allclose(options.running_mean, numbers({3}, 6) * 0.09 + x.mean(0) * 0.1, 1e-12, 1e-12);
}

TEST(Normalization, LayersGroupsAndNorms) {
  const Array rows = numbers({3, 4}), images = numbers({2, 4, 3, 2});
  check("layer", [](const V& v) { return V{F::layer_normalization(v[0], v[1], v[2])}; },
        {rows, numbers({4}, 2), numbers({4}, 3)});
  check("group", [](const V& v) { return V{F::group_normalization(v[0], 2, v[1], v[2])}; },
        {images, numbers({4}, 2), numbers({4}, 3)});
  check("normalize", [](const V& v) { return V{F::normalize(v[0])}; }, {rows});
  check("normalize over two axes", [](const V& v) { return V{F::normalize(v[0], 1e-5, {1, 2})}; }, {images});
  F::LocalResponseNormalizationOptions local;
  local.alpha = 0.5;
  local.n = 3;
  check("local response", [&](const V& v) { return V{F::local_response_normalization(v[0], local)}; }, {images});
  const Array y = F::layer_normalization(rows, ones({4}), zeros({4})).array();
  assert_allclose(y.mean(1), zeros({3}), 1e-12);
  assert_allclose(catenary::var(y, 1), ones({3}), 1e-3);
  // a row of zeros stays there, and its gradient is 1 / eps
  const Variable zero(zeros({1, 2}));
  F::sum(F::normalize(zero, 0.5)).backward();
  assert_allclose(zero.grad(), ones({1, 2}) * 2.0);
  EXPECT_THROW(F::group_normalization(images, 3, ones({4}), zeros({4})), ValueError);
  EXPECT_THROW(F::layer_normalization(images, ones({4}), zeros({4})), ShapeError);
}

}  // namespace
}  // namespace catenary
