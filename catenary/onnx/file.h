#pragma once
// Private to onnx/: the messages of an ONNX file (onnx.proto of ONNX 1.23) as structures. Weights are views of the
// mapped file.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "catenary/core/os/file.h"
#include "catenary/io/host_array.h"

namespace catenary::onnx {

/// A TensorProto.
struct Tensor {
  std::string name;
  int type = 0;  ///< TensorProto.DataType
  std::vector<std::int64_t> dims;
  std::string_view raw;
  std::vector<std::int64_t> integers;
  std::vector<float> reals;
  std::vector<double> doubles;
  bool has_strings = false;
  std::map<std::string, std::string> external;  ///< location, offset and length of data in another file
};

struct Graph;

/// An AttributeProto. `type` tells which member has the value.
struct Attribute {
  std::string name;
  std::string reference;  ///< the argument of a function that gives the value
  int type = 0;
  float real = 0;
  std::int64_t integer = 0;
  std::string text;
  std::shared_ptr<const Tensor> tensor;
  std::shared_ptr<const Graph> graph;
  std::vector<float> reals;
  std::vector<std::int64_t> integers;
  std::vector<std::string> texts;
};

/// A NodeProto.
struct Node {
  std::string name, type, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> attributes;
  /// Returns "node 'conv1' (Conv)", or the name of its first output if it has no name.
  std::string label() const;
};

/// A ValueInfoProto: a named tensor. An extent is a number, or a name such as "batch", which may be empty.
struct ValueInfo {
  std::string name;
  std::string kind;  ///< such as "tensor" or "optional of sequence of tensor"
  int type = 0;
  std::optional<std::vector<std::variant<std::int64_t, std::string>>> shape;
};

/// A GraphProto.
struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs, outputs;
};

/// Versions of operators by domain. ai.onnx is "".
using Opsets = std::map<std::string, std::int64_t>;

/// A FunctionProto: an operator that the file defines by a graph.
struct Function {
  Graph graph;                      ///< inputs and outputs have names only
  std::vector<Attribute> defaults;  ///< of attributes that a call may omit
  Opsets opsets;
};

/// A ModelProto, and the mapped file that its views point into.
struct File {
  explicit File(const std::string& path);

  std::string path, producer;
  std::int64_t ir_version = 0;
  Opsets opsets;
  Graph graph;
  std::map<std::array<std::string, 3>, Function> functions;  ///< by domain, name and overload
  /// Returns the file's size in bytes.
  std::uint64_t size() const { return view_.bytes().size(); }
  /// Returns the function that a node calls, or null.
  const Function* function(const Node& node) const;
  /// Reads a tensor's elements, also from another file. Throws FileError.
  io::HostArray read(const Tensor& tensor) const;

 private:
  std::string_view external(const Tensor& tensor) const;

  os::FileView view_;
  mutable std::map<std::string, os::FileView> others_;
  mutable std::map<std::string, std::uint64_t> external_bytes_;  ///< that tensors have in each file
};

/// Returns the elements of a tensor in the file itself. `where` names it in messages.
io::HostArray read_tensor_elements(const Tensor& tensor, const std::string& where);

/// Returns the dtype of a TensorProto.DataType, or nullopt if Catenary has none.
std::optional<Dtype> dtype_of_type(int type);
/// Returns a TensorProto.DataType's name, such as "FLOAT8E4M3FN".
std::string name_of_type(int type);

}  // namespace catenary::onnx
