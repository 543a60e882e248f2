#pragma once
// ops/: the definition of each operation, once for all devices. The rows of elementwise.def and reductions.def become
// tables here. The math prelude has their functions. A Program is a sequence of operations over one shape, without
// branches. Nothing here knows memory, devices or arrays.

#include <cstdint>
#include <string_view>

#include "catenary/core/dtype.h"
#include "catenary/core/export.h"

namespace catenary::ops {

/// The types in which arithmetic happens. Narrower dtypes are widened at load and narrowed at store.
enum class Reg : std::uint8_t { b, i32, i64, u64, f32, f64, c64, c128 };
/// The number of register types.
inline constexpr int kRegs = 8;

/// Returns the set of one register type.
constexpr unsigned reg_bit(Reg r) { return 1u << static_cast<int>(r); }
/// Sets of register types.
inline constexpr unsigned FLT = reg_bit(Reg::f32) | reg_bit(Reg::f64);
inline constexpr unsigned INT = reg_bit(Reg::i32) | reg_bit(Reg::i64) | reg_bit(Reg::u64);
inline constexpr unsigned NUM = INT | FLT;
inline constexpr unsigned BITS = reg_bit(Reg::b) | INT;
inline constexpr unsigned ALL = reg_bit(Reg::b) | NUM;
inline constexpr unsigned BOOL_ONLY = reg_bit(Reg::b);
inline constexpr unsigned CPX = reg_bit(Reg::c64) | reg_bit(Reg::c128);

/// How the dtype of a result follows from the promoted dtype of the operands, as in NumPy 2.
enum class Rule : std::uint8_t {
  ARITH,          ///< the operands' dtype
  ARITH_INT8,     ///< the operands' dtype, but int8 for bool
  ARITH_NO_BOOL,  ///< the operands' dtype, bool is refused
  FLOAT,          ///< floats stay, integers of 1, 2 and more bytes give float16, float32, float64
  DIVIDE,         ///< floats stay, integers give float64
  ROUND,          ///< floats are rounded, integers are returned unchanged
  COMPARE,        ///< bool
  PREDICATE,      ///< operands as for FLOAT, result bool
  BITS,           ///< bool and integers only
  SHIFT,          ///< integers only, bool becomes int8
  INTEGER,        ///< integers only, bool is refused
  COUNT,          ///< operands as for SHIFT, result uint8
  INTERNAL,       ///< not an array function: made by the library itself
};

// The operations. Their names are in ops/op_names.h, so that a new row of elementwise.def recompiles only the files
// that need names.
enum class Op : std::uint16_t;

/// The properties of a row.
struct OpInfo {
  const char* name;
  int arity;
  unsigned registers;  ///< without those of complex numbers
  Rule rule;
  const char* expression;  ///< C text over a, b, c and T, empty for load, constant and cast
  const char* description;
};
/// Returns the properties of a row of elementwise.def or reductions.def.
CT_API const OpInfo& info(Op op);

/// The result of an operation on complex numbers: a complex number, a real one, a bool, or undefined.
enum class OfComplex : std::uint8_t { undefined, value, part, truth };
/// Returns the result type from the row of complex.def.
CT_API OfComplex of_complex(Op op);

/// Returns the register type of a complex number's parts; other types unchanged.
constexpr Reg part_register(Reg r) { return r == Reg::c64 ? Reg::f32 : r == Reg::c128 ? Reg::f64 : r; }
constexpr bool is_complex(Reg r) { return r >= Reg::c64; }
/// Returns the C text of a row for operands in a register type: that of elementwise.def, or for complex numbers a call
/// of the function with the row's name.
CT_API std::string_view expression(Op op, Reg operands);

/// Reductions over axes.
enum class Reduce : std::uint8_t {
#define CT_REDUCE(name, ...) name,
#include "catenary/ops/reductions.def"
#undef CT_REDUCE
  count,
};
/// The properties of a reduction.
struct ReduceInfo {
  const char* name;
  unsigned registers;
  const char* combine;   ///< C text over a and b
  const char* identity;  ///< C text over T
};
CT_API const ReduceInfo& info(Reduce op);
/// Return the C text over a and b, and the identity, for a register type.
CT_API std::string_view combine(Reduce op, Reg reg);
CT_API std::string_view identity(Reduce op, Reg reg);

/// Returns the register type that holds a dtype.
constexpr Reg register_of(Dtype d) {
  constexpr Reg regs[kDtypes] = {
#define CT_DTYPE(id, name, T, kind, npy, safetensors, reg, memory) Reg::reg,
#include "catenary/core/dtypes.def"
  };
  return regs[static_cast<int>(d)];
}
constexpr int register_size(Reg r) {
  constexpr int sizes[kRegs] = {1, 4, 8, 8, 4, 8, 8, 16};
  return sizes[static_cast<int>(r)];
}
/// Returns the suffix in the math prelude: "f32", "i64", …
CT_API const char* register_name(Reg r);

}  // namespace catenary::ops
