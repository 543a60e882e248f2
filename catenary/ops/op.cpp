#include "catenary/ops/op_names.h"

namespace catenary::ops {

const OpInfo& info(Op op) {
  static const OpInfo table[] = {
      {"constant", 0, ALL, Rule::INTERNAL, "", ""},
      {"load", 0, ALL, Rule::INTERNAL, "", ""},
#define CT_OP(name, arity, registers, rule, expression, description) \
  {#name, arity, registers, Rule::rule, #expression, description},
#include "catenary/ops/elementwise.def"
#undef CT_OP
      {"where", 3, ALL, Rule::INTERNAL, "a ? b : c", ""},
      {"cast", 1, ALL, Rule::INTERNAL, "", ""},
      {"ldexp", 2, FLT, Rule::INTERNAL, "FN(ldexp)(a, b)", ""},
      {"frexp_exponent", 1, FLT, Rule::INTERNAL, "FN(frexp_exponent)(a)", ""},
      {"narrow_i8", 1, reg_bit(Reg::i32), Rule::INTERNAL, "(a << 24) >> 24", ""},
      {"narrow_i16", 1, reg_bit(Reg::i32), Rule::INTERNAL, "(a << 16) >> 16", ""},
      {"narrow_u8", 1, reg_bit(Reg::i32), Rule::INTERNAL, "a & 0xff", ""},
      {"narrow_u16", 1, reg_bit(Reg::i32), Rule::INTERNAL, "a & 0xffff", ""},
      {"narrow_u32", 1, reg_bit(Reg::i64), Rule::INTERNAL, "a & (i64)0xffffffffu", ""},
      {"narrow_f16", 1, FLT, Rule::INTERNAL, "FN(narrow_f16)(a)", ""},
      {"narrow_bf16", 1, FLT, Rule::INTERNAL, "FN(narrow_bf16)(a)", ""},
  };
  static_assert(sizeof(table) / sizeof(table[0]) == static_cast<int>(Op::count));
  return table[static_cast<int>(op)];
}

Op narrowing(Dtype dtype) {
  switch (dtype) {
    case Dtype::int8:
      return Op::narrow_i8;
    case Dtype::int16:
      return Op::narrow_i16;
    case Dtype::uint8:
      return Op::narrow_u8;
    case Dtype::uint16:
      return Op::narrow_u16;
    case Dtype::uint32:
      return Op::narrow_u32;
    case Dtype::float16:
      return Op::narrow_f16;
    case Dtype::bfloat16:
      return Op::narrow_bf16;
    default:
      return Op::count;
  }
}

namespace {

/// A row of complex.def.
struct ComplexRow {
  OfComplex result;
  std::string_view expression;
};
constexpr OfComplex T = OfComplex::value, PART = OfComplex::part, TRUTH = OfComplex::truth;

ComplexRow complex_row(Op op) {
  switch (op) {
#define CT_COMPLEX_1(name, result) \
  case Op::name:                   \
    return {result, "FN(" #name ")(a)"};
#define CT_COMPLEX_2(name, result) \
  case Op::name:                   \
    return {result, "FN(" #name ")(a, b)"};
#define CT_COMPLEX_REDUCE(...)
#include "catenary/ops/complex.def"
    default:
      return {OfComplex::undefined, {}};
  }
}

struct ComplexReduction {
  std::string_view combine, identity;
};
ComplexReduction complex_reduction(Reduce op) {
  switch (op) {
#define CT_COMPLEX_1(...)
#define CT_COMPLEX_2(...)
#define CT_COMPLEX_REDUCE(name, combine, identity) \
  case Reduce::name:                               \
    return {#combine, #identity};
#include "catenary/ops/complex.def"
    default:
      return {};
  }
}

}  // namespace

OfComplex of_complex(Op op) {
  if (op == Op::load || op == Op::constant || op == Op::cast || op == Op::where) return OfComplex::value;
  return complex_row(op).result;
}

std::string_view expression(Op op, Reg operands) {
  return is_complex(operands) && op != Op::where ? complex_row(op).expression : info(op).expression;
}

std::string_view combine(Reduce op, Reg reg) {
  return is_complex(reg) ? complex_reduction(op).combine : info(op).combine;
}
std::string_view identity(Reduce op, Reg reg) {
  return is_complex(reg) ? complex_reduction(op).identity : info(op).identity;
}

const ReduceInfo& info(Reduce op) {
  static const ReduceInfo table[] = {
#define CT_REDUCE(name, registers, combine, identity, description) {#name, registers, #combine, #identity},
#include "catenary/ops/reductions.def"
#undef CT_REDUCE
  };
  return table[static_cast<int>(op)];
}

const char* register_name(Reg r) {
  constexpr const char* names[kRegs] = {"b", "i32", "i64", "u64", "f32", "f64", "c64", "c128"};
  return names[static_cast<int>(r)];
}

}  // namespace catenary::ops
