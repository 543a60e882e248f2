// Softmax functions, cross entropy, normalisations and GELU in all layouts and lengths of rows, compared with formulas
// in float64.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/autograd/backward.h"
#include "catenary/core/config.h"
#include "catenary/core/parallel.h"
#include "catenary/functions/functions.h"
#include "tests/arrays.h"

namespace catenary {
namespace {

namespace F = functions;
using tests::channels_last;
using tests::waves;

constexpr double kInfinite = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

/// Returns all cases on the processor, and every n-th elsewhere: other devices compute all layouts by the same
/// programs, which take seconds to compile.
template <class T>
std::vector<T> some(const std::vector<T>& all, std::size_t n) {
  if (current_device().is_cpu()) return all;
  std::vector<T> chosen;
  for (std::size_t i = 0; i < all.size(); i += n) chosen.push_back(all[i]);
  return chosen;
}
std::vector<Dtype> some(const std::vector<Dtype>& all) { return some(all, all.size()); }

Array wide(const Array& a) { return a.to_device(Device()).astype(Dtype::float64); }
double tolerance_of(Dtype dtype) {
  return dtype == Dtype::float64 ? 1e-13 : dtype == Dtype::float32 ? 2e-6 : dtype == Dtype::float16 ? 2e-3 : 1.6e-2;
}
/// Expects values within a tolerance, relative to the largest one or to `scale`.
void expect_close(const Array& got, const Array& wanted, double tolerance, double scale = 1e-30) {
  ASSERT_EQ(got.shape(), wanted.shape());
  const std::vector<double> a = got.to_vector<double>(), b = wanted.to_vector<double>();
  for (double x : b) scale = std::max(scale, std::abs(x));
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_LE(std::abs(a[i] - b[i]), tolerance * scale) << i;
}

/// An input: its shape, the axis of its rows, and a function that gives equal values in another layout.
struct Layout {
  Shape shape;
  int axis;
  std::function<Array(const Array&)> lay = [](const Array& x) { return x; };
};
Array with_gaps(const Array& x) {
  const Array both = concatenate({x, x}, -1);
  return both(ellipsis, slice(0, x.shape(-1)));
}
std::vector<Layout> layouts() {
  return {{{3}, 0},
          {{5, 1}, 1},
          {{1, 7}, 0},
          {{200, 10}, 1},
          {{7, 47}, 1},
          {{3, 48}, -1},
          {{9, 129}, 1},
          {{2, 70001}, 1},
          {{1, 40000}, 1},
          {{1300, 10}, 0},
          {{700, 33}, 0},
          {{3, 21, 5, 3}, 1},
          {{2, 21, 16, 19}, 1},
          {{2, 3, 520, 4}, 2},
          {{2, 21, 16, 19}, 1, channels_last},
          {{2, 5, 3, 4}, 2, channels_last},
          {{20, 31}, 1, [](const Array& x) { return x.T().copy().T(); }},
          {{20, 31}, 1, with_gaps}};
}

Array log_softmax_of(const Array& x, int axis) {
  const Array shifted = x - x.max(axis, true);
  return shifted - catenary::log(catenary::exp(shifted).sum(axis, true));
}

TEST(Rows, SoftmaxInAllLayouts) {
  for (const Layout& l : some(layouts(), 6))
    for (const Dtype dtype : some({Dtype::float32, Dtype::bfloat16, Dtype::float16, Dtype::float64})) {
      SCOPED_TRACE(std::to_string(l.shape.product()) + " " + std::string(dtype_name(dtype)));
      const Array x = l.lay((waves(l.shape, 1, Dtype::float32) * 9).astype(dtype)),
                  gy = waves(l.shape, 3, Dtype::float32).astype(dtype);
      const Array log_y = log_softmax_of(wide(x), l.axis), y = catenary::exp(log_y), g = wide(gy);
      const double tolerance = tolerance_of(dtype);
      const Variable v(x), soft = F::softmax(v, l.axis), log_soft = F::log_softmax(v, l.axis);
      EXPECT_EQ(soft.dtype(), dtype);
      expect_close(soft.array(), y, tolerance);
      expect_close(log_soft.array(), log_y, tolerance);
      for (const bool twice : {false, true}) {
        const auto gradient = [&](const Variable& of) {
          return grad({of}, {v}, {.grad_outputs = {Variable(gy)}, .enable_double_backprop = twice})[0].array();
        };
        expect_close(gradient(soft), y * (g - (g * y).sum(l.axis, true)), 4 * tolerance);
        expect_close(gradient(log_soft), g - y * g.sum(l.axis, true), 4 * tolerance);
      }
    }
}

TEST(Rows, SoftmaxOfMaskedRows) {
  for (const Shape& shape : some<Shape>({Shape{3, 70000}, Shape{3, 1000}, Shape{3, 20}}, 3))
    for (const bool by_column : {false, true}) {
      const std::int64_t n = shape[1];
      const Array x = waves(shape, 1, Dtype::float32);
      x.set(-kInfinite, 0, slice(0, n / 2));  // whole chunks of a row
      x.set(-kInfinite, 1);
      x.set(kNan, 2, n - 1);
      const Array rows = by_column ? x.T().copy() : x;
      const auto along_rows = [&](const Array& result) { return by_column ? result.T() : result; };
      const Array y = along_rows(F::softmax(rows, by_column ? 0 : 1).array()),
                  log_y = along_rows(F::log_softmax(rows, by_column ? 0 : 1).array());
      EXPECT_EQ(y(0, slice(0, n / 2)).sum().item<float>(), 0);
      EXPECT_NEAR(y(0).sum().item<float>(), 1, 1e-5);
      EXPECT_NEAR(std::exp(log_y(0, n - 1).item<float>()), y(0, n - 1).item<float>(), 1e-6);
      for (int row : {1, 2}) EXPECT_TRUE(catenary::isnan(y(row)).all());
    }
}

TEST(Rows, ResultsDoNotDependOnThreads) {
  const Array x = waves({2, 70001}, 1, Dtype::float32), gamma = ones({70001}, Dtype::float32),
              beta = zeros({70001}, Dtype::float32);
  const int threads = num_threads();
  std::vector<Array> all;
  for (const int n : {1, 3}) {
    set_num_threads(n);
    all.push_back(concatenate({F::softmax(x).array(), F::layer_normalization(x, gamma, beta).array()}).eval());
  }
  set_num_threads(threads);
  EXPECT_TRUE((all[0] == all[1]).all());
}

TEST(Rows, CrossEntropyInAllLayouts) {
  for (const Layout& l : some(layouts(), 6)) {
    if (l.shape.size() < 2 || l.axis == 0 || l.axis == 2) continue;
    for (const Dtype dtype : some({Dtype::float32, Dtype::bfloat16, Dtype::float64})) {
      SCOPED_TRACE(std::to_string(l.shape.product()) + " " + std::string(dtype_name(dtype)));
      const Array x = l.lay((waves(l.shape, 1, Dtype::float32) * 5).astype(dtype));
      Shape kept = l.shape;
      kept.erase(1);
      const std::int64_t classes = l.shape[1];
      const Array t = remainder(arange(kept.product(), Dtype::int64) * 7, classes + 1).reshape(kept) - 1;
      const Array log_y = log_softmax_of(wide(x), 1), labels = expand_dims(t.to_device(Device()), 1);
      Shape column = Shape::filled(l.shape.size() - 1, 1);
      column[0] = classes;
      const Array at_label = labels == arange(classes, Dtype::int64).to_device(Device()).reshape(column);
      const Array losses = where(at_label, log_y * -1.0, 0).sum(1);
      const Array counted = (labels >= 0).astype(Dtype::float64);
      for (const bool twice : {false, true}) {
        const Variable v(x), loss = F::softmax_cross_entropy(v, t, {.reduce = F::Reduce::no});
        expect_close(loss.array(), losses, tolerance_of(dtype));
        const Array gy = waves(kept, 3, Dtype::float32).astype(dtype);
        const Array gx =
            grad({loss}, {v}, {.grad_outputs = {Variable(gy)}, .enable_double_backprop = twice})[0].array();
        expect_close(gx, (catenary::exp(log_y) - at_label.astype(Dtype::float64)) * counted * expand_dims(wide(gy), 1),
                     4 * tolerance_of(dtype));
        const Variable mean = F::softmax_cross_entropy(v, t);
        const double count = std::max(counted.sum().item<double>(), 1.0);
        expect_close(mean.array(), losses.sum() / count, tolerance_of(dtype));
      }
    }
  }
}

/// A normalisation and the shape of its gamma.
struct Normalization {
  const char* name;
  Shape x, gamma, broadcast;  ///< gamma as it broadcasts to x
  Axes axes;
  std::function<Variable(const std::vector<Variable>&)> call;
};
std::vector<Normalization> normalizations() {
  const auto layer = [](const std::vector<Variable>& v) { return F::layer_normalization(v[0], v[1], v[2], 2e-5); };
  const auto batch = [](const std::vector<Variable>& v) { return F::batch_normalization(v[0], v[1], v[2]); };
  const auto batch_over_axis_1 = [](const std::vector<Variable>& v) {
    F::BatchNormalizationOptions options;
    options.axis = Axes{1};
    return F::batch_normalization(v[0], v[1], v[2], options);
  };
  const auto instance = [](const std::vector<Variable>& v) {
    return F::instance_normalization(v[0], v[1], v[2], 2e-5);
  };
  const auto group = [](int groups) {
    return [groups](const std::vector<Variable>& v) { return F::group_normalization(v[0], groups, v[1], v[2], 2e-5); };
  };
  return {{"layer", {5, 17}, {17}, {1, 17}, {1}, layer},
          {"layer", {170, 3, 33}, {33}, {1, 1, 33}, {2}, layer},
          {"layer of long rows", {5, 9001}, {9001}, {1, 9001}, {1}, layer},
          {"layer of two axes", {700, 5, 16}, {5, 16}, {1, 5, 16}, {1, 2}, layer},
          {"batch", {3, 5, 7, 7}, {5}, {1, 5, 1, 1}, {0, 2, 3}, batch},
          {"batch of large images", {3, 4, 81, 79}, {4}, {1, 4, 1, 1}, {0, 2, 3}, batch},
          {"batch of rows", {13, 6}, {6}, {1, 6}, {0}, batch},
          {"batch of many rows", {700, 130}, {130}, {1, 130}, {0}, batch},
          {"batch of wide rows", {5, 601}, {601}, {1, 601}, {0}, batch},
          {"batch of many channels", {3, 70, 11, 13}, {70}, {1, 70, 1, 1}, {0, 2, 3}, batch},
          {"batch of one axis", {3, 40, 9}, {3, 9}, {3, 1, 9}, {1}, batch_over_axis_1},
          {"instance of many channels", {3, 21, 7, 6}, {21}, {1, 21, 1, 1}, {2, 3}, instance},
          {"batch of few channels", {3, 3, 130, 140}, {3}, {1, 3, 1, 1}, {0, 2, 3}, batch},
          {"instance", {3, 5, 7, 6}, {5}, {1, 5, 1, 1}, {2, 3}, instance},
          {"group", {3, 6, 7, 6}, {6}, {1, 6, 1, 1}, {}, group(2)},
          {"group of one", {2, 6, 11, 1}, {6}, {1, 6, 1, 1}, {}, group(6)},
          {"one group", {5, 4, 70, 70}, {4}, {1, 4, 1, 1}, {}, group(1)}};
}
/// The mean of x over the normalised elements. Groups have no axes of their own.
Array mean_of(const Normalization& c, const Array& x) {
  if (!c.axes.empty()) return x.mean(c.axes, true).broadcast_to(x.shape());
  const int groups = c.name == std::string("one group") ? 1 : c.name == std::string("group") ? 2 : 6;
  const Shape split{x.shape(0), groups, x.size() / x.shape(0) / groups};
  return x.reshape(split).mean(2, true).broadcast_to(split).reshape(x.shape());
}

void check_normalization(const Normalization& c, const Array& x, double tolerance) {
  const Dtype dtype = x.dtype(), of_gamma = is_16bit_float(dtype) ? Dtype::float32 : dtype;
  const Array gamma = waves(c.gamma, 2, of_gamma) + 1.5, beta = waves(c.gamma, 5, of_gamma),
              gy = waves(c.x, 3, Dtype::float32).astype(dtype);
  const Array a = wide(x), scale = wide(gamma).reshape(c.broadcast), g = wide(gy);
  const Array centered = a - mean_of(c, a), inv_std = 1.0 / catenary::sqrt(mean_of(c, centered * centered) + 2e-5);
  const Array h = centered * inv_std, gh = g * scale;
  const auto to_gamma = [&](const Array& each) {
    Axes axes;
    for (int i = 0; i < c.broadcast.size(); ++i)
      if (c.broadcast[i] == 1) axes.push_back(i);
    return each.sum(axes, true).reshape(c.gamma);
  };
  for (const bool twice : {false, true}) {
    const std::vector<Variable> v = {Variable(x), Variable(gamma), Variable(beta)};
    const Variable y = c.call(v);
    EXPECT_EQ(y.dtype(), dtype);
    expect_close(y.array(), h * scale + wide(beta).reshape(c.broadcast), tolerance);
    const std::vector<Variable> gradients =
        grad({y}, v, {.grad_outputs = {Variable(gy)}, .enable_double_backprop = twice});
    expect_close(gradients[0].array(), (gh - mean_of(c, gh) - h * mean_of(c, gh * h)) * inv_std, 4 * tolerance);
    // Terms of both signs cancel, so errors of their sum are relative to the terms.
    const auto size_of = [&](const Array& each) { return catenary::sqrt(to_gamma(each * each)).max().item<double>(); };
    expect_close(gradients[1].array(), to_gamma(g * h), 4 * tolerance, size_of(g * h));
    expect_close(gradients[2].array(), to_gamma(g), 4 * tolerance, size_of(g));
  }
}

TEST(Rows, NormalizationsInAllLayouts) {
  for (const Normalization& c : some(normalizations(), 4))
    for (const Dtype dtype : some({Dtype::float32, Dtype::bfloat16, Dtype::float16, Dtype::float64}))
      for (const bool is_last : {false, true}) {
        SCOPED_TRACE(std::string(c.name) + " " + std::string(dtype_name(dtype)) + (is_last ? " channels last" : ""));
        if (is_last && c.x.size() < 3) continue;
        const Array x = (waves(c.x, 1, Dtype::float32) * 3 + 2).astype(dtype);
        check_normalization(c, is_last ? channels_last(x) : x, tolerance_of(dtype));
      }
}

TEST(Rows, NormalizationsOfCloseNumbers) {
  for (const Normalization& c : some(normalizations(), 4)) {
    SCOPED_TRACE(c.name);
    const Array gamma = ones(c.gamma, Dtype::float32), beta = zeros(c.gamma, Dtype::float32),
                equal = full(c.x, 1000.1F, Dtype::float32);
    // Devices do not correct the rounding of a mean: an error d gives d / sqrt(d^2 + eps).
    const double d = current_device().is_cpu() ? 0 : 0.05, most = d / std::sqrt(d * d + 2e-5);
    for (double y : c.call({Variable(equal), Variable(gamma), Variable(beta)}).array().to_vector<double>())
      ASSERT_LE(std::abs(y), most);
    // a mean in float32 is off by at most 3e-5
    check_normalization(c, waves(c.x, 1, Dtype::float32) * 0.1F + 1000, 2e-3);
  }
}

TEST(Rows, Gelu) {
  for (const Shape& shape : some<Shape>({Shape{1}, Shape{33}, Shape{3, 5000}, Shape{2, 3, 4, 5}}, 3))
    for (const Dtype dtype : some({Dtype::float32, Dtype::bfloat16, Dtype::float16, Dtype::float64}))
      for (const bool is_last : {false, true}) {
        if (is_last && shape.size() < 3) continue;
        const Array flat = (waves(shape, 1, Dtype::float32) * 7).astype(dtype),
                    gy = waves(shape, 2, Dtype::float32).astype(dtype);
        const Variable v(is_last ? channels_last(flat) : flat), y = F::gelu(v);
        const Array a = wide(v.array()), phi = (catenary::erf(a * std::sqrt(0.5)) + 1.0) * 0.5;
        const double tolerance = dtype == Dtype::float32 ? 1e-6 : tolerance_of(dtype);
        tests::expect_near(y.array().astype(Dtype::float64), (a * phi).to_device(current_device()), 7 * tolerance);
        const Array slope = phi + a * catenary::exp(a * a * -0.5) / std::sqrt(2 * std::acos(-1.0));
        for (const bool twice : {false, true})
          tests::expect_near(
              grad({y}, {v}, {.grad_outputs = {Variable(gy)}, .enable_double_backprop = twice})[0].array(),
              (wide(gy) * slope).to_device(current_device()), 2 * tolerance);
      }
  const std::vector<float> far = F::gelu(array<float>({-1e30F, -20, 20, 1e30F})).array().to_vector<float>();
  EXPECT_EQ(far, (std::vector<float>{0, 0, 20, 1e30F}));
  EXPECT_TRUE(std::isnan(F::gelu(array<float>({static_cast<float>(kNan)})).array().item<float>()));
  const Variable x(array<float>({-1e30F, -20, 20, 1e30F}));
  EXPECT_EQ(
      grad({F::gelu(x)}, {x}, {.grad_outputs = {Variable(ones({4}, Dtype::float32))}})[0].array().to_vector<int>(),
      (std::vector<int>{0, 0, 1, 1}));
  if (!current_device().is_cpu()) return;  // the formula multiplies infinity by 0 there
  const Variable ends(array<float>({-static_cast<float>(kInfinite), static_cast<float>(kInfinite)}));
  EXPECT_EQ(grad({F::gelu(ends)}, {ends}, {.grad_outputs = {Variable(ones({2}, Dtype::float32))}})[0]
                .array()
                .to_vector<int>(),
            (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace catenary
