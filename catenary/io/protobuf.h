#pragma once
// The wire format of protocol buffers, without a schema. Reading makes no copies and checks lengths before use.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::io {

/// A field of a message: its number and its value. Each accessor throws FileError unless the field has its wire type.
class CT_API ProtobufField {
 public:
  enum class Wire : std::uint8_t { varint, fixed64, bytes, fixed32 };
  ProtobufField(int number, Wire wire, std::uint64_t value, std::string_view bytes, const std::string& file,
                std::uint64_t offset)
      : number_(number), wire_(wire), value_(value), bytes_(bytes), file_(file), offset_(offset) {}

  int number() const { return number_; }
  /// The offset of the field's value in the file, in bytes.
  std::uint64_t offset() const { return offset_; }
  std::int64_t integer() const;
  float real() const;
  /// A string, bytes, or another message.
  std::string_view bytes() const;
  std::string text() const { return std::string(bytes()); }
  /// Append a repeated field's value, or all values if they are packed.
  void append_to(std::vector<std::int64_t>& integers) const;
  void append_to(std::vector<float>& reals) const;
  void append_to(std::vector<double>& reals) const;

 private:
  void require(Wire wire, const char* what) const;
  template <class T>
  void append_fixed(std::vector<T>& values, Wire wire, const char* what) const;

  int number_;
  Wire wire_;
  std::uint64_t value_;
  std::string_view bytes_;
  const std::string& file_;
  std::uint64_t offset_;
};

/// A message in a file: its bytes, the file's name for messages, and the offset of its first byte.
struct ProtobufMessage {
  std::string_view bytes;
  const std::string& file;
  std::uint64_t offset = 0;
  /// Returns the message in a field.
  ProtobufMessage inside(const ProtobufField& field) const { return {field.bytes(), file, field.offset()}; }
};

/// Calls `visit` with each field of a message. Throws FileError with the file and the byte if the message is malformed.
CT_API void read_protobuf(const ProtobufMessage& message, const std::function<void(const ProtobufField&)>& visit);

/// A message under construction. The functions append a field.
class CT_API ProtobufWriter {
 public:
  ProtobufWriter& integer(int field, std::int64_t value);
  ProtobufWriter& real(int field, float value);
  /// Appends a string or bytes.
  ProtobufWriter& text(int field, std::string_view value);
  ProtobufWriter& message(int field, const ProtobufWriter& value) { return text(field, value.bytes_); }
  /// Appends the start of a field of bytes. The caller writes its `size` bytes behind this message's bytes.
  ProtobufWriter& start(int field, std::uint64_t size);

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace catenary::io
