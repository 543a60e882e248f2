#include "catenary/onnx/export.h"

#include <algorithm>
#include <set>

#include "catenary/array/creation.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/onnx/export_call.h"

namespace catenary::onnx {

namespace exporting {

namespace {

constexpr std::int64_t kFirstExported = 18, kLastExported = 23;

Names names_of_ports(const Names& given, std::size_t count, const char* prefix, const char* what) {
  if (given.empty() && count == 1) return {prefix};
  Names names = given;
  if (names.empty())
    for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", prefix, i));
  if (names.size() != count)
    throw ValueError(fmt::format("export_model: {} names are given for {} {}", names.size(), count, what));
  if (std::set<std::string>(names.begin(), names.end()).size() != count || std::ranges::count(names, ""))
    throw ValueError(fmt::format("export_model: the names of {} must differ, and may not be empty", what));
  return names;
}

/// Sizes that vary, with the two sizes that are recorded. Sizes of 1 are not recorded: they broadcast.
using Symbols = std::map<std::string, Extent>;

Symbols symbols_of(const DynamicAxes& axes, const Names& names, const std::vector<Array>& inputs) {
  std::map<std::string, std::int64_t> given;
  for (const auto& [input, named] : axes) {
    const auto at = std::ranges::find(names, input);
    if (at == names.end()) throw ValueError(fmt::format("export_model: dynamic_axes: there is no input '{}'", input));
    const Array& x = inputs[static_cast<std::size_t>(at - names.begin())];
    for (const auto& [axis, name] : named) {
      if (axis < 0 || axis >= x.ndim() || name.empty())
        throw ValueError(
            fmt::format("export_model: dynamic_axes: '{}' has no axis {}, or it has no name", input, axis));
      const auto [found, is_new] = given.emplace(name, x.shape(axis));
      if (!is_new && found->second != x.shape(axis))
        throw ValueError(fmt::format("export_model: size '{}' is {} and {}: set names by dynamic_axes", name,
                                     found->second, x.shape(axis)));
    }
  }
  Symbols symbols;
  std::int64_t more = 1;
  for (const auto& [name, size] : given) {
    const std::int64_t first = size < 2 ? 2 : size;
    symbols[name] = {first, 2 * first + more};
    more += 2;
  }
  return symbols;
}

/// Repeats or cuts the elements of an axis to `size`.
Array resized(const Array& x, int axis, std::int64_t size) {
  if (x.shape(axis) == 0) throw ValueError("export_model: an input has no elements");
  const DeviceScope scope(x.device());
  return take(x, arange(size, Dtype::int64) % x.shape(axis), axis);
}

/// The inputs of one recording. The second one has the elements in another order.
std::vector<Array> inputs_for(const std::vector<Array>& inputs, const Names& names, const DynamicAxes& axes,
                              const Symbols& symbols, bool second) {
  std::vector<Array> made;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Array x = inputs[i];
    if (const auto named = axes.find(names[i]); named != axes.end())
      for (const auto& [axis, name] : named->second)
        x = resized(x, axis, second ? symbols.at(name).second : symbols.at(name).first);
    if (second && x.size() > 0) {
      const Shape shape = x.shape();
      x = flip(x.reshape({-1})).copy().reshape(shape);
      if (is_floating(x.dtype())) x = (x * 0.96875).astype(x.dtype());  // also differs if all elements are equal
    }
    made.push_back(x);
  }
  return made;
}

DynamicAxes dynamic_axes_of(const ExportOptions& options, const Names& names, const std::vector<Array>& inputs) {
  if (options.dynamic_axes) return *options.dynamic_axes;
  DynamicAxes axes;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].ndim() > 0) axes[names[i]] = {{0, "batch"}};
  return axes;
}

/// Throws ValueError with the names of all functions that cannot be exported.
void check_exported(const Recording& recording) {
  std::set<std::string> missing;
  for (const RecordedCall& call : recording.calls)
    if (!call.described || !find_exported(call.name)) missing.insert(call.name);
  if (!missing.empty())
    throw ValueError(fmt::format("export_model: functions cannot be exported: {}", fmt::join(missing, ", ")));
}

/// The state of an export: which name each value has in the file.
class Exporter {
 public:
  Exporter(const Recordings& both, GraphWriter& writer, const Names& inputs)
      : both_(both), writer_(writer), names_(both.first.values.size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      sources_.emplace_back(writer.unique(inputs[i]), both.first.inputs[i]);
      names_[static_cast<std::size_t>(both.first.inputs[i])] = sources_.back().first;
    }
  }

  void write_calls() {
    for (std::size_t index = 0; index < both_.first.calls.size(); ++index) {
      const RecordedCall& recorded = both_.first.calls[index];
      Names inputs;
      for (const int number : recorded.inputs) inputs.push_back(name_of(number, index));
      const ExportCall call(both_, index, inputs, writer_, sources_);
      const ExportRow& row = *find_exported(recorded.name);
      Names results;
      if (row.type) {
        for (int i = 0; i < call.count(); ++i) inputs[static_cast<std::size_t>(i)] = call.as_result(i);
        results = {call.node(row.type, inputs)};
      } else {
        results = row.write(call);
      }
      for (std::size_t i = 0; i < recorded.outputs.size(); ++i)
        if (recorded.outputs[i] >= 0) names_[static_cast<std::size_t>(recorded.outputs[i])] = results.at(i);
    }
  }

  /// Gives the outputs their names.
  void write_outputs(const Names& outputs) {
    std::set<std::string> renamed;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const int number = both_.first.outputs[i];
      const std::string name = name_of(number, both_.first.calls.size());
      const bool computed = std::ranges::any_of(both_.first.calls, [&](const RecordedCall& call) {
        return std::ranges::find(call.outputs, number) != call.outputs.end();
      });
      const std::string made =
          computed && !renamed.contains(name) && !is_source(name) ? name : writer_.node("Identity", {name}, 1, {})[0];
      writer_.rename(made, outputs[i]);
      renamed.insert(outputs[i]);
      for (std::string& other : names_)
        if (other == made) other = outputs[i];
    }
  }

 private:
  bool is_source(const std::string& name) const {
    return writer_.is_initializer(name) ||
           std::ranges::any_of(sources_, [&](const auto& source) { return source.first == name; });
  }

  /// Returns the name of a value, and adds an initializer for a parameter or constant that had no use yet.
  std::string name_of(int number, std::size_t index) {
    std::string& name = names_[static_cast<std::size_t>(number)];
    if (!name.empty()) return name;
    const RecordedValue &a = both_.first.values[static_cast<std::size_t>(number)],
                        &b = both_.second.values[static_cast<std::size_t>(number)];
    if (!a.parameter.empty()) return name = writer_.parameter(a.parameter, a.constant);
    const std::string user = index < both_.first.calls.size() ? both_.first.calls[index].name : "an output";
    const Array values = common_part(a.constant, b.constant);
    if (!values.defined())
      throw ValueError(fmt::format(
          "export_model: {}: a constant of shape {} depends on the inputs, but was computed without Variables: compute "
          "it by functions",
          user, a.shape));
    name = writer_.constant(values);
    if (values.shape() == a.shape) return name;
    const ExportCall call(both_, std::min(index, both_.first.calls.size() - 1), {}, writer_, sources_);
    Extents extents;
    for (int axis = 0; axis < a.shape.size(); ++axis) extents.push_back({a.shape[axis], b.shape[axis]});
    return name = call.node("Expand", {name, call.shape(extents)});
  }

  const Recordings& both_;
  GraphWriter& writer_;
  Names names_;
  std::vector<std::pair<std::string, int>> sources_;
};

GraphPort port_of_value(const std::string& name, int number, const Recordings& both, const Symbols& symbols) {
  const RecordedValue &a = both.first.values[static_cast<std::size_t>(number)],
                      &b = both.second.values[static_cast<std::size_t>(number)];
  GraphPort port{name, a.dtype, {}};
  for (int axis = 0; axis < a.shape.size(); ++axis) {
    const Extent extent = {a.shape[axis], b.shape[axis]};
    if (!extent.varies()) {
      port.shape.emplace_back(extent.first);
      continue;
    }
    const auto symbol = std::ranges::find_if(symbols, [&](const auto& entry) { return entry.second == extent; });
    port.shape.emplace_back(symbol == symbols.end() ? "" : symbol->first);
  }
  return port;
}

void write_model(const std::string& path, const std::function<NamedVariables()>& parameters,
                 const ExportedFunction& function, const std::vector<Array>& inputs, const ExportOptions& options) {
  if (options.opset < kFirstExported || options.opset > kLastExported)
    throw ValueError(fmt::format("export_model: opset {} is not supported, only opsets {} to {} are", options.opset,
                                 kFirstExported, kLastExported));
  const Names names = names_of_ports(options.input_names, inputs.size(), "x", "inputs");
  const DynamicAxes axes = dynamic_axes_of(options, names, inputs);
  const Symbols symbols = symbols_of(axes, names, inputs);
  Recordings both;
  both.first = record(parameters, function, inputs_for(inputs, names, axes, symbols, false));
  check_exported(both.first);
  both.second = record(parameters, function, inputs_for(inputs, names, axes, symbols, true));
  check_equal_structure(both);
  const Names results = names_of_ports(options.output_names, both.first.outputs.size(), "y", "outputs");
  GraphWriter writer(options.opset);
  Exporter exporter(both, writer, names);
  for (const std::string& name : results)
    if (writer.unique(name) != name)
      throw ValueError(fmt::format("export_model: '{}' is the name of an input and of an output", name));
  exporter.write_calls();
  exporter.write_outputs(results);
  std::vector<GraphPort> ports, result_ports;
  for (std::size_t i = 0; i < names.size(); ++i)
    ports.push_back(port_of_value(names[i], both.first.inputs[i], both, symbols));
  for (std::size_t i = 0; i < results.size(); ++i)
    result_ports.push_back(port_of_value(results[i], both.first.outputs[i], both, symbols));
  writer.write(path, ports, result_ports);
}

}  // namespace

}  // namespace exporting

void export_model(const std::string& path, const Link& link, const ExportedFunction& function,
                  const std::vector<Array>& inputs, const ExportOptions& options) {
  const auto parameters = [&] {
    NamedVariables all;
    for (const auto& [name, parameter] : link.namedparams(false)) all.emplace_back(name.substr(1), parameter);
    return all;
  };
  export_model(path, parameters, function, inputs, options);
}

void export_model(const std::string& path, const std::function<NamedVariables()>& parameters,
                  const ExportedFunction& function, const std::vector<Array>& inputs, const ExportOptions& options) {
  exporting::write_model(path, parameters, function, inputs, options);
}

std::vector<std::string> exported_functions() {
  std::vector<std::string> names;
  for (const exporting::ExportRow* row : exporting::all_exported())
    if (names.empty() || names.back() != row->function) names.emplace_back(row->function);
  return names;
}

}  // namespace catenary::onnx
