#pragma once
// The operations by name. Each change of elementwise.def recompiles all files that include this one.

#include "catenary/ops/op.h"

namespace catenary::ops {

/// All operations of a Program's nodes: the rows of elementwise.def, and operations that the library adds itself.
enum class Op : std::uint16_t {
  constant,  ///< one value for all elements
  load,      ///< an element of a buffer
#define CT_OP(name, ...) name,
#include "catenary/ops/elementwise.def"
#undef CT_OP
  where,  ///< a ? b : c, where a is bool
  cast,   ///< from one register type to another
  ldexp,  ///< a * 2**b, where b is i32
  frexp_exponent,
  narrow_i8,  ///< wraps an i32 to the range of a narrower dtype
  narrow_i16,
  narrow_u8,
  narrow_u16,
  narrow_u32,  ///< wraps an i64
  narrow_f16,  ///< rounds an f32 or f64 to the values of a 16-bit float, keeping the register type
  narrow_bf16,
  count,
};

/// Returns the operation that brings a value into the range of a dtype that is narrower than its register, or Op::count
/// if none is needed.
CT_API Op narrowing(Dtype dtype);

}  // namespace catenary::ops
