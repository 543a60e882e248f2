#pragma once
// Private to *.simd.cpp files: the conversions of core/half.h, branch-free for the vectoriser and with internal
// linkage.

#include "catenary/ops/math.h"

namespace catenary::math {

DEVICE f32 from_half(std::uint16_t h) {
  const u32 magnitude = (h & 0x7fffu) << 13;
  const u32 shifted =
      AS_U32(AS_F32(magnitude) * AS_F32(0x77800000u));  // * 2^112 corrects the exponent, for subnormals too
  const u32 bits = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : shifted;
  return AS_F32(bits | (static_cast<u32>(h & 0x8000u) << 16));
}
DEVICE std::uint16_t to_half(f32 f) {
  const u32 bits = AS_U32(f), magnitude = bits & 0x7fffffffu;
  const u32 normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  const u32 subnormal = AS_U32(AS_F32(magnitude) + 0.5f) - 0x3f000000u;
  u32 half = magnitude < 0x38800000u ? subnormal : normal;
  half = magnitude >= 0x477ff000u ? 0x7c00u : half;
  half = magnitude > 0x7f800000u ? 0x7e00u : half;
  return static_cast<std::uint16_t>(half | ((bits >> 16) & 0x8000u));
}
DEVICE f32 from_bfloat(std::uint16_t b) { return AS_F32(static_cast<u32>(b) << 16); }
DEVICE std::uint16_t to_bfloat(f32 f) { return static_cast<std::uint16_t>(AS_U32(ct_narrow_bf16_f32(f)) >> 16); }

}  // namespace catenary::math
