#pragma once
// The primitives on a GPU. The kernels are in kernels/.

#include "catenary/backends/gpu/context.h"
#include "catenary/device/primitives.h"

namespace catenary::gpu {

using namespace primitives;  // NOLINT: all files here use these names

/// Computes a primitive. Each is defined in the file of its kind, so a missing one is a linker error.
template <class P>
void compute(Context& context, const P& primitive);

}  // namespace catenary::gpu
