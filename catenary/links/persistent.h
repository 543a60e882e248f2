#pragma once
// What a link has beside parameters: what it saves but does not learn, and what it remembers from call to call.

#include <memory>

#include "catenary/autograd/variable.h"

namespace catenary {

/// A persistent array of a link, such as a running mean: saved and moved with the link, not learnt. A handle like a
/// Parameter: C++ copies of a link have the same one, so that moving or replacing it through one copy shows in all.
/// (chainer.Link.register_persistent)
class CT_API Persistent {
 public:
  Persistent() : slot_(std::make_shared<Array>()) {}
  explicit Persistent(const Array& array) : slot_(std::make_shared<Array>(array)) {}
  // Moved from, it would be a handle to nothing: copies only.
  Persistent(const Persistent&) = default;
  Persistent& operator=(const Persistent&) = default;
  ~Persistent() = default;

  /// Replaces the array, for everyone who has this handle.
  const Persistent& operator=(const Array& array) const {
    *slot_ = array;
    return *this;
  }
  bool defined() const { return slot_->defined(); }
  const Array& array() const { return *slot_; }
  operator const Array&() const { return *slot_; }
  const Array* operator->() const { return slot_.get(); }

  /// Internal: where the array is kept, for serializers.
  Array& slot() const { return *slot_; }

 private:
  std::shared_ptr<Array> slot_;
};

/// What a recurrent link remembers from one call to the next: a variable with the graph that led to it, undefined
/// before the first call. A handle like a Persistent. It is moved with the link, which cuts its graph; it is no part of
/// what the link has learnt, so only a training's snapshot saves it (Link::serialize_state). Another link made by
/// copy() begins with the same state and then has its own.
class CT_API StateVariable {
 public:
  StateVariable() : slot_(std::make_shared<Variable>()) {}
  explicit StateVariable(const Variable& value) : slot_(std::make_shared<Variable>(value)) {}
  StateVariable(const StateVariable&) = default;
  StateVariable& operator=(const StateVariable&) = default;
  ~StateVariable() = default;

  /// Replaces the variable, for everyone who has this handle.
  const StateVariable& operator=(const Variable& value) const {
    *slot_ = value;
    return *this;
  }
  bool defined() const { return slot_->defined(); }
  const Variable& variable() const { return *slot_; }
  operator const Variable&() const { return *slot_; }
  const Variable* operator->() const { return slot_.get(); }

 private:
  std::shared_ptr<Variable> slot_;
};

}  // namespace catenary
