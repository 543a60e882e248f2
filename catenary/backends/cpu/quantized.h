#pragma once
// Private to the CPU backend: what quantized.cpp asks of the quantized*.simd.cpp files.

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
  const void* x;         ///< m rows as quantized_x makes them, or their elements, zeros behind the last
  std::int64_t x_row;    ///< from row to row
  const double* x_sums;  ///< [m, blocks of a row * 8]: of 32 elements of x each; for Q4_K
  const std::uint8_t* w;
  std::int64_t row_bytes;
  void* y;
  Dtype dtype;  ///< of y and bias
  std::int64_t y_row, y_column;
  const void* bias;
};

/// Do the kernels in use multiply bytes by AVX512_VNNI?
bool has_vnni();
/// Has the whole process compute as if the processor had no AVX512_VNNI, for tests.
CT_API void leave_vnni_out(bool out);

/// One level's products that round x to 8 bits. Null where it has none.
struct RoundedLevel {
  /// Bytes of a row of x of whole blocks, a multiple of 64.
  std::int64_t (*x_bytes)(Quantization kind, std::int64_t blocks);
  /// Makes one, aligned to 64 bytes. False where an inf or a NaN is among them.
  bool (*round_x)(Quantization kind, std::int64_t blocks, const float* x, void* out);
  /// Rows [begin, end) of w; args.x is what round_x made, and args.x_row counts bytes.
  void (*rows)(const QuantizedArgs& args, std::int64_t begin, std::int64_t end);
};

/// The same for many rows of x, with panels of several rows of w, of the kinds that has_panels.
struct PanelLevel {
  std::int64_t rows_of_panel;  ///< of w
  std::int64_t (*x_bytes)(std::int64_t blocks);
  bool (*round_x)(Quantization kind, std::int64_t blocks, const float* x, void* out);
  std::int64_t (*panel_bytes)(std::int64_t blocks);
  /// `memory` is of panel_bytes, aligned to 64.
  void (*rows)(const QuantizedArgs& args, std::int64_t begin, std::int64_t end, void* memory);
};
constexpr bool has_panels(Quantization kind) { return kind == Quantization::q8_0 || kind == Quantization::q4_0; }
/// Is a product of many rows with weights of this kind, with x rounded to 8 bits, faster than one of floats?
bool multiplies_panels(Quantization kind);

// clang-format off
CT_SIMD_DECLARE(
  extern const RoundedLevel rounded_level;
  extern const PanelLevel panel_level;
  /// Rows [begin, end) of w.
  void quantized_rows(const QuantizedArgs& args, std::int64_t begin, std::int64_t end);
  /// How many floats a row of x has that quantized_x makes for products in float32; 0 where x stays as it is.
  std::int64_t quantized_x_row(Quantization kind, std::int64_t blocks);
  /// Makes one of whole blocks of x.
  void quantized_x(Quantization kind, std::int64_t blocks, const float* x, float* out);
  /// What the blocks of a row stand for.
  void dequantized_row(Quantization kind, const std::uint8_t* row, std::int64_t columns, float* out);
)
// clang-format on

}  // namespace catenary::cpu
