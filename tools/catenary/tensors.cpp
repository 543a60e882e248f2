#include "tools/catenary/tensors.h"

#include <algorithm>

#include "catenary/core/os/file.h"
#include "catenary/io/identify.h"
#include "catenary/io/npz.h"
#include "catenary/io/safetensors_index.h"

namespace catenary::command {

Tensors read_tensors(const std::string& file) {
  Tensors tensors;
  const auto read = [&](const auto& reader, const auto& one) {
    for (const std::string& name : reader.names()) tensors.emplace_back(name, one(name));
  };
  if (!os::is_directory(file) && io::identify(file) == io::FileKind::npz) {
    const io::NpzReader reader(file);
    read(reader, [&](const std::string& name) { return reader.read_array(name); });
  } else {
    const io::ShardedSafetensorsReader reader(file);
    read(reader, [&](const std::string& name) { return reader.read(name); });
  }
  return tensors;
}

void write_tensors(const std::string& file, const Tensors& tensors) {
  if (file.ends_with(".safetensors")) return io::write_safetensors(file, tensors);
  io::NpzWriter writer(file);
  for (const auto& [name, array] : tensors) {
    std::string key = name;
    std::replace(key.begin(), key.end(), '.', '/');
    writer.write(key, array);
  }
  writer.finish();
}

}  // namespace catenary::command
