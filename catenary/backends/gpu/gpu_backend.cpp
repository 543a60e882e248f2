#include "catenary/backends/gpu/gpu_backend.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <string_view>

#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/backends/gpu/nccl.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/format.h"
#include "catenary/core/once.h"
#include "catenary/core/os/process.h"
#include "catenary/device/kernel_launcher.h"

namespace catenary::gpu {

namespace {

/// A mark in the calling thread's stream of a device.
class Mark {
 public:
  Mark(Driver& driver, int device) : driver_(driver), device_(device), event_(driver.create_event(device, false)) {
    driver.record(device, event_);
  }
  ~Mark() { driver_.destroy_event(device_, event_); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  /// Makes future work on another device wait for the mark.
  void before(int device) const { driver_.wait(device, device_, event_); }

 private:
  Driver& driver_;
  const int device_;
  void* const event_;
};

class GpuBackend : public Backend, public KernelLauncher {
 public:
  GpuBackend(const char* name, Driver& (*driver)()) : name_(name), driver_(driver) {}

  const char* name() const override { return name_; }
  int device_count() const override { return static_cast<int>(state().contexts.size()); }
  DeviceInfo info(int device) const override { return at(device).info; }
  std::string reason() const override { return state().driver.reason(); }

  MemoryPool& pool(int device) override { return at(device).pool; }
  void copy_from_host(int device, void* handle, std::size_t offset, const void* from, std::size_t bytes) override {
    if (bytes) usable(device).write(handle, offset, from, bytes);
  }
  void copy_to_host(int device, void* to, void* handle, std::size_t offset, std::size_t bytes) override {
    if (bytes) usable(device).read(to, handle, offset, bytes);
  }
  bool copy_between(int to_device, void* to, std::size_t to_offset, int from_device, void* from,
                    std::size_t from_offset, std::size_t bytes) override {
    usable(to_device);
    Driver& driver = state().driver;
    if (!driver.has_peers()) return false;
    Mark(driver, from_device).before(to_device);  // after the computation of the values
    driver.copy_from_peer(to_device, to, to_offset, from_device, from, from_offset, bytes);
    Mark(driver, to_device).before(from_device);  // before the values are overwritten
    return true;
  }
  void synchronize(int device) override {
    Context& context = usable(device);
    state().driver.synchronize(device);
    context.range_errors.raise();
  }
  void raise_errors(int device, void* stream) override { at(device).range_errors.raise(stream); }
  DeviceStreams* streams() override {
    if (is_forked()) refuse_forked(name_);
    return &state().driver;
  }
  bool host_addressable() const override { return false; }

  KernelLauncher* launcher() override { return this; }
  std::vector<LibraryInfo> libraries(int device, std::string_view kind) override {
    return gpu::libraries(at(device), kind);
  }

  const Computation* last_computation(int device, ComputationKind kind) override {
    return at(device).computations.last(kind);
  }

  const void* kernel(int device, const UserKernelText& text) override { return &usable(device).user_kernel(text); }
  std::pair<void*, std::size_t> variable(int device, const UserKernelText& text, const std::string& name) override {
    return usable(device).user_variable(text, name);
  }
  std::map<std::string, std::int64_t> attributes(int device, const void* kernel) override {
    return usable(device).driver.attributes(device, static_cast<const Kernel*>(kernel)->function);
  }
  int group_size(int device) const override {
    const Context& context = at(device);
    return context.loops
               ? 1
               : static_cast<int>(std::bit_floor(std::min(256u, static_cast<unsigned>(context.info.group_size))));
  }
  std::int64_t groups_for(int device, std::int64_t items, std::int64_t /*each*/) const override {
    const Context& context = at(device);
    if (context.loops) return loops_over(context, items);
    return context.groups_for(items, group_size(device));
  }

 protected:
  void do_compute(int device, const Primitive& primitive) override {
    Context& context = usable(device);
    std::visit([&](const auto& p) { gpu::compute(context, p); }, primitive);
  }
  void do_launch(int device, const void* kernel, const LaunchShape& shape,
                 std::span<const KernelArgument> arguments) override {
    // no check for a fork here: the kernel comes from kernel(), which rejects forked children
    Args args;
    for (const KernelArgument& argument : arguments) args.add(argument.data, argument.size);
    at(device).launch(*static_cast<const Kernel*>(kernel), shape, args);
  }
  const std::vector<std::unique_ptr<Context>>& contexts() const { return state().contexts; }

 private:
  struct State {
    explicit State(Driver& d) : driver(d) {
      for (int i = 0; i < d.device_count(); ++i) contexts.push_back(std::make_unique<Context>(d, i));
    }
    Driver& driver;
    std::vector<std::unique_ptr<Context>> contexts;
    const int born = os::fork_count();
  };
  State& state() const {
    once_([this] { state_ = new State(driver_()); });
    return *state_;
  }
  Context& at(int device) const { return *state().contexts[static_cast<std::size_t>(device)]; }
  /// Returns the device's context for work on the device.
  Context& usable(int device) const {
    if (is_forked()) refuse_forked(fmt::format("{}:{}", name_, device));
    return at(device);
  }
  /// A forked child lacks the driver's threads, so calls of the driver would hang.
  bool is_forked() const { return state().born != os::fork_count(); }
  [[noreturn]] static void refuse_forked(const std::string& device) {
    fail<DeviceError>(
        "device '{}' was in use before this process was forked, and cannot be used in the child: start processes "
        "anew (multiprocessing's start method 'spawn'), or use the device only after the fork",
        device);
  }

  const char* const name_;
  Driver& (*const driver_)();
  mutable Once once_;
  mutable State* state_ = nullptr;  // never freed, because a driver's threads may outlive main
};

/// The CUDA and HIP backend.
class NcclBackend final : public GpuBackend {
 public:
  using GpuBackend::GpuBackend;
  DeviceCollectives* collectives() override {
    made_([this] { collectives_ = make_nccl(std::string_view(name()) == "hip", contexts()); });
    return collectives_.get();
  }
  std::vector<LibraryInfo> libraries(int device, std::string_view kind) override {
    std::vector<LibraryInfo> list = GpuBackend::libraries(device, kind);
    if (kind.empty() || kind == "collectives") {
      std::string why;
      const std::string found = collectives()->library(why);
      list.push_back({"collectives", collectives()->name(), !found.empty(), found.empty() ? why : found});
    }
    return list;
  }

 private:
  Once made_;
  std::unique_ptr<DeviceCollectives> collectives_;
};

}  // namespace

Backend& make_backend(const char* name, Driver& (*driver)()) {
  if (std::string_view(name) == "opencl") return *new GpuBackend(name, driver);
  return *new NcclBackend(name, driver);
}

}  // namespace catenary::gpu
