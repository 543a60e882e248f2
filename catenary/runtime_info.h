#pragma once
// What a bug report or a log file should begin with: versions, processor, backends and their devices, MPI.

#include <iosfwd>
#include <string>

#include "catenary/core/export.h"

namespace catenary {

/// Lines "Name: value": system, version, processor, and for each backend its devices (name, platform, architecture,
/// driver, memory) or why there is none, NCCL's and RCCL's version and file, and which MPI ranks would use. Looks for
/// drivers, as get_device does.
CT_API std::string runtime_info();
/// Writes runtime_info() to standard output, or to a stream. Of processes that a launcher has started together only the
/// first writes to standard output. (chainer.print_runtime_info)
CT_API void print_runtime_info();
CT_API void print_runtime_info(std::ostream& out);

}  // namespace catenary
