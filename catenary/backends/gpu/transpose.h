#pragma once
// Private: copies that change the axis along which elements lie side by side.

#include "catenary/backends/gpu/context.h"
#include "catenary/ops/program.h"

namespace catenary::gpu {

/// Copies `from` to `to`, of one dtype and over a collapsed shape, tile by tile where the neighbours of both lie along
/// different axes and there is enough to copy. False, and nothing has happened, where another way is better.
bool transpose(Context& context, const Shape& shape, const ops::Access& to, const ops::Access& from);

}  // namespace catenary::gpu
