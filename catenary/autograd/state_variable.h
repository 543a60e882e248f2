#pragma once
// What is remembered from one call to the next, and how that is kept aside.

#include <memory>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary {

/// What a recurrent link remembers from one call to the next: a variable with the graph that led to it, undefined
/// before the first call. A handle: copies are the same state. CT_LINKS names it. It is moved with its link, which cuts
/// its graph; it is no part of what the link has learnt, so only a training's snapshot saves it
/// (Link::serialize_state). Another link made by copy() begins with the same state and then has its own. An evaluation
/// puts it back (StateScope), and F::forget() knows of it.
class CT_API StateVariable {
 public:
  StateVariable() : slot_(std::make_shared<Variable>()) {}
  explicit StateVariable(const Variable& value) : slot_(std::make_shared<Variable>(value)) {}
  StateVariable(const StateVariable&) = default;
  StateVariable& operator=(const StateVariable&) = default;
  ~StateVariable() = default;

  /// Replaces the variable, for everyone who has this handle.
  const StateVariable& operator=(const Variable& value) const;
  bool defined() const { return variable().defined(); }
  const Variable& variable() const;
  operator const Variable&() const { return variable(); }
  const Variable* operator->() const { return &variable(); }

 private:
  std::shared_ptr<Variable> slot_;
};

namespace detail {
/// Until the end of the scope, the states that this thread uses and what each held before its first use.
class CT_API StateUses {
 public:
  explicit StateUses(bool clear = false);
  ~StateUses();
  StateUses(const StateUses&) = delete;
  StateUses& operator=(const StateUses&) = delete;

  struct Use {
    std::weak_ptr<Variable> slot;  ///< expired when its link has gone
    Variable before;
  };
  const std::vector<Use>& all() const { return all_; }
  /// About to be read or replaced.
  static void see(const std::shared_ptr<Variable>& slot);

 private:
  const bool clear_;
  std::vector<Use> all_;
};
}  // namespace detail

/// Until the end of the scope, links begin without what they remember (StateVariable); then they have it back as it
/// was. Of the thread, and of all links: for an evaluation amid a training. X::Evaluator does it by itself.
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
