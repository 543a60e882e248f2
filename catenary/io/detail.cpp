#include "catenary/io/detail.h"

namespace catenary::io::detail {

std::int64_t count_elements(const Shape& shape, const std::string& name, std::uint64_t offset) {
  constexpr std::int64_t kMost = std::int64_t{1} << 59;
  std::int64_t product = 1;
  bool none = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) fail_at(name, offset, "negative extent in shape {}", shape);
    if (extent == 0) {
      none = true;
    } else if (product > kMost / extent) {
      fail_at(name, offset, "shape {} is too large", shape);
    } else {
      product *= extent;
    }
  }
  return none ? 0 : product;
}

void append_extent(Shape& shape, std::int64_t extent, const std::string& name, std::uint64_t offset) {
  if (shape.size() == kMaxDims) fail_at(name, offset, "more than {} dimensions", kMaxDims);
  shape.push_back(extent);
}

void swap_bytes(std::byte* data, std::size_t count, std::size_t itemsize) {
  const auto swap_all = [&]<class T>(T) {
    for (std::size_t i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, data + i * sizeof(T), sizeof(T));
      if constexpr (sizeof(T) == 2) value = __builtin_bswap16(value);
      if constexpr (sizeof(T) == 4) value = __builtin_bswap32(value);
      if constexpr (sizeof(T) == 8) value = __builtin_bswap64(value);
      std::memcpy(data + i * sizeof(T), &value, sizeof(T));
    }
  };
  if (itemsize == 2) swap_all(std::uint16_t{});
  if (itemsize == 4) swap_all(std::uint32_t{});
  if (itemsize == 8) swap_all(std::uint64_t{});
}

void normalize_bools(std::byte* data, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) data[i] = data[i] == std::byte{0} ? std::byte{0} : std::byte{1};
}

}  // namespace catenary::io::detail
