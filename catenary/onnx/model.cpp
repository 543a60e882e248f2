#include "catenary/onnx/model.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "catenary/array/io.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

constexpr std::int64_t kFirstOpset = 7, kLastOpset = 28;

/// A node with its operator, and the values that no later node needs.
struct Step {
  const Node* node;
  const Operator* row;
  std::vector<std::string> last;  ///< names to free after the step
};

std::string shown(const std::string& domain, const std::string& name) {
  return domain.empty() ? name : domain + "." + name;
}

Port port_of(const File& file, const ValueInfo& info) {
  if (info.kind != "tensor")
    throw ValueError(fmt::format("{}: '{}' is a {}, where only tensors are supported", file.path, info.name,
                                 info.kind.empty() ? "value without a type" : info.kind));
  Port port{info.name, dtype_of_type(info.type), {}};
  if (!port.dtype)
    throw ValueError(fmt::format("{}: '{}' has elements of {}, which are not supported", file.path, info.name,
                                 name_of_type(info.type)));
  if (!info.shape) return port;
  for (const auto& extent : *info.shape) {
    const auto* number = std::get_if<std::int64_t>(&extent);
    const std::string name = number ? std::to_string(*number) : std::get<std::string>(extent);
    port.shape.push_back(name.empty() ? "?" : name);
  }
  return port;
}

}  // namespace

struct Model::State {
  explicit State(const std::string& path) : file(path) {}

  File file;
  std::vector<Port> inputs, outputs;
  std::vector<Step> steps;
  std::vector<std::pair<std::string, Array>> constants;  ///< initializers that cannot be trained, in host memory

  std::int64_t opset(const std::string& domain) const {
    const auto found = file.opsets.find(domain);
    return found == file.opsets.end() ? 0 : found->second;
  }
  void check_operators() const;
  void plan(std::set<std::string> known);
};

void Model::State::check_operators() const {
  const std::int64_t version = opset("");
  const auto is_own = [](const Node& node) { return node.domain.empty(); };
  if ((version < kFirstOpset || version > kLastOpset) && std::ranges::any_of(file.graph.nodes, is_own))
    throw ValueError(
        fmt::format("{}: opset {} is not supported, only opsets {} to {} are: convert the model with "
                    "onnx.version_converter",
                    file.path, version, kFirstOpset, kLastOpset));
  std::map<std::string, std::string> missing;  // operator -> a node that has it
  for (const Node& node : file.graph.nodes)
    if (!find_operator(node.domain, node.type, opset(node.domain)))
      missing.emplace(shown(node.domain, node.type), node.label());
  if (missing.empty()) return;
  std::vector<std::string> names;
  for (const auto& [name, node] : missing) names.push_back(fmt::format("{} ({})", name, node));
  throw ValueError(
      fmt::format("{}: operators are not supported in opset {}: {}", file.path, version, fmt::join(names, ", ")));
}

/// Makes the steps, and finds after which step each value is not needed any more. Throws ValueError if a node reads a
/// value that no earlier node makes.
void Model::State::plan(std::set<std::string> known) {
  std::unordered_map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < file.graph.nodes.size(); ++i) {
    const Node& node = file.graph.nodes[i];
    for (const std::string& name : node.inputs) {
      if (!name.empty() && !known.contains(name))
        throw ValueError(
            fmt::format("{}: {}: input '{}' is not known: no earlier node computes it", file.path, node.label(), name));
      last[name] = i;
    }
    for (const std::string& name : node.outputs) {
      if (!name.empty() && !known.insert(name).second)
        throw ValueError(fmt::format("{}: {}: '{}' is computed twice", file.path, node.label(), name));
      last.emplace(name, i);
    }
    steps.push_back({&node, find_operator(node.domain, node.type, opset(node.domain)), {}});
  }
  for (const Port& port : outputs) {
    if (!known.contains(port.name))
      throw ValueError(fmt::format("{}: output '{}' is not known: no node computes it", file.path, port.name));
    last.erase(port.name);
  }
  for (const auto& [name, i] : last) steps[i].last.push_back(name);
}

Model::Model(const std::string& path) {
  const auto state = std::make_shared<State>(path);
  const Graph& graph = state->file.graph;
  state->check_operators();
  std::set<std::string> known;
  for (const Tensor& tensor : graph.initializers) {
    if (!known.insert(tensor.name).second)
      throw ValueError(fmt::format("{}: initializer '{}' is there twice", path, tensor.name));
    const Array array = from_host(state->file.read(tensor), Device());
    if (is_floating(array.dtype()))
      parameters_.emplace_back(tensor.name, Parameter::from_array(array.to_device(current_device()), tensor.name));
    else
      state->constants.emplace_back(tensor.name, array);
  }
  for (const ValueInfo& info : graph.inputs)  // before IR version 4, initializers are inputs as well
    if (known.insert(info.name).second) state->inputs.push_back(port_of(state->file, info));
  for (const ValueInfo& info : graph.outputs) state->outputs.push_back(port_of(state->file, info));
  state->plan(std::move(known));
  state_ = state;
}

std::vector<std::string> supported_operators() {
  std::set<std::string> names;
  for (const Operator* row : all_operators()) names.insert(shown(row->domain, row->name));
  return {names.begin(), names.end()};
}

const std::vector<Port>& Model::inputs() const { return state_->inputs; }
const std::vector<Port>& Model::outputs() const { return state_->outputs; }
std::int64_t Model::opset(const std::string& domain) const { return state_->opset(domain); }

std::vector<std::pair<std::string, int>> Model::operators() const {
  std::map<std::string, int> counts;
  for (const Node& node : state_->file.graph.nodes) ++counts[shown(node.domain, node.type)];
  return {counts.begin(), counts.end()};
}

void Model::visit_members(MemberVisitor& visitor) const {
  Link::visit_members(visitor);
  for (const auto& [name, parameter] : parameters_) visitor.parameter(name, const_cast<Parameter&>(parameter));
}

std::vector<Variable> Model::operator()(std::span<const Variable> inputs) const {
  const State& state = *state_;
  if (inputs.size() != state.inputs.size())
    throw ValueError(fmt::format("{}: {} inputs are given, but the model has {}", state.file.path, inputs.size(),
                                 state.inputs.size()));
  const Device device = !parameters_.empty() ? parameters_[0].second.device()
                        : inputs.empty()     ? current_device()
                                             : inputs[0].device();
  std::unordered_map<std::string, Variable> values;
  for (const auto& [name, parameter] : parameters_) values[name] = parameter;
  for (const auto& [name, array] : state.constants) values[name] = Variable(array);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = state.inputs[i];
    if (inputs[i].dtype() != port.dtype)
      throw DtypeError(
          fmt::format("{}: input '{}' is {}, given {}", state.file.path, port.name, *port.dtype, inputs[i].dtype()));
    values[port.name] = inputs[i].device() == device ? inputs[i] : F::copy(inputs[i], device);
  }
  for (const Step& step : state.steps) {
    Values given;
    for (const std::string& name : step.node->inputs) given.push_back(name.empty() ? Variable() : values.at(name));
    while (!given.empty() && !given.back().defined()) given.pop_back();
    try {
      const Call call(*step.node, state.opset(step.node->domain), std::move(given), device);
      const Values results = step.row->compute(call);
      call.refuse_other_attributes();
      for (int i = 0; i < call.outputs(); ++i)
        if (call.wants(i)) {
          if (i >= static_cast<int>(results.size())) call.fail("result {} is not supported", i);
          values[step.node->outputs[static_cast<std::size_t>(i)]] = results[static_cast<std::size_t>(i)];
        }
    } catch (const Error& error) {
      throw ValueError(fmt::format("{}: {}: {}", state.file.path, step.node->label(), error.what()));
    }
    for (const std::string& name : step.last) values.erase(name);
  }
  std::vector<Variable> results;
  for (const Port& port : state.outputs) {
    const Variable& value = values.at(port.name);
    results.push_back(value.device() == device ? value : F::copy(value, device));
  }
  return results;
}

}  // namespace catenary::onnx
