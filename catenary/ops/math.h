#pragma once
// Private: the math prelude (math.inc and special.inc) on the host: catenary::math::ct_exp_f32 and similar functions.
// Everything here has internal linkage, because a file that is compiled for several instruction sets must not share
// inline functions between them. Include only headers that the text needs.

#include <cstdint>

namespace catenary::math {

using f32 = float;
using f64 = double;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

// Forced inlining: a call in a loop's body would prevent vectorisation.
#define DEVICE [[maybe_unused, gnu::always_inline]] static inline
#define INLINED  // all are
#define CONSTANT [[maybe_unused]] static constexpr
#define CT_HAS_F64 1
#define IN_ORDER
#define AS_U32(x) __builtin_bit_cast(::catenary::math::u32, (x))
#define AS_F32(x) __builtin_bit_cast(::catenary::math::f32, (x))
#define AS_U64(x) __builtin_bit_cast(::catenary::math::u64, (x))
#define AS_F64(x) __builtin_bit_cast(::catenary::math::f64, (x))
#define CT_SQRT_F32(x) __builtin_sqrtf(x)
#define CT_FLOOR_F32(x) __builtin_floorf(x)
#define CT_CEIL_F32(x) __builtin_ceilf(x)
#define CT_TRUNC_F32(x) __builtin_truncf(x)
#define CT_RINT_F32(x) __builtin_rintf(x)
#define CT_SQRT_F64(x) __builtin_sqrt(x)
#define CT_FLOOR_F64(x) __builtin_floor(x)
#define CT_CEIL_F64(x) __builtin_ceil(x)
#define CT_TRUNC_F64(x) __builtin_trunc(x)
#define CT_RINT_F64(x) __builtin_rint(x)

#include "catenary/ops/math.inc"
#include "catenary/ops/special.inc"

}  // namespace catenary::math
