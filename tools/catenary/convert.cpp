#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "catenary/catenary.h"
#include "catenary/core/os/file.h"
#include "catenary/io/identify.h"
#include "catenary/io/npz.h"
#include "catenary/io/safetensors_index.h"
#include "tools/catenary/commands.h"

namespace catenary::command {

namespace {

using Tensors = std::vector<std::pair<std::string, io::HostArray>>;

Tensors read_all(const std::string& file) {
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

void write_all(const std::string& file, const Tensors& tensors) {
  if (file.ends_with(".safetensors")) return io::write_safetensors(file, tensors);
  io::NpzWriter writer(file);
  for (const auto& [name, array] : tensors) {
    std::string key = name;
    std::replace(key.begin(), key.end(), '.', '/');
    writer.write(key, array);
  }
  writer.finish();
}

}  // namespace

int convert(const ConvertOptions& options) {
  const serializers::Names names(options.rules);
  if (!options.to.ends_with(".safetensors") && !options.to.ends_with(".npz"))
    throw ValueError(options.to + ": the name of the file to write must end with .safetensors or .npz");
  const Tensors tensors = read_all(options.from);
  std::vector<std::pair<std::string, Shape>> shapes;
  for (const auto& [name, array] : tensors) shapes.emplace_back(name, array.shape);
  Tensors renamed;
  for (const serializers::Names::Tensor& tensor : names.of(options.from, shapes)) {
    const auto theirs =
        std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.first == tensor.theirs; });
    renamed.emplace_back(tensor.name,
                         theirs == tensors.end() ? io::HostArray::scalar(std::int64_t{0}) : theirs->second);
    renamed.back().second.shape = tensor.shape;
  }
  write_all(options.to, renamed);
  fmt::print("{}: {} tensors of {}\n", options.to, renamed.size(), options.from);
  return 0;
}

}  // namespace catenary::command
