// libFuzzer: reads arbitrary bytes as a PNG image. Only FileError may be thrown. The CRCs of the chunks are corrected
// first, because hardly any input would pass the check otherwise.

#include "catenary/io/png.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "catenary/core/error.h"

namespace {

std::uint32_t crc_of(const unsigned char* data, std::size_t size) {
  std::uint32_t crc = 0xffffffffu;
  for (std::size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int k = 0; k < 8; ++k) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

void repair(std::vector<unsigned char>& png) {
  for (std::size_t at = 8; at + 12 <= png.size();) {
    const std::size_t length = (std::size_t{png[at]} << 24) | (png[at + 1] << 16) | (png[at + 2] << 8) | png[at + 3];
    if (length > png.size() - at - 12) return;
    const std::uint32_t crc = crc_of(png.data() + at + 4, length + 4);
    for (int i = 0; i < 4; ++i) png[at + 8 + length + i] = static_cast<unsigned char>(crc >> (24 - 8 * i));
    at += 12 + length;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::vector<unsigned char> png(data, data + size);
  repair(png);
  const auto bytes = std::as_bytes(std::span(png));
  try {
    catenary::io::read_png(bytes, "fuzz", {.channels = static_cast<int>(size % 5), .max_pixels = 1 << 22});
  } catch (const catenary::FileError&) {
  }
  return 0;
}
