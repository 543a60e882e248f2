#pragma once
// Tensors in several safetensors files, listed in an index (Hugging Face's model.safetensors.index.json).

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catenary/io/safetensors.h"

namespace catenary::io {

/// The content of an index: names of tensors with their files, in order.
using SafetensorsIndex = std::vector<std::pair<std::string, std::string>>;
/// Reads an index's `weight_map`. `name` is used in messages. Throws FileError for an invalid index, repeated tensors,
/// and files outside the index's folder.
CT_API SafetensorsIndex read_safetensors_index(std::span<const std::byte> bytes, const std::string& name);

/// Reads all files of an index as a single set of tensors. Also accepts a single safetensors file, and a folder that
/// contains model.safetensors.index.json or model.safetensors.
class CT_API ShardedSafetensorsReader {
 public:
  using Tensor = SafetensorsReader::Tensor;

  /// Maps all files until the reader is destroyed. Throws FileError if a file is missing or damaged, if a tensor is not
  /// in the file that the index names, or if a file has a tensor that the index lacks.
  explicit ShardedSafetensorsReader(const std::string& path);
  ShardedSafetensorsReader(ShardedSafetensorsReader&&) noexcept;
  ShardedSafetensorsReader& operator=(ShardedSafetensorsReader&&) noexcept;
  ~ShardedSafetensorsReader();

  /// Returns the names in the order of the files, and inside a file in the order of its header.
  const std::vector<std::string>& names() const;
  bool contains(const std::string& name) const;
  /// See SafetensorsReader. Offsets are relative to the data of the tensor's file.
  const Tensor& tensor(const std::string& name) const;
  std::span<const std::byte> bytes(const std::string& name) const;
  HostArray read(const std::string& name) const;
  /// Return the file of a tensor, and that file's `__metadata__`.
  const std::string& file_of(const std::string& name) const;
  const std::map<std::string, std::string>& metadata_of(const std::string& name) const;
  /// Returns the paths of all files, in the order of their first mention in the index.
  const std::vector<std::string>& files() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes tensors in the given order to FOLDER/model-00001-of-00003.safetensors and so on, each with the metadata and
/// at most `max_bytes` of data (a larger tensor gets a separate file). Then writes the index and returns its path. Each
/// file appears complete or not at all, the index last. Throws the errors of write_safetensors.
CT_API std::string write_sharded_safetensors(const std::string& folder,
                                             const std::vector<std::pair<std::string, HostArray>>& tensors,
                                             std::uint64_t max_bytes,
                                             const std::map<std::string, std::string>& metadata = {});

}  // namespace catenary::io
