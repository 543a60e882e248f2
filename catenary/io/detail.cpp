#include "catenary/io/detail.h"

#include <charconv>

namespace catenary::io::detail {

std::int64_t count_elements(const Shape& shape, const std::string& name, std::uint64_t offset) {
  constexpr std::int64_t kMost = std::int64_t{1} << 59;
  std::int64_t product = 1;
  bool none = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) fail_at(name, offset, "negative size in shape {}", shape);
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

std::string listed(const std::vector<std::string>& names, std::string_view between) {
  constexpr std::size_t kMost = 20;
  if (names.size() <= kMost) return fmt::format("{}", fmt::join(names, between));
  return fmt::format("{}{}… and {} more", fmt::join(names.begin(), names.begin() + kMost, between), between,
                     names.size() - kMost);
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 80;
  std::string result(text.substr(0, kMost));
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x20) c = '?';
  return text.size() <= kMost ? result : result + "…";
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

std::optional<double> parse_number(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  const char* end = text.data() + text.size();
  double value = 0;
  auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec == std::errc::result_out_of_range) {
    // out of double's range: long double shows whether too large or too small
    long double wide = 0;
    parsed = std::from_chars(text.data(), end, wide);
    value = static_cast<double>(wide);
  }
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return value;
}

}  // namespace catenary::io::detail
