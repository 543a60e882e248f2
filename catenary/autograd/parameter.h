#pragma once
// Parameters: variables that are learnt. Initializers and update rules are known here by their bases only.

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "catenary/autograd/variable.h"

namespace catenary {

class Parameter;

/// Fills a new array in place; initializers/ derives from it. (chainer.initializer.Initializer)
class CT_API Initializer {
 public:
  explicit Initializer(std::optional<Dtype> dtype = {}) : dtype(dtype) {}
  virtual ~Initializer();
  virtual void operator()(const Array& array) const = 0;
  /// dtype of the parameter; config.dtype when not given.
  std::optional<Dtype> dtype;
};

/// How a parameter is updated from its gradient; optimizers/ derives from it.
class CT_API UpdateRuleBase {
 public:
  virtual ~UpdateRuleBase();
  virtual void update(const Parameter& parameter) = 0;
};

/// What a parameter is filled with: an initializer, a number (0 when nothing is given; NaN and the like are possible),
/// or an array.
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

/// A learnt variable: it may wait for its shape until the first forward pass, and an optimizer can update it. A handle
/// like any Variable; a Variable that refers to a parameter still is one. (chainer.Parameter)
class CT_API Parameter : public Variable {
 public:
  /// No parameter.
  Parameter() = default;
  /// Waits for initialize(shape).
  explicit Parameter(const ParameterInit& initializer) : Parameter(Named{}, initializer) {}
  /// The same with a name. Not a plain std::string: `Parameter(1.0, {3})` has a shape.
  template <std::convertible_to<std::string> Name>
  Parameter(const ParameterInit& initializer, Name&& name) : Parameter(Named{std::forward<Name>(name)}, initializer) {}
  /// Initialised now, on the current device; the gradient starts as NaN, so that a forgotten cleargrads shows.
  Parameter(const ParameterInit& initializer, const Shape& shape, std::string name = {});
  /// A parameter with the given values (not copied).
  static Parameter from_array(const Array& array, std::string name = {});
  /// The parameter behind a Variable; throws ValueError for a variable that is none.
  static Parameter of(const Variable& variable);
  static bool is_parameter(const Variable& variable);

  bool is_initialized() const;
  /// Makes the array of an uninitialised parameter; throws ValueError for an initialised one of another shape.
  void initialize(const Shape& shape) const;
  const std::shared_ptr<const Initializer>& initializer() const;
  void set_initializer(const ParameterInit& initializer) const;
  /// The device on which initialize() will make the array, or where it is.
  Device initial_device() const;
  const std::shared_ptr<UpdateRuleBase>& update_rule() const;
  void set_update_rule(std::shared_ptr<UpdateRuleBase> rule) const;
  /// Runs the update rule, if there is one.
  void update() const;

 private:
  struct Named {
    std::string name = {};
  };
  Parameter(Named named, const ParameterInit& initializer);
  struct Known {};
  Parameter(const Variable& variable, Known) : Variable(variable) {}
};

/// A new array on `device`, filled by the initializer. (chainer.initializers.generate_array)
CT_API Array generate_array(const ParameterInit& initializer, const Shape& shape,
                            const Device& device = current_device(), std::optional<Dtype> dtype = {});

}  // namespace catenary
