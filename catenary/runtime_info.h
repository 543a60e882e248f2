#pragma once
// Information for the start of a bug report or a log file: versions, CPU, backends and their devices, MPI.

#include <iosfwd>
#include <string>

#include "catenary/core/export.h"

namespace catenary {

/// Returns lines "Name: value": system, version, CPU, the devices of each backend (name, platform, architecture,
/// driver, memory) or the reason why there are none, version and file of NCCL and RCCL, and the MPI that ranks would
/// use. Searches for drivers, as get_device does.
CT_API std::string runtime_info();
/// Writes runtime_info() to standard output, or to a stream. Among processes started by one launcher, only the first
/// writes to standard output. (chainer.print_runtime_info)
CT_API void print_runtime_info();
CT_API void print_runtime_info(std::ostream& out);

}  // namespace catenary
