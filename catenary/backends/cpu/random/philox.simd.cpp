// Philox4x32-10, compiled for each instruction set (see core/cpu_features.h).
#include "catenary/backends/cpu/random/philox.h"

namespace catenary::cpu {
namespace CT_SIMD_NAMESPACE {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
constexpr int kRounds = 10;

constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

void philox_groups(std::uint32_t* out, std::int64_t groups, std::uint64_t first, std::uint64_t seed,
                   std::uint64_t call) {
  for (std::int64_t g = 0; g < groups; ++g, out += kPhiloxWords, first += kPhiloxLanes) {
    // Arrays by word with one element per lane, so that the rounds vectorise.
    std::uint32_t c0[kPhiloxLanes], c1[kPhiloxLanes], c2[kPhiloxLanes], c3[kPhiloxLanes];
    for (int l = 0; l < kPhiloxLanes; ++l) {
      const std::uint64_t index = first + static_cast<std::uint64_t>(l);
      c0[l] = low(index);
      c1[l] = high(index);
      c2[l] = low(call);
      c3[l] = high(call);
    }
    std::uint32_t k0 = low(seed), k1 = high(seed);
    for (int round = 0; round < kRounds; ++round) {
      for (int l = 0; l < kPhiloxLanes; ++l) {
        const std::uint64_t p0 = std::uint64_t{kMultiplier0} * c0[l], p1 = std::uint64_t{kMultiplier1} * c2[l];
        c0[l] = high(p1) ^ c1[l] ^ k0;
        c1[l] = low(p1);
        c2[l] = high(p0) ^ c3[l] ^ k1;
        c3[l] = low(p0);
      }
      k0 += kWeyl0;
      k1 += kWeyl1;
    }
    for (int l = 0; l < kPhiloxLanes; ++l) {
      out[4 * l] = c0[l];
      out[4 * l + 1] = c1[l];
      out[4 * l + 2] = c2[l];
      out[4 * l + 3] = c3[l];
    }
  }
}

}  // namespace CT_SIMD_NAMESPACE
}  // namespace catenary::cpu
