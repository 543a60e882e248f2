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
#include "tests/functions/helpers.h"
#include "tests/gradients.h"

namespace catenary {
namespace {

namespace F = functions;
using test::values;
using V = std::vector<Variable>;

constexpr std::int64_t kTimes = 5, kBatch = 4, kSymbols = 3;

V scores(Dtype dtype = Dtype::float64) {
  V all;
  for (int i = 0; i < kTimes; ++i) all.emplace_back((test::numbers({kBatch, kSymbols}, i) * 2.0).astype(dtype));
  return all;
}

Array all_labels() { return array<std::int32_t>({1, 2, 1, 1, 2, -5, 2, 7, 7, 0, 0, 0}, {kBatch, 3}); }
const std::vector<int> kLengths = {5, 4, 2, 3}, kLabelLengths = {3, 2, 1, 0};
F::CtcOptions lengths(F::Reduce reduce = F::Reduce::no) {
  return {Variable(array<std::int32_t>(kLengths)), Variable(array<std::int32_t>(kLabelLengths)), reduce};
}

/// -log of the probability of all paths that give a sequence's labels.
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
  // 16 bits are only for storage
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
  const Array labels = all_labels() - 1;
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

// The loss does not depend on the scores, and neither this sequence nor others get a wrong gradient. Three equal labels
// need two blanks between them, but there are two labels and one time.
TEST(Ctc, LabelsThatDoNotFitHaveOneLossAndNoGradient) {
  const Array labels = array<std::int32_t>({1, 1, 1, 1, 2, 1, 1, 2, 1}, {3, 3});
  const F::CtcOptions options{Variable(array<std::int32_t>({4, 5, 1})), Variable(array<std::int32_t>({3, 3, 2})),
                              F::Reduce::no};
  for (const Dtype dtype : {Dtype::float32, Dtype::float64, Dtype::float16, Dtype::bfloat16}) {
    for (const double scale : {1.0, 100.0}) {
      V x;
      for (int i = 0; i < kTimes; ++i) x.emplace_back((test::numbers({3, kSymbols}, i) * (2 * scale)).astype(dtype));
      const Variable loss = F::connectionist_temporal_classification(x, labels, 0, options);
      const double impossible = dtype == Dtype::bfloat16  ? static_cast<double>(float{bfloat16(1e10f)})
                                : dtype == Dtype::float16 ? 1e4
                                                          : 1e10;
      const std::vector<double> losses = values(loss.array());
      EXPECT_EQ(losses[0], impossible) << scale;
      EXPECT_EQ(losses[2], impossible) << scale;
      EXPECT_LT(losses[1], 3000);
      F::sum(loss).backward();
      double second = 0;
      for (const Variable& v : x) {
        const std::vector<double> gx = values(v.grad());
        for (const std::size_t b : {0, 2})
          for (std::size_t i = 0; i < kSymbols; ++i) EXPECT_EQ(gx[b * kSymbols + i], 0) << b;
        for (std::size_t i = 0; i < kSymbols; ++i) second += std::abs(gx[kSymbols + i]);
      }
      EXPECT_GT(second, 0.1);
    }
  }
}

// Softmax of these scores underflows in float32, but its logarithm does not. Ten times 1e4 overflows float16, but the
// mean does not.
TEST(Ctc, TheirMeanIsInRange) {
  const std::int64_t n = 10;
  const Variable one(zeros({n, kSymbols}, Dtype::float16));
  const Array labels = full({n, 3}, 1, Dtype::int32);  // needs five time steps
  EXPECT_EQ(F::connectionist_temporal_classification({one}, labels, 0).array().item<double>(), 1e4);
}

TEST(Ctc, ScoresFarApart) {
  const Array label = array<std::int32_t>({1}, {1, 1});
  const auto loss_of = [&](const std::vector<float>& scores, int times, std::vector<double>* gradient) {
    V x;
    for (int i = 0; i < times; ++i) x.emplace_back(array<float>(scores, {1, 3}));
    const Variable loss = F::connectionist_temporal_classification(x, label, 0);
    loss.backward();
    if (gradient) *gradient = values(x[0].grad());
    return loss.array().item<double>();
  };
  std::vector<double> gradient;
  EXPECT_NEAR(loss_of({0, -103, 0}, 1, &gradient), 103 + std::log(2), 1e-4);
  EXPECT_NEAR(gradient[0], 0.5, 1e-6);
  EXPECT_NEAR(gradient[1], -1, 1e-6);
  EXPECT_NEAR(gradient[2], 0.5, 1e-6);
  // one of three times is the label's
  EXPECT_NEAR(loss_of({200, -200, 0}, 3, nullptr), 400 - std::log(3), 1e-3);
  EXPECT_NEAR(loss_of({0, -30000, -1}, 1, nullptr), 30000 + std::log(1 + std::exp(-1)), 0.01);
}

// The score of a mask: labels without probability are impossible, and masked scores that are not needed do no harm.
TEST(Ctc, ScoresOfMinusInfinity) {
  for (const int masked : {1, 2}) {
    V x;
    for (int i = 0; i < 2; ++i) {
      const Array scores = array<float>({0, 1, 2, 0, 1, 2}, {2, 3});
      scores.set(-INFINITY, slice(), masked);
      x.emplace_back(scores);
    }
    const Variable loss = F::connectionist_temporal_classification(
        x, array<std::int32_t>({1, 0}, {2, 1}), 0, {{}, Variable(array<std::int32_t>({1, 0})), F::Reduce::no});
    const std::vector<double> losses = values(loss.array());
    EXPECT_EQ(losses[0] == 1e10f, masked == 1) << losses[0];
    EXPECT_LT(losses[1], 10);
    F::sum(loss).backward();
    for (const Variable& v : x) {
      const std::vector<double> gx = values(v.grad());
      for (const double g : gx) EXPECT_TRUE(std::isfinite(g)) << masked;
      for (std::size_t i = 0; i < 3 && masked == 1; ++i) EXPECT_EQ(gx[i], 0);
    }
  }
}

TEST(Ctc, ScoresThatAreNoNumbersGiveNone) {
  V x;
  for (int i = 0; i < 3; ++i) x.emplace_back(array<float>({0, i == 1 ? NAN : 0.0f, 1}, {1, 3}));
  EXPECT_TRUE(std::isnan(
      F::connectionist_temporal_classification(x, array<std::int32_t>({1}, {1, 1}), 0).array().item<float>()));
}

TEST(Ctc, InvalidArgumentsAreNamed) {
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
  // values that a GPU checks asynchronously
  EXPECT_THROW(with(labels + 2, 0), IndexError);
  EXPECT_THROW(with(labels, 1), IndexError);  // the blank
  EXPECT_THROW(with(labels, 0, {.input_length = n({5, 5, 6, 5})}), IndexError);
  EXPECT_THROW(with(labels, 0, {.input_length = n({5, 0, 5, 5})}), IndexError);
  EXPECT_THROW(with(labels, 0, {.label_length = n({1, 2, 1, 1})}), IndexError);
  const Variable loss = F::connectionist_temporal_classification(x, labels, 0);
  const std::vector<Variable> gx = grad({loss}, {x[0]}, {.enable_double_backprop = true});
  EXPECT_THROW(grad({F::sum(gx[0])}, {x[0]}), ValueError);
}

}  // namespace
}  // namespace catenary
