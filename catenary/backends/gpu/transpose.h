#pragma once
// Private: copies that change the contiguous axis.

#include "catenary/backends/gpu/context.h"
#include "catenary/ops/program.h"

namespace catenary::gpu {

/// Copies `from` to `to`, of one dtype and over a collapsed shape, in tiles. Returns false, without copying, if the
/// contiguous axes do not differ or there is too little to copy.
bool transpose(Context& context, const Shape& shape, const ops::Access& to, const ops::Access& from);

}  // namespace catenary::gpu
