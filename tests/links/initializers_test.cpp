// The values of initializers: their distribution (Kolmogorov-Smirnov test), their scale by fan, and orthogonality.

#include "catenary/initializers/initializers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "catenary/array/creation.h"
#include "catenary/array/random.h"
#include "catenary/core/error.h"
#include "catenary/device/float64.h"

namespace ct = catenary;
namespace I = ct::initializers;
using ct::Dtype;
using Doubles = std::vector<double>;

namespace {

ct::Array filled(const ct::Initializer& initializer, const ct::Shape& shape, Dtype dtype = Dtype::float32) {
  const ct::Array a = ct::full(shape, 77, dtype);
  initializer(a);
  EXPECT_EQ(a.dtype(), dtype);
  EXPECT_EQ(a.shape(), shape);
  return a;
}

using Cumulative = std::function<double(double)>;
Cumulative uniform(double scale) {
  return [=](double x) { return std::clamp((x + scale) / (2 * scale), 0.0, 1.0); };
}
Cumulative normal(double deviation) {
  return [=](double x) { return 0.5 * std::erfc(-x / (deviation * std::sqrt(2.0))); };
}

/// The largest distance between the values' and the expected cumulative distribution, times the root of their number:
/// above 1.95 once in a thousand. For 20,000 values it is far above if the scale is off by 5 %.
double kolmogorov(Doubles values, const Cumulative& expected) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = expected(values[i]), rank = static_cast<double>(i);
    distance = std::max({distance, p - rank / n, (rank + 1) / n - p});
  }
  return distance * std::sqrt(n);
}

void expect_distributed(const ct::Initializer& initializer, const ct::Shape& shape, const Cumulative& expected) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    if (dtype == Dtype::float64 && !ct::has_float64(ct::current_device())) continue;
    ct::random::seed(5);
    EXPECT_LT(kolmogorov(filled(initializer, shape, dtype).to_vector<double>(), expected), 1.95) << shape.str();
  }
}

TEST(Initializers, Fans) {
  const auto fans = [](const ct::Shape& shape) { return I::get_fans(shape); };
  EXPECT_EQ(fans({4, 3}), (std::pair<std::int64_t, std::int64_t>{3, 4}));
  EXPECT_EQ(fans({4, 3, 5, 2}), (std::pair<std::int64_t, std::int64_t>{30, 40}));
  EXPECT_EQ(fans({4, 3, 0}), (std::pair<std::int64_t, std::int64_t>{0, 0}));
  EXPECT_THROW(fans({4}), ct::ValueError);
  EXPECT_THROW(fans({}), ct::ValueError);
  EXPECT_THROW(filled(I::GlorotNormal(), {4}), ct::ValueError);
}

TEST(Initializers, UniformOnes) {
  expect_distributed(I::Uniform(), {20000}, uniform(0.05));
  expect_distributed(I::Uniform(3), {100, 200}, uniform(3));
  const ct::Shape matrix{80, 250}, kernels{40, 10, 5, 10};  // fans 250 and 80, 500 and 2000
  expect_distributed(I::LeCunUniform(), matrix, uniform(std::sqrt(3.0 / 250)));
  expect_distributed(I::LeCunUniform(2), kernels, uniform(2 * std::sqrt(3.0 / 500)));
  expect_distributed(I::GlorotUniform(), matrix, uniform(std::sqrt(6.0 / 330)));
  expect_distributed(I::GlorotUniform(0.5), kernels, uniform(0.5 * std::sqrt(6.0 / 2500)));
  expect_distributed(I::HeUniform(), matrix, uniform(std::sqrt(6.0 / 250)));
  expect_distributed(I::HeUniform(3), kernels, uniform(3 * std::sqrt(6.0 / 500)));
}

TEST(Initializers, NormalOnes) {
  expect_distributed(I::Normal(), {20000}, normal(0.05));
  expect_distributed(I::Normal(2), {100, 200}, normal(2));
  const ct::Shape matrix{80, 250}, kernels{40, 10, 5, 10};
  expect_distributed(I::LeCunNormal(), matrix, normal(std::sqrt(1.0 / 250)));
  expect_distributed(I::LeCunNormal(2), kernels, normal(2 * std::sqrt(1.0 / 500)));
  expect_distributed(I::GlorotNormal(), matrix, normal(std::sqrt(2.0 / 330)));
  expect_distributed(I::GlorotNormal(0.5), kernels, normal(0.5 * std::sqrt(2.0 / 2500)));
  expect_distributed(I::HeNormal(), matrix, normal(std::sqrt(2.0 / 250)));
  expect_distributed(I::HeNormal(3), kernels, normal(3 * std::sqrt(2.0 / 500)));
  expect_distributed(I::HeNormal(1, {}, "fan_out"), matrix, normal(std::sqrt(2.0 / 80)));
  EXPECT_THROW(I::HeNormal(1, {}, "fan"), ct::ValueError);
}

TEST(Initializers, ConstantOnes) {
  EXPECT_EQ(filled(I::Constant(2.5), {2, 3}).to_vector<double>(), Doubles(6, 2.5));
  EXPECT_EQ(filled(I::Constant(3), {2}, Dtype::int32).to_vector<double>(), Doubles(2, 3));
  EXPECT_EQ(filled(I::Zero(), {3}).to_vector<double>(), Doubles(3, 0));
  EXPECT_EQ(filled(I::One(), {}).to_vector<double>(), Doubles(1, 1));
  for (double value : filled(I::NaN(), {3}).to_vector<double>()) EXPECT_TRUE(std::isnan(value));
  for (const I::Constant& constant : {I::Zero(Dtype::float16), I::One(Dtype::float16), I::NaN(Dtype::float16)})
    EXPECT_EQ(constant.dtype, Dtype::float16);
  EXPECT_EQ(filled(I::Identity(2), {3, 3}).to_vector<double>(), (Doubles{2, 0, 0, 0, 2, 0, 0, 0, 2}));
  EXPECT_EQ(filled(I::Identity(), {1, 1}).to_vector<double>(), Doubles{1});
  EXPECT_THROW(filled(I::Identity(), {3, 2}), ct::ValueError);
  EXPECT_THROW(filled(I::Identity(), {3}), ct::ValueError);
}

/// The products of all pairs of rows of the smaller side are scale² for a row with itself, else 0.
void expect_orthogonal(const ct::Shape& shape, double scale, Dtype dtype, double tolerance) {
  const Doubles w = filled(I::Orthogonal(scale), shape, dtype).to_vector<double>();
  const std::size_t out = shape.empty() ? 1 : static_cast<std::size_t>(shape[0]), in = w.size() / out;
  const std::size_t n = std::min(out, in), length = std::max(out, in);
  const auto at = [&](std::size_t i, std::size_t k) { return in >= out ? w[i * in + k] : w[k * in + i]; };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double product = 0;
      for (std::size_t k = 0; k < length; ++k) product += at(i, k) * at(j, k);
      ASSERT_NEAR(product, i == j ? scale * scale : 0, tolerance * scale * scale) << shape.str() << i << " and " << j;
    }
  }
}

TEST(Initializers, OrthogonalSystems) {
  for (const ct::Shape& shape :
       std::vector<ct::Shape>{{}, {1}, {5}, {4, 3}, {6, 2, 3}, {3, 4, 5}, {30, 40}, {64, 20}}) {
    for (const double scale : {1.1, 1.0, 0.3, 7.3}) expect_orthogonal(shape, scale, Dtype::float32, 1e-6);
    expect_orthogonal(shape, 2, Dtype::float16, 2e-3);
    if (ct::has_float64(ct::current_device())) expect_orthogonal(shape, 1.1, Dtype::float64, 1e-14);
  }
  // nearly dependent rows, as in some large square matrices, need a second pass
  if (ct::has_float64(ct::current_device())) expect_orthogonal({150, 150}, 1, Dtype::float64, 1e-14);
}

TEST(Initializers, OrthogonalSystemsAreDrawnEvenly) {
  // an element of a random unit vector in three dimensions is uniform in [-1, 1] (Archimedes)
  ct::random::seed(6);
  Doubles first, last;
  int positive = 0;
  const int draws = ct::current_device().is_cpu() ? 1000 : 50;
  for (int i = 0; i < draws; ++i) {
    const Doubles w = filled(I::Orthogonal(), {3, 2}).to_vector<double>();
    first.push_back(w.front());
    last.push_back(w.back());
    const double sign = filled(I::Orthogonal(), i % 2 ? ct::Shape{1} : ct::Shape{}).item<double>();
    EXPECT_NEAR(std::abs(sign), 1.1, 1e-6);
    positive += sign > 0;
  }
  EXPECT_LT(kolmogorov(first, uniform(1.1)), 1.95);
  EXPECT_LT(kolmogorov(last, uniform(1.1)), 1.95);
  EXPECT_NEAR(positive, draws / 2, 2 * std::sqrt(draws));  // four standard deviations
}

TEST(Initializers, OrthogonalModes) {
  const auto fits = [](const std::string& mode, const ct::Shape& shape) {
    try {
      filled(I::Orthogonal(1, {}, mode), shape);
      return true;
    } catch (const ct::ValueError&) {
      return false;
    }
  };
  EXPECT_TRUE(fits("projection", {3, 4, 5}) && fits("projection", {4, 4}) && !fits("projection", {4, 3}));
  EXPECT_TRUE(fits("embedding", {4, 3}) && fits("embedding", {21, 4, 5}) && !fits("embedding", {3, 4, 5}));
  EXPECT_TRUE(fits("basis", {6, 2, 3}) && !fits("basis", {4, 3}) && !fits("basis", {3, 4}));
  EXPECT_TRUE(fits("auto", {4, 3}) && fits("auto", {3, 4}));
  EXPECT_FALSE(fits("auto", {0}) || fits("auto", {3, 0}));
  EXPECT_THROW(I::Orthogonal(1, {}, "upwards"), ct::ValueError);
}

TEST(Initializers, SamplingFilters) {
  const Doubles three = filled(I::UpsamplingDeconvFilter(), {1, 1, 3, 3}).to_vector<double>();
  EXPECT_EQ(three, (Doubles{0.25, 0.5, 0.25, 0.5, 1, 0.5, 0.25, 0.5, 0.25}));
  const Doubles four = filled(I::DownsamplingConvFilter(), {1, 1, 4}).to_vector<double>();
  EXPECT_EQ(four, (Doubles{0.125, 0.375, 0.375, 0.125}));
  for (const ct::Shape& shape : std::vector<ct::Shape>{{5, 5, 3, 3}, {5, 5, 6, 6}, {5, 1, 3, 3}, {2, 2, 4, 4, 4}}) {
    const std::int64_t in = shape[0], out = shape[1], n = shape.product() / (in * out);
    double up = static_cast<double>(in), down = static_cast<double>(in);
    for (int axis = 2; axis < shape.size(); ++axis) up *= static_cast<double>((shape[axis] + 1) / 2);
    for (const bool upwards : {true, false}) {
      const Doubles w =
          (upwards ? filled(I::UpsamplingDeconvFilter(), shape) : filled(I::DownsamplingConvFilter(), shape))
              .to_vector<double>();
      double total = 0;
      for (std::int64_t i = 0; i < in * out; ++i) {
        const bool same = out == 1 || i / out == i % out;
        for (std::int64_t k = 0; k < n; ++k) {
          const double value = w[static_cast<std::size_t>(i * n + k)];
          EXPECT_EQ(value > 0, same) << shape.str();
          total += value;
        }
      }
      EXPECT_NEAR(total, upwards ? up : down, 1e-5) << shape.str();
    }
  }
  EXPECT_THROW(filled(I::UpsamplingDeconvFilter(), {2, 3, 3, 3}), ct::ValueError);
  EXPECT_THROW(filled(I::UpsamplingDeconvFilter(), {2, 2, 3, 4}), ct::ValueError);
  EXPECT_THROW(filled(I::DownsamplingConvFilter(), {2, 2}), ct::ValueError);
}

}  // namespace
