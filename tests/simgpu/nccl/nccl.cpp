// A stand-in for libnccl.so.2 and librccl.so.1, which have one interface: non-blocking communicators between processes
// of one machine. The process that makes an id listens on a socket without a file. Its thread receives the data of all
// ranks, sums them in the order of ranks and in the dtype of the data, and sends the sums back. On each rank, the
// device's stream does the work.
//
// It is as strict as the real one: the previous call must have been accepted before the next call, and memory and
// streams must belong to the device. A task reaches the stream only after the communicator's state was asked for twice,
// so a program that does not ask reads too early.
//
// SIMGPU_NCCL names a fault: "old" (a version without non-blocking communicators), "newer", "id", or a fault at one
// rank, as in "init:1":
//   init: the start fails
//   late: the start never ends
//   call: the call fails
//   async: it fails after the call
//   hang: the rank never takes part in its first sum
// With SIMGPU_NCCL_LOG=1, each rank prints its tasks.

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/simgpu/blas/product.h"

namespace {

using simgpu::driver_function;
using simgpu_blas::Handle;
using simgpu_blas::is_allocated;
using simgpu_blas::load;
using simgpu_blas::size_of;
using simgpu_blas::store;
using simgpu_blas::Type;

constexpr int kSuccess = 0, kDeviceError = 1, kSystemError = 2, kInvalidArgument = 4, kInvalidUsage = 5,
              kRemoteError = 6, kInProgress = 7;

bool fault(const char* what, int rank = -1) {
  const char* asked = std::getenv("SIMGPU_NCCL");
  return asked && asked == (rank < 0 ? std::string(what) : what + (":" + std::to_string(rank)));
}

struct Id {
  char name[128];
};

sockaddr_un address_of(const Id& id, socklen_t& length) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t size = ::strnlen(id.name, sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, id.name, size);  // a leading 0: no file
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  return address;
}

bool send_all(int socket, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}
/// Returns false if the other side has closed, or if `given_up` is set meanwhile.
bool receive_all(int socket, void* data, std::size_t bytes, const std::atomic<bool>* given_up = nullptr) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    pollfd wait{socket, POLLIN, 0};
    if (::poll(&wait, 1, 20) == 0) {
      if (given_up && *given_up) return false;
      continue;
    }
    const ssize_t n = ::recv(socket, at, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

struct Hello {
  int rank, size;
};
/// A task of a rank. All ranks must do the same.
struct Task {
  enum Kind { sum, broadcast, leave } kind;
  int type, root;  ///< `type` (ncclDataType_t) of sums, `root` of broadcasts
  std::uint64_t bytes;
  bool operator==(const Task&) const = default;
};

Type type_of(int number) {
  return number == 6 ? Type::f16 : number == 7 ? Type::f32 : number == 8 ? Type::f64 : Type::bf16;
}

/// Serves the ranks until one of them leaves.
void serve(int listening) {
  std::vector<int> ranks(1, -1);
  for (std::size_t come = 0; come < ranks.size(); ++come) {
    const int socket = ::accept(listening, nullptr, nullptr);
    Hello hello{};
    if (socket < 0 || !receive_all(socket, &hello, sizeof hello)) return;
    ranks.resize(static_cast<std::size_t>(hello.size), -1);
    ranks[static_cast<std::size_t>(hello.rank)] = socket;
  }
  ::close(listening);
  for (const int socket : ranks) send_all(socket, "", 1);
  for (bool all_there = true; all_there;) {
    std::vector<Task> tasks(ranks.size());
    std::vector<std::vector<char>> data(ranks.size());
    for (std::size_t r = 0; r < ranks.size() && all_there; ++r) {
      all_there = receive_all(ranks[r], &tasks[r], sizeof(Task));
      if (!all_there) break;
      data[r].resize(tasks[r].bytes);
      all_there = receive_all(ranks[r], data[r].data(), data[r].size()) && tasks[r] == tasks[0];
    }
    if (!all_there) break;
    std::vector<char>& result = data[tasks[0].kind == Task::broadcast ? static_cast<std::size_t>(tasks[0].root) : 0];
    if (tasks[0].kind == Task::sum) {
      const Type type = type_of(tasks[0].type);
      const auto n = static_cast<std::int64_t>(result.size()) / size_of(type);
      for (std::size_t r = 1; r < data.size(); ++r)
        for (std::int64_t i = 0; i < n; ++i)
          store(result.data(), i, type, load(result.data(), i, type) + load(data[r].data(), i, type));
    }
    // the first rank last: this thread lives in its process, which may end as soon as it has its result
    for (std::size_t r = ranks.size(); r-- > 0;) all_there = send_all(ranks[r], result.data(), result.size());
  }
  for (const int socket : ranks) ::close(socket);
}

struct Comm {
  int rank = 0, size = 1, device = 0, socket = -1;
  std::atomic<bool> aborted{false};
  std::thread starting;

  std::mutex mutex;
  std::condition_variable changed;
  int state = kInProgress;
  bool asked = false;
  std::function<void()> waiting;  // enqueued in the stream later
  bool summed = false;

  void set(int to) {
    const std::lock_guard lock(mutex);
    state = to;
  }
  void give_up() {
    aborted = true;
    const std::lock_guard lock(mutex);
    changed.notify_all();
  }
  /// Waits like a kernel that waits for other ranks, until it is aborted.
  void wait_for_ever() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return aborted.load(); });
  }

  void start(const Id& id) {
    if (fault("init", rank)) return set(kSystemError);
    if (fault("late", rank)) return wait_for_ever();
    socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    socklen_t length = 0;
    const sockaddr_un address = address_of(id, length);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), length) != 0) return set(kSystemError);
    const Hello hello{rank, size};
    char go = 0;
    const bool there = send_all(socket, &hello, sizeof hello) && receive_all(socket, &go, 1, &aborted);
    set(there ? kSuccess : kRemoteError);
  }

  /// Runs in the stream.
  void run(const Task& task, const void* from, void* to) {
    const bool first_sum = task.kind == Task::sum && !summed;
    if (task.kind == Task::sum) summed = true;
    if (first_sum && fault("async", rank)) {
      set(kRemoteError);
      return wait_for_ever();
    }
    if (first_sum && fault("hang", rank)) return wait_for_ever();
    std::vector<char> result(task.bytes);
    if (send_all(socket, &task, sizeof task) && send_all(socket, from, task.bytes) &&
        receive_all(socket, result.data(), result.size(), &aborted)) {
      std::memcpy(to, result.data(), result.size());
      return;
    }
    set(kRemoteError);
    wait_for_ever();
  }
};

using Shared = std::shared_ptr<Comm>;
Comm* comm_of(Handle handle) { return handle ? static_cast<Shared*>(handle)->get() : nullptr; }

int submit(Handle handle, const Task& task, const void* from, void* to, Handle stream) {
  Comm* const comm = comm_of(handle);
  if (!comm) return kInvalidArgument;
  static auto* const current = driver_function<int()>("simgpu_current");
  static auto* const put = driver_function<int(Handle, void (*)(void*), void*)>("simgpu_submit");
  if (std::getenv("SIMGPU_NCCL_LOG"))
    std::fprintf(stderr, "simgpu nccl: rank %d of %d, %s of %d bytes, type %d\n", comm->rank, comm->size,
                 task.kind == Task::sum ? "sum" : "broadcast", static_cast<int>(task.bytes), task.type);
  const std::lock_guard lock(comm->mutex);
  if (comm->state == kInProgress) return kInvalidUsage;
  if (comm->state != kSuccess) return comm->state;
  if (current() != comm->device || !is_allocated(from, task.bytes) || !is_allocated(to, task.bytes))
    return kInvalidArgument;
  if (task.kind == Task::sum && fault("call", comm->rank)) return kDeviceError;
  comm->state = kInProgress;
  comm->asked = false;
  comm->waiting = [=, shared = *static_cast<Shared*>(handle)] {
    auto* const work = new std::function<void()>([=] { shared->run(task, from, to); });
    const int code = put(
        stream,
        [](void* data) {
          auto* const f = static_cast<std::function<void()>*>(data);
          (*f)();
          delete f;
        },
        work);
    shared->state = code == 0 ? kSuccess : kInvalidArgument;
  };
  return kInProgress;
}

}  // namespace

EXPORT int ncclGetVersion(int* version) {
  *version = fault("old") ? 21212 : fault("newer") ? 22800 : 22703;
  return kSuccess;
}
EXPORT const char* ncclGetErrorString(int code) {
  switch (code) {
    case kDeviceError:
      return "unhandled cuda error";
    case kSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case kInvalidArgument:
      return "invalid argument";
    case kInvalidUsage:
      return "invalid usage";
    case kRemoteError:
      return "remote process exited or there was a network error";
    default:
      return "no error";
  }
}
EXPORT const char* ncclGetLastError(Handle) { return std::getenv("SIMGPU_NCCL") ? "a fault of the stand-in" : ""; }

EXPORT int ncclGetUniqueId(Id* id) {
  if (fault("id")) return kSystemError;
  static std::atomic<int> count{0};
  std::memset(id->name, 0, sizeof id->name);
  std::snprintf(id->name, sizeof id->name, "simgpu-nccl-%d-%d", static_cast<int>(::getpid()), ++count);
  const int listening = ::socket(AF_UNIX, SOCK_STREAM, 0);
  socklen_t length = 0;
  const sockaddr_un address = address_of(*id, length);
  if (listening < 0 || ::bind(listening, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::listen(listening, 64) != 0)
    return kSystemError;
  std::thread([listening] { serve(listening); }).detach();
  return kSuccess;
}

EXPORT int ncclCommInitRankConfig(Handle* handle, int size, Id id, int rank, const void* config) {
  struct Config {
    std::size_t size;
    unsigned magic, version;
    int blocking;
  } asked{};
  std::memcpy(&asked, config, sizeof(std::size_t) + 3 * sizeof(int));
  if (asked.magic != 0xcafebeef || asked.version < 21400 || asked.blocking != 0) return kInvalidArgument;
  if (rank < 0 || rank >= size) return kInvalidArgument;
  const auto comm = std::make_shared<Comm>();
  comm->rank = rank;
  comm->size = size;
  comm->device = driver_function<int()>("simgpu_current")();
  comm->starting = std::thread([comm, id] { comm->start(id); });
  *handle = new Shared(comm);
  return kInProgress;
}

EXPORT int ncclCommGetAsyncError(Handle handle, int* state) {
  Comm* const comm = comm_of(handle);
  if (!comm) return kInvalidArgument;
  const std::lock_guard lock(comm->mutex);
  if (comm->waiting && std::exchange(comm->asked, true)) {
    static auto* const current = driver_function<int()>("simgpu_current");
    static auto* const set_current = driver_function<int(int)>("simgpu_set_current");
    const int before = current();
    set_current(comm->device);
    std::exchange(comm->waiting, nullptr)();
    if (before >= 0) set_current(before);
  }
  *state = comm->state;
  return kSuccess;
}

EXPORT int ncclCommFinalize(Handle handle) {
  Comm* const comm = comm_of(handle);
  if (!comm) return kInvalidArgument;
  {
    const std::lock_guard lock(comm->mutex);
    if (comm->state != kSuccess) return kInvalidUsage;
    comm->state = kInProgress;
  }
  comm->starting.join();
  comm->starting = std::thread([comm] {
    const Task task{Task::leave, 0, 0, 1};
    char all = 0;
    const bool left = send_all(comm->socket, &task, sizeof task) && send_all(comm->socket, "", 1) &&
                      receive_all(comm->socket, &all, 1, &comm->aborted);
    comm->set(left ? kSuccess : kRemoteError);
  });
  return kInProgress;
}
EXPORT int ncclCommAbort(Handle handle) {
  Comm* const comm = comm_of(handle);
  if (!comm) return kInvalidArgument;
  comm->give_up();
  if (comm->starting.joinable()) comm->starting.join();
  if (comm->socket >= 0) ::shutdown(comm->socket, SHUT_RDWR);
  return kSuccess;
}
EXPORT int ncclCommDestroy(Handle handle) {
  Comm* const comm = comm_of(handle);
  if (!comm || comm->state == kInProgress) return kInvalidArgument;
  const int code = ncclCommAbort(handle);
  ::close(comm->socket);
  delete static_cast<Shared*>(handle);
  return code;
}

#ifndef SIM_WITHOUT_SUM
EXPORT int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int op, Handle comm, Handle stream) {
  if (type < 6 || type > 9 || op != 0) return kInvalidArgument;
  return submit(comm, {Task::sum, type, 0, count * static_cast<std::size_t>(size_of(type_of(type)))}, from, to, stream);
}
#endif
EXPORT int ncclBroadcast(const void* from, void* to, std::size_t count, int type, int root, Handle comm,
                         Handle stream) {
  if (type != 1) return kInvalidArgument;
  return submit(comm, {Task::broadcast, type, root, count}, from, to, stream);
}
