#include "catenary/kernels/types.h"

#include "catenary/core/format.h"

namespace catenary::kernels {

using ops::Reg;

const char* memory_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::bool_:
    case Dtype::uint8:
      return "u8";
    case Dtype::int8:
      return "i8";
    case Dtype::int16:
      return "i16";
    case Dtype::int32:
      return "i32";
    case Dtype::int64:
      return "i64";
    case Dtype::uint16:
    case Dtype::float16:
    case Dtype::bfloat16:
      return "u16";
    case Dtype::uint32:
      return "u32";
    case Dtype::uint64:
      return "u64";
    case Dtype::float32:
      return "f32";
    case Dtype::float64:
      return "f64";
  }
  fail<DtypeError>("internal: a dtype without a type in kernels");
}

const char* register_type(Reg reg) { return reg == Reg::b ? "b8" : ops::register_name(reg); }

Dtype dtype_of_register(Reg reg) {
  constexpr Dtype dtypes[ops::kRegs] = {Dtype::bool_,  Dtype::int32,   Dtype::int64,
                                        Dtype::uint64, Dtype::float32, Dtype::float64};
  return dtypes[static_cast<int>(reg)];
}

const char* for_units(bool loops) {
  return loops ? "for (idx i = (idx)((i64)(n) * GROUP_ID / NUM_GROUPS), i##_end = (idx)((i64)(n) * (GROUP_ID + 1) / "
                 "NUM_GROUPS); i < i##_end; ++i)"
               : "for (idx i = GLOBAL_ID; i < (n); i += GLOBAL_SIZE)";
}

std::string macro(std::string_view name, std::string_view text) {
  std::string line = fmt::format("#define {} ", name);
  for (char c : text) line += c == '\n' ? " \\\n" : std::string(1, c);
  return line + "\n";
}

}  // namespace catenary::kernels
