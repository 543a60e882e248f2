// Sequences, optionals, constants and operators of opset 6, beyond the cases of ONNX.

#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/core/error.h"
#include "catenary/functions/functions.h"
#include "catenary/onnx/model.h"
#include "tests/onnx/values.h"
#include "tests/texts.h"

namespace catenary {
namespace {

namespace F = functions;
using namespace onnx_writer;
using tests::error_of;
using tests::has;

/// A value that is a sequence of float32, or an optional one.
Message sequence_value(const std::string& name, bool is_optional = false) {
  const Message tensor_type = Message().message(1, Message().integer(1, 1));
  Message type = Message().message(4, Message().message(1, tensor_type));
  if (is_optional) type = Message().message(9, Message().message(1, type));
  return Message().text(1, name).message(2, type);
}

TEST(OnnxSequence, GradientsPassThroughSequences) {
  // y = concat(insert(items, x * w, 1))
  const Graph graph{{node("Mul", {"x", "w"}, {"m"}), node("SequenceInsert", {"items", "m", "one"}, {"more"}),
                     node("ConcatFromSequence", {"more"}, {"y"}, {attribute("axis", std::int64_t{0})})},
                    {tensor("w", {2}, {3, 5}), integers("one", {1})},
                    {sequence_value("items"), value("x", {2})},
                    {value("y", {-1}), sequence_value("more")}};
  const Written file(model(graph.message()));
  const onnx::Model net(file.path);
  EXPECT_EQ(net.inputs()[0].type(), "sequence of float32");
  const auto items = onnx::Value::sequence({shaped({1}, {1}), shaped({2, 3}, {2})});
  const Variable x(shaped({7, -1}, {2}));
  const onnx::Values results = net.run(onnx::Values{items, x});
  expect_near(results[0].array(), shaped({1, 21, -5, 2, 3}, {5}));
  ASSERT_EQ(results[1].items().size(), 3U);
  net.cleargrads();
  F::sum(results[0].variable()).backward();
  expect_near(net.params()[0].grad(), x.array());
  const auto refused = [&](const onnx::Values& inputs) { return error_of<Error>([&] { net.run(inputs); }); };
  EXPECT_TRUE(has(refused({x, x}), "input 'items' is sequence of float32, given an array"));
  EXPECT_TRUE(has(refused({items, items}), "input 'x' is float32, given a sequence"));
  EXPECT_TRUE(has(refused({items, onnx::Value()}), "input 'x' is empty, but it is no optional"));
  const auto wrong = onnx::Value::sequence({Variable(zeros({1}, Dtype::float64))});
  EXPECT_TRUE(has(refused({wrong, x}), "input 'items' is sequence of float32, given float64"));
  EXPECT_TRUE(has(refused({onnx::Value::sequence({}), x}), "the position is out of range for 0 elements"));
  EXPECT_TRUE(has(error_of<ValueError>([&] { net({x, x}); }), "given an array"));
}

TEST(OnnxSequence, EmptyOptionalsAreNotRead) {
  const Graph graph{{node("OptionalGetElement", {"maybe"}, {"items"}), node("SequenceLength", {"items"}, {"y"})},
                    {},
                    {sequence_value("maybe", true)},
                    {value("y", {}, 7)}};
  const Written file(model(graph.message()));
  const onnx::Model net(file.path);
  EXPECT_EQ(net.inputs()[0].type(), "optional sequence of float32");
  const auto run = [&](const onnx::Value& x) {
    return net.run(std::vector<onnx::Value>{x})[0].array().item<std::int64_t>();
  };
  EXPECT_EQ(run(onnx::Value::sequence({})), 0);
  EXPECT_EQ(run(onnx::Value::sequence({shaped({1}, {1})})), 1);
  EXPECT_TRUE(has(error_of<ValueError>([&] { run({}); }), "node 'the_items' (OptionalGetElement): input 0 is missing"));
}

TEST(OnnxSequence, ElementsHaveOneDtype) {
  const auto run = [](const std::string& index) {
    const Graph graph{
        {node("Cast", {"x"}, {"h"}, {attribute("to", std::int64_t{11})}),
         node("SequenceConstruct", {"x", index == "mixed" ? "h" : "x"}, {"s"}), node("SequenceAt", {"s", "i"}, {"y"})},
        {integers("i", {index == "mixed" ? 0 : std::stoll(index)})},
        {value("x", {-1})},
        {value("y", {-1})}};
    const Written file(model(graph.message()));
    return error_of<ValueError>([&] { onnx::Model(file.path)({Variable(shaped({1}, {1}))}); });
  };
  EXPECT_TRUE(has(run("mixed"), "an array of float64 does not fit into a sequence of float32"));
  EXPECT_TRUE(has(run("2"), "position 2 is out of range for 2 places"));
  EXPECT_TRUE(has(run("-3"), "position -3 is out of range for 2 places"));
}

TEST(OnnxConstants, AreComputedOnce) {
  // y = x * c + [1, 2], where c = exp([0, 0]) * 2
  const auto constant = [](const std::string& name, const std::vector<float>& values) {
    return node("Constant", {}, {name},
                {Message().text(1, "value").message(5, tensor("", {2}, values)).integer(20, 4)});
  };
  const Graph graph{
      {constant("zero", {0, 0}), constant("two", {2, 2}), constant("b", {1, 2}), node("Exp", {"zero"}, {"one"}),
       node("Mul", {"one", "two"}, {"c"}), node("Mul", {"x", "c"}, {"m"}), node("Add", {"m", "b"}, {"y"})},
      {},
      {value("x", {2})},
      {value("y", {2}), value("c", {2})}};
  const Written file(model(graph.message()));
  const onnx::Model net(file.path);
  const Variable x(shaped({3, 4}, {2}));
  for (int i = 0; i < 2; ++i) {
    const std::vector<Variable> results = net({x});
    expect_near(results[0].array(), shaped({7, 10}, {2}));
    expect_near(results[1].array(), shaped({2, 2}, {2}));
    results[1].array().fill(0);  // changes this result only
  }
}

TEST(OnnxConstants, WrongOnesAreRefusedWhereTheyAlwaysRun) {
  Graph graph{{node("Reshape", {"shape", "shape"}, {"y"})}, {integers("shape", {2, 2})}, {}, {value("y", {2, 2}, 7)}};
  const auto opened = [&] {
    const Written file(model(graph.message()));
    onnx::Model net(file.path);
  };
  EXPECT_TRUE(has(error_of<ValueError>(opened), "node 'the_y' (Reshape): "));
  const Graph wrong{graph.nodes, {}, {}, graph.outputs};
  const Graph right{{node("Identity", {"shape"}, {"y2"})}, {}, {}, {value("y2", {2}, 7)}};
  graph.nodes = {node("If", {"yes"}, {"y"}, {attribute("then_branch", right), attribute("else_branch", wrong)})};
  graph.inputs = {value("yes", {}, 9)};
  const Written file(model(graph.message()));
  const onnx::Model net(file.path);
  EXPECT_EQ(net({full(Shape{}, true, Dtype::bool_)})[0].array().to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{2, 2}));
  EXPECT_THROW(net({full(Shape{}, false, Dtype::bool_)}), ValueError);
}

TEST(OnnxOpset6, BroadcastsFromAnAxisIfTheNodeSaysSo) {
  const Variable x(shaped(numbers(12, 1), {2, 3, 2})), y(shaped({1, 2, 3}, {3}));
  const auto run = [&](const std::vector<Message>& a) { return run_node("Sub", {x, y}, a, 1, 6)[0].array(); };
  const Message broadcast = attribute("broadcast", std::int64_t{1});
  expect_near(run({broadcast, attribute("axis", std::int64_t{1})}), (x - F::reshape(y, {3, 1})).array());
  EXPECT_TRUE(has(error_of<ValueError>([&] { run({}); }), "differ, and the node does not broadcast"));
  EXPECT_THROW(run({broadcast, attribute("axis", std::int64_t{4})}), ValueError);
  EXPECT_TRUE(has(error_of<ValueError>([&] { run_node("Dropout", {x}, {}, 1, 6); }), "training mode is not supported"));
  expect_near(run_node("Dropout", {x}, {attribute("is_test", std::int64_t{1})}, 1, 6)[0].array(), x.array());
}

}  // namespace
}  // namespace catenary
