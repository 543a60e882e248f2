#pragma once
// Private to io: constants of the GGUF format for its reader and writer.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "catenary/core/quantization.h"
#include "catenary/io/gguf.h"

namespace catenary::io::detail {

inline constexpr std::string_view kGgufMagic = "GGUF";
inline constexpr std::uint64_t kGgufAlignment = 32;  // unless the metadata says otherwise
inline constexpr const char* kGgufAlignmentKey = "general.alignment";
inline constexpr int kGgufMaxDims = 4;

/// A tensor type, by its number in files.
struct GgmlType {
  std::uint32_t number;
  std::string_view name;
  std::uint64_t elements, bytes;  // of a block (plain types have blocks of one element)
  std::optional<Dtype> dtype = {};
};

/// All types that files may have. quantization_from_name says which quantised types can be read.
inline constexpr GgmlType kGgmlTypes[] = {
    {0, "F32", 1, 4, Dtype::float32},
    {1, "F16", 1, 2, Dtype::float16},
    {2, "Q4_0", 32, 18},
    {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},
    {7, "Q5_1", 32, 24},
    {8, "Q8_0", 32, 34},
    {9, "Q8_1", 32, 40},
    {10, "Q2_K", 256, 84},
    {11, "Q3_K", 256, 110},
    {12, "Q4_K", 256, 144},
    {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},
    {15, "Q8_K", 256, 292},
    {16, "IQ2_XXS", 256, 66},
    {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98},
    {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},
    {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136},
    {24, "I8", 1, 1, Dtype::int8},
    {25, "I16", 1, 2, Dtype::int16},
    {26, "I32", 1, 4, Dtype::int32},
    {27, "I64", 1, 8, Dtype::int64},
    {28, "F64", 1, 8, Dtype::float64},
    {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2, Dtype::bfloat16},
    {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},
    {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},
    {41, "Q1_0", 128, 18},
};

static_assert(std::ranges::all_of(kQuantizationInfos,
                                  [](const QuantizationInfo& info) {
                                    return std::ranges::all_of(kGgmlTypes, [&](const GgmlType& type) {
                                      return type.name != info.name ||
                                             (type.elements == static_cast<std::uint64_t>(info.elements) &&
                                              type.bytes == static_cast<std::uint64_t>(info.bytes));
                                    });
                                  }),
              "the sizes of a kind's blocks differ between core/quantizations.def and GGUF's types");

/// Returns the kind of a type whose blocks can be read.
inline std::optional<Quantization> quantization_of(const GgmlType& type) {
  return type.dtype ? std::nullopt : quantization_from_name(type.name);
}

/// Whether blocks of a type are read as numbers, because there are no products with such blocks.
bool is_read_as_numbers(std::string_view type);
/// Converts whole blocks of such a type to numbers.
void numbers_of_blocks(std::string_view type, std::span<const std::byte> blocks, float* to);

/// Maps the C++ type of a value, or of its elements, to its GgufType.
template <class T>
struct GgufTypeOf;
#define CT_GGUF_TYPE(cpp, gguf)                       \
  template <>                                         \
  struct GgufTypeOf<cpp> {                            \
    static constexpr GgufType value = GgufType::gguf; \
  };
CT_GGUF_TYPE(std::uint8_t, uint8)
CT_GGUF_TYPE(std::int8_t, int8)
CT_GGUF_TYPE(std::uint16_t, uint16)
CT_GGUF_TYPE(std::int16_t, int16)
CT_GGUF_TYPE(std::uint32_t, uint32)
CT_GGUF_TYPE(std::int32_t, int32)
CT_GGUF_TYPE(float, float32)
CT_GGUF_TYPE(bool, boolean)
CT_GGUF_TYPE(std::string, string)
CT_GGUF_TYPE(std::uint64_t, uint64)
CT_GGUF_TYPE(std::int64_t, int64)
CT_GGUF_TYPE(double, float64)
#undef CT_GGUF_TYPE

/// Calls f(T{}) with the C++ type of a numeric type. Returns false for strings and arrays.
template <class F>
bool visit_gguf_number(GgufType type, F&& f) {
  switch (type) {
    case GgufType::uint8:
      return f(std::uint8_t{}), true;
    case GgufType::int8:
      return f(std::int8_t{}), true;
    case GgufType::uint16:
      return f(std::uint16_t{}), true;
    case GgufType::int16:
      return f(std::int16_t{}), true;
    case GgufType::uint32:
      return f(std::uint32_t{}), true;
    case GgufType::int32:
      return f(std::int32_t{}), true;
    case GgufType::float32:
      return f(float{}), true;
    case GgufType::boolean:
      return f(bool{}), true;
    case GgufType::uint64:
      return f(std::uint64_t{}), true;
    case GgufType::int64:
      return f(std::int64_t{}), true;
    case GgufType::float64:
      return f(double{}), true;
    default:
      return false;
  }
}

/// Returns the size of a number in bytes, or 0 for strings and arrays.
inline std::uint64_t gguf_number_bytes(GgufType type) {
  std::uint64_t bytes = 0;
  visit_gguf_number(type, [&](auto zero) { bytes = sizeof zero; });
  return bytes;
}

}  // namespace catenary::io::detail
