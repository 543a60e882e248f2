#pragma once
// For processors behind OpenCL: the product of some rows with a panel in local memory, which the kernels for them are
// made of. It is OpenCL's vector types, and text that the host writes: for each number of vectors its sums are in
// variables of their own.

#include <string>

#include "catenary/backends/gpu/context.h"

namespace catenary::gpu {

/// Rows that `micro` takes at a time.
inline constexpr int kMicroRows = 6;
/// Columns of a panel.
int micro_width();

/// `micro`: out[rows][vectors * LANES] = a[rows][depth] panel[depth][vectors * LANES]. Wants T and MADD besides what
/// add_micro defines.
std::string micro_text();
/// Defines of LANES, VECTORS, ROWS_AT_ONCE, VEC, VLOAD and VSTORE, and of KBLOCK: how deep a panel is, so that local
/// memory holds it and the rows of the result.
void add_micro(Defines& defines, const Context& context, Dtype dtype);

}  // namespace catenary::gpu
