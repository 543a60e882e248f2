// libFuzzer: reads arbitrary bytes as an ONNX file, and runs the model on ones. Only the library's errors may be
// thrown, and their messages name the file.

#include <cstddef>
#include <cstdlib>
#include <fstream>

#include "catenary/core/os/file.h"
#include "tests/folder.h"
#include "tests/onnx/outcome.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const tests::Folder folder;
  const std::string path = folder / "model.onnx";
  catenary::os::remove_file(path);  // overwriting a file may wait for the disk on some file systems
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const std::string error = onnx_writer::error_of_file(path);
  if (!error.empty() && error.find(path) == std::string::npos) std::abort();
  return 0;
}
