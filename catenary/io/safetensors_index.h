#pragma once
// Tensors that are spread over several safetensors files, which an index names (Hugging Face's
// model.safetensors.index.json).

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catenary/io/safetensors.h"

namespace catenary::io {

/// What an index says: names of tensors and the file that each is in, in its order.
using SafetensorsIndex = std::vector<std::pair<std::string, std::string>>;
/// Reads an index's `weight_map`; `name` is for messages. Throws FileError for what is no index, for a tensor that is
/// named twice, and for a file that does not lie in the folder of the index or below it.
CT_API SafetensorsIndex read_safetensors_index(std::span<const std::byte> bytes, const std::string& name);

/// The tensors of all files of an index as one. A safetensors file by itself is taken too, and a folder that has
/// model.safetensors.index.json or model.safetensors.
class CT_API ShardedSafetensorsReader {
 public:
  using Tensor = SafetensorsReader::Tensor;

  /// Opens all files (mapped while the reader lives). Throws FileError where one is missing or damaged, where a tensor
  /// is not in the file that the index names, and where a file has one that the index does not name.
  explicit ShardedSafetensorsReader(const std::string& path);
  ShardedSafetensorsReader(ShardedSafetensorsReader&&) noexcept;
  ShardedSafetensorsReader& operator=(ShardedSafetensorsReader&&) noexcept;
  ~ShardedSafetensorsReader();

  /// Names in the order of the files, within one of its header.
  const std::vector<std::string>& names() const;
  bool contains(const std::string& name) const;
  /// As SafetensorsReader's; offsets are in the data of the tensor's file.
  const Tensor& tensor(const std::string& name) const;
  std::span<const std::byte> bytes(const std::string& name) const;
  HostArray read(const std::string& name) const;
  /// The file that a tensor is in, and that file's `__metadata__`.
  const std::string& file_of(const std::string& name) const;
  const std::map<std::string, std::string>& metadata_of(const std::string& name) const;
  /// Paths of all files, in the order in which the index names them first.
  const std::vector<std::string>& files() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes tensors, in the order given, as FOLDER/model-00001-of-00003.safetensors and so on, each with at most
/// `max_bytes` of data (a tensor that is larger has one of its own) and the metadata, then the index that names them;
/// gives its path. Each file appears complete or not at all, the index last. Throws what write_safetensors throws.
CT_API std::string write_sharded_safetensors(const std::string& folder,
                                             const std::vector<std::pair<std::string, HostArray>>& tensors,
                                             std::uint64_t max_bytes,
                                             const std::map<std::string, std::string>& metadata = {});

}  // namespace catenary::io
