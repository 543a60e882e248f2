#include "catenary/backends/gpu/matrix_units.h"

#include <cstdlib>
#include <string_view>

#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

struct Units {
  const char* name = "";
  bool f16 = false, bf16 = false, tf32 = false, f32 = false, f64 = false;
};

/// Returns "gfx90a" for "gfx90a:sramecc+:xnack-".
std::string_view chip(const DeviceInfo& info) { return std::string_view(info.arch).substr(0, info.arch.find(':')); }

Units units_of(const DeviceInfo& info) {
  const std::string_view arch = chip(info);
  if (arch.starts_with("sm_")) {
    const int number = std::atoi(info.arch.c_str() + 3);
    if (number < 70) return {};
    const bool ampere = number >= 80;
    return {"Tensor Cores", true, ampere, ampere, false, ampere};
  }
  if (arch == "gfx908") return {"Matrix Cores", true, true, false, true, false};
  if (arch == "gfx90a" || arch.starts_with("gfx94") || arch.starts_with("gfx95"))
    return {"Matrix Cores", true, true, false, true, true};
  if (arch.starts_with("gfx11") || arch.starts_with("gfx12")) return {"Matrix Cores", true, true, false, false, false};
  return {};
}

/// Reads NVIDIA's environment variable, which its libraries obey too.
bool tf32_is_overridden() {
  const char* const value = std::getenv("NVIDIA_TF32_OVERRIDE");
  return value && std::string_view(value) == "0";
}

}  // namespace

std::string matrix_units(const DeviceInfo& info) { return units_of(info).name; }

std::string lacks_matrix_units(const DeviceInfo& info, Dtype dtype, bool tf32) {
  const Units units = units_of(info);
  if (!*units.name) return fmt::format("the device lacks them: {} has no matrix units that are known", chip(info));
  const auto takes_not = [&] { return fmt::format("dtype: {} of {} do not take {}", units.name, chip(info), dtype); };
  switch (dtype) {
    case Dtype::float16:
      return units.f16 ? "" : takes_not();
    case Dtype::bfloat16:
      return units.bf16 ? "" : takes_not();
    case Dtype::float64:
      return units.f64 ? "" : takes_not();
    case Dtype::float32:
      if (units.f32) return "";
      if (!units.tf32) return takes_not();
      if (tf32_is_overridden()) return "TF32 off: NVIDIA_TF32_OVERRIDE is 0";
      return tf32 ? "" : "TF32 off: config.tf32 is false, and Tensor Cores take float32 as TF32 alone";
    default:
      return fmt::format("dtype: no library here multiplies {}", dtype);
  }
}

Computation untold(const char* kind, const char* library, const DeviceInfo& info, Dtype dtype, bool tf32,
                   const std::string& facts) {
  Computation c;
  c.kind = kind;
  c.library = library;
  c.dtype = dtype;
  c.compute = dtype == Dtype::float32 && tf32 ? sums_of(dtype, "float32 or TF32") : sums_of(dtype);
  c.why_not = lacks_matrix_units(info, dtype, tf32);
  c.told = !c.why_not.empty();
  if (!c.told)
    c.why_not =
        fmt::format("{} does not tell; {} of {} take {}; {}", library, matrix_units(info), chip(info), dtype, facts);
  return c;
}

}  // namespace catenary::gpu
