#pragma once
// GGUF files: metadata, and plain or quantised tensors, as in llama.cpp (ggml, docs/gguf.md).

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "catenary/core/quantization.h"
#include "catenary/io/host_array.h"

namespace catenary::io {

/// The type of a metadata value, numbered as in the format.
enum class GgufType : std::uint32_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float32,
  boolean,
  string,
  array,
  uint64,
  int64,
  float64
};
/// Returns "uint8", "string", …
CT_API const char* gguf_type_name(GgufType type);

/// A metadata value for the writer. The C++ type decides the stored type: `std::uint32_t` is written as uint32, `int`
/// as int32. Readers may require a certain type.
using GgufValue =
    std::variant<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, float, bool,
                 std::string, std::uint64_t, std::int64_t, double, std::vector<std::uint8_t>, std::vector<std::int8_t>,
                 std::vector<std::uint16_t>, std::vector<std::int16_t>, std::vector<std::uint32_t>,
                 std::vector<std::int32_t>, std::vector<float>, std::vector<bool>, std::vector<std::string>,
                 std::vector<std::uint64_t>, std::vector<std::int64_t>, std::vector<double>>;
/// Keys and values, in order.
using GgufMetadata = std::vector<std::pair<std::string, GgufValue>>;

/// Maps a GGUF file of version 2 or 3 and checks everything except the elements: counts, types, lengths, unique valid
/// keys and names, alignment, shapes, and that tensors are aligned, inside the file and do not overlap. Little-endian.
/// Metadata is not copied: strings are views, valid as long as the reader.
class CT_API GgufReader {
 public:
  /// The location of a metadata value.
  struct Value {
    GgufType type;
    GgufType element;          ///< an array's element type, otherwise `type`
    std::uint64_t count;       ///< elements of an array, otherwise 1
    std::uint64_t begin, end;  ///< of the value, or of an array's elements, in the file
  };
  struct Tensor {
    std::string_view type_name;        ///< as in ggml: "F32", "Q4_K", …
    std::optional<Dtype> dtype;        ///< for plain elements
    std::optional<Quantization> kind;  ///< for blocks that can be read; types that can only be listed have neither
    bool read_as_numbers = false;      ///< for blocks (Q4_1, Q5_0, Q5_1) that read() returns as float32
    Shape shape;                       ///< in NumPy's order, with the contiguous axis last: `ne` reversed
    std::uint64_t begin, end;          ///< in the file
  };

  /// Maps a file until the reader is destroyed. Throws FileError.
  explicit GgufReader(const std::string& path);
  /// Reads from memory, which must outlive the reader. `name` is used in messages.
  GgufReader(std::span<const std::byte> bytes, const std::string& name);
  GgufReader(GgufReader&&) noexcept;
  GgufReader& operator=(GgufReader&&) noexcept;
  ~GgufReader();

  /// Returns the format's version, 2 or 3.
  int version() const;
  /// Returns the alignment of tensors in bytes (`general.alignment`, by default 32).
  std::uint64_t alignment() const;

  /// Returns the metadata's keys, in the file's order.
  const std::vector<std::string_view>& keys() const;
  /// Returns the location of a key's value, or nullptr.
  const Value* find(std::string_view key) const;
  /// Return the value of a key. `integer` accepts all integers in int64's range, `real` accepts floats and integers.
  /// Throw FileError if the key is missing or has another type, with the type found.
  std::string_view text(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  bool flag(std::string_view key) const;
  /// Return the elements of an array, with the conversions above. An empty array has any type.
  std::vector<std::string_view> texts(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;
  std::vector<double> reals(std::string_view key) const;
  std::vector<bool> flags(std::string_view key) const;
  /// Returns a copy of any value. Throws FileError for a missing key and for arrays of arrays.
  GgufValue value(std::string_view key) const;

  /// Returns the names of the tensors, in the header's order.
  const std::vector<std::string>& names() const;
  bool contains(const std::string& name) const;
  /// Returns a tensor's entry in the header. Throws FileError if there is none.
  const Tensor& tensor(const std::string& name) const;
  /// Returns a tensor's elements or blocks in the file, without a copy. They are aligned in the file, but perhaps not
  /// in memory.
  std::span<const std::byte> bytes(const std::string& name) const;
  /// Copies a tensor: an array of its shape, or for quantised types the blocks as uint8 [rows, bytes of a row], where
  /// rows are all axes but the last. Q4_1, Q5_0 and Q5_1 are converted to float32. Throws FileError for types that can
  /// only be listed.
  HostArray read(const std::string& name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A tensor to write: an array, or blocks with their kind and shape.
struct GgufTensor {
  std::string name;
  HostArray data;                         ///< for blocks: uint8, with the bytes of all rows
  std::optional<Quantization> kind = {};  ///< for blocks
  Shape shape = {};                       ///< for blocks (arrays have their shape)
};

/// Writes a GGUF file of version 3 atomically: metadata and tensors in the given order, tensors aligned to 32 bytes, or
/// to the metadata's `general.alignment`. Throws ValueError for repeated or too long keys and names (ggml allows 63
/// bytes for a tensor's name), ShapeError for more than 4 axes and for blocks that do not match their shape, and
/// DtypeError for dtypes that the format lacks (bool and unsigned integers).
CT_API void write_gguf(const std::string& path, const GgufMetadata& metadata, const std::vector<GgufTensor>& tensors);

}  // namespace catenary::io
