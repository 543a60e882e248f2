#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "catenary/catenary.h"
#include "catenary/core/os/file.h"
#include "tools/catenary/bench.h"
#include "tools/catenary/commands.h"

namespace catenary::command {

namespace {

/// Returns the index of the port that NAME=FILE names, or nullopt for a file without a port's name.
std::optional<std::size_t> port_named(const std::string& text, const std::vector<onnx::Port>& ports) {
  const std::string name = text.substr(0, text.find('='));
  const auto found = std::ranges::find(ports, name, &onnx::Port::name);
  if (name.size() == text.size() || found == ports.end()) return {};
  return static_cast<std::size_t>(found - ports.begin());
}

/// Makes an array of an input's dtype from one of a file, where uint16 holds the bits of bfloat16 numbers.
Variable variable_of(const Array& array, const onnx::Port& port) {
  const bool is_bits = port.dtype == Dtype::bfloat16 && array.dtype() == Dtype::uint16;
  return Variable(is_bits ? view(array, Dtype::bfloat16) : array);
}

Array without_bfloat16(const Array& array) {
  return array.dtype() == Dtype::bfloat16 ? view(array, Dtype::uint16) : array;
}

onnx::Value read_value(const std::string& file, const onnx::Port& port) {
  if (!port.is_sequence) return variable_of(load(file), port);
  std::vector<Variable> items;
  for (const auto& [name, array] : load_npz(file)) items.push_back(variable_of(array, port));
  return onnx::Value::sequence(std::move(items));
}

onnx::Values read_inputs(const RunModelArguments& arguments, const onnx::Model& model) {
  const std::vector<onnx::Port>& ports = model.inputs();
  onnx::Values inputs(ports.size());
  std::size_t next = 0;
  for (const std::string& text : arguments.inputs) {
    const std::optional<std::size_t> named = port_named(text, ports);
    const std::string file = named ? text.substr(ports[*named].name.size() + 1) : text;
    const std::size_t at = named ? *named : next++;
    if (at >= ports.size())
      throw ValueError(fmt::format("{}: the model has {} inputs, and more are given", file, ports.size()));
    inputs[at] = read_value(file, ports[at]);
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < ports.size(); ++i)
    if (!inputs[i].defined() && !ports[i].is_optional) missing.push_back(ports[i].name);
  if (!missing.empty())
    throw ValueError(fmt::format("{}: no value for the input {}: pass --input NAME=FILE.npy for each", arguments.model,
                                 fmt::join(missing, ", ")));
  return inputs;
}

/// Makes a path of an output's name.
std::string path_of(const std::string& folder, std::string name, const char* extension) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.') c = '_';
  return folder + "/" + name + extension;
}

/// Prints an array, or writes it to a file if there is a path.
void show(const std::string& name, const Array& array, const std::string& path) {
  fmt::print("{}  {}  {}  {}\n", name, dtype_name(array.dtype()), array.shape().str(), path);
  if (path.empty())
    fmt::print("{}\n", to_string(array));
  else
    save(path, without_bfloat16(array));
}

void write_output(const onnx::Port& port, const onnx::Value& given, const std::string& folder) {
  const onnx::Value value = given.moved(Device());
  if (!value.defined()) {
    fmt::print("{}  empty\n", port.name);
  } else if (!value.is_sequence()) {
    show(port.name, value.array(), folder.empty() ? "" : path_of(folder, port.name, ".npy"));
  } else if (folder.empty()) {
    for (std::size_t i = 0; i < value.items().size(); ++i)
      show(fmt::format("{}[{}]", port.name, i), value.items()[i].array(), "");
  } else {
    NamedArrays items;
    for (const Variable& x : value.items())
      items.emplace_back(fmt::format("arr_{}", items.size()), without_bfloat16(x.array()));
    const std::string path = path_of(folder, port.name, ".npz");
    savez(path, items);
    fmt::print("{}  sequence of {}  {}\n", port.name, items.size(), path);
  }
}

}  // namespace

int run_model(const RunModelArguments& arguments) {
  const Device device = get_device(arguments.device);
  const DeviceScope scope(device);
  const auto no_graph = no_backprop_mode();
  const auto testing = test_mode();
  const onnx::Model model(arguments.model);
  onnx::Values inputs = read_inputs(arguments, model);
  for (onnx::Value& input : inputs) input = input.moved(device);
  const onnx::Values outputs = model.run(inputs);
  if (!arguments.output.empty()) os::make_directories(arguments.output);
  for (std::size_t i = 0; i < outputs.size(); ++i) write_output(model.outputs()[i], outputs[i], arguments.output);
  if (arguments.bench) {
    const auto run = [&] {
      for (const onnx::Value& output : model.run(inputs)) {
        if (!output.defined()) continue;
        for (const Variable& x : output.is_sequence() ? output.items() : std::vector<Variable>{output.variable()})
          x.array().eval();
      }
    };
    fmt::print("{:.3f} ms (median)\n", median_seconds({run, 0, ""}, device, 3) * 1e3);
  }
  return 0;
}

}  // namespace catenary::command
