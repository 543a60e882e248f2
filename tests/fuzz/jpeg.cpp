// libFuzzer: reads arbitrary bytes as a JPEG image. Only FileError may be thrown.

#include "catenary/io/jpeg.h"

#include <cstddef>
#include <span>

#include "catenary/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    catenary::io::read_jpeg(bytes, "fuzz", {.channels = static_cast<int>(size % 5), .max_pixels = 1 << 20});
  } catch (const catenary::FileError&) {
  }
  return 0;
}
