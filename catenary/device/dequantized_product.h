#pragma once
// Private to the backends: products of many rows of x with quantised weights, 1 MiB of weights at a time.

#include <algorithm>

#include "catenary/core/quantization.h"
#include "catenary/device/primitives.h"

namespace catenary {

/// Returns how many rows of a product's weights are dequantised at a time.
inline std::int64_t dequantized_rows_at_once(const primitives::QuantizedProduct& p, Dtype dtype) {
  return dequantized_rows_at_once(p.y.shape[1], p.x.shape[1], static_cast<std::int64_t>(itemsize(dtype)));
}

/// Computes a product by `compute`, a backend's function for primitives. x is p's x, or its numbers in another dtype.
/// `memory` holds dequantized_rows_at_once rows of weights of x's dtype.
template <class Compute>
void compute_dequantized(const primitives::QuantizedProduct& p, const View& x, void* memory, const Compute& compute) {
  const std::int64_t n = p.y.shape[1], columns = p.x.shape[1], together = dequantized_rows_at_once(p, x.dtype);
  for (std::int64_t first = 0; first < n; first += together) {
    const std::int64_t rows = std::min(together, n - first);
    View blocks = p.blocks, y = p.y, bias = p.bias ? *p.bias : View();
    blocks.offset += first * blocks.strides[0];
    blocks.shape[0] = rows;
    y.offset += first * y.strides[1];
    y.shape[1] = rows;
    if (p.bias) bias.offset += first, bias.shape = {rows};
    const View weights{memory, 0, x.dtype, {rows, columns}, {columns, 1}};
    compute(primitives::Dequantize{p.kind, blocks, weights});
    const View transposed{memory, 0, x.dtype, {columns, rows}, {1, columns}};
    compute(primitives::Matmul{stack_of_one(x), stack_of_one(transposed), stack_of_one(y), p.bias ? &bias : nullptr});
  }
}

}  // namespace catenary
