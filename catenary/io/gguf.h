#pragma once
// GGUF files: metadata and tensors, plain or in quantised blocks, as llama.cpp has them (ggml, docs/gguf.md).

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

/// What a value of the metadata is, by the format's numbers.
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
/// "uint8", "string", …
CT_API const char* gguf_type_name(GgufType type);

/// A value of the metadata by itself: what the writer takes. The type is that of the C++ value: a `std::uint32_t` is
/// written as uint32, an `int` as int32, and readers may want the one that they know.
using GgufValue =
    std::variant<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, float, bool,
                 std::string, std::uint64_t, std::int64_t, double, std::vector<std::uint8_t>, std::vector<std::int8_t>,
                 std::vector<std::uint16_t>, std::vector<std::int16_t>, std::vector<std::uint32_t>,
                 std::vector<std::int32_t>, std::vector<float>, std::vector<bool>, std::vector<std::string>,
                 std::vector<std::uint64_t>, std::vector<std::int64_t>, std::vector<double>>;
/// Keys and values, in order.
using GgufMetadata = std::vector<std::pair<std::string, GgufValue>>;

/// Opens a file of version 2 or 3 by mapping it and checks all of it but the elements: counts, types and lengths before
/// anything is kept, keys and names (none twice), alignment, shapes, and that the tensors lie aligned in the file and
/// apart. Little-endian. Of the metadata nothing is copied: texts are views that end with the reader.
class CT_API GgufReader {
 public:
  /// Where a value of the metadata lies.
  struct Value {
    GgufType type;
    GgufType element;          ///< of an array; `type` of what is none
    std::uint64_t count;       ///< elements of an array; 1 of what is none
    std::uint64_t begin, end;  ///< the value, or the elements, in the file
  };
  struct Tensor {
    std::string_view type_name;        ///< as in ggml: "F32", "Q4_K", …
    std::optional<Dtype> dtype;        ///< of plain elements
    std::optional<Quantization> kind;  ///< of blocks that can be read; neither for those that can only be listed
    bool read_as_numbers = false;      ///< of blocks (Q4_1, Q5_0, Q5_1) that read() gives as float32
    Shape shape;                       ///< as NumPy has it, the last axis is the one that lies together: `ne` reversed
    std::uint64_t begin, end;          ///< in the file
  };

  /// Opens a file (mapped while the reader lives); throws FileError.
  explicit GgufReader(const std::string& path);
  /// Reads from memory, which must outlive the reader; `name` is for messages.
  GgufReader(std::span<const std::byte> bytes, const std::string& name);
  GgufReader(GgufReader&&) noexcept;
  GgufReader& operator=(GgufReader&&) noexcept;
  ~GgufReader();

  /// The format's version, 2 or 3.
  int version() const;
  /// Bytes of whose multiples each tensor begins at one (`general.alignment`, else 32).
  std::uint64_t alignment() const;

  /// The metadata's keys, in the file's order.
  const std::vector<std::string_view>& keys() const;
  /// What there is under a key; nullptr when there is none.
  const Value* find(std::string_view key) const;
  /// The value of a key. Each throws FileError, which says what there is, when the key is missing or of another type:
  /// `integer` takes all whole numbers that int64 holds, `real` floats and whole numbers.
  std::string_view text(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  bool flag(std::string_view key) const;
  /// The elements of an array, of the same types; an empty array is one of any type.
  std::vector<std::string_view> texts(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;
  std::vector<double> reals(std::string_view key) const;
  std::vector<bool> flags(std::string_view key) const;
  /// A copy of whatever there is, as it is in the file; throws FileError for a missing key and for arrays of arrays.
  GgufValue value(std::string_view key) const;

  /// Names of the tensors, in the order of the header.
  const std::vector<std::string>& names() const;
  bool contains(const std::string& name) const;
  /// What the header says of a tensor; throws FileError when there is no such.
  const Tensor& tensor(const std::string& name) const;
  /// Its elements or blocks as they lie in the file (aligned there, perhaps not in memory), without a copy.
  std::span<const std::byte> bytes(const std::string& name) const;
  /// A copy: an array of the tensor's shape, or of a quantised one its blocks, uint8 [rows, bytes of a row], where rows
  /// are all axes but the last; of Q4_1, Q5_0 and Q5_1 the numbers that the blocks stand for. Throws FileError for a
  /// type that can only be listed.
  HostArray read(const std::string& name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A tensor to write: an array, or blocks with their kind and the shape that they stand for.
struct GgufTensor {
  std::string name;
  HostArray data;                         ///< of blocks: uint8, with the bytes of all rows
  std::optional<Quantization> kind = {};  ///< of blocks
  Shape shape = {};                       ///< of blocks; else it is the array's
};

/// Writes a GGUF file of version 3 atomically: metadata and tensors in the order given, tensors at multiples of 32
/// bytes, or of what the metadata has as `general.alignment`. Throws ValueError for a key or name that is given twice
/// or too long (ggml takes 63 bytes of a tensor's name), ShapeError for more than 4 axes and for blocks that do not fit
/// their shape, DtypeError for a dtype that the format lacks (bool and unsigned ones).
CT_API void write_gguf(const std::string& path, const GgufMetadata& metadata, const std::vector<GgufTensor>& tensors);

}  // namespace catenary::io
