// libFuzzer: reads arbitrary bytes as an index of safetensors files. Only FileError may be thrown, and no file outside
// the folder may be read.

#include "catenary/io/safetensors_index.h"

#include <cstddef>
#include <cstdlib>
#include <span>

#include "catenary/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    for (const auto& [tensor, file] : catenary::io::read_safetensors_index(bytes, "fuzz"))
      if (file.empty() || file.front() == '/' || ("/" + file + "/").find("/../") != std::string::npos) std::abort();
  } catch (const catenary::FileError&) {
  }
  return 0;
}
