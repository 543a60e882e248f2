// CUDA's driver interface and HIP's, which is modelled on it: one driver with two tables of names. The libraries are
// found at run time. The declarations follow the public ABI, with the suffixed names that CUDA has had since version 4
// and HIP's numbers since ROCm 5. The vendor's compiler compiles kernels for the present card to a binary, never to
// PTX, which a driver older than the compiler would reject.

#include <atomic>
#include <cstdlib>
#include <optional>

#include "catenary/backends/gpu/driver.h"
#include "catenary/backends/gpu/drivers/find.h"
#include "catenary/backends/gpu/drivers/runtime_compiler.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/core/once.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/trial.h"

namespace catenary::gpu {

namespace {

using Handle = void*;  // context, stream, event, module, function, or device memory

constexpr int kOutOfMemory = 2, kNoDevice = 100, kNotReady = 600;  // equal numbers in CUDA and HIP
constexpr unsigned kStreamNonBlocking = 1, kEventDisableTiming = 2;

/// Numbers of device attributes.
struct Attributes {
  int group_size, local_bytes, compute_units, integrated;
};
constexpr Attributes kCudaAttributes = {1, 8, 16, 18}, kHipAttributes = {56, 74, 63, 16};
constexpr int kCudaMajor = 75, kCudaMinor = 76;

/// Function attributes, by number.
constexpr const char* kOfFunctions[] = {"max_threads_per_block",
                                        "shared_size_bytes",
                                        "const_size_bytes",
                                        "local_size_bytes",
                                        "num_regs",
                                        "ptx_version",
                                        "binary_version",
                                        "cache_mode_ca",
                                        "max_dynamic_shared_size_bytes",
                                        "preferred_shared_memory_carveout"};

struct Api {
  Api(const os::Library& library, bool hip) {
    const auto find = [&](auto& function, const char* cuda_name, const char* hip_name) {
      using F = std::remove_pointer_t<std::remove_reference_t<decltype(function)>>;
      if (const char* name = hip ? hip_name : cuda_name) function = library.required<F>(name);
    };
    find(init, "cuInit", "hipInit");
    find(version, "cuDriverGetVersion", "hipRuntimeGetVersion");
    find(device_count, "cuDeviceGetCount", "hipGetDeviceCount");
    find(device, "cuDeviceGet", "hipDeviceGet");
    find(device_name, "cuDeviceGetName", "hipDeviceGetName");
    find(total_memory, "cuDeviceTotalMem_v2", "hipDeviceTotalMem");
    find(attribute, "cuDeviceGetAttribute", "hipDeviceGetAttribute");
    find(pci, "cuDeviceGetPCIBusId", "hipDeviceGetPCIBusId");
    find(retain, "cuDevicePrimaryCtxRetain", nullptr);
    find(set_context, "cuCtxSetCurrent", nullptr);
    find(set_device, nullptr, "hipSetDevice");
    find(create_stream, "cuStreamCreate", "hipStreamCreateWithFlags");
    find(destroy_stream, "cuStreamDestroy_v2", "hipStreamDestroy");
    find(synchronize, "cuStreamSynchronize", "hipStreamSynchronize");
    find(synchronize_all, "cuCtxSynchronize", "hipDeviceSynchronize");
    find(create_event, "cuEventCreate", "hipEventCreateWithFlags");
    find(destroy_event, "cuEventDestroy_v2", "hipEventDestroy");
    find(record, "cuEventRecord", "hipEventRecord");
    find(stream_wait, "cuStreamWaitEvent", "hipStreamWaitEvent");
    find(wait, "cuEventSynchronize", "hipEventSynchronize");
    find(query, "cuEventQuery", "hipEventQuery");
    find(elapsed, "cuEventElapsedTime", "hipEventElapsedTime");
    find(allocate, "cuMemAlloc_v2", "hipMalloc");
    find(free, "cuMemFree_v2", "hipFree");
    find(allocate_host, "cuMemHostAlloc", "hipHostMalloc");
    find(to_device, "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync");
    find(to_host, "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync");
    find(on_device, "cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync");
    find(cuda_peer, "cuMemcpyPeerAsync", nullptr);
    find(hip_peer, nullptr, "hipMemcpyPeerAsync");
    find(load, "cuModuleLoadData", "hipModuleLoadData");
    find(function, "cuModuleGetFunction", "hipModuleGetFunction");
    find(variable, "cuModuleGetGlobal_v2", "hipModuleGetGlobal");
    find(function_attribute, "cuFuncGetAttribute", "hipFuncGetAttribute");
    find(launch, "cuLaunchKernel", "hipModuleLaunchKernel");
    find(cuda_error_name, "cuGetErrorName", nullptr);
    find(hip_error_name, nullptr, "hipGetErrorName");
    if (!hip) return;
    // The plain name always returns ROCm 5's structure. Headers since ROCm 6 map it to the R0600 name.
    properties = library.function<int(void*, int)>("hipGetDevicePropertiesR0600");
    arch_offset = 1160;
    if (properties) return;
    properties = library.function<int(void*, int)>("hipGetDevicePropertiesR0000");
    if (!properties) properties = library.required<int(void*, int)>("hipGetDeviceProperties");
    arch_offset = 396;
  }

  int (*init)(unsigned flags);
  int (*version)(int*);
  int (*device_count)(int*);
  int (*device)(int*, int ordinal);
  int (*device_name)(char*, int length, int device);
  int (*total_memory)(std::size_t*, int device);
  int (*attribute)(int*, int attribute, int device);
  int (*pci)(char*, int length, int device);
  int (*retain)(Handle* context, int device) = nullptr;
  int (*set_context)(Handle) = nullptr;
  int (*set_device)(int) = nullptr;
  int (*create_stream)(Handle*, unsigned flags);
  int (*destroy_stream)(Handle);
  int (*synchronize)(Handle stream);
  int (*synchronize_all)();
  int (*create_event)(Handle*, unsigned flags);
  int (*destroy_event)(Handle);
  int (*record)(Handle event, Handle stream);
  int (*stream_wait)(Handle stream, Handle event, unsigned flags);
  int (*wait)(Handle event);
  int (*query)(Handle event);
  int (*elapsed)(float* milliseconds, Handle from, Handle to);
  int (*allocate)(Handle*, std::size_t);
  int (*free)(Handle);
  int (*allocate_host)(void**, std::size_t, unsigned flags);
  int (*to_device)(Handle, const void*, std::size_t, Handle stream);
  int (*to_host)(void*, Handle, std::size_t, Handle stream);
  int (*on_device)(Handle, Handle, std::size_t, Handle stream);
  int (*cuda_peer)(Handle to, Handle to_context, Handle from, Handle from_context, std::size_t,
                   Handle stream) = nullptr;
  int (*hip_peer)(Handle to, int to_device, Handle from, int from_device, std::size_t, Handle stream) = nullptr;
  int (*load)(Handle* module, const void*);
  int (*function)(Handle*, Handle module, const char*);
  int (*variable)(Handle* memory, std::size_t* bytes, Handle module, const char*);
  int (*function_attribute)(int*, int attribute, Handle function);
  int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared_bytes,
                Handle stream, void** arguments, void** extra);
  int (*cuda_error_name)(int, const char**) = nullptr;
  const char* (*hip_error_name)(int) = nullptr;
  int (*properties)(void*, int device) = nullptr;
  std::size_t arch_offset = 0;
};

/// Explains an initialisation error of NVIDIA's driver, with the remedy.
std::string cuda_hint(int code) {
  switch (code) {
    case 34:
      return "this libcuda.so.1 is the toolkit's stub: install NVIDIA's driver";
    case kNoDevice:
      return "no NVIDIA GPU is visible: look at nvidia-smi, at CUDA_VISIBLE_DEVICES, and in a container at --gpus all";
    case 803:
      return "the driver's libraries and its kernel module are of different versions: restart the machine (or the "
             "container)";
    case 804:
      return "CUDA's forward-compatibility libraries are on the library path and this card does not take them: remove "
             "them";
    case 999:
      return "the driver's nodes are missing or it has not woken from sleep: run nvidia-modprobe -u -c=0, or restart";
    default:
      return "see dmesg and nvidia-smi";
  }
}

std::string hip_hint(int code) {
  if (!os::exists("/dev/kfd"))
    return os::exists("/dev/dxg")
               ? "under WSL this needs a ROCm for WSL, and a card and Windows driver that it knows"
               : "/dev/kfd is missing: no AMD GPU, its kernel module amdgpu is not loaded, or a container "
                 "was started without --device=/dev/kfd --device=/dev/dri";
  if (code == kNoDevice)
    return "no AMD GPU is visible: is the user in the groups render and video (then log in again), and do "
           "ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES let it through?";
  return "see dmesg and rocminfo";
}

class CudaDriver final : public Driver {
 public:
  explicit CudaDriver(bool hip) : hip_(hip) {
    try {
      open();
    } catch (const Error& error) {
      add_reason(error.what());
      devices_.clear();
    }
  }

  const char* name() const override { return hip_ ? "hip" : "cuda"; }
  int device_count() const override { return static_cast<int>(devices_.size()); }
  const DeviceInfo& info(int device) const override { return devices_[static_cast<std::size_t>(device)]->info; }
  std::string reason() const override { return reason_; }
  std::string defines(int) const override {
    return fmt::format("{}{}", hip_ ? "#define CT_HIP\n" : "", float64_is_off() ? "" : "#define CT_HAS_F64\n");
  }

  void* allocate(int device, std::size_t bytes) override {
    use(device);
    Handle memory = nullptr;
    const int code = api_->allocate(&memory, bytes);
    if (code == kOutOfMemory) return nullptr;
    check(code, "allocate memory", [&] { return fmt::format("{} bytes", bytes); });
    return memory;
  }
  void free(int device, void* handle) noexcept override {
    quietly(device, [&] { api_->free(handle); });
  }

  void* part(int, void* handle, std::size_t offset, std::size_t) override { return at(handle, offset); }
  void free_part(void*) noexcept override {}
  void* allocate_host(int device, std::size_t bytes) override {
    use(device);
    void* memory = nullptr;
    check(api_->allocate_host(&memory, bytes, 0), "allocate pinned memory");
    return memory;
  }

  void write(int device, void* handle, std::size_t offset, const void* from, std::size_t bytes) override {
    check(api_->to_device(at(handle, offset), from, bytes, queue(device)), "copy to the device");
  }
  void read(int device, void* to, void* handle, std::size_t offset, std::size_t bytes) override {
    check(api_->to_host(to, at(handle, offset), bytes, queue(device)), "copy to the host");
  }
  void copy(int device, void* to, std::size_t to_offset, void* from, std::size_t from_offset,
            std::size_t bytes) override {
    check(api_->on_device(at(to, to_offset), at(from, from_offset), bytes, queue(device)), "copy on the device");
  }
  bool has_peers() const override { return true; }
  void copy_from_peer(int device, void* to, std::size_t to_offset, int from_device, void* from, std::size_t from_offset,
                      std::size_t bytes) override {
    const Device& source = use(from_device);
    const Handle stream = queue(device);
    const Device& target = *devices_[static_cast<std::size_t>(device)];
    check(
        hip_ ? api_->hip_peer(at(to, to_offset), target.id, at(from, from_offset), source.id, bytes, stream)
             : api_->cuda_peer(at(to, to_offset), target.context, at(from, from_offset), source.context, bytes, stream),
        "copy between devices", [&] { return fmt::format("from {}:{}", name(), from_device); });
  }

  void* handle_of(int device, void* stream) override {
    const Device& d = use(device);
    return stream ? stream : d.stream;
  }
  void* new_stream(int device) override {
    use(device);
    Handle stream = nullptr;
    check(api_->create_stream(&stream, kStreamNonBlocking), "create a stream");
    return stream;
  }
  void end_stream(int device, void* stream) noexcept override {
    quietly(device, [&] { api_->destroy_stream(stream); });
  }
  void finish(int device, void* stream) override {
    const Device& d = use(device);
    check(api_->synchronize(stream ? stream : d.stream), "wait for the device");
  }
  void synchronize(int device) override {
    use(device);
    check(api_->synchronize_all(), "wait for the device");
  }

  void* create_event(int device, bool timed) override {
    use(device);
    Handle event = nullptr;
    check(api_->create_event(&event, timed ? 0 : kEventDisableTiming), "create an event");
    return event;
  }
  void destroy_event(int device, void* event) noexcept override {
    quietly(device, [&] { api_->destroy_event(event); });
  }
  void record(int device, void* event) override { check(api_->record(event, queue(device)), "record an event"); }
  void wait(int device, int, void* event) override {
    check(api_->stream_wait(queue(device), event, 0), "wait for an event");
  }
  void synchronize_event(int device, void* event) override {
    use(device);
    check(api_->wait(event), "wait for an event");
  }
  bool done(int device, void* event) override {
    use(device);
    const int code = api_->query(event);
    if (code != kNotReady) check(code, "ask for an event");
    return code != kNotReady;
  }
  float elapsed(int device, void* from, void* to) override {
    use(device);
    float milliseconds = 0;
    check(api_->elapsed(&milliseconds, from, to), "ask for the time between events");
    return milliseconds;
  }

  /// Runs the trials that compile() would need.
  void try_compilers() const {
    for (const auto& device : devices_) device->compiler->try_ahead(device->compiler_arch);
  }
  Compiled compile(int device, const std::string& text) override {
    const Device& d = *devices_[static_cast<std::size_t>(device)];
    return {d.compiler->compile(d.compiler_arch, text), nullptr};
  }
  void* load(int device, const Binary& binary) override {
    use(device);
    Handle module = nullptr;
    check(api_->load(&module, binary.data()), "load a kernel's binary");
    return module;
  }
  void* function(int device, void* module, const std::string& name) override {
    use(device);
    auto* function = new Function{nullptr, name};
    check(api_->function(&function->handle, module, name.c_str()), "find a kernel", [&] { return name; });
    return function;
  }
  std::pair<void*, std::size_t> variable(int device, void* module, const std::string& name) override {
    use(device);
    Handle memory = nullptr;
    std::size_t bytes = 0;
    check(api_->variable(&memory, &bytes, module, name.c_str()), "find a variable", [&] { return name; });
    return {memory, bytes};
  }
  std::map<std::string, std::int64_t> attributes(int device, void* function) override {
    use(device);
    std::map<std::string, std::int64_t> told;
    for (int i = 0; i < static_cast<int>(std::size(kOfFunctions)); ++i) {
      int value = 0;
      check(api_->function_attribute(&value, i, static_cast<const Function*>(function)->handle), "ask for an attribute",
            [&] { return fmt::format("{} of a kernel", kOfFunctions[i]); });
      told[kOfFunctions[i]] = value;
    }
    return told;
  }
  void launch(int device, void* function, const LaunchShape& shape, const Args& args) override {
    const Function& f = *static_cast<const Function*>(function);
    const auto where = [&] { return fmt::format("kernel {}, {}", f.name, shape.text()); };
    unsigned groups[3], items[3];
    for (std::size_t k = 0; k < 3; ++k) {
      // CUDA's limits. HIP also limits the work-items of an axis to 32 bits.
      const std::int64_t most = k == 0 ? (std::int64_t{1} << 31) - 1 : 65535;
      if (shape.groups[k] > most || (hip_ && shape.groups[k] * shape.group_size[k] >= std::int64_t{1} << 32))
        fail<DeviceError>("a launch that is too large: {}; axis {} takes up to {} groups{}", where(), "xyz"[k], most,
                          hip_ ? " and 4294967295 work-items" : "");
      groups[k] = static_cast<unsigned>(shape.groups[k]);
      items[k] = static_cast<unsigned>(shape.group_size[k]);
    }
    void* arguments[Args::kMost];
    for (int i = 0; i < args.count(); ++i) arguments[i] = const_cast<void*>(args.data(i));
    const Handle stream = queue(device);
    check(api_->launch(f.handle, groups[0], groups[1], groups[2], items[0], items[1], items[2],
                       static_cast<unsigned>(shape.local_bytes), stream, arguments, nullptr),
          "launch", where);
  }

 private:
  struct Function {
    Handle handle;
    std::string name;
  };
  struct Device {
    int id = 0;
    DeviceInfo info;
    std::shared_ptr<RuntimeCompiler> compiler;
    std::string compiler_arch;
    Once opened;
    Handle context = nullptr, stream = nullptr;
  };

  static Handle at(Handle memory, std::size_t offset) { return static_cast<char*>(memory) + offset; }

  const char* title() const { return hip_ ? "HIP" : "CUDA"; }

  std::string error_name(int code) const {
    const char* name = nullptr;
    if (hip_)
      name = api_->hip_error_name(code);
    else if (api_->cuda_error_name(code, &name) != 0)
      name = nullptr;
    return name ? name : "an unknown error";
  }

  void check(int code, const char* action) const {
    check(code, action, [] { return std::string(); });
  }
  template <class Where>
  void check(int code, const char* action, Where&& where) const {
    if (code == 0) return;
    const std::string what = where();
    // 700 and above: an earlier kernel failed, and the device is unusable
    fail<DeviceError>("{}: cannot {}{}{}{}: {} ({}){}", title(), action, what.empty() ? "" : " (", what,
                      what.empty() ? "" : ")", error_name(code), code, code >= 700 ? last_launches() : "");
  }

  void add_reason(const std::string& text) { reason_ += (reason_.empty() ? "" : "; ") + text; }

  /// Returns the device and makes it current for the calling thread. First use creates its context and stream.
  Device& use(int device) {
    Device& d = *devices_[static_cast<std::size_t>(device)];
    thread_local const void* current[2] = {};  // for CUDA and HIP, which are independent
    d.opened([&] {
      current[hip_] = nullptr;
      if (hip_) {
        check(api_->set_device(d.id), "use the device");
      } else {
        check(api_->retain(&d.context, d.id), "open the device", [&] { return d.info.name; });
        check(api_->set_context(d.context), "use the device");
      }
      check(api_->create_stream(&d.stream, kStreamNonBlocking), "create a stream");
    });
    if (current[hip_] != &d) {
      check(hip_ ? api_->set_device(d.id) : api_->set_context(d.context), "use the device");
      current[hip_] = &d;
    }
    return d;
  }

  /// Runs cleanup that fails only if the device is lost, when failures do not matter.
  template <class F>
  void quietly(int device, F&& f) noexcept {
    try {
      use(device);
      f();
    } catch (...) {
    }
  }

  void open() {
    int hip_major = 0;
    const std::optional<os::Library> library = hip_ ? find_hip(hip_major) : find_cuda();
    if (!library) return;
    api_.emplace(*library, hip_);
    int count = 0;
    int code = api_->init(0);
    if (code == 0) code = api_->device_count(&count);
    if (code != 0 || count == 0) {
      if (code == 0) code = kNoDevice;
      add_reason(fmt::format("{} ({}: {}, {})", hip_ ? hip_hint(code) : cuda_hint(code), library->path(),
                             error_name(code), code));
      return;
    }
    std::vector<std::shared_ptr<RuntimeCompiler>> compilers;
    std::string why;
    if (!hip_)
      compilers = RuntimeCompiler::nvrtc(why);
    else if (auto compiler = RuntimeCompiler::hiprtc(*library, hip_major, why))
      compilers.push_back(std::move(compiler));
    if (compilers.empty()) {
      add_reason(fmt::format("{} has {} device{}, but kernels cannot be compiled: {}", library->path(), count,
                             count == 1 ? "" : "s", why));
      return;
    }
    int version = 0;
    check(api_->version(&version), "ask for the version");
    for (int i = 0; i < count; ++i) {
      try {
        devices_.push_back(describe(i, version, compilers));
      } catch (const DeviceError& error) {
        add_reason(fmt::format("device {} is left out: {}", i, error.what()));
      }
    }
  }

  std::optional<os::Library> find_cuda() {
    std::string why;
    auto library = os::Library::find(os::library_file("cuda", "1"), &why);
    // WSL's driver is in a folder that loaders do not search by default.
    if (!library) library = os::Library::find("/usr/lib/wsl/lib/libcuda.so.1");
    if (!library) add_reason(fmt::format("NVIDIA's driver was not found ({})", why));
    return library;
  }

  /// Two HIP runtimes in one process crash, so use a runtime that is already loaded.
  std::optional<os::Library> find_hip(int& major) {
    constexpr int kNewest = 8, kOldest = 5;
    const auto name = [](int m) { return os::library_file("amdhip64", std::to_string(m)); };
    for (major = kNewest; major >= kOldest; --major)
      if (auto library = os::Library::find(name(major), nullptr, os::Library::Mode::already_loaded)) return library;
    std::string broken;
    for (const bool folders : {false, true}) {
      for (major = kNewest; major >= kOldest; --major) {
        std::string why;
        if (auto library = find_library({name(major)}, folders ? rocm_folders() : std::vector<std::string>(), why))
          return library;
        if (why.find("none of") != 0) broken = why;
      }
    }
    add_reason(!broken.empty()
                   ? broken
                   : fmt::format("AMD's HIP runtime was not found: none of {} … {} on the loader's path or in {}",
                                 name(kNewest), name(kOldest), fmt::join(rocm_folders(), ", ")));
    return std::nullopt;
  }

  int attribute(int number, int id) const {
    int value = 0;
    check(api_->attribute(&value, number, id), "ask for an attribute",
          [&] { return fmt::format("number {}", number); });
    return value;
  }

  std::unique_ptr<Device> describe(int ordinal, int version,
                                   const std::vector<std::shared_ptr<RuntimeCompiler>>& compilers) {
    auto device = std::make_unique<Device>();
    Device& d = *device;
    DeviceInfo& info = d.info;
    check(api_->device(&d.id, ordinal), "get the device");
    char text[256] = {};
    check(api_->device_name(text, sizeof text - 1, d.id), "ask for the name");
    info.name = text;
    info.is_simulated = info.name.starts_with("Simulated ");
    std::fill(std::begin(text), std::end(text), '\0');
    if (api_->pci(text, sizeof text - 1, d.id) == 0) info.pci = text;
    for (char& c : info.pci)
      c = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;  // lower case, as in OpenCL
    check(api_->total_memory(&info.memory_bytes, d.id), "ask for the memory");
    const Attributes& numbers = hip_ ? kHipAttributes : kCudaAttributes;
    info.group_size = attribute(numbers.group_size, d.id);
    info.local_bytes = static_cast<std::size_t>(attribute(numbers.local_bytes, d.id));
    info.compute_units = attribute(numbers.compute_units, d.id);
    info.is_integrated = attribute(numbers.integrated, d.id) != 0;
    info.argument_bytes = 4096;
    info.has_f64 = !float64_is_off();
    if (hip_)
      find_hip_arch(d, compilers.front());
    else
      find_cuda_arch(d, version / 1000, compilers);
    info.platform = hip_ ? "AMD HIP" : "NVIDIA CUDA";
    info.driver = hip_ ? fmt::format("HIP {}.{}.{}", version / 10000000, version / 100000 % 100, version % 100000)
                       : fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
    info.driver += fmt::format(" / {}", d.compiler->name());
    return device;
  }

  void find_hip_arch(Device& d, const std::shared_ptr<RuntimeCompiler>& compiler) {
    std::vector<char> properties(std::size_t{1} << 16);  // more than any version writes
    check(api_->properties(properties.data(), d.id), "ask for the properties");
    const char* arch = properties.data() + api_->arch_offset;
    if (std::strncmp(arch, "gfx", 3) != 0)
      fail<DeviceError>("{}: the runtime does not say its architecture in the way of any ROCm from 5 on", d.info.name);
    d.info.arch = d.compiler_arch = std::string(arch, strnlen(arch, 256));
    d.compiler = compiler;
  }

  /// Chooses a compiler not newer than the driver, otherwise any compiler whose binaries the card can run.
  void find_cuda_arch(Device& d, int driver_major, const std::vector<std::shared_ptr<RuntimeCompiler>>& compilers) {
    const int major = attribute(kCudaMajor, d.id), minor = attribute(kCudaMinor, d.id);
    d.info.arch = fmt::format("sm_{}{}", major, minor);
    for (const bool newer : {false, true}) {
      for (const auto& compiler : compilers) {
        d.compiler_arch = compiler->arch_for(major, minor);
        d.compiler = compiler;
        if ((compiler->major() > driver_major) == newer && !d.compiler_arch.empty()) return;
      }
    }
    std::string known;
    for (const auto& compiler : compilers)
      known += fmt::format("{}{} compiles for sm_{} … sm_{}", known.empty() ? "" : ", ", compiler->name(),
                           compiler->archs().front(), compiler->archs().back());
    const bool old_card = major * 10 + minor < compilers.front()->archs().front();
    fail<DeviceError>(
        "{} needs {}, and {}; {}", d.info.name, d.info.arch, known,
        old_card ? "install the NVRTC of CUDA 12 (libnvrtc.so.12) beside it: CUDA 13 dropped cards before sm_75"
                 : "install the NVRTC of a newer CUDA");
  }

  const bool hip_;
  std::optional<Api> api_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::string reason_;
};

}  // namespace

Driver& cuda_driver() {
  static Driver* driver = new CudaDriver(false);
  return *driver;
}

namespace {

CudaDriver& the_hip_driver() {
  static auto* const driver = new CudaDriver(true);
  return *driver;
}
[[maybe_unused]] const bool trials_are_named = os::add_trials([] { the_hip_driver().try_compilers(); });

}  // namespace

Driver& hip_driver() { return the_hip_driver(); }

}  // namespace catenary::gpu
