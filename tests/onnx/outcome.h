#pragma once
// Opens and runs ONNX files that may be hostile.

#include <cstdlib>
#include <string>

#include "catenary/array/creation.h"
#include "catenary/core/config.h"
#include "catenary/core/error.h"
#include "catenary/onnx/model.h"

namespace onnx_writer {

/// The memory that a call of a hostile model may use.
inline constexpr std::uint64_t kCallBytes = std::uint64_t{64} << 20;
/// Makes an input of ones. Extents that the file does not fix, or that are large, are 2.
inline catenary::onnx::Value input_for(const catenary::onnx::Port& port) {
  catenary::Shape shape;
  for (const std::string& extent : port.shape) {
    const std::int64_t size = std::atoll(extent.c_str());
    shape.push_back(size > 0 && size < 1000 ? size : 2);
  }
  const catenary::Variable x(catenary::ones(shape, port.dtype.value_or(catenary::Dtype::float32)), false);
  return port.is_sequence ? catenary::onnx::Value::sequence({x, x}) : catenary::onnx::Value(x);
}

/// Opens a file and calls the model. Returns the error's message, or "".
inline std::string error_of_file(const std::string& path) {
  try {
    const auto scope = catenary::no_backprop_mode();
    catenary::onnx::Model net(path);
    net.set_memory_limit(kCallBytes);
    catenary::onnx::Values inputs;
    for (const catenary::onnx::Port& port : net.inputs()) inputs.push_back(input_for(port));
    for (const catenary::onnx::Value& y : net.run(inputs))
      if (y.defined() && !y.is_sequence()) y.array().eval();
  } catch (const catenary::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace onnx_writer
