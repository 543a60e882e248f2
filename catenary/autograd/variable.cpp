#include "catenary/autograd/variable.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <unordered_set>

#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/node_extras.h"
#include "catenary/autograd/operators.h"
#include "catenary/autograd/walk.h"
#include "catenary/core/format.h"
#include "catenary/device/float64.h"

namespace catenary {

// ---- VariableNode

VariableNode::VariableNode(Array array, bool requires_grad) {
  if (array.defined()) {
    set_data(std::move(array));
    requires_grad_ = requires_grad && is_floating(dtype_);
  } else {
    requires_grad_ = requires_grad;  // a parameter whose shape is not known yet
  }
}

VariablePeer::~VariablePeer() = default;

VariableNode::~VariableNode() { detach(); }

void VariableNode::set_data(Array array) {
  if (is_complex(array.dtype()))
    fail<DtypeError>(
        "Variable: autograd does not support complex numbers, but the array has the dtype {}. Pass its real and "
        "imaginary parts",
        array.dtype());
  dtype_ = array.dtype();
  shape_ = array.shape();
  data_ = std::move(array);
  if (peer_) peer_->data_changed();
}

void VariableNode::forget_data() {
  data_ = Array();
  if (peer_) peer_->data_changed();
}

VariableNode::Extras& VariableNode::extras() {
  if (!extras_) extras_ = std::make_unique<Extras>();
  return *extras_;
}

const std::string& VariableNode::name() const {
  static const std::string& nameless = *new std::string;
  return extras_ ? extras_->name : nameless;
}

std::string VariableNode::label() const {
  if (shape_.empty()) return dtype_name(dtype_);
  return fmt::format("({}), {}", fmt::join(shape_.begin(), shape_.end(), ", "), dtype_);
}

void VariableNode::detach() {
  if (!creator_) return;
  FunctionNode* creator = std::exchange(creator_, nullptr);
  rank_ = 0;
  if (const auto i = static_cast<std::size_t>(output_index_);
      i < creator->outputs_.size() && creator->outputs_[i].node == this)
    creator->outputs_[i].node = nullptr;
  creator->release();
}

void VariableNode::set_creator(FunctionNode* f) {
  if (f == creator_) return;
  detach();
  if (!f) return;
  f->add_reference();
  creator_ = f;
  rank_ = f->rank() + 1;
  // reconnects an output that was disconnected
  if (const auto i = static_cast<std::size_t>(output_index_); i < f->outputs_.size() && !f->outputs_[i].node)
    f->outputs_[i].node = this;
}

void VariableNode::release_handle() {
  const std::uint64_t now = references_.load(std::memory_order_acquire);
  if (now == kHandle) {  // no other thread can reach it
    delete this;
    return;
  }
  if (now >> 32 > 1) {
    if (references_.fetch_sub(kHandle, std::memory_order_acq_rel) == kHandle) delete this;
    return;
  }
  // This was the last handle but the graph remains, so hold a reference while freeing the data that only handles need.
  if ((references_.fetch_sub(std::uint64_t{1} << 32, std::memory_order_acq_rel) >> 32) == 1) {
    const Variable gradient = std::move(grad_);
    if (!is_retained()) forget_data();
  }
  release();
}

// ---- Variable

Variable::Variable(Array array, bool requires_grad) {
  if (!array.defined()) fail<ValueError>("Variable: the array is undefined");
  node_ = new VariableNode(std::move(array), requires_grad);
  node_->references_.store(VariableNode::kHandle, std::memory_order_relaxed);  // not shared yet
}

Variable::Variable(const Array& array, VariableOptions options) : Variable(array, options.requires_grad) {
  if (!options.name.empty()) set_name(std::move(options.name));
  if (options.grad.defined()) set_grad(options.grad);
}

VariableNode& Variable::node() const {
  if (!node_) fail<ValueError>("an undefined Variable was used: it has neither values nor a place in a graph");
  return *node_;
}

const Array& Variable::array() const { return node().data_; }

void Variable::set_array(const Array& array) const {
  if (!array.defined()) fail<ValueError>("Variable.set_array: the array is undefined");
  node().set_data(array);
  if (!is_floating(array.dtype())) node_->requires_grad_ = false;
}

Array Variable::grad() const {
  const Variable& g = grad_var();
  return g.defined() ? g.array() : Array();
}

void Variable::set_grad(const Array& grad) const { set_grad_var(grad.defined() ? Variable(grad, false) : Variable()); }

const Variable& Variable::grad_var() const { return node().grad_; }

void Variable::set_grad_var(const Variable& grad) const {
  if (grad.defined() && node().data_.defined()) {
    if (grad.shape() != shape())
      fail<ShapeError>("the gradient of a variable of shape {} must have that shape, not {}", shape(), grad.shape());
    // with 16-bit parameters, optimizers show float32 gradients to hooks
    if (grad.dtype() != dtype() && !(is_16bit_float(dtype()) && grad.dtype() == Dtype::float32))
      fail<DtypeError>("the gradient of a {} variable must be of that dtype, not {}", dtype(), grad.dtype());
  }
  node().grad_ = grad;
}

const Shape& Variable::shape() const {
  const VariableNode& n = node();
  if (!n.data_.defined() && n.extras_ && n.extras_->initializer)
    fail<ValueError>("parameter \"{}\" has no shape yet: it is initialised by the first forward pass", n.name());
  return n.shape_;
}
std::int64_t Variable::shape(int axis) const { return shape()[normalize_axis(axis, ndim(), "Variable.shape")]; }
Dtype Variable::dtype() const {
  const VariableNode& n = node();
  if (!n.data_.defined() && n.extras_ && n.extras_->initializer) return get_dtype(n.extras_->initializer->dtype);
  return n.dtype_;
}
Device Variable::device() const { return array().device(); }
const std::string& Variable::name() const { return node().name(); }
void Variable::set_name(std::string name) const { node().extras().name = std::move(name); }
bool Variable::requires_grad() const { return node().requires_grad_; }
std::string Variable::label() const { return node().label(); }
FunctionNode* Variable::creator() const { return node().creator_; }
int Variable::rank() const { return node().rank_; }
std::optional<Number> Variable::loss_scale() const {
  return node().extras_ ? node_->extras_->loss_scale : std::nullopt;
}
void Variable::set_loss_scale(std::optional<Number> scale) const {
  if (scale || node().extras_) node().extras().loss_scale = std::move(scale);
}

void Variable::cleargrad() const {
  node().grad_ = Variable();
  if (!node_->extras_) return;
  node_->extras_->grad_at_start = GradAtStart::none;
  node_->extras_->loss_scale.reset();
}

void Variable::zerograd() const {
  if (node().extras_) node_->extras_->grad_at_start = GradAtStart::zero;
  if (!node_->data_.defined()) return;
  const Array zeros = Array::empty(shape(), dtype(), device());
  zeros.fill(0);
  node_->grad_ = Variable(zeros, false);
}

void Variable::copydata(const Variable& other) const {
  if (Parameter::is_parameter(*this) && !array().defined()) {
    if (!other.array().defined()) return;
    Parameter::of(*this).initialize(other.shape());
  }
  if (!other.array().defined()) {
    Parameter::of(other).initialize(shape());
  }
  if (other.shape() != shape())
    fail<ShapeError>("Variable.copydata: values of shape {} do not fit a variable of shape {}", other.shape(), shape());
  copyto(array(), other.array().to_device(device()));
}

void Variable::addgrad(const Variable& other) const {
  if (!other.grad_var().defined()) return;
  if (!array().defined()) {
    Parameter::of(*this).initialize(other.shape());
    cleargrad();
  }
  // the gradients may have different loss scales, so convert the other one to the scale of this variable
  if (!grad_var().defined()) set_loss_scale(other.loss_scale());
  Variable gradient = walk::grad_in_scale(other, loss_scale());
  if (gradient.device() != device()) gradient = functions::copy(gradient, device());
  set_grad_var(grad_var().defined() ? gradient + grad_var() : gradient);
}

void Variable::unchain() const { node().detach(); }

void Variable::unchain_backward() const {
  std::vector<Ref<FunctionNode>> waiting;
  std::unordered_set<FunctionNode*> seen;
  const auto visit = [&](FunctionNode* f) {
    if (f && seen.insert(f).second) waiting.emplace_back(f);
  };
  visit(creator());
  while (!waiting.empty()) {
    const Ref<FunctionNode> f = std::move(waiting.back());
    waiting.pop_back();
    for (int i = 0; i < f->input_count(); ++i) visit(f->input(i).creator());
    f->unchain();
  }
}

void Variable::backward(bool retain_grad, bool enable_double_backprop, std::optional<Number> loss_scale) const {
  walk::backward(*this, retain_grad, enable_double_backprop, loss_scale);
}

Variable Variable::reshape(const Shape& shape) const { return functions::reshape(*this, shape); }
Variable Variable::transpose(const Axes& axes) const { return functions::transpose(*this, axes); }
Variable Variable::get(const std::vector<Index>& indices) const { return functions::get_item(*this, indices); }

void Variable::to_device(const Device& device) const {
  if (creator())
    fail<ValueError>("Variable.to_device: the variable was computed by {}; use functions::copy", creator()->name());
  if (node_->extras_) node_->extras_->initial_device = device;
  if (!array().defined()) return;
  const Array gradient = grad();
  node_->set_data(array().to_device(device));
  if (gradient.defined()) set_grad(gradient.to_device(device));
}

namespace {
std::string statistics(const Array& a) {
  if (a.size() == 0) return "no elements";
  const Array x = a.astype(widest_float(a.device()));
  const double mean = x.mean().item<double>();
  const double variance = (x * x).mean().item<double>() - mean * mean;
  return fmt::format("mean={:.8f}, std={:.8f}", mean, std::sqrt(std::max(variance, 0.0)));
}
}  // namespace

std::string Variable::debug_print() const {
  if (!array().defined()) return fmt::format("{} (not initialised)", name());
  std::string text = fmt::format("{}\n- device: {}\n- dtype: {}\n- shape: {}\n- statistics: {}\n", to_string(*this),
                                 device().name(), dtype(), shape(), statistics(array()));
  const Array g = grad();
  return text + "- grad: " + (g.defined() ? statistics(g) : "None");
}

std::string repr(const Variable& v) {
  if (!v.defined()) return "variable(None)";
  const std::string prefix = v.name().empty() ? "variable(" : fmt::format("variable {}(", v.name());
  if (!v.array().defined()) return prefix + "uninitialized)";
  const std::string text = repr(v.array());  // array(…)
  return prefix + text.substr(text.find('(') + 1);
}

std::string to_string(const Variable& v) {
  if (!v.defined()) return "variable(None)";
  if (!v.array().defined()) return repr(v);
  return fmt::format("variable{}({})", v.name().empty() ? "" : " " + v.name(), to_string(v.array()));
}

std::ostream& operator<<(std::ostream& stream, const Variable& v) { return stream << to_string(v); }

}  // namespace catenary
