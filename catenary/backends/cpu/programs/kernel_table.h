#pragma once
// Private: the vectorised loops of the CPU, one function for each row and register type, compiled for each instruction
// set.

#include <cstdint>

#include "catenary/ops/op_names.h"

namespace catenary::cpu {

/// out[i] = expression of a[i], b[i], c[i] for i < n. out may be one of the operands.
using OpKernel = void (*)(void* out, const void* a, const void* b, const void* c, std::int64_t n);
/// Converts between memory of a dtype, with a stride in elements, and a contiguous register.
using LoadKernel = void (*)(void* out, const void* memory, std::int64_t stride, std::int64_t n);
using StoreKernel = void (*)(void* memory, std::int64_t stride, const void* in, std::int64_t n);
/// *out = combine(*out, x[0], …, x[n - 1]) in an order that depends only on n.
using ReduceRowKernel = void (*)(void* out, const void* x, std::int64_t n);
/// out[i] = combine(… combine(out[i], x[i]) …, x[(rows - 1) * stride + i]) for i < n, with `stride` in elements.
using ReduceColumnKernel = void (*)(void* out, const void* x, std::int64_t stride, std::int64_t rows, std::int64_t n);
using FillKernel = void (*)(void* out, const void* value, std::int64_t n);

/// A product and the sum or difference that consumes it, as one loop for floating-point types. Each operation is
/// rounded.
enum class Joined { a_times_b_plus_c, a_times_b_minus_c, c_minus_a_times_b, count };

struct KernelTable {
  OpKernel op[static_cast<int>(ops::Op::count)][ops::kRegs];
  OpKernel joined[static_cast<int>(Joined::count)][ops::kRegs];
  OpKernel cast[ops::kRegs][ops::kRegs];  ///< [from][to]
  LoadKernel load[kDtypes];
  StoreKernel store[kDtypes];
  ReduceRowKernel reduce_row[static_cast<int>(ops::Reduce::count)][ops::kRegs];
  ReduceColumnKernel reduce_column[static_cast<int>(ops::Reduce::count)][ops::kRegs];
  FillKernel identity[static_cast<int>(ops::Reduce::count)][ops::kRegs];  ///< value is ignored
  FillKernel fill[ops::kRegs];
  ReduceRowKernel count_row;        ///< adds the bools of x to int64s
  ReduceColumnKernel count_column;  ///< as count_row
};

/// Returns the table for the instruction set in use (core/cpu_features.h).
const KernelTable& kernel_table();

}  // namespace catenary::cpu
