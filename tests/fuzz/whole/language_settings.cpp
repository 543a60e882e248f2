// libFuzzer: reads arbitrary bytes as a language model's config.json, beside the tensors of a small Llama. Only
// FileError may be thrown. llama.json in the corpus holds the right settings of that Llama.

#include <cstddef>
#include <fstream>

#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/device/device.h"
#include "catenary/links/models/llama.h"
#include "catenary/links/models/load_language_model.h"
#include "catenary/links/models/save_language_model.h"
#include "tests/folder.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace catenary;
  static const tests::Folder folder;
  [[maybe_unused]] static const bool is_made = [] {
    const links::Llama model({.vocabulary = 5, .context = 8, .width = 8, .layers = 1, .heads = 2, .hidden = 6});
    links::save_language_model(folder.path, model);
    return true;
  }();
  os::remove_file(folder / "config.json");  // overwriting a file may wait for the disk on some file systems
  std::ofstream(folder / "config.json", std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    links::load_language_model(folder.path, {.device = Device()});
  } catch (const FileError&) {
  }
  return 0;
}
