#pragma once
// Parameters: trainable variables. This header knows initializers and update rules by their base classes only.

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary {

class Parameter;

/// Fills a new array in place. Base of the classes in initializers/. (chainer.initializer.Initializer)
class CT_API Initializer {
 public:
  explicit Initializer(std::optional<Dtype> dtype = {}) : dtype(dtype) {}
  virtual ~Initializer();
  virtual void operator()(const Array& array) const = 0;
  /// dtype of the parameter, or config.dtype if not set.
  std::optional<Dtype> dtype;
};

/// Updates a parameter from its gradient. Base of the update rules in optimizers/.
class CT_API UpdateRuleBase {
 public:
  virtual ~UpdateRuleBase();
  virtual void update(const Parameter& parameter) = 0;
};

/// Initial value of a parameter: an initializer, a number (default 0; NaN and infinity are allowed), or an array.
class CT_API ParameterInit {
 public:
  ParameterInit() : ParameterInit(Scalar(0)) {}
  ParameterInit(const Scalar& value);
  ParameterInit(const Array& array);
  template <class S>
  requires std::is_arithmetic_v<S> ParameterInit(S value) : ParameterInit(Scalar(value)) {}
  ParameterInit(std::shared_ptr<const Initializer> initializer);
  template <std::derived_from<Initializer> I>
  ParameterInit(const I& initializer) : ParameterInit(std::make_shared<const I>(initializer)) {}
  template <std::derived_from<Initializer> I>
  ParameterInit(std::shared_ptr<I> initializer)
      : ParameterInit(std::shared_ptr<const Initializer>(std::move(initializer))) {}

  const std::shared_ptr<const Initializer>& initializer() const { return initializer_; }

 private:
  std::shared_ptr<const Initializer> initializer_;
};

namespace detail {
/// Registers the address of a Parameter that may be a member of an object while it lives, so that a link finds
/// parameters that CT_LINKS does not name. Copies of unregistered parameters, such as Link::params() returns, stay
/// unregistered.
class CT_API ParameterPlace {
 protected:
  ParameterPlace() noexcept { enter(); }
  struct Unknown {};
  explicit ParameterPlace(Unknown) noexcept : known_(false) {}
  ParameterPlace(const ParameterPlace& other) noexcept : known_(other.known_) {
    if (known_) enter();
  }
  ParameterPlace& operator=(const ParameterPlace&) noexcept { return *this; }
  ~ParameterPlace() {
    if (known_) leave();
  }

 private:
  void enter() noexcept;
  void leave() noexcept;
  bool known_ = true;
};
}  // namespace detail

/// A trainable variable. Its shape may be unknown until the first forward pass, and an optimizer can update it. Copies
/// are handles of one parameter, and a Variable that refers to a parameter remains a parameter. (chainer.Parameter)
class CT_API Parameter : public Variable, private detail::ParameterPlace {
 public:
  /// Makes an undefined handle.
  Parameter() = default;
  /// Makes a parameter without a shape, to be set by initialize(shape).
  explicit Parameter(const ParameterInit& initializer) : Parameter(Named{}, initializer) {}
  /// Makes a named parameter without a shape. A template rather than std::string, so that `Parameter(1.0, {3})` is a
  /// shape.
  template <std::convertible_to<std::string> Name>
  Parameter(const ParameterInit& initializer, Name&& name) : Parameter(Named{std::forward<Name>(name)}, initializer) {}
  /// Initialises the parameter on the current device. The gradient starts as NaN, so that a forgotten cleargrads shows.
  Parameter(const ParameterInit& initializer, const Shape& shape, std::string name = {});
  /// Returns a parameter with the given values, which are not copied.
  static Parameter from_array(const Array& array, std::string name = {});
  /// Returns the parameter behind a Variable. Throws ValueError if the variable is not a parameter.
  static Parameter of(const Variable& variable);
  static bool is_parameter(const Variable& variable);

  bool is_initialized() const;
  /// Allocates and fills the array. Throws ValueError if the parameter is initialised with another shape.
  void initialize(const Shape& shape) const;
  const std::shared_ptr<const Initializer>& initializer() const;
  void set_initializer(const ParameterInit& initializer) const;
  /// Returns the device of the array, or the device on which initialize() will allocate it.
  Device initial_device() const;
  const std::shared_ptr<UpdateRuleBase>& update_rule() const;
  void set_update_rule(std::shared_ptr<UpdateRuleBase> rule) const;
  /// Runs the update rule, if there is any.
  void update() const;

  /// Internal: returns another handle, for lists.
  Parameter handle() const { return Parameter(*this, Known{}); }
  /// Internal: returns the registered parameters inside a memory range, without those made by handle(), by address.
  static std::vector<const Parameter*> inside(std::span<const std::byte> memory);

 private:
  struct Named {
    std::string name = {};
  };
  Parameter(Named named, const ParameterInit& initializer);
  struct Known {};
  Parameter(const Variable& variable, Known) : Variable(variable), ParameterPlace(Unknown{}) {}
};

/// Returns a new array on `device`, filled by the initializer. (chainer.initializers.generate_array)
CT_API Array generate_array(const ParameterInit& initializer, const Shape& shape,
                            const Device& device = current_device(), std::optional<Dtype> dtype = {});

}  // namespace catenary
