#pragma once
// Reads and writes files of tensors, for commands that convert them.

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

/// Reads npz, or safetensors: a file, an index or a folder.
Tensors read_tensors(const std::string& file);
/// The blocks of quantised weights and their kind, read from the tensor `name` as links write them. `find` returns a
/// tensor of another name, or null.
struct Blocks {
  std::string name;  ///< of the weights
  Quantization kind;
  Shape shape;
};
std::optional<Blocks> blocks_of(const std::string& name, Dtype dtype, const Shape& shape,
                                const std::function<std::optional<io::HostArray>(const std::string&)>& find);
/// Returns the names of the tensors that links have in place of a quantised W.
std::string blocks_name(const std::string& weight);
std::string kind_name(const std::string& weight);

/// Creates the folder of a file if it is missing.
void make_folder_of(const std::string& file);
/// Writes safetensors, or npz, where '/' separates the parts of names. Creates the folder if it is missing.
void write_tensors(const std::string& file, const Tensors& tensors);

}  // namespace catenary::command
