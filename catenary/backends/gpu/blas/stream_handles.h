#pragma once
// A library's handles, one for each stream: streams that run at once must share neither a handle's workspace nor have
// it change its stream under them.

#include <functional>
#include <map>
#include <utility>

namespace catenary::gpu {

class StreamHandles {
 public:
  /// `first` is a handle that was made already; `create` makes one more, `prepare` gives a new one its stream and
  /// settings. Both return the library's status, 0 where all is well.
  StreamHandles(void* first, std::function<int(void** handle)> create,
                std::function<int(void* handle, void* stream)> prepare)
      : first_(first), create_(std::move(create)), prepare_(std::move(prepare)) {}

  /// The stream's handle; returns a status.
  int get(void* stream, void*& handle) {
    void*& mine = handles_[stream];
    int status = 0;
    if (!mine) {
      mine = std::exchange(first_, nullptr);
      if (!mine) status = create_(&mine);
      if (status == 0) status = prepare_(mine, stream);
      if (status != 0) mine = nullptr;
    }
    handle = mine;
    return status;
  }

 private:
  void* first_;
  std::map<void*, void*> handles_;
  std::function<int(void**)> create_;
  std::function<int(void*, void*)> prepare_;
};

}  // namespace catenary::gpu
