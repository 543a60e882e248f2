#include "catenary/core/quantization.h"

#include <algorithm>
#include <cctype>

namespace catenary {

namespace {
constexpr QuantizationInfo kKinds[kQuantizations] = {
    {"Q8_0", 32, 34}, {"Q4_0", 32, 18}, {"Q4_K", 256, 144}, {"Q6_K", 256, 210}, {"int8", 32, 32, 8},
};
}  // namespace

const QuantizationInfo& quantization_info(Quantization kind) { return kKinds[static_cast<int>(kind)]; }

std::optional<Quantization> quantization_from_name(std::string_view name) {
  const auto equal = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  for (int i = 0; i < kQuantizations; ++i) {
    const std::string_view known = kKinds[i].name;
    if (std::equal(known.begin(), known.end(), name.begin(), name.end(), equal)) return static_cast<Quantization>(i);
  }
  return {};
}

std::int64_t quantized_row_bytes(Quantization kind, std::int64_t columns) {
  const QuantizationInfo& info = quantization_info(kind);
  return info.head + (columns + info.elements - 1) / info.elements * info.bytes;
}

}  // namespace catenary
