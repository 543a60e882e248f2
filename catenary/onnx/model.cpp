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

/// The index of a value among all values of a run. -1 stands for an omitted input or result.
using Slot = int;

/// A node with its operator, and where its values are.
struct Step {
  const Node* node;
  const Operator* row;
  std::vector<Slot> inputs, outputs;
  std::vector<Slot> last;  ///< values that no later node needs
};

std::string shown(const std::string& domain, const std::string& name) {
  return domain.empty() ? name : domain + "." + name;
}

Variable on(const Device& device, const Variable& x) { return x.device() == device ? x : F::copy(x, device); }

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
  // The slots are those of the parameters, the constants, the inputs, and the nodes' results, in this order.
  std::vector<Array> constants;  ///< initializers that cannot be trained, in host memory
  std::vector<Step> steps;
  std::vector<Slot> results;  ///< of the outputs
  std::size_t slots = 0;

  std::int64_t opset(const std::string& domain) const {
    const auto found = file.opsets.find(domain);
    return found == file.opsets.end() ? 0 : found->second;
  }
  void check_operators() const;
  void plan(const std::vector<std::string>& known);
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

/// Makes the steps, and finds after which step each value is not needed any more. `known` are the names of the first
/// slots. Throws ValueError if a node reads a value that no earlier node makes.
void Model::State::plan(const std::vector<std::string>& known) {
  std::unordered_map<std::string, Slot> slot_of{{"", -1}};
  for (const std::string& name : known) slot_of.emplace(name, static_cast<Slot>(slots++));
  std::vector<std::size_t> last(slots, file.graph.nodes.size());  // the last step that needs each slot
  for (const Node& node : file.graph.nodes) {
    Step step{&node, find_operator(node.domain, node.type, opset(node.domain)), {}, {}, {}};
    for (const std::string& name : node.inputs) {
      const auto found = slot_of.find(name);
      if (found == slot_of.end())
        throw ValueError(
            fmt::format("{}: {}: input '{}' is not known: no earlier node computes it", file.path, node.label(), name));
      step.inputs.push_back(found->second);
      if (found->second >= 0) last[static_cast<std::size_t>(found->second)] = steps.size();
    }
    while (!step.inputs.empty() && step.inputs.back() < 0) step.inputs.pop_back();
    for (const std::string& name : node.outputs) {
      if (!name.empty() && !slot_of.emplace(name, static_cast<Slot>(slots)).second)
        throw ValueError(fmt::format("{}: {}: '{}' is computed twice", file.path, node.label(), name));
      step.outputs.push_back(name.empty() ? -1 : static_cast<Slot>(slots++));
      last.resize(slots, steps.size());
    }
    steps.push_back(std::move(step));
  }
  for (const Port& port : outputs) {
    const auto found = slot_of.find(port.name);
    if (found == slot_of.end() || found->second < 0)
      throw ValueError(fmt::format("{}: output '{}' is not known: no node computes it", file.path, port.name));
    results.push_back(found->second);
    last[static_cast<std::size_t>(found->second)] = steps.size();
  }
  for (std::size_t slot = 0; slot < slots; ++slot)
    if (last[slot] < steps.size()) steps[last[slot]].last.push_back(static_cast<Slot>(slot));
}

Model::Model(const std::string& path) {
  const auto state = std::make_shared<State>(path);
  const Graph& graph = state->file.graph;
  state->check_operators();
  std::set<std::string> names;
  std::vector<std::string> constants, known;
  for (const Tensor& tensor : graph.initializers) {
    if (!names.insert(tensor.name).second)
      throw ValueError(fmt::format("{}: initializer '{}' is there twice", path, tensor.name));
    const Array array = from_host(state->file.read(tensor), Device());
    if (is_floating(array.dtype())) {
      parameters_.emplace_back(tensor.name, Parameter::from_array(array.to_device(current_device()), tensor.name));
      known.push_back(tensor.name);
    } else {
      state->constants.push_back(array);
      constants.push_back(tensor.name);
    }
  }
  known.insert(known.end(), constants.begin(), constants.end());
  for (const ValueInfo& info : graph.inputs) {
    if (!names.insert(info.name).second) continue;  // before IR version 4, initializers are inputs as well
    state->inputs.push_back(port_of(state->file, info));
    known.push_back(info.name);
  }
  for (const ValueInfo& info : graph.outputs) state->outputs.push_back(port_of(state->file, info));
  state->plan(known);
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
  std::vector<Variable> values;
  values.reserve(state.slots);
  for (const auto& [name, parameter] : parameters_) values.push_back(parameter);
  for (const Array& array : state.constants) values.emplace_back(array);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = state.inputs[i];
    if (inputs[i].dtype() != port.dtype)
      throw DtypeError(
          fmt::format("{}: input '{}' is {}, given {}", state.file.path, port.name, *port.dtype, inputs[i].dtype()));
    values.push_back(on(device, inputs[i]));
  }
  values.resize(state.slots);
  const auto at = [&](Slot slot) -> Variable& { return values[static_cast<std::size_t>(slot)]; };
  for (const Step& step : state.steps) {
    Values given;
    for (const Slot slot : step.inputs) given.push_back(slot < 0 ? Variable() : at(slot));
    try {
      const Call call(*step.node, state.opset(step.node->domain), std::move(given), device);
      const Values computed = step.row->compute(call);
      call.refuse_other_attributes();
      for (std::size_t i = 0; i < step.outputs.size(); ++i) {
        if (step.outputs[i] < 0) continue;
        if (i >= computed.size()) call.fail("result {} is not supported", i);
        at(step.outputs[i]) = computed[i];
      }
    } catch (const Error& error) {
      throw ValueError(fmt::format("{}: {}: {}", state.file.path, step.node->label(), error.what()));
    }
    for (const Slot slot : step.last) at(slot) = Variable();
  }
  std::vector<Variable> results;
  for (const Slot slot : state.results) results.push_back(on(device, at(slot)));
  return results;
}

}  // namespace catenary::onnx
