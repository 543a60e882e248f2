#pragma once
// The tensors of a file, for the commands that write them anew.

#include <string>
#include <utility>
#include <vector>

#include "catenary/io/host_array.h"

namespace catenary::command {

using Tensors = std::vector<std::pair<std::string, io::HostArray>>;

/// Of an npz file, or of safetensors: a file, an index or a folder.
Tensors read_tensors(const std::string& file);
/// Writes safetensors, or npz, where names have '/' between their parts.
void write_tensors(const std::string& file, const Tensors& tensors);

}  // namespace catenary::command
