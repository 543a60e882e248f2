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
using F::Reduce;
using test::values;
using V = std::vector<Variable>;
using test::check;
using test::numbers;

/// A chain of three times for two sequences, the second of which ends after the first time.
Array transition_cost() { return numbers({3, 3}, 1); }
std::vector<Array> chain_scores() { return {numbers({2, 3}, 2) * 2, numbers({1, 3}, 3) * 2, numbers({1, 3}, 4) * 2}; }
std::vector<Variable> chain_labels() { return {array<int>({2, 1}), array<int>({0}), array<int>({1})}; }

double score(int a, int b, int c) {
  const auto x = [](int time, int label) {
    return chain_scores()[static_cast<std::size_t>(time)](0, label).item<double>();
  };
  const auto cost = [](int from, int to) { return transition_cost()(from, to).item<double>(); };
  return x(0, a) + x(1, b) + x(2, c) + cost(a, b) + cost(b, c);
}

TEST(Crf1d, EqualsTheSumOverAllPaths) {
  const std::vector<double> losses = values(
      F::crf1d(transition_cost(), {chain_scores()[0], chain_scores()[1], chain_scores()[2]}, chain_labels(), Reduce::no)
          .array());
  double z = 0, best = -1e9;
  std::vector<int> best_path;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 3; ++c) {
        z += std::exp(score(a, b, c));
        if (score(a, b, c) > best) {
          best = score(a, b, c);
          best_path = {a, b, c};
        }
      }
  EXPECT_NEAR(losses[0], std::log(z) - score(2, 0, 1), 1e-12);
  const std::vector<double> second = values(chain_scores()[0](1));
  EXPECT_NEAR(losses[1], std::log(std::exp(second[0]) + std::exp(second[1]) + std::exp(second[2])) - second[1], 1e-12);

  const auto [scores, path] =
      F::argmax_crf1d(transition_cost(), {chain_scores()[0], chain_scores()[1], chain_scores()[2]});
  EXPECT_NEAR(values(scores.array())[0], best, 1e-12);
  EXPECT_DOUBLE_EQ(values(scores.array())[1], *std::max_element(second.begin(), second.end()));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(path[i](0).item<int>(), best_path[i]);
  EXPECT_EQ(path[0](1).item<std::int64_t>(), chain_scores()[0](1).argmax().item<std::int64_t>());
  EXPECT_EQ(path[0].shape(), (Shape{2}));
  EXPECT_EQ(path[1].shape(), (Shape{1}));
}

TEST(Crf1d, GradientsAndErrors) {
  check("crf1d",
        [](const V& x) {
          return V{F::crf1d(x[0], {x[1], x[2], x[3]}, chain_labels())};
        },
        {transition_cost(), chain_scores()[0], chain_scores()[1], chain_scores()[2]});
  EXPECT_THROW(F::crf1d(transition_cost(), {}, {}), ValueError);
  EXPECT_THROW(F::crf1d(transition_cost(), {chain_scores()[0]}, chain_labels()), ValueError);
  EXPECT_THROW(
      F::crf1d(transition_cost(), {chain_scores()[1], chain_scores()[0]}, {chain_labels()[1], chain_labels()[0]}),
      ShapeError);
  EXPECT_THROW(F::crf1d(numbers({3, 2}), {chain_scores()[0]}, {chain_labels()[0]}), ShapeError);
  EXPECT_THROW(F::crf1d(transition_cost(), {chain_scores()[0]}, {Variable(zeros({2}))}), DtypeError);
}

TEST(NegativeSampling, ValuesGradientsAndErrors) {
  const Array x = numbers({3, 2}, 0), t = array<int>({1, -1, 0}), W = numbers({4, 2}, 1);
  const Array drawn = array<int>({{9, 2, 3}, {9, 0, 0}, {9, 1, 1}});
  const F::Sampler sampler = [&](const Shape&) { return drawn; };
  Array samples;
  const Variable y = F::negative_sampling(x, t, W, sampler, 2, Reduce::no, &samples);
  EXPECT_EQ(values(samples(slice(), 0)), (std::vector<double>{1, -1, 0}));
  EXPECT_EQ(values(drawn)[0], 9);  // the sampler's array is not changed
  const auto dot = [&](int i, int c) { return (x[i] * W[c]).sum().item<double>(); };
  const auto softplus = [](double v) { return std::log1p(std::exp(v)); };
  assert_allclose(y.array(),
                  array<double>({softplus(-dot(0, 1)) + softplus(dot(0, 2)) + softplus(dot(0, 3)), 0,
                                 softplus(-dot(2, 0)) + 2 * softplus(dot(2, 1))}),
                  1e-12, 1e-12);
  for (const Reduce reduce : {Reduce::sum, Reduce::no})
    check("negative_sampling", [&](const V& v) { return V{F::negative_sampling(v[0], t, v[1], sampler, 2, reduce)}; },
          {x, W});
  EXPECT_THROW(F::negative_sampling(x, t, W, sampler, 3), ShapeError);
  EXPECT_THROW(F::negative_sampling(x, t, numbers({4, 3}), sampler, 2), ShapeError);
  EXPECT_THROW(F::negative_sampling(x, x, W, sampler, 2), DtypeError);
  EXPECT_THROW(F::negative_sampling(x, t, W, sampler, 2, Reduce::mean), ValueError);
}

TEST(BlackOut, GradientsAndErrors) {
  const Array x = numbers({3, 2}, 0), t = array<int>({1, 3, 0}), W = numbers({4, 2}, 1);
  const Array samples = array<int>({{2, 3}, {0, 0}, {1, 1}});
  for (const Reduce reduce : {Reduce::mean, Reduce::no})
    check("black_out", [&](const V& v) { return V{F::black_out(v[0], t, v[1], samples, reduce)}; }, {x, W});
  EXPECT_THROW(F::black_out(x, t, W, array<int>({{1}})), ShapeError);
  EXPECT_THROW(F::black_out(x, t, W, samples, Reduce::sum), ValueError);
}

}  // namespace
}  // namespace catenary
