#pragma once
// ops/: what an operation is, once for all devices. The rows of elementwise.def and reductions.def are read into
// tables here; the math prelude gives their functions; a Program is a straight line of such operations over one shape.
// Nothing here knows memory, devices or arrays.

#include <cstdint>
#include <string_view>

#include "catenary/core/dtype.h"
#include "catenary/core/export.h"

namespace catenary::ops {

/// The types that arithmetic happens in. Narrower dtypes are widened at load and narrowed at store.
enum class Reg : std::uint8_t { b, i32, i64, u64, f32, f64, c64, c128 };
/// How many register types there are.
inline constexpr int kRegs = 8;

/// The set of one register type.
constexpr unsigned reg_bit(Reg r) { return 1u << static_cast<int>(r); }
/// Sets of register types.
inline constexpr unsigned FLT = reg_bit(Reg::f32) | reg_bit(Reg::f64);
inline constexpr unsigned INT = reg_bit(Reg::i32) | reg_bit(Reg::i64) | reg_bit(Reg::u64);
inline constexpr unsigned NUM = INT | FLT;
inline constexpr unsigned BITS = reg_bit(Reg::b) | INT;
inline constexpr unsigned ALL = reg_bit(Reg::b) | NUM;
inline constexpr unsigned BOOL_ONLY = reg_bit(Reg::b);
inline constexpr unsigned CPX = reg_bit(Reg::c64) | reg_bit(Reg::c128);

/// How NumPy 2 finds the dtype of a result from the promoted dtype of the operands.
enum class Rule : std::uint8_t {
  ARITH,          ///< the same dtype
  ARITH_INT8,     ///< the same, but bool becomes int8
  ARITH_NO_BOOL,  ///< the same, bool is refused
  FLOAT,          ///< floats stay; integers of 1, 2 and more bytes give float16, float32, float64
  DIVIDE,         ///< floats stay; integers give float64
  ROUND,          ///< floats are rounded; integers are returned as they are
  COMPARE,        ///< bool
  PREDICATE,      ///< as FLOAT for the operand, bool as the result
  BITS,           ///< bool and integers only
  SHIFT,          ///< integers only, bool becomes int8
  INTERNAL,       ///< not an array function: made by the library itself
};

// The operations; their names are in ops/op_names.h, so that a new row of elementwise.def is no news to who needs none.
enum class Op : std::uint16_t;

/// What is known of a row.
struct OpInfo {
  const char* name;
  int arity;
  unsigned registers;  ///< without those of complex numbers
  Rule rule;
  const char* expression;  ///< C text over a, b, c and T; empty for load, constant and cast
  const char* description;
};
/// What is known of a row of elementwise.def or of reductions.def.
CT_API const OpInfo& info(Op op);

/// What an operation gives for complex numbers: a complex number, a real one, a bool; or it is not defined for them.
enum class OfComplex : std::uint8_t { undefined, value, part, truth };
/// By the row of complex.def.
CT_API OfComplex of_complex(Op op);

/// The register of a complex one's parts; others are their own.
constexpr Reg part_register(Reg r) { return r == Reg::c64 ? Reg::f32 : r == Reg::c128 ? Reg::f64 : r; }
constexpr bool is_complex(Reg r) { return r >= Reg::c64; }
/// C text of a row for operands in a register type: that of elementwise.def, or of complex numbers the function of the
/// row's name.
CT_API std::string_view expression(Op op, Reg operands);

/// Reductions over axes.
enum class Reduce : std::uint8_t {
#define CT_REDUCE(name, ...) name,
#include "catenary/ops/reductions.def"
#undef CT_REDUCE
  count,
};
/// What is known of a reduction.
struct ReduceInfo {
  const char* name;
  unsigned registers;
  const char* combine;   ///< C text over a and b
  const char* identity;  ///< C text over T
};
CT_API const ReduceInfo& info(Reduce op);
/// C text over a and b, and the identity, for a register type.
CT_API std::string_view combine(Reduce op, Reg reg);
CT_API std::string_view identity(Reduce op, Reg reg);

/// The register type that holds a dtype, and its bytes.
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
/// "f32", "i64", …: the suffix in the math prelude.
CT_API const char* register_name(Reg r);

}  // namespace catenary::ops
