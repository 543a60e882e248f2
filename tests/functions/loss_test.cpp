#include "catenary/functions/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/functions/functions.h"
#include "tests/autograd/helpers.h"
#include "tests/functions/helpers.h"
#include "tests/gradients.h"
#include "tests/settle.h"

namespace catenary {
namespace {

namespace F = functions;
using namespace gradient_check;
using F::Reduce;
using test::values;
using V = std::vector<Variable>;
using test::check;
using test::numbers;

TEST(Loss, GradientsOfEveryReduce) {
  const Array a = numbers({4, 3}, 0), b = numbers({4, 3}, 1), c = numbers({4, 3}, 2);
  const Array labels = array<int>({1, 0, 0, 1}), bits = array<int>({{0, 1, -1}, {1, 1, 0}, {0, 0, 1}, {-1, 1, 0}});
  for (const Reduce reduce : {Reduce::mean, Reduce::no}) {
    for (const bool normalize : {true, false})
      check("sigmoid_cross_entropy",
            [&](const V& x) { return V{F::sigmoid_cross_entropy(x[0], bits, normalize, reduce)}; }, {a});
    check("hinge", [&](const V& x) { return V{F::square(F::hinge(x[0], labels, F::HingeNorm::L1, reduce))}; }, {a});
    check("hinge L2", [&](const V& x) { return V{F::hinge(x[0], labels, F::HingeNorm::L2, reduce)}; }, {a});
    check("contrastive", [&](const V& x) { return V{F::contrastive(x[0], x[1], labels, 2, reduce)}; }, {a, b});
    check("triplet", [&](const V& x) { return V{F::triplet(x[0], x[1], x[2], 0.2, reduce)}; }, {a, b, c});
  }
  for (const Reduce reduce : {Reduce::sum_along_second_axis, Reduce::no})
    check("huber_loss", [&](const V& x) { return V{F::square(F::huber_loss(x[0], x[1], 0.5, reduce))}; }, {a, b});
  for (const Reduce reduce : {Reduce::half_squared_sum, Reduce::no}) {
    check("cross_covariance", [&](const V& x) { return V{F::cross_covariance(x[0], x[1], reduce)}; },
          {a, numbers({4, 2}, 3)});
    check("decov", [&](const V& x) { return V{F::decov(x[0], reduce)}; }, {a});
  }
  for (const Reduce reduce : {Reduce::sum, Reduce::mean, Reduce::no}) {
    check("gaussian_kl_divergence", [&](const V& x) { return V{F::gaussian_kl_divergence(x[0], x[1], reduce)}; },
          {a, b});
    check("gaussian_nll", [&](const V& x) { return V{F::gaussian_nll(x[0], x[1], x[2], reduce)}; }, {a, b, c});
    check("bernoulli_nll", [&](const V& x) { return V{F::bernoulli_nll(x[0], x[1], reduce)}; }, {a, b});
  }
  check("mean_squared_error", [&](const V& x) { return V{F::mean_squared_error(x[0], x[1])}; }, {a, b});
  check("squared_error", [&](const V& x) { return V{F::squared_error(x[0], x[1])}; }, {a, b});
}

TEST(Loss, Values) {
  const Array x = array<double>({{-2, 3, 0.5}, {5, 2, -0.5}});
  EXPECT_DOUBLE_EQ(F::hinge(x, array<int>({1, 0})).item<double>(), 2.5);
  EXPECT_DOUBLE_EQ(F::hinge(x, array<int>({1, 0}), F::HingeNorm::L2).item<double>(), 5.75);
  EXPECT_EQ(values(F::huber_loss(x, array<double>({{-2, 3, 0}, {10, 2, -0.5}}), 1).array()),
            (std::vector<double>{0.125, 4.5}));
  EXPECT_DOUBLE_EQ(F::mean_squared_error(x, zeros({2, 3})).item<double>(), (4 + 9 + 0.25 + 25 + 4 + 0.25) / 6);
  EXPECT_DOUBLE_EQ(F::mean_absolute_error(x, zeros({2, 3})).item<double>(), 13.0 / 6);
  // where exp overflows
  assert_allclose(F::sigmoid_cross_entropy(array<double>({-1000, 1000}), array<int>({1, 1}), true, Reduce::no).array(),
                  array<double>({1000, 0}));
  EXPECT_EQ(F::sigmoid_cross_entropy(array<double>({1, 2}), array<int>({-1, -1})).item<double>(), 0);
  assert_allclose(F::bernoulli_nll(ones({1}), array<double>({-1000})).array(), array<double>(1000.0));
}

TEST(Loss, EqualPairsHaveAGradient) {
  const Variable x0(ones({2, 3})), x1(ones({2, 3}));
  const Variable y = F::contrastive(x0, x1, array<int>({1, 0}), 1.5);
  EXPECT_DOUBLE_EQ(y.item<double>(), 1.5 * 1.5 / 2 / 2);
  for (const Variable& g : grad({y}, {x0, x1})) EXPECT_EQ(values(g.array()), std::vector<double>(6, 0.0));
}

/// The losses of De Brabandere et al., element by element.
std::array<double, 3> clustering_losses(const Array& e, const Array& labels, double delta_v, double delta_d, int norm) {
  const std::vector<double> x = e.to_vector<double>();
  const std::vector<std::int64_t> t = labels.to_vector<std::int64_t>();
  const int n = static_cast<int>(e.shape(0)), d = static_cast<int>(e.shape(1)),
            pixels = static_cast<int>(e.shape(2) * e.shape(3));
  const auto length = [&](const std::vector<double>& v) {
    double total = 0;
    for (const double value : v) total += norm == 1 ? std::abs(value) : value * value;
    return norm == 1 ? total : std::sqrt(total);
  };
  std::vector<std::vector<std::vector<double>>> centers(static_cast<std::size_t>(d));
  double variance = 0, distance = 0, size = 0;
  for (int c = 0; c < d; ++c) {
    double spread = 0;
    int members = 0;
    for (int i = 0; i < n; ++i) {
      std::vector<double> center(static_cast<std::size_t>(d));
      int count = 0;
      const auto at = [&](int k, int p) { return x[static_cast<std::size_t>((i * d + k) * pixels + p)]; };
      const auto member = [&](int p) { return t[static_cast<std::size_t>(i * pixels + p)] == c + 1; };
      for (int p = 0; p < pixels; ++p) count += member(p);
      for (int p = 0; p < pixels; ++p)
        for (int k = 0; k < d; ++k)
          if (member(p)) center[static_cast<std::size_t>(k)] += at(k, p) / count;
      for (int p = 0; p < pixels; ++p) {
        if (!member(p)) continue;
        std::vector<double> off;
        for (int k = 0; k < d; ++k) off.push_back(center[static_cast<std::size_t>(k)] - at(k, p));
        spread += std::pow(std::max(length(off) - delta_v, 0.0), 2);
      }
      members += count;
      centers[static_cast<std::size_t>(c)].push_back(center);
    }
    variance += spread / std::max(members, 1) / d;
  }
  int pairs = 0;
  std::vector<double> sizes(static_cast<std::size_t>(1));
  for (int a = 0; a < d; ++a) {
    std::vector<double> everything;
    for (const auto& center : centers[static_cast<std::size_t>(a)])
      everything.insert(everything.end(), center.begin(), center.end());
    size += length(everything) / (d * n);
    for (int b = a + 1; b < d; ++b, ++pairs)
      for (int i = 0; i < n; ++i) {
        std::vector<double> off;
        for (int k = 0; k < d; ++k)
          off.push_back(centers[static_cast<std::size_t>(a)][static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] -
                        centers[static_cast<std::size_t>(b)][static_cast<std::size_t>(i)][static_cast<std::size_t>(k)]);
        distance += std::pow(std::max(2 * delta_d - length(off), 0.0), 2);
      }
  }
  return {variance, distance / std::max(pairs * n, 1), size * 0.001};
}

TEST(Loss, Clustering) {
  const Array e = numbers({2, 3, 2, 4}) * 2, labels = (arange(16) % 4).reshape({2, 2, 4});
  for (const int norm : {1, 2}) {
    const auto got = F::discriminative_margin_based_clustering_loss(e, labels, 0.5, 1.5, 3, {.norm = norm});
    const auto expected = clustering_losses(e, labels, 0.5, 1.5, norm);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(got[i].item<double>(), expected[i], 1e-12) << norm << " " << i;
  }
  const Function f = [&](const V& x) {
    const auto all = F::discriminative_margin_based_clustering_loss(x[0], labels, 0.5, 1.5, 3, {.norm = 2});
    return V(all.begin(), all.end());
  };
  const auto scope = tests::one_by_one_on_devices();
  EXPECT_NO_THROW(check_backward(f, {e}));
}

TEST(Loss, ErrorsBeginWithTheFunctionsName) {
  const Array x = zeros({2, 3}), shorter = zeros({3}), integers = zeros({2, 3}, Dtype::int32);
  const std::vector<std::pair<std::string, std::function<Variable(const Array&, const Array&)>>> functions = {
      {"squared_error", [](auto& a, auto& b) { return F::squared_error(a, b); }},
      {"absolute_error", [](auto& a, auto& b) { return F::absolute_error(a, b); }},
      {"mean_squared_error", [](auto& a, auto& b) { return F::mean_squared_error(a, b); }},
      {"mean_absolute_error", [](auto& a, auto& b) { return F::mean_absolute_error(a, b); }},
      {"huber_loss", [](auto& a, auto& b) { return F::huber_loss(a, b, 1); }},
      {"bernoulli_nll", [](auto& a, auto& b) { return F::bernoulli_nll(a, b); }},
      {"sigmoid_cross_entropy", [](auto& a, auto& b) { return F::sigmoid_cross_entropy(b, a); }}};
  for (const auto& [name, function] : functions) {
    for (const Array& other : {shorter, integers}) {
      std::string text;
      try {
        function(x, other);
      } catch (const Error& error) {
        text = error.what();
      }
      EXPECT_TRUE(text.starts_with(name + ": ")) << name << " reports: " << text;
    }
  }
}

TEST(Loss, Errors) {
  const Array x = zeros({2, 3}), t = array<int>({0, 1}), f32 = zeros({2, 3}, Dtype::float32);
  EXPECT_THROW(F::mean_squared_error(x, zeros({3})), ShapeError);
  EXPECT_THROW(F::squared_error(x, f32), DtypeError);
  EXPECT_THROW(F::sigmoid_cross_entropy(x, t), ShapeError);
  EXPECT_THROW(F::sigmoid_cross_entropy(x, x), DtypeError);
  EXPECT_THROW(tests::settle([&] { F::hinge(x, array<int>({0, 3})); }), IndexError);
  EXPECT_THROW(F::hinge(x, array<int>({0})), ShapeError);
  EXPECT_THROW(F::hinge(x, t, F::HingeNorm::L1, Reduce::sum), ValueError);
  EXPECT_THROW(F::contrastive(x, x, t, 0), ValueError);
  EXPECT_THROW(F::contrastive(x, x, array<double>({0, 1})), DtypeError);
  EXPECT_THROW(F::triplet(x, x, x, -1), ValueError);
  EXPECT_THROW(F::triplet(x, x, f32), DtypeError);
  EXPECT_THROW(F::cross_covariance(x, zeros({3, 3})), ShapeError);
  EXPECT_THROW(F::decov(x, Reduce::mean), ValueError);
  EXPECT_THROW(F::gaussian_nll(x, x, zeros({1})), ShapeError);
  EXPECT_THROW(F::bernoulli_nll(x, x, Reduce::half_squared_sum), ValueError);
  EXPECT_THROW(F::discriminative_margin_based_clustering_loss(x, t, 0.5, 1.5, 3), ShapeError);
}

}  // namespace
}  // namespace catenary
