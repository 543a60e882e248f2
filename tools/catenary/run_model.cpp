#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "catenary/catenary.h"
#include "tools/catenary/commands.h"

namespace catenary::command {

namespace {

/// Splits NAME=FILE. A file without a name belongs to the next input.
std::pair<std::string, std::string> named(const std::string& text, const std::vector<onnx::Port>& ports) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos) return {"", text};
  const std::string name = text.substr(0, sign);
  const bool known = std::any_of(ports.begin(), ports.end(), [&](const onnx::Port& p) { return p.name == name; });
  if (!known) return {"", text};
  return {name, text.substr(sign + 1)};
}

std::vector<Variable> read_inputs(const RunModelArguments& arguments, const onnx::Model& model) {
  const std::vector<onnx::Port>& ports = model.inputs();
  std::vector<Variable> inputs(ports.size());
  std::size_t next = 0;
  for (const std::string& text : arguments.inputs) {
    const auto [name, file] = named(text, ports);
    std::size_t at = next;
    if (!name.empty())
      at = static_cast<std::size_t>(
          std::find_if(ports.begin(), ports.end(), [&n = name](const onnx::Port& p) { return p.name == n; }) -
          ports.begin());
    else
      ++next;
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

void measure(const onnx::Model& model, const std::vector<Variable>& inputs) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  const Device device = inputs.empty() ? current_device() : inputs[0].device();
  std::vector<double> times;
  for (const auto begin = Clock::now();
       times.size() < 3 || (times.size() < 1000 && seconds(Clock::now() - begin) < 3);) {
    const auto from = Clock::now();
    for (const Variable& output : model(inputs)) output.array().eval();
    device.synchronize();
    times.push_back(seconds(Clock::now() - from));
  }
  std::sort(times.begin(), times.end());
  fmt::print("{:.3f} ms (median of {} runs, the fastest {:.3f} ms)\n", times[times.size() / 2] * 1e3, times.size(),
             times[0] * 1e3);
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
  if (!arguments.output.empty()) std::filesystem::create_directories(arguments.output);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = model.outputs()[i].name;
    const Array array = outputs[i].array().to_device(Device());
    if (arguments.output.empty()) {
      fmt::print("{}  {}  {}\n", name, dtype_name(array.dtype()), array.shape().str());
      fmt::print("{}\n", to_string(array));
    } else {
      const std::string path = (std::filesystem::path(arguments.output) / file_name(name)).string();
      save(path, array.dtype() == Dtype::bfloat16 ? view(array, Dtype::uint16) : array);
      fmt::print("{}  {}  {}  {}\n", name, dtype_name(array.dtype()), array.shape().str(), path);
    }
  }
  if (arguments.bench) measure(model, inputs);
  return 0;
}

}  // namespace catenary::command
