#pragma once
// A link's state beside parameters: arrays that are saved but not learnt (Persistent), and variables kept between calls
// (StateVariable).

#include <memory>

#include "catenary/autograd/state_variable.h"

namespace catenary {

/// A persistent array of a link, such as a running mean: saved and moved with the link, but not learnt. A handle like
/// Parameter: C++ copies of a link share it, so moving or replacing the array through one copy affects all.
/// (chainer.Link.register_persistent)
class CT_API Persistent {
 public:
  Persistent() : slot_(std::make_shared<Array>()) {}
  explicit Persistent(const Array& array) : slot_(std::make_shared<Array>(array)) {}
  // No move: a moved-from handle would refer to nothing.
  Persistent(const Persistent&) = default;
  Persistent& operator=(const Persistent&) = default;
  ~Persistent() = default;

  /// Replaces the array in all copies of this handle.
  const Persistent& operator=(const Array& array) const {
    *slot_ = array;
    return *this;
  }
  bool defined() const { return slot_->defined(); }
  const Array& array() const { return *slot_; }
  operator const Array&() const { return *slot_; }
  const Array* operator->() const { return slot_.get(); }

  /// Internal: the stored array, for serializers.
  Array& slot() const { return *slot_; }

 private:
  std::shared_ptr<Array> slot_;
};

class Link;

/// Returns the first n rows of a link's state, for a batch of n that may be smaller than the last one. Undefined if
/// there is no state yet. Throws ShapeError with the link's name if the batch is larger.
CT_API Variable state_rows(const Link& link, const StateVariable& state, std::int64_t n);
/// Replaces the first rows of the state by `rows`. The remaining rows stay as they are.
CT_API void remember_rows(const StateVariable& state, const Variable& rows);

}  // namespace catenary
