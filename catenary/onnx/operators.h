#pragma once
// Private to onnx/: the operators. Each is one row: name, first opset, function. An operator family is one file.
//
// A row's function computes with Variables, so that imported models can be trained. Small integer arrays (shapes, and
// values computed from them) stay in host memory: an operator runs on the CPU unless one of its arrays is on the
// model's device. Operators read shapes, axes and similar inputs by Call::integers, which does not wait for a device if
// the array is in host memory.

#include <array>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catenary/core/format.h"
#include "catenary/functions/functions.h"
#include "catenary/onnx/file.h"
#include "catenary/onnx/value.h"

namespace catenary::onnx {

namespace F = catenary::functions;
using Integers = std::vector<std::int64_t>;

/// Arrays that a node computes from its constants, such as unpacked weights. They are kept for its next calls.
class Kept {
 public:
  /// Returns array `key` on a device. Computes it at the first call.
  Array get(int key, const Device& device, const std::function<Array()>& compute);

 private:
  struct Entry {
    int key;
    Device device;
    Array array;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

/// A call of an operator: its node, its inputs, and the attributes by name.
class Call {
 public:
  /// Runs the graph in an attribute.
  using RunBody = std::function<Values(const std::string&, const Values&)>;
  Call(const Node& node, std::int64_t opset, Values inputs, const Device& device, RunBody run_body = {},
       Kept* kept = nullptr);

  std::int64_t opset() const { return opset_; }
  const Node& node() const { return node_; }
  int count() const { return static_cast<int>(inputs_.size()); }
  int outputs() const { return static_cast<int>(node_.outputs.size()); }
  /// Whether the result `i` is used.
  bool wants(int i) const;
  bool has(int i) const { return i < count() && inputs_[static_cast<std::size_t>(i)].defined(); }
  /// Returns an input on the device where the operator runs. Throws ValueError if it is missing.
  Variable x(int i) const;
  Array array(int i) const { return x(i).array(); }
  /// Returns an input where it is. Throws ValueError if it is missing.
  const Value& value(int i) const;
  /// Returns the elements of an input of integers, or nullopt if it is omitted.
  std::optional<Integers> integers(int i) const;
  const Device& device() const { return device_; }

  // Attributes. A second argument is the default; without one, the attribute is required.
  std::int64_t integer(const char* name, std::optional<std::int64_t> otherwise = {}) const;
  double real(const char* name, std::optional<double> otherwise = {}) const;
  std::string text(const char* name, const std::optional<std::string>& otherwise = {}) const;
  std::optional<Integers> list(const char* name) const;
  std::optional<std::vector<float>> reals(const char* name) const;
  const Attribute* find(const char* name) const;
  /// Returns the graph in an attribute, which `run` runs.
  const Graph& graph(const char* name) const;
  Values run(const char* name, const Values& inputs) const { return run_body_(name, inputs); }
  /// Axes from an attribute, or since opset `since` from input `i`.
  std::optional<Integers> axes(int i, std::int64_t since, const char* name = "axes") const;
  /// Returns whether all of these inputs are constants or omitted.
  bool are_constant(std::initializer_list<int> inputs) const;
  /// Returns an array that is computed from some inputs and attributes alone. If the inputs are constants, it is
  /// computed only once. Arrays of one node need different keys.
  Array kept(int key, std::initializer_list<int> inputs, const std::function<Array()>& compute) const;
  /// Throws ValueError if the node has an attribute that was not asked for.
  void refuse_other_attributes() const;

  /// Throws ValueError with the node's label.
  template <class... A>
  [[noreturn]] void fail(fmt::format_string<A...> format, A&&... arguments) const {
    throw ValueError(fmt::format(format, std::forward<A>(arguments)...));
  }

 private:
  const Node& node_;
  std::int64_t opset_;
  Values inputs_;
  Device device_;
  RunBody run_body_;
  Kept* kept_;
  mutable std::vector<bool> asked_;  ///< of each attribute of the node
};

struct Operator {
  const char* name;
  int since;  ///< the first opset with this meaning
  Values (*compute)(const Call&);
  const char* domain = "";
  /// Throws ValueError for unsupported attributes when a file is opened. The call has only the inputs that are
  /// constants.
  void (*check)(const Call&) = nullptr;
};

/// The rows of each family.
std::span<const Operator> elementwise_operators();
std::span<const Operator> shape_operators();
std::span<const Operator> index_operators();
std::span<const Operator> layer_operators();
std::span<const Operator> pooling_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> recurrent_operators();
std::span<const Operator> resize_operators();
std::span<const Operator> quantised_operators();
std::span<const Operator> loss_operators();
std::span<const Operator> control_operators();
std::span<const Operator> roi_operators();
std::span<const Operator> sampling_operators();
std::span<const Operator> training_operators();
std::span<const Operator> signal_operators();
std::span<const Operator> random_operators();
std::span<const Operator> sequence_operators();
std::span<const Operator> early_operators();
std::span<const Operator> attention_operators();
std::span<const Operator> microsoft_operators();
std::span<const Operator> microsoft_attention_operators();
std::span<const Operator> microsoft_quantised_operators();

/// Quantises x to uint8. Returns the result, its scale and its zero point.
std::array<Array, 3> dynamically_quantized(const Array& x);

/// Returns a dtype in which the sums over some axes of weights, times differences of 8-bit integers, are exact.
Dtype exact_dtype(const Call& c, const Array& weights, const AxisArg& summed);

/// Returns the row for an operator in an opset, or null.
const Operator* find_operator(const std::string& domain, const std::string& name, std::int64_t opset);
/// Returns all rows, sorted by name.
std::vector<const Operator*> all_operators();

/// Throws OutOfMemoryError if a list of `count` numbers, or of arrays, is larger than a call may use.
void check_count(double count);
void check_arrays(std::int64_t count);
/// Returns the dtype for a TensorProto.DataType. Throws ValueError.
Dtype dtype_to(const Call& call, std::int64_t type);
/// Returns an axis as a number from 0 on. Throws ValueError.
int axis_of(const Call& call, std::int64_t axis, int ndim);
/// Returns the axes from `first` to the last of `ndim`.
AxisArg axes_from(int first, int ndim);
/// Returns a shape of `ndim` axes with `size` at one axis and 1 at the others, which broadcasts along that axis.
Shape shape_along(int ndim, int axis, std::int64_t size);
/// Returns x as an array of rows: the axes before `axis` are joined, and those from it on.
Variable as_rows(const Variable& x, int axis);
/// Returns the index expression that picks `index` along an axis.
std::vector<Index> along(int axis, const Index& index);

}  // namespace catenary::onnx
