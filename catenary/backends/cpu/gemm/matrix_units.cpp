// Chooses the instructions that multiply bfloat16 and float32.

#include <array>
#include <atomic>
#include <string>

#if defined(__x86_64__)
#  include <cpuid.h>
#endif

#include "catenary/backends/cpu/gemm/gemm.h"
#include "catenary/core/cpu_features.h"
#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/core/os/tiles.h"

namespace catenary::cpu {
namespace {

constexpr std::array<const char*, 3> kNames = {"widened", "dots", "tiles"};

#if defined(__x86_64__) && !defined(CT_SIMD_NO_V4)

bool processor_has(BfloatUnit unit) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (best_simd_level() != SimdLevel::v4) return false;
  if (unit == BfloatUnit::dots) return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & 1u << 5) != 0;
  constexpr unsigned kTiles = 1u << 22 | 1u << 24;  // AMX-BF16, AMX-TILE
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kTiles) == kTiles;
}

// Returns the reason why a unit is not available, or "".
std::string lack(BfloatUnit unit) {
  if (unit == BfloatUnit::widened) return "";
  if (!processor_has(unit))
    return unit == BfloatUnit::dots ? "this processor has no AVX-512 for bfloat16" : "this processor has no AMX";
  if (unit == BfloatUnit::dots) return "";
  static const std::string refused = os::ask_for_tiles();
  return refused;
}

#else

bool processor_has(BfloatUnit) { return false; }
std::string lack(BfloatUnit unit) {
  return unit == BfloatUnit::widened ? "" : "this build has no instructions for bfloat16";
}

#endif

BfloatUnit initial() {
  const std::string name = environment::text("CATENARY_BFLOAT16");
  // Intel's processors with AMX take two cycles per vector for AVX512_BF16's dot products, which is no gain.
  const bool dots_gain = !processor_has(BfloatUnit::tiles);
  for (BfloatUnit unit : {BfloatUnit::tiles, BfloatUnit::dots, BfloatUnit::widened}) {
    if (name.empty() ? unit == BfloatUnit::dots && !dots_gain : name != kNames[static_cast<std::size_t>(unit)])
      continue;
    const std::string why = lack(unit);
    if (why.empty()) return unit;
    if (!name.empty()) fail<DeviceError>("CATENARY_BFLOAT16={}: {}", name, why);
  }
  return BfloatUnit::widened;
}

std::atomic<BfloatUnit>& current() {
  static std::atomic<BfloatUnit> unit{initial()};
  return unit;
}

FloatUnit initial_of_floats() {
  const std::string name = environment::text("CATENARY_FLOAT32");
  if (name != "tiles") return FloatUnit::vectors;
  const std::string why = lack(BfloatUnit::tiles);
  if (!why.empty()) fail<DeviceError>("CATENARY_FLOAT32={}: {}", name, why);
  return FloatUnit::tiles;
}

std::atomic<FloatUnit>& current_of_floats() {
  static std::atomic<FloatUnit> unit{initial_of_floats()};
  return unit;
}

}  // namespace

bool has_bfloat_unit(BfloatUnit unit) { return lack(unit).empty(); }

BfloatUnit bfloat_unit() { return current().load(std::memory_order_relaxed); }

void set_bfloat_unit(BfloatUnit unit) {
  if (const std::string why = lack(unit); !why.empty())
    fail<DeviceError>("set_bfloat_unit: {}: {}", kNames[static_cast<std::size_t>(unit)], why);
  current().store(unit, std::memory_order_relaxed);
}

FloatUnit float_unit() { return current_of_floats().load(std::memory_order_relaxed); }

void set_float_unit(FloatUnit unit) {
  if (const std::string why = lack(BfloatUnit::tiles); unit == FloatUnit::tiles && !why.empty())
    fail<DeviceError>("set_float_unit: tiles: {}", why);
  current_of_floats().store(unit, std::memory_order_relaxed);
}

bool multiplies_bfloat16() { return simd_level() == SimdLevel::v4 && bfloat_unit() != BfloatUnit::widened; }

bool multiplies_in_tiles(Dtype dtype) {
  if (simd_level() != SimdLevel::v4) return false;
  return dtype == Dtype::float32 ? float_unit() == FloatUnit::tiles
                                 : dtype == Dtype::bfloat16 && bfloat_unit() == BfloatUnit::tiles;
}

std::string matrix_units_info() {
  constexpr std::array<const char*, 3> words = {"float32's kernels", "AVX512_BF16", "AMX"};
  const std::string lacking = lack(BfloatUnit::tiles);
  const BfloatUnit of_bfloats = bfloat_unit();
  const std::string why = of_bfloats == BfloatUnit::tiles ? ""
                          : lacking.empty()               ? " (CATENARY_BFLOAT16)"
                                                          : " (" + lacking + ")";
  return fmt::format("float32 by {}, bfloat16 by {}{}", float_unit() == FloatUnit::tiles ? "AMX" : "vectors",
                     words[static_cast<std::size_t>(of_bfloats)], why);
}

std::string why_widened() {
  const std::string no_tiles = lack(BfloatUnit::tiles);
  if (!no_tiles.empty() && !processor_has(BfloatUnit::dots)) return no_tiles;
  if (simd_level() != SimdLevel::v4)
    return fmt::format("kernels for x86-64-{} are in use, but kernels for bfloat16 require v4",
                       simd_level_name(simd_level()));
  return "CATENARY_BFLOAT16 selects float32's kernels";
}

std::string why_vectors() {
  if (const std::string no_tiles = lack(BfloatUnit::tiles); !no_tiles.empty()) return no_tiles;
  if (simd_level() != SimdLevel::v4)
    return fmt::format("kernels for x86-64-{} are in use, but AMX requires v4", simd_level_name(simd_level()));
  return "AMX multiplies float32 only with CATENARY_FLOAT32=tiles";
}

}  // namespace catenary::cpu
