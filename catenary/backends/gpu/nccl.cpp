// NCCL's interface, shared by RCCL: found at run time, with declarations of the public ABI. Communicators are
// non-blocking, so that a rank that waits in vain can be interrupted and can report it.

#include "catenary/backends/gpu/nccl.h"

#include <atomic>
#include <climits>
#include <cstring>
#include <mutex>
#include <optional>
#include <type_traits>

#include "catenary/core/format.h"
#include "catenary/core/once.h"

namespace catenary::gpu {

std::string nccl_version(int number) {
  return number < 10000 ? fmt::format("{}.{}.{}", number / 1000, number / 100 % 10, number % 100)
                        : fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

const RocmLibrary& rccl() {
  static const RocmLibrary library = {"RCCL", {{5, 8, "librccl.so.1"}}};
  return library;
}

namespace {

constexpr int kSuccess = 0, kInProgress = 7;  // ncclResult_t
constexpr int kSum = 0;                       // ncclRedOp_t

/// ncclUniqueId
struct UniqueId {
  char bytes[sizeof(CollectivesId)];
};

/// ncclConfig_t of version 2.14. Newer versions recognize it by size and version, and use defaults for the rest.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = kOldestNccl;
  int blocking = 0;
  int undefined = INT_MIN;
};
static_assert(sizeof(Config) == 24);

struct Api {
  explicit Api(const os::Library& library) {
    const auto find = [&](auto& function, const char* name) {
      using F = std::remove_pointer_t<std::remove_reference_t<decltype(function)>>;
      function = library.required<F>(fmt::format("nccl{}", name).c_str());
    };
    find(unique_id, "GetUniqueId");
    find(init, "CommInitRankConfig");
    find(async_error, "CommGetAsyncError");
    find(finalize, "CommFinalize");
    find(destroy, "CommDestroy");
    find(abort, "CommAbort");
    find(allreduce, "AllReduce");
    find(broadcast, "Broadcast");
    find(error_string, "GetErrorString");
    find(last_error, "GetLastError");
  }

  /// Describes an error: its name, its number, and the library's additional text.
  std::string words(int code, void* comm) const {
    const std::string name = error_string(code);
    const char* const more = last_error(comm);
    return fmt::format("{} ({}){}{}{}", name, code, more && *more ? ": " : "", more ? more : "",
                       name.find("NCCL_DEBUG") == std::string::npos ? "; NCCL_DEBUG=INFO has it print why" : "");
  }

  int (*unique_id)(UniqueId*);
  int (*init)(void** comm, int size, UniqueId, int rank, Config*);
  int (*async_error)(void* comm, int* state);
  int (*finalize)(void* comm);
  int (*destroy)(void* comm);
  int (*abort)(void* comm);
  int (*allreduce)(const void* from, void* to, std::size_t count, int type, int op, void* comm, void* stream);
  int (*broadcast)(const void* from, void* to, std::size_t count, int type, int root, void* comm, void* stream);
  const char* (*error_string)(int);
  const char* (*last_error)(void* comm);
};

/// Returns the ncclDataType_t, or nothing if there is none.
std::optional<int> type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::int8:
      return 0;
    case Dtype::uint8:
      return 1;
    case Dtype::int32:
      return 2;
    case Dtype::uint32:
      return 3;
    case Dtype::int64:
      return 4;
    case Dtype::uint64:
      return 5;
    case Dtype::float16:
      return 6;
    case Dtype::float32:
      return 7;
    case Dtype::float64:
      return 8;
    case Dtype::bfloat16:
      return 9;
    default:
      return std::nullopt;
  }
}

class NcclGroup final : public DeviceGroup {
 public:
  NcclGroup(const char* name, const Api& api, Context& context, const CollectivesId& id, int rank, int size)
      : name_(name), api_(api), context_(context) {
    UniqueId unique;
    std::memcpy(&unique, id.data(), sizeof unique);
    Config config;
    context_.driver.queue(context_.index);  // makes the device current
    check(api_.init(&comm_, size, unique, rank, &config), "join the group");
  }
  ~NcclGroup() override {
    if (comm_ && !aborted_) api_.destroy(comm_);
  }

  bool ready() override {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || aborted_) return false;  // a watchdog must not wait for the call that it watches
    int state = kSuccess;
    check(api_.async_error(comm_, &state), "say how it is");
    check(state, "go on");
    return state != kInProgress;
  }
  void allreduce(const View& data) override {
    const std::optional<int> type = type_of(data.dtype);
    if (!type) fail<DeviceError>("{}: it does not sum {}", name_, data.dtype);
    submit("all-reduce", [&](void* stream) {
      return api_.allreduce(data.data(), data.data(), static_cast<std::size_t>(data.size()), *type, kSum, comm_,
                            stream);
    });
  }
  void bcast(const View& data, int root) override {
    submit("broadcast", [&](void* stream) {
      return api_.broadcast(data.data(), data.data(), static_cast<std::size_t>(data.nbytes()), *type_of(Dtype::uint8),
                            root, comm_, stream);
    });
  }
  void finish() override {
    submit("leave the group", [&](void*) { return api_.finalize(comm_); });
  }
  void abort() noexcept override {
    aborted_ = true;
    api_.abort(comm_);
  }

 private:
  template <class Call>
  void submit(const char* action, const Call& call) {
    void* const stream = context_.driver.queue(context_.index);  // also makes the device current
    const std::lock_guard lock(mutex_);
    if (aborted_) fail<DeviceError>("{} cannot {}: the group was aborted; make a new one", name_, action);
    check(call(stream), action);
  }
  void check(int code, const char* action) const {
    if (code == kSuccess || code == kInProgress) return;
    fail<DeviceError>("{} cannot {} on {}:{}: {}", name_, action, context_.driver.name(), context_.index,
                      api_.words(code, comm_));
  }

  const char* const name_;
  const Api& api_;
  Context& context_;
  std::mutex mutex_;  // for the library's calls except abort
  void* comm_ = nullptr;
  std::atomic<bool> aborted_{false};
};

class Nccl final : public DeviceCollectives {
 public:
  Nccl(bool hip, const std::vector<std::unique_ptr<Context>>& contexts) : hip_(hip), contexts_(contexts) {}

  const char* name() const override { return hip_ ? "RCCL" : "NCCL"; }
  std::string library(std::string& why) override {
    open();
    why = why_;
    return description_;
  }
  CollectivesId make_id(int device) override {
    const Api& api = required();
    at(device).driver.queue(device);
    UniqueId unique;
    if (const int code = api.unique_id(&unique); code != kSuccess)
      fail<DeviceError>("{} cannot make the id of a group: {}", name(), api.words(code, nullptr));
    CollectivesId id;
    std::memcpy(id.data(), &unique, sizeof unique);
    return id;
  }
  std::unique_ptr<DeviceGroup> join(int device, const CollectivesId& id, int rank, int size) override {
    return std::make_unique<NcclGroup>(name(), required(), at(device), id, rank, size);
  }

 private:
  Context& at(int device) const { return *contexts_[static_cast<std::size_t>(device)]; }

  const Api& required() {
    open();
    if (!api_) fail<DeviceError>("{} cannot be used: {}", name(), why_);
    return *api_;
  }
  void open() {
    opened_([this] {
      try {
        if (const auto found = find()) use(*found);
      } catch (const Error& error) {
        why_ = error.what();
      }
    });
  }
  std::optional<os::Library> find() {
    if (!hip_)
      return find_cuda_library(!contexts_.empty() && contexts_.front()->info.is_simulated,
                               os::library_file("nccl", "2"), why_);
    if (!contexts_.empty()) return find_rocm_library(*contexts_.front(), rccl(), why_);
    why_ = "there is no HIP device";  // and loading RCCL would load a HIP runtime
    return std::nullopt;
  }
  void use(const os::Library& library) {
    int version = 0;
    library.required<int(int*)>("ncclGetVersion")(&version);
    if (version < kOldestNccl) {
      why_ = fmt::format("{} is {} {}; {} or newer is needed", library.path(), name(), nccl_version(version),
                         nccl_version(kOldestNccl));
      return;
    }
    api_.emplace(library);
    description_ = fmt::format("{} ({})", nccl_version(version), library.path());
  }

  const bool hip_;
  const std::vector<std::unique_ptr<Context>>& contexts_;
  Once opened_;
  std::optional<Api> api_;
  std::string description_, why_;
};

}  // namespace

std::unique_ptr<DeviceCollectives> make_nccl(bool hip, const std::vector<std::unique_ptr<Context>>& contexts) {
  return std::make_unique<Nccl>(hip, contexts);
}

}  // namespace catenary::gpu
