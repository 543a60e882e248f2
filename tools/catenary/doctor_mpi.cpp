// G4: the installed MPI, and whether it accepts GPU memory.

#include <fmt/format.h>

#include <array>

#include "catenary/core/os/library.h"
#include "catenary/distributed/launchers.h"
#include "tools/catenary/doctor.h"

namespace catenary::doctor {

namespace {

using nlohmann::ordered_json;

/// The ABIs in use: Open MPI since 3 and before, and MPICH, Intel MPI and MVAPICH.
constexpr const char* kLibraries[] = {"libmpi.so.40", "libmpi.so.20", "libmpi.so.12"};

}  // namespace

ordered_json ask_mpi() {
  ordered_json found = ordered_json::array();
  for (const char* name : kLibraries) {
    const std::optional<os::Library> mpi = os::Library::find(name);
    if (!mpi) continue;
    std::string version = "of an unknown version";
    // may be called before MPI_Init. The longest text of any MPI is 8192 bytes
    if (const auto version_of = mpi->function<int(char*, int*)>("MPI_Get_library_version")) {
      std::array<char, 8193> text{};
      int length = 0;
      if (version_of(text.data(), &length) == 0) version = text.data();
      version = version.substr(0, version.find_first_of(",\n"));
    }
    const auto says = [&](const char* function) {
      const auto query = mpi->function<int()>(function);
      return query && query() == 1;
    };
    found.push_back({{"path", mpi->path()},
                     {"version", version},
                     {"cuda", says("MPIX_Query_cuda_support")},
                     {"rocm", says("MPIX_Query_rocm_support")}});
  }
  return {{"libraries", found}};
}

void check_mpi(const Machine& machine, Report& report) {
  const std::optional<Probe> probe = machine.probe("mpi");
  if (!probe) return;
  if (!probe->failure.empty())
    return report.warn("G4", "MPI " + probe->failure, "install it again; programs of one process work without it");
  const ordered_json libraries = probe->answer.value("libraries", ordered_json::array());
  for (const ordered_json& mpi : libraries) {
    const bool cuda = mpi.value("cuda", false), rocm = mpi.value("rocm", false);
    report.ok("G4", fmt::format("{} ({}): {}", mpi.value("version", std::string()), mpi.value("path", std::string()),
                                cuda && rocm ? "accepts memory of NVIDIA's and AMD's GPUs"
                                : cuda       ? "accepts memory of NVIDIA's GPUs"
                                : rocm       ? "accepts memory of AMD's GPUs"
                                             : "accepts only host memory"));
  }
  if (libraries.size() > 1)
    report.warn("G4", "two kinds of MPI are installed", "start each program with the launcher of its MPI");
  for (const distributed::Launcher& launcher : distributed::mpi_launchers())
    if (const std::string rank = machine.variable(launcher.rank); !rank.empty())
      report.ok("G4", fmt::format("started by {}, as process {}", launcher.name, rank));
}

}  // namespace catenary::doctor
