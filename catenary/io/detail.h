#pragma once
// Private to io: errors that name file and offset, numbers in given byte order, sizes that are checked before they are
// believed.

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

/// Throws FileError: "name: at byte 12: what".
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

/// A piece of text from a file as a message shows it: not too long, and without what would end or tear the message.
std::string shown(std::string_view text);

/// Names for a message, with a text between them; of many the first 20 and how many more there are.
std::string listed(const std::vector<std::string>& names, std::string_view between);

/// What deflate can make at most of `compressed` bytes (258 bytes a 2-bit code at best: 1032 to 1), with room for block
/// headers.
inline std::uint64_t deflate_bound(std::uint64_t compressed) {
  constexpr std::uint64_t kRatio = 1032;
  return compressed > UINT64_MAX / (2 * kRatio) ? UINT64_MAX / 2 : compressed * kRatio + 64;
}

/// Number of elements of a shape found in a file; throws FileError when an extent is negative or the product (taken
/// without zeros, so that strides fit too) is out of range.
std::int64_t count_elements(const Shape& shape, const std::string& name, std::uint64_t offset);

/// Appends an extent found in a file; throws FileError past kMaxDims.
void append_extent(Shape& shape, std::int64_t extent, const std::string& name, std::uint64_t offset);

/// The value of a whole text as a decimal number, "nan" or "inf"; nothing when it is something else.
std::optional<double> parse_number(std::string_view text);

/// Reverses the bytes of each of `count` items.
void swap_bytes(std::byte* data, std::size_t count, std::size_t itemsize);

/// Makes every byte 0 or 1, as a bool must be.
void normalize_bools(std::byte* data, std::size_t count);

}  // namespace catenary::io::detail
