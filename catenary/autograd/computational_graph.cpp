#include "catenary/autograd/computational_graph.h"

#include <algorithm>
#include <queue>
#include <set>
#include <unordered_map>

#include "catenary/autograd/attributes.h"
#include "catenary/core/format.h"

namespace catenary {

ComputationalGraph build_computational_graph(const std::vector<Variable>& outputs, const GraphOptions& options) {
  if (options.rankdir != "TB" && options.rankdir != "BT" && options.rankdir != "LR" && options.rankdir != "RL")
    fail<ValueError>("rankdir must be TB, BT, LR or RL, not \"{}\"", options.rankdir);
  ComputationalGraph graph;
  graph.options = options;
  std::unordered_map<const void*, int> numbers;
  std::priority_queue<std::pair<int, int>> waiting;  // rank, minus position: highest rank first, then first found
  const auto number = [&](VariableNode* x, FunctionNode* f) {
    const void* key = f ? static_cast<const void*>(f) : x;
    const auto [at, is_new] = numbers.emplace(key, static_cast<int>(graph.nodes.size()));
    if (is_new) {
      graph.nodes.push_back({Ref<VariableNode>(x), Ref<FunctionNode>(f)});
      waiting.emplace(f ? f->rank() : x->rank(), -at->second);
    }
    return at->second;
  };
  std::set<std::pair<int, int>> seen;
  const auto connect = [&](int from, int to) {
    if (seen.emplace(from, to).second) graph.edges.emplace_back(from, to);
  };
  for (const Variable& y : outputs) number(&y.node(), nullptr);
  while (!waiting.empty()) {
    const int at = -waiting.top().second;
    waiting.pop();
    const ComputationalGraph::Node node = graph.nodes[static_cast<std::size_t>(at)];
    if (node.variable) {
      if (FunctionNode* f = node.variable->creator()) connect(number(nullptr, f), at);
    } else {
      for (int i = 0; i < node.function->input_count(); ++i) connect(number(&node.function->input(i), nullptr), at);
    }
  }
  return graph;
}

namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string describe(int id, const std::string& label, const char* shape, const GraphOptions::Style& style) {
  GraphOptions::Style attributes = {{"label", label}, {"shape", shape}};
  for (const auto& [key, value] : style) {
    auto found = attributes.begin();
    while (found != attributes.end() && found->first != key) ++found;
    if (found == attributes.end())
      attributes.emplace_back(key, value);
    else
      found->second = value;
  }
  std::string text;
  for (const auto& [key, value] : attributes)
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", key, escaped(value));
  return fmt::format("{} [{}];", id, text);
}

std::string text_of(const std::pair<std::string, Attribute>& attribute) {
  return attribute.first + "=" + to_string(attribute.second);
}

class Lines final : public AttributeVisitor {
 public:
  explicit Lines(const std::string& first) : text(first) {}
  void operator()(const std::string& name, const Attribute& value) override { text += "\n" + text_of({name, value}); }
  std::string text;
};

std::string label_of(const FunctionNode& f, const GraphOptions& options) {
  Lines lines(f.label());
  if (options.show_attributes) f.visit_attributes(lines);
  return lines.text;
}

}  // namespace

std::string ComputationalGraph::operations() const {
  std::vector<FunctionNode*> functions;
  std::unordered_map<const VariableNode*, int> numbers;
  const auto name = [&](const VariableNode* x) {
    return x ? fmt::format("x{}", numbers.emplace(x, static_cast<int>(numbers.size())).first->second) : "_";
  };
  const auto typed = [&](const VariableNode* x) { return x ? fmt::format("{} {}", x->dtype(), x->shape()) : "_"; };
  std::string text;
  for (const Node& node : nodes) {
    if (node.function)
      functions.push_back(node.function.get());
    else if (!node.variable->creator())
      text += fmt::format("{}: {}\n", name(node.variable.get()), typed(node.variable.get()));
  }
  std::stable_sort(functions.begin(), functions.end(),
                   [](const FunctionNode* a, const FunctionNode* b) { return a->rank() < b->rank(); });
  for (const FunctionNode* f : functions) {
    std::vector<std::string> arguments, results, types;
    for (int i = 0; i < f->input_count(); ++i) arguments.push_back(name(&f->input(i)));
    for (const auto& attribute : attributes_of(*f)) arguments.push_back(text_of(attribute));
    for (int i = 0; i < f->output_count(); ++i) {
      results.push_back(name(f->output(i)));
      types.push_back(typed(f->output(i)));
    }
    text += fmt::format("{} = {}({}): {}\n", fmt::join(results, ", "), f->name(), fmt::join(arguments, ", "),
                        fmt::join(types, ", "));
  }
  return text;
}

std::string ComputationalGraph::dump() const {
  std::string text = fmt::format("digraph graphname{{rankdir={};", options.rankdir);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const int id = static_cast<int>(i);
    if (const auto& f = nodes[i].function) {
      text += describe(id, label_of(*f, options), "box", options.function_style);
    } else if (!options.remove_variable) {
      const VariableNode& x = *nodes[i].variable;
      const bool named = options.show_name && !x.name().empty();
      text += describe(id, named ? x.name() + ": " + x.label() : x.label(), "oval", options.variable_style);
    }
  }
  if (!options.remove_variable) {
    for (const auto& [from, to] : edges) text += fmt::format("{} -> {};", from, to);
  } else {  // an edge for each variable between two functions
    std::unordered_map<int, int> creators;
    std::set<std::pair<int, int>> drawn;
    for (const auto& [from, to] : edges)
      if (nodes[static_cast<std::size_t>(from)].function) creators[to] = from;
    for (const auto& [from, to] : edges)
      if (const auto creator = creators.find(from);
          creator != creators.end() && drawn.emplace(creator->second, to).second)
        text += fmt::format("{} -> {};", creator->second, to);
  }
  return text + "}";
}

}  // namespace catenary
