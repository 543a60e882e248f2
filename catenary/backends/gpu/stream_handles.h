#pragma once
// A library's handles, one for each stream: concurrent streams must not share a handle's workspace or its current
// stream. Used for all vendor libraries.

#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace catenary::gpu {

class StreamHandles {
 public:
  /// `first` is an existing handle. `create` makes another handle, and `prepare` sets a new handle's stream and
  /// options. Both return the library's status, where 0 means success.
  StreamHandles(void* first, std::function<int(void** handle)> create,
                std::function<int(void* handle, void* stream)> prepare)
      : first_(first), create_(std::move(create)), prepare_(std::move(prepare)) {}

  /// Calls use(the stream's handle) and returns a status. Only threads of one stream wait for each other.
  template <class F>
  int with(void* stream, const F& use) {
    Mine& mine = of(stream);
    std::lock_guard lock(mine.mutex);
    if (!mine.handle)
      if (const int status = make(mine.handle, stream); status != 0) return status;
    return use(mine.handle);
  }

 private:
  struct Mine {
    std::mutex mutex;
    void* handle = nullptr;
  };
  Mine& of(void* stream) {
    std::lock_guard lock(mutex_);
    return handles_[stream];
  }
  int make(void*& handle, void* stream) {
    void* made = nullptr;
    {
      std::lock_guard lock(mutex_);
      made = std::exchange(first_, nullptr);
    }
    int status = made ? 0 : create_(&made);
    if (status == 0) status = prepare_(made, stream);
    if (status == 0) handle = made;
    return status;
  }

  std::mutex mutex_;  // for the map and the first handle
  void* first_;
  std::map<void*, Mine> handles_;
  const std::function<int(void**)> create_;
  const std::function<int(void*, void*)> prepare_;
};

}  // namespace catenary::gpu
