#include <gtest/gtest.h>

#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/linalg.h"
#include "catenary/array/reduction.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/autograd/hooks.h"
#include "catenary/core/config.h"
#include "catenary/device/backend.h"
#include "catenary/device/pool.h"
#include "catenary/functions/functions.h"
#include "tests/autograd/helpers.h"
#include "tests/functions/helpers.h"
#include "tests/gradients.h"

namespace catenary {
namespace {

namespace F = functions;
using namespace gradient_check;
using V = std::vector<Variable>;
using test::numbers;

void check_normalization(const char* name, const Function& f, const std::vector<Array>& x, double tolerance = 1e-3) {
  test::check(name, f, x, {.eps = 1e-4, .atol = tolerance, .rtol = tolerance});
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
  check_normalization("batch_normalization", [](const V& v) { return V{F::batch_normalization(v[0], v[1], v[2])}; },
                      {x, gamma, beta});
  F::BatchNormalizationOptions options;
  options.axis = Axes{0, 1};
  check_normalization("axis", [&](const V& v) { return V{F::batch_normalization(v[0], v[1], v[2], options)}; },
                      {x, numbers({2}, 2), numbers({2}, 3)});
  check_normalization("fixed", [](const V& v) { return V{F::fixed_batch_normalization(v[0], v[1], v[2], v[3], v[4])}; },
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

// r and d are those of the statistics before this batch, whatever it does to them.
TEST(BatchRenormalization, CorrectsByTheStatisticsBeforeTheBatch) {
  const Array x = numbers({8, 3}), gamma = numbers({3}, 2), beta = numbers({3}, 3);
  F::BatchRenormalizationOptions options;
  options.decay = 0.25;  // they change much
  const auto reset = [&] {
    options.running_mean = numbers({3}, 6) * 0.1;
    options.running_var = ones({3}) * 0.6;
  };
  for (const double limit : {1e3, 1.2}) {
    reset();
    options.update_statistics = false;
    const Array kept = F::batch_renormalization(x, gamma, beta, limit, limit, options).array().copy();
    options.update_statistics = true;
    const Array changed = F::batch_renormalization(x, gamma, beta, limit, limit, options).array();
    assert_allclose(changed, kept, 0, 0);
    assert_allclose(options.running_mean, numbers({3}, 6) * 0.025 + x.mean(0) * 0.75, 1e-12, 1e-12);
  }
}

// r and d are numbers to the gradients: where the limits make them so, to finite differences of x too.
TEST(BatchRenormalization, Gradients) {
  const Array x = numbers({8, 3}), gamma = numbers({3}, 2), beta = numbers({3}, 3);
  F::BatchRenormalizationOptions options;
  options.running_var = ones({3}) * 0.6;
  options.running_mean = numbers({3}, 6) * 0.1;
  check_normalization("within the limits",
                      [&](const V& v) { return V{F::batch_renormalization(x, v[0], v[1], 1e3, 1e3, options)}; },
                      {gamma, beta});
  options.running_mean = array<double>({5, -5, 5}, {3});
  options.running_var = array<double>({9, 0.01, 9}, {3});
  check_normalization("at the limits",
                      [&](const V& v) { return V{F::batch_renormalization(v[0], v[1], v[2], 1.2, 0.3, options)}; },
                      {x, gamma, beta});
}

// Statistics in 16 bits are computed with in 32.
TEST(BatchNormalization, FixedStatisticsOf16Bits) {
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    const Array x = numbers({4, 3}).astype(Dtype::float32), gamma = (numbers({3}, 2) + 2.0).astype(Dtype::float32),
                beta = numbers({3}, 3).astype(Dtype::float32), mean = numbers({3}, 4).astype(dtype),
                var = (numbers({3}, 5) * 0.001 + 0.002).astype(dtype);
    const auto wide = [](const Array& a) { return a.astype(Dtype::float64); };
    const auto expected = [&](const Array& of) {
      return (wide(of) - wide(mean)) / catenary::sqrt(wide(var) + 2e-5) * wide(gamma) + wide(beta);
    };
    assert_allclose(F::fixed_batch_normalization(x, gamma, beta, mean, var).array(), expected(x), 1e-5, 1e-5);
    assert_allclose(F::fixed_batch_renormalization(x, gamma, beta, mean, var).array(), expected(x), 1e-5, 1e-5);
    // all in 16 bits: rounded once, in the end
    const Array y =
        F::fixed_batch_normalization(x.astype(dtype), gamma.astype(dtype), beta.astype(dtype), mean, var).array();
    EXPECT_EQ(y.dtype(), dtype);
    const auto rounded = [&](const Array& a) { return wide(a.astype(dtype)); };
    const Array exact = (rounded(x) - wide(mean)) / catenary::sqrt(wide(var) + 2e-5) * rounded(gamma) + rounded(beta);
    assert_allclose(wide(y), rounded(exact.astype(Dtype::float32)), 1e-6, 1e-6);
  }
}

TEST(BatchNormalization, ABatchWithoutElementsLeavesTheStatistics) {
  const Array gamma = numbers({3}, 2), beta = numbers({3}, 3);
  for (const Shape& shape : {Shape{0, 3}, Shape{2, 3, 0}}) {
    F::BatchNormalizationOptions options;
    options.running_mean = numbers({3}, 6);
    options.running_var = ones({3}) * 0.6;
    const Variable x(zeros(shape)), scale(gamma);
    const Variable y = F::batch_normalization(x, scale, beta, options);
    EXPECT_EQ(y.shape(), shape);
    F::sum(y).backward();
    EXPECT_EQ(x.grad().shape(), shape);
    assert_allclose(scale.grad(), zeros({3}), 0, 0);
    F::BatchRenormalizationOptions again;
    again.running_mean = options.running_mean;
    again.running_var = options.running_var;
    again.update_statistics = true;
    EXPECT_EQ(F::batch_renormalization(x, gamma, beta, 3, 5, again).shape(), shape);
    assert_allclose(options.running_mean, numbers({3}, 6), 0, 0);
    assert_allclose(options.running_var, ones({3}) * 0.6, 0, 0);
    // of several processes it would be everybody's NaN
    options.mean_over_processes = [](const Array& a) { return a; };
    EXPECT_THROW(F::batch_normalization(x, gamma, beta, options), ShapeError);
  }
}

TEST(Normalization, LayersGroupsAndNorms) {
  const Array rows = numbers({3, 4}), images = numbers({2, 4, 3, 2});
  check_normalization("layer", [](const V& v) { return V{F::layer_normalization(v[0], v[1], v[2])}; },
                      {rows, numbers({4}, 2), numbers({4}, 3)});
  check_normalization("group", [](const V& v) { return V{F::group_normalization(v[0], 2, v[1], v[2])}; },
                      {images, numbers({4}, 2), numbers({4}, 3)});
  check_normalization("instance", [](const V& v) { return V{F::instance_normalization(v[0], v[1], v[2])}; },
                      {images, numbers({4}, 2), numbers({4}, 3)});
  assert_allclose(F::instance_normalization(images, numbers({4}, 2), numbers({4}, 3)).array(),
                  F::group_normalization(images, 4, numbers({4}, 2), numbers({4}, 3)).array(), 1e-12, 1e-12);
  check_normalization("normalize", [](const V& v) { return V{F::normalize(v[0])}; }, {rows});
  check_normalization("normalize over two axes",
                      [](const V& v) {
                        return V{F::normalize(v[0], 1e-5, {1, 2})};
                      },
                      {images});
  F::LocalResponseNormalizationOptions local;
  local.alpha = 0.5;
  local.n = 3;
  check_normalization("local response", [&](const V& v) { return V{F::local_response_normalization(v[0], local)}; },
                      {images});
  const Array y = F::layer_normalization(rows, ones({4}), zeros({4})).array();
  assert_allclose(y.mean(1), zeros({3}), 1e-12);
  assert_allclose(catenary::var(y, 1), ones({3}), 1e-3);
  // a row of zeros stays there, and its gradient is 1 / eps
  const Variable zero(zeros({1, 2}));
  F::sum(F::normalize(zero, 0.5)).backward();
  assert_allclose(zero.grad(), ones({1, 2}) * 2.0);
  EXPECT_THROW(F::group_normalization(images, 3, ones({4}), zeros({4})), ValueError);
  EXPECT_THROW(F::layer_normalization(images, ones({4}), zeros({4})), ShapeError);
  check_normalization("layers of two axes", [](const V& v) { return V{F::layer_normalization(v[0], v[1], v[2])}; },
                      {images, numbers({3, 2}, 2), numbers({3, 2}, 3)});
  EXPECT_THROW(F::instance_normalization(rows, ones({4}), zeros({4})), ShapeError);
}

// Results of Chainer 7.8.1.
TEST(Normalization, ByTheRootOfTheMeanOfSquares) {
  const Array x = array<double>({1, -2, 3, 0.5, 0.25, -4}, {2, 3}), gamma = array<double>({2, 1, -1});
  const auto y = test::values(F::rms_normalization(x, gamma, 1e-3).array()), from = test::values(x),
             by = test::values(gamma);
  for (std::size_t row = 0; row < 2; ++row) {
    double squares = 0;
    for (std::size_t c = 0; c < 3; ++c) squares += from[row * 3 + c] * from[row * 3 + c];
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(y[row * 3 + c], from[row * 3 + c] / std::sqrt(squares / 3 + 1e-3) * by[c], 1e-14);
  }
  tests::check_gradients([](const V& v) { return V{F::rms_normalization(v[0], v[1])}; }, {x, gamma});
  tests::check_gradients([](const V& v) { return V{F::rms_normalization(v[0], v[1])}; },
                         {x.reshape({1, 2, 3}), x * 0.5});
  EXPECT_EQ(F::rms_normalization(zeros({0, 3}, Dtype::float64), gamma).shape(), (Shape{0, 3}));
  // squares beyond float16's range
  const Variable large(full({2, 4}, 300.0).astype(Dtype::float16)), one(ones({4}, Dtype::float32));
  const Variable z = F::rms_normalization(large, one);
  EXPECT_EQ(z.dtype(), Dtype::float16);
  for (double value : test::values(z.array().astype(Dtype::float64))) EXPECT_EQ(value, 1);
  EXPECT_THROW(F::rms_normalization(x, array<double>({1, 2})), ShapeError);
  EXPECT_THROW(F::rms_normalization(x, zeros({3}, Dtype::int32)), DtypeError);
}

TEST(DecorrelatedBatchNormalization, IsChainers) {
  const Variable x(catenary::sin(arange(60, Dtype::float64) * 1.7 + 1.0).reshape({5, 6, 2}));
  const Array gy = catenary::cos(arange(60, Dtype::float64) * 0.9 + 2.0).reshape({5, 6, 2});
  F::DecorrelatedBatchNormalizationOptions options;
  options.groups = 2;
  options.eps = 1e-2;
  options.decay = 0.75;
  options.running_mean = zeros({2, 3});
  options.running_projection = eye(3).broadcast_to({2, 3, 3}).copy();
  const Variable y = F::decorrelated_batch_normalization(x, options);
  y.set_grad(gy);
  y.backward();
  const std::vector<double> expected_y = {
      0.369135472461,  0.9220188367,    -0.711449664734, -0.064748465397, 1.00652102749,   -0.796821438064,
      -1.01011115368,  -0.192389082141, 0.708147628051,  -0.488550622053, -0.35916054008,  1.13704879891,
      1.00887625037,   -0.791763837011, -0.187162266211, 0.924681217212,  -0.646979968988, -0.996196422014,
      -0.368830866578, 1.34813481585,   -0.381234829618, -0.726189684874, 1.10598515502,   0.056022933761};
  const std::vector<double> expected_gx = {
      -2.2945263291,   -2.05252996015, -2.59011867831,  1.38352257816,  0.0334140400081, 3.53972107533,
      -0.601516926562, -3.57467923556, -3.18590463171,  -2.58717349904, -1.87404592631,  1.6669297183,
      3.89115120148,   -1.60683805738, -0.854921604415, -5.55374588128, -4.11773904509,  -2.76385914694,
      4.6661603818,    2.10009981309,  3.97258833042,   -2.5964166869,  -1.20936300248,  -4.35078367349};
  const std::vector<double> expected_mean = {0.0307068486102,  -0.0277795450041, 0.0230075791911,
                                             -0.0167078269511, 0.00929861460539, -0.00127194063687};
  const std::vector<double> expected_projection = {
      1.82082861892,   0.853879617073, 0.0558906179252, 0.853879617073,  2.64185718549,  0.859133237705,
      0.0558906179252, 0.859133237705, 1.81067023706,   1.82966723359,   0.857034504799, 0.0409517237566,
      0.857034504799,  2.63952806754,  0.860481924033,  0.0409517237566, 0.860481924033, 1.82300131622};
  const std::vector<double> expected_fixed = {
      0.741952611955,  0.584962995814,  -0.910197014607, -0.153478115356, 1.01800104527,   -0.28819826676,
      -1.03280410193,  0.174330044156,  0.867296074097,  -0.554752689058, -0.644196451805, 0.898337750063,
      0.70654143513,   -0.883013182924, -0.29583641529,  0.992503573679,  -0.134513211927, -1.0360881394,
      0.0169894047503, 1.07014407389,   -0.427540545372, -0.83296742119,  0.809701448289,  0.540478720678};
  const auto expect = [](const Array& a, const std::vector<double>& values) {
    assert_allclose(a, Array::from_host(values.data(), a.shape(), Dtype::float64), 1e-9, 1e-9);
  };
  expect(y.array()(slice(2)), expected_y);
  expect(x.grad()(slice(2)), expected_gx);
  expect(options.running_mean, expected_mean);
  expect(options.running_projection, expected_projection);
  expect(F::fixed_decorrelated_batch_normalization(x, options.running_mean, options.running_projection, 2)
             .array()(slice(2)),
         expected_fixed);
}

TEST(DecorrelatedBatchNormalization, WhitensAndHasGradients) {
  F::DecorrelatedBatchNormalizationOptions options;
  options.groups = 2;
  options.eps = 0;
  const Array x = numbers({5, 4, 3, 2}), y = F::decorrelated_batch_normalization(x, options).array();
  for (const int group : {0, 2}) {
    const Array flat = y(slice(), slice(group, group + 2)).transpose({1, 0, 2, 3}).reshape({2, 30});
    assert_allclose(catenary::matmul(flat, flat.T()) / 30.0, eye(2), 1e-12, 1e-12);
    assert_allclose(flat.mean(1), zeros({2}), 1e-12);
  }
  options.eps = 0.1;
  check_normalization("decorrelated", [&](const V& v) { return V{F::decorrelated_batch_normalization(v[0], options)}; },
                      {numbers({5, 4})});
  check_normalization("fixed",
                      [](const V& v) { return V{F::fixed_decorrelated_batch_normalization(v[0], v[1], v[2], 2)}; },
                      {numbers({3, 4, 2}), numbers({2, 2}, 2), numbers({2, 2, 2}, 3)});
  // equal eigenvalues: their difference is not a divisor
  const Variable corners(catenary::array({{1.0, 1.0}, {1.0, -1.0}, {-1.0, 1.0}, {-1.0, -1.0}}));
  const Variable out = F::decorrelated_batch_normalization(corners, {.groups = 1, .eps = 0});
  out.set_grad(numbers({4, 2}));
  out.backward();
  EXPECT_TRUE(catenary::isfinite(corners.grad()).all());
  // 16 bits are computed in 32
  const Array half = F::decorrelated_batch_normalization(x.astype(Dtype::float16), options).array();
  EXPECT_EQ(half.dtype(), Dtype::float16);
  assert_allclose(half.astype(Dtype::float64), F::decorrelated_batch_normalization(x, options).array(), 1e-2, 1e-2);

  EXPECT_THROW(F::decorrelated_batch_normalization(x), ValueError);  // 16 groups
  EXPECT_THROW(F::decorrelated_batch_normalization(zeros({4}), options), ShapeError);
  EXPECT_THROW(F::decorrelated_batch_normalization(zeros({0, 4}), options), ShapeError);
  EXPECT_THROW(F::decorrelated_batch_normalization(x.astype(Dtype::int32), options), DtypeError);
  options.running_mean = zeros({4});
  EXPECT_THROW(F::decorrelated_batch_normalization(x, options), ShapeError);
  EXPECT_THROW(F::fixed_decorrelated_batch_normalization(x, zeros({2, 2}), zeros({2, 2}), 2), ShapeError);
}

// Statistics are part of the function: its hooks run around them, and measured times include them.
TEST(Normalization, StatisticsAreComputedInsideTheFunction) {
  struct Watch : FunctionHook {
    Array running;
    double before = -1, after = -1;
    std::string name() const override { return "Watch"; }
    void forward_preprocess(FunctionNode& f, Inputs) override {
      if (std::string(f.name()).starts_with("Batch")) before = running.copy().item<double>();
    }
    void forward_postprocess(FunctionNode& f, Inputs) override {
      if (std::string(f.name()).starts_with("Batch")) after = running.copy().item<double>();
    }
  };
  const Variable x(catenary::array({1.0, 3.0, 8.0}).reshape({3, 1}).astype(Dtype::float32)),
      one(ones({1}, Dtype::float32));
  for (const bool again : {false, true}) {
    Watch watch;
    watch.running = zeros({1}, Dtype::float32);
    const Array var = ones({1}, Dtype::float32);
    const HookScope scope(watch);
    F::BatchRenormalizationOptions options;
    options.decay = 0.5;
    options.running_mean = watch.running;
    options.running_var = var;
    options.update_statistics = true;
    if (again) {
      F::batch_renormalization(x, one, one, 2, 1, options);
    } else {
      F::batch_normalization(x, one, one, options);
    }
    EXPECT_EQ(watch.before, 0);
    EXPECT_EQ(watch.after, 2);  // half of the mean
  }
}

// Float32 results computed from 16-bit images are never stored: neither their gradient nor that of the result.
TEST(BatchNormalization, StoresNothingLargeInFloat32) {
  const Shape shape = {64, 32, 64, 64};
  const auto images = [&](double value) {
    const Array a = Array::empty(shape, Dtype::bfloat16);
    a.fill(value);
    return a.eval();
  };
  const Variable x(images(0.5)), gamma(ones({32}, Dtype::float32)), beta(zeros({32}, Dtype::float32));
  const Variable y = F::batch_normalization(x, gamma, beta);
  y.set_grad(images(0.25));
  y.array().eval();
  MemoryPool& pool = current_device().backend().pool(current_device().index());
  const std::size_t used = pool.used_bytes(), peak = pool.peak_bytes(),
                    bytes = static_cast<std::size_t>(x.array().nbytes());
  y.backward();
  for (const Variable& v : {x, gamma, beta}) v.grad().eval();
  EXPECT_EQ(x.grad().dtype(), Dtype::bfloat16);
  EXPECT_LE(pool.peak_bytes(), std::max(peak, used + bytes * 3 / 2));
}

// Equal values have a variance of 0, whatever their number and axes, so the result is beta. An error of one unit in the
// last place of the mean would be multiplied by 1 / sqrt(eps), which is 316.
TEST(Normalization, OfConstantsIsBeta) {
  const double tolerance = current_device().is_cpu() ? 1e-7 : 2e-3;
  for (const double value : {3.3, -0.1, 1e4 / 3, 7e-3}) {
    for (const std::int64_t n : {3, 7, 257, 5000}) {
      const Array x = full({4, 2, n}, value, Dtype::float32);
      const auto parameter = [](std::int64_t size, double of) { return Variable(full({size}, of, Dtype::float32)); };
      const auto expect_beta = [&](const Variable& y, const char* what) {
        EXPECT_LE(catenary::max(catenary::absolute(y.array() - 0.25)).item<float>(),
                  tolerance * std::max(1.0, std::abs(value)))
            << what << " of " << value << ", " << n;
      };
      expect_beta(F::batch_normalization(x, parameter(2, 1.5), parameter(2, 0.25), {.eps = 1e-5}), "batch");
      expect_beta(F::batch_normalization(x.astype(Dtype::float16).astype(Dtype::float32), parameter(2, 1.5),
                                         parameter(2, 0.25), {.eps = 1e-5}),
                  "batch of halves");
      expect_beta(F::layer_normalization(x.reshape({8, n}), parameter(n, 1.5), parameter(n, 0.25), 1e-5), "layer");
      expect_beta(F::group_normalization(x, 1, parameter(2, 1.5), parameter(2, 0.25), 1e-5), "group");
      expect_beta(F::instance_normalization(x, parameter(2, 1.5), parameter(2, 0.25), 1e-5), "instance");
    }
  }
}

}  // namespace
}  // namespace catenary
