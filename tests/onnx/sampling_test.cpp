// Gradients and wrong inputs of GridSample, AffineGrid and DeformConv. scripts/onnx_cases compares values.

#include "catenary/array/creation.h"
#include "catenary/core/error.h"
#include "tests/arrays.h"
#include "tests/gradients.h"
#include "tests/onnx/node.h"
#include "tests/texts.h"

namespace catenary {
namespace {

using namespace onnx_writer;
using tests::error_of;
using tests::has;
using tests::waves;

TEST(OnnxSampling, GridSampleHasGradients) {
  const Array grid = multiply(waves({2, 3, 2, 2}, 0.4, Dtype::float64), 1.3);
  for (const char* mode : {"linear", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (const std::int64_t align : {0, 1}) {
        const auto f = [&](const std::vector<Variable>& x) {
          return run_node(
              "GridSample", x,
              {attribute("mode", mode), attribute("padding_mode", padding), attribute("align_corners", align)});
        };
        const auto scope = tests::one_by_one_on_devices();
        gradient_check::CheckOptions options;
        options.eps = 1e-5;
        EXPECT_NO_THROW(
            gradient_check::check_backward(f, {waves({2, 3, 4, 5}, 0, Dtype::float64), grid}, {}, {}, options))
            << mode << " " << padding << " " << align;
      }
}

TEST(OnnxSampling, GridSampleMapsPointsThatAreNotNumbersInside) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), large = 1e30F;
  const Variable x(ones({1, 1, 3, 3}, Dtype::float32)), grid(array({nan, 0.F, large, -large}).reshape({1, 1, 2, 2}));
  for (const char* mode : {"linear", "nearest", "cubic"}) {
    const Variable y =
        run_node("GridSample", {x, grid}, {attribute("mode", mode), attribute("padding_mode", "border")})[0];
    EXPECT_FLOAT_EQ(y.array().to_vector<float>()[1], 1) << mode;
  }
}

TEST(OnnxSampling, GridSampleRefusesWhatItDoesNotKnow) {
  const Variable x(ones({1, 2, 3, 3}, Dtype::float32)), grid(zeros({1, 2, 2, 2}, Dtype::float32));
  const auto error = [&](const Variable& points, const Message& a) {
    return error_of<ValueError>([&] { run_node("GridSample", {x, points}, {a}); });
  };
  EXPECT_TRUE(has(error(grid, attribute("mode", "lanczos")), "mode 'lanczos' is not supported"));
  EXPECT_TRUE(has(error(grid, attribute("padding_mode", "wrap")), "padding_mode 'wrap' is not supported"));
  const Variable other(zeros({2, 2, 2, 2}, Dtype::float32));
  EXPECT_TRUE(has(error(other, attribute("mode", "linear")), "does not fit an input of shape (1, 2, 3, 3)"));
}

TEST(OnnxSampling, AffineGridHasGradients) {
  const Variable size(array({std::int64_t{2}, 3, 4, 5}));
  tests::check_gradients(
      [&](const std::vector<Variable>& x) {
        return run_node("AffineGrid", {x[0], size});
      },
      {waves({2, 2, 3}, 0, Dtype::float64)});
}

TEST(OnnxSampling, DeformConvHasGradients) {
  const auto f = [](const std::vector<Variable>& x) {
    return run_node("DeformConv", {x[0], x[1], x[2], x[3], x[4]},
                    {attribute("group", std::int64_t{2}), attribute("offset_group", std::int64_t{2}),
                     attribute("pads", Numbers{1, 0, 0, 1}), attribute("strides", Numbers{1, 2}),
                     attribute("dilations", Numbers{1, 2})});
  };
  const auto scope = tests::one_by_one_on_devices();
  gradient_check::CheckOptions options;
  options.eps = 1e-5;
  EXPECT_NO_THROW(gradient_check::check_backward(
      f,
      {waves({2, 4, 4, 6}, 0, Dtype::float64), waves({6, 2, 2, 3}, 1, Dtype::float64),
       waves({2, 24, 4, 2}, 2, Dtype::float64), waves({6}, 3, Dtype::float64), waves({2, 12, 4, 2}, 4, Dtype::float64)},
      {}, {}, options));
  EXPECT_TRUE(has(error_of<ValueError>([&] {
                    f({Variable(waves({2, 4, 4, 6}, 0, Dtype::float64)),
                       Variable(waves({6, 2, 2, 3}, 1, Dtype::float64)),
                       Variable(waves({2, 24, 4, 3}, 2, Dtype::float64)), Variable(), Variable()});
                  }),
                  "offsets have the shape (2, 24, 4, 3) where (2, 24, 4, 2) is needed"));
}

}  // namespace
}  // namespace catenary
