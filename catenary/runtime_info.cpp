#include "catenary/runtime_info.h"

#include <fmt/format.h>

#include <iostream>
#include <iterator>

#include "catenary/core/cpu_features.h"
#include "catenary/core/error.h"
#include "catenary/core/os/system.h"
#include "catenary/core/version.h"
#include "catenary/device/backend.h"
#include "catenary/device/collectives.h"
#include "catenary/device/device.h"
#include "catenary/distributed/launchers.h"
#include "catenary/distributed/transport.h"

namespace catenary {

namespace {

double gib(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

std::string describe(const DeviceInfo& info) {
  std::string text = fmt::format("{}, {:.1f} GiB, {} compute units; {}", info.name, gib(info.memory_bytes),
                                 info.compute_units, info.platform);
  if (!info.arch.empty() && info.arch != info.name) text += fmt::format(", {}", info.arch);
  if (!info.driver.empty()) text += fmt::format("; driver {}", info.driver);
  if (info.is_integrated) text += "; shares the processor's memory";
  if (info.is_cpu) text += "; is the processor";
  if (info.is_simulated) text += "; a simulation";
  return text;
}

}  // namespace

std::string runtime_info() {
  std::string text;
  const auto line = [&](const std::string& name, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "{:<16} {}\n", name + ":", value);
  };
  line("Catenary", version());
  line("System", os::system_name());
  for (Backend* backend : backends()) {
    try {
      if (backend == &Device().backend()) {
        const DeviceInfo info = backend->info(0);
        line("cpu", fmt::format("{}, {:.1f} GiB, {} threads, {}", info.name, gib(info.memory_bytes), info.compute_units,
                                info.arch));
        continue;
      }
      const int n = backend->device_count();
      for (int i = 0; i < n; ++i) line(fmt::format("{}:{}", backend->name(), i), describe(backend->info(i)));
      const std::string reason = backend->reason();
      if (n == 0 || !reason.empty())
        line(backend->name(), (n == 0 ? "no device: " : "") + (reason.empty() ? "none was found" : reason));
      if (DeviceCollectives* const collectives = backend->collectives()) {
        std::string why;
        const std::string library = collectives->library(why);
        line(collectives->name(), library.empty() ? "not used: " + why : library);
      }
    } catch (const Error& error) {
      line(backend->name(), error.what());
    }
  }
  line("MPI", distributed::transports::mpi_info());
  return text;
}

void print_runtime_info(std::ostream& out) { out << runtime_info() << std::flush; }
void print_runtime_info() {
  if (distributed::is_first_rank()) print_runtime_info(std::cout);
}

}  // namespace catenary
