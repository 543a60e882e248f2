#include "tools/catenary/tensors.h"

#include <algorithm>

#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/core/paths.h"
#include "catenary/io/identify.h"
#include "catenary/io/npz.h"
#include "catenary/io/safetensors_index.h"
#include "catenary/links/detail_quantized.h"

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

std::string blocks_name(const std::string& weight) { return weight + "_blocks"; }
std::string kind_name(const std::string& weight) { return weight + "_kind"; }

std::optional<Blocks> blocks_of(const std::string& name, Dtype dtype, const Shape& shape,
                                const std::function<std::optional<io::HostArray>(const std::string&)>& find) {
  const std::string end = blocks_name("");
  if (!name.ends_with(end)) return {};
  const std::string weight = name.substr(0, name.size() - end.size());
  const std::optional<io::HostArray> kind = find(kind_name(weight));
  if (!kind || kind->dtype != Dtype::int64) return {};
  const auto refuse = [](const std::string& why) { throw ValueError(why); };
  try {
    const links::detail::QuantizedForm form({kind->as<std::int64_t>(), kind->as<std::int64_t>() + kind->size()},
                                            refuse);
    form.check_blocks(dtype, shape, refuse);
    return Blocks{weight, form.kind, form.shape};
  } catch (const ValueError&) {
    return {};  // arrays that only have such names
  }
}

void make_folder_of(const std::string& file) {
  os::make_directories(folder_of(file));  // does nothing for ""
}

void write_tensors(const std::string& file, const Tensors& tensors) {
  make_folder_of(file);
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
