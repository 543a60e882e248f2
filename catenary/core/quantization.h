#pragma once
// The kinds of quantised arrays, a row each.

#include <cstdint>
#include <optional>
#include <string_view>

#include "catenary/core/export.h"

namespace catenary {

/// How the numbers of a quantised array (array/quantized.h) lie in blocks. All but int8 are GGUF's, bit for bit.
enum class Quantization : std::uint8_t {
  q8_0,  ///< 32 numbers of 8 bits and a float16 scale
  q4_0,  ///< 32 numbers of 4 bits and a float16 scale
  q4_k,  ///< 256 numbers of 4 bits; a scale and a minimum of 6 bits for 32 of them, and two float16 for all
  q6_k,  ///< 256 numbers of 6 bits; a scale of 8 bits for 16 of them, and a float16 for all
  int8,  ///< numbers of 8 bits; for a whole row a float32 scale and a zero point
};
/// How many kinds there are.
inline constexpr int kQuantizations = 5;

/// What a kind's rows are made of: a head, then whole blocks.
struct QuantizationInfo {
  const char* name;       ///< GGUF's: "Q8_0", …; "int8"
  std::int64_t elements;  ///< of a block
  std::int64_t bytes;     ///< of a block
  std::int64_t head = 0;  ///< bytes before a row's first block
  double bits_per_element() const { return 8.0 * static_cast<double>(bytes) / static_cast<double>(elements); }
};
/// The row of a kind.
CT_API const QuantizationInfo& quantization_info(Quantization kind);
/// The kind of a name, whose letters may be small; nothing for another name.
CT_API std::optional<Quantization> quantization_from_name(std::string_view name);
/// Bytes of a row of so many numbers: whole blocks, the last of which is filled up with zeros.
CT_API std::int64_t quantized_row_bytes(Quantization kind, std::int64_t columns);

}  // namespace catenary
