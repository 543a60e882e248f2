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

std::vector<Variable> read_inputs(const RunModelArguments& arguments, const onnx::Model& model) {
  const std::vector<onnx::Port>& ports = model.inputs();
  std::vector<Variable> inputs(ports.size());
  std::size_t next = 0;
  for (const std::string& text : arguments.inputs) {
    const std::optional<std::size_t> named = port_named(text, ports);
    const std::string file = named ? text.substr(ports[*named].name.size() + 1) : text;
    const std::size_t at = named ? *named : next++;
    if (at >= ports.size())
      throw ValueError(fmt::format("{}: the model has {} inputs, and more are given", file, ports.size()));
    const Array array = load(file);
    // NPY files hold the bits of bfloat16 numbers as uint16
    const bool is_bits = ports[at].dtype == Dtype::bfloat16 && array.dtype() == Dtype::uint16;
    inputs[at] = Variable(is_bits ? view(array, Dtype::bfloat16) : array);
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < ports.size(); ++i)
    if (!inputs[i].defined()) missing.push_back(ports[i].name);
  if (!missing.empty())
    throw ValueError(fmt::format("{}: no value for the input {}: pass --input NAME=FILE.npy for each", arguments.model,
                                 fmt::join(missing, ", ")));
  return inputs;
}

/// Makes a file name of an output's name.
std::string file_name(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.') c = '_';
  return name + ".npy";
}

}  // namespace

int run_model(const RunModelArguments& arguments) {
  const Device device = get_device(arguments.device);
  const DeviceScope scope(device);
  const auto no_graph = no_backprop_mode();
  const auto testing = test_mode();
  const onnx::Model model(arguments.model);
  std::vector<Variable> inputs = read_inputs(arguments, model);
  for (Variable& input : inputs)
    if (input.device() != device) input = Variable(input.array().to_device(device));
  const std::vector<Variable> outputs = model(inputs);
  if (!arguments.output.empty()) os::make_directories(arguments.output);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = model.outputs()[i].name;
    const Array array = outputs[i].array().to_device(Device());
    if (arguments.output.empty()) {
      fmt::print("{}  {}  {}\n", name, dtype_name(array.dtype()), array.shape().str());
      fmt::print("{}\n", to_string(array));
    } else {
      const std::string path = arguments.output + "/" + file_name(name);
      save(path, array.dtype() == Dtype::bfloat16 ? view(array, Dtype::uint16) : array);
      fmt::print("{}  {}  {}  {}\n", name, dtype_name(array.dtype()), array.shape().str(), path);
    }
  }
  if (arguments.bench) {
    const auto run = [&] {
      for (const Variable& output : model(inputs)) output.array().eval();
    };
    fmt::print("{:.3f} ms (median)\n", median_seconds({run, 0, ""}, device, 3) * 1e3);
  }
  return 0;
}

}  // namespace catenary::command
