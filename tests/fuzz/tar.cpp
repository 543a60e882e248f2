// libFuzzer: reads arbitrary bytes as a tar archive. Only FileError may be thrown. The checksums of the headers are
// corrected first, because hardly any input would pass the check otherwise.

#include "catenary/io/tar.h"

#include <cstdio>

#include "catenary/core/error.h"

namespace {

void repair(std::vector<unsigned char>& tar) {
  for (std::size_t at = 0; at + 512 <= tar.size();) {
    unsigned char* header = tar.data() + at;
    unsigned sum = 0, size = 0;
    for (std::size_t i = 0; i < 512; ++i) sum += i >= 148 && i < 156 ? ' ' : header[i];
    if (sum == 8 * ' ') return;  // the end of the archive
    std::snprintf(reinterpret_cast<char*>(header) + 148, 8, "%06o", sum);
    for (std::size_t i = 124; i < 135; ++i) size = size * 8 + (header[i] & 7u);
    at += 512 + (std::size_t{size} + 511) / 512 * 512;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::vector<unsigned char> tar(data, data + size);
  if (size < 2 || data[0] != 0x1f || data[1] != 0x8b) repair(tar);
  try {
    catenary::io::read_tar(
        std::as_bytes(std::span(tar)), "fuzz", [](const std::string& name) { return name.size() % 2 == 0; },
        [](const std::string&, const std::vector<std::byte>&) {}, 1 << 20);
  } catch (const catenary::FileError&) {
  }
  return 0;
}
