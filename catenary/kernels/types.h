#pragma once
// The names of types in kernel texts, for those who write or generate them.

#include "catenary/core/dtype.h"
#include "catenary/ops/op.h"

namespace catenary::kernels {

/// The name in kernel texts of a dtype's memory and of a register: "u16" and "f32" for float16.
const char* memory_type(Dtype dtype);
const char* register_type(ops::Reg reg);
/// The dtype whose memory is a register as it is.
Dtype dtype_of_register(ops::Reg reg);

}  // namespace catenary::kernels
