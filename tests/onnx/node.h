#pragma once
// Runs a single ONNX operator in tests.

#include <string>
#include <vector>

#include "catenary/onnx/model.h"
#include "tests/folder.h"
#include "tests/onnx/writer.h"

namespace onnx_writer {

/// A file that is removed with its folder.
struct Written {
  explicit Written(const Message& message) : path(folder.path + "/model.onnx") { write(path, message.bytes); }
  tests::Folder folder;
  std::string path;
};

/// Returns the TensorProto.DataType of a dtype.
inline std::uint64_t type_of(catenary::Dtype dtype) {
  using catenary::Dtype;
  switch (dtype) {
    case Dtype::float32:
      return 1;
    case Dtype::uint8:
      return 2;
    case Dtype::int8:
      return 3;
    case Dtype::int32:
      return 6;
    case Dtype::int64:
      return 7;
    case Dtype::bool_:
      return 9;
    default:
      return 11;  // float64
  }
}

/// Runs a model of one node on the inputs. Undefined inputs are left out. A domain has version 1.
inline std::vector<catenary::Variable> run_node(const std::string& type, const std::vector<catenary::Variable>& inputs,
                                                const std::vector<Message>& attributes = {}, int outputs = 1,
                                                std::uint64_t opset = 22, const std::string& domain = "") {
  Graph graph;
  std::vector<std::string> names, results;
  std::vector<catenary::Variable> given;
  for (const catenary::Variable& x : inputs) {
    names.push_back(x.defined() ? "x" + std::to_string(given.size()) : "");
    if (!x.defined()) continue;
    graph.inputs.push_back(value(names.back(), {x.shape().begin(), x.shape().end()}, type_of(x.dtype())));
    given.push_back(x);
  }
  for (int i = 0; i < outputs; ++i) {
    results.push_back("y" + std::to_string(i));
    graph.outputs.push_back(value(results.back(), {}, 1));
  }
  graph.nodes = {node(type, names, results, attributes, domain)};
  Message whole = model(graph.message(), opset);
  if (!domain.empty()) whole.message(8, Message().text(1, domain).integer(2, 1));
  const Written file(whole);
  return catenary::onnx::Model(file.path)(given);
}

inline Message attribute(const std::string& name, const char* text) {
  return Message().text(1, name).text(4, text).integer(20, 3);
}
/// An attribute of an integer, for literals.
inline Message number(const std::string& name, std::int64_t value) { return attribute(name, value); }

}  // namespace onnx_writer
