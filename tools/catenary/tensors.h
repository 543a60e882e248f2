#pragma once
// The tensors of a file, for the commands that write them anew.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/core/quantization.h"
#include "catenary/io/host_array.h"

namespace catenary::command {

using Tensors = std::vector<std::pair<std::string, io::HostArray>>;

/// Of an npz file, or of safetensors: a file, an index or a folder.
Tensors read_tensors(const std::string& file);
/// What a tensor called `name` holds where it has the blocks of quantised weights beside their kind, as links write
/// them; `find` gives a tensor of another name, or nothing.
struct Blocks {
  std::string name;  ///< of the weights
  Quantization kind;
  Shape shape;
};
std::optional<Blocks> blocks_of(const std::string& name, Dtype dtype, const Shape& shape,
                                const std::function<std::optional<io::HostArray>(const std::string&)>& find);
/// The names of the tensors that links have in place of a quantised W.
std::string blocks_name(const std::string& weight);
std::string kind_name(const std::string& weight);

/// Makes the folder that a file is to lie in, where there is none.
void make_folder_of(const std::string& file);
/// Writes safetensors, or npz, where names have '/' between their parts. The folder is made where there is none.
void write_tensors(const std::string& file, const Tensors& tensors);

}  // namespace catenary::command
