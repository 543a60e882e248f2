// Gradients and errors of ONNX's losses. ONNX's own cases check the results.

#include <gtest/gtest.h>

#include <cmath>

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
using tests::has;
using tests::waves;

const Message kIgnored = attribute("ignore_index", std::int64_t{-7});

Message reduction(const char* how) { return attribute("reduction", how); }

TEST(OnnxLoss, GradientsAreRight) {
  const Array labels = array({2, -7, 0, 1, 2, 2}).reshape({2, 3}), weights = array({0.5, 2.0, 0.25});
  for (const char* how : {"none", "sum", "mean"})
    for (const char* type : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"})
      tests::check_gradients(
          [&](const std::vector<Variable>& x) {
            return run_node(type, {x[0], Variable(labels), x[1]}, {kIgnored, reduction(how)});
          },
          {waves({2, 3, 3}, 0.3, Dtype::float64), weights});
}

TEST(OnnxLoss, IgnoredSamplesCountForNothing) {
  const Array scores = array({0.5, 1.5, -1.0, 2.0, std::nan(""), 0.0}).reshape({3, 2});
  const Array labels = array({1, 0, -7});
  const auto of = [&](const char* how) {
    return run_node("NegativeLogLikelihoodLoss", {Variable(scores), Variable(labels)}, {kIgnored, reduction(how)})[0]
        .array();
  };
  tests::expect_near(of("none"), array({-1.5, 1.0, 0.0}));
  tests::expect_near(of("mean"), array(-0.25));
}

TEST(OnnxLoss, WrongLabelsAndReductionsRaiseValueError) {
  const Variable scores(waves({2, 3}, 0, Dtype::float32));
  const auto fault = [&](const Array& labels, const char* how) {
    return error_of<ValueError>([&] {
      run_node("SoftmaxCrossEntropyLoss", {scores, Variable(labels)}, {reduction(how)});
    });
  };
  EXPECT_TRUE(has(fault(array({1, 2, 0}), "sum"), "labels of shape (3,) do not fit scores of shape (2, 3)"));
  EXPECT_TRUE(has(fault(array({1, 0}), "median"), "reduction 'median' is not supported"));
  EXPECT_TRUE(has(fault(array({1, 3}), "sum"), "3")) << fault(array({1, 3}), "sum");
}

}  // namespace
}  // namespace catenary
