#pragma once
// What a link saves but does not learn.

#include <memory>

#include "catenary/array/array.h"

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

}  // namespace catenary
