#pragma once
// The kinds of quantised arrays, made from the rows of quantizations.def.

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "catenary/core/export.h"

namespace catenary {

/// The block format of a quantised array (array/quantized.h). All but int8 are GGUF's formats, bit for bit.
enum class Quantization : std::uint8_t {
#define CT_QUANTIZATION(id, name, elements, bytes, head, text) id,
#include "catenary/core/quantizations.def"
#undef CT_QUANTIZATION
};

/// The layout of a kind's rows: a head, then whole blocks.
struct QuantizationInfo {
  const char* name;       ///< GGUF's: "Q8_0", …, or "int8"
  std::int64_t elements;  ///< of a block
  std::int64_t bytes;     ///< of a block
  std::int64_t head;      ///< bytes before a row's first block
  const char* text;       ///< the contents of a block, for help texts
  constexpr double bits_per_element() const { return 8.0 * static_cast<double>(bytes) / static_cast<double>(elements); }
};
/// The layouts of all kinds, by their numbers.
inline constexpr QuantizationInfo kQuantizationInfos[] = {
#define CT_QUANTIZATION(id, name, elements, bytes, head, text) {name, elements, bytes, head, text},
#include "catenary/core/quantizations.def"
#undef CT_QUANTIZATION
};
/// All kinds.
inline constexpr Quantization kAllQuantizations[] = {
#define CT_QUANTIZATION(id, name, elements, bytes, head, text) Quantization::id,
#include "catenary/core/quantizations.def"
#undef CT_QUANTIZATION
};
/// The number of kinds.
inline constexpr int kQuantizations = static_cast<int>(std::size(kAllQuantizations));

/// Returns the layout of a kind.
constexpr const QuantizationInfo& quantization_info(Quantization kind) {
  return kQuantizationInfos[static_cast<int>(kind)];
}
/// Calls f with the std::integral_constant of a kind.
template <class F>
[[gnu::always_inline]] inline auto visit_quantization(Quantization kind, F&& f) {
  constexpr Quantization first = kAllQuantizations[0];
  switch (kind) {
#define CT_QUANTIZATION(id, name, elements, bytes, head, text) \
  case Quantization::id:                                       \
    return f(std::integral_constant<Quantization, Quantization::id>());
#include "catenary/core/quantizations.def"
#undef CT_QUANTIZATION
  }
  return f(std::integral_constant<Quantization, first>());  // not reached
}
/// Returns the kind with a name, in upper or lower case, or nothing for another name.
CT_API std::optional<Quantization> quantization_from_name(std::string_view name);
/// Returns the names of all kinds, separated by commas.
CT_API std::string quantization_names();
/// Returns the bytes of a row of this many numbers: whole blocks, the last of which is padded with zeros.
CT_API std::int64_t quantized_row_bytes(Quantization kind, std::int64_t columns);
/// Returns how many rows of dequantised numbers take 1 MiB, at least one and at most `rows`.
CT_API std::int64_t dequantized_rows_at_once(std::int64_t rows, std::int64_t columns, std::int64_t itemsize);

}  // namespace catenary
