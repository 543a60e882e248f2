#pragma once
// Private to *.simd.cpp files: the prelude of kernel texts on the host, where they are plain loops. A text is included
// in the body of a class with the members `group` and `groups`, which acts as a work-group of one work-item. The
// kernels become the class's functions, and T and MEM may be the class's parameters.
//
//   template <class T>
//   struct LinalgText {
//     i32 group, groups;
//   #include "catenary/kernels/linalg.kernel"
//   };
//
// Use it for texts that are as fast this way as hand-written host code. The class must be in an unnamed namespace, as
// everything that is compiled for several instruction sets.

#include <concepts>
#include <cstdint>

#include "catenary/backends/cpu/half_bits.h"
#include "catenary/ops/math.h"

#define KERNEL void
#define REQD(n)
#define GLOBAL
#define LOCAL
#define LOCAL_ARG
#define RESTRICT __restrict__
#define GROUP 1
#define LOCAL_ID 0
#define GROUP_ID group
#define NUM_GROUPS groups
#define GLOBAL_ID group
#define GLOBAL_SIZE groups
#define FOR_UNITS(i, n) \
  for (idx i = (n)*GROUP_ID / NUM_GROUPS, i##_end = (n) * (GROUP_ID + 1) / NUM_GROUPS; i < i##_end; ++i)
// The parts [from, to) of lines of `columns` units, each at most SEGMENT long (kernels::for_segments).
#define SEGMENT 512
#define FOR_SEGMENTS(line, from, to, columns, n)                                                 \
  for (idx line##_i = (n)*GROUP_ID / NUM_GROUPS, line##_end = (n) * (GROUP_ID + 1) / NUM_GROUPS, \
           line = line##_i / (columns), from = line##_i % (columns), to = 0;                     \
       line##_i < line##_end && (to = segment_end(from, columns, line##_end - line##_i), true);  \
       line##_i += to - from, line += to == (columns), from = to == (columns) ? 0 : to)

// Functions of a register's type, and conversions between memory and register (kernels/memory.kernel).
#define EXP(x) exp_of(x)
#define LOG(x) log_of(x)
#define SQRT(x) sqrt_of(x)
#define FLOOR(x) floor_of(x)
#define CEIL(x) ceil_of(x)
#define RINT(x) rint_of(x)
#define LOAD(p, i) register_of((p)[i])
#define STORE(p, i, x) store((p)[i], x)

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

using math::f32;
using math::f64;
using math::i32;
using math::i64;
using b8 = std::uint8_t;
using idx = i64;

DEVICE idx segment_end(idx from, idx columns, idx rest) {
  const idx left = columns - from < rest ? columns - from : rest;
  return from + (left < SEGMENT ? left : SEGMENT);
}

DEVICE f32 exp_of(f32 x) { return math::ct_exp_f32(x); }
DEVICE f64 exp_of(f64 x) { return math::ct_exp_f64(x); }
DEVICE f32 log_of(f32 x) { return math::ct_log_f32(x); }
DEVICE f64 log_of(f64 x) { return math::ct_log_f64(x); }
DEVICE f32 sqrt_of(f32 x) { return CT_SQRT_F32(x); }
DEVICE f64 sqrt_of(f64 x) { return CT_SQRT_F64(x); }
DEVICE f32 floor_of(f32 x) { return CT_FLOOR_F32(x); }
DEVICE f64 floor_of(f64 x) { return CT_FLOOR_F64(x); }
DEVICE f32 ceil_of(f32 x) { return CT_CEIL_F32(x); }
DEVICE f64 ceil_of(f64 x) { return CT_CEIL_F64(x); }
DEVICE f32 rint_of(f32 x) { return CT_RINT_F32(x); }
DEVICE f64 rint_of(f64 x) { return CT_RINT_F64(x); }

// 16-bit floats in memory.
struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};

// Types for elements that are moved without conversion.
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using math::u32;
using math::u64;

DEVICE f32 register_of(f32 x) { return x; }
DEVICE f64 register_of(f64 x) { return x; }
DEVICE f32 register_of(Half x) { return math::from_half(x.bits); }
DEVICE f32 register_of(Brain x) { return math::from_bfloat(x.bits); }
template <std::unsigned_integral U>
DEVICE U register_of(U x) {
  return x;
}
DEVICE void store(f32& to, f32 x) { to = x; }
DEVICE void store(f64& to, f64 x) { to = x; }
template <std::unsigned_integral U>
DEVICE void store(U& to, U x) {
  to = x;
}
DEVICE void store(Half& to, f32 x) { to.bits = math::to_half(x); }
DEVICE void store(Brain& to, f32 x) { to.bits = math::to_bfloat(x); }

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
