#pragma once
// Private: who may have started this process as one of several ranks, told by the environment. Asking begins nothing.

#include <optional>
#include <string>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::distributed {

/// A launcher that is no `catenary launch`, and the variables that it leaves in the environment of its ranks.
struct Launcher {
  const char* name;
  const char* rank;
  const char* size;  ///< null where it tells none
  /// The value of `size` in this process, or nothing.
  std::string ranks() const;
};
/// In the order in which they count: MPI's own before those of the batch system below.
CT_API const std::vector<Launcher>& mpi_launchers();

/// The number of this process among those that were started together, as their launcher tells it; nothing where none
/// does.
CT_API std::optional<int> launched_rank();
/// Is this the one of them that talks? A process alone is.
CT_API bool is_first_rank();

}  // namespace catenary::distributed
