// Linear, normalizations and other layers, by their formulas.

#include <gtest/gtest.h>

#include <cmath>

#include "catenary/autograd/gradient_check.h"
#include "catenary/catenary.h"
#include "tests/links/helpers.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;

namespace {

using ct::test::normal_numbers;

TEST(Links, LinearOverTheLastAxis) {
  const ct::Array x = normal_numbers({2, 4, 3}), rows = x.reshape({8, 3});
  const L::Linear linear(3, 5);
  const ct::Array expected = linear(rows).array().reshape({2, 4, 5});
  EXPECT_TRUE(ct::array_equal(linear(x, -1).array(), expected));
  EXPECT_TRUE(ct::array_equal(linear(x, 2).array(), expected));
  L::Linear last(5, {.n_batch_axes = -1});
  last(x);
  EXPECT_EQ(last.W.shape(), (ct::Shape{5, 3}));
  last.copyparams(linear);
  EXPECT_TRUE(ct::array_equal(ct::Sequential(last, F::relu)(x).array(), F::relu(expected).array()));
  EXPECT_EQ(L::Linear(5)(x).shape(), (ct::Shape{2, 5}));  // as in Chainer
  const auto message = [](const auto& call) {
    try {
      call();
    } catch (const ct::Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(message([&] { linear(x); }),
            "linear: x (2, 4, 3) has 12 inputs after n_batch_axes = 1, but W (5, 3) takes 3, which is the size of x's "
            "last axis. With n_batch_axes = -1 only that axis is the input\n  in Linear");
  EXPECT_EQ(message([&] { linear(x, -3); }),
            "linear: n_batch_axes must be at least 1 and less than x's 3 axes (or negative: -1 for all but the last), "
            "not -3\n  in Linear");
  EXPECT_EQ(linear(ct::zeros({0, 4, 3}, ct::Dtype::float32), -1).shape(), (ct::Shape{0, 4, 5}));
}

TEST(Links, LayerNormalizationOverLastAxes) {
  const ct::Array x = normal_numbers({2, 4, 3});
  const L::LayerNormalization last, given(3), both({4, 3}), tight(3, 1e-7);
  const ct::Array expected = last(x.reshape({8, 3})).array().reshape({2, 4, 3});
  EXPECT_EQ(last.gamma.shape(), ct::Shape{3});
  for (const L::LayerNormalization* norm : {&last, &given, &tight})
    ct::gradient_check::assert_allclose((*norm)(x).array(), expected, 1e-4, 1e-4);
  const ct::Array whole = both(x).array();
  ct::gradient_check::assert_allclose(whole, L::LayerNormalization(12)(x.reshape({2, 12})).array().reshape({2, 4, 3}),
                                      1e-6, 1e-6);
  ct::gradient_check::check_backward(
      [&](const std::vector<ct::Variable>& v) {
        return std::vector<ct::Variable>{F::square(F::layer_normalization(v[0], v[1], v[2]))};
      },
      {x.astype(ct::Dtype::float64), ct::linspace(1, 2, 12).reshape({4, 3}), ct::linspace(0, 1, 12).reshape({4, 3})});
  try {
    L::LayerNormalization(12)(x);
    ADD_FAILURE();
  } catch (const ct::ShapeError& error) {
    EXPECT_STREQ(error.what(),
                 "layer_normalization: gamma must have the shape of x's last axes, those that are normalised, and x at "
                 "least one before them; x is (2, 4, 3), gamma (12,) (for all axes but the first: reshape x to (n, "
                 "12))\n  in LayerNormalization");
  }
  EXPECT_THROW(given(normal_numbers({3})), ct::ShapeError);
  EXPECT_EQ(given(ct::zeros({0, 4, 3}, ct::Dtype::float32)).shape(), (ct::Shape{0, 4, 3}));
}

TEST(Links, EachGivesItsFormula) {
  const ct::Array x = normal_numbers({4, 6});
  EXPECT_EQ(L::Maxout(6, 3, 2)(x).shape(), (ct::Shape{4, 3}));
  EXPECT_EQ(L::Highway(6)(x).shape(), x.shape());
  EXPECT_EQ(L::Bilinear(6, 6, 2)(x, x).shape(), (ct::Shape{4, 2}));
  const L::EmbedID embed(10, 3, {.ignore_label = -1});
  const ct::Array ids = ct::array({1, -1, 9});
  const std::vector<float> rows = embed(ids).array().to_vector<float>(), table = embed.W.array().to_vector<float>();
  EXPECT_EQ(std::vector<float>(rows.begin(), rows.begin() + 3),
            std::vector<float>(table.begin() + 3, table.begin() + 6));
  EXPECT_EQ(std::vector<float>(rows.begin() + 3, rows.begin() + 6), std::vector<float>(3, 0));
  const std::vector<float> in = x.to_vector<float>(), slopes = L::PReLU()(x).array().to_vector<float>();
  for (std::size_t i = 0; i < in.size(); ++i) EXPECT_FLOAT_EQ(slopes[i], in[i] > 0 ? in[i] : 0.25f * in[i]);
  const std::vector<float> scaled = L::Scale(1, {6}, true)(x).array().to_vector<float>();
  for (std::size_t i = 0; i < in.size(); ++i) EXPECT_FLOAT_EQ(scaled[i], in[i]);
}

TEST(Links, BatchNormalizationOfANumberOrAShape) {
  EXPECT_EQ(L::BatchNormalization(6).gamma.shape(), (ct::Shape{6}));
  EXPECT_EQ(L::BatchNormalization({6}, {.use_beta = false}).avg_mean->shape(), (ct::Shape{6}));
  EXPECT_EQ(L::BatchNormalization({2, 3}).gamma.shape(), (ct::Shape{2, 3}));
}

TEST(Links, BatchNormalizationLearnsItsStatistics) {
  const L::BatchNormalization bn(ct::Shape{6}, {.decay = 0.5});
  const ct::Array x = normal_numbers({50, 6}) * 3 + 2;
  {
    const auto training = ct::train_mode();
    for (int i = 0; i < 30; ++i) bn(x);
  }
  const auto testing = ct::test_mode();
  const ct::Array y = bn(x).array();
  for (double m : ct::mean(y, 0).to_vector<double>()) EXPECT_NEAR(m, 0, 0.05);
  for (double s : ct::std(y, 0).to_vector<double>()) EXPECT_NEAR(s, 1, 0.1);
  EXPECT_EQ(bn.namedpersistents().size(), 3u);
}

// New links have a mean of 0 and a variance of 1.
TEST(Links, NormalizationsUseTheirEpsInTestModeToo) {
  const auto testing = ct::test_mode();
  const ct::Array x = normal_numbers({5, 6});
  const ct::Array expected = x / std::sqrt(1.5);
  ct::gradient_check::assert_allclose(L::BatchNormalization({6}, {.eps = 0.5})(x).array(), expected);
  ct::gradient_check::assert_allclose(L::BatchRenormalization({6}, {.eps = 0.5})(x).array(), expected);
}

TEST(Links, DecorrelatedBatchNormalizationLearnsItsStatistics) {
  const L::DecorrelatedBatchNormalization bn(6, {.groups = 2, .decay = 0.5});
  const ct::Array base = normal_numbers({50, 6});
  const ct::Array x = (base + ct::roll(base, 1, {1})) * 3 + 2;
  {
    const auto training = ct::train_mode();
    for (int i = 0; i < 30; ++i) bn(x);
  }
  const auto testing = ct::test_mode();
  const ct::Array y = bn(x).array()(ct::slice(), ct::slice(3));
  const std::vector<double> covariance = (ct::matmul(y.T(), y) / 50).to_vector<double>();
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(covariance[i], i % 4 == 0 ? 1 : 0, 0.1);
  // the mean of all batches, which no decay gives
  bn.start_finetuning();
  {
    const auto training = ct::train_mode();
    bn(x, true);
    bn(x + 4, true);
    bn(x + 8, true);
  }
  const std::vector<double> mean = bn.avg_mean->to_vector<double>(),
                            expected = (ct::mean(x, 0) + 4).to_vector<double>();
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(mean[i], expected[i], 1e-4);
  EXPECT_EQ(bn.namedpersistents().size(), 3u);
  EXPECT_THROW(L::DecorrelatedBatchNormalization(6), ct::ValueError);
}

}  // namespace
