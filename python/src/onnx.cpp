// Models of ONNX files.

#include "bind.h"
#include "catenary/core/config.h"
#include "catenary/onnx/model.h"

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

}  // namespace

void register_onnx(nb::module_& m) {
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
