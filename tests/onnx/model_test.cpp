// Runs, trains and moves small ONNX models, and compares them with functions of the library.

#include "catenary/onnx/model.h"

#include <gtest/gtest.h>

#include <set>

#include "catenary/array/creation.h"
#include "catenary/array/manipulation.h"
#include "catenary/core/config.h"
#include "catenary/core/error.h"
#include "catenary/functions/functions.h"
#include "catenary/optimizers/optimizers.h"
#include "tests/onnx/values.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace catenary {
namespace {

namespace F = functions;
using namespace onnx_writer;
using tests::error_of;
using tests::has;

/// x [n, 2, 5, 5] → convolution with padding on one side → relu → pooling → flatten → product.
Graph small_network() {
  return {{node("Conv", {"x", "w", "b"}, {"c"},
                {attribute("pads", Numbers{0, 1, 1, 1}), attribute("strides", Numbers{1, 2})}),
           node("Relu", {"c"}, {"r"}), node("MaxPool", {"r"}, {"p"}, {attribute("kernel_shape", Numbers{2, 2})}),
           node("Flatten", {"p"}, {"f"}), node("Gemm", {"f", "v", "d"}, {"y"}, {attribute("transB", std::int64_t{1})})},
          {tensor("w", {3, 2, 2, 3}, numbers(36)), tensor("b", {3}, numbers(3)), tensor("v", {4, 24}, numbers(96)),
           tensor("d", {4}, numbers(4))},
          {value("x", {-1, 2, 5, 5})},
          {value("y", {-1, 4})}};
}

Variable by_functions(const Variable& x, const std::vector<Variable>& p) {
  F::ConvolutionOptions options;
  options.stride = {1, 2};
  const Variable padded = F::pad(x, PerSide<std::int64_t>({{0, 0}, {0, 0}, {0, 1}, {1, 1}}));
  F::MaxPoolingOptions pooling;
  pooling.cover_all = false;
  pooling.stride = 1;
  const Variable h = F::max_pooling_2d(F::relu(F::convolution_2d(padded, p[0], p[1], options)), 2, pooling);
  return F::linear(F::reshape(h, {x.shape(0), -1}), p[2], p[3]);
}

TEST(OnnxModel, ComputesAndTrainsLikeFunctions) {
  const Written file(model(small_network().message()));
  const onnx::Model net(file.path);
  ASSERT_EQ(net.params().size(), 4U);
  EXPECT_EQ(net.namedparams()[0].first, "/w");
  EXPECT_EQ(net.inputs()[0].name, "x");
  EXPECT_EQ(net.inputs()[0].shape, (std::vector<std::string>{"n", "2", "5", "5"}));
  for (const std::int64_t n : {1, 3}) {
    const Variable x(shaped(numbers(static_cast<std::size_t>(n) * 50), {n, 2, 5, 5}));
    std::vector<Variable> copies;
    for (const Parameter& p : net.params()) copies.emplace_back(copy(p.array()));
    net.cleargrads();
    const Variable y = net({x})[0], wanted = by_functions(x, copies);
    expect_near(y.array(), wanted.array());
    F::sum(y * y).backward();
    F::sum(wanted * wanted).backward();
    for (std::size_t i = 0; i < copies.size(); ++i) expect_near(net.params()[i].grad(), copies[i].grad());
  }
  optimizers::SGD sgd(0.01);
  sgd.setup(net);
  const Variable x(shaped(numbers(50), {1, 2, 5, 5}));
  const auto loss = [&] { return F::mean(F::square(net({x})[0] - 1)); };
  const float before = loss().item<float>();
  for (int i = 0; i < 5; ++i) {
    net.cleargrads();
    loss().backward();
    sgd.update();
  }
  EXPECT_LT(loss().item<float>(), before);
}

TEST(OnnxModel, ComputesShapesInHostMemory) {
  // y = reshape(x, [shape(x)[0] * 2, -1]) on the device of the parameter
  const Graph graph{
      {node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"n"}), node("Mul", {"n", "two"}, {"m"}),
       node("Unsqueeze", {"m", "axes"}, {"u"}),
       node("Concat", {"u", "rest"}, {"t"}, {attribute("axis", std::int64_t{0})}), node("Add", {"x", "w"}, {"a"}),
       node("Reshape", {"a", "t"}, {"y"})},
      {Message().integer(2, 7).text(8, "zero").integer(7, 0), Message().integer(2, 7).text(8, "two").integer(7, 2),
       integers("axes", {0}), integers("rest", {-1}), tensor("w", {1}, {1})},
      {value("x", {-1, 4})},
      {value("y", {-1, -1})}};
  const Written file(model(graph.message()));
  const onnx::Model net(file.path);
  const Variable y = net({Variable(shaped(numbers(12), {3, 4}))})[0];
  EXPECT_EQ(y.shape(), Shape({6, 2}));
  EXPECT_EQ(y.device(), current_device());
  expect_near(y.array(), add(shaped(numbers(12), {3, 4}), 1).reshape({6, 2}));
}

TEST(OnnxModel, RefusesUnsupportedModelsWhenOpened) {
  const auto opened = [](const Message& m) {
    return error_of<ValueError>([&] {
      const Written file(m);
      onnx::Model net(file.path);
    });
  };
  Graph graph{{node("Relu", {"x"}, {"r"}), node("Frobnicate", {"r"}, {"y"}, {}, "com.example"),
               node("StringSplit", {"x"}, {"z"})},
              {},
              {value("x", {2})},
              {value("y", {2})}};
  const std::string both = opened(model(graph.message()));
  EXPECT_TRUE(has(both, "com.example.Frobnicate (node 'the_y'")) << both;
  EXPECT_TRUE(has(both, "StringSplit (node 'the_z'")) << both;
  graph.nodes.resize(1);
  graph.outputs = {value("r", {2})};
  EXPECT_TRUE(has(opened(model(graph.message(), 5)), "opset 5 is not supported, only opsets 6 to 28 are"));
  graph.inputs = {value("x", {2}, 17)};
  EXPECT_TRUE(has(opened(model(graph.message())), "'x' has elements of FLOAT8E4M3FN, which are not supported"));
  graph.inputs = {value("x", {2})};
  graph.nodes = {node("Relu", {"later"}, {"r"}), node("Relu", {"x"}, {"later"})};
  EXPECT_TRUE(has(opened(model(graph.message())), "node 'the_r' (Relu): input 'later' is not known"));
  graph.nodes = {node("Relu", {"x"}, {"r"}), node("Relu", {"x"}, {"r"})};
  EXPECT_TRUE(has(opened(model(graph.message())), "'r' is computed twice"));
  graph.nodes = {node("Relu", {"x"}, {"q"})};
  EXPECT_TRUE(has(opened(model(graph.message())), "output 'r' is not known"));
  graph.outputs = {value("", {2})};
  EXPECT_TRUE(has(opened(model(graph.message())), "output '' is not known"));
}

TEST(OnnxModel, NamesTheNodeThatFails) {
  Graph graph{{node("MatMul", {"x", "w"}, {"y"})},
              {tensor("w", {3, 2}, numbers(6))},
              {value("x", {-1, 3})},
              {value("y", {-1, 2})}};
  const Written file(model(graph.message()));
  const onnx::Model net(file.path);
  const std::string wrong = error_of<ValueError>([&] { net({Variable(shaped(numbers(8), {2, 4}))}); });
  EXPECT_TRUE(has(wrong, "node 'the_y' (MatMul): ")) << wrong;
  EXPECT_TRUE(has(error_of<ValueError>([&] { net({}); }), "0 inputs are given, but the model has 1"));
  EXPECT_TRUE(has(error_of<DtypeError>([&] {
                    net({Variable(zeros({2, 3}, Dtype::float64))});
                  }),
                  "input 'x' is float32, given float64"));
  graph.nodes = {node("Relu", {"x"}, {"y"}, {attribute("slope", 0.5)})};
  graph.initializers.clear();
  const Written other(model(graph.message()));
  const std::string unknown = error_of<ValueError>([&] {
    onnx::Model(other.path)({Variable(shaped(numbers(6), {2, 3}))});
  });
  EXPECT_TRUE(has(unknown, "attribute 'slope' is not known")) << unknown;
}

TEST(OnnxModel, CopiesAreIndependentWithCopyMode) {
  const Written file(model(small_network().message()));
  const onnx::Model net(file.path);
  const onnx::Model shared = net, own = copy_link(net, CopyMode::copy);
  net.params()[0].array().fill(0);
  EXPECT_EQ(shared.params()[0].array().sum().item<float>(), 0.0F);
  EXPECT_NE(own.params()[0].array().max().item<float>(), 0.0F);
}

/// The operators in the table of docs/guide/onnx.md.
TEST(OnnxModel, TheGuideListsTheOperators) {
  const std::string all = tests::text_of(tests::source_path("docs/guide/onnx.md"));
  const std::size_t begin = all.find("## Supported operators"), end = all.find("\n## ", begin + 1);
  ASSERT_NE(begin, std::string::npos);
  std::set<std::string> listed;
  const std::string table = all.substr(begin, end - begin);
  for (std::size_t i = table.find('`'); i != std::string::npos;) {
    const std::size_t close = table.find('`', i + 1);
    listed.insert(table.substr(i + 1, close - i - 1));
    i = table.find('`', close + 1);
  }
  const std::vector<std::string> supported = onnx::supported_operators();
  std::string wanted;
  for (const std::string& name : supported) wanted += "`" + name + "` ";
  EXPECT_EQ(listed, std::set<std::string>(supported.begin(), supported.end()))
      << "docs/guide/onnx.md must list " << wanted;
}

}  // namespace
}  // namespace catenary
