// Quantised weights and products with them, by our own kernels (kernels/quantized.kernel).

#include <algorithm>

#include "catenary/backends/gpu/codegen.h"
#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/quantization.h"
#include "catenary/device/dequantized_product.h"

namespace catenary::gpu {

namespace {
/// The names that select a kind's decoders in the text, by the kinds' numbers.
constexpr const char* kDecoders[] = {
#define CT_QUANTIZATION(id, name, elements, bytes, head, text) "KIND_" #id,
#include "catenary/core/quantizations.def"
#undef CT_QUANTIZATION
};

Defines kind_defines(const Context& context, bool wide, Dtype dtype, Quantization kind) {
  Defines defines = grid_defines(context, wide, dtype_defines(context, dtype));
  const QuantizationInfo& info = quantization_info(kind);
  defines.emplace_back(kDecoders[static_cast<int>(kind)], "");
  defines.emplace_back("BLOCK", info.elements);
  defines.emplace_back("BLOCK_BYTES", info.bytes);
  defines.emplace_back("HEAD", info.head);
  if (context.loops) {
    const bool is_double = dtype == Dtype::float64;
    defines.emplace_back("VEC", is_double ? "double16" : "float16");
    defines.emplace_back("CONVERT(x)", is_double ? "convert_double16(x)" : "(x)");
    defines.emplace_back("X_AT(p)", dtype == Dtype::float16    ? "vload_half16(0, (GLOBAL const half*)(p))"
                                    : dtype == Dtype::bfloat16 ? "as_float16(convert_uint16(vload16(0, p)) << 16)"
                                                               : "vload16(0, p)");
  }
  return defines;
}
}  // namespace

template <>
void compute(Context& context, const Dequantize& p) {
  const std::int64_t rows = p.out.shape[0], columns = p.out.shape[1], row_bytes = p.blocks.shape[1];
  // with loops a unit is 32 weights of a row, otherwise a whole block
  const std::int64_t block = context.loops ? 32 : quantization_info(p.kind).elements,
                     units = rows * ceil_div(columns, block) * (block / 32);
  const bool wide = needs_wide({p.blocks.offset + p.blocks.size(), p.out.offset + p.out.size(), units});
  Args args;
  args.add(p.out.handle).index(p.out.offset, wide).add(p.blocks.handle).index(p.blocks.offset, wide);
  args.index(row_bytes, wide).index(columns, wide);
  const Defines defines = kind_defines(context, wide, p.out.dtype, p.kind);
  launch_units(context, context.kernel("quantized", "dequantize", defines), units, wide, args);
}

namespace {

constexpr std::int64_t kFewRows = 8;  // up to this many rows of x are multiplied with the blocks directly

/// Multiplies x, whose rows are contiguous, with the blocks directly.
void multiply_blocks(Context& context, const QuantizedProduct& p) {
  constexpr int kItems = 64;
  const std::int64_t m = p.x.shape[0], n = p.y.shape[1], columns = p.x.shape[1], row_bytes = p.blocks.shape[1];
  const bool wide = needs_wide(
      {p.x.offset + m * std::abs(p.x.strides[0]) + columns, p.blocks.offset + p.blocks.size() + 512 * kItems,
       p.y.offset + m * std::abs(p.y.strides[0]) + n * std::abs(p.y.strides[1]), p.bias ? p.bias->offset + n : 0});
  const bool is_double = p.x.dtype == Dtype::float64;
  for (std::int64_t row = 0; row < m;) {
    std::int64_t count = kFewRows;
    while (count > m - row) count /= 2;
    Defines defines = kind_defines(context, wide, p.x.dtype, p.kind);
    if (!context.loops) defines.emplace_back("ITEMS", kItems);
    defines.emplace_back("COUNT", count);
    defines.emplace_back("MADD(a, b, c)", is_double ? "MAD_F64(a, b, c)" : "MAD_F32(a, b, c)");
    if (p.bias) defines.emplace_back("BIAS", "");
    Args args;
    args.add(p.x.handle).index(p.x.offset + row * p.x.strides[0], wide).index(p.x.strides[0], wide);
    args.add(p.blocks.handle).index(p.blocks.offset, wide);
    args.add(p.y.handle).index(p.y.offset + row * p.y.strides[0], wide);
    args.index(p.y.strides[0], wide).index(p.y.strides[1], wide);
    args.add(p.bias ? p.bias->handle : p.x.handle).index(p.bias ? p.bias->offset : 0, wide);
    args.index(row_bytes, wide).index(columns, wide);
    const Kernel& kernel = context.kernel("quantized", "quantized_product", defines);
    if (context.loops) {
      launch_units(context, kernel, n, wide, args);
    } else {
      args.index(n, wide);
      context.launch(kernel, std::min<std::int64_t>(n, 1 << 20), kItems, args);
    }
    row += count;
  }
}

}  // namespace

template <>
void compute(Context& context, const QuantizedProduct& p) {
  const auto each = [&](const auto& part) { compute(context, part); };
  const std::int64_t columns = p.x.shape[1], bytes = static_cast<std::int64_t>(itemsize(p.x.dtype));
  if (p.x.shape[0] > kFewRows) {
    const Scratch memory(context, dequantized_rows_at_once(p, p.x.dtype) * columns * bytes);
    return compute_dequantized(p, p.x, memory.handle(), each);
  }
  if (p.x.strides[1] == 1 || columns == 1) return multiply_blocks(context, p);
  const Scratch memory(context, p.x.size() * bytes);
  const View x{memory.handle(), 0, p.x.dtype, p.x.shape, {columns, 1}};
  each(Copy{x, p.x});
  multiply_blocks(context, {p.kind, x, p.blocks, p.y, p.bias});
}

}  // namespace catenary::gpu
