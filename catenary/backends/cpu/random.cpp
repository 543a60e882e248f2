#include "catenary/backends/cpu/random.h"

#include <algorithm>

#include "catenary/core/parallel.h"

namespace catenary::cpu {

namespace {

constexpr std::uint64_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
constexpr int kRounds = 10;

constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

/// kLanes blocks of consecutive counters at once, one word of all of them after the other, so that the compiler
/// vectorises the rounds.
constexpr int kLanes = 16;
void blocks(std::uint64_t first, std::uint64_t seed, std::uint64_t call, std::uint32_t (&out)[4 * kLanes]) {
  std::uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const std::uint64_t index = first + static_cast<std::uint64_t>(l);
    c0[l] = low(index);
    c1[l] = high(index);
    c2[l] = low(call);
    c3[l] = high(call);
  }
  std::uint32_t k0 = low(seed), k1 = high(seed);
  for (int round = 0; round < kRounds; ++round) {
    for (int l = 0; l < kLanes; ++l) {
      const std::uint64_t p0 = kMultiplier0 * c0[l], p1 = kMultiplier1 * c2[l];
      const std::uint32_t n0 = high(p1) ^ c1[l] ^ k0, n2 = high(p0) ^ c3[l] ^ k1;
      c0[l] = n0;
      c1[l] = low(p1);
      c2[l] = n2;
      c3[l] = low(p0);
    }
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  for (int l = 0; l < kLanes; ++l) {
    out[4 * l] = c0[l];
    out[4 * l + 1] = c1[l];
    out[4 * l + 2] = c2[l];
    out[4 * l + 3] = c3[l];
  }
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  const auto word = [](std::uint32_t lower, std::uint32_t upper) { return std::uint64_t{upper} << 32 | lower; };
  std::uint32_t out[4 * kLanes];
  blocks(word(counter[0], counter[1]), word(key[0], key[1]), word(counter[2], counter[3]), out);
  return {out[0], out[1], out[2], out[3]};
}

void random_bits(std::uint32_t* out, std::int64_t n, std::uint64_t seed, std::uint64_t call) {
  constexpr std::int64_t chunk = 4 * kLanes;
  parallel_for((n + chunk - 1) / chunk, 256, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::uint32_t words[chunk];
      blocks(static_cast<std::uint64_t>(i * kLanes), seed, call, words);
      std::copy_n(words, std::min(chunk, n - i * chunk), out + i * chunk);
    }
  });
}

}  // namespace catenary::cpu
