#pragma once
// The kinds of quantised arrays, one row each.

#include <cstdint>
#include <optional>
#include <string_view>

#include "catenary/core/export.h"

namespace catenary {

/// The block format of a quantised array (array/quantized.h). All but int8 are GGUF's formats, bit for bit.
enum class Quantization : std::uint8_t {
  q8_0,  ///< 32 numbers of 8 bits and a float16 scale
  q4_0,  ///< 32 numbers of 4 bits and a float16 scale
  q4_k,  ///< 256 numbers of 4 bits, a scale and a minimum of 6 bits for each 32, two float16 for all
  q6_k,  ///< 256 numbers of 6 bits, a scale of 8 bits for each 16, a float16 for all
  int8,  ///< numbers of 8 bits, a float32 scale and a zero point for each row
};
/// The number of kinds.
inline constexpr int kQuantizations = 5;

/// The layout of a kind's rows: a head, then whole blocks.
struct QuantizationInfo {
  const char* name;       ///< GGUF's: "Q8_0", …, or "int8"
  std::int64_t elements;  ///< of a block
  std::int64_t bytes;     ///< of a block
  std::int64_t head = 0;  ///< bytes before a row's first block
  double bits_per_element() const { return 8.0 * static_cast<double>(bytes) / static_cast<double>(elements); }
};
/// Returns the layout of a kind.
CT_API const QuantizationInfo& quantization_info(Quantization kind);
/// Returns the kind with a name, in upper or lower case, or nothing for another name.
CT_API std::optional<Quantization> quantization_from_name(std::string_view name);
/// Returns the bytes of a row of this many numbers: whole blocks, the last of which is padded with zeros.
CT_API std::int64_t quantized_row_bytes(Quantization kind, std::int64_t columns);

}  // namespace catenary
