#pragma once
// Private to onnx/: an ONNX graph under construction.

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "catenary/io/host_array.h"
#include "catenary/io/protobuf.h"
#include "catenary/onnx/recording.h"

namespace catenary::onnx::exporting {

/// A size in both recordings.
struct Extent {
  std::int64_t first = 0, second = 0;
  bool varies() const { return first != second; }
  friend bool operator==(const Extent&, const Extent&) = default;
};
using Extents = std::vector<Extent>;

/// An attribute of a node.
struct NodeAttribute {
  template <std::integral T>
  NodeAttribute(std::string name, T value) : name(std::move(name)), value(static_cast<std::int64_t>(value)) {}
  NodeAttribute(std::string name, double value) : name(std::move(name)), value(value) {}
  NodeAttribute(std::string name, const char* value) : name(std::move(name)), value(std::string(value)) {}
  NodeAttribute(std::string name, std::string value) : name(std::move(name)), value(std::move(value)) {}
  NodeAttribute(std::string name, Integers value) : name(std::move(name)), value(std::move(value)) {}

  std::string name;
  std::variant<std::int64_t, double, std::string, Integers> value;
};
using NodeAttributes = std::vector<NodeAttribute>;

/// An input or output of the model. An extent is a number, or a name, which may be empty.
struct GraphPort {
  std::string name;
  Dtype dtype;
  std::vector<std::variant<std::int64_t, std::string>> shape;
};

/// Nodes and initializers, with unique names for all values.
class GraphWriter {
 public:
  explicit GraphWriter(std::int64_t opset) : opset_(opset) {}
  std::int64_t opset() const { return opset_; }

  /// Takes a name, or makes another one from it if it is taken.
  std::string unique(const std::string& name);
  /// Adds a node and returns the names of its results.
  std::vector<std::string> node(const std::string& type, const std::vector<std::string>& inputs, int results,
                                const NodeAttributes& attributes);
  /// Adds an initializer. Equal constants are written once; parameters always keep their names.
  std::string parameter(const std::string& name, const Array& values);
  std::string constant(const Array& values);
  std::string integers(const Integers& values);
  bool is_initializer(const std::string& name) const;
  /// Renames the result of a node everywhere.
  void rename(const std::string& from, const std::string& to);

  /// Writes the model. Throws ValueError for a model of 2 GiB or more, and FileError.
  void write(const std::string& path, const std::vector<GraphPort>& inputs,
             const std::vector<GraphPort>& outputs) const;

 private:
  struct Node {
    std::string type, name;
    std::vector<std::string> inputs, outputs;
    NodeAttributes attributes;
  };
  std::string initializer(const std::string& name, const io::HostArray& values);

  std::int64_t opset_;
  std::vector<Node> nodes_;
  std::vector<std::pair<std::string, io::HostArray>> initializers_;
  std::map<std::string, std::string> constants_;  ///< names by dtype, shape and bytes
  std::map<std::string, int> names_;              ///< how often each name was asked for
};

/// Returns the number of a dtype in TensorProto.DataType.
std::int64_t type_of_dtype(Dtype dtype);

}  // namespace catenary::onnx::exporting
