#pragma once
// Private: finds the objects of a kind inside a piece of memory, where they may be members of other objects.

#include <cstddef>
#include <mutex>
#include <set>
#include <span>
#include <vector>

namespace catenary {

/// The living objects of a kind, by address. `Place` is their base class, so only their own code needs this name.
template <class Place>
class Places {
 public:
  /// Returns the instance, which is never destroyed because the objects may be global.
  static Places& instance() {
    static Places& all = *new Places;
    return all;
  }
  /// Throws std::bad_alloc.
  void enter(const Place* place) {
    const std::lock_guard lock(mutex_);
    all_.insert(place);
  }
  void leave(const Place* place) noexcept {
    const std::lock_guard lock(mutex_);
    all_.erase(place);
  }
  /// Returns the objects inside a piece of memory, in the order of their addresses.
  std::vector<const Place*> inside(std::span<const std::byte> memory) {
    const auto place_of = [](const std::byte* p) { return reinterpret_cast<const Place*>(p); };
    const std::lock_guard lock(mutex_);
    return {all_.lower_bound(place_of(memory.data())), all_.lower_bound(place_of(memory.data() + memory.size()))};
  }

 private:
  std::mutex mutex_;
  std::set<const Place*> all_;
};

}  // namespace catenary
