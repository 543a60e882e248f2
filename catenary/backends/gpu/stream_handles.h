#pragma once
// A library's handles, one for each stream: streams that run at once must share neither a handle's workspace nor have
// it change its stream under them. Of all of a vendor's libraries.

#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace catenary::gpu {

class StreamHandles {
 public:
  /// `first` is a handle that was made already; `create` makes one more, `prepare` gives a new one its stream and
  /// settings. Both return the library's status, 0 where all is well.
  StreamHandles(void* first, std::function<int(void** handle)> create,
                std::function<int(void* handle, void* stream)> prepare)
      : first_(first), create_(std::move(create)), prepare_(std::move(prepare)) {}

  /// use(the stream's handle), which only threads of one stream wait for each other with. Returns a status.
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

  std::mutex mutex_;  // of the map and of the first
  void* first_;
  std::map<void*, Mine> handles_;
  const std::function<int(void**)> create_;
  const std::function<int(void*, void*)> prepare_;
};

}  // namespace catenary::gpu
