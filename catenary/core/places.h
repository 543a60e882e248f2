#pragma once
// Private: where in memory objects of a kind lie that may be members of others.

#include <cstddef>
#include <mutex>
#include <set>
#include <span>
#include <vector>

namespace catenary {

/// The objects of a kind that live, by their addresses. `Place` is a base of theirs, so that nothing but its own code
/// names it.
template <class Place>
class Places {
 public:
  /// Never destroyed: the objects may be global ones.
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
  /// Those that lie in a piece of memory, in the order of their addresses.
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
