// OpenCL 1.2 and later, by a loader found at run time.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>

#include "catenary/backends/gpu/driver.h"
#include "catenary/backends/gpu/drivers/opencl_api.h"
#include "catenary/backends/gpu/drivers/pocl.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/core/os/library.h"
#include "catenary/device/deferred.h"
#include "catenary/device/kernel_cache.h"

namespace catenary::gpu {

namespace {

using namespace opencl;

/// Returns whether the error may come from an earlier kernel.
bool shows_late(cl_int code) { return code == -5 || code == -14 || code == -36; }

/// `what` returns details for the error message.
template <class What>
requires std::is_invocable_v<What>
void check(cl_int code, const char* function, const What& what) {
  if (code == 0) return;
  const std::string more = what();
  fail<DeviceError>("OpenCL: cl{} failed with {} ({}){}{}{}", function, error_name(code), code,
                    more.empty() ? "" : ": ", more, shows_late(code) ? last_launches() : "");
}
void check(cl_int code, const char* function, std::string_view what = {}) {
  check(code, function, [&] { return std::string(what); });
}

/// A kernel by name. Setting arguments modifies an OpenCL kernel object, so each thread has separate ones.
struct Function {
  Handle program;
  std::string name;
  int number;
  mutable std::mutex mutex = {};
  mutable std::set<std::array<std::size_t, 4>> forms = {};

  /// Returns whether the kernel was not launched before in this form: group size, and whether the grid is wide.
  bool is_new(const std::array<std::size_t, 4>& form) const {
    const std::lock_guard lock(mutex);
    return forms.insert(form).second;
  }
};

class OpenclDriver final : public Driver {
 public:
  OpenclDriver() {
    std::string why;
    const auto library = os::Library::find(os::library_file("OpenCL", "1"), &why);
    if (!library) {
      reason_ = fmt::format(
          "OpenCL's loader was not found ({}): on Debian and Ubuntu, `apt install ocl-icd-libopencl1`", why);
      return;
    }
    try {
      no_cache_ = find_pocl_cache();
      api_.emplace(*library);
      find_devices();
    } catch (const Error& error) {
      reason_ = error.what();
      devices_.clear();
    }
  }

  const char* name() const override { return "opencl"; }
  int device_count() const override { return static_cast<int>(devices_.size()); }
  const DeviceInfo& info(int device) const override { return at(device).info; }
  std::string reason() const override { return reason_; }
  std::string defines(int device) const override {
    const DeviceInfo& info = at(device).info;
    return fmt::format("{}{}{}", info.has_f64 ? "#define CT_HAS_F64\n" : "",
                       info.has_atomic64 ? "#define CT_HAS_ATOMIC64\n" : "",
                       info.platform == "rusticl" ? "#define CT_FMA_IS_SLOW\n" : "");
  }

  void* allocate(int device, std::size_t bytes) override {
    const Device& d = at(device);
    if (bytes > d.largest_buffer) return nullptr;
    cl_int code = 0;
    Handle buffer = api_->CreateBuffer(d.context, kMemReadWrite, bytes, nullptr, &code);
    for (cl_int out_of_memory : kOutOfMemory)
      if (code == out_of_memory) return nullptr;
    check(code, "CreateBuffer", [&] { return fmt::format("{} bytes", bytes); });
    return buffer;
  }
  void free(int, void* handle) noexcept override { api_->ReleaseMemObject(handle); }
  void* part(int, void* handle, std::size_t offset, std::size_t bytes) override {
    const std::size_t region[2] = {offset, bytes};
    cl_int code = 0;
    Handle part = api_->CreateSubBuffer(handle, kMemReadWrite, kBufferRegion, region, &code);
    check(code, "CreateSubBuffer", [&] { return fmt::format("{} bytes at {}", bytes, offset); });
    return part;
  }
  void free_part(void* part) noexcept override { api_->ReleaseMemObject(part); }
  void* allocate_host(int device, std::size_t bytes) override {
    const Device& d = at(device);
    cl_int code = 0;
    Handle buffer = api_->CreateBuffer(d.context, kMemReadWrite | kMemHost, bytes, nullptr, &code);
    check(code, "CreateBuffer", "pinned memory");
    void* memory = api_->EnqueueMapBuffer(d.queue, buffer, 1, kMapReadWrite, 0, bytes, 0, nullptr, nullptr, &code);
    check(code, "EnqueueMapBuffer", "pinned memory");
    return memory;
  }

  void write(int device, void* handle, std::size_t offset, const void* from, std::size_t bytes) override {
    check(api_->EnqueueWriteBuffer(queue(device), handle, 0, offset, bytes, from, 0, nullptr, nullptr),
          "EnqueueWriteBuffer");
  }
  void read(int device, void* to, void* handle, std::size_t offset, std::size_t bytes) override {
    check(api_->EnqueueReadBuffer(queue(device), handle, 0, offset, bytes, to, 0, nullptr, nullptr),
          "EnqueueReadBuffer");
  }
  void copy(int device, void* to, std::size_t to_offset, void* from, std::size_t from_offset,
            std::size_t bytes) override {
    check(api_->EnqueueCopyBuffer(queue(device), from, to, from_offset, to_offset, bytes, 0, nullptr, nullptr),
          "EnqueueCopyBuffer");
  }

  void* handle_of(int device, void* stream) override { return stream ? stream : at(device).queue; }
  void* new_stream(int device) override {
    const Device& d = at(device);
    cl_int code = 0;
    Handle queue = api_->CreateCommandQueue(d.context, d.id, kQueueProfiling, &code);
    check(code, "CreateCommandQueue", d.info.name);
    std::lock_guard lock(streams_mutex_);
    streams_.emplace(queue, device);
    return queue;
  }
  void end_stream(int, void* stream) noexcept override {
    std::lock_guard lock(streams_mutex_);
    streams_.erase(stream);
    api_->ReleaseCommandQueue(stream);
  }
  void finish(int device, void* stream) override { check(api_->Finish(stream ? stream : at(device).queue), "Finish"); }
  void synchronize(int device) override {
    check(api_->Finish(at(device).queue), "Finish");
    std::vector<Handle> queues;
    {
      std::lock_guard lock(streams_mutex_);
      for (const auto& [queue, of] : streams_)
        if (of == device) queues.push_back(queue);
    }
    for (Handle queue : queues) check(api_->Finish(queue), "Finish");
  }

  void* create_event(int, bool timed) override { return new Event{.is_timed = timed}; }
  void destroy_event(int, void* event) noexcept override {
    forget(*static_cast<Event*>(event));
    delete static_cast<Event*>(event);
  }
  void record(int device, void* event) override {
    Event& e = *static_cast<Event*>(event);
    forget(e);
    check(api_->EnqueueMarkerWithWaitList(queue(device), 0, nullptr, &e.marker), "EnqueueMarkerWithWaitList");
    if (e.is_timed && !at(device).times_markers) e.completed = completion_of(e.marker);
    check(api_->Flush(queue(device)), "Flush");  // otherwise another queue might wait forever
  }
  void wait(int device, int event_device, void* event) override {
    // a context accepts only its device's events
    if (event_device != device) return synchronize_event(event_device, event);
    if (const Event& e = *static_cast<Event*>(event); e.marker)
      check(api_->EnqueueBarrierWithWaitList(queue(device), 1, &e.marker, nullptr), "EnqueueBarrierWithWaitList");
  }
  void synchronize_event(int, void* event) override {
    if (const Event& e = *static_cast<Event*>(event); e.marker)
      check(api_->WaitForEvents(1, &e.marker), "WaitForEvents");
  }
  bool done(int, void* event) override {
    const Event& e = *static_cast<Event*>(event);
    if (!e.marker) return true;
    cl_int status = 0;
    check(api_->GetEventInfo(e.marker, kEventStatus, sizeof status, &status, nullptr), "GetEventInfo");
    if (status < 0) check(status, "GetEventInfo", "what was submitted before the event failed");
    return status == 0;
  }
  float elapsed(int device, void* from, void* to) override {
    const Event &begin = *static_cast<Event*>(from), &end = *static_cast<Event*>(to);
    if (!at(device).times_markers)
      return std::chrono::duration<float, std::milli>(end.completed.get() - begin.completed.get()).count();
    const auto nanoseconds = static_cast<std::int64_t>(time_of(end.marker) - time_of(begin.marker));
    return static_cast<float>(nanoseconds) * 1e-6f;
  }

  Compiled compile(int device, const std::string& text) override {
    const Device& d = at(device);
    Handle program = nullptr;
    // When several processes, such as ranks, compile one text at once, they collide in PoCL's cache, and one of them
    // fails without a compiler message. So it tries again.
    for (int left = 4; !program; --left) program = built(d, text, left > 0);
    // if the binary is requested, PoCL compiles a kernel twice: for any group size, and for the launched one
    if (!keeps_kernels()) return {{}, program};
    std::size_t size = 0;
    check(api_->GetProgramInfo(program, kProgramBinarySizes, sizeof(size), &size, nullptr), "GetProgramInfo");
    Binary binary(size);
    std::byte* at = binary.data();
    check(api_->GetProgramInfo(program, kProgramBinaries, sizeof(at), &at, nullptr), "GetProgramInfo");
    if (!is_whole(d, binary)) binary.clear();
    return {std::move(binary), program};
  }
  void* load(int device, const Binary& binary) override {
    const Device& d = at(device);
    if (!is_whole(d, binary)) fail<DeviceError>("OpenCL: a binary without code");
    const std::size_t size = binary.size();
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    cl_int code = 0, status = 0;
    Handle program = api_->CreateProgramWithBinary(d.context, 1, &d.id, &size, &bytes, &status, &code);
    check(code ? code : status, "CreateProgramWithBinary");
    check(api_->BuildProgram(program, 1, &d.id, d.options.c_str(), nullptr, nullptr), "BuildProgram", "from a binary");
    return program;
  }
  void* function(int, void* module, const std::string& name) override {
    cl_int code = 0;
    Handle kernel = api_->CreateKernel(module, name.c_str(), &code);  // detects a wrong name here
    check(code, "CreateKernel", name);
    auto* function = new Function{module, name, functions_.fetch_add(1)};
    thread_kernels()[function->number] = kernel;
    return function;
  }
  std::map<std::string, std::int64_t> attributes(int device, void* function) override {
    std::map<std::string, std::int64_t> told;
    const auto ask = [&](const char* name, cl_uint what, auto value) {
      check(api_->GetKernelWorkGroupInfo(kernel_of(*static_cast<Function*>(function)), at(device).id, what,
                                         sizeof value, &value, nullptr),
            "GetKernelWorkGroupInfo", name);
      told[name] = static_cast<std::int64_t>(value);
    };
    ask("max_threads_per_block", kKernelWorkGroupSize, std::size_t{});
    ask("shared_size_bytes", kKernelLocalMemSize, cl_ulong{});
    ask("local_size_bytes", kKernelPrivateMemSize, cl_ulong{});
    return told;
  }
  void launch(int device, void* function, const LaunchShape& shape, const Args& args) override {
    const Function& f = *static_cast<Function*>(function);
    Handle kernel = kernel_of(f);
    for (int i = 0; i < args.count(); ++i)
      check(api_->SetKernelArg(kernel, static_cast<cl_uint>(i), args.size(i), args.data(i)), "SetKernelArg",
            [&] { return fmt::format("argument {} of kernel {}", i, f.name); });
    if (shape.local_bytes)
      check(api_->SetKernelArg(kernel, static_cast<cl_uint>(args.count()), shape.local_bytes, nullptr), "SetKernelArg",
            [&] { return fmt::format("{} bytes of a group of kernel {}", shape.local_bytes, f.name); });
    std::size_t local[3], global[3];
    for (std::size_t k = 0; k < 3; ++k) {
      local[k] = static_cast<std::size_t>(shape.group_size[k]);
      global[k] = static_cast<std::size_t>(shape.groups[k]) * local[k];
    }
    check(api_->EnqueueNDRangeKernel(queue(device), kernel, static_cast<cl_uint>(shape.ndim()), nullptr, global, local,
                                     0, nullptr, nullptr),
          "EnqueueNDRangeKernel", [&] { return fmt::format("kernel {}, {}", f.name, shape.text()); });
    // PoCL links a new form of a kernel at its launch, in a thread of its own that starts the system's linker. If the
    // program changes an environment variable meanwhile, the start can fail, and PoCL aborts.
    constexpr std::size_t pocl_narrow_grid = 65535;
    if (at(device).is_pocl &&
        f.is_new({local[0], local[1], local[2], *std::ranges::max_element(global) > pocl_narrow_grid}))
      check(api_->Finish(queue(device)), "Finish");
  }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Event {
    Handle marker = nullptr;
    std::shared_future<Time> completed = {};  // time of the host's clock, if the driver does not time markers
    const bool is_timed;
  };
  struct Device {
    Handle id = nullptr, context = nullptr, queue = nullptr;
    std::size_t largest_buffer = 0;
    bool times_markers = true, is_pocl = false;
    std::string options;
    DeviceInfo info;
  };

  /// The calling thread's kernels, by the number of the function. Never freed, like programs.
  static std::unordered_map<int, Handle>& thread_kernels() {
    thread_local std::unordered_map<int, Handle> kernels;
    return kernels;
  }
  Handle kernel_of(const Function& f) const {
    Handle& kernel = thread_kernels()[f.number];
    if (kernel) return kernel;
    cl_int code = 0;
    kernel = api_->CreateKernel(f.program, f.name.c_str(), &code);
    check(code, "CreateKernel", f.name);
    return kernel;
  }
  inline static const ThreadState kernels_of_thread{[] { thread_kernels(); }};

  /// Returns the program of a text. Returns null if the text is not at fault and `may_fail`.
  Handle built(const Device& d, const std::string& text, bool may_fail) const {
    const char* source = text.c_str();
    cl_int code = 0;
    Handle program = api_->CreateProgramWithSource(d.context, 1, &source, nullptr, &code);
    check(code, "CreateProgramWithSource");
    code = api_->BuildProgram(program, 1, &d.id, d.options.c_str(), nullptr, nullptr);
    if (code == 0) return program;
    std::size_t length = 0;
    api_->GetProgramBuildInfo(program, d.id, kProgramBuildLog, 0, nullptr, &length);
    std::string log(length, '\0');
    api_->GetProgramBuildInfo(program, d.id, kProgramBuildLog, length, log.data(), nullptr);
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    api_->ReleaseProgram(program);
    if (may_fail && log.ends_with("failed to build the program") && log.find("error") == std::string::npos)
      return nullptr;
    check(code, "BuildProgram", log);
    return nullptr;
  }

  /// PoCL reads a program's code from files that its other processes may be writing. A binary made meanwhile may lack
  /// the code, and would crash the process that loads it.
  static bool is_whole(const Device& device, const Binary& binary) {
    if (!device.is_pocl) return true;
    constexpr std::string_view bitcode = "BC\xC0\xDE";
    const std::string_view text(reinterpret_cast<const char*>(binary.data()), binary.size());
    return text.find(bitcode) != std::string_view::npos;
  }

  const Device& at(int device) const { return devices_[static_cast<std::size_t>(device)]; }
  void forget(Event& event) const {
    if (event.marker) api_->ReleaseEvent(event.marker);
    event.marker = nullptr;
  }

  /// Returns the time in nanoseconds at which the device reached a marker. If the driver does not know, returns a small
  /// number: rusticl of Mesa 22 returns 3.
  cl_ulong time_of(Handle marker) const {
    cl_ulong nanoseconds = 0;
    check(api_->GetEventProfilingInfo(marker, kProfilingEnd, sizeof nanoseconds, &nanoseconds, nullptr),
          "GetEventProfilingInfo");
    return nanoseconds;
  }
  /// Returns the time at which the host learns that a marker was reached.
  std::shared_future<Time> completion_of(Handle marker) const {
    auto promise = std::make_unique<std::promise<Time>>();
    std::shared_future<Time> time = promise->get_future().share();
    const auto reached = [](Handle, cl_int, void* waiting) {
      const std::unique_ptr<std::promise<Time>> kept(static_cast<std::promise<Time>*>(waiting));
      kept->set_value(std::chrono::steady_clock::now());
    };
    check(api_->SetEventCallback(marker, kComplete, +reached, promise.get()), "SetEventCallback");
    promise.release();  // now owned by the callback
    return time;
  }

  template <class T>
  T number(Handle id, cl_uint what) const {
    T value{};
    api_->GetDeviceInfo(id, what, sizeof(T), &value, nullptr);
    return value;
  }
  template <class Get>
  static std::string text(Get get, Handle id, cl_uint what) {
    std::size_t length = 0;
    if (get(id, what, 0, nullptr, &length) != 0 || length == 0) return {};
    std::string value(length, '\0');
    get(id, what, length, value.data(), nullptr);
    while (!value.empty() && value.back() == '\0') value.pop_back();
    return value;
  }

  void find_devices() {
    cl_uint n = 0;
    const cl_int code = api_->GetPlatformIDs(0, nullptr, &n);
    if (code == kNoPlatform || (code == 0 && n == 0)) {
      reason_ = os::no_opencl_driver();
      return;
    }
    check(code, "GetPlatformIDs");
    std::vector<Handle> platforms(n);
    check(api_->GetPlatformIDs(n, platforms.data(), nullptr), "GetPlatformIDs");
    std::vector<Device> cards, processors;
    for (Handle platform : platforms) {
      const std::string platform_name = text(api_->GetPlatformInfo, platform, kPlatformName);
      if (platform_name == "Clover")
        continue;  // Mesa's old driver supports OpenCL 1.1 only and crashes on newer
                   // features
      cl_uint count = 0;
      if (api_->GetDeviceIDs(platform, kDeviceTypeAll, 0, nullptr, &count) != 0 || count == 0) continue;
      std::vector<Handle> ids(count);
      if (api_->GetDeviceIDs(platform, kDeviceTypeAll, count, ids.data(), nullptr) != 0) continue;
      for (Handle id : ids) {
        Device device = describe(id, platform_name, text(api_->GetPlatformInfo, platform, kPlatformVersion));
        if (!device.id) continue;
        (device.info.is_cpu ? processors : cards).push_back(std::move(device));
      }
    }
    for (std::vector<Device>* found : {&cards, &processors}) {
      for (Device& device : *found) {
        try {
          open(device);
          devices_.push_back(std::move(device));
        } catch (const Error& error) {
          leave_out(device.info, error.what());
        }
      }
    }
    if (devices_.empty() && reason_.empty()) reason_ = "OpenCL's platforms offer no device";
    if (devices_.empty() && !no_cache_.empty()) reason_ += "; " + no_cache_;
  }

  /// Creates the device's context and queue, and tests how it times markers.
  void open(Device& device) const {
    cl_int status = 0;
    device.context = api_->CreateContext(nullptr, 1, &device.id, nullptr, nullptr, &status);
    check(status, "CreateContext", device.info.name);
    device.queue = api_->CreateCommandQueue(device.context, device.id, kQueueProfiling, &status);
    check(status, "CreateCommandQueue", device.info.name);
    Handle marker = nullptr;
    check(api_->EnqueueMarkerWithWaitList(device.queue, 0, nullptr, &marker), "EnqueueMarkerWithWaitList");
    check(api_->WaitForEvents(1, &marker), "WaitForEvents");
    device.times_markers = time_of(marker) > 1000;
    api_->ReleaseEvent(marker);
  }

  void leave_out(const DeviceInfo& info, const std::string& why) {
    reason_ += fmt::format("{}'{}' of {} is left out: {}", reason_.empty() ? "" : "; ", info.name, info.platform, why);
  }

  /// Returns the bus address in the format of CUDA and HIP (without the domain for AMD's extension), or "".
  std::string pci_of(Handle id, const std::string& extensions) const {
    const auto tells = [&](const char* extension) { return extensions.find(extension) != std::string::npos; };
    const auto ask = [&](cl_uint what, auto& value) {
      return api_->GetDeviceInfo(id, what, sizeof value, &value, nullptr) == 0;
    };
    if (PciBusInfo at{}; tells("cl_khr_pci_bus_info") && ask(kDevicePciBusInfo, at))
      return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", at.domain, at.bus, at.device, at.function);
    if (tells("cl_nv_device_attribute_query")) {
      cl_uint domain = 0, bus = 0, slot = 0;  // old drivers have no domain
      ask(kDevicePciDomainNv, domain);
      if (ask(kDevicePciBusNv, bus) && ask(kDevicePciSlotNv, slot))
        return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, slot >> 3, slot & 7);
    }
    if (TopologyAmd at{};
        tells("cl_amd_device_attribute_query") && ask(kDeviceTopologyAmd, at) && at.type == TopologyAmd::kPcie)
      return fmt::format("{:02x}:{:02x}.{:x}", at.bus, at.device, at.function);
    return {};
  }

  /// Returns the device, or one without id (and with a reason) if it cannot be used.
  Device describe(Handle id, const std::string& platform, const std::string& platform_version) {
    Device device;
    DeviceInfo& info = device.info;
    const auto get = api_->GetDeviceInfo;
    info.name = text(get, id, kDeviceName);
    info.platform = platform;
    device.is_pocl = platform == "Portable Computing Language";
    const std::string version = text(get, id, kDeviceVersion);  // "OpenCL 1.2 …"
    const std::string extensions = text(get, id, kDeviceExtensions);
    if (!number<cl_uint>(id, kDeviceAvailable) || !number<cl_uint>(id, kDeviceCompilerAvailable) ||
        version.compare(0, 7, "OpenCL ") != 0 || version.compare(7, 3, "1.2") < 0) {
      leave_out(info, fmt::format("it says {}, and 1.2 with a compiler is needed", version));
      return device;
    }
    info.is_cpu = number<cl_bitfield>(id, kDeviceType) & kDeviceTypeCpu;
    info.is_integrated = !info.is_cpu && number<cl_uint>(id, kDeviceHostUnifiedMemory);
    info.driver = fmt::format("{} / {} / {}", platform_version, version, text(get, id, kDriverVersion));
    info.arch = info.name;
    info.is_simulated = info.name.starts_with("Simulated ");
    info.pci = pci_of(id, extensions);
    info.memory_bytes = number<cl_ulong>(id, kDeviceGlobalMemSize);
    info.local_bytes = number<cl_ulong>(id, kDeviceLocalMemSize);
    info.argument_bytes = number<std::size_t>(id, kDeviceMaxParameterSize);
    info.alignment = number<cl_uint>(id, kDeviceMemBaseAddrAlign) / 8;
    info.compute_units = static_cast<int>(number<cl_uint>(id, kDeviceMaxComputeUnits));
    info.group_size = static_cast<int>(number<std::size_t>(id, kDeviceMaxWorkGroupSize));
    info.has_addresses = false;
    info.has_f64 = number<cl_bitfield>(id, kDeviceDoubleFpConfig) != 0 && !float64_is_off();
    info.has_atomic64 = extensions.find("cl_khr_int64_base_atomics") != std::string::npos;
    device.largest_buffer = number<cl_ulong>(id, kDeviceMaxMemAllocSize);
    device.options = "-cl-std=CL1.2";
    if (number<cl_bitfield>(id, kDeviceSingleFpConfig) & kCorrectlyRoundedDivideSqrt)
      device.options += " -cl-fp32-correctly-rounded-divide-sqrt";
    device.id = id;
    return device;
  }

  std::optional<Api> api_;
  std::vector<Device> devices_;
  std::string reason_, no_cache_;
  std::atomic<int> functions_{0};
  std::mutex streams_mutex_;
  std::map<Handle, int> streams_;  // with their devices
};

}  // namespace

Driver& opencl_driver() {
  static Driver* driver = new OpenclDriver;
  return *driver;
}

}  // namespace catenary::gpu
