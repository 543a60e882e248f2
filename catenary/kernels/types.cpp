#include "catenary/kernels/types.h"

#include "catenary/core/format.h"

namespace catenary::kernels {

using ops::Reg;

const char* memory_type(Dtype dtype) {
  constexpr const char* words[kDtypes] = {
#define CT_DTYPE(id, name, T, kind, npy, safetensors, reg, memory) #memory,
#include "catenary/core/dtypes.def"
  };
  return words[static_cast<int>(dtype)];
}

const char* register_type(Reg reg) { return reg == Reg::b ? "b8" : ops::register_name(reg); }

Dtype dtype_of_register(Reg reg) {
  constexpr Dtype dtypes[ops::kRegs] = {Dtype::bool_,   Dtype::int32,   Dtype::int64,     Dtype::uint64,
                                        Dtype::float32, Dtype::float64, Dtype::complex64, Dtype::complex128};
  return dtypes[static_cast<int>(reg)];
}

const char* for_units(bool loops) {
  return loops ? "for (idx i = (idx)((i64)(n) * GROUP_ID / NUM_GROUPS), i##_end = (idx)((i64)(n) * (GROUP_ID + 1) / "
                 "NUM_GROUPS); i < i##_end; ++i)"
               : "for (idx i = GLOBAL_ID; i < (n); i += GLOBAL_SIZE)";
}

const char* for_segments(bool loops) {
  return loops
             ? "for (idx line##_i = (idx)((i64)(n) * GROUP_ID / NUM_GROUPS), line##_end = (idx)((i64)(n) * (GROUP_ID + "
               "1) / NUM_GROUPS), line = line##_i / (columns), from = line##_i - line * (columns), to = 0; line##_i < "
               "line##_end && (to = from + (SEGMENT < (columns) - from ? SEGMENT : (columns) - from), to = to - from < "
               "line##_end - line##_i ? to : from + (line##_end - line##_i), 1); line##_i += to - from, line += to == "
               "(columns), from = to == (columns) ? 0 : to)"
             : "FOR_UNITS(line##_i, n) for (idx line = line##_i / (columns), from = line##_i - line * (columns), to = "
               "from + 1; from < to; from = to)";
}

std::string macro(std::string_view name, std::string_view text) {
  std::string line = fmt::format("#define {} ", name);
  for (char c : text) line += c == '\n' ? " \\\n" : std::string(1, c);
  return line + "\n";
}

}  // namespace catenary::kernels
