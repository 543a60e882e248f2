#pragma once
// Parameters: variables that are learnt. Initializers and update rules are known here by their bases only.

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

namespace detail {
/// The place in memory of a Parameter that may be a member of an object, known while it lives: so a link finds those
/// that CT_LINKS does not name. What is copied of one that is not known, as those of Link::params(), is not known
/// either.
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

/// A learnt variable: it may wait for its shape until the first forward pass, and an optimizer can update it. A handle
/// like any Variable; a Variable that refers to a parameter still is one. (chainer.Parameter)
class CT_API Parameter : public Variable, private detail::ParameterPlace {
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

  /// Internal: another handle, for lists.
  Parameter handle() const { return Parameter(*this, Known{}); }
  /// Internal: those that lie in a piece of memory, but for handles, in the order of their addresses.
  static std::vector<const Parameter*> inside(std::span<const std::byte> memory);

 private:
  struct Named {
    std::string name = {};
  };
  Parameter(Named named, const ParameterInit& initializer);
  struct Known {};
  Parameter(const Variable& variable, Known) : Variable(variable), ParameterPlace(Unknown{}) {}
};

/// A new array on `device`, filled by the initializer. (chainer.initializers.generate_array)
CT_API Array generate_array(const ParameterInit& initializer, const Shape& shape,
                            const Device& device = current_device(), std::optional<Dtype> dtype = {});

}  // namespace catenary
