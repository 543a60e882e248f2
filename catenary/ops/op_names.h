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
  count,
};

}  // namespace catenary::ops
