// libFuzzer: reads arbitrary bytes as a .npy file. Only FileError may be thrown.

#include "catenary/io/npy.h"

#include <cstddef>
#include <span>

#include "catenary/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    catenary::io::read_npy_value(bytes, "fuzz", {.bfloat16_as_void = true});
  } catch (const catenary::FileError&) {
  }
  return 0;
}
