#pragma once
// Writes ONNX files for tests, field by field.

#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace onnx_writer {

/// A message under construction.
struct Message {
  std::string bytes;

  Message& integer(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  Message& text(int field, const std::string& value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    bytes += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return text(field, value.bytes); }
  Message& real(int field, float value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 5);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
    bytes += static_cast<char>(value);
  }
};

using Numbers = std::vector<std::int64_t>;

inline Message tensor(const std::string& name, const Numbers& shape, const std::vector<float>& values) {
  Message m;
  for (const std::int64_t n : shape) m.integer(1, static_cast<std::uint64_t>(n));
  return m.integer(2, 1).text(8, name).text(
      9, std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
}

inline Message integers(const std::string& name, const Numbers& values) {
  Message m;
  m.integer(1, values.size()).integer(2, 7).text(8, name);
  for (const std::int64_t value : values) m.integer(7, static_cast<std::uint64_t>(value));
  return m;
}

inline Message attribute(const std::string& name, std::int64_t value) {
  return Message().text(1, name).integer(3, static_cast<std::uint64_t>(value)).integer(20, 2);
}
inline Message attribute(const std::string& name, double value) {
  return Message().text(1, name).real(2, static_cast<float>(value)).integer(20, 1);
}
inline Message attribute(const std::string& name, const Numbers& values) {
  Message m;
  m.text(1, name);
  for (const std::int64_t value : values) m.integer(8, static_cast<std::uint64_t>(value));
  return m.integer(20, 7);
}

inline Message node(const std::string& type, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, const std::vector<Message>& attributes = {},
                    const std::string& domain = "") {
  Message m;
  for (const std::string& name : inputs) m.text(1, name);
  for (const std::string& name : outputs) m.text(2, name);
  m.text(3, "the_" + outputs.at(0)).text(4, type);
  for (const Message& a : attributes) m.message(5, a);
  if (!domain.empty()) m.text(7, domain);
  return m;
}

/// An attribute that refers to an argument of a function.
inline Message reference(const std::string& name, const std::string& argument, std::uint64_t type) {
  return Message().text(1, name).integer(20, type).text(21, argument);
}

/// A value of float32, or of another TensorProto.DataType. An extent of -1 is called "n".
inline Message value(const std::string& name, const Numbers& shape, std::uint64_t type = 1) {
  Message extents;
  for (const std::int64_t n : shape)
    extents.message(1, n < 0 ? Message().text(2, "n") : Message().integer(1, static_cast<std::uint64_t>(n)));
  const Message tensor_type = Message().integer(1, type).message(2, extents);
  return Message().text(1, name).message(2, Message().message(1, tensor_type));
}

struct Graph {
  std::vector<Message> nodes, initializers, inputs, outputs;

  Message message() const {
    Message m;
    for (const Message& n : nodes) m.message(1, n);
    m.text(2, "graph");
    for (const Message& t : initializers) m.message(5, t);
    for (const Message& v : inputs) m.message(11, v);
    for (const Message& v : outputs) m.message(12, v);
    return m;
  }
};

inline Message attribute(const std::string& name, const Graph& graph) {
  return Message().text(1, name).message(6, graph.message()).integer(20, 5);
}

/// A function in the domain "local".
inline Message function(const std::string& name, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::vector<Message>& nodes,
                        std::uint64_t opset = 20) {
  Message m;
  m.text(1, name).text(10, "local").message(9, Message().integer(2, opset));
  for (const std::string& input : inputs) m.text(4, input);
  for (const std::string& output : outputs) m.text(5, output);
  for (const Message& n : nodes) m.message(7, n);
  return m;
}

inline Message model(const Message& graph, std::uint64_t opset = 20) {
  return Message().integer(1, 10).text(2, "test").message(7, graph).message(8, Message().integer(2, opset));
}

inline void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

}  // namespace onnx_writer
