#pragma once
// Private to io: errors with file and offset, numbers in a given byte order, and sizes that are checked before use.

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/format.h"
#include "catenary/io/host_array.h"

namespace catenary::io::detail {

static_assert(std::endian::native == std::endian::little, "HostArray is little-endian");

/// Throws FileError: "name: at byte 12: message".
template <class... Args>
[[noreturn]] void fail_at(const std::string& name, std::uint64_t offset, fmt::format_string<Args...> format,
                          Args&&... args) {
  throw FileError(fmt::format("{}: at byte {}: {}", name, offset, fmt::format(format, std::forward<Args>(args)...)));
}

template <class T>
T load_le(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
T load_be(const std::byte* from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value = static_cast<T>((value << 8) | std::to_integer<T>(from[i]));
  return value;
}

template <class T>
void append_le(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Makes a piece of text from a file safe for a message: shortened, and without characters that would break the
/// message.
std::string shown(std::string_view text);

/// Joins names for a message. Of many, lists the first 20 and the number of the others.
std::string listed(const std::vector<std::string>& names, std::string_view between);

/// Returns the most bytes that deflate can make from `compressed` bytes (258 bytes from a 2-bit code: 1032 to 1), with
/// room for block headers.
inline std::uint64_t deflate_bound(std::uint64_t compressed) {
  constexpr std::uint64_t kRatio = 1032;
  return compressed > UINT64_MAX / (2 * kRatio) ? UINT64_MAX / 2 : compressed * kRatio + 64;
}

/// Returns the number of elements of a shape read from a file. Throws FileError if a size is negative or the product is
/// out of range. Zeros are left out of the product, so that strides are in range, too.
std::int64_t count_elements(const Shape& shape, const std::string& name, std::uint64_t offset);

/// Appends a size read from a file. Throws FileError for more than kMaxDims axes.
void append_extent(Shape& shape, std::int64_t extent, const std::string& name, std::uint64_t offset);

/// Returns the value of a text that is a decimal number, "nan" or "inf", or nullopt for other texts.
std::optional<double> parse_number(std::string_view text);

/// Reverses the bytes of each of `count` items.
void swap_bytes(std::byte* data, std::size_t count, std::size_t itemsize);

/// Changes every byte to 0 or 1, as bool requires.
void normalize_bools(std::byte* data, std::size_t count);

}  // namespace catenary::io::detail
