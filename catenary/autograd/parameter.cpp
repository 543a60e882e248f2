#include "catenary/autograd/parameter.h"

#include <limits>
#include <new>

#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/node_extras.h"
#include "catenary/autograd/without_values.h"
#include "catenary/core/format.h"
#include "catenary/core/places.h"

namespace catenary {

Initializer::~Initializer() = default;
UpdateRuleBase::~UpdateRuleBase() = default;

namespace {

class ScalarInitializer : public Initializer {
 public:
  explicit ScalarInitializer(const Scalar& value) : value_(value) {}
  void operator()(const Array& array) const override { array.fill(value_); }

 private:
  Scalar value_;
};

class ArrayInitializer : public Initializer {
 public:
  explicit ArrayInitializer(const Array& array) : Initializer(array.dtype()), value(array) {}
  void operator()(const Array& array) const override {
    if (array.shape() != value.shape())
      fail<ShapeError>("a parameter of shape {} cannot start from an array of shape {}", array.shape(), value.shape());
    copyto(array, value.to_device(array.device()));
  }
  const Array value;
};

Array gradient_at_start(GradAtStart kind, const Array& data) {
  if (kind == GradAtStart::none || !is_floating(data.dtype())) return Array();
  const Array g = Array::empty(data.shape(), data.dtype(), data.device());
  g.fill(kind == GradAtStart::zero ? 0.0 : std::numeric_limits<double>::quiet_NaN());
  return g;
}

}  // namespace

ParameterInit::ParameterInit(const Scalar& value) : initializer_(std::make_shared<const ScalarInitializer>(value)) {}
ParameterInit::ParameterInit(const Array& array) {
  if (!array.defined()) fail<ValueError>("Parameter: the initial array is undefined");
  initializer_ = std::make_shared<const ArrayInitializer>(array);
}
ParameterInit::ParameterInit(std::shared_ptr<const Initializer> initializer) : initializer_(std::move(initializer)) {
  if (!initializer_) fail<ValueError>("Parameter: the initializer is null");
}

Array generate_array(const ParameterInit& initializer, const Shape& shape, const Device& device,
                     std::optional<Dtype> dtype) {
  const Initializer& fill = *initializer.initializer();
  const Array array = Array::empty(shape, dtype ? *dtype : get_dtype(fill.dtype), device);
  fill(array);
  return array;
}

void detail::ParameterPlace::enter() noexcept {
  try {
    Places<ParameterPlace>::instance().enter(this);
  } catch (const std::bad_alloc&) {
    known_ = false;
  }
}
void detail::ParameterPlace::leave() noexcept { Places<ParameterPlace>::instance().leave(this); }

std::vector<const Parameter*> Parameter::inside(std::span<const std::byte> memory) {
  std::vector<const Parameter*> found;
  for (const detail::ParameterPlace* place : Places<detail::ParameterPlace>::instance().inside(memory))
    found.push_back(static_cast<const Parameter*>(place));
  return found;
}

Parameter::Parameter(Named named, const ParameterInit& initializer) : Variable(new VariableNode(Array(), true)) {
  VariableNode::Extras& extras = node_->extras();
  extras.name = std::move(named.name);
  extras.initializer = initializer.initializer();
  extras.initial_device = current_device();
  if (const auto* given = dynamic_cast<const ArrayInitializer*>(extras.initializer.get())) {
    node_->set_data(given->value);
    node_->requires_grad_ = is_floating(given->value.dtype());
    extras.initial_device = given->value.device();
  }
}

Parameter::Parameter(const ParameterInit& initializer, const Shape& shape, std::string name)
    : Variable(new VariableNode(Array(), true)) {
  VariableNode::Extras& extras = node_->extras();
  extras.name = std::move(name);
  extras.initializer = initializer.initializer();
  extras.initial_device = current_device();
  initialize(shape);
}

Parameter Parameter::from_array(const Array& array, std::string name) {
  return Parameter(ParameterInit(array), std::move(name));
}

bool Parameter::is_parameter(const Variable& variable) {
  return variable.defined() && variable.node().extras_ && variable.node().extras_->initializer;
}

Parameter Parameter::of(const Variable& variable) {
  if (!is_parameter(variable)) fail<ValueError>("{} is not a parameter", repr(variable));
  return Parameter(variable, Known{});
}

bool Parameter::is_initialized() const { return node().data_.defined(); }

void Parameter::initialize(const Shape& shape) const {
  if (is_initialized()) {
    if (shape == this->shape()) return;
    fail<ValueError>("parameter \"{}\" has shape {} already and cannot be initialised with {}", name(), this->shape(),
                     shape);
  }
  if (WithoutValues::holds()) {
    node().shape_ = shape;
    return;
  }
  VariableNode::Extras& extras = node().extras();
  const Array data = generate_array(ParameterInit(extras.initializer), shape, extras.initial_device);
  node_->set_data(data);
  node_->requires_grad_ = is_floating(data.dtype());
  set_grad(gradient_at_start(extras.grad_at_start, data));
}

const std::shared_ptr<const Initializer>& Parameter::initializer() const { return node().extras().initializer; }
void Parameter::set_initializer(const ParameterInit& initializer) const {
  node().extras().initializer = initializer.initializer();
}
Device Parameter::initial_device() const { return is_initialized() ? device() : node().extras().initial_device; }
const std::shared_ptr<UpdateRuleBase>& Parameter::update_rule() const { return node().extras().update_rule; }
void Parameter::set_update_rule(std::shared_ptr<UpdateRuleBase> rule) const {
  node().extras().update_rule = std::move(rule);
}
void Parameter::update() const {
  const std::shared_ptr<UpdateRuleBase> rule = update_rule();
  if (rule) rule->update(*this);
}

}  // namespace catenary
