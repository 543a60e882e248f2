#pragma once
// autograd/: what happens to arrays is remembered as a graph (define by run), and gradients flow back through it, with
// Chainer 7's names and behaviour. Variable and Parameter are handles to graph nodes; FunctionNode (function_node.h) is
// an operation in the graph; backward.h walks it. Only what a Variable itself can do (operators.h) is implemented here:
// all other functions are in functions/. Optimizers, links and devices' details may not come in.

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
/// What functions return: one Variable mostly. An undefined Variable stands for "no gradient" (Chainer's None).
using Variables = SmallVector<Variable, 2>;

/// Members with which a Variable may start.
struct VariableOptions {
  std::string name = {};
  Array grad = {};
  bool requires_grad = true;
};

/// An array and its place in the graph of computations: a handle, copies are the same variable. (chainer.Variable)
///
/// `Variable x(array)` wants a gradient, as in Chainer; where a function takes a Variable and gets an Array (an
/// implicit conversion), that input wants none, as Chainer's as_variable does. Arrays that are not of a floating dtype
/// never have a gradient.
class CT_API Variable {
 public:
  /// No variable; only assignment, `defined` and destruction are allowed.
  Variable() = default;
  explicit Variable(Array array, bool requires_grad = true);
  Variable(const Array& array, VariableOptions options);
  template <std::same_as<Array> A>
  Variable(const A& array) : Variable(array, false) {}
  Variable(const Variable& other) noexcept;
  Variable(Variable&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  /// Makes this handle one of the other variable; a temporary has no use for that.
  Variable& operator=(const Variable& other) & noexcept;
  Variable& operator=(Variable&& other) & noexcept;
  ~Variable();

  bool defined() const { return node_ != nullptr; }
  explicit operator bool() const = delete;
  /// Are both handles of one variable?
  bool is(const Variable& other) const { return node_ == other.node_; }

  /// The values. Undefined for a parameter that is not initialised.
  const Array& array() const;
  const Array& data() const { return array(); }
  /// Other values for the same variable. A graph that retained the variable sees them too, so do this between passes.
  void set_array(const Array& array) const;
  /// The gradient's values; an undefined Array where there is none.
  Array grad() const;
  /// Throws ShapeError or DtypeError unless the gradient is like array().
  void set_grad(const Array& grad) const;
  /// The gradient as a Variable, to differentiate again; undefined where there is none.
  const Variable& grad_var() const;
  void set_grad_var(const Variable& grad) const;

  const Shape& shape() const;
  std::int64_t shape(int axis) const;
  Dtype dtype() const;
  int ndim() const { return shape().size(); }
  std::int64_t size() const { return shape().product(); }
  /// Extent of the first axis.
  std::int64_t len() const { return array().len(); }
  Device device() const;
  const std::string& name() const;
  void set_name(std::string name) const;
  bool requires_grad() const;
  /// "(2, 3), float32", as graphs show it.
  std::string label() const;
  /// The function that computed it; null for a leaf.
  FunctionNode* creator() const;
  FunctionNode* creator_node() const { return creator(); }
  /// Length of the longest path from a leaf.
  int rank() const;
  VariableNode& node() const;
  /// The factor of the last backward that reached this leaf; optimizers divide by it.
  std::optional<Number> loss_scale() const;
  void set_loss_scale(std::optional<Number> scale) const;

  /// Computes gradients of everything that leads here, from grad_var() or 1 for a variable of one element, and adds
  /// them to the leaves' grad. Intermediate gradients are kept if retain_grad, and the gradients' own graph if
  /// enable_double_backprop. Gradients start with loss_scale where that is given. Throws ValueError where there is
  /// nothing to start with. (chainer.Variable.backward)
  void backward(bool retain_grad = false, bool enable_double_backprop = false,
                std::optional<Number> loss_scale = {}) const;
  /// Forgets the gradient.
  void cleargrad() const;
  /// Sets the gradient to zeros.
  void zerograd() const;
  /// Copies values from `other`, between devices if need be. Initialises a parameter.
  void copydata(const Variable& other) const;
  /// Adds other's gradient (if it has one) to this one's.
  void addgrad(const Variable& other) const;
  /// Cuts this variable off the function that computed it.
  void unchain() const;
  /// Cuts all variables that lead here off their functions: backward stops here from now on.
  void unchain_backward() const;

  /// The only element.
  template <class T>
  T item() const {
    return array().item<T>();
  }
  Variable reshape(const Shape& shape) const;
  Variable transpose(const Axes& axes = {}) const;
  Variable T() const { return transpose(); }
  /// NumPy's indexing.
  template <class... I>
  Variable operator()(const I&... indices) const {
    return get({Index(indices)...});
  }
  Variable get(const std::vector<Index>& indices) const;
  Variable operator[](std::int64_t i) const { return get({Index(i)}); }
  /// Moves values and gradient to another device, in place. Throws ValueError for a variable that a function computed
  /// (F::copy is for those).
  void to_device(const Device& device) const;
  /// Name, device, dtype, shape and statistics of values and gradient. (chainer.Variable.debug_print)
  std::string debug_print() const;

  /// Internal: a handle of a node.
  explicit Variable(VariableNode* node) noexcept;

 protected:
  friend class FunctionNode;
  VariableNode* node_ = nullptr;
};

/// "variable([1., 2.])", with the name if there is one.
CT_API std::string repr(const Variable& v);
CT_API std::string to_string(const Variable& v);
CT_API std::ostream& operator<<(std::ostream& stream, const Variable& v);

/// What a binding to another language keeps beside a node; it goes with the node.
class CT_API VariablePeer {
 public:
  virtual ~VariablePeer();
  /// The node has other values from now on, or none.
  virtual void data_changed() noexcept = 0;
};

/// A variable's place in the graph. It holds the array while there are handles, or for ever once a function retained
/// it. Graphs are made and walked by one thread at a time; leaves (parameters) may be used by several.
/// (chainer.variable.VariableNode)
class CT_API VariableNode {
 public:
  explicit VariableNode(Array array, bool requires_grad);
  VariableNode(const VariableNode&) = delete;
  VariableNode& operator=(const VariableNode&) = delete;

  Dtype dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  /// Undefined when nothing keeps the values.
  const Array& data() const { return data_; }
  FunctionNode* creator() const { return creator_; }
  int output_index() const { return output_index_; }
  int rank() const { return rank_; }
  bool requires_grad() const { return requires_grad_; }
  const std::string& name() const;
  std::string label() const;
  /// Did a function retain it, or retain()? Then the values stay when the last Variable goes.
  bool is_retained() const { return retained_.load(std::memory_order_relaxed); }
  void retain(bool retained = true) { retained_.store(retained, std::memory_order_relaxed); }
  /// Lets go of the values.
  void forget_data();
  /// How many refer to it: functions, handles and others. For who walks the graph to tell what keeps what alive.
  std::uint32_t reference_count() const {
    return static_cast<std::uint32_t>(references_.load(std::memory_order_acquire));
  }
  /// Makes `f` the function that computed it, or none, though no output of f need be this node.
  void set_creator(FunctionNode* f);
  /// Of what is cut off and put together again.
  void set_rank(int rank) { rank_ = rank; }
  /// Integers may ask for a gradient, too, where a function that another language brought knows what that is.
  void set_requires_grad(bool requires_grad) { requires_grad_ = requires_grad; }
  VariablePeer* peer() const { return peer_.get(); }
  void set_peer(std::unique_ptr<VariablePeer> peer) { peer_ = std::move(peer); }
  /// How many of those are Variables.
  std::uint32_t handle_count() const {
    return static_cast<std::uint32_t>(references_.load(std::memory_order_relaxed) >> 32);
  }
  /// Is there a Variable for this node?
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
  std::atomic<std::uint64_t> references_{0};  // of all kinds below, of handles above bit 32
  Array data_;
  Variable grad_;
  FunctionNode* creator_ = nullptr;  // counted
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

/// `v` itself, or a Variable without gradient for an Array. (chainer.as_variable)
inline const Variable& as_variable(const Variable& v) { return v; }
inline Variable as_variable(const Array& a) { return Variable(a, false); }

namespace functions {
#define CT_VARIABLE_FUNCTION(function)                            \
  CT_API Variable function(const Variable& a, const Variable& b); \
  CT_API Variable function(const Variable& a, const Scalar& b);   \
  CT_API Variable function(const Scalar& a, const Variable& b);
/// Elementwise arithmetic with broadcasting and NumPy's promotion; literals are weak. (chainer.functions.add and
/// Variable's operators)
CT_VARIABLE_FUNCTION(add)
CT_VARIABLE_FUNCTION(subtract)
CT_VARIABLE_FUNCTION(multiply)
CT_VARIABLE_FUNCTION(divide)
CT_VARIABLE_FUNCTION(power)
#undef CT_VARIABLE_FUNCTION
CT_API Variable negative(const Variable& x);
}  // namespace functions

/// A Variable or what derives from it.
template <class T>
concept IsVariable = std::derived_from<T, Variable>;
/// What may stand beside a Variable in an expression and is weak.
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

// Operators: Variable with Variable, Array or literal. With no Variable among the operands they stay out of the way.
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
