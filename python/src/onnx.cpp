// Models of ONNX files.

#include <nanobind/stl/map.h>

#include "bind.h"
#include "catenary/core/config.h"
#include "catenary/onnx/export.h"
#include "catenary/onnx/model.h"
#include "chainer/objects.h"

namespace catenary_python {

using namespace nb::literals;
using ct::onnx::Model;
using ct::onnx::Port;

namespace {

nb::list ports(const std::vector<Port>& all) {
  nb::list result;
  for (const Port& port : all) {
    nb::list shape;
    for (const std::string& extent : port.shape) shape.append(extent);
    result.append(nb::make_tuple(port.name, ct::dtype_name(*port.dtype), nb::tuple(shape)));
  }
  return result;
}

/// Reads a list of chainer's variables.
std::vector<ct::Variable> variables_in(nb::handle list) {
  std::vector<ct::Variable> all;
  for (nb::handle o : list) {
    if (!is_variable(o.ptr())) throw nb::type_error("an output is not a chainer.Variable");
    all.push_back(variable_of(o.ptr()));
  }
  return all;
}

/// Writes a Python function of variables, which returns a list. `parameters` returns pairs of names and variables.
void export_function(const std::string& path, const nb::callable& parameters, const nb::callable& function,
                     const nb::list& inputs, const ct::onnx::ExportOptions& options) {
  std::vector<Array> arrays;
  for (nb::handle o : inputs) {
    Array a;
    if (!array_over(o.ptr(), a)) throw nb::type_error("the arguments must be NumPy or cupy arrays");
    arrays.push_back(a);
  }
  const auto named = [&] {
    ct::onnx::NamedVariables all;
    for (nb::handle pair : parameters()) all.emplace_back(nb::cast<std::string>(pair[0]), variable_from(pair[1]));
    return all;
  };
  const auto call = [&](std::span<const ct::Variable> xs) { return variables_in(function(*wrap_variables(xs))); };
  ct::onnx::export_model(path, named, call, arrays, options);
}

}  // namespace

void register_onnx(nb::module_& m) {
  m.def(
      "_export_onnx",
      [](const std::string& path, const nb::callable& parameters, const nb::callable& function, const nb::list& inputs,
         std::int64_t opset, const std::vector<std::string>& input_names, const std::vector<std::string>& output_names,
         const std::optional<ct::onnx::DynamicAxes>& dynamic_axes) {
        export_function(path, parameters, function, inputs, {opset, input_names, output_names, dynamic_axes});
      },
      "path"_a, "parameters"_a, "function"_a, "inputs"_a, "opset"_a, "input_names"_a, "output_names"_a,
      "dynamic_axes"_a.none());
  nb::class_<Model>(m, "_OnnxModel", "An ONNX file's network on a device. catenary.onnx.Model uses it.")
      .def(
          "__init__",
          [](Model* model, const std::string& path, const Array& like) {
            const ct::DeviceScope scope(like.device());
            new (model) Model(path);
          },
          "path"_a, "like"_a)
      .def(
          "run",
          [](const Model& model, const std::vector<Array>& inputs) {
            return without_gil(true, [&] {
              const auto scope = ct::no_backprop_mode();
              const std::vector<ct::Variable> outputs = model(std::vector<ct::Variable>(inputs.begin(), inputs.end()));
              std::vector<Array> arrays;
              for (const ct::Variable& output : outputs) arrays.push_back(output.array());
              return arrays;
            });
          },
          "inputs"_a)
      .def("inputs", [](const Model& model) { return ports(model.inputs()); })
      .def("outputs", [](const Model& model) { return ports(model.outputs()); })
      .def("parameters",
           [](const Model& model) {
             nb::dict result;
             for (const auto& [path, parameter] : model.namedparams())
               result[path.substr(1).c_str()] = nb::cast(parameter.array());
             return result;
           })
      .def("operators", [](const Model& model) {
        nb::dict result;
        for (const auto& [name, count] : model.operators()) result[name.c_str()] = count;
        return result;
      });
}

}  // namespace catenary_python
