#include "catenary/core/cpu_features.h"

#if defined(__x86_64__)
#  include <cpuid.h>
#endif

#include <atomic>

#include "catenary/core/environment.h"
#include "catenary/core/format.h"

namespace catenary {
namespace {

SimdLevel detect() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                  __builtin_cpu_supports("bmi2");
#  ifdef CT_SIMD_NO_V4
  return v3 ? SimdLevel::v3 : SimdLevel::v2;
#  else
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? SimdLevel::v4 : v3 ? SimdLevel::v3 : SimdLevel::v2;
#  endif
#else
  return SimdLevel::native;
#endif
}

// The enumerators ascend, except for `native`.
bool has(SimdLevel level) {
  return level == best_simd_level() || (level < best_simd_level() && best_simd_level() != SimdLevel::native);
}

SimdLevel initial_level() {
  const std::string name = environment::text("CATENARY_SIMD");
  for (SimdLevel level : {SimdLevel::v2, SimdLevel::v3, SimdLevel::v4, SimdLevel::native}) {
    if (name != simd_level_name(level)) continue;
    if (!has(level))
      fail<ValueError>("CATENARY_SIMD={}: this CPU has {} at most", name, simd_level_name(best_simd_level()));
    return level;
  }
  return best_simd_level();
}

std::atomic<SimdLevel>& current() {
  static std::atomic<SimdLevel> level{initial_level()};
  return level;
}

}  // namespace

SimdLevel best_simd_level() {
  static const SimdLevel level = detect();
  return level;
}

SimdLevel simd_level() { return current().load(std::memory_order_relaxed); }

void set_simd_level(SimdLevel level) {
  if (!has(level))
    fail<ValueError>("set_simd_level: this CPU has {} at most, not {}", simd_level_name(best_simd_level()),
                     simd_level_name(level));
  current().store(level, std::memory_order_relaxed);
}

std::string_view simd_level_name(SimdLevel level) {
  switch (level) {
    case SimdLevel::v2:
      return "v2";
    case SimdLevel::v3:
      return "v3";
    case SimdLevel::v4:
      return "v4";
    case SimdLevel::native:
      break;
  }
  return "native";
}

std::string cpu_model() {
#if defined(__x86_64__)
  // the brand string: leaves 0x80000002 to 0x80000004, four registers of four characters each
  unsigned registers[13] = {};
  for (unsigned leaf = 0; leaf < 3; ++leaf)
    if (!__get_cpuid(0x80000002u + leaf, &registers[4 * leaf], &registers[4 * leaf + 1], &registers[4 * leaf + 2],
                     &registers[4 * leaf + 3]))
      return "x86-64";
  std::string name = reinterpret_cast<const char*>(registers);
  name.erase(0, name.find_first_not_of(' '));
  return name.substr(0, name.find_last_not_of(' ') + 1);
#else
  return "unknown processor";
#endif
}

}  // namespace catenary
