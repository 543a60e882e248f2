#include "catenary/core/quantization.h"

#include <algorithm>

#include "catenary/core/lower.h"

namespace catenary {

std::optional<Quantization> quantization_from_name(std::string_view name) {
  for (const Quantization kind : kAllQuantizations)
    if (lower(quantization_info(kind).name) == lower(name)) return kind;
  return {};
}

std::string quantization_names() {
  std::string names;
  for (const QuantizationInfo& info : kQuantizationInfos) names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

std::int64_t quantized_row_bytes(Quantization kind, std::int64_t columns) {
  const QuantizationInfo& info = quantization_info(kind);
  return info.head + (columns + info.elements - 1) / info.elements * info.bytes;
}

std::int64_t dequantized_rows_at_once(std::int64_t rows, std::int64_t columns, std::int64_t itemsize) {
  constexpr std::int64_t kBytes = std::int64_t{1} << 20;
  return std::max<std::int64_t>(1, std::min(kBytes / std::max<std::int64_t>(1, columns * itemsize), rows));
}

}  // namespace catenary
