#pragma once
// The names of types in kernel texts, for those who write or generate them.

#include <string>
#include <string_view>

#include "catenary/core/dtype.h"
#include "catenary/ops/op.h"

namespace catenary::kernels {

/// The name in kernel texts of a dtype's memory and of a register: "u16" and "f32" for float16.
const char* memory_type(Dtype dtype);
const char* register_type(ops::Reg reg);
/// The dtype whose memory is a register as it is.
Dtype dtype_of_register(ops::Reg reg);

/// What FOR_UNITS(i, n) is defined as: a loop over the i < n that are a work-item's, or, where groups have a single one
/// (`loops`), those of its range.
const char* for_units(bool loops);

/// `#define NAME TEXT` for a text of several lines.
std::string macro(std::string_view name, std::string_view text);

}  // namespace catenary::kernels
