#include "catenary/distributed/launchers.h"

#include <charconv>
#include <cstdlib>

#include "catenary/core/environment.h"
#include "catenary/distributed/launch.h"

namespace catenary::distributed {

namespace {

std::string variable(const char* name) {
  const char* const value = name ? std::getenv(name) : nullptr;
  return value ? value : "";
}

std::optional<int> number(const std::string& text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && value >= 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string Launcher::ranks() const { return variable(size); }

const std::vector<Launcher>& mpi_launchers() {
  // Slurm's batch scripts have the other variables too, but only a step of srun has SLURM_STEP_NUM_TASKS.
  static const std::vector<Launcher> launchers = {
      {"Open MPI's mpiexec", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"MVAPICH's mpiexec", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
      {"mpiexec of MPICH's kin", "PMI_RANK", "PMI_SIZE"},
      {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
      {"a launcher by PMIx", "PMIX_RANK", nullptr},
  };
  return launchers;
}

std::optional<int> launched_rank() {
  if (const std::string told = environment::text("CATENARY_LAUNCH"); !told.empty())
    return LaunchedRank::parse(told).rank;
  for (const Launcher& launcher : mpi_launchers())
    if (!launcher.size || !launcher.ranks().empty())
      if (const std::optional<int> rank = number(variable(launcher.rank))) return rank;
  return {};
}

bool is_first_rank() { return launched_rank().value_or(0) == 0; }

}  // namespace catenary::distributed
