#pragma once
// Private to the CPU backend: the libraries of the kind "solver", which compute dense linear algebra. They are searched
// at run time, at the first call.

#include <cstdint>

#include "catenary/device/providers.h"
#include "catenary/device/solver.h"

namespace catenary::cpu {

/// Returns the libraries, in the order in which they are tried. CATENARY_SOLVER selects one.
Providers<Solve>& solvers();
/// Returns whether a library computes matrices of this dtype, whose larger side is `size`. If not, reports a missing
/// library once if the matrix is large.
bool solves(Dtype dtype, std::int64_t size);

}  // namespace catenary::cpu
