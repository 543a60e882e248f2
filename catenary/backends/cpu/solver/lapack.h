#pragma once
// Private to the CPU backend: LAPACK as a provider of linear algebra, loaded at run time.

#include <cstdint>
#include <memory>
#include <string>

#include "catenary/device/providers.h"
#include "catenary/device/solver.h"

namespace catenary::cpu {

/// The largest side of a matrix: the sizes of work areas must fit 32 bits.
inline constexpr std::int64_t kLargestLapack = 30000;

/// Loads a library with LAPACK's Fortran functions. `threads` names its function that sets the number of threads, or is
/// null. Returns null, with the reason, if the library or a function is missing.
std::unique_ptr<Provider<Solve>> open_lapack(const std::string& file, const char* threads, std::string& why);

}  // namespace catenary::cpu
