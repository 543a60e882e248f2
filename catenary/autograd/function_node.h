#pragma once
// An operation in the graph. A function is a class with a forward on arrays and a backward on variables, so that
// gradients can be differentiated again. autograd/elementwise.h has shorter forms for elementwise functions.
// (chainer.FunctionNode)
//
//   class MulAdd : public FunctionNode {
//     const char* name() const override { return "MulAdd"; }
//     Arrays forward(Inputs x) override {
//       retain_inputs({0, 1});
//       return x[0] * x[1] + x[2];
//     }
//     Variables backward(Targets targets, Grads gy) override {
//       return gradients(targets, [&](int i) { return i == 2 ? gy[0] : gy[0] * retained_input(1 - i); });
//     }
//   };
//   Variable y = apply(node<MulAdd>(), a, b, c);

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary {

class AttributeVisitor;
class FunctionHook;

/// The results of forward, usually one array.
using Arrays = SmallVector<Array, 2>;
/// Indexes of the inputs whose gradients are wanted, ascending.
using Targets = std::span<const int>;
/// Gradients with respect to the outputs; undefined where an output has none.
using Grads = std::span<const Variable>;

/// The arrays of a function's inputs.
class CT_API Inputs {
 public:
  Inputs(VariableNode* const* nodes, int size) : nodes_(nodes), size_(size) {}
  int size() const { return size_; }
  /// Returns input i. In a backward hook, inputs that the function did not retain are undefined.
  const Array& operator[](int i) const { return nodes_[i]->data(); }

 private:
  VariableNode* const* nodes_;
  int size_;
};

/// Makes node-like objects (FunctionNode) with no reference yet.
template <class F, class... A>
Ref<F> node(A&&... arguments) {
  return Ref<F>(new F(std::forward<A>(arguments)...));
}

/// An operation in the graph of computations. Derive from it to add a function. (chainer.FunctionNode)
class CT_API FunctionNode {
 public:
  FunctionNode();
  FunctionNode(const FunctionNode&) = delete;
  FunctionNode& operator=(const FunctionNode&) = delete;

  /// Returns the class name for hooks and errors: Chainer's name if Chainer has the function.
  virtual const char* name() const = 0;
  /// Returns the text that graphs show, such as "_ + _" for an addition.
  virtual std::string label() const { return name(); }

  /// Passes the attributes of the operation to the visitor. Returns false if the function does not describe itself.
  /// CT_ATTRIBUTES (autograd/attributes.h) defines this function and again().
  virtual bool visit_attributes(AttributeVisitor& visitor) const;
  /// Returns a new function with these attributes that has no inputs yet, or null if the function does not describe
  /// itself.
  virtual Ref<FunctionNode> again() const;

  /// Runs forward on the variables' arrays and inserts this function between the inputs and the outputs. A function is
  /// applied once. Throws ValueError for a null node (an undefined Variable) and for a node without values.
  Variables apply(VariableNode* const* inputs, int count);
  Variables apply(std::span<const Variable> inputs);

  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  VariableNode& input(int i) const { return *inputs_[static_cast<std::size_t>(i)]; }
  /// Returns output i, or null if all its handles are gone or it was unchained.
  VariableNode* output(int i) const { return outputs_[static_cast<std::size_t>(i)].node; }
  VariableNode* const* inputs() const { return inputs_.begin(); }
  int rank() const { return rank_; }

  /// Disconnects the function from its inputs and outputs.
  void unchain();

  /// Adds a hook for this function only. Throws ValueError if a hook of that name exists.
  void add_hook(std::shared_ptr<FunctionHook> hook);
  void delete_hook(const std::string& name);
  const std::vector<std::shared_ptr<FunctionHook>>& local_hooks() const;

  /// Runs backward and checks the result: one gradient for each target, with the shape and dtype of its input. Throws
  /// ShapeError or DtypeError with this function's name.
  Variables checked_backward(Targets targets, Grads grad_outputs);

  /// Interface for another language's object that contains the function. The owner then counts the function's
  /// references.
  class Owner {
   public:
    virtual void add_reference() noexcept = 0;
    virtual void release() noexcept = 0;

   protected:
    ~Owner() = default;
  };
  Owner* owner() const { return owner_; }
  /// Returns the object that represents the function in another language if the function has no owner. The pointer is
  /// not counted, so its setter must reset it before the object dies.
  void* peer() const { return peer_; }
  void set_peer(void* peer) { peer_ = peer; }

  void add_reference() {
    if (owner_) return owner_->add_reference();
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    if (owner_) return owner_->release();
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(this);
  }
  /// Returns the number of references. Meaningful only without an owner.
  int reference_count() const { return references_.load(std::memory_order_acquire); }

 protected:
  virtual ~FunctionNode();

  /// Computes the outputs. Must retain the values that backward needs.
  virtual Arrays forward(Inputs x) = 0;
  /// Returns the gradients with respect to the inputs `targets`, in that order, computed by operations on variables. An
  /// undefined Variable means no gradient. The default returns no gradients at all.
  virtual Variables backward(Targets targets, Grads grad_outputs);

  /// Sets the owner. Call it before anything refers to the function.
  void set_owner(Owner* owner) { owner_ = owner; }
  void set_rank(int rank) { rank_ = rank; }
  /// Inserts this function between its inputs and the new `outputs`, and keeps the retained values: the last step of
  /// apply.
  void connect(VariableNode* const* inputs, int count, const Variables& outputs);

  /// In forward: keeps these inputs' or outputs' arrays for backward. Other arrays are freed with their last handle.
  void retain_inputs(std::initializer_list<int> indexes);
  void retain_inputs(Inputs all);
  void retain_inputs(std::span<const int> indexes) { retained_inputs_ = SmallVector<int, 3>(indexes); }
  void retain_outputs(std::initializer_list<int> indexes);
  void retain_outputs(std::span<const int> indexes) { retained_outputs_ = SmallVector<int, 2>(indexes); }
  /// In backward: returns a retained input or output as a variable of the graph. Throws ValueError if it was not
  /// retained.
  Variable retained_input(int i) const;
  Variable retained_output(int i);
  /// Returns a retained output as a plain array, for a gradient that is not differentiated again.
  const Array& retained_output_array(int i) const { return outputs_[static_cast<std::size_t>(i)].retained; }
  /// Returns the shape or dtype of an input, whether or not the input is retained.
  const Shape& input_shape(int i) const { return input(i).shape(); }
  Dtype input_dtype(int i) const { return input(i).dtype(); }

  /// { f(i) for i in targets }
  template <class F>
  static Variables gradients(Targets targets, F&& f) {
    Variables all;
    for (int i : targets) all.push_back(f(i));
    return all;
  }

 private:
  friend class VariableNode;
  friend class Variable;
  struct Output {
    VariableNode* node = nullptr;  // not counted: outputs hold their function
    Array retained;
  };

  static void destroy(FunctionNode* f);

  std::atomic<int> references_{0};
  int rank_ = 0;
  SmallVector<VariableNode*, 3> inputs_;  // counted
  SmallVector<Output, 1> outputs_;
  SmallVector<int, 3> retained_inputs_;
  SmallVector<int, 2> retained_outputs_;
  std::unique_ptr<std::vector<std::shared_ptr<FunctionHook>>> hooks_;
  FunctionNode* next_dead_ = nullptr;
  Owner* owner_ = nullptr;
  void* peer_ = nullptr;
};

/// Applies a function with one output: `apply(node<Tanh>(), x)`. Arrays may stand for variables that want no gradient.
template <std::derived_from<FunctionNode> F, class... X>
requires(std::convertible_to<X, Variable>&&...) Variable apply(const Ref<F>& function, const X&... inputs) {
  return std::move(apply_all(function, inputs...)[0]);
}
/// Applies a function and returns all its outputs.
template <std::derived_from<FunctionNode> F, class... X>
requires(std::convertible_to<X, Variable>&&...) Variables apply_all(const Ref<F>& function, const X&... inputs) {
  return [&](const auto&... variables) {
    VariableNode* nodes[sizeof...(X)] = {(variables.defined() ? &variables.node() : nullptr)...};
    return function->apply(nodes, static_cast<int>(sizeof...(X)));
  }(as_variable(inputs)...);
}

}  // namespace catenary
