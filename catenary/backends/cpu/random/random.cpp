#include "catenary/backends/cpu/random/random.h"

#include <algorithm>

#include "catenary/backends/cpu/primitives.h"
#include "catenary/backends/cpu/random/philox.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  const auto word = [](std::uint32_t lower, std::uint32_t upper) { return std::uint64_t{upper} << 32 | lower; };
  std::uint32_t out[kPhiloxWords];
  CT_SIMD_SELECT(philox_groups)
  (out, 1, word(counter[0], counter[1]), word(key[0], key[1]), word(counter[2], counter[3]));
  return {out[0], out[1], out[2], out[3]};
}

void random_bits(std::uint32_t* out, std::int64_t n, std::uint64_t seed, std::uint64_t call) {
  const auto groups = CT_SIMD_SELECT(philox_groups);
  const std::int64_t whole = n / kPhiloxWords;
  parallel_for(whole, 256, [&](std::int64_t begin, std::int64_t end) {
    groups(out + begin * kPhiloxWords, end - begin, static_cast<std::uint64_t>(begin * kPhiloxLanes), seed, call);
  });
  if (const std::int64_t rest = n - whole * kPhiloxWords; rest > 0) {
    std::uint32_t words[kPhiloxWords];
    groups(words, 1, static_cast<std::uint64_t>(whole * kPhiloxLanes), seed, call);
    std::copy_n(words, rest, out + whole * kPhiloxWords);
  }
}

template <>
void compute(const RandomBits& p) {
  random_bits(static_cast<std::uint32_t*>(p.out.data()), p.out.size(), p.seed, p.call);
}

}  // namespace catenary::cpu
