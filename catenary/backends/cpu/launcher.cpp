#include "catenary/backends/cpu/launcher.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "catenary/backends/cpu/host_compiler.h"
#include "catenary/backends/gpu/source.h"
#include "catenary/core/cpu_features.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/core/parallel.h"
#include "catenary/device/kernel_launcher.h"

namespace catenary::cpu {

namespace {

struct Kernel {
  HostKernel function;
  std::string name;
};

/// Groups are parts of the work; the work-items of one come one after the other, so that they cannot wait for each
/// other.
class HostLauncher final : public KernelLauncher {
 public:
  const void* kernel(int, const UserKernelText& text) override {
    if (!text.portable)
      fail<DeviceError>(
          "kernel {}: the processor takes portable texts only, and this one is in a device's own language", text.name);
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Kernel>& kernel =
        kernels_[fmt::format("{}\n{}\n{}", simd_level_name(simd_level()), text.function, text.text)];
    if (!kernel) kernel = std::make_unique<Kernel>(compile(text));
    return kernel.get();
  }
  std::pair<void*, std::size_t> variable(int, const UserKernelText&, const std::string& name) override {
    fail<DeviceError>("{}: modules of the processor's have no variables", name);
  }
  std::map<std::string, std::int64_t> attributes(int, const void*) override {
    return {};  // the compiler tells of none
  }
  int group_size(int) const override { return 1; }
  std::int64_t groups_for(int, std::int64_t items, std::int64_t each) const override {
    constexpr std::int64_t kWorthATurn = 4096;  // elements, below which another thread costs more than it does
    const std::int64_t turns = std::min<std::int64_t>(items * each / kWorthATurn, 4 * num_threads());
    return std::clamp<std::int64_t>(turns, 1, std::max<std::int64_t>(items, 1));
  }

 protected:
  void do_launch(int, const void* given, const LaunchShape& shape, std::span<const KernelArgument> arguments) override {
    const Kernel& kernel = *static_cast<const Kernel*>(given);
    if (shape.ndim() > 1)
      fail<DeviceError>("kernel {}, {}: a portable text knows the first axis only", kernel.name, shape.text());
    const std::int64_t items = shape.items_of_group();
    std::vector<const void*> values;
    std::vector<std::size_t> sizes;
    for (const KernelArgument& argument : arguments) {
      values.push_back(argument.data);
      sizes.push_back(argument.size);
    }
    values.push_back(&items);
    sizes.push_back(sizeof items);
    kernel.function.check(sizes);
    try {
      kernel.function.run(values.data(), shape.group_count());
    } catch (std::int32_t) {  // prelude_host.kernel's BARRIER
      fail<DeviceError>(
          "kernel {}, {}: its work-items wait for each other (BARRIER), which on the processor those of groups of "
          "several "
          "cannot; other devices (cuda:N, hip:N, opencl:N) can",
          kernel.name, shape.text());
    }
  }

 private:
  static Kernel compile(const UserKernelText& text) {
    const std::string name(text.name);
    if (const std::string why = no_host_compiler(); !why.empty())
      fail<DeviceError>(
          "kernel {}: {}. Or put its arguments on a device with a compiler (cuda:N, hip:N, opencl:N), or give an "
          "ElementwiseKernel a function for the CPU (.cpu)",
          name, why);
    const std::string source =
        gpu::assemble_source("host", "#define CT_HAS_F64\n", {}, text.text) +
        fmt::format(
            "\nextern \"C\" void ct_run(const void* const* values, i64 part, i64 parts) {{ ct_run_group({}, "
            "values, part, parts); }}\nextern \"C\" const i64* ct_run_sizes() {{ return ct_sizes_of({}); }}\n",
            text.function, text.function);
    // as this library's own loops are compiled, for their bits
    std::vector<std::string> flags = {"-fwrapv", "-fno-trapping-math"};
    if (simd_level() != SimdLevel::native)
      flags.push_back(fmt::format("-march=x86-64-{}", simd_level_name(simd_level())));
    return {HostKernel(compile_on_host(source, name, flags), "ct_run", name, 1), name};
  }

  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

}  // namespace

KernelLauncher& launcher() {
  static HostLauncher* const launcher = new HostLauncher;
  return *launcher;
}

}  // namespace catenary::cpu
