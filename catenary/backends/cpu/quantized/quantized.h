#pragma once
// Private to the CPU backend: the kernels of the quantized*.simd.cpp files, called by quantized.cpp.

#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/core/dtype.h"
#include "catenary/core/quantization.h"

namespace catenary::cpu {

/// y = x w^T (+ bias); see primitives::QuantizedProduct.
struct QuantizedArgs {
  Quantization kind;
  std::int64_t m, n;
  std::int64_t blocks;   ///< of a row
  const void* x;         ///< m rows made by quantized_x, or x's elements, padded with zeros
  std::int64_t x_row;    ///< from row to row
  const double* x_sums;  ///< [m, groups of a row]: sums of quantized_group elements of x
  const std::uint8_t* w;
  std::int64_t row_bytes;
  void* y;
  Dtype dtype;  ///< dtype of y and bias
  std::int64_t y_row, y_column;
  const void* bias;
};

/// Returns whether the kernels in use multiply bytes by AVX512_VNNI.
bool has_vnni();
/// Disables AVX512_VNNI for the whole process, for tests.
CT_API void leave_vnni_out(bool out);

/// One level's products that round x to 8 bits. Null if the level has none.
struct RoundedLevel {
  /// Returns the bytes of a row of whole blocks of x, a multiple of 64.
  std::int64_t (*x_bytes)(Quantization kind, std::int64_t blocks);
  /// Makes such a row, aligned to 64 bytes. Returns false if x contains an inf or a NaN.
  bool (*round_x)(Quantization kind, std::int64_t blocks, const float* x, void* out);
  /// Computes rows [begin, end) of w. args.x was made by round_x, and args.x_row counts bytes.
  void (*rows)(const QuantizedArgs& args, std::int64_t begin, std::int64_t end);
};

/// Kernels for many rows of x, with panels of several rows of w, for the kinds that has_panels accepts.
struct PanelLevel {
  std::int64_t rows_of_panel;  ///< of w
  std::int64_t (*x_bytes)(std::int64_t blocks);
  bool (*round_x)(Quantization kind, std::int64_t blocks, const float* x, void* out);
  std::int64_t (*panel_bytes)(std::int64_t blocks);
  /// `memory` has panel_bytes, aligned to 64.
  void (*rows)(const QuantizedArgs& args, std::int64_t begin, std::int64_t end, void* memory);
};
constexpr bool has_panels(Quantization kind) { return kind == Quantization::q8_0 || kind == Quantization::q4_0; }
/// Returns whether config.int8_products rounds x to 8 bits also for many rows, because this is faster here than
/// products of floats or bfloat16.
CT_API bool rounds_many_rows(Quantization kind);

// clang-format off
CT_SIMD_DECLARE(
  extern const RoundedLevel rounded_level;
  extern const PanelLevel panel_level;
  /// Computes rows [begin, end) of w.
  void quantized_rows(const QuantizedArgs& args, std::int64_t begin, std::int64_t end);
  /// Returns the floats of a row of x that quantized_x makes for products in float32, or 0 if x is used unchanged.
  std::int64_t quantized_x_row(Quantization kind, std::int64_t blocks);
  /// Makes such a row from whole blocks of x.
  void quantized_x(Quantization kind, std::int64_t blocks, const float* x, float* out);
  /// Returns the number of weights that share a minimum to subtract, or 0 if a kind has no minima.
  std::int64_t quantized_group(Quantization kind);
  /// Writes the numbers that the blocks of a row represent.
  void dequantized_row(Quantization kind, const std::uint8_t* row, std::int64_t columns, float* out);
)
// clang-format on

}  // namespace catenary::cpu
