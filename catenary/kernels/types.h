#pragma once
// The names of types in kernel texts.

#include <string>
#include <string_view>

#include "catenary/core/dtype.h"
#include "catenary/ops/op.h"

namespace catenary::kernels {

/// Return the names in kernel texts of a dtype's memory type and of a register type: "u16" and "f32" for float16.
const char* memory_type(Dtype dtype);
const char* register_type(ops::Reg reg);
/// Returns the dtype whose memory type is this register type.
Dtype dtype_of_register(ops::Reg reg);

/// Returns the definition of FOR_UNITS(i, n): a loop over the i < n of one work-item, or with `loops`, for thread
/// blocks of a single work-item, over its contiguous range.
const char* for_units(bool loops);

/// Returns the definition of FOR_SEGMENTS(line, from, to, columns, n): the n units are lines of `columns`, and a loop
/// visits [from, to) of a line at a time, one unit, or with `loops` up to SEGMENT. Kernels then divide once for many
/// units.
const char* for_segments(bool loops);

/// Returns `#define NAME TEXT` for a text of several lines.
std::string macro(std::string_view name, std::string_view text);

}  // namespace catenary::kernels
