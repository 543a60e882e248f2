// libFuzzer: any bytes as a PNG image; nothing but FileError may come out.

#include "catenary/io/png.h"

#include <cstddef>
#include <span>

#include "catenary/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    catenary::io::read_png(bytes, "fuzz", {.channels = static_cast<int>(size % 5), .max_pixels = 1 << 22});
  } catch (const catenary::FileError&) {
  }
  return 0;
}
