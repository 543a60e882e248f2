// Operators where ONNX's own cases (scripts/onnx_cases) do not reach: gradients, other sizes, wrong inputs.

#include <gtest/gtest.h>

#include "catenary/array/elementwise_core.h"
#include "catenary/array/linalg.h"
#include "catenary/array/sorting.h"
#include "catenary/core/error.h"
#include "catenary/functions/functions.h"
#include "tests/arrays.h"
#include "tests/gradients.h"
#include "tests/onnx/node.h"
#include "tests/texts.h"

namespace catenary {
namespace {

using namespace onnx_writer;
using tests::error_of;
using tests::expect_near;
using tests::has;
using tests::waves;

constexpr std::int64_t kOne = 1, kTwo = 2;

void check_backward(const gradient_check::Function& f, const std::vector<Array>& x) {
  const auto scope = tests::one_by_one_on_devices();
  gradient_check::CheckOptions options;
  options.eps = 1e-5;
  EXPECT_NO_THROW(gradient_check::check_backward(f, x, {}, {}, options));
}

TEST(OnnxOperators, PoolingsOfDilatedWindowsHaveGradients) {
  const std::vector<Message> windows{attribute("kernel_shape", Numbers{2, 3}), attribute("dilations", Numbers{2, 1}),
                                     attribute("strides", Numbers{1, 2}), attribute("pads", Numbers{1, 0, 0, 1})};
  for (const char* type : {"MaxPool", "AveragePool", "LpPool"})
    check_backward([&](const std::vector<Variable>& x) { return run_node(type, x, windows); },
                   {waves({2, 3, 5, 6}, 0.2, Dtype::float64)});
}

TEST(OnnxOperators, IndicesOfMaximaPointToTheMaxima) {
  const Variable x(waves({2, 3, 7, 6}, 0.7, Dtype::float32));
  for (const std::int64_t dilation : {kOne, kTwo}) {
    const std::vector<Variable> y =
        run_node("MaxPool", {x},
                 {attribute("kernel_shape", Numbers{3, 2}), attribute("strides", Numbers{2, 1}),
                  attribute("pads", Numbers{0, 1, 1, 0}), attribute("dilations", Numbers{dilation, 1})},
                 2);
    expect_near(x.array().ravel()(y[1].array()), y[0].array(), 0);
  }
}

TEST(OnnxOperators, Col2ImAddsOverlappingBlocks) {
  const Array columns = waves({2, 3 * 6, 4 * 2}, 0, Dtype::float64);
  const Variable image(array({std::int64_t{5}, 6})), block(array({std::int64_t{2}, 3}));
  const auto f = [&](const std::vector<Variable>& x) {
    return run_node("Col2Im", {x[0], image, block},
                    {attribute("strides", Numbers{1, 2}), attribute("dilations", Numbers{1, 2}),
                     attribute("pads", Numbers{0, 1, 0, 0})});
  };
  // the transpose of im2col, which pads both sides of an axis alike
  functions::Im2ColOptions options;
  options.stride = {1, 2};
  options.dilate = {1, 2};
  const Variable x(waves({2, 3, 5, 7}, 1, Dtype::float64));
  const Array rows = functions::im2col(x, {2, 3}, options).array().reshape(columns.shape());
  const Array back = f({Variable(columns)})[0].array(), inner = x.array()(ellipsis, slice(1, 7));
  const Array edge = functions::im2col(Variable(where(equal(arange(7), 0), x.array(), 0.0)), {2, 3}, options)
                         .array()
                         .reshape(columns.shape());
  expect_near(multiply(subtract(rows, edge), columns).sum(), multiply(inner, back).sum(), 1e-9);
  tests::check_gradients(f, {columns});
}

TEST(OnnxOperators, ProductsOfQuantisedMatricesAreExact) {
  for (const std::int64_t n : {3, 700}) {
    const Array a = (waves({5, n}, 0, Dtype::float64) * 127.0 + 128.0).astype(Dtype::uint8),
                b = (waves({n, 4}, 1, Dtype::float64) * 127.0).astype(Dtype::int8);
    const Array zeros_of_rows = array({0, 7, 255, 128, 1}).astype(Dtype::uint8), zero = array(-3).astype(Dtype::int8);
    const Array wanted =
        matmul(a.astype(Dtype::int32) - zeros_of_rows.astype(Dtype::int32).reshape({5, 1}), b.astype(Dtype::int32) + 3);
    const Array got =
        run_node("MatMulInteger", {Variable(a), Variable(b), Variable(zeros_of_rows), Variable(zero)})[0].array();
    ASSERT_EQ(got.dtype(), Dtype::int32);
    EXPECT_EQ(got.to_vector<int>(), wanted.to_vector<int>()) << n;
  }
}

TEST(OnnxOperators, QuantisedConvolutionHasScalesOfChannels) {
  const Array x = (waves({1, 3, 5, 5}, 0, Dtype::float64) * 127.0 + 128.0).astype(Dtype::uint8),
              w = (waves({4, 3, 3, 2}, 1, Dtype::float64) * 127.0).astype(Dtype::int8);
  const Array scales = array({0.01F, 0.02F, 0.005F, 0.03F}), bias = array({100, -200, 0, 5000});
  const auto scalar = [](double value, Dtype dtype) { return Variable(full({}, value, dtype)); };
  const Array got =
      run_node("QLinearConv",
               {Variable(x), scalar(0.02, Dtype::float32), scalar(120, Dtype::uint8), Variable(w), Variable(scales),
                scalar(0, Dtype::int8), scalar(0.5, Dtype::float32), scalar(90, Dtype::uint8), Variable(bias)},
               {attribute("pads", Numbers{1, 0, 0, 1}), attribute("strides", Numbers{2, 1})})[0]
          .array();
  functions::ConvolutionOptions options;
  options.stride = {2, 1};
  const Array shifted = pad(x.astype(Dtype::float64) - 120.0, {{0, 0}, {0, 0}, {1, 0}, {0, 1}});
  const Array sums = functions::convolution_2d(Variable(shifted), Variable(w.astype(Dtype::float64)),
                                               Variable(bias.astype(Dtype::float64)), options)
                         .array();
  const Array real = sums * scales.astype(Dtype::float64).reshape({4, 1, 1}) * (0.02 / 0.5) + 90.0;
  expect_near(got.astype(Dtype::float64), clip(real, 0.0, 255.0), 0.51);
}

TEST(OnnxOperators, ConvolutionsOfIntegersAreExact) {
  const Array x = remainder(arange(24 * 20 * 22) * 89, 256).astype(Dtype::uint8).reshape({1, 24, 20, 22}),
              w = remainder(arange(16 * 24 * 9) * 57, 256).astype(Dtype::uint8).reshape({16, 24, 3, 3});
  const Variable zero_x(full({}, 100, Dtype::uint8)), zero_w(full({}, 178, Dtype::uint8));
  const Array got =
      run_node("ConvInteger", {Variable(x), Variable(w), zero_x, zero_w}, {attribute("pads", Numbers{1, 1, 1, 1})})[0]
          .array();
  const Array wide = pad(x.astype(Dtype::int64) - 100, {{0, 0}, {0, 0}, {1, 1}, {1, 1}});
  Array wanted = zeros({1, 16, 20, 22}, Dtype::int64);
  for (std::int64_t tap = 0; tap < 9; ++tap) {
    const std::int64_t i = tap / 3, j = tap % 3;
    const Array moved = wide.get({Index(slice()), Index(slice()), Index(slice(i, i + 20)), Index(slice(j, j + 22))});
    const Array of_tap = w.get({Index(slice()), Index(slice()), Index(i), Index(j)}).astype(Dtype::int64) - 178;
    wanted = wanted + matmul(of_tap, moved.reshape({24, 440})).reshape({1, 16, 20, 22});
  }
  EXPECT_EQ(got.to_vector<std::int64_t>(), wanted.to_vector<std::int64_t>());
}

TEST(OnnxOperators, RoiAlignSamplesRegionsOfAnySize) {
  const Array x = waves({2, 3, 8, 9}, 0, Dtype::float64);
  const Variable rois(array({0.5, 1.0, 5.5, 7.0, 2.0, 2.0, 2.4, 2.3, 0.0, 0.0, 8.0, 7.0}).reshape({3, 4})),
      images(array({std::int64_t{1}, 0, 1}));
  const auto f = [&](const char* coordinates, const char* mode) {
    return [=](const std::vector<Variable>& v) {
      return run_node("RoiAlign", {v[0], rois, images},
                      {attribute("coordinate_transformation_mode", coordinates), attribute("mode", mode),
                       attribute("output_height", kTwo), attribute("output_width", std::int64_t{3})});
    };
  };
  // regions of at least a pixel, moved by half a pixel, are those of the other mode
  const Variable moved(subtract(rois.array(), 0.5));
  const Array half = f("half_pixel", "avg")({Variable(x)})[0].array();
  const Array whole = run_node("RoiAlign", {Variable(x), moved, images},
                               {attribute("coordinate_transformation_mode", "output_half_pixel"),
                                attribute("output_height", kTwo), attribute("output_width", std::int64_t{3})})[0]
                          .array();
  expect_near(half(0), whole(0), 1e-9);
  expect_near(half(2), whole(2), 1e-9);
  check_backward(f("half_pixel", "avg"), {x});
  check_backward(f("half_pixel", "max"), {x});
}

TEST(OnnxOperators, NonMaxSuppressionKeepsBoxesAtTheThreshold) {
  // the second box covers half of the first, the third is the first
  const Variable boxes(array({0.F, 0.F, 2.F, 1.F, 0.F, 1.F, 1.F, 0.F, 2.F, 1.F, 0.F, 0.F}).reshape({1, 3, 4})),
      scores(array({0.5F, 0.75F, 0.25F}).reshape({1, 1, 3})), limit(array({std::int64_t{10}}));
  const auto kept = [&](float threshold, float least) {
    return run_node("NonMaxSuppression",
                    {boxes, scores, limit, Variable(array({threshold})), Variable(array({least}))})[0]
        .array()
        .to_vector<std::int64_t>();
  };
  EXPECT_EQ(kept(0.5F, 0), (std::vector<std::int64_t>{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(kept(0.49F, 0), (std::vector<std::int64_t>{0, 0, 1}));
  EXPECT_EQ(kept(1.0F, 0.25F), (std::vector<std::int64_t>{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(run_node("NonMaxSuppression", {boxes, scores})[0].shape(), Shape({0, 3}));
}

TEST(OnnxOperators, TransformsOfSignalsHaveGradients) {
  const Variable length(array({std::int64_t{7}})), step(array({std::int64_t{2}}));
  const auto dft = [&](const std::vector<Message>& attributes) {
    return [&length, attributes](const std::vector<Variable>& x) {
      return run_node("DFT", {x[0], length}, attributes);
    };
  };
  tests::check_gradients(dft({}), {waves({2, 5, 2}, 0, Dtype::float64)});
  tests::check_gradients(dft({attribute("onesided", kOne)}), {waves({2, 9, 1}, 0, Dtype::float64)});
  tests::check_gradients(dft({attribute("onesided", kOne), attribute("inverse", kOne)}),
                         {waves({2, 4, 2}, 0, Dtype::float64)});
  tests::check_gradients(
      [&](const std::vector<Variable>& x) {
        return run_node("STFT", {x[0], step, x[1]});
      },
      {waves({2, 11, 1}, 0, Dtype::float64), waves({5}, 1, Dtype::float64)});
  const std::string error = error_of<ValueError>([&] {
    run_node("DFT", {Variable(waves({2, 9, 2}, 0, Dtype::float32))}, {attribute("onesided", kOne)});
  });
  EXPECT_TRUE(has(error, "onesided needs real input")) << error;
}

TEST(OnnxOperators, SeedsRepeatRandomNumbers) {
  const auto draw = [](double seed) {
    return run_node("RandomNormal", {}, {attribute("shape", Numbers{100, 7}), attribute("seed", seed)})[0].array();
  };
  EXPECT_EQ(draw(3.5).to_vector<float>(), draw(3.5).to_vector<float>());
  EXPECT_NE(draw(3.5).to_vector<float>(), draw(4.0).to_vector<float>());
  const Array y = run_node("RandomUniform", {},
                           {attribute("shape", Numbers{1000}), attribute("low", 2.0), attribute("high", 5.0)})[0]
                      .array();
  EXPECT_GE(y.min().item<float>(), 2.0F);
  EXPECT_LE(y.max().item<float>(), 5.0F);
  // a class of probability 0 is never drawn
  const Array scores = array({0.F, -1e30F, 0.F}).reshape({1, 3});
  const Array drawn =
      run_node("Multinomial", {Variable(scores)}, {attribute("sample_size", std::int64_t{200})})[0].array();
  const std::vector<int> counts = bincount(drawn.ravel(), {}, 3).to_vector<int>();
  EXPECT_EQ(counts[1], 0);
  EXPECT_GT(counts[0], 50);
  EXPECT_GT(counts[2], 50);
}

TEST(OnnxOperators, BatchNormalizationTrains) {
  const std::vector<Message> attributes{attribute("training_mode", kOne)};
  check_backward(
      [&](const std::vector<Variable>& x) {
        return run_node("BatchNormalization", {x[0], x[1], x[2], x[3], x[4]}, attributes, 3);
      },
      {waves({3, 2, 4}, 0, Dtype::float64), waves({2}, 1, Dtype::float64), waves({2}, 2, Dtype::float64),
       waves({2}, 3, Dtype::float64), square(waves({2}, 4, Dtype::float64))});
}

TEST(OnnxOperators, DeterminantsOfStacksHaveGradients) {
  tests::check_gradients([](const std::vector<Variable>& x) { return run_node("Det", x); },
                         {add(waves({2, 1, 3, 3}, 0, Dtype::float64), eye(3))});  // waves alone are singular
  EXPECT_EQ(run_node("Det", {Variable(waves({3, 3}, 0, Dtype::float32))})[0].shape(), Shape({}));
}

TEST(OnnxOperators, ExclusiveSumsOfInfinityAreFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  const Variable x(array({1.F, 2.F, inf})), axis(array({std::int64_t{0}}));
  EXPECT_EQ(run_node("CumSum", {x, axis}, {attribute("exclusive", kOne)})[0].array().to_vector<float>(),
            (std::vector<float>{0, 1, 3}));
}

}  // namespace
}  // namespace catenary
