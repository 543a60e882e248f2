#include <fmt/format.h>

#include "catenary/backends/cpu/gemm/gemm.h"
#include "catenary/catenary.h"
#include "catenary/core/cpu_features.h"
#include "catenary/core/os/system.h"
#include "catenary/core/parallel.h"
#include "catenary/device/backend.h"
#include "catenary/device/collectives.h"
#include "catenary/device/kernel_cache.h"
#include "catenary/device/libraries.h"
#include "catenary/distributed/launchers.h"
#include "catenary/distributed/transport.h"
#include "catenary/runtime_info.h"
#include "tools/catenary/commands.h"
#include "tools/catenary/device_json.h"

namespace catenary::command {

namespace {

using nlohmann::ordered_json;

/// The libraries of a kind for a device, in order. The CPU's have a separate line.
ordered_json libraries_json(const char* kind, Backend& backend, int device) {
  ordered_json list = ordered_json::array();
  try {
    for (const LibraryInfo& library : libraries(Device(backend, device), kind))
      list.push_back({{"name", library.name}, {"usable", library.usable}, {"detail", library.detail}});
  } catch (const Error& error) {  // an environment variable such as CATENARY_GPU_BLAS requests a missing library
    list.push_back({{"name", ""}, {"usable", false}, {"detail", error.what()}});
  }
  return list;
}

std::string libraries_text(const char* kind, Backend& backend, int device) {
  std::string used, others;
  for (const LibraryInfo& library : libraries(Device(backend, device), kind)) {
    if (library.usable)
      used += fmt::format("{}{} ({})", used.empty() ? "" : ", then ", library.name, library.detail);
    else
      others += fmt::format("; no {}: {}", library.name, library.detail);
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
        device["matmul_providers"] = libraries_json("blas", backend, i);
        device["convolution_providers"] = libraries_json("dnn", backend, i);
        device["attention_providers"] = libraries_json("attention", backend, i);
      }
      object["devices"].push_back(std::move(device));
    }
    object["reason"] = backend.reason();
    if (DeviceCollectives* const collectives = backend.collectives()) {
      std::string why;
      const std::string library = collectives->library(why);
      object["collectives"] = {{"name", collectives->name()}, {"library", library}, {"reason", why}};
    }
  } catch (const Error& error) {
    object["reason"] = error.what();
  }
  return object;
}

/// The kernel cache and the data sets, or why there is none.
struct Folders {
  std::string mnist, no_mnist;
  std::string cache = kernel_cache_folder(), cache_trouble = kernel_cache_trouble();
  KernelCacheStats stats = cache_trouble.empty() ? kernel_cache_stats() : KernelCacheStats();

  Folders() {
    try {
      mnist = datasets::mnist_folder();
    } catch (const Error& error) {
      no_mnist = error.what();
    }
  }
};

ordered_json info_json(const Folders& folders) {
  ordered_json object = {{"schema", 1},
                         {"version", version()},
                         {"system", os::system_name()},
                         {"threads", num_threads()},
                         {"instruction_set", simd_level_name(simd_level())},
                         {"instruction_set_best", simd_level_name(best_simd_level())},
                         {"gemm", cpu::gemm_provider_info()},
                         {"matrix_units", cpu::matrix_units_info()},
                         {"solvers", libraries_json("solver", Device().backend(), 0)},
                         {"backends", ordered_json::array()}};
  for (Backend* backend : backends()) object["backends"].push_back(backend_json(*backend));
  object["kernel_cache"] = {{"folder", folders.cache},
                            {"entries", folders.stats.entries},
                            {"bytes", folders.stats.bytes},
                            {"trouble", folders.cache_trouble}};
  object["mpi"] = distributed::transports::mpi_info();
  object["data"]["mnist"] = folders.mnist.empty() ? ordered_json(nullptr) : ordered_json(folders.mnist);
  return object;
}

void print_line(const char* name, const std::string& value) { fmt::print("{:<16} {}\n", name, value); }

/// Prints the libraries of a kind for each device but the processor.
void print_libraries(const char* kind) {
  for (Backend* backend : backends()) {
    if (backend == &Device().backend()) continue;
    try {
      for (int i = 0; i < backend->device_count(); ++i)
        print_line("", fmt::format("{}:{}: {}", backend->name(), i, libraries_text(kind, *backend, i)));
    } catch (const Error& error) {
      print_line("", fmt::format("{}: {}", backend->name(), error.what()));
    }
  }
}

}  // namespace

int info(bool json) {
  if (!distributed::is_first_rank()) return 0;  // started by a launcher: only the first rank prints
  const Folders folders;
  if (json) {
    fmt::print("{}\n", info_json(folders).dump(2));
    return 0;
  }
  fmt::print("{}", runtime_info());
  print_line("Products:", cpu::gemm_provider_info() + "; " + cpu::matrix_units_info());
  print_libraries("blas");
  print_line("Convolutions:", "own");
  print_libraries("dnn");
  print_line("Attention:", "own");
  print_libraries("attention");
  try {
    print_line("Linear algebra:", libraries_text("solver", Device().backend(), 0));
  } catch (const Error& error) {
    print_line("Linear algebra:", error.what());
  }
  print_line("Kernel cache:", folders.cache.empty() ? "none: CATENARY_CACHE_DIR, XDG_CACHE_HOME and HOME are not set"
                              : !folders.cache_trouble.empty()
                                  ? folders.cache_trouble
                                  : fmt::format("{} ({} kernels, {:.1f} MiB)", folders.cache, folders.stats.entries,
                                                static_cast<double>(folders.stats.bytes) / (1 << 20)));
  print_line("MNIST:", folders.mnist.empty() ? "not found: " + folders.no_mnist : folders.mnist);
  return 0;
}

}  // namespace catenary::command
