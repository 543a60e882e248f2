#pragma once
// Private to io: reads gzip (RFC 1952) from memory in pieces.

#include <zlib.h>

#include "catenary/io/detail.h"

namespace catenary::io::detail {

inline bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

/// Unpacks a gzip stream of one or several members. zlib checks the CRC and length of each member.
class GzipReader {
 public:
  GzipReader(std::span<const std::byte> bytes, const std::string& name);
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;
  ~GzipReader();

  /// Fills `to` as far as the stream goes and returns the number of bytes. Throws FileError if the stream is damaged.
  std::size_t read(std::span<std::byte> to);

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
  std::size_t position_ = 0;
  bool member_ended_ = false;
  z_stream stream_{};
};

}  // namespace catenary::io::detail
