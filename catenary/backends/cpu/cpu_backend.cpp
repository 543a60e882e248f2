#include "catenary/backends/cpu/cpu_backend.h"

#include <cstdlib>
#include <cstring>

#include "catenary/backends/cpu/computations.h"
#include "catenary/backends/cpu/gemm/gemm.h"
#include "catenary/backends/cpu/host_compiler.h"
#include "catenary/backends/cpu/launcher.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/backends/cpu/rows/rows.h"
#include "catenary/backends/cpu/solver/libraries.h"
#include "catenary/core/cpu_features.h"
#include "catenary/core/format.h"
#include "catenary/core/os/memory.h"
#include "catenary/core/parallel.h"
#include "catenary/core/version.h"
#include "catenary/device/backend.h"
#include "catenary/device/kernel_launcher.h"
#include "catenary/device/libraries.h"

namespace catenary::cpu {

namespace {

// Up to this size malloc is faster than a pool, and reuses its pages.
constexpr std::size_t kMallocBelow = std::size_t{64} << 10;

/// Does not split blocks: virtual addresses cost nothing, and large blocks keep their huge pages.
class HostMemory final : public MemorySource {
 public:
  std::string name() const override { return "cpu"; }
  std::size_t total_bytes() const override { return os::physical_memory_bytes(); }
  void* allocate(std::size_t bytes) override {
    if (bytes <= kMallocBelow) return std::malloc(bytes);
    try {
      return os::allocate(bytes);
    } catch (const Error&) {
      return nullptr;
    }
  }
  void free(void* block, std::size_t bytes) noexcept override {
    if (bytes <= kMallocBelow) {
      std::free(block);
    } else {
      os::deallocate(block, bytes);
    }
  }
};

class CpuBackend final : public Backend, public Solver, public RowFunctions {
 public:
  const char* name() const override { return "cpu"; }
  int device_count() const override { return 1; }
  DeviceInfo info(int) const override {
    DeviceInfo info;
    info.name = cpu_model();
    info.platform = "Catenary";
    info.arch = simd_level_name(simd_level());
    info.driver = version();
    info.memory_bytes = os::physical_memory_bytes();
    info.compute_units = num_threads();
    info.is_cpu = true;
    info.local_bytes = HostKernel::kLocalBytes;
    info.group_size = HostKernel::kMostItems;
    return info;
  }
  std::vector<LibraryInfo> libraries(int, std::string_view kind) override {
    std::vector<LibraryInfo> all;
    if (kind.empty() || kind == "blas") all = gemm_libraries();
    if (kind.empty() || kind == "solver")
      for (LibraryInfo& info : solvers().info()) all.push_back(std::move(info));
    return all;
  }
  const Computation* last_computation(int, ComputationKind kind) override { return cpu::last_computation(kind); }
  bool convolves_channels_last(int, Dtype dtype) const override {
    return dtype == Dtype::bfloat16 && multiplies_in_tiles(dtype);
  }
  bool multiplies_into_float32(int, Dtype dtype) const override {
    return dtype == Dtype::bfloat16 && multiplies_bfloat16();
  }
  bool solves(int, Dtype dtype, std::int64_t size) override { return cpu::solves(dtype, size); }
  void solve(int, const Solve& request) override {
    if (!solvers().run(request)) fail<DeviceError>("cpu: no library computes {}", describe(request));
  }
  void run(const SoftmaxRows& request) override { cpu::run(request); }
  void run(const StandardizeRows& request) override { cpu::run(request); }
  void run(const GeluElements& request) override { cpu::run(request); }
  void run(const RecurrentStep& request) override { cpu::run(request); }
  void run(const PackedBits& request) override { cpu::run(request); }
  std::string reason() const override { return {}; }
  bool host_addressable() const override { return true; }
  MemoryPool& pool(int) override { return pool_; }
  void copy_from_host(int, void* handle, std::size_t offset, const void* from, std::size_t bytes) override {
    std::memcpy(static_cast<char*>(handle) + offset, from, bytes);
  }
  void copy_to_host(int, void* to, void* handle, std::size_t offset, std::size_t bytes) override {
    std::memcpy(to, static_cast<char*>(handle) + offset, bytes);
  }
  void synchronize(int) override {}
  KernelLauncher* launcher() override { return &cpu::launcher(); }

 protected:
  void do_compute(int, const Primitive& primitive) override {
    std::visit([](const auto& p) { cpu::compute(p); }, primitive);
  }

 private:
  MemoryPool pool_{std::make_unique<HostMemory>(), {.direct_below = kMallocBelow}};
};

}  // namespace

Backend& backend() {
  static Backend* instance = new CpuBackend;
  return *instance;
}

}  // namespace catenary::cpu
