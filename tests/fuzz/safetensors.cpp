// libFuzzer: reads arbitrary bytes as a safetensors file. Only FileError may be thrown.

#include "catenary/io/safetensors.h"

#include <cstddef>
#include <span>

#include "catenary/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const catenary::io::SafetensorsReader file(bytes, "fuzz");
    for (const std::string& name : file.names())
      if (file.tensor(name).dtype) file.read(name);
  } catch (const catenary::FileError&) {
  }
  return 0;
}
