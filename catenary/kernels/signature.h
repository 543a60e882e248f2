#pragma once
// The parameters of a kernel that primitives::RunText runs, taken from its declaration in the text:
//
//   KERNEL REQD(GROUP) resize(GLOBAL const MEM* RESTRICT x, idx x_at, GLOBAL i32* RESTRICT at, idx at_at, idx n, T
//   scale, idx units)
//
// Arrays of MEM have the dtype that the text is compiled for, arrays of T its register's dtype (float32 for 16-bit
// floats), other arrays the written type. The offset of its first element follows each array. The other arguments are
// integers (idx) and numbers of a register (T). The last argument is the number of units.

#include <string>
#include <vector>

#include "catenary/device/primitives.h"

namespace catenary::kernels {

struct TextParameter {
  TextArgument::Kind kind;
  std::string type;  ///< of an array: "MEM", "T", "i32", …
  std::string name;
};

/// Returns all parameters but the offsets and the number of units. Both names must be string literals of the library.
/// Throws ValueError for a kernel that is not in the text or has another form of declaration.
const std::vector<TextParameter>& signature(const char* text, const char* kernel);

/// Checks the arguments of a kernel. Throws ValueError for a wrong number or kind of arguments, DtypeError for an array
/// of another dtype. Messages name text, kernel and parameter.
void check_arguments(const primitives::RunText& run);

}  // namespace catenary::kernels
