// connectionist_temporal_classification against the sum over all paths, and its gradient against differences.

#include <gtest/gtest.h>

#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/indexing.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/functions/functions.h"
#include "tests/autograd/helpers.h"
#include "tests/gradients.h"

namespace catenary {
namespace {

namespace F = functions;
using test::array;
using test::values;
using V = std::vector<Variable>;

constexpr std::int64_t kTimes = 5, kBatch = 4, kSymbols = 3;

Array numbers(const Shape& shape, double seed = 1) {
  return catenary::sin(arange(shape.product(), Dtype::float64) * 1.7 + seed).reshape(shape) * 2.0;
}
V scores(Dtype dtype = Dtype::float64) {
  V all;
  for (int i = 0; i < kTimes; ++i) all.emplace_back(numbers({kBatch, kSymbols}, i).astype(dtype));
  return all;
}

Array all_labels() { return array<std::int32_t>({1, 2, 1, 1, 2, -5, 2, 7, 7, 1, 0, 0}, {kBatch, 3}); }
const std::vector<int> kLengths = {5, 4, 2, 3}, kLabelLengths = {3, 2, 1, 0};
F::CtcOptions lengths(F::Reduce reduce = F::Reduce::no) {
  return {Variable(array<std::int32_t>(kLengths)), Variable(array<std::int32_t>(kLabelLengths)), reduce};
}

/// -log of the probability of all paths that become the labels of a sequence.
double expected_loss(const V& x, std::size_t sequence, int blank) {
  const std::vector<double> labels = values(all_labels());
  const int length = kLengths[sequence];
  std::vector<double> wanted(labels.begin() + static_cast<int>(sequence) * 3,
                             labels.begin() + static_cast<int>(sequence) * 3 + kLabelLengths[sequence]);
  std::vector<std::vector<double>> rows;
  for (const Variable& at : x) rows.push_back(values(F::softmax(at).array()));
  double all = 0;
  for (int path = 0; path < std::pow(kSymbols, length); ++path) {
    std::vector<double> seen;
    double probability = 1, before = -1;
    int rest = path;
    for (int time = 0; time < length; ++time, rest /= kSymbols) {
      const int symbol = rest % kSymbols;
      probability *= rows[static_cast<std::size_t>(time)][sequence * kSymbols + static_cast<std::size_t>(symbol)];
      if (symbol != blank && symbol != before) seen.push_back(symbol);
      before = symbol;
    }
    if (seen == wanted) all += probability;
  }
  return -std::log(all);
}

TEST(Ctc, IsTheSumOverAllPaths) {
  const V x = scores();
  const std::vector<double> losses =
      values(F::connectionist_temporal_classification(x, all_labels(), 0, lengths()).array());
  for (std::size_t i = 0; i < kBatch; ++i) EXPECT_NEAR(losses[i], expected_loss(x, i, 0), 1e-9) << i;
  const double mean =
      F::connectionist_temporal_classification(x, all_labels(), 0, lengths(F::Reduce::mean)).array().item<double>();
  EXPECT_NEAR(mean, (losses[0] + losses[1] + losses[2] + losses[3]) / 4, 1e-12);
  // 16 bits are storage
  const Array half =
      F::connectionist_temporal_classification(scores(Dtype::float16), all_labels(), 0, lengths()).array();
  EXPECT_EQ(half.dtype(), Dtype::float16);
  for (std::size_t i = 0; i < kBatch; ++i) EXPECT_NEAR(values(half)[i], losses[i], 2e-2);
}

TEST(Ctc, AnotherBlankIsAnotherNameForIt) {
  const V x = scores();
  V renamed;
  for (const Variable& scores : x)
    renamed.emplace_back(catenary::take(scores.array(), array<std::int64_t>({1, 2, 0}), 1));
  const Array labels = catenary::where(all_labels() > 0, all_labels() - 1, 0);
  gradient_check::assert_allclose(F::connectionist_temporal_classification(renamed, labels, 2, lengths()).array(),
                                  F::connectionist_temporal_classification(x, all_labels(), 0, lengths()).array(),
                                  1e-12);
}

TEST(Ctc, GradientsAndNoneBeyondTheEnds) {
  const auto scope = tests::one_by_one_on_devices();
  std::vector<Array> x;
  for (const Variable& v : scores()) x.push_back(v.array());
  for (const F::Reduce reduce : {F::Reduce::no, F::Reduce::mean})
    gradient_check::check_backward(
        [&](const V& v) { return V{F::connectionist_temporal_classification(v, all_labels(), 0, lengths(reduce))}; }, x,
        {}, {}, {.eps = 1e-4, .atol = 1e-5, .rtol = 1e-4});
  const V scored = scores();
  F::sum(F::connectionist_temporal_classification(scored, all_labels(), 0, lengths())).backward();
  for (std::size_t time = 0; time < kTimes; ++time) {
    const std::vector<double> gx = values(scored[time].grad());
    for (std::size_t b = 0; b < kBatch; ++b)
      for (std::size_t s = 0; s < kSymbols; ++s)
        EXPECT_EQ(gx[b * kSymbols + s] == 0, static_cast<int>(time) >= kLengths[b]) << time << " " << b;
  }
}

TEST(Ctc, LabelsThatDoNotFitHaveAFiniteLoss) {
  // three of the same want two blanks between them
  const Array labels = array<std::int32_t>({1, 1, 1}, {1, 3});
  for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
    V x;
    for (int i = 0; i < 4; ++i) x.emplace_back(numbers({1, 2}, i).astype(dtype));
    const Variable loss = F::connectionist_temporal_classification(x, labels, 0, {.reduce = F::Reduce::no});
    const double zero = dtype == Dtype::float32 ? 1e10 : 1e4;
    EXPECT_NEAR(values(loss.array())[0] / zero, 1, 1e-2);
    loss.backward();
    for (const Variable& v : x)
      for (const double g : values(v.grad())) EXPECT_TRUE(std::abs(g) <= 7) << g;  // there are seven states
  }
}

TEST(Ctc, ProbabilitiesOfZeroAreReckonedWith) {
  V x;
  for (int i = 0; i < 3; ++i) x.emplace_back(array<float>({200, -200, 0}, {1, 3}));
  const Variable loss = F::connectionist_temporal_classification(x, array<std::int32_t>({1}, {1, 1}), 0);
  EXPECT_GT(loss.array().item<float>(), 1e9f);
  loss.backward();
  for (const Variable& v : x)
    for (const double g : values(v.grad())) EXPECT_TRUE(std::isfinite(g));
}

TEST(Ctc, WhatDoesNotFitIsSaid) {
  const V x = scores();
  const auto with = [&](const Array& t, std::int64_t blank, const F::CtcOptions& options = {}) {
    return values(F::connectionist_temporal_classification(x, t, blank, options).array());
  };
  const Array labels = array<std::int32_t>({1, 2, 1, 1}, {kBatch, 1});
  const auto n = [](std::vector<std::int32_t> lengths) { return Variable(array<std::int32_t>(lengths)); };
  EXPECT_THROW(F::connectionist_temporal_classification({}, labels, 0), ValueError);
  EXPECT_THROW(with(labels, 3), ValueError);
  EXPECT_THROW(with(labels, 0, {.reduce = F::Reduce::sum}), ValueError);
  EXPECT_THROW(with(zeros({3, 1}, Dtype::int32), 0), ShapeError);
  EXPECT_THROW(with(zeros({kBatch, 1}), 0), DtypeError);
  EXPECT_THROW(with(labels, 0, {.input_length = n({5, 5, 5})}), ShapeError);
  // values that a GPU tells of when it is waited for
  EXPECT_THROW(with(labels + 2, 0), IndexError);
  EXPECT_THROW(with(labels, 0, {.input_length = n({5, 5, 6, 5})}), IndexError);
  EXPECT_THROW(with(labels, 0, {.input_length = n({5, 0, 5, 5})}), IndexError);
  EXPECT_THROW(with(labels, 0, {.label_length = n({1, 2, 1, 1})}), IndexError);
  const Variable loss = F::connectionist_temporal_classification(x, labels, 0);
  const std::vector<Variable> gx = grad({loss}, {x[0]}, {.enable_double_backprop = true});
  EXPECT_THROW(grad({F::sum(gx[0])}, {x[0]}), ValueError);
}

}  // namespace
}  // namespace catenary
