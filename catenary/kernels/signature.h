#pragma once
// What a kernel takes that primitives::RunText runs, as its declaration in the text says:
//
//   KERNEL REQD(GROUP) resize(GLOBAL const MEM* RESTRICT x, idx x_at, GLOBAL i32* RESTRICT at, idx at_at, idx n, T
//   scale, idx units)
//
// Arrays of MEM have the dtype that the text is compiled for, those of T its register's (float32 for 16-bit floats),
// others the one that is written; each is followed by the offset of its first element. The other arguments are integers
// (idx) and numbers of a register (T), and the last one is how many units there are.

#include <string>
#include <vector>

#include "catenary/device/primitives.h"

namespace catenary::kernels {

struct TextParameter {
  TextArgument::Kind kind;
  std::string type;  ///< of an array: "MEM", "T", "i32", …
  std::string name;
};

/// All but the offsets and the number of units. Both names are the library's own words. Throws ValueError for a kernel
/// that is not in the text or is declared in another way.
const std::vector<TextParameter>& signature(const char* text, const char* kernel);

/// Throws for what the kernel cannot be called with: ValueError for another number or kind of arguments, DtypeError for
/// an array of another dtype; messages name text, kernel and parameter.
void check_arguments(const primitives::RunText& run);

}  // namespace catenary::kernels
