#pragma once
// The state of recurrent links between calls, and scopes that set it aside.

#include <memory>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary {

/// The state that a recurrent link keeps from one call to the next: a variable with the graph that computed it,
/// undefined before the first call. Copies are handles of one state. CT_LINKS names it as a member.
///
/// The state moves between devices with its link, which cuts its graph. It is not a trained value, so only a snapshot
/// of the training saves it (Link::serialize_state). The copy() of a link starts with this state and then has a
/// separate one. Evaluations restore it (StateScope), and F::forget() takes it into account.
class CT_API StateVariable {
 public:
  StateVariable() : slot_(std::make_shared<Variable>()) {}
  explicit StateVariable(const Variable& value) : slot_(std::make_shared<Variable>(value)) {}
  StateVariable(const StateVariable&) = default;
  StateVariable& operator=(const StateVariable&) = default;
  ~StateVariable() = default;

  /// Replaces the variable for all copies of this handle.
  const StateVariable& operator=(const Variable& value) const;
  bool defined() const { return variable().defined(); }
  const Variable& variable() const;
  operator const Variable&() const { return variable(); }
  const Variable* operator->() const { return &variable(); }

 private:
  std::shared_ptr<Variable> slot_;
};

namespace detail {
/// Records, until the end of the scope, the states that this thread uses and their values before the first use.
class CT_API StateUses {
 public:
  explicit StateUses(bool clear = false);
  ~StateUses();
  StateUses(const StateUses&) = delete;
  StateUses& operator=(const StateUses&) = delete;

  struct Use {
    std::weak_ptr<Variable> slot;  ///< expired if its link is gone
    Variable before;
  };
  const std::vector<Use>& all() const { return all_; }
  /// Called before a state is read or replaced.
  static void see(const std::shared_ptr<Variable>& slot);

 private:
  const bool clear_;
  std::vector<Use> all_;
};
}  // namespace detail

/// Until the end of the scope, all links of this thread start with empty states (StateVariable); the end of the scope
/// restores the states. For an evaluation during training. X::Evaluator uses it automatically.
class CT_API StateScope {
 public:
  StateScope() : uses_(true) {}
  ~StateScope();
  StateScope(const StateScope&) = delete;
  StateScope& operator=(const StateScope&) = delete;

 private:
  detail::StateUses uses_;
};

}  // namespace catenary
