#pragma once
// Private to io: the two halves of reading .npy, so that a zip member can be unpacked straight into the array.

#include "catenary/io/detail.h"
#include "catenary/io/npy.h"

namespace catenary::io::detail {

enum class NpyKind { number, unicode, bytes, object };

struct NpyHeader {
  NpyKind kind = NpyKind::number;
  Dtype dtype = Dtype::float32;  // of numbers
  std::size_t itemsize = 0;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
  std::int64_t count = 0;
  std::uint64_t data_bytes = 0;  // of the elements; for objects whatever is left
};

inline constexpr std::size_t kNpyPreamble = 12;  // enough to know where the header ends

/// Where the elements begin, from the first kNpyPreamble bytes (or all, when there are fewer).
std::size_t npy_data_offset(std::span<const std::byte> start, std::uint64_t total, const std::string& name);
/// Reads the header (`start` holds all bytes before the elements) and checks that `total` bytes are what it needs.
NpyHeader parse_npy_header(std::span<const std::byte> start, std::uint64_t total, const std::string& name,
                           const NpyOptions&);
/// Brings elements as they lie in the file to C order, little-endian.
HostArray finish_npy_numbers(const NpyHeader& header, HostArray raw);
/// Strings and None, from the bytes after the header; `offset` is where these lie in the file.
NpyValue parse_npy_object(const NpyHeader& header, std::span<const std::byte> data, const std::string& name,
                          std::uint64_t offset);

}  // namespace catenary::io::detail
