// libFuzzer: reads arbitrary bytes as a GGUF file. Only FileError may be thrown.

#include "catenary/io/gguf.h"

#include <cstddef>
#include <span>

#include "catenary/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using catenary::FileError;
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const catenary::io::GgufReader file(bytes, "fuzz");
    for (const std::string_view key : file.keys()) {
      try {
        file.value(key);
        file.reals(key);
        file.integers(key);
      } catch (const FileError&) {  // the value has another type
      }
    }
    for (const std::string& name : file.names())
      if (file.tensor(name).dtype || file.tensor(name).kind) file.read(name);
  } catch (const FileError&) {
  }
  return 0;
}
