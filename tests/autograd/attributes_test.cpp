// Attributes that functions list, and graphs rebuilt from them.

#include "catenary/autograd/attributes.h"

#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/autograd/computational_graph.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/autograd/operators.h"
#include "catenary/functions/functions.h"

namespace catenary {
namespace {

namespace F = functions;

Variable of_shape(const Shape& shape) { return Variable(ones(shape, Dtype::float32)); }

std::string told(const Variable& y) {
  std::string text;
  for (const auto& [name, value] : attributes_of(*y.node().creator()))
    text += (text.empty() ? "" : ", ") + name + "=" + to_string(value);
  return text;
}

TEST(Attributes, AreWhatTheFunctionWasCalledWith) {
  const Variable x = of_shape({2, 3, 4, 4});
  EXPECT_EQ(told(F::sum(x, {0, 2}, true)), "axis=[0, 2], keepdims=True");
  EXPECT_EQ(told(F::sum(x)), "axis=None, keepdims=False");
  EXPECT_EQ(told(F::relu(x)), "");
  EXPECT_EQ(told(x + 2), "c=2");
  EXPECT_EQ(told(x * 0.5), "c=0.5");
  EXPECT_EQ(told(F::cast(x, Dtype::float16)), "dtype=float16");
  EXPECT_EQ(told(F::copy(x, Device())), "to=cpu");
  EXPECT_EQ(told(F::clip(x, 0.5, {})), "low=0.5, high=None");
  EXPECT_EQ(told(x(1, slice(0, 2), ellipsis, slice(none, none, 2))), "indices=[1, 0:2, ..., ::2]");
  EXPECT_EQ(told(x(arange(2, Dtype::int64), 0)), "indices=[int64 (2,), 0]");
  EXPECT_EQ(told(F::pad(x, {{0, 0}, {0, 0}, {1, 2}, {0, 1}}, {.mode = PadMode::constant, .constant_value = 2})),
            "width=[0, 0, 0, 0, 1, 2, 0, 1], mode='constant', constant_value=[2, 2], end_value=[0, 0], "
            "stat_length=None, odd=False");
  EXPECT_EQ(
      told(F::softmax_cross_entropy(of_shape({2, 3}), Variable(zeros({2}, Dtype::int32), false),
                                    {.class_weight = ones({3}, Dtype::float32), .reduce = F::Reduce::no})),
      "normalize=True, ignore_label=-1, class_weight=float32 (3,), reduce='no', kl_divergence=False, cache_score=True");
  EXPECT_EQ(told(F::convolution_2d(x, of_shape({6, 3, 2, 2}), {.stride = 2, .pad = 1})),
            "size=[2, 2], stride=[2, 2], pad=[1, 1], dilate=[1, 1], groups=1, extents=[4, 4], counts=[3, 3]");
  EXPECT_EQ(told(F::max_pooling_2d(x, 2)),
            "size=[2, 2], stride=[2, 2], pad=[0, 0], dilate=[1, 1], elements=[2, 3, 4, 4], windows=[2, 3, 2, 2], "
            "lie=[48, 16, 4, 1]");
}

TEST(Attributes, AreOfTheirKind) {
  const auto all = attributes_of(*F::clip(of_shape({2}), 0.5, 2.0).node().creator());
  EXPECT_EQ(all[0].first, "low");
  EXPECT_EQ(std::get<double>(all[0].second), 0.5);
  EXPECT_EQ(std::get<double>(all[1].second), 2.0);
  const Array mask = std::get<Array>(attributes_of(*F::dropout(of_shape({3}), 0.5).node().creator())[0].second);
  EXPECT_EQ(mask.shape(), (Shape{3}));
}

struct Plain : Unary<Plain, keep::nothing> {
  static constexpr const char* kName = "Plain";
  static Array f(const Array& x) { return x * 2; }
  static auto df(const auto& gy, const auto&, const auto&) { return gy * 2; }
};
struct Silent : Unary<Silent, keep::nothing> {
  explicit Silent(double by) : by(by) {}
  static constexpr const char* kName = "Silent";
  Array f(const Array& x) { return x * by; }
  auto df(const auto& gy, const auto&, const auto&) { return gy * by; }
  double by;
};

TEST(Attributes, FunctionsWithSilentStateAreRefused) {
  const Variable plain = apply(node<Plain>(), of_shape({2})), silent = apply(node<Silent>(3.0), of_shape({2}));
  EXPECT_EQ(told(plain), "");
  EXPECT_EQ(apply(plain.node().creator()->again(), of_shape({2})).array().sum().item<float>(), 4);
  EXPECT_FALSE(silent.node().creator()->again());
  try {
    build_computational_graph({silent}).operations();
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(), "Silent: the function has no description; add CT_ATTRIBUTES to its class");
  }
}

TEST(Attributes, OfAGraphInTheOrderOfComputation) {
  Variable x = of_shape({2, 3}), w = of_shape({4, 3});
  const Variables parts = F::split_axis(F::linear(x, w), 2, 1);
  const Variable y = F::sum(parts[0] * 3.0, 1);
  EXPECT_EQ(build_computational_graph({y}).operations(),
            "x0: float32 (2, 3)\n"
            "x1: float32 (4, 3)\n"
            "x2 = LinearFunction(x0, x1): float32 (2, 4)\n"
            "x3, x4 = SplitAxis(x2, sections=2, axis=1): float32 (2, 2), float32 (2, 2)\n"
            "x5 = MulConstant(x3, c=3): float32 (2, 2)\n"
            "x6 = Sum(x5, axis=[1], keepdims=False): float32 (2,)\n");
  const std::string shown = build_computational_graph({y}, {.show_attributes = true}).dump();
  EXPECT_NE(shown.find("label=\"SplitAxis\nsections=2\naxis=1\""), std::string::npos) << shown;
}

}  // namespace
}  // namespace catenary
