#pragma once
// safetensors files: tensors by name behind a JSON header (huggingface/safetensors, "Format").

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// Opens a file by mapping it and checks the whole header: its length, names (no duplicates), shapes, that every tensor
/// has as many bytes as its shape and dtype need, and that the tensors cover the data without gap or overlap.
class CT_API SafetensorsReader {
 public:
  struct Tensor {
    std::string dtype_name;      ///< as in the file: "F32", "BF16", …
    std::optional<Dtype> dtype;  ///< nothing for those we do not have (F8_E4M3, C64, …)
    Shape shape;
    std::uint64_t begin = 0, end = 0;  ///< in the data
  };

  /// Opens a file (mapped while the reader lives); throws FileError.
  explicit SafetensorsReader(const std::string& path);
  /// Reads from memory, which must outlive the reader; `name` is for messages.
  SafetensorsReader(std::span<const std::byte> bytes, const std::string& name);
  SafetensorsReader(SafetensorsReader&&) noexcept;
  SafetensorsReader& operator=(SafetensorsReader&&) noexcept;
  ~SafetensorsReader();

  /// Names in the order of the header.
  const std::vector<std::string>& names() const;
  bool contains(const std::string& name) const;
  /// What the header says of a tensor; throws FileError when there is no such.
  const Tensor& tensor(const std::string& name) const;
  /// Its elements as they lie in the file (perhaps not aligned), without a copy.
  std::span<const std::byte> bytes(const std::string& name) const;
  /// A copy as an array; throws FileError for a dtype that we do not have.
  HostArray read(const std::string& name) const;
  /// The header's `__metadata__`.
  const std::map<std::string, std::string>& metadata() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes a safetensors file atomically: tensors by falling item size (so that all are aligned), otherwise in the order
/// given; the header padded to a multiple of 8. Throws ValueError for a name that is given twice, "__metadata__", or
/// text that is not UTF-8.
CT_API void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, HostArray>>& tensors,
                              const std::map<std::string, std::string>& metadata = {});

}  // namespace catenary::io
