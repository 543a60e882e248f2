#pragma once
// onnx/: runs and trains models of ONNX files. Files are not trusted. This header has the link, file.h reads files, and
// operators.h has one row for each operator.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catenary/links/link.h"
#include "catenary/onnx/value.h"

namespace catenary::onnx {

/// An input or output of a model.
struct Port {
  std::string name;
  std::optional<Dtype> dtype;
  /// The extents: a number, a name such as "batch", or "?".
  std::vector<std::string> shape;
  bool is_sequence = false;
  bool is_optional = false;
  /// Returns "float32", "sequence of float32", "optional float32" or "optional sequence of float32".
  CT_API std::string type() const;
};

/// The network in an ONNX file. Its floating initializers are parameters with the names that the file gives them, so
/// optimizers can train them and serializers can save them.
class CT_API Model : public Chain {
 public:
  /// Reads a file. Throws FileError for a malformed file, and ValueError with the names of all operators and data types
  /// that are not supported.
  explicit Model(const std::string& path);

  /// Computes the outputs from the inputs, in the order of inputs() and outputs(). Inputs are moved to the device of
  /// the parameters. Throws ValueError for a wrong number of inputs, with the node's name if a node fails, and if an
  /// output is a sequence or empty.
  std::vector<Variable> operator()(std::span<const Variable> inputs) const;
  std::vector<Variable> operator()(std::initializer_list<Variable> inputs) const {
    return (*this)(std::span<const Variable>(inputs.begin(), inputs.size()));
  }

  /// Like operator(), with sequences, and empty values for optionals.
  Values run(std::span<const Value> inputs) const;

  /// Limits the bytes of the arrays that a call makes. A call that needs more throws OutOfMemoryError with the node's
  /// name. By default (0), the limit is half of the machine's memory, or the memory of the device if that is more.
  void set_memory_limit(std::uint64_t bytes) { memory_limit_ = bytes; }

  /// Returns the inputs that a call must pass.
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  /// Returns the operators in the file and how often it has each.
  std::vector<std::pair<std::string, int>> operators() const;
  /// Returns the version of a domain's operators. The empty name stands for ai.onnx.
  std::int64_t opset(const std::string& domain = "") const;

  std::string type_name() const override { return "onnx::Model"; }
  void visit_members(MemberVisitor& visitor) const override;

 private:
  struct State;
  std::shared_ptr<const State> state_;
  std::vector<std::pair<std::string, Parameter>> parameters_;
  std::uint64_t memory_limit_ = 0;
};

/// Returns the names of all supported operators, sorted. Operators outside ai.onnx have their domain in front.
CT_API std::vector<std::string> supported_operators();

}  // namespace catenary::onnx
