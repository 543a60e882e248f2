#pragma once
// For processors behind OpenCL: the product of some rows with a panel in local memory, the basis of the kernels for
// them. Uses OpenCL's vector types and generated text, with separate variables for the sums of each number of vectors.

#include <string>

#include "catenary/backends/gpu/context.h"

namespace catenary::gpu {

/// Number of rows per call of `micro`.
inline constexpr int kMicroRows = 6;
/// Returns the number of columns of a panel.
int micro_width();

/// Returns the text of `micro`: out[rows][vectors * LANES] = a[rows][depth] panel[depth][vectors * LANES]. Requires T
/// and MADD in addition to the macros of add_micro.
std::string micro_text();
/// Defines LANES, VECTORS, ROWS_AT_ONCE, VEC, VLOAD and VSTORE, and KBLOCK, the depth at which a panel and the rows of
/// the result fit local memory.
void add_micro(Defines& defines, const Context& context, Dtype dtype);

}  // namespace catenary::gpu
