// Exports networks and checks options and errors.

#include <filesystem>

#include "catenary/functions/functions.h"
#include "catenary/links/connection.h"
#include "catenary/links/convolution.h"
#include "catenary/links/normalization.h"
#include "tests/onnx/exports.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace catenary {
namespace {

namespace F = functions;
namespace L = links;
using onnx_exports::expect_round_trip;
using onnx_exports::sample;
using tests::error_of;
using tests::Folder;
using tests::has;

struct Perceptron : Chain {
  L::Linear l1{12, 5}, l2{3};
  CT_LINKS(l1, l2)
  Variable operator()(const Variable& x) const { return F::softmax(l2(F::relu(l1(F::dropout(x))))); }
};

struct Convnet : Chain {
  L::Convolution2D c1{3, 4, 3, {.pad = 1}}, c2{4, 6, {3, 2}, {.stride = 2}};
  L::BatchNormalization bn{4};
  L::Linear l{5};
  CT_LINKS(c1, c2, bn, l)
  Variable operator()(const Variable& x) const {
    const Variable h = F::max_pooling_2d(F::relu(bn(c1(x))), 2);
    const Variable z = F::average_pooling_2d(F::tanh(c2(h)), 2, {.stride = 1, .pad = 1});
    return l(F::reshape(z, {x.shape(0), -1}));
  }
};

TEST(OnnxExport, WritesAPerceptron) {
  const Perceptron net;
  expect_round_trip(net, [&](std::span<const Variable> x) { return std::vector{net(x[0])}; }, {sample({2, 12})});
}

TEST(OnnxExport, WritesAConvnet) {
  const Convnet net;
  net(sample({4, 3, 11, 13}));  // changes the statistics
  expect_round_trip(net, [&](std::span<const Variable> x) { return std::vector{net(x[0])}; }, {sample({1, 3, 11, 13})});
}

TEST(OnnxExport, NamesParametersAndPorts) {
  const Folder folder;
  const std::string path = folder.path + "/net.onnx";
  const Perceptron net;
  onnx::export_model(path, net, {sample({3, 12})}, {.input_names = {"image"}, .output_names = {"scores"}});
  const onnx::Model read(path);
  std::vector<std::string> names;
  for (const auto& [name, parameter] : read.namedparams()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"/l1/W", "/l1/b", "/l2/W", "/l2/b"}));
  EXPECT_EQ(read.inputs()[0].name, "image");
  EXPECT_EQ(read.inputs()[0].shape, (std::vector<std::string>{"batch", "12"}));
  EXPECT_EQ(read.outputs()[0].name, "scores");
  EXPECT_EQ(read.outputs()[0].shape, (std::vector<std::string>{"batch", "3"}));
  EXPECT_EQ(read.opset(), 20);
}

TEST(OnnxExport, RefusesFunctionsByNameBeforeItWrites) {
  const Folder folder;
  const std::string path = folder.path + "/net.onnx";
  const auto function = [](std::span<const Variable> x) { return std::vector{F::digamma(F::lgamma(x[0]))}; };
  const std::string error = error_of([&] { onnx::export_model(path, Chain(), function, {ones({2, 3})}); });
  EXPECT_TRUE(has(error, "functions cannot be exported: DiGamma, LGamma")) << error;
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(OnnxExport, RefusesConstantsThatDependOnInputs) {
  const Folder folder;
  const std::string path = folder.path + "/net.onnx";
  const auto by_values = [](std::span<const Variable> x) { return std::vector{x[0] * (x[0].array() > 0)}; };
  EXPECT_TRUE(has(error_of([&] {
                    // enough elements that their signs differ in another order
                    onnx::export_model(path, Chain(), by_values, {sample({8, 32})});
                  }),
                  "Mul: a constant of shape (8, 32) depends on the inputs"));
  const auto by_size = [](std::span<const Variable> x) {
    return std::vector{x[0] * static_cast<double>(x[0].shape(0))};
  };
  EXPECT_TRUE(has(error_of([&] {
                    onnx::export_model(path, Chain(), by_size, {sample({2, 3})});
                  }),
                  "MulConstant: c depends on the inputs: it is 2 or 5"));
  const auto by_loop = [](std::span<const Variable> x) {
    Variable y = x[0][0];
    for (std::int64_t i = 1; i < x[0].shape(0); ++i) y = y + x[0][i];
    return std::vector{y};
  };
  EXPECT_TRUE(has(error_of([&] {
                    onnx::export_model(path, Chain(), by_loop, {sample({2, 3})});
                  }),
                  "the graph depends on sizes or values of the inputs: it has 3 or 9 functions"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(OnnxExport, TheGuideListsTheFunctions) {
  const std::string all = tests::text_of(tests::source_path("docs/guide/onnx.md"));
  std::string wanted;
  for (const std::string& name : onnx::exported_functions()) wanted += (wanted.empty() ? "`" : ", `") + name + "`";
  EXPECT_TRUE(has(all, "## Exported functions\n\n" + wanted + "\n")) << "docs/guide/onnx.md must list " << wanted;
}

TEST(OnnxExport, RefusesBadOptions) {
  const Perceptron net;
  const auto refused = [&](const onnx::ExportOptions& options) {
    return error_of([&] { onnx::export_model("net.onnx", net, {sample({3, 12})}, options); });
  };
  EXPECT_TRUE(has(refused({.opset = 17}), "opset 17 is not supported"));
  EXPECT_TRUE(has(refused({.input_names = {"a", "b"}}), "2 names are given for 1 inputs"));
  EXPECT_TRUE(has(refused({.output_names = {""}}), "may not be empty"));
  EXPECT_TRUE(has(refused({.dynamic_axes = onnx::DynamicAxes{{"z", {{0, "n"}}}}}), "there is no input 'z'"));
  EXPECT_TRUE(has(refused({.dynamic_axes = onnx::DynamicAxes{{"x", {{2, "n"}}}}}), "'x' has no axis 2"));
}

}  // namespace
}  // namespace catenary
