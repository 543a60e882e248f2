// libFuzzer: reads arbitrary bytes as a CSV table, with options chosen by the first byte. Only FileError may be thrown.

#include "catenary/io/csv.h"

#include <cstddef>
#include <span>

#include "catenary/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    catenary::io::CsvOptions options;
    const int choice = size > 0 ? data[0] : 0;
    if (choice & 1) options.header = false;
    if (choice & 2) options.delimiter = ';';
    if (choice & 4) options.comment = '#';
    if (choice & 8) options.missing = {"NA", "?"};
    catenary::io::read_csv(bytes, "fuzz", options);
  } catch (const catenary::FileError&) {
  }
  return 0;
}
