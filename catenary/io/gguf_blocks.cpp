// Converts blocks of GGUF's older kinds to numbers.

#include <algorithm>
#include <cstring>

#include "catenary/core/half.h"
#include "catenary/io/detail_gguf.h"

namespace catenary::io::detail {

namespace {

float half_at(const std::byte* at) {
  float16 value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<float>(value);
}

}  // namespace

bool is_read_as_numbers(std::string_view type) { return type == "Q4_1" || type == "Q5_0" || type == "Q5_1"; }

void numbers_of_blocks(std::string_view type, std::span<const std::byte> blocks, float* to) {
  constexpr int kHalf = 16;  // half a block: byte i holds the numbers i and i + 16
  const bool has_least = type.ends_with("_1"), has_fifth_bits = type.starts_with("Q5");
  const float shift = has_least ? 0 : kHalf;
  const std::byte* at = blocks.data();
  const std::byte* const end = at + blocks.size();
  while (at != end) {
    const float scale = half_at(at);
    at += sizeof(float16);
    float least = 0;
    if (has_least) {
      least = half_at(at);
      at += sizeof(float16);
    }
    std::uint32_t fifth_bits = 0;
    if (has_fifth_bits) {
      std::memcpy(&fifth_bits, at, sizeof fifth_bits);
      at += sizeof fifth_bits;
    }
    for (int i = 0; i < kHalf; ++i, ++at) {
      const auto both = std::to_integer<std::uint32_t>(*at);
      const std::uint32_t low = (both & 15U) | (fifth_bits >> i & 1U) << 4U;
      const std::uint32_t high = both >> 4U | (fifth_bits >> (i + kHalf) & 1U) << 4U;
      to[i] = scale * (static_cast<float>(low) - shift);
      to[i + kHalf] = scale * (static_cast<float>(high) - shift);
      if (!has_least) continue;  // keeps -0
      to[i] += least;
      to[i + kHalf] += least;
    }
    to += ptrdiff_t{2} * kHalf;
  }
}

}  // namespace catenary::io::detail
