// Hostile ONNX files: sizes, values and structures that try to exhaust memory or time, or to reach other files.

#include "tests/onnx/hostile.h"

#include <filesystem>
#include <limits>
#include <random>

namespace catenary::hostile {
namespace {

using namespace onnx_writer;

constexpr std::uint64_t kInt64 = 7, kBool = 9;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
const Numbers kHuge = {std::int64_t{1} << 31, std::int64_t{1} << 40, std::int64_t{1} << 62, kLargest};
const Numbers kImpossible = {-1, -(std::int64_t{1} << 40), std::numeric_limits<std::int64_t>::min()};

/// An operator that makes large arrays from the integers in one of its inputs.
struct Maker {
  const char* type;
  std::vector<Message> attributes;
  Numbers shape;    ///< of x, or none if x is not an input
  int at;           ///< which input has the integers
  Numbers numbers;  ///< 1 stands for the hostile number, all others for themselves
  bool refuses_negative = true;
  std::vector<std::string> others = {};  ///< inputs behind the integers
};

const std::vector<Maker>& makers() {
  static const std::vector<Maker> all = {
      {"Expand", {}, {1, 1}, 1, {1, 1}},
      {"Tile", {}, {1, 1}, 1, {1, 1}},
      {"ConstantOfShape", {}, {}, 0, {1, 1}},
      {"Reshape", {}, {4}, 1, {1, 1}},
      {"Pad", {}, {2, 2}, 1, {1, 0, 1, 0}, false},
      {"Pad", {attribute("mode", "edge")}, {2, 2}, 1, {1, 0, 0, 1}, false},
      {"Pad", {attribute("mode", "wrap")}, {2, 2}, 1, {1, 0, 0, 1}, false},
      {"Resize", {}, {1, 1, 2, 2}, 3, {2, 2, 1, 1}},
      {"Resize", {attribute("mode", "cubic")}, {1, 1, 2, 2}, 3, {2, 2, 1, 1}},
      {"Resize", {attribute("mode", "linear"), number("antialias", 1)}, {1, 1, 2, 2}, 3, {2, 2, 1, 1}},
      {"OneHot", {}, {4}, 1, {1}, true, {"pair"}},
      {"HannWindow", {}, {}, 0, {1}},
      {"HammingWindow", {}, {}, 0, {1}},
      {"BlackmanWindow", {}, {}, 0, {1}},
      {"DFT", {}, {1, 4, 1}, 1, {1}},
      {"CenterCropPad", {}, {2, 2}, 1, {1, 1}},
      {"AffineGrid", {}, {1, 2, 3}, 1, {1, 1, 1, 1}},
      {"TopK", {}, {4}, 1, {1}},
      {"Col2Im", {}, {1, 4, 4}, 1, {1, 1}, true, {"two"}},
      {"Unsqueeze", {}, {4}, 1, {1, 0}, false},
      {"Split", {}, {4}, 1, {1, 1}},
      {"MelWeightMatrix", {}, {}, 0, {1}, true, {"one", "one", "zero", "half"}},
      {"MelWeightMatrix", {}, {}, 1, {1}, true, {"one", "zero", "half"}},
  };
  return all;
}

/// Uses a number in an operator. The integers are an initializer, or computed by the call.
Graph graph_of(const Maker& maker, std::int64_t number, bool is_constant) {
  Numbers numbers = maker.numbers;
  for (std::int64_t& n : numbers)
    if (n == 1) n = number;
  Graph graph;
  std::vector<std::string> inputs;
  if (!maker.shape.empty()) {
    graph.inputs.push_back(value("x", maker.shape, std::string(maker.type) == "OneHot" ? kInt64 : 1));
    inputs.emplace_back("x");
  }
  while (static_cast<int>(inputs.size()) < maker.at) inputs.emplace_back(maker.shape.empty() ? "one" : "");
  inputs.emplace_back("n");
  inputs.insert(inputs.end(), maker.others.begin(), maker.others.end());
  graph.initializers = {integers(is_constant ? "n" : "given", numbers),
                        integers("one", {1}),
                        integers("two", {2, 2}),
                        tensor("pair", {2}, {0, 1}),
                        tensor("zero", {}, {0}),
                        tensor("half", {}, {0.5F})};
  if (!is_constant) {  // an input makes the sizes unknown until the call
    graph.inputs.push_back(value("zeros", {static_cast<std::int64_t>(numbers.size())}, kInt64));
    graph.nodes.push_back(node("Sub", {"zeros", "zeros"}, {"nothing"}));
    graph.nodes.push_back(node("Add", {"given", "nothing"}, {"n"}));
  }
  graph.nodes.push_back(node(maker.type, inputs, {"y"}, maker.attributes));
  graph.outputs = {value("y", {-1})};
  return graph;
}

TEST(OnnxHostile, SizesInInputs) {
  Hostile files, others(false);
  for (const Maker& maker : makers())
    for (const bool is_constant : {true, false}) {
      const auto name = [&](std::int64_t n) {
        return fmt::format("{} {} {}", maker.type, n, is_constant ? "constant" : "computed");
      };
      for (const std::int64_t n : kHuge) files.refused_node(name(n), graph_of(maker, n, is_constant));
      for (const std::int64_t n : kImpossible)
        (maker.refuses_negative ? files : others)
            .refused(name(n), model(graph_of(maker, n, is_constant).message(), 22));
    }
  EXPECT_GE(files.count() + others.count(), 300);
}

/// An operator with an attribute of integers.
struct Attributed {
  const char* type;
  const char* attribute;
  std::size_t count;  ///< the list's length, or 0 for one integer
  std::vector<Numbers> shapes;
  std::vector<Message> others = {};
  std::uint64_t dtype = 1;
};

TEST(OnnxHostile, SizesInAttributes) {
  const Message kernel = attribute("kernel_shape", Numbers{2, 2});
  const Numbers image = {1, 1, 4, 4}, weight = {1, 1, 2, 2};
  const std::vector<Attributed> all = {
      {"Conv", "pads", 4, {image, weight}},
      {"Conv", "strides", 2, {image, weight}},
      {"Conv", "dilations", 2, {image, weight}},
      {"Conv", "group", 0, {image, weight}},
      {"ConvTranspose", "pads", 4, {image, weight}},
      {"ConvTranspose", "strides", 2, {image, weight}},
      {"ConvTranspose", "dilations", 2, {image, weight}},
      {"ConvTranspose", "output_padding", 2, {image, weight}},
      {"ConvTranspose", "output_shape", 2, {image, weight}},
      {"MaxPool", "kernel_shape", 2, {image}},
      {"MaxPool", "pads", 4, {image}, {kernel}},
      {"MaxPool", "strides", 2, {image}, {kernel}},
      {"MaxPool", "dilations", 2, {image}, {kernel}},
      {"AveragePool", "kernel_shape", 2, {image}},
      {"AveragePool", "pads", 4, {image}, {kernel}},
      {"AveragePool", "dilations", 2, {image}, {kernel}},
      {"LpPool", "kernel_shape", 2, {image}},
      {"MaxUnpool", "kernel_shape", 2, {image, image}},
      {"RoiAlign", "output_height", 0, {image, {1, 4}}},
      {"MaxRoiPool", "pooled_shape", 2, {image, {1, 5}}},
      {"RandomNormal", "shape", 2, {}},
      {"RandomUniform", "shape", 2, {}},
      {"Split", "num_outputs", 0, {{4}}},
      {"Transpose", "perm", 2, {{2, 2}}},
      {"Flatten", "axis", 0, {{2, 2}}},
      {"Concat", "axis", 0, {{2, 2}, {2, 2}}},
      {"Gather", "axis", 0, {{2, 2}}},
      {"Softmax", "axis", 0, {{2, 2}}},
      {"LayerNormalization", "axis", 0, {{2, 2}, {2}}},
      {"DepthToSpace", "blocksize", 0, {image}},
      {"SpaceToDepth", "blocksize", 0, {image}},
      {"GroupNormalization", "num_groups", 0, {image, {1}, {1}}},
      {"LRN", "size", 0, {image}},
      {"Cast", "to", 0, {{2}}},
  };
  Hostile files, others(false);
  for (const Attributed& a : all)
    for (const std::int64_t n : {kLargest, std::int64_t{1} << 40, -(std::int64_t{1} << 40), std::int64_t{1} << 30,
                                 std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}, std::int64_t{0}}) {
      Graph graph;
      std::vector<std::string> inputs;
      for (const Numbers& shape : a.shapes) {
        inputs.push_back("x" + std::to_string(inputs.size()));
        graph.inputs.push_back(value(inputs.back(), shape));
      }
      std::vector<Message> attributes = a.others;
      attributes.push_back(a.count ? attribute(a.attribute, Numbers(a.count, n)) : attribute(a.attribute, n));
      graph.nodes = {node(a.type, inputs, {"y"}, attributes)};
      graph.outputs = {value("y", {-1})};
      const std::string name = fmt::format("{} {} {}", a.type, a.attribute, n);
      if (n > (std::int64_t{1} << 30) || n < -1)
        files.refused_node(name, graph);
      else
        others.refused(name, model(graph.message(), 22));
    }
  EXPECT_GE(files.count(), 130);
}

TEST(OnnxHostile, ChainsThatDouble) {
  Hostile files;
  const auto chain = [](const char* type, int length, bool is_constant) {
    Graph graph{{}, {tensor("w", {1}, {1})}, {value("x", {1})}, {value("y", {-1})}};
    std::string last = is_constant ? "w" : "x";
    for (int i = 0; i < length; ++i) {
      const std::string next = i + 1 < length ? "y" + std::to_string(i) : "y";
      graph.nodes.push_back(node(type, {last, last}, {next}, {number("axis", 0)}));
      last = next;
    }
    return model(graph.message());
  };
  for (const bool is_constant : {true, false})
    files.refused("80 of Concat", chain("Concat", 80, is_constant), "(Concat)");
  // 2^80 elements by an outer product in each step
  Graph graph{{}, {integers("twice", {1 << 20, 1})}, {value("x", {1})}, {value("y", {-1})}};
  std::string last = "x";
  for (int i = 0; i < 4; ++i) {
    const std::string wide = "w" + std::to_string(i), next = i < 3 ? "y" + std::to_string(i) : "y";
    graph.nodes.push_back(node("Expand", {last, "twice"}, {wide}));
    graph.nodes.push_back(node("Flatten", {wide}, {next}, {number("axis", 0)}));
    last = next;
  }
  files.refused("2^80 by Expand", model(graph.message()), "node 'the_");
}

/// A loop that ends when `condition` is false. It has one state, `h`, and its next value is `next`.
Graph loop(const std::vector<Message>& nodes, const std::vector<std::string>& results, const Numbers& shape = {2}) {
  Graph body{nodes, {}, {value("k", {}, kInt64), value("go", {}, kBool), value("h", shape)}, {}};
  body.nodes.push_back(node("Identity", {"go"}, {"again"}));
  body.outputs.push_back(value("again", {}, kBool));
  for (const std::string& result : results) body.outputs.push_back(value(result, shape));
  std::vector<std::string> outputs{"y"};
  for (std::size_t i = 1; i < results.size(); ++i) outputs.push_back("rows" + std::to_string(i));
  Graph graph{{node("Loop", {"", "", "x"}, outputs, {attribute("body", body)})}, {}, {value("x", shape)}, {}};
  for (const std::string& output : outputs) graph.outputs.push_back(value(output, shape));
  return graph;
}

TEST(OnnxHostile, Loops) {
  Hostile files;
  files.refused_node("endless", loop({node("Identity", {"h"}, {"next"})}, {"next"}));
  files.refused_node("rows", loop({node("Add", {"h", "h"}, {"next"})}, {"next", "next"}, {2000}));
  files.refused_node("doubling", loop({node("Concat", {"h", "h"}, {"next"}, {number("axis", 0)})}, {"next"}));
  files.refused("no result", model(loop({}, {"next"}).message()), "output 'next' is not known");
  files.refused("captured", model(loop({node("Identity", {"y"}, {"next"})}, {"next"}).message()), "node 'the_next'");
  std::vector<Message> many;
  std::string last = "h";
  for (int i = 0; i < 1000; ++i) {
    const std::string next = i < 999 ? "s" + std::to_string(i) : "next";
    many.push_back(node("Identity", {last}, {next}));
    last = next;
  }
  files.refused_node("a long body", loop(many, {"next"}));
  Graph outer = loop({node("Loop", {"", "", "h"}, {"next"}, {attribute("body", Graph())})}, {"next"});
  files.refused_node("an empty body", outer);
  Graph list = loop({node("SequenceInsert", {"h", "piece"}, {"next"})}, {"next"});
  list.nodes.insert(list.nodes.begin(), node("SequenceConstruct", {"x"}, {"pieces"}));
  list.initializers = {tensor("piece", {2}, {1, 2})};
  Graph growing{{node("SequenceInsert", {"h", "piece"}, {"next"}), node("Identity", {"go"}, {"again"})},
                {},
                {value("k", {}, kInt64), value("go", {}, kBool), value("h", {2})},
                {value("again", {}, kBool), value("next", {2})}};
  list.nodes[1] = node("Loop", {"", "", "pieces"}, {"y"}, {attribute("body", growing)});
  files.refused_node("a growing list", list);
}

Graph scan(const std::vector<std::string>& inputs, const std::vector<Message>& attributes, const Numbers& second) {
  Graph body{{node("Add", {"a", "b"}, {"c"})}, {}, {value("a", {2}), value("b", {2})}, {value("c", {2})}};
  std::vector<Message> all = attributes;
  all.push_back(attribute("body", body));
  return {{node("Scan", inputs, {"y"}, all)}, {}, {value("x", {3, 2}), value("z", second)}, {value("y", {-1, 2})}};
}

TEST(OnnxHostile, ScansAndBranches) {
  Hostile files;
  const auto scans = [](std::int64_t n) { return attribute("num_scan_inputs", n); };
  files.refused_node("mismatched lengths", scan({"x", "z"}, {scans(2)}, {4, 2}));
  files.refused_node("no axis", scan({"x", "z"}, {scans(2)}, {}));
  files.refused_node("an axis too far",
                     scan({"x", "z"}, {scans(2), attribute("scan_input_axes", Numbers{0, 9})}, {3, 2}));
  files.refused_node("a negative count", scan({"x", "z"}, {scans(-1)}, {3, 2}));
  files.refused_node("a large count", scan({"x", "z"}, {scans(kLargest)}, {3, 2}));
  files.refused_node("no count", scan({"x", "z"}, {}, {3, 2}));
  files.refused_node("one input", scan({"x"}, {scans(1)}, {3, 2}));
  files.refused_node("three inputs", scan({"x", "z", "z"}, {scans(3)}, {3, 2}));
  files.refused_node("directions",
                     scan({"x", "z"}, {scans(2), attribute("scan_input_directions", Numbers{1})}, {3, 2}));
  const auto branches = [](const Message& condition, const std::vector<Message>& attributes, const char* result) {
    return Graph{{node("If", {"c"}, {result}, attributes)}, {}, {condition}, {value(result, {-1})}};
  };
  const Graph empty{{}, {tensor("r", {1}, {1})}, {}, {value("r", {1})}}, none{{}, {}, {}, {}};
  const Message yes = value("c", {}, kBool), then = attribute("then_branch", empty),
                other = attribute("else_branch", empty);
  files.refused_node("no branch", branches(yes, {}, "y"));
  files.refused_node("one branch", branches(yes, {then}, "y"));
  files.refused_node("a real condition", branches(value("c", {}, 1), {then, other}, "y"));
  files.refused_node("two conditions", branches(value("c", {2}, kBool), {then, other}, "y"));
  files.refused_node("no result", branches(yes, {attribute("then_branch", none), attribute("else_branch", none)}, "y"));
  files.refused_node("a branch is a number", branches(yes, {number("then_branch", 1), other}, "y"));
}

TEST(OnnxHostile, Structures) {
  Hostile files;
  const Message x = value("x", {2}), y = value("y", {2});
  const auto graph = [&](const std::vector<Message>& nodes, const std::vector<Message>& initializers = {}) {
    return model(Graph{nodes, initializers, {x}, {y}}.message());
  };
  files.refused("a node reads itself", graph({node("Relu", {"y"}, {"y"})}), "input 'y' is not known");
  files.refused("a cycle of two", graph({node("Relu", {"b"}, {"y"}), node("Relu", {"y"}, {"b"})}), "node 'the_y'");
  files.refused("missing input", graph({node("Add", {"x", "nowhere"}, {"y"})}), "input 'nowhere' is not known");
  files.refused("computed twice", graph({node("Relu", {"x"}, {"y"}), node("Abs", {"x"}, {"y"})}), "computed twice");
  files.refused("computes an input", graph({node("Relu", {"x"}, {"x"}), node("Abs", {"x"}, {"y"})}), "computed twice");
  files.refused("twice in a node", graph({node("Split", {"x"}, {"y", "y"})}), "computed twice");
  files.refused("an initializer twice",
                graph({node("Add", {"x", "w"}, {"y"})}, {tensor("w", {1}, {1}), tensor("w", {1}, {2})}), "there twice");
  files.refused("computes an initializer",
                graph({node("Relu", {"x"}, {"w"}), node("Abs", {"w"}, {"y"})}, {tensor("w", {1}, {1})}),
                "computed twice");
  files.refused("unknown output", graph({node("Relu", {"x"}, {"z"})}), "output 'y' is not known");
  files.refused("no node", graph({}), "output 'y' is not known");
  files.refused("no operator", graph({node("", {"x"}, {"y"})}), "not supported");
  files.refused("an unknown operator", graph({node("Frobnicate", {"x"}, {"y"})}), "Frobnicate (node 'the_y'");
  files.refused("an unknown domain", graph({node("Relu", {"x"}, {"y"}, {}, "evil")}), "evil.Relu (node 'the_y'");
  files.refused("no input of Relu", graph({node("Relu", {}, {"y"})}), "node 'the_y'");
  files.refused("two results of Relu", graph({node("Relu", {"x"}, {"y", "z"})}), "result 1 is not supported");
  files.refused("an unknown attribute", graph({node("Relu", {"x"}, {"y"}, {number("evil", 1)})}),
                "'evil' is not known");
  files.refused("a missing attribute", graph({node("Concat", {"x"}, {"y"})}), "'axis' is missing");
  files.refused("another type", graph({node("Concat", {"x"}, {"y"}, {attribute("axis", 1.0)})}), "node 'the_y'");
  files.refused("a long name", graph({node(std::string(100000, 'R'), {"x"}, {"y"})}), "not supported");
  files.refused("a long name in a graph", graph({node("Relu", {"x"}, {std::string(100000, 'z')})}), "not known");
  files.refused("a reference outside of a function", graph({node("Concat", {"x"}, {"y"}, {reference("axis", "n", 2)})}),
                "");
  const Graph relu{{node("Relu", {"x"}, {"y"})}, {}, {x}, {y}};
  for (const std::uint64_t opset :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{29}, ~std::uint64_t{0}})
    files.refused(fmt::format("opset {}", opset), model(relu.message(), opset), "is not supported");
  files.refused("no opset", Message().integer(1, 10).message(7, relu.message()), "is not supported");
  files.refused("no graph", Message().integer(1, 10).message(8, Message().integer(2, 20)), "it has no graph");
  files.refused("no version", Message().message(7, relu.message()).message(8, Message().integer(2, 20)),
                "not an ONNX model");
  files.refused("an empty file", std::string());
  for (int type : {0, 8, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 99, -1})
    files.refused(
        fmt::format("input of type {}", type),
        model(Graph{{node("Relu", {"x"}, {"y"})}, {}, {value("x", {2}, static_cast<std::uint64_t>(type))}, {y}}
                  .message()),
        "'x' has elements of");
}

/// A file with functions f0 to f(count-1). Each calls the next twice, and the last calls `last`.
Message functions(int count, const std::string& last) {
  Message file =
      model(Graph{{node("f0", {"x"}, {"y"}, {}, "local")}, {}, {value("x", {2})}, {value("y", {2})}}.message());
  file.message(8, Message().text(1, "local").integer(2, 1));
  for (int i = 0; i < count; ++i) {
    const std::string next = i + 1 < count ? "f" + std::to_string(i + 1) : last;
    const std::string domain = next == "Relu" ? "" : "local";
    file.message(25, function("f" + std::to_string(i), {"a"}, {"c"},
                              {node(next, {"a"}, {"b"}, {}, domain), node(next, {"b"}, {"c"}, {}, domain)}));
  }
  return file;
}

TEST(OnnxHostile, FunctionsAndNesting) {
  Hostile files;
  files.refused("calls itself", functions(1, "f0"), "nested more than 64 deep");
  files.refused("a cycle of functions", functions(3, "f0"), "nested more than 64 deep");
  files.refused("an unknown function", functions(2, "f9"), "local.f9");
  files.refused("doubling functions", functions(40, "Relu"), "expand to more than");
  files.refused("deep functions", functions(100, "Relu"));
  for (const int depth : {33, 40, 1000}) {
    Message graph = Graph{}.message();
    for (int i = 0; i < depth; ++i)
      graph = Graph{{node("If", {"x"}, {"y"}, {Message().text(1, "then_branch").message(6, graph).integer(20, 5)})},
                    {},
                    {value("x", {1})},
                    {value("y", {1})}}
                  .message();
    files.refused(fmt::format("{} graphs", depth), model(graph), "nested more than 32 deep");
  }
  for (const int depth : {33, 200}) {
    Message type = Message().message(1, Message().integer(1, 1));
    for (int i = 0; i < depth; ++i) type = Message().message(4, Message().message(1, type));
    Graph graph{{node("Identity", {"x"}, {"y"})}, {}, {Message().text(1, "x").message(2, type)}, {value("y", {1})}};
    files.refused(fmt::format("{} types", depth), model(graph.message()), "types are nested more than");
  }
  Message many;  // 2 bytes of the file make a node
  many.integer(1, 10).message(8, Message().integer(2, 20));
  std::string nodes;
  for (int i = 0; i < (1 << 21); ++i) nodes += std::string("\x0a\x00", 2);
  files.refused("empty nodes", many.text(7, nodes), "take more memory than");
}

TEST(OnnxHostile, Initializers) {
  Hostile files;
  const auto with = [](const Message& weight) {
    return model(Graph{{node("Add", {"x", "w"}, {"y"})}, {weight}, {value("x", {2})}, {value("y", {-1})}}.message());
  };
  for (const std::int64_t n : {std::int64_t{3}, std::int64_t{1} << 31, std::int64_t{1} << 40, std::int64_t{1} << 62,
                               kLargest, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(), std::int64_t{0}}) {
    files.refused(fmt::format("raw [{}]", n), with(tensor("w", {n}, {1, 2})), "'w'");
    files.refused(fmt::format("raw [2, {}, {}]", n, n), with(tensor("w", {2, n, n}, {1, 2, 3})), "'w'");
    files.refused(
        fmt::format("int64_data [{}]", n),
        with(
            Message().integer(1, static_cast<std::uint64_t>(n)).integer(2, 7).text(8, "w").integer(7, 5).integer(7, 6)),
        "'w'");
  }
  files.refused("too many axes", with(tensor("w", Numbers(100, 1), {1})), "'w'");
  files.refused("a million axes", with(tensor("w", Numbers(1 << 20, 1), {1})), "'w'");
  for (const std::uint64_t type : {0, 8, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 99})
    files.refused(fmt::format("type {}", type),
                  with(Message().integer(1, 2).integer(2, type).text(8, "w").text(9, "12345678")), "'w'");
  for (const std::uint64_t type : {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16})
    files.refused(fmt::format("type {} without data", type),
                  with(Message().integer(1, 2).integer(2, type).text(8, "w")), "'w'");
  files.refused("odd bytes", with(Message().integer(1, 2).integer(2, 1).text(8, "w").text(9, "1234567")), "'w'");
  files.refused("segments", with(tensor("w", {2}, {1, 2}).message(3, Message().integer(1, 0).integer(2, 1))),
                "segments");
  Message sparse = Graph{{node("Add", {"x", "w"}, {"y"})}, {}, {value("x", {2})}, {value("y", {-1})}}.message();
  files.refused("sparse", model(sparse.message(15, Message())), "sparse initializers");
}

Message external(const std::string& location, const std::string& offset = "", const std::string& length = "") {
  Message m;
  m.integer(1, 2).integer(2, 1).text(8, "w").integer(14, 1);
  m.message(13, Message().text(1, "location").text(2, location));
  if (!offset.empty()) m.message(13, Message().text(1, "offset").text(2, offset));
  if (!length.empty()) m.message(13, Message().text(1, "length").text(2, length));
  return m;
}

TEST(OnnxHostile, ExternalData) {
  namespace fs = std::filesystem;
  Hostile files;
  const tests::Folder outer;
  const std::string data = files.folder() + "/data", secret = outer.path + "/secret";
  write(data, std::string(16, 'a'));
  write(secret, std::string(16, 's'));
  fs::create_directory(files.folder() + "/sub");
  fs::create_symlink(secret, files.folder() + "/link");
  fs::create_symlink(outer.path, files.folder() + "/sub/link");
  fs::create_symlink("loop", files.folder() + "/loop");
  const std::string up = "../" + fs::path(outer.path).filename().string() + "/secret";
  const auto with = [](const std::vector<Message>& weights) {
    Graph graph{{node("Add", {"x", "w"}, {"y"})}, weights, {value("x", {2})}, {value("y", {-1})}};
    return model(graph.message());
  };
  for (const std::string& location : {up,
                                      secret,
                                      "sub/../" + up,
                                      "./" + up,
                                      std::string("link"),
                                      std::string("sub/link/secret"),
                                      std::string("loop"),
                                      std::string("."),
                                      std::string(".."),
                                      std::string("sub"),
                                      std::string(),
                                      std::string("/dev/zero"),
                                      std::string("/proc/self/environ"),
                                      std::string("none"),
                                      std::string("data/none"),
                                      std::string("data/../data/."),
                                      std::string(5000, 'd'),
                                      std::string("\0data", 5),
                                      std::string("file://data"),
                                      std::string("~/data")})
    files.refused("location " + location.substr(0, 50), with({external(location, "0", "8")}), "tensor 'w'");
  for (const auto& [offset, length] :
       std::vector<std::pair<std::string, std::string>>{{"16", "8"},
                                                        {"9", "8"},
                                                        {"-8", "8"},
                                                        {"0x8", "8"},
                                                        {"8 ", "8"},
                                                        {"18446744073709551615", "8"},
                                                        {"18446744073709551616", "8"},
                                                        {"9223372036854775807", "8"},
                                                        {"8", "18446744073709551608"},
                                                        {"0", "-1"},
                                                        {"0", "1e3"},
                                                        {"0", "7"},
                                                        {"0", "16"},
                                                        {"0", "0"},
                                                        {"0", "17"},
                                                        {"99999999999999999999999", "8"}})
    files.refused("bytes " + offset + " " + length, with({external("data", offset, length)}), "tensor 'w'");
  files.refused("no location", with({Message().integer(1, 2).integer(2, 1).text(8, "w").integer(14, 1)}), "tensor 'w'");
  // one file that thousands of tensors share
  write(files.folder() + "/large", std::string(1 << 20, 'a'));
  std::vector<Message> shared;
  for (int i = 0; i < 2000; ++i) {
    Message m;
    m.integer(1, 1 << 18).integer(2, 1).text(8, i ? "w" + std::to_string(i) : "w").integer(14, 1);
    shared.push_back(m.message(13, Message().text(1, "location").text(2, "large")));
  }
  files.refused("shared", with(shared), "more than 4 times");
  // a file of 1 TiB without contents
  fs::resize_file(data, std::uintmax_t{1} << 40);
  Message wide;
  wide.integer(1, std::uint64_t{1} << 38).integer(2, 1).text(8, "w").integer(14, 1);
  files.refused("a sparse file", with({wide.message(13, Message().text(1, "location").text(2, "data"))}), "tensor 'w'");
}

/// The first byte of a field.
std::string tag(int field, int wire) { return std::string(1, static_cast<char>(field << 3 | wire)); }

TEST(OnnxHostile, WireFormat) {
  Hostile files;
  const std::string whole =
      model(Graph{{node("Relu", {"x"}, {"y"})}, {}, {value("x", {2})}, {value("y", {2})}}.message()).bytes;
  const std::string endless(11, '\xff'), large(9, '\xff');
  const std::vector<std::pair<std::string, std::string>> tails = {
      {"an endless varint", tag(1, 0) + endless},
      {"a varint that ends early", tag(1, 0) + "\xff"},
      {"a length of 2^63", tag(7, 2) + large + "\x01"},
      {"a length of 2^31", tag(7, 2) + std::string("\x80\x80\x80\x80\x08")},
      {"a length of 2^32 + 1", tag(7, 2) + std::string("\x81\x80\x80\x80\x10")},
      {"one byte too long", tag(7, 2) + std::string("\x02") + "a"},
      {"field 0", std::string(2, '\0')},
      {"a group", tag(7, 3)},
      {"the end of a group", tag(7, 4)},
      {"wire type 6", tag(7, 6)},
      {"wire type 7", tag(7, 7)},
      {"half of a fixed32", tag(1, 5) + "ab"},
      {"half of a fixed64", tag(1, 1) + "abcdef"},
      {"a graph as an integer", tag(7, 0) + "\x01"},
      {"a graph as a fixed32", tag(7, 5) + "abcd"},
      {"a version as text", tag(1, 2) + "\x01" + "a"},
      {"an opset as an integer", tag(8, 0) + "\x01"},
      {"a field of 2^31", endless.substr(0, 4) + "\x7f"},
      {"a field of 2^29", "\xfa\xff\xff\xff\x7f"},
  };
  for (const auto& [name, tail] : tails) files.refused(name, whole + tail);
  for (std::size_t length = 0; length < whole.size(); ++length)
    files.refused(fmt::format("{} bytes", length), whole.substr(0, length));
}

TEST(OnnxHostile, RandomBytes) {
  Hostile others(false);
  const std::vector<Graph> graphs = {
      graph_of(makers()[0], 3, true), graph_of(makers()[7], 4, false),
      scan({"x", "z"}, {attribute("num_scan_inputs", std::int64_t{2})}, {3, 2}),
      Graph{{node("Conv", {"x", "w"}, {"y"},
                  {attribute("pads", Numbers{1, 1, 1, 1}), attribute("strides", Numbers{1, 2})})},
            {tensor("w", {1, 1, 2, 2}, {1, 2, 3, 4})},
            {value("x", {1, 1, 4, 4})},
            {value("y", {-1})}}};
  std::mt19937 random(46);
  for (const Graph& graph : graphs) {
    const std::string whole = model(graph.message(), 22).bytes;
    for (int i = 0; i < 150; ++i) {
      std::string bytes = whole;
      for (unsigned k = 0; k <= random() % 4; ++k) bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
      others.refused(fmt::format("mutation {}", i), bytes);
    }
  }
}

}  // namespace
}  // namespace catenary::hostile
