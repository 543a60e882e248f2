#pragma once
// The primitives on a GPU. The kernels are in kernels/.

#include "catenary/backends/gpu/context.h"
#include "catenary/device/primitives.h"

namespace catenary::gpu {

using namespace primitives;  // NOLINT: what this room is about

/// Computes a primitive. Each is defined in the file of its kind; the linker misses one that is not.
template <class P>
void compute(Context& context, const P& primitive);

}  // namespace catenary::gpu
