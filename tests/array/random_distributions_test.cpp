// Tests distributions on the CPU with fixed seeds against their cumulative functions (Kolmogorov-Smirnov) and
// probabilities (chi-square), and other devices against the CPU.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "catenary/array/elementwise.h"
#include "catenary/array/linalg.h"
#include "catenary/array/random.h"
#include "catenary/array/reduction.h"
#include "tests/array/expect.h"

namespace ct = catenary;
namespace R = ct::random;
using namespace testing_arrays;

namespace {

using Cdf = std::function<double(double)>;
constexpr std::int64_t kMany = 4000;
constexpr double kPi = 3.141592653589793;

/// Regularised incomplete gamma function P(a, x), by its series.
double gamma_cdf(double a, double x) {
  if (x <= 0) return 0;
  double term = 1 / a, sum = term;
  for (int k = 1; k < 2000 && term > sum * 1e-16; ++k) sum += term *= x / (a + k);
  return std::min(1.0, sum * std::exp(-x + a * std::log(x) - std::lgamma(a)));
}

/// Regularised incomplete beta function I_x(a, b), by Simpson's rule after substituting x = sin^2, which removes the
/// poles for a, b >= 1/2.
double beta_cdf(double a, double b, double x) {
  if (x <= 0 || x >= 1) return x >= 1;
  const auto density = [&](double t) {
    return 2 * std::pow(std::sin(t), 2 * a - 1) * std::pow(std::cos(t), 2 * b - 1);
  };
  const double end = std::asin(std::sqrt(x));
  constexpr int steps = 100;
  double sum = density(0) + density(end);
  for (int k = 1; k < steps; ++k) sum += density(end * k / steps) * (k % 2 ? 4 : 2);
  return sum * end / (3 * steps) * std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b));
}

/// Returns the sum of cdf(k) over Poisson-distributed k with this mean, as noncentral distributions are defined.
double poisson_mixture(double mean, const std::function<double(int)>& cdf) {
  double sum = 0;
  for (int k = 0; k < 30; ++k) sum += std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0)) * cdf(k);
  return sum;
}

/// CDF of the von Mises distribution around 0, by Simpson's rule.
double vonmises_cdf(double kappa, double x) {
  const auto integral = [&](double end) {
    constexpr int steps = 200;
    const auto density = [&](int k) { return std::exp(kappa * (std::cos(-kPi + (end + kPi) * k / steps) - 1)); };
    double sum = density(0) + density(steps);
    for (int k = 1; k < steps; ++k) sum += density(k) * (k % 2 ? 4 : 2);
    return sum * (end + kPi) / (3 * steps);
  };
  return integral(x) / integral(kPi);
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

/// Expects the Kolmogorov-Smirnov distance to be below the bound that 1 sample of 10,000 exceeds.
void expect_distribution(const Array& sample, const Cdf& cdf, const std::string& what) {
  std::vector<double> x = sample.to_device(ct::Device()).astype(Dtype::float64).ravel().to_vector<double>();
  std::sort(x.begin(), x.end());
  const double n = static_cast<double>(x.size());
  double distance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double p = cdf(x[i]), k = static_cast<double>(i);
    ASSERT_FALSE(std::isnan(x[i])) << what;
    distance = std::max({distance, p - k / n, (k + 1) / n - p});
  }
  EXPECT_LT(distance * std::sqrt(n), 2.23) << what;
}

/// Expects chi-square of the counts within 4 standard deviations of its mean. Cells with an expectation below 5 are
/// merged.
void expect_counts(const Array& sample, const std::function<double(std::int64_t)>& probability, std::int64_t low,
                   std::int64_t high, const std::string& what) {
  const std::vector<std::int64_t> x = sample.to_device(ct::Device()).ravel().to_vector<std::int64_t>();
  const double n = static_cast<double>(x.size());
  double chi_square = 0, rest = n, rest_count = n;
  int cells = 0;
  for (std::int64_t k = low; k <= high; ++k) {
    const double expected = n * probability(k), count = static_cast<double>(std::count(x.begin(), x.end(), k));
    if (expected < 5) continue;
    chi_square += (count - expected) * (count - expected) / expected;
    rest -= expected;
    rest_count -= count;
    ++cells;
  }
  if (rest >= 5) chi_square += (rest_count - rest) * (rest_count - rest) / rest;
  EXPECT_GT(cells, 2) << what;
  EXPECT_LT(chi_square, cells + 4 * std::sqrt(2.0 * cells)) << what;
}

struct Continuous {
  const char* name;
  std::function<Array(const R::RandomOptions&)> draw;
  Cdf cdf;
};

std::vector<Continuous> continuous() {
  const Shape many{kMany};
  std::vector<Continuous> rows = {
      {"logistic", [=](auto& o) { return R::logistic(1, 2, many, o); },
       [](double x) { return 1 / (1 + std::exp(-(x - 1) / 2)); }},
      {"lognormal", [=](auto& o) { return R::lognormal(0.5, 0.75, many, o); },
       [](double x) { return normal_cdf((std::log(x) - 0.5) / 0.75); }},
      {"rayleigh", [=](auto& o) { return R::rayleigh(3, many, o); }, [](double x) { return -std::expm1(-x * x / 18); }},
      {"standard_exponential", [=](auto& o) { return R::standard_exponential(many, o); },
       [](double x) { return -std::expm1(-x); }},
      {"standard_cauchy", [=](auto& o) { return R::standard_cauchy(many, o); },
       [](double x) { return 0.5 + std::atan(x) / kPi; }},
      {"pareto", [=](auto& o) { return R::pareto(3, many, o); }, [](double x) { return 1 - std::pow(1 + x, -3); }},
      {"weibull", [=](auto& o) { return R::weibull(1.5, many, o); },
       [](double x) { return -std::expm1(-std::pow(x, 1.5)); }},
      {"power", [=](auto& o) { return R::power(2.5, many, o); }, [](double x) { return std::pow(x, 2.5); }},
      {"triangular", [=](auto& o) { return R::triangular(-1, 0, 3, many, o); },
       [](double x) { return x < 0 ? (x + 1) * (x + 1) / 4 : 1 - (3 - x) * (3 - x) / 12; }},
      {"wald", [=](auto& o) { return R::wald(2, 3, many, o); },
       [](double x) {
         const double root = std::sqrt(3 / x);
         return normal_cdf(root * (x / 2 - 1)) + std::exp(3.0) * normal_cdf(-root * (x / 2 + 1));
       }},
      {"standard_t", [=](auto& o) { return R::standard_t(3, many, o); },
       [](double x) {
         const double tail = 0.5 * beta_cdf(1.5, 0.5, 3 / (3 + x * x));
         return x < 0 ? tail : 1 - tail;
       }},
      {"f", [=](auto& o) { return R::f(4, 7, many, o); },
       [](double x) { return beta_cdf(2, 3.5, 4 * x / (4 * x + 7)); }},
  };
  for (const double df : {0.7, 1.0, 4.5})
    rows.push_back(
        {"noncentral_chisquare", [=](auto& o) { return R::noncentral_chisquare(df, 3, many, o); },
         [=](double x) { return poisson_mixture(1.5, [&](int k) { return gamma_cdf(df / 2 + k, x / 2); }); }});
  for (const double dfnum : {1.0, 3.0})
    rows.push_back({"noncentral_f", [=](auto& o) { return R::noncentral_f(dfnum, 5, 2, many, o); },
                    [=](double x) {
                      const double share = dfnum * x / (dfnum * x + 5);
                      return poisson_mixture(1, [&](int k) { return beta_cdf(dfnum / 2 + k, 2.5, share); });
                    }});
  for (const double kappa : {0.0, 0.5, 4.0, 200.0})
    rows.push_back({"vonmises", [=](auto& o) { return R::vonmises(0, kappa, many, o); },
                    [=](double x) { return vonmises_cdf(kappa, x); }});
  for (const double a : {0.3, 2.5, 40.0})
    rows.push_back(
        {"gamma", [=](auto& o) { return R::gamma(a, 2, many, o); }, [=](double x) { return gamma_cdf(a, x / 2); }});
  for (const double df : {5.0})
    rows.push_back({"chisquare", [=](auto& o) { return R::chisquare(df, many, o); },
                    [=](double x) { return gamma_cdf(df / 2, x / 2); }});
  for (const auto& [a, b] : {std::pair(0.5, 0.5), std::pair(2.0, 5.0)})
    rows.push_back({"beta", [=, a = a, b = b](auto& o) { return R::beta(a, b, many, o); },
                    [=, a = a, b = b](double x) { return beta_cdf(a, b, x); }});
  return rows;
}

bool has_f64() { return ct::current_device().info().has_f64; }

}  // namespace

TEST(RandomDistributions, ContinuousOnesFollowTheirCumulativeFunctions) {
  const ct::DeviceScope host{ct::Device()};
  R::seed(31);
  for (const auto& [name, draw, cdf] : continuous()) {
    const Array single = draw({.dtype = Dtype::float32});
    EXPECT_EQ(single.dtype(), Dtype::float32) << name;
    expect_distribution(single, cdf, std::string(name) + " of float32");
    EXPECT_EQ(draw({.dtype = Dtype::bfloat16}).dtype(), Dtype::bfloat16) << name;
    const Array wide = draw({});
    EXPECT_EQ(wide.dtype(), Dtype::float64) << name;
    expect_distribution(wide, cdf, name);
    EXPECT_THROW(draw({.dtype = Dtype::int32}), ct::DtypeError) << name;
  }
}

TEST(RandomDistributions, ParametersMayBeArrays) {
  const ct::DeviceScope host{ct::Device()};
  R::seed(32);
  const R::RandomOptions single{.dtype = Dtype::float32};
  const Array a = make<float>({0.4f, 3.0f, 20.0f}), b = make<float>({1.0f, 2.0f}).reshape({2, 1});
  const Array x = R::gamma(a, b, Shape{3000, 2, 3}, single);
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 3; ++k)
      expect_distribution(
          x(ct::Slice(), i, k), [&](double v) { return gamma_cdf(a(k).item<float>(), v / b(i, 0).item<float>()); },
          "gamma of arrays");
  EXPECT_EQ(R::gamma(a, b, {}, single).shape(), (Shape{2, 3}));
  EXPECT_EQ(R::chisquare(a, {}, single).shape(), (Shape{3}));
  EXPECT_EQ(R::beta(a, b, {}, single).shape(), (Shape{2, 3}));
  EXPECT_EQ(R::pareto(a.reshape({3, 1}), Shape{3, 4}, single).shape(), (Shape{3, 4}));
  EXPECT_EQ(R::wald(a, b, {}, single).shape(), (Shape{2, 3}));
  EXPECT_EQ(R::f(a, 2, {}, single).shape(), (Shape{3}));
  EXPECT_EQ(R::standard_t(a, {}, single).shape(), (Shape{3}));
  EXPECT_EQ(R::noncentral_chisquare(a, b, {}, single).shape(), (Shape{2, 3}));
  EXPECT_EQ(R::noncentral_f(a, 2, b, {}, single).shape(), (Shape{2, 3}));
  EXPECT_EQ(R::vonmises(b, a, Shape{4, 2, 3}, single).shape(), (Shape{4, 2, 3}));
  // Degrees on both sides of 1, where the algorithm changes.
  const Array noncentral = R::noncentral_chisquare(a, b, Shape{3000, 2, 3}, single);
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 3; ++k)
      expect_distribution(
          noncentral(ct::Slice(), i, k),
          [&](double v) {
            return poisson_mixture(b(i, 0).item<float>() / 2,
                                   [&](int j) { return gamma_cdf(a(k).item<float>() / 2 + j, v / 2); });
          },
          "noncentral_chisquare of arrays");
  const Array angles = R::vonmises(make<float>({0.0f, 1.0f, -3.0f}), a, Shape{3000, 3}, single);
  for (int k = 0; k < 3; ++k) {
    const double mu = std::array{0.0, 1.0, -3.0}[static_cast<std::size_t>(k)];
    const Array turned = ct::subtract(angles(ct::Slice(), k), mu);
    const Array near = ct::subtract(turned, ct::multiply(ct::rint(ct::divide(turned, 2 * kPi)), 2 * kPi));
    expect_distribution(
        near, [&](double v) { return vonmises_cdf(a(k).item<float>(), v); }, "vonmises of arrays");
  }
  EXPECT_THROW(R::vonmises(0, a, Shape{2}, single), ct::ShapeError);
  EXPECT_THROW(R::gamma(a, b, Shape{5}, single), ct::ShapeError);
}

TEST(RandomDistributions, AtTheEnds) {
  const ct::DeviceScope host{ct::Device()};
  R::seed(33);
  const R::RandomOptions single{.dtype = Dtype::float32};
  EXPECT_EQ(R::gamma(0.0, 1.0, {4}, single).to_vector<float>(), std::vector<float>(4, 0.0f));
  EXPECT_EQ(R::gamma(2.0, 0.0, {4}, single).to_vector<float>(), std::vector<float>(4, 0.0f));
  EXPECT_EQ(R::weibull(0.0, {4}, single).to_vector<float>(), std::vector<float>(4, 0.0f));
  EXPECT_EQ(R::gamma(2.0, 1.0, {0, 3}, single).shape(), (Shape{0, 3}));
  EXPECT_EQ(R::gamma(2.0, 1.0, {}, single).ndim(), 0);
  EXPECT_EQ(R::logistic(0.0, 1.0, {2, 0}, single).size(), 0);
  EXPECT_EQ(R::vonmises(2, 1, {0, 3}, single).shape(), (Shape{0, 3}));
  EXPECT_EQ(R::vonmises(2, 1, {}, single).ndim(), 0);
  EXPECT_EQ(R::noncentral_f(2, 3, 1, {2, 0}, single).size(), 0);
  EXPECT_EQ(R::noncentral_chisquare(0.5, 1, {}, single).ndim(), 0);
  // For such large kappa, all angles are at mu, up to whole turns.
  for (const double kappa : {1e12, 3e38, 1e308})
    for (const float angle : R::vonmises(7 * kPi + 1, kappa, {50}, single).to_vector<float>())
      EXPECT_NEAR(angle, 1 - kPi, 1e-4);
  // The remainder is normal with the standard deviation 2 sqrt(nonc).
  const Array far = R::noncentral_chisquare(0.5, 1e6, {kMany}, single);
  expect_distribution(
      far, [](double x) { return normal_cdf((x - 1e6) / 2e3); }, "noncentral_chisquare far from 0");
  EXPECT_GT(ct::min(R::noncentral_chisquare(0.5, 1e38, {5}, single)).item<float>(), 9e37f);
  // In float32 both gammas would be 0. Half of the numbers are near each end.
  const Array x = R::beta(0.01, 0.01, {2000}, single);
  EXPECT_FALSE(ct::isnan(x).any());
  EXPECT_NEAR(ct::mean(ct::less(x, 0.5).astype(Dtype::float32)).item<float>(), 0.5, 0.06);
  // For a large shape a, the distribution is nearly normal with mean a and standard deviation sqrt(a).
  const std::vector<float> large = R::gamma(1e6, 1.0, {kMany}, single).to_vector<float>();
  double sum = 0, squares = 0;
  for (const float v : large) sum += v - 1e6, squares += (v - 1e6) * (v - 1e6);
  EXPECT_NEAR(sum / kMany, 0, 5 * 1000 / std::sqrt(kMany));
  EXPECT_NEAR(std::sqrt(squares / kMany), 1000, 50);
}

TEST(RandomDistributions, SameNumbersOnEveryDeviceFromOneSeed) {
  const auto expect_same = [](const char* name, auto&& draw) {
    R::Generator here{.seed = 5}, there{.seed = 5};
    const Array a = draw(R::RandomOptions{.dtype = Dtype::float32, .generator = &here});
    const Array b = draw(R::RandomOptions{.dtype = Dtype::float32, .device = ct::Device(), .generator = &there});
    EXPECT_EQ(a.device(), ct::current_device()) << name;
    EXPECT_EQ(b.device(), ct::Device()) << name;
    EXPECT_EQ(a.astype(Dtype::float32).to_vector<float>(), b.astype(Dtype::float32).to_vector<float>()) << name;
    EXPECT_EQ(here.call, there.call) << name;
  };
  for (const auto& [name, draw, cdf] : continuous()) expect_same(name, draw);
  // Parameters on the current device, which must be moved to another device explicitly.
  const Array alpha = make<float>({0.5f, 1.0f, 20.0f});
  const auto at = [](const Array& x, const R::RandomOptions& o) { return x.to_device(o.device.value_or(x.device())); };
  expect_same("gamma of arrays", [&](const R::RandomOptions& o) { return R::gamma(at(alpha, o), 2, Shape{50, 3}, o); });
  if (!has_f64()) return;  // counts require float64
  const Array p = make<double>({0.2, 0.3, 0.5});
  const auto integers = [](R::RandomOptions o) {
    o.dtype = Dtype::int32;
    return o;
  };
  expect_same("geometric", [&](const R::RandomOptions& o) { return R::geometric(0.1, {50}, integers(o)); });
  expect_same("logseries", [&](const R::RandomOptions& o) { return R::logseries(0.9, {50}, integers(o)); });
  expect_same("zipf", [&](const R::RandomOptions& o) { return R::zipf(1.5, {50}, integers(o)); });
  expect_same("negative_binomial", [&](const R::RandomOptions& o) {
    return R::negative_binomial(at(p, o), 0.2, Shape{50, 3}, integers(o));
  });
  expect_same("multinomial", [&](const R::RandomOptions& o) { return R::multinomial(9, at(p, o), {50}, integers(o)); });
}

TEST(RandomDistributions, Dirichlet) {
  EXPECT_NEAR(ct::sum(R::dirichlet(make<float>({0.5f, 2.0f}), {20}, {.dtype = Dtype::float32})).item<float>(), 20,
              1e-4);
  const ct::DeviceScope host{ct::Device()};
  R::seed(34);
  const R::RandomOptions single{.dtype = Dtype::float32};
  const Array alpha = make<float>({0.5f, 1.0f, 2.5f});
  const Array x = R::dirichlet(alpha, {kMany}, single);
  EXPECT_EQ(x.shape(), (Shape{kMany, 3}));
  for (const float total : ct::sum(x, 1).to_vector<float>()) EXPECT_NEAR(total, 1, 1e-6);
  for (int k = 0; k < 3; ++k) {
    const double a = alpha(k).item<float>();
    expect_distribution(
        x(ct::Slice(), k), [&](double v) { return beta_cdf(a, 4 - a, v); }, "a share of dirichlet");
  }
  EXPECT_EQ(R::dirichlet(alpha, {}, single).shape(), (Shape{3}));
  EXPECT_EQ(R::dirichlet(alpha, {2, 0}, single).shape(), (Shape{2, 0, 3}));
  EXPECT_FALSE(ct::isnan(R::dirichlet(ct::multiply(alpha, 1e-3), {500}, single)).any());
  EXPECT_THROW(R::dirichlet(alpha.reshape({1, 3}), {}, single), ct::ShapeError);
  EXPECT_THROW(R::dirichlet(make<float>({1.0f, 0.0f}), {}, single), ct::ValueError);
}

TEST(RandomDistributions, MultivariateNormal) {
  const ct::Device device = ct::current_device();
  const ct::DeviceScope host{ct::Device()};
  R::seed(35);
  const R::RandomOptions single{.dtype = Dtype::float32};
  const Array mean = make<float>({1.0f, -2.0f, 0.5f});
  const Array cov = make<float>({4.0f, 1.2f, 0.0f, 1.2f, 1.0f, -0.3f, 0.0f, -0.3f, 0.25f}).reshape({3, 3});
  const Array x = R::multivariate_normal(mean, cov, {kMany}, single);
  EXPECT_EQ(x.shape(), (Shape{kMany, 3}));
  const std::vector<std::vector<double>> directions = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {1, -2, 3}};
  for (const std::vector<double>& w : directions) {
    double expected = 0, variance = 0;
    Array along = ct::multiply(x(ct::Slice(), 0), w[0]);
    for (int i = 1; i < 3; ++i) along = ct::add(along, ct::multiply(x(ct::Slice(), i), w[static_cast<std::size_t>(i)]));
    for (int i = 0; i < 3; ++i) {
      expected += w[static_cast<std::size_t>(i)] * mean(i).item<float>();
      for (int j = 0; j < 3; ++j)
        variance += w[static_cast<std::size_t>(i)] * w[static_cast<std::size_t>(j)] * cov(i, j).item<float>();
    }
    expect_distribution(
        along, [&](double v) { return normal_cdf((v - expected) / std::sqrt(variance)); },
        "multivariate_normal along a direction");
  }
  R::Generator here{.seed = 5}, there{.seed = 5};
  const Array a = R::multivariate_normal(mean, cov, {50}, {.dtype = Dtype::float32, .generator = &here});
  const Array b = R::multivariate_normal(mean.to_device(device), cov.to_device(device), {50},
                                         {.dtype = Dtype::float32, .generator = &there});
  EXPECT_EQ(b.device(), device);
  const std::vector<float> expected = a.to_vector<float>(), got = b.to_vector<float>();
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-3);
  EXPECT_EQ(R::multivariate_normal(mean, cov, {}, single).shape(), (Shape{3}));
  EXPECT_EQ(R::multivariate_normal(mean, cov, {2, 5}, single).shape(), (Shape{2, 5, 3}));
  // rank 1: all points on a line
  const Array line = R::multivariate_normal(make<float>({0.0f, 0.0f}),
                                            make<float>({1.0f, 2.0f, 2.0f, 4.0f}).reshape({2, 2}), {50}, single);
  EXPECT_LT(
      ct::max(ct::absolute(ct::subtract(line(ct::Slice(), 1), ct::multiply(line(ct::Slice(), 0), 2)))).item<float>(),
      1e-2);
  EXPECT_THROW(R::multivariate_normal(mean, cov(0), {}, single), ct::ShapeError);
  EXPECT_THROW(R::multivariate_normal(make<float>({0.0f, 0.0f}), make<float>({1.0f, 2.0f, 2.0f, 1.0f}).reshape({2, 2}),
                                      {}, single),
               ct::ValueError);
  EXPECT_THROW(R::multivariate_normal(make<float>({0.0f, 0.0f}), make<float>({1.0f, 0.5f, 0.0f, 1.0f}).reshape({2, 2}),
                                      {}, single),
               ct::ValueError);
}

TEST(RandomDistributions, Counts) {
  const ct::DeviceScope host{ct::Device()};
  R::seed(36);
  for (const double p : {0.05, 0.3, 0.9}) {
    const Array x = R::geometric(p, {kMany});
    EXPECT_EQ(x.dtype(), Dtype::int64);
    EXPECT_GE(ct::min(x).item<std::int64_t>(), 1);
    expect_counts(
        x, [&](std::int64_t k) { return p * std::pow(1 - p, static_cast<double>(k - 1)); }, 1, 200, "geometric");
  }
  EXPECT_EQ(R::geometric(1.0, {5}).to_vector<std::int64_t>(), std::vector<std::int64_t>(5, 1));
  EXPECT_GE(R::geometric(1e-300, {5}).to_vector<std::int64_t>()[0], 1);
  EXPECT_EQ(R::geometric(make<double>({0.1, 0.5}), Shape{4, 2}).shape(), (Shape{4, 2}));
  EXPECT_EQ(R::geometric(0.5, {3}, {.dtype = Dtype::int32}).dtype(), Dtype::int32);

  const auto ways = [](int n, int k) {
    return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0));
  };
  expect_counts(
      R::hypergeometric(12, 30, 15, {kMany}),
      [&](std::int64_t k) { return ways(12, static_cast<int>(k)) * ways(30, 15 - static_cast<int>(k)) / ways(42, 15); },
      0, 12, "hypergeometric");
  EXPECT_EQ(R::hypergeometric(3, 0, 2, {4}).to_vector<std::int64_t>(), std::vector<std::int64_t>(4, 2));
  EXPECT_EQ(
      R::hypergeometric(make<std::int64_t>({3, 0, 5}), 0, make<std::int64_t>({2, 0, 5})).to_vector<std::int64_t>(),
      (std::vector<std::int64_t>{2, 0, 5}));
  const Array corners =
      R::triangular(make<double>({0.0, 5.0}), make<double>({0.0, 6.0}), make<double>({1.0, 6.0}), Shape{kMany, 2});
  const auto mean = ct::mean(corners, 0).to_vector<double>();
  EXPECT_NEAR(mean[0], 1.0 / 3, 0.02);
  EXPECT_NEAR(mean[1], 17.0 / 3, 0.02);

  const Array p = make<double>({0.2, 0.0, 0.5, 0.3});
  const Array x = R::multinomial(20, p, {kMany});
  EXPECT_EQ(x.shape(), (Shape{kMany, 4}));
  EXPECT_EQ(ct::sum(x, 1).to_vector<std::int64_t>(), std::vector<std::int64_t>(kMany, 20));
  EXPECT_EQ(ct::max(x(ct::Slice(), 1)).item<std::int64_t>(), 0);
  for (const int outcome : {0, 2, 3})
    expect_counts(
        x(ct::Slice(), outcome),
        [&](std::int64_t k) {
          const double q = p(outcome).item<double>(), n = static_cast<double>(k);
          return ways(20, static_cast<int>(k)) * std::pow(q, n) * std::pow(1 - q, 20 - n);
        },
        0, 20, "an outcome of multinomial");
  EXPECT_EQ(R::multinomial(7, make<double>({1.0})).to_vector<std::int64_t>(), std::vector<std::int64_t>{7});
  EXPECT_EQ(R::multinomial(0, p, {2, 3}).shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(R::multinomial(5, p, {0}).shape(), (Shape{0, 4}));
  const std::int64_t large = 1'100'000;  // more than one round
  EXPECT_NEAR(static_cast<double>(R::multinomial(large, p)(2).item<std::int64_t>()), 5.5e5, 5 * std::sqrt(2.75e5));
}

TEST(RandomDistributions, CountsWithoutAnEnd) {
  const ct::DeviceScope host{ct::Device()};
  R::seed(37);
  for (const double p : {1e-3, 0.3, 0.9, 0.999}) {
    const auto probability = [&](std::int64_t k) {
      const double n = static_cast<double>(k);
      return -std::pow(p, n) / (n * std::log1p(-p));
    };
    const Array x = R::logseries(p, {kMany});
    EXPECT_EQ(x.dtype(), Dtype::int64);
    EXPECT_GE(ct::min(x).item<std::int64_t>(), 1);
    if (p > 0.1)
      expect_counts(x, probability, 1, 400, "logseries");
    else
      EXPECT_LT(ct::mean(x).item<double>(), 1 + 5 * std::sqrt(p / 2 / kMany) + p / 2);
  }
  // Probabilities next to 1: half of the numbers have logarithms below half of log(1 / (1 - p)).
  const Array wide = R::logseries(1 - 0x1p-53, {kMany});
  EXPECT_NEAR(ct::mean(ct::less(wide, std::exp2(26.5)).astype(Dtype::float64)).item<double>(), 0.5, 0.05);
  EXPECT_GE(ct::min(wide).item<std::int64_t>(), 1);

  for (const auto& [n, p] : {std::pair(0.4, 0.2), std::pair(1.0, 0.5), std::pair(5.5, 0.3), std::pair(300.0, 0.9)}) {
    const auto probability = [&, n = n, p = p](std::int64_t count) {
      const double k = static_cast<double>(count);
      return std::exp(std::lgamma(n + k) - std::lgamma(k + 1) - std::lgamma(n) + n * std::log(p) + k * std::log1p(-p));
    };
    const Array x = R::negative_binomial(n, p, {kMany});
    EXPECT_EQ(x.dtype(), Dtype::int64);
    EXPECT_GE(ct::min(x).item<std::int64_t>(), 0);
    expect_counts(x, probability, 0, 200, "negative_binomial");
  }
  EXPECT_EQ(R::negative_binomial(3, 1, {4}).to_vector<std::int64_t>(), std::vector<std::int64_t>(4, 0));
  // A mean of 10^13 with the standard deviation of the gamma distribution, beside which the Poisson part is negligible.
  expect_distribution(
      R::negative_binomial(2.5, 1e-13, {kMany}), [](double x) { return gamma_cdf(2.5, x * 1e-13); },
      "negative_binomial of large numbers");

  for (const double a : {1.5, 2.0, 4.0}) {
    double zeta = 0;
    constexpr int terms = 1000;
    for (int k = terms; k > 0; --k) zeta += std::pow(k, -a);
    zeta += std::pow(terms + 0.5, 1 - a) / (a - 1);
    const Array x = R::zipf(a, {kMany});
    EXPECT_EQ(x.dtype(), Dtype::int64);
    EXPECT_GE(ct::min(x).item<std::int64_t>(), 1);
    expect_counts(
        x, [&](std::int64_t k) { return std::pow(static_cast<double>(k), -a) / zeta; }, 1, 400, "zipf");
  }
  EXPECT_EQ(R::zipf(INFINITY, {4}).to_vector<std::int64_t>(), std::vector<std::int64_t>(4, 1));
  EXPECT_EQ(R::zipf(2000, {4}).to_vector<std::int64_t>(), std::vector<std::int64_t>(4, 1));
  // Distributed as 1 / k from 1 to 255, and over all of int64, where half of the numbers are below the root of the
  // largest.
  double harmonic = 0;
  for (int k = 1; k < 256; ++k) harmonic += 1.0 / k;
  const double least_above_1 = 1 + 0x1p-52;
  const Array small = R::zipf(least_above_1, {kMany}, {.dtype = Dtype::uint8});
  EXPECT_EQ(small.dtype(), Dtype::uint8);
  expect_counts(
      small.astype(Dtype::int64), [&](std::int64_t k) { return 1 / (static_cast<double>(k) * harmonic); }, 1, 255,
      "zipf of uint8");
  const Array all = R::zipf(least_above_1, {kMany});
  EXPECT_GE(ct::min(all).item<std::int64_t>(), 1);
  EXPECT_NEAR(ct::mean(ct::less(all, 3037000500.0).astype(Dtype::float64)).item<double>(), 0.5, 0.05);

  const Array p = make<double>({0.2, 0.9}), n = make<float>({3.0f, 0.5f, 10.0f}).reshape({3, 1});
  const Array both = R::negative_binomial(n, p, Shape{kMany, 3, 2});
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 2; ++k) {
      const double chance = p(k).item<double>(), mean = n(i, 0).item<float>() * (1 - chance) / chance;
      EXPECT_NEAR(ct::mean(both(ct::Slice(), i, k)).item<double>(), mean, 5 * std::sqrt(mean / chance / kMany));
    }
  const Array two = R::zipf(make<double>({3.5, 8.0}), Shape{kMany, 2});
  EXPECT_NEAR(ct::mean(ct::equal(two, 1).astype(Dtype::float64), 0).to_vector<double>()[0], 0.887, 0.03);
  EXPECT_NEAR(ct::mean(ct::equal(two, 1).astype(Dtype::float64), 0).to_vector<double>()[1], 0.996, 0.006);
  EXPECT_NEAR(ct::mean(R::logseries(p, Shape{kMany, 2}), 0).to_vector<double>()[1], 3.909, 0.4);
  EXPECT_EQ(R::logseries(p).shape(), (Shape{2}));
  EXPECT_EQ(R::negative_binomial(n, p).shape(), (Shape{3, 2}));
  EXPECT_EQ(R::zipf(2).ndim(), 0);
  EXPECT_EQ(R::negative_binomial(2, 0.5).ndim(), 0);
  EXPECT_EQ(R::zipf(2, {0, 3}).shape(), (Shape{0, 3}));
  EXPECT_EQ(R::negative_binomial(2, 0.5, {0}).shape(), Shape{0});
  EXPECT_EQ(R::logseries(0.5, {3}, {.dtype = Dtype::int32}).dtype(), Dtype::int32);
  EXPECT_THROW(R::zipf(make<double>({3.5, 8.0}), Shape{3}), ct::ShapeError);
  EXPECT_THROW(R::negative_binomial(n, p, Shape{3}), ct::ShapeError);
}

TEST(RandomDistributions, BadArguments) {
  using ct::ValueError;
  EXPECT_THROW(R::logistic(0, -1), ValueError);
  EXPECT_THROW(R::lognormal(0, -1), ValueError);
  EXPECT_THROW(R::rayleigh(-1), ValueError);
  EXPECT_THROW(R::pareto(0.0), ValueError);
  EXPECT_THROW(R::weibull(-1.0), ValueError);
  EXPECT_THROW(R::power(0.0), ValueError);
  EXPECT_THROW(R::triangular(1, 0, 2), ValueError);
  EXPECT_THROW(R::triangular(1, 1, 1), ValueError);
  EXPECT_THROW(R::triangular(make<float>({0.0f, 2.0f}), 1, 3), ValueError);
  EXPECT_THROW(R::hypergeometric(make<std::int64_t>({3, -1}), 4, 1), ValueError);
  EXPECT_THROW(R::hypergeometric(2.5, 4, 1), ValueError);
  EXPECT_THROW(R::wald(0.0, 1.0), ValueError);
  for (const double nan : {-1.0, std::nan(""), static_cast<double>(INFINITY)}) {
    EXPECT_THROW(R::noncentral_chisquare(nan, 1), ValueError);
    EXPECT_THROW(R::noncentral_chisquare(1, nan), ValueError);
    EXPECT_THROW(R::noncentral_f(nan, 1, 1), ValueError);
    EXPECT_THROW(R::noncentral_f(1, nan, 1), ValueError);
    EXPECT_THROW(R::noncentral_f(1, 1, nan), ValueError);
    EXPECT_THROW(R::vonmises(0, nan), ValueError);
    EXPECT_THROW(R::logseries(nan), ValueError);
    EXPECT_THROW(R::negative_binomial(nan, 0.5), ValueError);
    EXPECT_THROW(R::negative_binomial(1, nan), ValueError);
  }
  EXPECT_THROW(R::noncentral_chisquare(0, 1), ValueError);
  EXPECT_THROW(R::noncentral_f(1, 0, 1), ValueError);
  for (const double p : {0.0, 1.0}) EXPECT_THROW(R::logseries(p), ValueError);
  EXPECT_THROW(R::negative_binomial(0, 0.5), ValueError);
  EXPECT_THROW(R::negative_binomial(1, 0), ValueError);
  for (const double a : {1.0, 0.5, std::nan("")}) EXPECT_THROW(R::zipf(a), ValueError);
  const ct::Array good = make<float>({1.0f, 0.5f}), bad = make<float>({1.0f, -1.0f}), none = make<float>({1.0f, 0.0f});
  for (const ct::Array& x : {bad, make<float>({1.0f, std::nanf("")})}) {
    EXPECT_THROW(R::normal(0, x), ValueError);
    EXPECT_THROW(R::exponential(x), ValueError);
    EXPECT_THROW(R::laplace(good, x), ValueError);
    EXPECT_THROW(R::lognormal(0, x), ValueError);
    EXPECT_THROW(R::weibull(x), ValueError);
    EXPECT_THROW(R::gamma(good, x), ValueError);
    EXPECT_THROW(R::bernoulli(x), ValueError);
  }
  EXPECT_THROW(R::pareto(none), ValueError);
  EXPECT_THROW(R::noncentral_chisquare(good, bad), ValueError);
  EXPECT_THROW(R::noncentral_f(1, none, good), ValueError);
  EXPECT_THROW(R::vonmises(good, bad), ValueError);
  EXPECT_THROW(R::logseries(good), ValueError);
  EXPECT_THROW(R::negative_binomial(none, good), ValueError);
  EXPECT_THROW(R::zipf(good), ValueError);
  EXPECT_THROW(R::power(none), ValueError);
  EXPECT_THROW(R::wald(good, none), ValueError);
  EXPECT_THROW(R::geometric(none), ValueError);
  EXPECT_THROW(R::geometric(make<float>({0.5f, 1.5f})), ValueError);
  EXPECT_NO_THROW(R::normal(0, none));
  EXPECT_NO_THROW(R::exponential(make<int>({0, 3})));
  EXPECT_NO_THROW(R::exponential(make<float>({})));
  EXPECT_NO_THROW(R::geometric(good));
  EXPECT_THROW(R::gamma(-1.0), ValueError);
  EXPECT_THROW(R::gamma(std::nan("")), ValueError);
  EXPECT_THROW(R::gamma(INFINITY), ValueError);
  EXPECT_THROW(R::gamma(1.0, -1.0), ValueError);
  EXPECT_THROW(R::gamma(make<float>({1.0f, -1.0f})), ValueError);
  EXPECT_THROW(R::chisquare(0.0), ValueError);
  EXPECT_THROW(R::standard_t(0.0), ValueError);
  EXPECT_THROW(R::f(0.0, 1.0), ValueError);
  EXPECT_THROW(R::beta(1.0, 0.0), ValueError);
  EXPECT_THROW(R::geometric(0.0), ValueError);
  EXPECT_THROW(R::geometric(1.5), ValueError);
  EXPECT_THROW(R::hypergeometric(3, 4, 8), ValueError);
  EXPECT_THROW(R::hypergeometric(-3, 4, 1), ValueError);
  if (!has_f64()) return;
  EXPECT_THROW(R::negative_binomial(1, 1e-30), ValueError);  // too many to count
  EXPECT_THROW(R::multinomial(-1, make<double>({0.5, 0.5})), ValueError);
  EXPECT_THROW(R::multinomial(1, make<double>({0.7, 0.7, 0.1})), ValueError);
  EXPECT_THROW(R::multinomial(1, make<double>({-0.1, 1.1})), ValueError);
  EXPECT_THROW(R::multinomial(1, make<double>({0.5, 0.5}).reshape({2, 1})), ct::ShapeError);
}
