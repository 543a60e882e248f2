#pragma once
// Private to io: reads .npy in two steps, so that a zip member can be unpacked directly into the array.

#include "catenary/io/detail.h"
#include "catenary/io/npy.h"

namespace catenary::io::detail {

enum class NpyKind { number, unicode, bytes, object };

struct NpyHeader {
  NpyKind kind = NpyKind::number;
  Dtype dtype = Dtype::float32;  // for numbers
  std::size_t itemsize = 0;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
  std::int64_t count = 0;
  std::uint64_t data_bytes = 0;  // of the elements, or for objects the remaining bytes
};

inline constexpr std::size_t kNpyPreamble = 12;  // enough to find the end of the header

/// Returns the offset of the elements, from the first kNpyPreamble bytes (or all, if there are fewer).
std::size_t npy_data_offset(std::span<const std::byte> start, std::uint64_t total, const std::string& name);
/// Parses the header (`start` holds all bytes before the elements) and checks that it matches `total` bytes.
NpyHeader parse_npy_header(std::span<const std::byte> start, std::uint64_t total, const std::string& name,
                           const NpyOptions&);
/// Converts elements to C order and little-endian.
HostArray finish_npy_numbers(const NpyHeader& header, HostArray raw);
/// Parses strings and None from the bytes after the header, which begin at `offset` in the file.
NpyValue parse_npy_object(const NpyHeader& header, std::span<const std::byte> data, const std::string& name,
                          std::uint64_t offset);

}  // namespace catenary::io::detail
