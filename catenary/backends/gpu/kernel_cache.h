#pragma once
// What host_compiler.cpp still calls by these names; the header is device/kernel_cache.h.

#include "catenary/device/kernel_cache.h"

namespace catenary::gpu {

using catenary::load_kernel;
using catenary::save_kernel;

}  // namespace catenary::gpu
