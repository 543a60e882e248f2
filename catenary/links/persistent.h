#pragma once
// What a link has beside parameters: what it saves but does not learn, and what it remembers from call to call
// (StateVariable).

#include <memory>

#include "catenary/autograd/state_variable.h"

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

class Link;

/// Of what a link remembers of each example: the rows of a batch of n, the first ones, as it may be smaller than the
/// one before; undefined where there is none yet. Throws ShapeError, in the link's name, for a larger batch.
CT_API Variable state_rows(const Link& link, const StateVariable& state, std::int64_t n);
/// Remembers `rows` in place of as many first ones. The others stay as they are.
CT_API void remember_rows(const StateVariable& state, const Variable& rows);

}  // namespace catenary
