#include "catenary/onnx/model.h"

#include <algorithm>
#include <map>
#include <set>

#include "catenary/array/creation.h"
#include "catenary/array/io.h"
#include "catenary/core/os/memory.h"
#include "catenary/device/allocation_limit.h"
#include "catenary/device/device_info.h"
#include "catenary/device/pool.h"
#include "catenary/onnx/plan.h"

namespace catenary::onnx {

namespace {

constexpr std::int64_t kFirstOpset = 6, kLastOpset = 28;

std::string shown(const std::string& domain, const std::string& name) {
  return domain.empty() ? name : domain + "." + name;
}

Port port_of(const File& file, const ValueInfo& info) {
  static constexpr std::string_view kOptional = "optional of ";
  const bool is_optional = info.kind.starts_with(kOptional);
  const std::string kind = info.kind.substr(is_optional ? kOptional.size() : 0);
  if (kind != "tensor" && kind != "sequence of tensor")
    throw ValueError(fmt::format("{}: '{}' is a {}, where only tensors are supported, sequences of them and optionals",
                                 file.path, info.name, info.kind.empty() ? "value without a type" : info.kind));
  Port port{info.name, dtype_of_type(info.type), {}, kind != "tensor", is_optional};
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
  Plan plan;
  std::vector<std::size_t> parameters;  ///< indices of the parameters that the plan captures
};

namespace {

void check_operators(const File& file) {
  std::map<std::string, std::string> missing;  // operator -> a node that has it
  for_each_node(file, [&](const Node& node, std::int64_t opset) {
    if (node.domain.empty() && (opset < kFirstOpset || opset > kLastOpset))
      throw ValueError(
          fmt::format("{}: opset {} is not supported, only opsets {} to {} are: convert the model with "
                      "onnx.version_converter",
                      file.path, opset, kFirstOpset, kLastOpset));
    if (!find_operator(node.domain, node.type, opset)) missing.emplace(shown(node.domain, node.type), node.label());
  });
  if (missing.empty()) return;
  std::vector<std::string> names;
  for (const auto& [name, node] : missing) names.push_back(fmt::format("{} ({})", name, node));
  throw ValueError(fmt::format("{}: operators are not supported in opset {}: {}", file.path, opset_of(file.opsets, ""),
                               fmt::join(names, ", ")));
}

/// Returns the names of the values that scale weights of few bits. They are constants, so that weights can be kept in
/// the form that products read.
std::set<std::string> scales_of_few_bits(const Graph& graph) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes)
    if (node.type == "MatMulNBits")
      for (std::size_t i = 2; i < std::min<std::size_t>(node.inputs.size(), 4); ++i) names.insert(node.inputs[i]);
  return names;
}

}  // namespace

Model::Model(const std::string& path) {
  const auto state = std::make_shared<State>(path);
  const Graph& graph = state->file.graph;
  check_operators(state->file);
  std::set<std::string> names;
  const std::set<std::string> scales = scales_of_few_bits(graph);
  PlanSource source{graph, state->file.opsets, {}, {}, {}};
  for (const Tensor& tensor : graph.initializers) {
    if (!names.insert(tensor.name).second)
      throw ValueError(fmt::format("{}: initializer '{}' is there twice", path, tensor.name));
    const Array array = from_host(state->file.read(tensor), Device());
    if (is_floating(array.dtype()) && !scales.contains(tensor.name)) {
      parameters_.emplace_back(tensor.name, Parameter::from_array(array.to_device(current_device()), tensor.name));
      source.outer.push_back(tensor.name);
    } else {
      source.constants.emplace_back(tensor.name, Value::constant(array));
    }
  }
  for (const Node& node : graph.nodes)
    for (const std::string& output : node.outputs)
      if (!output.empty() && names.contains(output))
        throw ValueError(fmt::format("{}: {}: '{}' is computed twice", path, node.label(), output));
  for (const ValueInfo& info : graph.inputs) {
    if (!names.insert(info.name).second) continue;  // before IR version 4, initializers are inputs as well
    state->inputs.push_back(port_of(state->file, info));
    source.inputs.push_back(info.name);
  }
  for (const ValueInfo& info : graph.outputs) state->outputs.push_back(port_of(state->file, info));
  state->plan = make_plan(state->file, source);
  for (const auto& [name, slot] : state->plan.captured)
    state->parameters.push_back(static_cast<std::size_t>(std::ranges::find(source.outer, name) - source.outer.begin()));
  state_ = state;
}

std::vector<std::string> supported_operators() {
  std::set<std::string> names;
  for (const Operator* row : all_operators()) names.insert(shown(row->domain, row->name));
  return {names.begin(), names.end()};
}

const std::vector<Port>& Model::inputs() const { return state_->inputs; }
const std::vector<Port>& Model::outputs() const { return state_->outputs; }
std::int64_t Model::opset(const std::string& domain) const { return opset_of(state_->file.opsets, domain); }

std::vector<std::pair<std::string, int>> Model::operators() const {
  std::map<std::string, int> counts;
  for_each_node(state_->file, [&](const Node& node, std::int64_t) { ++counts[shown(node.domain, node.type)]; });
  return {counts.begin(), counts.end()};
}

void Model::visit_members(MemberVisitor& visitor) const {
  Link::visit_members(visitor);
  for (const auto& [name, parameter] : parameters_) visitor.parameter(name, const_cast<Parameter&>(parameter));
}

std::string Port::type() const {
  return fmt::format("{}{}{}", is_optional ? "optional " : "", is_sequence ? "sequence of " : "", *dtype);
}

namespace {

/// Throws ValueError or DtypeError if a value does not fit an input.
void check_input(const std::string& path, const Port& port, const Value& value) {
  if (!value.defined()) {
    if (!port.is_optional)
      throw ValueError(fmt::format("{}: input '{}' is empty, but it is no optional", path, port.name));
    return;
  }
  if (value.is_sequence() != port.is_sequence)
    throw ValueError(fmt::format("{}: input '{}' is {}, given {}", path, port.name, port.type(),
                                 value.is_sequence() ? "a sequence" : "an array"));
  for (const Variable& x : value.is_sequence() ? value.items() : std::vector<Variable>{value.variable()})
    if (x.dtype() != port.dtype)
      throw DtypeError(fmt::format("{}: input '{}' is {}, given {}", path, port.name, port.type(), x.dtype()));
}

}  // namespace

Values Model::run(std::span<const Value> inputs) const {
  const State& state = *state_;
  if (inputs.size() != state.inputs.size())
    throw ValueError(fmt::format("{}: {} inputs are given, but the model has {}", state.file.path, inputs.size(),
                                 state.inputs.size()));
  Device device = current_device();
  for (auto input = inputs.rbegin(); input != inputs.rend(); ++input)
    if (input->defined() && !input->is_sequence()) device = input->variable().device();
  if (!parameters_.empty()) device = parameters_[0].second.device();
  Values given, parameters;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_input(state.file.path, state.inputs[i], inputs[i]);
    given.push_back(inputs[i].moved(device));
  }
  for (const std::size_t i : state.parameters) parameters.emplace_back(parameters_[i].second);
  const std::uint64_t most = memory_limit_ ? memory_limit_
                             : device.is_cpu()
                                 ? os::physical_memory_bytes() / 2
                                 : std::max<std::uint64_t>(os::physical_memory_bytes() / 2, device.info().memory_bytes);
  const AllocationLimit limit(most, "a call of the model");
  Run run{device};
  try {
    Values results = state.plan.run(given, parameters, run);
    for (Value& result : results)  // a caller may write into a result, but not into a constant
      result = result.is_constant() ? Value(copy(result.array()).to_device(device)) : result.moved(device);
    return results;
  } catch (const OutOfMemoryError& error) {
    throw OutOfMemoryError(fmt::format("{}: {}", state.file.path, error.what()));
  } catch (const Error& error) {
    throw ValueError(fmt::format("{}: {}", state.file.path, error.what()));
  }
}

std::vector<Variable> Model::operator()(std::span<const Variable> inputs) const {
  std::vector<Variable> results;
  for (const Value& value : run(Values(inputs.begin(), inputs.end()))) {
    const std::string& name = outputs()[results.size()].name;
    if (!value.defined() || value.is_sequence())
      throw ValueError(fmt::format("{}: output '{}' is {}: call run, which returns it", state_->file.path, name,
                                   value.defined() ? "a sequence" : "empty"));
    results.push_back(value.variable());
  }
  return results;
}

}  // namespace catenary::onnx
