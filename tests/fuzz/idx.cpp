// libFuzzer: reads arbitrary bytes as an IDX file, plain or gzip. Only FileError may be thrown.

#include "catenary/io/idx.h"

#include <cstddef>
#include <span>

#include "catenary/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    catenary::io::read_idx(bytes, "fuzz");
  } catch (const catenary::FileError&) {
  }
  return 0;
}
