// Further links: activations, dropped weights, losses over words and labels.

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

TEST(Links, SwishLearnsItsBeta) {
  const L::Swish given(ct::Shape{3}), found;
  const ct::Array x = normal_numbers({4, 3});
  ct::gradient_check::assert_allclose(given(x).array(), x / (1 + ct::exp(-x)));
  found(x);
  EXPECT_EQ(found.beta.shape(), (ct::Shape{3}));
}

TEST(Links, SimplifiedDropconnectWithoutTrainingIsLinear) {
  const L::SimplifiedDropconnect link({}, 5);
  const ct::Array x = normal_numbers({4, 3}), mask = ct::ones({5, 3}, ct::Dtype::float32);
  const ct::Array y = link(x, false).array();
  EXPECT_EQ(link.W.shape(), (ct::Shape{5, 3}));
  ct::gradient_check::assert_allclose(y, F::linear(x, link.W, link.b).array());
  // kept weights are scaled
  ct::gradient_check::assert_allclose(link(x, true, mask).array(), F::linear(x, link.W * 2, link.b).array());
}

TEST(Links, BatchRenormalizationWithoutRoomIsBatchNormalization) {
  const L::BatchRenormalization renormalization(3);
  const L::BatchNormalization normalization(3);
  const ct::Array x = normal_numbers({8, 3}) * 2 + 1;
  ct::gradient_check::assert_allclose(renormalization(x).array(), normalization(x).array());
  const auto test = ct::using_config(ct::config.train, false);
  ct::gradient_check::assert_allclose(renormalization(x).array(), normalization(x).array(), 1e-4);
}

TEST(Links, ABatchThatIsComputedAgainIsCountedOnce) {
  const auto count = [](const auto& link) {
    link.start_finetuning();
    const ct::Variable x(normal_numbers({8, 3}));
    F::sum(F::forget([&](const ct::Variable& v) { return link(v, true); }, x)).backward();
    return link.N->template item<std::int64_t>();
  };
  EXPECT_EQ(count(L::BatchNormalization(3)), 1);
  EXPECT_EQ(count(L::BatchRenormalization(3)), 1);
}

TEST(Links, ABatchWithoutElementsDoesNotCount) {
  const auto check = [](const auto& link) {
    link.start_finetuning();
    const ct::Array x = normal_numbers({8, 3}), none = ct::zeros({0, 3}, ct::Dtype::float32);
    EXPECT_EQ(link(none, true).shape(), (ct::Shape{0, 3}));
    link(x, true);
    link(none, true);
    link(none);
    EXPECT_EQ(link.N->template item<std::int64_t>(), 1);
    ct::gradient_check::assert_allclose(link.avg_mean.array(), ct::mean(x, 0));
    EXPECT_TRUE(ct::isfinite(link.avg_var.array()).all());
  };
  check(L::BatchNormalization(3));
  check(L::BatchRenormalization(3));
}

TEST(Links, ParameterLinkGivesItsArray) {
  const ct::Array a = normal_numbers({2, 3});
  const L::ParameterLink link(a);
  EXPECT_EQ(link().array().to_vector<float>(), a.to_vector<float>());
  EXPECT_EQ(link.namedparams().at(0).first, "/W");
}

TEST(Links, WordsAreDrawnAsOftenAsTheyWereCounted) {
  const L::NegativeSampling link(3, {0, 4, 0, 5}, 6);
  const ct::Array x = normal_numbers({2, 3}), t = ct::array({1, 3});
  // W is 0, so all scores are
  EXPECT_NEAR(link(x, t).array().item<double>(), 2 * 7 * std::log(2.0), 1e-4);
  link.cleargrads();
  link(x, t).backward();
  const std::vector<double> g = ct::absolute(link.W.grad()).sum(1).to_vector<double>();
  EXPECT_EQ(g[0], 0);
  EXPECT_GT(g[1], 0);
  EXPECT_EQ(g[2], 0);
  EXPECT_GT(g[3], 0);
  const L::BlackOut black(3, {1, 2, 3}, 4, 0);
  EXPECT_NEAR(black(x, ct::array({1, 2})).array().item<double>(), std::log(5.0) - 4 * std::log(0.8), 1e-4);
  EXPECT_THROW(L::BlackOut(3, {0, 0}, 4), ct::ValueError);
  EXPECT_THROW(L::NegativeSampling(3, {1, -1}, 4), ct::ValueError);
}

// With W = 0 each draw adds a half to its word's gradient, and each label takes a half away.
TEST(Links, NegativeSamplesFollowThePowerOfTheCounts) {
  ct::random::seed(2);
  constexpr int kSamples = 20000;
  for (const auto& [power, share] : {std::pair(0.0, 0.5), {1.0, 15.0 / 16}, {0.75, 0.88400}}) {
    const L::NegativeSampling link(1, {1, 15}, kSamples, power);
    link.cleargrads();
    link(ct::ones({1, 1}, ct::Dtype::float32), ct::array({0})).backward();
    const double draws = 2 * link.W.grad().to_vector<double>()[1];
    EXPECT_NEAR(draws / kSamples, share, 0.02) << power;
  }
}

TEST(Links, HierarchicalSoftmaxIsADistribution) {
  const ct::Array x = normal_numbers({1, 4});
  const L::ClassTree tree = L::BinaryHierarchicalSoftmax::create_huffman_tree({{0, 8}, {1, 5}, {2, 6}, {3, 4}});
  const L::BinaryHierarchicalSoftmax link(4, tree);
  EXPECT_EQ(link.W.shape(), (ct::Shape{3, 4}));
  double total = 0;
  for (int t = 0; t < 4; ++t) total += std::exp(-link(x, ct::array({t})).array().item<double>());
  EXPECT_NEAR(total, 1, 1e-5);
  const L::BinaryHierarchicalSoftmax uneven(4, L::ClassTree(L::ClassTree(0, L::ClassTree(2, 1)), 3));
  const ct::Array t = ct::array({3, 0, 1});
  const ct::Array xs = ct::random::standard_normal({3, 4}, {.dtype = ct::Dtype::float32});
  // the last is right, left-left, left-right-right
  const auto score = [&](int i, int node) { return (uneven.W.array()[node] * xs[i]).sum().item<double>(); };
  const auto softplus = [](double v) { return std::log1p(std::exp(v)); };
  EXPECT_NEAR(uneven(xs, t).array().item<double>(),
              softplus(score(0, 0)) + softplus(-score(1, 0)) + softplus(-score(1, 1)) + softplus(-score(2, 0)) +
                  softplus(score(2, 1)) + softplus(score(2, 2)),
              1e-4);
  const ct::gradient_check::Function loss = [&](const std::vector<ct::Variable>& in) {
    return std::vector<ct::Variable>{uneven(in[0], t)};
  };
  EXPECT_NO_THROW(
      ct::gradient_check::check_backward(loss, {xs}, {}, {uneven.W}, {.eps = 1e-2, .atol = 1e-2, .rtol = 1e-2}));
  EXPECT_THROW(L::BinaryHierarchicalSoftmax(4, L::ClassTree(0)), ct::ValueError);
  EXPECT_THROW(L::BinaryHierarchicalSoftmax(4, L::ClassTree(1, 1)), ct::ValueError);
}

/// An empty batch gives an empty result and zero gradients, and keeps the state finite.
template <class L0>
void take_nothing(const L0& given, const ct::Shape& of_one) {
  const L0 link = given;
  SCOPED_TRACE(link.type_name());
  const auto call = [&](const ct::Variable& x) -> ct::Variable {
    if constexpr (requires { link.reset_state(); }) link.reset_state();
    return link(x);
  };
  ct::Shape shape = of_one;
  {
    const auto mode = ct::no_backprop_mode();
    shape[0] = 6;  // determines shapes and first statistics
    call(normal_numbers(shape));
  }
  shape[0] = 0;
  link.cleargrads();
  const ct::Variable x(normal_numbers(shape)), y = call(x);
  EXPECT_EQ(y.shape(0), 0);
  F::sum(y).backward();
  EXPECT_EQ(x.grad().shape(), shape);
  for (const auto& [path, p] : link.namedparams()) EXPECT_TRUE(!p.grad().defined() || (p.grad() == 0.0).all()) << path;
  for (const auto& [path, array] : link.namedpersistents())
    EXPECT_TRUE(array.size() == 0 || ct::isfinite(array).all()) << path;
}

TEST(Links, TakeBatchesWithoutExamples) {
  take_nothing(L::Linear(4), {1, 3});
  take_nothing(L::Linear(3, 4, {.n_batch_axes = -1}), {1, 5, 3});
  for (const ct::Quantization kind : {ct::Quantization::q8_0, ct::Quantization::q4_k, ct::Quantization::int8}) {
    L::Linear linear(3, 4);
    linear.quantize(kind);
    take_nothing(linear, {1, 3});
    L::Convolution2D convolution(3, 4, 3);
    convolution.quantize(kind);
    take_nothing(convolution, {1, 3, 5, 5});
    convolution.set_input_range({-1, 1});
    take_nothing(convolution, {1, 3, 5, 5});
  }
  take_nothing(L::Convolution1D({}, 4, 3), {1, 3, 5});
  take_nothing(L::Convolution2D(4, 4, 3, {.groups = 2}), {1, 4, 5, 5});
  take_nothing(L::Convolution3D(3, 4, 3), {1, 3, 5, 5, 5});
  take_nothing(L::Deconvolution2D(3, 4, 3), {1, 3, 5, 5});
  take_nothing(L::DepthwiseConvolution2D(3, 2, 3), {1, 3, 5, 5});
  take_nothing(L::LocalConvolution2D(4, 3), {1, 3, 5, 5});
  take_nothing(L::DeformableConvolution2D(3, 4, 3), {1, 3, 5, 5});
  take_nothing(L::MLPConvolution2D({}, {4, 2}, 3), {1, 3, 5, 5});
  take_nothing(L::BatchNormalization(3), {1, 3, 4});
  take_nothing(L::BatchRenormalization(3), {1, 3});
  take_nothing(L::LayerNormalization(3), {1, 3});
  take_nothing(L::RMSNorm(3), {1, 3});
  take_nothing(L::GroupNormalization(2), {1, 4, 3});
  take_nothing(L::Scale(1, {3}), {1, 3});
  take_nothing(L::Bias(1, {3}), {1, 3});
  take_nothing(L::Maxout(3, 4, 2), {1, 3});
  take_nothing(L::Highway(3), {1, 3});
  take_nothing(L::PReLU(), {1, 3});
  take_nothing(L::Swish(ct::Shape{3}), {1, 3});
  take_nothing(L::SimplifiedDropconnect(3, 4), {1, 3});
  take_nothing(L::LSTM(3, 4), {1, 3});
  take_nothing(L::StatefulPeepholeLSTM(3, 4), {1, 3});
  take_nothing(L::StatefulZoneoutLSTM(3, 4), {1, 3});
  take_nothing(L::StatefulGRU(3, 4), {1, 3});
  take_nothing(L::StatefulMGU(3, 4), {1, 3});
  take_nothing(L::MultiHeadAttention(8, 2), {1, 5, 8});
  take_nothing(L::Inception(3, 2, 2, 2, 2, 2, 2), {1, 3, 6, 6});
  const ct::Array none = ct::zeros({0}, ct::Dtype::int32);
  EXPECT_EQ(L::EmbedID(5, 3)(none).shape(), (ct::Shape{0, 3}));
  const ct::Variable x(normal_numbers({0, 3}));
  EXPECT_EQ(L::NegativeSampling(3, {1, 2}, 2)(x, none).item<float>(), 0);
  EXPECT_EQ(F::black_out(x, none, normal_numbers({4, 3}), ct::zeros({0, 2}, ct::Dtype::int32), F::Reduce::no).shape(),
            ct::Shape{0});
}

TEST(Links, AChainOfLabels) {
  const L::CRF1d link(2);
  const std::vector<ct::Variable> xs{normal_numbers({2, 2}), normal_numbers({1, 2})},
      ys{ct::as_variable(ct::array({0, 1})), ct::as_variable(ct::array({1}))};
  EXPECT_EQ(link(xs, ys).array().item<float>(), F::crf1d(link.cost, xs, ys).array().item<float>());
  EXPECT_EQ(link.argmax(xs).second.size(), 2u);
}

}  // namespace
