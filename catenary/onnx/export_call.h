#pragma once
// Private to onnx/: the functions that can be exported. Each is one row: the function's name, and either the operator
// that has its meaning or code that adds nodes. A family of functions is one file.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catenary/core/format.h"
#include "catenary/onnx/export_writer.h"

namespace catenary::onnx::exporting {

/// Names of values in the file.
using Names = std::vector<std::string>;

/// A function of both recordings, and the names of its inputs in the file.
class ExportCall {
 public:
  ExportCall(const Recordings& both, std::size_t index, Names inputs, GraphWriter& writer,
             std::span<const std::pair<std::string, int>> sources);

  const std::string& function() const { return first().name; }
  std::int64_t opset() const { return writer_.opset(); }
  int count() const { return static_cast<int>(inputs_.size()); }
  int results() const { return static_cast<int>(first().outputs.size()); }
  const std::string& x(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
  const Names& inputs() const { return inputs_; }

  int ndim(int i) const { return value(i).shape.size(); }
  Dtype dtype(int i) const { return value(i).dtype; }
  Extents extents(int i) const { return extents_of(first().inputs[static_cast<std::size_t>(i)]); }
  /// The dtype of a result, or of another result if this one is not used.
  Dtype result_dtype(int i = 0) const;
  Extents result(int i = 0) const { return extents_of(first().outputs[static_cast<std::size_t>(i)]); }
  /// Returns a size that does not depend on the inputs. Throws ValueError for another one.
  std::int64_t fixed(const Extent& extent, const char* what) const;
  /// Returns the name of the model's input of integers that has these elements in the two recordings, or nullopt.
  /// Functions keep indices as attributes, so that indices from an input are found by their values.
  std::optional<std::string> input_equal_to(const Array& in_first, const Array& in_second) const;

  // Attributes of the function. They throw ValueError if the two recordings differ.
  bool has(const char* name) const;
  std::int64_t integer(const char* name) const;
  double real(const char* name) const;
  bool flag(const char* name) const;
  std::string text(const char* name) const;
  Integers integers(const char* name) const;
  /// Axes from 0 on, all axes of input 0 if the attribute is none.
  Integers axes(const char* name = "axis") const;
  int axis(const char* name = "axis") const;
  /// Returns an attribute from each recording.
  std::pair<const FunctionAttribute*, const FunctionAttribute*> both(const char* name) const;
  /// Returns the array in an attribute. On axes where the recordings differ its size is 1, so that it broadcasts.
  Array array(const char* name) const;

  // Nodes of the file.
  std::string node(const std::string& type, const Names& inputs, const NodeAttributes& attributes = {}) const;
  Names nodes(const std::string& type, const Names& inputs, int results, const NodeAttributes& attributes = {}) const;
  std::string constant(const Array& values) const { return writer_.constant(values); }
  std::string constant(const Integers& values) const { return writer_.integers(values); }
  /// A 0-d array with the dtype of the first result.
  std::string number(double value) const { return number(value, result_dtype()); }
  std::string number(double value, Dtype dtype) const;
  std::string cast(const std::string& name, Dtype from, Dtype to) const;
  /// Input i with the dtype of the first result.
  std::string as_result(int i) const { return cast(x(i), dtype(i), result_dtype()); }
  std::string transpose(const std::string& name, const Integers& axes) const {
    return node("Transpose", {name}, {{"perm", axes}});
  }
  std::string slice(const std::string& name, int axis, std::int64_t start, std::int64_t stop,
                    std::int64_t step = 1) const;
  /// Reshapes input `name` of shape `from` to `to`.
  std::string reshape(const std::string& name, const Extents& from, const Extents& to) const;
  /// Returns a 1-d array of sizes, as input of a node.
  std::string shape(const Extents& extents) const;
  /// Returns a size as a 1-d array of one element.
  std::string size(const Extent& extent) const;

  template <class... A>
  [[noreturn]] void fail(fmt::format_string<A...> format, A&&... arguments) const {
    throw ValueError(
        fmt::format("export_model: {}: {}", function(), fmt::format(format, std::forward<A>(arguments)...)));
  }

 private:
  const RecordedCall& first() const { return both_.first.calls[index_]; }
  const RecordedCall& second() const { return both_.second.calls[index_]; }
  const RecordedValue& value(int i) const {
    return both_.first.values[static_cast<std::size_t>(first().inputs[static_cast<std::size_t>(i)])];
  }
  Extents extents_of(int number) const;
  const FunctionAttribute& same(const char* name) const;
  std::optional<std::string> measured(const Extent& extent) const;

  const Recordings& both_;
  std::size_t index_;
  Names inputs_;
  GraphWriter& writer_;
  std::span<const std::pair<std::string, int>> sources_;  ///< names and numbers of the model's inputs
};

/// A function that can be exported: to one operator with the function's inputs, cast to the result's dtype, or by code
/// that returns the names of the results.
struct ExportRow {
  const char* function;
  const char* type = nullptr;
  Names (*write)(const ExportCall&) = nullptr;
};

/// The rows of each family.
std::span<const ExportRow> exported_elementwise();
std::span<const ExportRow> exported_shape();
std::span<const ExportRow> exported_layer();
std::span<const ExportRow> exported_sequence();
std::span<const ExportRow> exported_sampling();
std::span<const ExportRow> exported_loss();

/// Returns all rows, sorted by name.
const std::vector<const ExportRow*>& all_exported();
/// Returns the row of a function, or null.
const ExportRow* find_exported(const std::string& function);

}  // namespace catenary::onnx::exporting
