#include "catenary/backends/gpu/micro.h"

#include <algorithm>

#include "catenary/core/cpu_features.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

// A panel that fits the L1 cache: 256 × 32 floats or 512 × 16. The sums of six rows of as many vectors fit the
// processor's registers (32 with AVX-512, otherwise 16) beside their operands.
constexpr int kLanes = 8, kRows = kMicroRows, kPanel = 8192;

int vectors_of_a_panel() { return best_simd_level() == SimdLevel::v4 ? 4 : 2; }

}  // namespace

int micro_width() { return vectors_of_a_panel() * kLanes; }

std::string micro_text() {
  std::string text;
  const auto function = [&](int vectors) {
    text += fmt::format(
        "DEVICE void micro_{}(GLOBAL const T* RESTRICT a, idx a_m, idx a_k, i32 rows, LOCAL_ARG const T* RESTRICT "
        "panel, "
        "i32 depth, LOCAL_ARG T* RESTRICT out) {{\n",
        vectors);
    for (int r = 0; r < kRows; ++r) {
      text += fmt::format("GLOBAL const T* RESTRICT a{} = a + (rows > {} ? {} * a_m : 0);\n", r, r, r);
      for (int v = 0; v < vectors; ++v) text += fmt::format("VEC s{}_{} = (VEC)0;\n", r, v);
    }
    text += "for (i32 kk = 0; kk < depth; ++kk) {\nconst idx at = kk * a_k;\n";
    for (int v = 0; v < vectors; ++v)
      text += fmt::format("const VEC q{} = VLOAD({}, panel + kk * {});\n", v, v, vectors * kLanes);
    for (int r = 0; r < kRows; ++r) {
      text += fmt::format("const VEC p{} = (VEC)(a{}[at]);\n", r, r);
      for (int v = 0; v < vectors; ++v) text += fmt::format("s{}_{} = MADD(p{}, q{}, s{}_{});\n", r, v, r, v, r, v);
    }
    text += "}\n";
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < vectors; ++v) text += fmt::format("VSTORE(s{}_{}, {}, out);\n", r, v, r * vectors + v);
    text += "}\n";
  };
  for (int vectors = 1; vectors <= vectors_of_a_panel(); ++vectors) function(vectors);
  text +=
      "DEVICE void micro(GLOBAL const T* RESTRICT a, idx a_m, idx a_k, i32 rows, LOCAL_ARG const T* RESTRICT "
      "panel, i32 "
      "depth, i32 vectors, LOCAL_ARG T* RESTRICT out) {\n";
  for (int vectors = 1; vectors <= vectors_of_a_panel(); ++vectors)
    text += fmt::format("if (vectors == {}) micro_{}(a, a_m, a_k, rows, panel, depth, out);\n", vectors, vectors);
  return text + "}\n";
}

void add_micro(Defines& defines, const Context& context, Dtype dtype) {
  const std::int64_t line = micro_width() * static_cast<std::int64_t>(itemsize(dtype));
  const std::int64_t depth = std::min<std::int64_t>(kPanel / micro_width(),
                                                    static_cast<std::int64_t>(context.info.local_bytes) / line - kRows);
  defines.insert(defines.end(), {{"LANES", kLanes},
                                 {"VECTORS", vectors_of_a_panel()},
                                 {"ROWS_AT_ONCE", kRows},
                                 {"KBLOCK", depth},
                                 {"VEC", dtype == Dtype::float64 ? "double8" : "float8"},
                                 {"VLOAD", "vload8"},
                                 {"VSTORE", "vstore8"}});
}

}  // namespace catenary::gpu
