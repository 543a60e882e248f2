#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "catenary/catenary.h"
#include "tools/catenary/commands.h"
#include "tools/catenary/tensors.h"

namespace catenary::command {

bool is_conversion_rule(const std::string& word) {
  return word == "torch" || word == "torchvision" || word == "timm" || word.find('=') != std::string::npos;
}

int convert(const ConvertOptions& options) {
  const serializers::Names names(options.rules);
  if (!options.to.ends_with(".safetensors") && !options.to.ends_with(".npz"))
    throw ValueError(options.to + ": the name of the file to write must end with .safetensors or .npz");
  const Tensors tensors = read_tensors(options.from);
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
  write_tensors(options.to, renamed);
  fmt::print("{}: {} tensors of {}\n", options.to, renamed.size(), options.from);
  return 0;
}

}  // namespace catenary::command
