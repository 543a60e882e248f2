#pragma once
// autograd/: records array operations as a graph (define by run) and backpropagates gradients, with Chainer 7's names
// and behaviour. Variable and Parameter are handles to graph nodes, FunctionNode (function_node.h) is an operation in
// the graph, and backward.h walks the graph. This folder implements only the operations that a Variable itself needs
// (operators.h). All other functions are in functions/. It may not include optimizers, links or details of devices.

#include <atomic>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "catenary/array/number.h"
#include "catenary/autograd/small_vector.h"

namespace catenary {

class FunctionNode;
class Variable;
class VariableNode;
/// The results of a function, usually one Variable. An undefined Variable means "no gradient" (Chainer's None).
using Variables = SmallVector<Variable, 2>;

/// Optional arguments of Variable's constructor.
struct VariableOptions {
  std::string name = {};
  Array grad = {};
  bool requires_grad = true;
};

/// A handle to an array in the graph of computations. Copies refer to one variable. (chainer.Variable)
///
/// `Variable x(array)` requires a gradient, as in Chainer. An Array passed to a function that takes a Variable is
/// converted implicitly to a Variable without gradient, as by Chainer's as_variable. Arrays of non-floating dtypes
/// never have a gradient.
class CT_API Variable {
 public:
  /// Makes an undefined handle, which allows assignment, `defined` and destruction only.
  Variable() = default;
  explicit Variable(Array array, bool requires_grad = true);
  Variable(const Array& array, VariableOptions options);
  template <std::same_as<Array> A>
  Variable(const A& array) : Variable(array, false) {}
  Variable(const Variable& other) noexcept;
  Variable(Variable&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  /// Rebinds this handle to the other variable. Not for temporaries, where it would have no effect.
  Variable& operator=(const Variable& other) & noexcept;
  Variable& operator=(Variable&& other) & noexcept;
  ~Variable();

  bool defined() const { return node_ != nullptr; }
  explicit operator bool() const = delete;
  /// Returns whether both handles refer to one variable.
  bool is(const Variable& other) const { return node_ == other.node_; }

  /// Returns the values; undefined for a parameter that is not initialised.
  const Array& array() const;
  const Array& data() const { return array(); }
  /// Replaces the values. Graphs that retained the variable see the new values, so call this between passes.
  void set_array(const Array& array) const;
  /// Returns the gradient's values, or an undefined Array if there is no gradient.
  Array grad() const;
  /// Sets the gradient. Throws ShapeError or DtypeError unless it has the shape and dtype of array().
  void set_grad(const Array& grad) const;
  /// Returns the gradient as a Variable, for differentiating again, or an undefined Variable.
  const Variable& grad_var() const;
  void set_grad_var(const Variable& grad) const;

  const Shape& shape() const;
  std::int64_t shape(int axis) const;
  Dtype dtype() const;
  int ndim() const { return shape().size(); }
  std::int64_t size() const { return shape().product(); }
  /// Returns the size of the first axis.
  std::int64_t len() const { return array().len(); }
  Device device() const;
  const std::string& name() const;
  void set_name(std::string name) const;
  bool requires_grad() const;
  /// Returns the text that graphs show: "(2, 3), float32".
  std::string label() const;
  /// Returns the function that computed it, or null for a leaf.
  FunctionNode* creator() const;
  FunctionNode* creator_node() const { return creator(); }
  /// Returns the length of the longest path from a leaf.
  int rank() const;
  VariableNode& node() const;
  /// Returns the loss scale of the last backward that reached this leaf. Optimizers divide the gradient by it.
  std::optional<Number> loss_scale() const;
  void set_loss_scale(std::optional<Number> scale) const;

  /// Computes the gradients of all variables that lead to this one and adds them to the leaves' grad. Starts from
  /// grad_var(), or from 1 for a variable of one element, times loss_scale if given. Keeps intermediate gradients if
  /// retain_grad, and records the gradients' own graph if enable_double_backprop. Throws ValueError if there is no
  /// gradient to start from. (chainer.Variable.backward)
  void backward(bool retain_grad = false, bool enable_double_backprop = false,
                std::optional<Number> loss_scale = {}) const;
  /// Removes the gradient.
  void cleargrad() const;
  /// Sets the gradient to zeros.
  void zerograd() const;
  /// Copies values from `other`, across devices if necessary. Initialises a parameter.
  void copydata(const Variable& other) const;
  /// Adds other's gradient, if defined, to this variable's gradient.
  void addgrad(const Variable& other) const;
  /// Disconnects this variable from the function that computed it.
  void unchain() const;
  /// Disconnects all variables that lead to this one from their functions, so that later backward passes stop here.
  void unchain_backward() const;

  /// Returns the only element.
  template <class T>
  T item() const {
    return array().item<T>();
  }
  Variable reshape(const Shape& shape) const;
  Variable transpose(const Axes& axes = {}) const;
  Variable T() const { return transpose(); }
  /// Indexes like NumPy.
  template <class... I>
  Variable operator()(const I&... indices) const {
    return get({Index(indices)...});
  }
  Variable get(const std::vector<Index>& indices) const;
  Variable operator[](std::int64_t i) const { return get({Index(i)}); }
  /// Moves values and gradient to another device, in place. Throws ValueError for a variable computed by a function;
  /// use F::copy instead.
  void to_device(const Device& device) const;
  /// Returns name, device, dtype, shape and statistics of values and gradient. (chainer.Variable.debug_print)
  std::string debug_print() const;

  /// Internal: makes a handle of a node.
  explicit Variable(VariableNode* node) noexcept;

 protected:
  friend class FunctionNode;
  VariableNode* node_ = nullptr;
};

/// Returns the text "variable([1., 2.])", with the name if set.
CT_API std::string repr(const Variable& v);
CT_API std::string to_string(const Variable& v);
CT_API std::ostream& operator<<(std::ostream& stream, const Variable& v);

/// Data that a binding to another language attaches to a node. Destroyed with the node.
class CT_API VariablePeer {
 public:
  virtual ~VariablePeer();
  /// Called when the node's values are replaced or removed.
  virtual void data_changed() noexcept = 0;
};

/// The node of a variable in the graph. It holds the array while handles exist, or permanently if a function retained
/// it. Only one thread at a time may build and walk a graph, while several threads may use leaves (parameters).
/// (chainer.variable.VariableNode)
class CT_API VariableNode {
 public:
  explicit VariableNode(Array array, bool requires_grad);
  VariableNode(const VariableNode&) = delete;
  VariableNode& operator=(const VariableNode&) = delete;

  Dtype dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  /// Returns the values; undefined if they were freed.
  const Array& data() const { return data_; }
  FunctionNode* creator() const { return creator_; }
  int output_index() const { return output_index_; }
  int rank() const { return rank_; }
  bool requires_grad() const { return requires_grad_; }
  const std::string& name() const;
  std::string label() const;
  /// Returns whether a function or retain() keeps the values after the last Variable is gone.
  bool is_retained() const { return retained_.load(std::memory_order_relaxed); }
  void retain(bool retained = true) { retained_.store(retained, std::memory_order_relaxed); }
  /// Frees the values.
  void forget_data();
  /// Returns the number of references by functions, handles and others, for diagnosing object lifetimes.
  std::uint32_t reference_count() const {
    return static_cast<std::uint32_t>(references_.load(std::memory_order_acquire));
  }
  /// Sets the creator, or none. Does not make this node an output of f.
  void set_creator(FunctionNode* f);
  /// Sets the rank of a node that is disconnected and connected again.
  void set_rank(int rank) { rank_ = rank; }
  /// Allows gradients for integers too, for functions of another language that define them.
  void set_requires_grad(bool requires_grad) { requires_grad_ = requires_grad; }
  VariablePeer* peer() const { return peer_.get(); }
  void set_peer(std::unique_ptr<VariablePeer> peer) { peer_ = std::move(peer); }
  /// Returns how many of the references are Variables.
  std::uint32_t handle_count() const {
    return static_cast<std::uint32_t>(references_.load(std::memory_order_relaxed) >> 32);
  }
  /// Returns whether a Variable refers to this node.
  bool has_handle() const { return handle_count() != 0; }

  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  friend class Variable;
  friend class Parameter;
  friend class FunctionNode;
  struct Extras;

  ~VariableNode();
  Extras& extras();
  void set_data(Array array);
  void detach();
  void release_handle();
  void add_handle() { references_.fetch_add(kHandle, std::memory_order_relaxed); }

  static constexpr std::uint64_t kHandle = (std::uint64_t{1} << 32) + 1;
  std::atomic<std::uint64_t> references_{0};  // all references in the low 32 bits, handles in the high 32 bits
  Array data_;
  Variable grad_;
  FunctionNode* creator_ = nullptr;  // counted reference
  std::unique_ptr<Extras> extras_;
  std::unique_ptr<VariablePeer> peer_;
  int rank_ = 0;
  std::int16_t output_index_ = 0;
  Dtype dtype_ = Dtype::float32;
  bool requires_grad_ = false;
  std::atomic<bool> retained_{false};
  Shape shape_;
};

inline Variable::Variable(VariableNode* node) noexcept : node_(node) {
  if (node_) node_->add_handle();
}
inline Variable::Variable(const Variable& other) noexcept : Variable(other.node_) {}
inline Variable::~Variable() {
  if (node_) node_->release_handle();
}
inline Variable& Variable::operator=(const Variable& other) & noexcept {
  Variable copy(other);
  std::swap(node_, copy.node_);
  return *this;
}
inline Variable& Variable::operator=(Variable&& other) & noexcept {
  Variable moved(std::move(other));
  std::swap(node_, moved.node_);
  return *this;
}

/// Returns `v` itself, or a Variable without gradient for an Array. (chainer.as_variable)
inline const Variable& as_variable(const Variable& v) { return v; }
inline Variable as_variable(const Array& a) { return Variable(a, false); }

namespace functions {
#define CT_VARIABLE_FUNCTION(function)                            \
  CT_API Variable function(const Variable& a, const Variable& b); \
  CT_API Variable function(const Variable& a, const Scalar& b);   \
  CT_API Variable function(const Scalar& a, const Variable& b);
/// Elementwise arithmetic with broadcasting and NumPy's type promotion, where literals are weak scalars.
/// (chainer.functions.add and Variable's operators)
CT_VARIABLE_FUNCTION(add)
CT_VARIABLE_FUNCTION(subtract)
CT_VARIABLE_FUNCTION(multiply)
CT_VARIABLE_FUNCTION(divide)
CT_VARIABLE_FUNCTION(power)
#undef CT_VARIABLE_FUNCTION
CT_API Variable negative(const Variable& x);
}  // namespace functions

/// A Variable or a class derived from it.
template <class T>
concept IsVariable = std::derived_from<T, Variable>;
/// An operand that may stand beside a Variable in an expression and counts as a weak scalar.
template <class T>
concept IsLiteral =
    std::is_arithmetic_v<T> || std::same_as<T, float16> || std::same_as<T, bfloat16> || std::same_as<T, Scalar>;

namespace detail {
inline const Variable& operand(const Variable& v) { return v; }
inline Variable operand(const Array& a) { return Variable(a, false); }
template <IsLiteral S>
Scalar operand(const S& s) {
  return s;
}
}  // namespace detail

// Operators for a Variable with a Variable, Array or literal. They do not apply if neither operand is a Variable.
#define CT_VARIABLE_OPERATOR(symbol, function)                                             \
  template <class A, class B>                                                              \
  requires((IsVariable<A> && (IsVariable<B> || IsLiteral<B> || std::same_as<B, Array>)) || \
           (IsVariable<B> && (IsLiteral<A> || std::same_as<A, Array>))) Variable           \
  symbol(const A& a, const B& b) {                                                         \
    return functions::function(detail::operand(a), detail::operand(b));                    \
  }
CT_VARIABLE_OPERATOR(operator+, add)
CT_VARIABLE_OPERATOR(operator-, subtract)
CT_VARIABLE_OPERATOR(operator*, multiply)
CT_VARIABLE_OPERATOR(operator/, divide)
CT_VARIABLE_OPERATOR(pow, power)
#undef CT_VARIABLE_OPERATOR
template <IsVariable V>
Variable operator-(const V& x) {
  return functions::negative(x);
}

}  // namespace catenary
