#pragma once
// The operations by name. Whoever includes this is compiled anew for each change of elementwise.def.

#include "catenary/ops/op.h"

namespace catenary::ops {

/// Every operation that a node of a Program can be: the rows of elementwise.def, and what the library makes itself.
enum class Op : std::uint16_t {
  constant,  ///< the same value everywhere
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
  narrow_f16,  ///< rounds an f32 or f64 to the values of a 16-bit float, which it stays in a register of its own
  narrow_bf16,
  count,
};

/// The operation that brings a value to those of a dtype that is narrower than its register; Op::count where none is.
CT_API Op narrowing(Dtype dtype);

}  // namespace catenary::ops
