// If, Loop, Scan and functions, beyond the cases of ONNX.

#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/core/config.h"
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

constexpr std::uint64_t kInt64 = 7, kBool = 9;

Message bool_tensor(const std::string& name, bool value) {
  return Message().integer(2, kBool).text(8, name).integer(5, value);
}

std::string opened(const Message& m) {
  return error_of<ValueError>([&] {
    const Written file(m);
    onnx::Model net(file.path);
  });
}

/// y = x * w if yes, else x + w, where the branches find x and w outside.
Graph with_branches() {
  const Graph product{{node("Mul", {"x", "w"}, {"a"})}, {}, {}, {value("a", {-1})}};
  const Graph sum{{node("Add", {"x", "w"}, {"a"})}, {}, {}, {value("a", {-1})}};
  return {{node("If", {"yes"}, {"y"}, {attribute("then_branch", product), attribute("else_branch", sum)})},
          {tensor("w", {3}, {2, 3, 4})},
          {value("x", {-1}), value("yes", {}, kBool)},
          {value("y", {-1})}};
}

TEST(OnnxControl, BranchesCaptureAndTrainParameters) {
  const Written file(model(with_branches().message()));
  const onnx::Model net(file.path);
  EXPECT_EQ(net.operators(), (std::vector<std::pair<std::string, int>>{{"Add", 1}, {"If", 1}, {"Mul", 1}}));
  const Variable x(shaped({5, 6, 7}, {3}));
  for (const bool yes : {true, false}) {
    net.cleargrads();
    const Variable y = net({x, full(Shape{}, yes, Dtype::bool_)})[0];
    expect_near(y.array(), shaped(yes ? std::vector<float>{10, 18, 28} : std::vector<float>{7, 9, 11}, {3}));
    F::sum(y).backward();
    expect_near(net.params()[0].grad(), shaped(yes ? std::vector<float>{5, 6, 7} : std::vector<float>{1, 1, 1}, {3}));
  }
  const Variable many(full(Shape{2}, true, Dtype::bool_), false);
  EXPECT_TRUE(has(error_of<ValueError>([&] { net({x, many}); }), "the condition must be one bool"));
}

TEST(OnnxControl, BodiesAreCheckedWhenOpened) {
  Graph branch{{node("Frobnicate", {"x"}, {"a"})}, {}, {}, {value("a", {-1})}};
  Graph graph = with_branches();
  const auto with = [&] {
    graph.nodes = {node("If", {"yes"}, {"y"}, {attribute("then_branch", branch), attribute("else_branch", branch)})};
    return opened(model(graph.message()));
  };
  EXPECT_TRUE(has(with(), "Frobnicate (node 'the_a'"));
  branch.nodes = {node("Relu", {"nowhere"}, {"a"})};
  EXPECT_TRUE(has(with(), "node 'the_a' (Relu): input 'nowhere' is not known"));
  branch.nodes = {node("Relu", {"y"}, {"a"})};  // the node's own result
  EXPECT_TRUE(has(with(), "input 'y' is not known"));
}

/// The sum over k < n of h = h * w + k, and each h.
Graph with_loop(const std::vector<std::string>& limits) {
  const Graph body{
      {node("Cast", {"k"}, {"f"}, {attribute("to", std::int64_t{1})}), node("Mul", {"h", "w"}, {"m"}),
       node("Add", {"m", "f"}, {"next"}), node("Identity", {"next"}, {"row"}), node("Identity", {"go"}, {"again"})},
      {},
      {value("k", {}, kInt64), value("go", {}, kBool), value("h", {2})},
      {value("again", {}, kBool), value("next", {2}), value("row", {2})}};
  return {{node("Loop", {limits[0], limits[1], "x"}, {"y", "rows"}, {attribute("body", body)})},
          {tensor("w", {2}, {2, -1}), bool_tensor("yes", true)},
          {value("x", {2}), value("n", {}, kInt64)},
          {value("y", {2}), value("rows", {-1, 2})}};
}

TEST(OnnxControl, LoopsTrainParametersAndCollectRows) {
  const Written file(model(with_loop({"n", ""}).message()));
  const onnx::Model net(file.path);
  const Variable x(shaped({3, 5}, {2}));
  const auto run = [&](std::int64_t n) { return net({x, full(Shape{}, n, Dtype::int64)}); };
  const std::vector<Variable> results = run(3);
  expect_near(results[0].array(), shaped({28, -4}, {2}));  // ((3 * 2 + 0) * 2 + 1) * 2 + 2
  expect_near(results[1].array(), shaped({6, -5, 13, 6, 28, -4}, {3, 2}));
  net.cleargrads();
  F::sum(results[0]).backward();
  expect_near(net.params()[0].grad(), shaped({3 * 3 * 4 + 1, 3 * 5 * 1 + 1}, {2}));
  for (const std::int64_t n : {0, -2}) {
    EXPECT_EQ(run(n)[1].shape(), Shape({0, 2}));
    expect_near(run(n)[0].array(), x.array());
  }
}

TEST(OnnxControl, EndlessLoopsEnd) {
  const std::vector<Message> inputs{value("k", {}, kInt64), value("go", {}, kBool), value("h", {2})};
  const std::pair<Graph, const char*> cases[] = {
      {Graph{{node("Identity", {"go"}, {"again"}), node("Identity", {"x"}, {"next"})},
             {},
             inputs,
             {value("again", {}, kBool), value("next", {2})}},
       "node 'the_y' (Loop): a call runs at most 8388608 nodes, with those of bodies and their values"},
      {Graph{{}, {}, inputs, {value("go", {}, kBool), value("h", {2})}},
       "node 'the_y' (Loop): the bodies of If, Loop, Scan and SequenceMap run at most 1048576 times"}};
  for (const auto& [body, expected] : cases) {
    Graph graph = with_loop({"n", "yes"});
    graph.nodes = {node("Loop", {"n", "yes", "x"}, {"y"}, {attribute("body", body)})};
    graph.outputs.resize(1);
    const Written file(model(graph.message()));
    const onnx::Model net(file.path);
    const auto scope = no_backprop_mode();
    const Variable trips(full(Shape{}, std::int64_t{1} << 60, Dtype::int64), false);
    const std::string endless = error_of<ValueError>([&] { net({Variable(shaped({3, 5}, {2})), trips}); });
    EXPECT_TRUE(has(endless, expected)) << endless;
  }
}

TEST(OnnxControl, ScansRefuseWrongAxesAndCounts) {
  Graph body{{node("Add", {"s", "r"}, {"t"}), node("Identity", {"t"}, {"row"})},
             {},
             {value("s", {2}), value("r", {2})},
             {value("t", {2}), value("row", {2})}};
  const auto scan = [&](const std::vector<Message>& attributes) {
    std::vector<Message> all = attributes;
    all.push_back(attribute("body", body));
    const Graph graph{{node("Scan", {"s0", "x"}, {"s1", "rows"}, all)},
                      {},
                      {value("s0", {2}), value("x", {-1, -1})},
                      {value("s1", {2}), value("rows", {-1, -1})}};
    const Written file(model(graph.message()));
    return onnx::Model(file.path)({Variable(shaped({1, 2}, {2})), Variable(shaped({1, 2, 3, 4, 5, 6}, {2, 3}))});
  };
  const Message one = attribute("num_scan_inputs", std::int64_t{1});
  // columns of x from the last to the first, and rows as columns
  const std::vector<Variable> results =
      scan({one, attribute("scan_input_axes", Numbers{-1}), attribute("scan_input_directions", Numbers{1}),
            attribute("scan_output_axes", Numbers{1})});
  expect_near(results[0].array(), shaped({7, 17}, {2}));
  expect_near(results[1].array(), shaped({4, 6, 7, 8, 13, 17}, {2, 3}));
  const auto refused = [&](const std::vector<Message>& a) { return error_of<ValueError>([&] { scan(a); }); };
  EXPECT_TRUE(has(refused({}), "attribute 'num_scan_inputs' is missing"));
  EXPECT_TRUE(has(refused({one, attribute("scan_input_axes", Numbers{2})}), "axis 2 is out of range"));
  EXPECT_TRUE(has(refused({one, attribute("scan_input_axes", Numbers{0, 1})}), "has 2 numbers instead of 1"));
  EXPECT_TRUE(has(refused({attribute("num_scan_inputs", std::int64_t{3})}), "do not fit 2 inputs with 3 scans"));
}

/// A model that calls functions of the domain "local".
Message calling(const Message& call, const std::vector<Message>& functions) {
  const Graph graph{{call}, {}, {value("x", {-1})}, {value("y", {-1})}};
  Message m = model(graph.message()).message(8, Message().text(1, "local").integer(2, 1));
  for (const Message& f : functions) m.message(25, f);
  return m;
}

TEST(OnnxControl, FunctionsGetAttributesOfTheCall) {
  const Message leaky =
      function("Leaky", {"a"}, {"b"}, {node("LeakyRelu", {"a"}, {"b"}, {reference("alpha", "slope", 1)})});
  const Message twice = function(
      "Twice", {"a"}, {"c"},
      {node("Leaky", {"a"}, {"b"}, {reference("slope", "s", 1)}, "local"), node("Leaky", {"b"}, {"c"}, {}, "local")});
  const Written file(model(Graph{}.message()));
  const auto run = [&](const std::vector<Message>& attributes) {
    write(file.path, calling(node("Twice", {"x"}, {"y"}, attributes, "local"), {twice, leaky}).bytes);
    return onnx::Model(file.path)({Variable(shaped({-2, 3}, {2}))})[0].array();
  };
  expect_near(run({attribute("s", 0.5)}), shaped({-0.01F, 3}, {2}));  // the second call has ONNX's default, 0.01
  expect_near(run({}), shaped({-0.0002F, 3}, {2}));
}

TEST(OnnxControl, FunctionsAreCheckedWhenOpened) {
  const auto call = node("F0", {"x"}, {"y"}, {}, "local");
  EXPECT_TRUE(has(opened(calling(call, {function("F0", {"a"}, {"b"}, {node("Frobnicate", {"a"}, {"b"})})})),
                  "Frobnicate (node 'the_b'"));
  EXPECT_TRUE(has(opened(calling(call, {function("F0", {"a"}, {"b"}, {node("Relu", {"x"}, {"b"})})})),
                  "input 'x' is not known"));
  EXPECT_TRUE(has(opened(calling(call, {function("F0", {"a"}, {"b"}, {node("F0", {"a"}, {"b"}, {}, "local")})})),
                  "nested more than 64 deep"));
  EXPECT_TRUE(has(opened(calling(call, {})), "local.F0 (node 'the_y'"));
  std::vector<Message> bomb;  // 2^40 nodes
  for (int i = 0; i < 40; ++i) {
    const std::string next = "F" + std::to_string(i + 1);
    bomb.push_back(function("F" + std::to_string(i), {"a"}, {"c"},
                            {node(i == 39 ? "Relu" : next, {"a"}, {"b"}, {}, i == 39 ? "" : "local"),
                             node(i == 39 ? "Relu" : next, {"b"}, {"c"}, {}, i == 39 ? "" : "local")}));
  }
  EXPECT_TRUE(has(opened(calling(call, bomb)), "expand to more than 1048576 nodes"));
}

}  // namespace
}  // namespace catenary
