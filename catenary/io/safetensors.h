#pragma once
// safetensors files: named tensors after a JSON header (huggingface/safetensors, "Format").

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// Maps a file and checks the whole header: its length, unique names, shapes, that every tensor's size matches its
/// shape and dtype, and that the tensors cover the data without gap or overlap.
class CT_API SafetensorsReader {
 public:
  struct Tensor {
    std::string dtype_name;      ///< as in the file: "F32", "BF16", …
    std::optional<Dtype> dtype;  ///< nullopt for unsupported dtypes (F8_E4M3, C64, …)
    Shape shape;
    std::uint64_t begin = 0, end = 0;  ///< relative to the data
  };

  /// Maps a file until the reader is destroyed. Throws FileError.
  explicit SafetensorsReader(const std::string& path);
  /// Reads from memory, which must outlive the reader. `name` is used in messages.
  SafetensorsReader(std::span<const std::byte> bytes, const std::string& name);
  SafetensorsReader(SafetensorsReader&&) noexcept;
  SafetensorsReader& operator=(SafetensorsReader&&) noexcept;
  ~SafetensorsReader();

  /// Returns the names in the header's order.
  const std::vector<std::string>& names() const;
  bool contains(const std::string& name) const;
  /// Returns a tensor's entry in the header. Throws FileError if there is none.
  const Tensor& tensor(const std::string& name) const;
  /// Returns a tensor's elements in the file (perhaps not aligned), without a copy.
  std::span<const std::byte> bytes(const std::string& name) const;
  /// Copies a tensor to an array. Throws FileError for unsupported dtypes.
  HostArray read(const std::string& name) const;
  /// Returns the header's `__metadata__`.
  const std::map<std::string, std::string>& metadata() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes a safetensors file atomically. Tensors are ordered by decreasing item size (so that all are aligned), then as
/// given, and the header is padded to a multiple of 8. Throws ValueError for repeated names, "__metadata__" as a name,
/// and text that is not UTF-8.
CT_API void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, HostArray>>& tensors,
                              const std::map<std::string, std::string>& metadata = {});

}  // namespace catenary::io
