#include <fmt/format.h>

#include "catenary/backends/cpu/gemm.h"
#include "catenary/backends/gpu/gpu_backend.h"
#include "catenary/backends/gpu/kernel_cache.h"
#include "catenary/catenary.h"
#include "catenary/core/cpu_features.h"
#include "catenary/core/os/system.h"
#include "catenary/core/parallel.h"
#include "catenary/device/backend.h"
#include "catenary/device/collectives.h"
#include "catenary/device/matmul_providers.h"
#include "catenary/distributed/launchers.h"
#include "catenary/distributed/transport.h"
#include "catenary/runtime_info.h"
#include "tools/catenary/commands.h"
#include "tools/catenary/device_json.h"

namespace catenary::command {

namespace {

using nlohmann::ordered_json;

using List = std::vector<MatmulProviderInfo> (*)(const Device&);

/// The libraries of matrix products (or convolutions) of a device, in order; the CPU's are a line of their own.
ordered_json providers_json(List providers, Backend& backend, int device) {
  ordered_json list = ordered_json::array();
  try {
    for (const MatmulProviderInfo& provider : providers(Device(backend, device)))
      list.push_back({{"name", provider.name}, {"usable", provider.usable}, {"detail", provider.detail}});
  } catch (const Error& error) {  // CATENARY_GPU_BLAS or CATENARY_GPU_DNN asks for what cannot be had
    list.push_back({{"name", ""}, {"usable", false}, {"detail", error.what()}});
  }
  return list;
}

std::string providers_text(List providers, Backend& backend, int device) {
  std::string used, others;
  for (const MatmulProviderInfo& provider : providers(Device(backend, device))) {
    if (provider.usable)
      used += fmt::format("{}{} ({})", used.empty() ? "" : ", then ", provider.name, provider.detail);
    else
      others += fmt::format("; no {}: {}", provider.name, provider.detail);
  }
  return used + others;
}

ordered_json backend_json(Backend& backend) {
  ordered_json object = {{"name", backend.name()}, {"reason", ""}, {"devices", ordered_json::array()}};
  const bool cpu = &backend == &Device().backend();
  try {
    for (int i = 0; i < backend.device_count(); ++i) {
      ordered_json device = device_json(cpu ? "cpu" : fmt::format("{}:{}", backend.name(), i), backend.info(i));
      if (!cpu) {
        device["matmul_providers"] = providers_json(matmul_providers, backend, i);
        device["convolution_providers"] = providers_json(gpu::convolution_providers, backend, i);
      }
      object["devices"].push_back(std::move(device));
    }
    object["reason"] = backend.reason();
    if (DeviceCollectives* const collectives = collectives_of(backend)) {
      std::string why;
      const std::string library = collectives->library(why);
      object["collectives"] = {{"name", collectives->name()}, {"library", library}, {"reason", why}};
    }
  } catch (const Error& error) {
    object["reason"] = error.what();
  }
  return object;
}

}  // namespace

int info(bool json) {
  if (!distributed::is_first_rank()) return 0;  // one of several that a launcher has started: the first tells
  std::string mnist, no_mnist;
  try {
    mnist = datasets::mnist_folder();
  } catch (const Error& error) {
    no_mnist = error.what();
  }
  const std::string folder = gpu::kernel_cache_folder();
  const std::string trouble = gpu::kernel_cache_trouble();
  const gpu::KernelCacheStats cache = trouble.empty() ? gpu::kernel_cache_stats() : gpu::KernelCacheStats();
  if (json) {
    ordered_json object = {{"schema", 1},
                           {"version", version()},
                           {"system", os::system_name()},
                           {"threads", num_threads()},
                           {"instruction_set", simd_level_name(simd_level())},
                           {"instruction_set_best", simd_level_name(best_simd_level())},
                           {"gemm", cpu::gemm_provider_info()},
                           {"backends", ordered_json::array()}};
    for (Backend* backend : backends()) object["backends"].push_back(backend_json(*backend));
    object["kernel_cache"] = {
        {"folder", folder}, {"entries", cache.entries}, {"bytes", cache.bytes}, {"trouble", trouble}};
    object["mpi"] = distributed::transports::mpi_info();
    object["data"]["mnist"] = mnist.empty() ? ordered_json(nullptr) : ordered_json(mnist);
    fmt::print("{}\n", object.dump(2));
    return 0;
  }
  const auto line = [](const char* name, const std::string& value) { fmt::print("{:<16} {}\n", name, value); };
  fmt::print("{}", runtime_info());
  line("Products:", cpu::gemm_provider_info());
  const auto list = [&](List providers) {
    for (Backend* backend : backends()) {
      if (backend == &Device().backend()) continue;
      try {
        for (int i = 0; i < backend->device_count(); ++i)
          line("", fmt::format("{}:{}: {}", backend->name(), i, providers_text(providers, *backend, i)));
      } catch (const Error& error) {
        line("", fmt::format("{}: {}", backend->name(), error.what()));
      }
    }
  };
  list(matmul_providers);
  line("Convolutions:", "own");
  list(gpu::convolution_providers);
  line("Kernel cache:", folder.empty()     ? "none: CATENARY_CACHE_DIR, XDG_CACHE_HOME and HOME are not set"
                        : !trouble.empty() ? trouble
                                           : fmt::format("{} ({} kernels, {:.1f} MiB)", folder, cache.entries,
                                                         static_cast<double>(cache.bytes) / (1 << 20)));
  line("MNIST:", mnist.empty() ? "not found: " + no_mnist : mnist);
  return 0;
}

}  // namespace catenary::command
