// libFuzzer: reads arbitrary bytes as a .npz archive. Only FileError may be thrown.

#include "catenary/io/npz.h"

#include <cstddef>
#include <span>

#include "catenary/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const catenary::io::NpzReader npz(bytes, "fuzz", {.max_member_bytes = std::uint64_t{1} << 26});
    for (const std::string& key : npz.names()) {
      try {
        npz.read(key);
      } catch (const catenary::FileError&) {  // a damaged member does not affect the others
      }
    }
  } catch (const catenary::FileError&) {
  }
  return 0;
}
