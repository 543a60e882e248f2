#include "tests/simgpu/simulator/device.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace simgpu {

namespace {

/// The same layout as SimState in kernel_shim.h.
struct State {
  Extent thread, block, block_size, grid;
  void (*barrier)();
  void* dynamic_memory;
};

// Switches stacks: saves the registers that a call must preserve and resumes the other stack.
asm(R"(
.text
.local simgpu_switch
.type simgpu_switch, @function
simgpu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size simgpu_switch, . - simgpu_switch
)");
extern "C" void simgpu_switch(void** from, void* to);

struct Function {
  int device = 0;
  std::string name;
  void (*call)(void**) = nullptr;
  std::vector<std::size_t> sizes;
  unsigned group_size = 0;
  bool barriers = false;
  State* state = nullptr;
};

/// Runs the work-items of a thread block, each on a stack of its own. The stacks are reused for the next block.
class Fibers {
 public:
  /// Returns false if some work-items ended without reaching a barrier.
  bool run(const Function& function, void** arguments, Extent group) {
    const auto count = static_cast<unsigned>(group.size());
    function_ = &function;
    arguments_ = arguments;
    while (fibers_.size() < count) fibers_.push_back(make());
    running_ = this;
    function.state->barrier = [] { running_->leave(); };
    std::fill(done_.begin(), done_.end(), false);
    for (;;) {
      unsigned ended = 0;
      for (current_ = 0; current_ < count; ++current_) {
        if (!done_[current_]) {
          function.state->thread = group.at(current_);
          simgpu_switch(&scheduler_, fibers_[current_]);
        }
        ended += done_[current_];
      }
      if (ended == count) return true;
      if (ended) {  // the others wait for ever, so their stacks are dropped
        fibers_.clear();
        done_.clear();
        return false;
      }
    }
  }

 private:
  static constexpr std::size_t kStack = 128 << 10;

  void* make() {
    char* stack = static_cast<char*>(::mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0));
    if (stack == MAP_FAILED) std::abort();
    // Offsets the tops, so that stacks do not compete for the same cache lines.
    stack += kStack - fibers_.size() * 448 % 8192;
    done_.push_back(false);
    void** top = reinterpret_cast<void**>(stack) - 2;  // aligned as after a call
    *--top = nullptr;
    *--top = reinterpret_cast<void*>(&Fibers::body);
    return top - 6;
  }
  void leave() { simgpu_switch(&fibers_[current_], scheduler_); }
  static void body() {
    for (;;) {
      running_->function_->call(running_->arguments_);
      running_->done_[running_->current_] = true;
      running_->leave();
    }
  }

  static thread_local Fibers* running_ __attribute__((tls_model("initial-exec")));
  const Function* function_ = nullptr;
  void** arguments_ = nullptr;
  void* scheduler_ = nullptr;
  std::vector<void*> fibers_;
  std::vector<char> done_;
  unsigned current_ = 0;
};
thread_local Fibers* Fibers::running_ = nullptr;

struct Stream {
  explicit Stream(int d) : device(d) {
    std::thread([this] { run(); }).detach();
  }

  void submit(std::function<int()> work) {
    std::lock_guard lock(mutex);
    queue.push_back(std::move(work));
    ++submitted;
    changed.notify_all();
  }
  std::uint64_t last() {
    std::lock_guard lock(mutex);
    return submitted;
  }
  /// The first error since the device was made. It is never reset.
  int wait_for(std::uint64_t number) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return finished >= number; });
    return error;
  }
  bool has_finished(std::uint64_t number) {
    std::lock_guard lock(mutex);
    return finished >= number;
  }
  void run() {
    for (;;) {
      std::function<int()> work;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return !queue.empty(); });
        work = std::move(queue.front());
        queue.pop_front();
      }
      const int code = error ? error.load() : work();
      std::lock_guard lock(mutex);
      if (code) error = code;
      ++finished;
      changed.notify_all();
    }
  }

  const int device;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<int()>> queue;
  std::uint64_t submitted = 0, finished = 0;
  std::atomic<int> error{0};
};

struct Event {
  Stream* stream = nullptr;
  std::uint64_t number = 0;
  // when the event happened; recording it again makes a new time point
  std::shared_ptr<std::chrono::steady_clock::time_point> time;
  bool timed = false;
};

struct Device {
  std::mutex mutex, running;  // `mutex` guards the tables; `running` lets one kernel run at a time
  std::map<char*, std::size_t> memory;
  std::set<Stream*> streams;
  std::size_t used = 0;
  std::atomic<bool> gone{false};
  Fibers fibers;
};

Device& device_at(int i) {
  static auto* const all = new Device[static_cast<std::size_t>(devices())];  // never freed: their threads outlive main
  return all[i];
}

std::mutex fault_mutex;
std::atomic<bool> lost{false};

std::map<std::string, int>& faults() {
  static auto* all = [] {
    auto* result = new std::map<std::string, int>;
    std::string list = std::getenv("SIMGPU_FAULT") ? std::getenv("SIMGPU_FAULT") : "";
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t end = std::min(list.find(',', at), list.size()), colon = list.find(':', at);
      if (colon < end) (*result)[list.substr(at, colon - at)] = std::atoi(list.c_str() + colon + 1);
      at = end + 1;
    }
    return result;
  }();
  return *all;
}

std::atomic<int> waits{0}, allocations{0};

thread_local int current_device = -1;

/// Returns the code that a call must return: no context, lost device, or success.
int ready() {
  if (fault("lost")) lost = true;
  if (lost) return kIllegalAddress;
  return current_device < 0 ? kInvalidContext : kSuccess;
}

int ready(Stream* stream) {
  if (const int code = ready()) return code;
  if (!stream || stream->device != current_device) return kInvalidHandle;
  return stream->error;
}

/// Returns whether [p, p + bytes) lies in one allocation of the device.
bool is_allocated(Handle p, std::size_t bytes, int device = current_device) {
  Device& d = device_at(device);
  std::lock_guard lock(d.mutex);
  auto after = d.memory.upper_bound(static_cast<char*>(p));
  if (after == d.memory.begin()) return false;
  --after;
  return static_cast<char*>(p) + bytes <= after->first + after->second;
}

/// A kernel argument, in as many 64-bit words as it needs.
using Value = std::vector<std::uint64_t>;

int run_kernel(const Function& f, std::vector<Value> values, Extent groups, Extent group, unsigned dynamic_bytes) {
  Device& d = device_at(f.device);
  std::lock_guard lock(d.running);
  std::vector<void*> arguments;
  for (Value& value : values) arguments.push_back(value.data());
  State& state = *f.state;
  state.block_size = group;
  state.grid = groups;
  // allocates exactly the requested size, so that a sanitizer reports an access beyond it
  const std::unique_ptr<void, decltype(&std::free)> dynamic(dynamic_bytes ? std::malloc(dynamic_bytes) : nullptr,
                                                            std::free);
  state.dynamic_memory = dynamic.get();
  for (unsigned n = 0; n < groups.size(); ++n) {
    state.block = groups.at(n);
    if (f.barriers) {
      if (!d.fibers.run(f, arguments.data(), group)) {
        std::fprintf(stderr, "simgpu: kernel %s: a barrier that not all work-items of group %u come to\n",
                     f.name.c_str(), n);
        return kLaunchFailed;
      }
      continue;
    }
    for (unsigned item = 0; item < group.size(); ++item) {
      state.thread = group.at(item);
      f.call(arguments.data());
    }
  }
  return kSuccess;
}

}  // namespace

int init_code() {
  const char* code = std::getenv("SIMGPU_INIT");
  return code ? std::atoi(code) : 0;
}

int devices() {
  static const int n = std::getenv("SIMGPU_DEVICES") ? std::atoi(std::getenv("SIMGPU_DEVICES")) : 2;
  return n;
}

std::size_t memory_bytes() {
  const char* bytes = std::getenv("SIMGPU_MEMORY");
  return bytes ? std::strtoull(bytes, nullptr, 10) : std::size_t{2} << 30;
}

bool fault(const char* what) {
  std::lock_guard lock(fault_mutex);
  const auto found = faults().find(what);
  return found != faults().end() && found->second > 0 && --found->second == 0;
}

int set_current(int device) {
  if (lost) return kIllegalAddress;
  if (device < 0 || device >= devices()) return kInvalidDevice;
  if (fault("gone")) device_at(device).gone = true;
  if (device_at(device).gone) return kInvalidDevice;
  current_device = device;
  return kSuccess;
}
int current() { return current_device; }

int create_stream(Handle* stream) {
  if (const int code = ready()) return code;
  auto* made = new Stream(current_device);
  Device& d = device_at(current_device);
  std::lock_guard lock(d.mutex);
  d.streams.insert(made);
  *stream = made;
  return kSuccess;
}

/// Submitted work still runs. The thread stays, like the threads of the other streams.
int destroy_stream(Handle stream) {
  auto* s = static_cast<Stream*>(stream);
  if (const int code = ready(s)) return code;
  s->wait_for(s->last());
  Device& d = device_at(current_device);
  std::lock_guard lock(d.mutex);
  d.streams.erase(s);
  return kSuccess;
}

int synchronize(Handle stream) {
  auto* s = static_cast<Stream*>(stream);
  if (const int code = ready(s)) return code;
  ++waits;
  return s->wait_for(s->last());
}
int synchronize_all() {
  if (const int code = ready()) return code;
  ++waits;
  Device& d = device_at(current_device);
  std::set<Stream*> streams;
  {
    std::lock_guard lock(d.mutex);
    streams = d.streams;
  }
  int result = kSuccess;
  for (Stream* stream : streams)
    if (const int code = stream->wait_for(stream->last())) result = code;
  return result;
}

int create_event(Handle* event, bool timed) {
  if (const int code = ready()) return code;
  auto* made = new Event;
  made->timed = timed;
  *event = made;
  return kSuccess;
}
int destroy_event(Handle event) {
  delete static_cast<Event*>(event);
  return kSuccess;
}
int record(Handle event, Handle stream) {
  auto* s = static_cast<Stream*>(stream);
  if (const int code = ready(s)) return code;
  auto& e = *static_cast<Event*>(event);
  e.stream = s;
  if (e.timed) {
    e.time = std::make_shared<std::chrono::steady_clock::time_point>();
    s->submit([time = e.time] {
      *time = std::chrono::steady_clock::now();
      return kSuccess;
    });
  }
  e.number = s->last();
  return kSuccess;
}
int wait(Handle event) {
  if (const int code = ready()) return code;
  const auto* e = static_cast<Event*>(event);
  if (!e->stream) return kSuccess;
  if (!e->stream->has_finished(e->number)) ++waits;
  return e->stream->wait_for(e->number);
}
int stream_wait(Handle stream, Handle event) {
  auto* s = static_cast<Stream*>(stream);
  if (const int code = ready(s)) return code;
  const Event e = *static_cast<Event*>(event);  // copied, because the event may be recorded again
  if (e.stream)
    s->submit([e] {
      e.stream->wait_for(e.number);
      return kSuccess;
    });
  return kSuccess;
}
int query(Handle event) {
  if (const int code = ready()) return code;
  const auto* e = static_cast<Event*>(event);
  return !e->stream || e->stream->has_finished(e->number) ? kSuccess : kNotReady;
}
int elapsed(float* milliseconds, Handle from, Handle to) {
  const auto *a = static_cast<Event*>(from), *b = static_cast<Event*>(to);
  if (!a->time || !b->time) return kInvalidHandle;
  if (query(from) || query(to)) return kNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(*b->time - *a->time).count();
  return kSuccess;
}

int allocate(Handle* memory, std::size_t bytes) {
  if (const int code = ready()) return code;
  if (bytes == 0) return kInvalidValue;
  ++allocations;
  Device& d = device_at(current_device);
  std::lock_guard lock(d.mutex);
  if (fault("alloc") || d.used + bytes > memory_bytes()) return kOutOfMemory;
  char* made = static_cast<char*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  if (!made) return kOutOfMemory;
  // Fills memory with numbers that are conspicuous in a result, because fresh device memory holds arbitrary bytes.
  std::memset(made, 0xcb, std::min<std::size_t>(bytes, 1 << 20));
  d.memory[made] = bytes;
  d.used += bytes;
  *memory = made;
  return kSuccess;
}

int free(Handle memory) {
  if (const int code = ready()) return code;
  Device& d = device_at(current_device);
  std::set<Stream*> streams;
  {
    std::lock_guard lock(d.mutex);
    if (!d.memory.contains(static_cast<char*>(memory))) return kInvalidValue;
    streams = d.streams;
  }
  for (Stream* stream : streams) stream->wait_for(stream->last());
  std::lock_guard lock(d.mutex);
  d.used -= d.memory[static_cast<char*>(memory)];
  d.memory.erase(static_cast<char*>(memory));
  std::free(memory);
  return kSuccess;
}

int allocate_host(void** memory, std::size_t bytes) {
  if (const int code = ready()) return code;
  ++allocations;
  *memory = std::malloc(bytes);
  return *memory ? kSuccess : kOutOfMemory;
}

int to_device(Handle to, const void* from, std::size_t bytes, Handle stream) {
  auto* s = static_cast<Stream*>(stream);
  if (const int code = ready(s)) return code;
  if (fault("copy") || !is_allocated(to, bytes)) return kInvalidValue;
  s->submit([=] {
    std::memcpy(to, from, bytes);
    return kSuccess;
  });
  return kSuccess;
}
int to_host(void* to, Handle from, std::size_t bytes, Handle stream) {
  auto* s = static_cast<Stream*>(stream);
  if (const int code = ready(s)) return code;
  if (fault("copy") || !is_allocated(from, bytes)) return kInvalidValue;
  s->submit([=] {
    std::memcpy(to, from, bytes);
    return kSuccess;
  });
  return kSuccess;
}
int on_device(Handle to, Handle from, std::size_t bytes, Handle stream) {
  auto* s = static_cast<Stream*>(stream);
  if (const int code = ready(s)) return code;
  if (fault("copy") || !is_allocated(to, bytes) || !is_allocated(from, bytes)) return kInvalidValue;
  s->submit([=] {
    std::memmove(to, from, bytes);
    return kSuccess;
  });
  return kSuccess;
}

int between_devices(Handle to, int to_device, Handle from, int from_device, std::size_t bytes, Handle stream) {
  auto* s = static_cast<Stream*>(stream);
  if (const int code = ready(s)) return code;
  if (fault("copy") || !is_allocated(to, bytes, to_device) || !is_allocated(from, bytes, from_device))
    return kInvalidValue;
  s->submit([=] {
    std::memcpy(to, from, bytes);
    return kSuccess;
  });
  return kSuccess;
}

int load(Handle* module, const void* binary) {
  if (const int code = ready()) return code;
  std::uint64_t length = 0;
  std::memcpy(&length, binary, sizeof length);
  const char* code = static_cast<const char*>(binary) + sizeof length;
  if (fault("load") || std::memcmp(code, "\177ELF", 4) != 0) return kInvalidImage;
  // Each load writes a file of its own, so that each device has its own static variables. File names must never repeat
  // within a process: dlopen returns the library that it loaded first under a name. The names of mkstemp do repeat,
  // within some thousand modules.
  ::mkdir(SIMGPU_STORE, 0777);
  static std::atomic<int> count{0};
  const std::string path = SIMGPU_STORE "/module-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
  ::unlink(path.c_str());  // left by a killed process with the same pid
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return kInvalidImage;
  const bool written = ::write(file, code, length) == static_cast<ssize_t>(length);
  ::close(file);
  *module = written ? ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  ::unlink(path.c_str());
  return *module ? kSuccess : kInvalidImage;
}

int function(Handle* function, Handle module, const char* name) {
  if (const int code = ready()) return code;
  const auto symbol = [&](const std::string& s) { return ::dlsym(module, s.c_str()); };
  void* call = symbol(std::string("sim_call_") + name);
  if (!call) return kNotFound;
  auto* f = new Function{current_device, name, reinterpret_cast<void (*)(void**)>(call), {}, 0, false, nullptr};
  for (const int* size = static_cast<int*>(symbol(std::string("sim_sizes_") + name)); *size; ++size)
    f->sizes.push_back(static_cast<std::size_t>(*size));
  f->group_size = static_cast<unsigned>(*static_cast<int*>(symbol(std::string("sim_group_") + name)));
  f->barriers = *static_cast<int*>(symbol(std::string("sim_barriers_") + name)) != 0;
  f->state = static_cast<State*>(symbol("sim_state"));
  *function = f;
  return kSuccess;
}

int variable(Handle* memory, std::size_t* bytes, Handle module, const char* name) {
  if (const int code = ready()) return code;
  *memory = ::dlsym(module, name);
  Dl_info where;
  const ElfW(Sym)* symbol = nullptr;
  if (!*memory ||
      !::dladdr1(*memory, &where, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)), RTLD_DL_SYMENT) ||
      !symbol)
    return kNotFound;
  *bytes = symbol->st_size;
  Device& d = device_at(current_device);
  std::lock_guard lock(d.mutex);
  d.memory[static_cast<char*>(*memory)] = *bytes;  // copies must accept this memory too
  return kSuccess;
}

int function_attribute(int* value, int attribute, Handle function) {
  if (const int code = ready()) return code;
  const auto& f = *static_cast<const Function*>(function);
  // maximum threads of a block, bytes of shared, constant and local memory, registers, PTX version, binary version,
  // cache mode, maximum dynamic shared bytes, carveout
  const int values[] = {f.group_size ? static_cast<int>(f.group_size) : 1024, 0, 0, 0, 24, 75, 90, 0, 48 << 10, -1};
  if (attribute < 0 || attribute >= static_cast<int>(std::size(values))) return kInvalidValue;
  *value = values[attribute];
  return kSuccess;
}

int launch(Handle function, Extent groups, Extent group, unsigned dynamic_bytes, Handle stream, void** arguments,
           bool exact) {
  auto* s = static_cast<Stream*>(stream);
  if (const int code = ready(s)) return code;
  const auto& f = *static_cast<const Function*>(function);
  if (f.device != current_device) return kInvalidHandle;
  constexpr unsigned kMost = 1024, kMostAlongZ = 64, kMostGroups = 65535;
  const unsigned most_bytes = (exact ? 64 : 48) << 10;  // as HIP's and CUDA's attribute say
  const std::uint64_t size = group.size();
  if (groups.size() == 0 || size == 0 || size > kMost || group.z > kMostAlongZ) return kInvalidValue;
  if (groups.y > kMostGroups || groups.z > kMostGroups || dynamic_bytes > most_bytes) return kInvalidValue;
  if (f.group_size && (exact ? size != f.group_size : size > f.group_size)) return kInvalidValue;
  if (fault("launch")) return kLaunchFailed;
  static const bool idle = std::getenv("SIMGPU_IDLE");
  if (idle) return kSuccess;
  std::vector<Value> values(f.sizes.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i].resize((f.sizes[i] + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
    std::memcpy(values[i].data(), arguments[i], f.sizes[i]);
  }
  const bool fails = fault("kernel"), slow = fault("slow");
  s->submit([&f, values = std::move(values), groups, group, dynamic_bytes, fails, slow] {
    if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(250));
    return fails ? static_cast<int>(kIllegalAddress) : run_kernel(f, values, groups, group, dynamic_bytes);
  });
  return kSuccess;
}

const char* error_name(int code) {
  switch (code) {
    case kSuccess:
      return "SIM_SUCCESS";
    case kInvalidValue:
      return "SIM_ERROR_INVALID_VALUE";
    case kOutOfMemory:
      return "SIM_ERROR_OUT_OF_MEMORY";
    case kNoDevice:
      return "SIM_ERROR_NO_DEVICE";
    case kInvalidDevice:
      return "SIM_ERROR_INVALID_DEVICE";
    case kInvalidImage:
      return "SIM_ERROR_INVALID_IMAGE";
    case kInvalidContext:
      return "SIM_ERROR_INVALID_CONTEXT";
    case kInvalidHandle:
      return "SIM_ERROR_INVALID_HANDLE";
    case kNotFound:
      return "SIM_ERROR_NOT_FOUND";
    case kNotReady:
      return "SIM_ERROR_NOT_READY";
    case kIllegalAddress:
      return "SIM_ERROR_ILLEGAL_ADDRESS";
    case kLaunchFailed:
      return "SIM_ERROR_LAUNCH_FAILED";
    default:
      return "SIM_ERROR_UNKNOWN";
  }
}

}  // namespace simgpu

int simgpu_count(const char* what) { return std::strcmp(what, "wait") == 0 ? simgpu::waits : simgpu::allocations; }

void simgpu_fault(const char* what, int n) {
  std::lock_guard lock(simgpu::fault_mutex);
  simgpu::faults()[what] = n;
}

int simgpu_set_current(int device) { return simgpu::set_current(device); }
int simgpu_current() { return simgpu::current(); }

int simgpu_is_allocated(const void* p, std::size_t bytes) {
  return simgpu::ready() == simgpu::kSuccess && simgpu::is_allocated(const_cast<void*>(p), bytes);
}

int simgpu_submit(void* stream, void (*work)(void*), void* data) {
  auto* s = static_cast<simgpu::Stream*>(stream);
  if (const int code = simgpu::ready(s)) return code;
  s->submit([=] {
    work(data);
    return simgpu::kSuccess;
  });
  return simgpu::kSuccess;
}
