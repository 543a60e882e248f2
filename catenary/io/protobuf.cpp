#include "catenary/io/protobuf.h"

#include <cstring>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

#include "catenary/io/detail.h"

namespace catenary::io {

void ProtobufField::require(Wire wire, const char* what) const {
  if (wire_ != wire) detail::fail_at(file_, offset_, "field {} is not {}", number_, what);
}

std::int64_t ProtobufField::integer() const {
  require(Wire::varint, "an integer");
  return static_cast<std::int64_t>(value_);
}

float ProtobufField::real() const {
  require(Wire::fixed32, "a 32-bit float");
  const auto bits = static_cast<std::uint32_t>(value_);
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::string_view ProtobufField::bytes() const {
  require(Wire::bytes, "a string, bytes or a message");
  return bytes_;
}

void ProtobufField::append_to(std::vector<std::int64_t>& integers) const {
  if (wire_ == Wire::varint) {
    integers.push_back(integer());
    return;
  }
  const std::string_view packed = bytes();
  const char *at = packed.data(), *end = at + packed.size();
  try {
    while (at != end) integers.push_back(static_cast<std::int64_t>(protozero::decode_varint(&at, end)));
  } catch (const protozero::exception& error) {
    detail::fail_at(file_, offset_, "field {} does not hold integers: {}", number_, error.what());
  }
}

template <class T>
void ProtobufField::append_fixed(std::vector<T>& values, Wire wire, const char* what) const {
  T value;
  if (wire_ == wire) {
    std::memcpy(&value, &value_, sizeof value);  // the machine is little-endian
    values.push_back(value);
    return;
  }
  const std::string_view packed = bytes();
  if (packed.size() % sizeof(T) != 0) detail::fail_at(file_, offset_, "field {} does not hold {}", number_, what);
  const std::size_t old = values.size();
  values.resize(old + packed.size() / sizeof(T));
  if (!packed.empty()) std::memcpy(values.data() + old, packed.data(), packed.size());
}

void ProtobufField::append_to(std::vector<float>& reals) const { append_fixed(reals, Wire::fixed32, "32-bit floats"); }
void ProtobufField::append_to(std::vector<double>& reals) const { append_fixed(reals, Wire::fixed64, "64-bit floats"); }

void read_protobuf(const ProtobufMessage& message, const std::function<void(const ProtobufField&)>& visit) {
  protozero::pbf_reader reader(protozero::data_view(message.bytes.data(), message.bytes.size()));
  std::uint64_t offset = message.offset;
  const auto next = [&] {
    try {
      const auto left = static_cast<std::uint64_t>(reader.data().size());
      offset = message.offset + message.bytes.size() - left;
      return reader.next();
    } catch (const protozero::exception& error) {
      detail::fail_at(message.file, offset, "not a protocol buffer: {}", error.what());
    }
  };
  while (next()) {
    const auto number = static_cast<int>(reader.tag());
    try {
      using Wire = ProtobufField::Wire;
      std::uint64_t value = 0;
      std::string_view bytes;
      Wire wire = Wire::varint;
      switch (reader.wire_type()) {
        case protozero::pbf_wire_type::varint:
          value = reader.get_uint64();
          break;
        case protozero::pbf_wire_type::fixed64:
          wire = Wire::fixed64;
          value = reader.get_fixed64();
          break;
        case protozero::pbf_wire_type::fixed32:
          wire = Wire::fixed32;
          value = reader.get_fixed32();
          break;
        case protozero::pbf_wire_type::length_delimited: {
          wire = Wire::bytes;
          const protozero::data_view view = reader.get_view();
          bytes = {view.data(), view.size()};
          offset = message.offset + static_cast<std::uint64_t>(view.data() - message.bytes.data());
          break;
        }
        default:
          throw protozero::unknown_pbf_wire_type_exception();
      }
      visit(ProtobufField(number, wire, value, bytes, message.file, offset));
    } catch (const protozero::exception& error) {
      detail::fail_at(message.file, offset, "field {} is malformed: {}", number, error.what());
    }
  }
}

ProtobufWriter& ProtobufWriter::integer(int field, std::int64_t value) {
  protozero::pbf_writer(bytes_).add_int64(static_cast<protozero::pbf_tag_type>(field), value);
  return *this;
}

ProtobufWriter& ProtobufWriter::real(int field, float value) {
  protozero::pbf_writer(bytes_).add_float(static_cast<protozero::pbf_tag_type>(field), value);
  return *this;
}

ProtobufWriter& ProtobufWriter::text(int field, std::string_view value) {
  protozero::pbf_writer(bytes_).add_bytes(static_cast<protozero::pbf_tag_type>(field), value.data(), value.size());
  return *this;
}

ProtobufWriter& ProtobufWriter::start(int field, std::uint64_t size) {
  const auto wire = static_cast<std::uint64_t>(protozero::pbf_wire_type::length_delimited);
  protozero::add_varint_to_buffer(&bytes_, static_cast<std::uint64_t>(field) << 3 | wire);
  protozero::add_varint_to_buffer(&bytes_, size);
  return *this;
}

}  // namespace catenary::io
