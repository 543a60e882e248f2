#include "catenary/autograd/function_node.h"

#include <algorithm>

#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/hooks.h"
#include "catenary/autograd/walk.h"
#include "catenary/core/axis_error.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/device/pool.h"

namespace catenary {

namespace {

/// All hooks that observe a function: the thread's hooks, then the function's.
class ActiveHooks {
 public:
  explicit ActiveHooks(const FunctionNode& f) : thread_(get_function_hooks()), local_(f.local_hooks()) {}
  template <class Call>
  void each(Call&& call) const {
    for (std::size_t i = 0; i < thread_.size(); ++i) call(*thread_[i]);
    for (std::size_t i = 0; i < local_.size(); ++i) call(*local_[i]);
  }

 private:
  const std::vector<FunctionHook*>& thread_;
  const std::vector<std::shared_ptr<FunctionHook>>& local_;
};

void check_nan(const Array& a, const char* direction, const FunctionNode& f) {
  if (a.defined() && is_floating(a.dtype()) && isnan(a).any())
    fail<NanError>("NaN is detected on {} computation of {}", direction, f.label());
}

/// Adds the function's name to a device error.
template <class Run>
auto naming(const FunctionNode& f, const char* direction, Run&& run) {
  const auto text = [&](const DeviceError& error) {
    return fmt::format("{}\n  in {}, {}", error.what(), f.label(), direction);
  };
  try {
    return run();
  } catch (const OutOfMemoryError& error) {
    throw OutOfMemoryError(text(error));
  } catch (const DeviceError& error) {
    throw DeviceError(text(error));
  }
}

/// Makes the device of a function's inputs current, so that new arrays are allocated there.
class ScopedDevice {
 public:
  explicit ScopedDevice(const Array* like) {
    if (like && like->defined() && like->device() != current_device()) scope_.emplace(like->device());
  }

 private:
  std::optional<DeviceScope> scope_;
};

}  // namespace

FunctionNode::FunctionNode() = default;

FunctionNode::~FunctionNode() {
  for (VariableNode* x : inputs_) x->release();
}

bool FunctionNode::visit_attributes(AttributeVisitor&) const { return false; }
Ref<FunctionNode> FunctionNode::again() const { return {}; }

void FunctionNode::destroy(FunctionNode* f) {
  // Destroying a function releases its inputs and therefore their creators. Queue them instead of recursing, because a
  // long chain would overflow the stack.
  thread_local FunctionNode* dead = nullptr;
  thread_local bool busy = false;
  f->next_dead_ = dead;
  dead = f;
  if (busy) return;
  busy = true;
  while (dead) {
    FunctionNode* next = dead;
    dead = next->next_dead_;
    delete next;
  }
  busy = false;
}

Variables FunctionNode::apply(std::span<const Variable> inputs) {
  SmallVector<VariableNode*, 8> nodes;
  nodes.reserve(inputs.size());
  for (const Variable& x : inputs) nodes.push_back(x.defined() ? &x.node() : nullptr);
  return apply(nodes.begin(), static_cast<int>(nodes.size()));
}

Variables FunctionNode::apply(VariableNode* const* nodes, int count) {
  if (!inputs_.empty())
    fail<ValueError>("{}: a function can be applied only once; make a new one for each call", name());
  const Inputs x(nodes, count);
  bool requires_grad = false;
  for (int i = 0; i < count; ++i) {
    if (!nodes[i])
      fail<ValueError>("{}: input {} is an undefined Variable; assign a value first, or check defined()", name(), i);
    if (!x[i].defined())
      fail<ValueError>("{}: input {} has no values (a parameter that is not initialised?)", name(), i);
    requires_grad |= nodes[i]->requires_grad();
  }
  const ActiveHooks hooks(*this);
  hooks.each([&](FunctionHook& hook) { hook.forward_preprocess(*this, x); });
  Arrays ys;
  {
    const ScopedDevice scope(count ? &x[0] : nullptr);
    ys = naming(*this, "forward", [&] { return forward(x); });
  }
  hooks.each([&](FunctionHook& hook) { hook.forward_postprocess(*this, x); });
  if (config.debug)
    for (const Array& y : ys) check_nan(y, "forward", *this);

  if (requires_grad && !config.enable_backprop) {
    if (walk::Captured* const captured = walk::Captured::innermost()) {
      for (int i = 0; i < count; ++i)
        if (nodes[i]->requires_grad()) captured->see(*nodes[i]);
      requires_grad = false;
    }
  }
  Variables outputs;
  outputs.reserve(ys.size());
  for (Array& y : ys) {
    if (!y.defined()) fail<ValueError>("{}: forward returned an undefined array", name());
    outputs.push_back(Variable(std::move(y), requires_grad));
  }
  if (config.enable_backprop) connect(nodes, count, outputs);
  return outputs;
}

void FunctionNode::connect(VariableNode* const* nodes, int count, const Variables& outputs) {
  rank_ = 0;
  inputs_.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    nodes[i]->add_reference();
    inputs_.push_back(nodes[i]);
    rank_ = std::max(rank_, nodes[i]->rank());
  }
  outputs_.resize(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    VariableNode* y = outputs[i].node_;
    add_reference();
    y->creator_ = this;
    y->output_index_ = static_cast<std::int16_t>(i);
    y->rank_ = rank_ + 1;
    outputs_[i].node = y;
  }
  for (int i : retained_inputs_) inputs_[static_cast<std::size_t>(i)]->retain();
  for (int i : retained_outputs_)
    outputs_[static_cast<std::size_t>(i)].retained = outputs[static_cast<std::size_t>(i)].array();
}

void FunctionNode::retain_inputs(std::initializer_list<int> indexes) {
  retained_inputs_ = SmallVector<int, 3>(indexes);
}
void FunctionNode::retain_inputs(Inputs all) {
  retained_inputs_.clear();
  for (int i = 0; i < all.size(); ++i) retained_inputs_.push_back(i);
}
void FunctionNode::retain_outputs(std::initializer_list<int> indexes) {
  retained_outputs_ = SmallVector<int, 2>(indexes);
}

Variable FunctionNode::retained_input(int i) const {
  if (i < 0 || i >= input_count() ||
      std::find(retained_inputs_.begin(), retained_inputs_.end(), i) == retained_inputs_.end())
    fail<ValueError>("{}: input {} was not retained", name(), i);
  return Variable(inputs_[static_cast<std::size_t>(i)]);
}

Variable FunctionNode::retained_output(int i) {
  if (i < 0 || i >= output_count() || !outputs_[static_cast<std::size_t>(i)].retained.defined())
    fail<ValueError>("{}: output {} was not retained", name(), i);
  Output& output = outputs_[static_cast<std::size_t>(i)];
  if (output.node) {
    Variable y(output.node);
    if (!output.node->data_.defined())
      output.node->data_ = output.retained;  // the node lost its values with its last handle
    return y;
  }
  bool requires_grad = false;
  for (const VariableNode* x : inputs_) requires_grad |= x->requires_grad();
  Variable y(output.retained, requires_grad);
  if (inputs_.empty()) return y;  // unchained
  add_reference();
  y.node_->creator_ = this;
  y.node_->output_index_ = static_cast<std::int16_t>(i);
  y.node_->rank_ = rank_ + 1;
  output.node = y.node_;
  return y;
}

Variables FunctionNode::backward(Targets targets, Grads) { return Variables::filled(targets.size()); }

Variables FunctionNode::checked_backward(Targets targets, Grads grad_outputs) {
  const ActiveHooks hooks(*this);
  const Inputs x(inputs_.begin(), input_count());
  hooks.each([&](FunctionHook& hook) { hook.backward_preprocess(*this, x, grad_outputs); });
  const Variable* first = std::find_if(grad_outputs.data(), grad_outputs.data() + grad_outputs.size(),
                                       [](const Variable& g) { return g.defined(); });
  Variables gradients;
  {
    const ScopedDevice scope(first != grad_outputs.data() + grad_outputs.size() ? &first->array() : nullptr);
    gradients = naming(*this, "backward", [&] { return backward(targets, grad_outputs); });
  }
  if (gradients.size() != targets.size())
    fail<ValueError>("{}: backward returned {} gradients for {} inputs", name(), gradients.size(), targets.size());
  for (std::size_t k = 0; k < targets.size(); ++k) {
    if (!gradients[k].defined()) continue;
    const VariableNode& of = input(targets[k]);
    if (gradients[k].shape() != of.shape())
      fail<ShapeError>("{}: backward returned a gradient of shape {} for input {} of shape {}", name(),
                       gradients[k].shape(), targets[k], of.shape());
    if (gradients[k].dtype() != of.dtype())
      fail<DtypeError>("{}: backward returned a {} gradient for input {} of {}", name(), gradients[k].dtype(),
                       targets[k], of.dtype());
    if (config.debug) check_nan(gradients[k].array(), "backward", *this);
  }
  hooks.each([&](FunctionHook& hook) { hook.backward_postprocess(*this, x, grad_outputs); });
  return gradients;
}

void FunctionNode::unchain() {
  const Ref<FunctionNode> alive(this);
  for (Output& output : outputs_)
    if (VariableNode* y = output.node) y->detach();
  SmallVector<VariableNode*, 3> inputs = std::move(inputs_);
  for (VariableNode* x : inputs) x->release();
}

void FunctionNode::add_hook(std::shared_ptr<FunctionHook> hook) {
  if (!hooks_) hooks_ = std::make_unique<std::vector<std::shared_ptr<FunctionHook>>>();
  for (const auto& other : *hooks_)
    if (other->name() == hook->name()) fail<ValueError>("{}: a hook named {} is there already", name(), hook->name());
  hooks_->push_back(hook);
  hook->added(this);
}

void FunctionNode::delete_hook(const std::string& hook_name) {
  if (hooks_)
    for (auto at = hooks_->begin(); at != hooks_->end(); ++at)
      if ((*at)->name() == hook_name) {
        const std::shared_ptr<FunctionHook> hook = *at;
        hooks_->erase(at);
        hook->deleted(this);
        return;
      }
  fail<ValueError>("{}: there is no hook {}", name(), hook_name);
}

const std::vector<std::shared_ptr<FunctionHook>>& FunctionNode::local_hooks() const {
  static const auto& none = *new std::vector<std::shared_ptr<FunctionHook>>;
  return hooks_ ? *hooks_ : none;
}

}  // namespace catenary
