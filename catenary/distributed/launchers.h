#pragma once
// Private: detects from the environment which launcher started this process as a rank. Does not initialise MPI.

#include <optional>
#include <string>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::distributed {

/// A launcher other than `catenary launch`, and the environment variables that it sets for its ranks.
struct Launcher {
  const char* name;
  const char* rank;
  const char* size;  ///< null if the launcher does not set it
  /// Returns the value of `size` in this process, or "".
  std::string ranks() const;
};
/// Returns the launchers by priority: MPI's variables before those of the batch system.
CT_API const std::vector<Launcher>& mpi_launchers();

/// Returns the rank number that the launcher assigned to this process, or nothing without a launcher.
CT_API std::optional<int> launched_rank();
/// Returns whether this process prints messages: rank 0, or a process without a launcher.
CT_API bool is_first_rank();

}  // namespace catenary::distributed
