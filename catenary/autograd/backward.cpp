#include "catenary/autograd/backward.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/walk.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"

namespace catenary {

namespace {

/// Numbers addresses in order of insertion. A hash set with open addressing and without removal.
class PointerIndex {
 public:
  PointerIndex() : slots_(64) {}
  /// Returns the pointer's number and sets `inserted` if the pointer is new.
  int insert(const void* pointer, bool& inserted) {
    if (2 * (static_cast<std::size_t>(count_) + 1) > slots_.size()) grow();
    Slot& slot = find(pointer);
    inserted = !slot.pointer;
    if (inserted) slot = {pointer, count_++};
    return slot.number;
  }
  /// Returns the pointer's number, or -1.
  int at(const void* pointer) {
    const Slot& slot = find(pointer);
    return slot.pointer ? slot.number : -1;
  }

 private:
  struct Slot {
    const void* pointer = nullptr;
    int number = 0;
  };
  Slot& find(const void* pointer) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = (reinterpret_cast<std::uintptr_t>(pointer) * 0x9e3779b97f4a7c15ull) >> (64 - std::bit_width(mask));
    while (slots_[i].pointer && slots_[i].pointer != pointer) i = (i + 1) & mask;
    return slots_[i];
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.pointer) find(slot.pointer) = slot;
  }
  std::vector<Slot> slots_;
  int count_ = 0;
};

/// Functions in the order of backpropagation: highest rank first, then first found.
class Agenda {
 public:
  void add(FunctionNode* f) {
    bool inserted;
    const int order = seen_.insert(f, inserted);
    if (!inserted) return;
    heap_.push_back({f->rank(), order, Ref<FunctionNode>(f)});
    std::push_heap(heap_.begin(), heap_.end());
  }
  bool empty() const { return heap_.empty(); }
  Ref<FunctionNode> pop() {
    std::pop_heap(heap_.begin(), heap_.end());
    Ref<FunctionNode> f = std::move(heap_.back().function);
    heap_.pop_back();
    return f;
  }

 private:
  struct Entry {
    int rank, order;
    Ref<FunctionNode> function;
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.order > b.order;
    }
  };
  PointerIndex seen_;
  std::vector<Entry> heap_;
};

/// Gradients that are not final yet.
class GradTable {
 public:
  /// `load_leaves`: leaves start from their present gradient, converted to the loss scale.
  explicit GradTable(bool load_leaves, std::optional<Number> loss_scale = {})
      : load_leaves_(load_leaves), loss_scale_(std::move(loss_scale)) {}

  void set(VariableNode& node, const Variable& grad) {
    Slot& slot = at(node);
    slot.grad = grad;
    slot.own = false;
  }
  void accumulate(VariableNode& node, Variable&& grad) {
    Slot& slot = at(node);
    if (!slot.grad.defined()) {
      slot.grad = std::move(grad);
      slot.own = false;
    } else if (config.enable_backprop) {
      slot.grad = slot.grad + grad;
    } else if (slot.own) {
      slot.grad.array() += grad.array();
    } else {  // this sum has no other owner, so the next sum can be in place
      slot.grad = Variable(slot.grad.array() + grad.array(), false);
      slot.own = true;
    }
  }
  /// Returns the gradient so far, or an undefined Variable.
  Variable look_at(VariableNode& node) {
    const int number = index_.at(&node);
    return number >= 0 ? slots_[static_cast<std::size_t>(number)].grad : Variable();
  }
  Variable pop(VariableNode& node) {
    const int number = index_.at(&node);
    if (number >= 0) return std::move(slots_[static_cast<std::size_t>(number)].grad);
    return load_leaves_ && !node.creator() ? walk::grad_in_scale(Variable(&node), loss_scale_) : Variable();
  }

 private:
  struct Slot {
    Ref<VariableNode> node;  // keeps the node alive, because a new node at its address would be confused with it
    Variable grad;
    bool own = false;
  };
  Slot& at(VariableNode& node) {
    bool inserted;
    const auto number = static_cast<std::size_t>(index_.insert(&node, inserted));
    if (inserted) {
      slots_.push_back({Ref<VariableNode>(&node), Variable(), false});
      if (load_leaves_ && !node.creator() && node.has_handle())
        slots_.back().grad = walk::grad_in_scale(Variable(&node), loss_scale_);
    }
    return slots_[number];
  }
  bool load_leaves_;
  std::optional<Number> loss_scale_;
  PointerIndex index_;
  std::vector<Slot> slots_;
};

/// How many inputs of functions may still add to the gradient of each leaf.
class Uses {
 public:
  void count(const std::vector<walk::Start>& starts) {
    PointerIndex seen;
    std::vector<FunctionNode*> waiting;
    const auto visit = [&](FunctionNode* f) {
      bool inserted = false;
      if (f) seen.insert(f, inserted);
      if (inserted) waiting.push_back(f);
    };
    for (const walk::Start& start : starts) visit(start.node->creator());
    while (!waiting.empty()) {
      FunctionNode* const f = waiting.back();
      waiting.pop_back();
      for_each_wanted(*f, [&](VariableNode& x) { x.creator() ? visit(x.creator()) : void(++left(x)); });
    }
  }
  /// Removes the contributions of this function, and calls f with each leaf that gets no further contributions.
  template <class F>
  void done(FunctionNode& function, const F& f) {
    for_each_wanted(function, [&](VariableNode& x) {
      if (!x.creator() && --left(x) == 0) f(x);
    });
  }

 private:
  template <class F>
  static void for_each_wanted(FunctionNode& function, const F& f) {
    for (int i = 0; i < function.input_count(); ++i)
      if (VariableNode& x = function.input(i); x.requires_grad()) f(x);
  }
  int& left(VariableNode& x) {
    bool inserted;
    const auto number = static_cast<std::size_t>(index_.insert(&x, inserted));
    if (inserted) left_.push_back(0);
    return left_[number];
  }
  PointerIndex index_;
  std::vector<int> left_;
};

bool any_defined(const Variables& vs) {
  return std::any_of(vs.begin(), vs.end(), [](const Variable& v) { return v.defined(); });
}

/// Removes the gradients of f's outputs from the table and returns them.
Variables pop_output_grads(const FunctionNode& f, GradTable& grads) {
  Variables gys;
  for (int i = 0; i < f.output_count(); ++i) gys.push_back(f.output(i) ? grads.pop(*f.output(i)) : Variable());
  return gys;
}

void keep_output_grads(const FunctionNode& f, const Variables& gys) {
  for (int i = 0; i < f.output_count(); ++i) {
    VariableNode* y = f.output(i);
    if (y && y->has_handle()) Variable(y).set_grad_var(gys[static_cast<std::size_t>(i)]);
  }
}

/// The variables on the paths from outputs back to inputs. Only they need a gradient.
class Paths {
 public:
  /// With `up_to_inputs`, paths end at the inputs, also where a function made them.
  Paths(const std::vector<Variable>& outputs, const std::vector<Variable>& inputs, bool up_to_inputs) {
    if (up_to_inputs)
      for (const Variable& x : inputs) ends_.insert(&x.node());
    find_users(outputs);
    find_needed(inputs);
  }
  bool contains(VariableNode& x) const { return x.requires_grad() && needed_.count(&x); }
  FunctionNode* creator_of(VariableNode& x) const { return ends_.count(&x) ? nullptr : x.creator(); }

 private:
  /// Walks backward: finds the users of each variable that leads to the outputs and requires a gradient.
  void find_users(const std::vector<Variable>& outputs) {
    std::vector<FunctionNode*> waiting;
    std::unordered_set<FunctionNode*> seen;
    for (const Variable& y : outputs)
      if (y.creator()) waiting.push_back(y.creator());
    while (!waiting.empty()) {
      FunctionNode* f = waiting.back();
      waiting.pop_back();
      if (!seen.insert(f).second) continue;
      for (int i = 0; i < f->input_count(); ++i) {
        VariableNode& x = f->input(i);
        if (!x.requires_grad()) continue;
        users_[&x].push_back(f);
        if (FunctionNode* const creator = creator_of(x); creator && !seen.count(creator)) waiting.push_back(creator);
      }
    }
  }
  /// Walks forward from the inputs along these users.
  void find_needed(const std::vector<Variable>& inputs) {
    std::vector<VariableNode*> waiting;
    std::unordered_set<FunctionNode*> seen;
    for (const Variable& x : inputs) waiting.push_back(&x.node());
    while (!waiting.empty()) {
      VariableNode* x = waiting.back();
      waiting.pop_back();
      needed_.insert(x);
      const auto found = users_.find(x);
      if (found == users_.end()) continue;
      for (FunctionNode* f : found->second) {
        if (!seen.insert(f).second) continue;
        for (int i = 0; i < f->output_count(); ++i)
          if (VariableNode* y = f->output(i); y && users_.count(y)) waiting.push_back(y);
      }
    }
  }

  std::unordered_set<VariableNode*> ends_, needed_;
  std::unordered_map<VariableNode*, std::vector<FunctionNode*>> users_;
};

/// Returns the gradient that backpropagation starts from: ones, or the loss scale.
Variable start_of(const Variable& y, const std::optional<Number>& loss_scale) {
  const Array start = Array::empty(y.shape(), y.dtype(), y.device());
  copyto(start, loss_scale.value_or(1.0).to_device(y.device()));
  return Variable(start, false);
}

thread_local walk::Captured* captured = nullptr;

}  // namespace

walk::Captured::Captured() : outer_(std::exchange(captured, this)) {}
walk::Captured::~Captured() { captured = outer_; }
walk::Captured* walk::Captured::innermost() { return captured; }
void walk::Captured::see(VariableNode& node) {
  for (const Variable& x : all_)
    if (&x.node() == &node) return;
  all_.push_back(Variable(&node));
}

Variable walk::grad_in_scale(const Variable& leaf, const std::optional<Number>& loss_scale) {
  const Variable grad = leaf.grad_var();
  if (!grad.defined()) return grad;
  const Number own = leaf.loss_scale().value_or(1.0), wanted = loss_scale.value_or(1.0);
  if (own.is(wanted)) return grad;
  const Device device = grad.device();
  const Number factor = (wanted.to_device(device) / own.to_device(device)).eval();
  if (config.enable_backprop) return grad * factor.value();
  const Array& narrow = grad.array();
  const Array wide = is_16bit_float(narrow.dtype()) ? narrow.astype(Dtype::float32) : narrow;
  return Variable(multiply(wide, factor).astype(narrow.dtype()), false);
}

std::optional<Number> walk::scale_of_zeros(const std::vector<Parameter>& parameters,
                                           const std::optional<Number>& otherwise) {
  for (const Parameter& p : parameters)
    if (p.grad_var().defined()) return p.loss_scale();
  return otherwise;
}

std::vector<walk::Reached> walk::flow(std::vector<Start> starts, bool retain_grad, bool from_zero,
                                      const std::optional<Number>& loss_scale, const Final& final) {
  Agenda agenda;
  GradTable grads(!from_zero, loss_scale);
  std::vector<Ref<VariableNode>> leaves;
  PointerIndex seen_leaves;
  const auto reached = [&](VariableNode& x) {
    if (x.creator()) return agenda.add(x.creator());
    bool inserted;
    seen_leaves.insert(&x, inserted);
    if (inserted) leaves.emplace_back(&x);
  };
  Uses uses;
  if (final) uses.count(starts);
  const auto tell = [&](FunctionNode& f) {
    if (!final) return;
    uses.done(f, [&](VariableNode& leaf) {
      const Variable gradient = grads.look_at(leaf);
      if (gradient.defined() && leaf.has_handle()) final(leaf, gradient);
    });
  };
  for (Start& start : starts) {
    grads.accumulate(*start.node, std::move(start.grad));
    reached(*start.node);
  }
  starts.clear();

  SmallVector<int, 8> targets;
  while (!agenda.empty()) {
    const Ref<FunctionNode> f = agenda.pop();
    targets.clear();
    for (int i = 0; i < f->input_count(); ++i)
      if (f->input(i).requires_grad()) targets.push_back(i);
    Variables gys = pop_output_grads(*f, grads);
    if (targets.empty() || !any_defined(gys)) {
      tell(*f);
      continue;
    }
    Variables gxs = f->checked_backward(targets, gys);
    if (retain_grad) keep_output_grads(*f, gys);
    gys.clear();
    for (std::size_t k = 0; k < targets.size(); ++k) {
      if (!gxs[k].defined()) continue;
      VariableNode& x = f->input(targets[k]);
      grads.accumulate(x, std::move(gxs[k]));
      reached(x);
    }
    tell(*f);
  }
  std::vector<Reached> reached_leaves;
  for (Ref<VariableNode>& leaf : leaves) {
    Variable gradient = grads.pop(*leaf);
    reached_leaves.push_back({std::move(leaf), std::move(gradient)});
  }
  return reached_leaves;
}

void walk::set_grads(const std::vector<Reached>& reached, std::optional<Number> loss_scale) {
  for (const auto& [leaf, gradient] : reached) {
    if (!leaf->has_handle()) continue;
    const Variable x(leaf.get());
    x.set_grad_var(gradient);
    x.set_loss_scale(loss_scale);
  }
}

void walk::backprop_to_all(std::vector<Start> starts, bool retain_grad, std::optional<Number> loss_scale,
                           const Final& final) {
  set_grads(flow(std::move(starts), retain_grad, false, loss_scale, final), loss_scale);
}

void walk::backward(const Variable& y, bool retain_grad, bool enable_double_backprop, std::optional<Number> loss_scale,
                    const Final& final) {
  Variable start = y.grad_var();
  if (!start.defined()) {
    if (y.size() != 1)
      fail<ValueError>(
          "backward: a variable of shape {} has no gradient to start from; set its grad, or reduce it to one element",
          y.shape());
    start = start_of(y, loss_scale);
  }
  y.set_grad_var(Variable());
  const auto scope = using_config(config.enable_backprop, enable_double_backprop);
  backprop_to_all({{&y.node(), std::move(start)}}, retain_grad, loss_scale, final);
}

void backward(const std::vector<Variable>& outputs, const std::vector<Variable>& grad_outputs,
              bool enable_double_backprop) {
  if (!grad_outputs.empty() && grad_outputs.size() != outputs.size())
    fail<ValueError>("backward: {} grad_outputs were given for {} outputs", grad_outputs.size(), outputs.size());
  std::vector<walk::Start> starts;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Variable gy = grad_outputs.empty() ? outputs[i].grad_var() : grad_outputs[i];
    if (grad_outputs.empty()) outputs[i].set_grad_var(Variable());
    if (gy.defined()) starts.push_back({&outputs[i].node(), std::move(gy)});
  }
  const auto scope = using_config(config.enable_backprop, enable_double_backprop);
  walk::backprop_to_all(std::move(starts), false, std::nullopt);
}

std::vector<Variable> grad(const std::vector<Variable>& outputs, const std::vector<Variable>& inputs,
                           const GradOptions& options) {
  return walk::grad(outputs, inputs, options, false);
}

std::vector<Variable> walk::grad(const std::vector<Variable>& outputs, const std::vector<Variable>& inputs,
                                 const GradOptions& options, bool up_to_inputs) {
  if (!options.grad_outputs.empty() && options.grad_outputs.size() != outputs.size())
    fail<ValueError>("grad: {} grad_outputs were given for {} outputs", options.grad_outputs.size(), outputs.size());
  if (!options.grad_inputs.empty() && options.grad_inputs.size() != inputs.size())
    fail<ValueError>("grad: {} grad_inputs were given for {} inputs", options.grad_inputs.size(), inputs.size());

  const Paths paths(outputs, inputs, up_to_inputs);
  const auto scope = using_config(config.enable_backprop, options.enable_double_backprop);
  GradTable grads(false);
  Agenda agenda;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Variable& y = outputs[i];
    const bool given = !options.grad_outputs.empty() && options.grad_outputs[i].defined();
    grads.set(y.node(), given ? options.grad_outputs[i] : start_of(y, options.loss_scale));
    if (y.creator()) agenda.add(y.creator());
  }
  for (std::size_t i = 0; i < options.grad_inputs.size(); ++i)
    if (options.grad_inputs[i].defined()) grads.set(inputs[i].node(), options.grad_inputs[i]);

  std::unordered_map<VariableNode*, Variable> results;
  for (const Variable& x : inputs) results.emplace(&x.node(), Variable());
  SmallVector<int, 8> targets;
  while (!agenda.empty()) {
    const Ref<FunctionNode> f = agenda.pop();
    Variables gys = pop_output_grads(*f, grads);
    for (int i = 0; i < f->output_count(); ++i)
      if (VariableNode* y = f->output(i))
        if (const auto result = results.find(y); result != results.end())
          result->second = gys[static_cast<std::size_t>(i)];
    targets.clear();
    for (int i = 0; i < f->input_count(); ++i)
      if (paths.contains(f->input(i))) targets.push_back(i);
    if (targets.empty() || !any_defined(gys)) continue;
    Variables gxs = f->checked_backward(targets, gys);
    if (options.retain_grad) keep_output_grads(*f, gys);
    gys.clear();
    for (std::size_t k = 0; k < targets.size(); ++k) {
      if (!gxs[k].defined()) continue;
      VariableNode& x = f->input(targets[k]);
      grads.accumulate(x, std::move(gxs[k]));
      if (FunctionNode* const creator = paths.creator_of(x)) agenda.add(creator);
    }
  }
  std::vector<Variable> all;
  for (const Variable& x : inputs) {
    Variable& result = results[&x.node()];
    if (!result.defined()) result = grads.pop(x.node());
    all.push_back(result);
    if (options.set_grad) x.set_grad_var(result);
    if (options.set_grad) x.set_loss_scale(options.loss_scale);
  }
  return all;
}

}  // namespace catenary
