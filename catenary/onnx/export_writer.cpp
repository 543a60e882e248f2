#include "catenary/onnx/export_writer.h"

#include <algorithm>

#include "catenary/array/io.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/core/version.h"
#include "catenary/onnx/file.h"

namespace catenary::onnx::exporting {

namespace {

using io::ProtobufWriter;

/// The version of the file format that each version of the operators came with.
std::int64_t ir_version_of(std::int64_t opset) { return opset < 19 ? 8 : opset < 21 ? 9 : opset < 23 ? 10 : 11; }

ProtobufWriter attribute_message(const NodeAttribute& attribute) {
  enum Type : int { real = 1, integer = 2, text = 3, integers = 7 };
  ProtobufWriter m;
  m.text(1, attribute.name);
  if (const auto* i = std::get_if<std::int64_t>(&attribute.value)) m.integer(3, *i).integer(20, Type::integer);
  if (const auto* r = std::get_if<double>(&attribute.value)) m.real(2, static_cast<float>(*r)).integer(20, Type::real);
  if (const auto* t = std::get_if<std::string>(&attribute.value)) m.text(4, *t).integer(20, Type::text);
  if (const auto* all = std::get_if<Integers>(&attribute.value)) {
    for (const std::int64_t i : *all) m.integer(8, i);
    m.integer(20, Type::integers);
  }
  return m;
}

ProtobufWriter port_message(const GraphPort& port) {
  ProtobufWriter shape;
  for (const auto& extent : port.shape) {
    ProtobufWriter one;
    if (const auto* number = std::get_if<std::int64_t>(&extent))
      one.integer(1, *number);
    else if (const auto& name = std::get<std::string>(extent); !name.empty())
      one.text(2, name);
    shape.message(1, one);
  }
  const ProtobufWriter tensor = ProtobufWriter().integer(1, type_of_dtype(port.dtype)).message(2, shape);
  return ProtobufWriter().text(1, port.name).message(2, ProtobufWriter().message(1, tensor));
}

/// The message of an initializer without its last part, the elements.
ProtobufWriter initializer_head(const std::string& name, const io::HostArray& values) {
  ProtobufWriter m;
  for (const std::int64_t n : values.shape) m.integer(1, n);
  return m.integer(2, type_of_dtype(values.dtype)).text(8, name).start(9, values.nbytes());
}

}  // namespace

std::int64_t type_of_dtype(Dtype dtype) {
  for (int type = 1; type <= 16; ++type)
    if (dtype_of_type(type) == dtype) return type;
  throw ValueError(fmt::format("export_model: ONNX has no {}", dtype));
}

std::string GraphWriter::unique(const std::string& name) {
  for (;;) {
    const int count = names_[name]++;
    if (count == 0) return name;
    const std::string other = fmt::format("{}_{}", name, count);
    if (names_.emplace(other, 1).second) return other;
  }
}

std::vector<std::string> GraphWriter::node(const std::string& type, const std::vector<std::string>& inputs, int results,
                                           const NodeAttributes& attributes) {
  Node made{type, unique(type), inputs, {}, attributes};
  for (int i = 0; i < results; ++i) made.outputs.push_back(unique(fmt::format("{}_y", made.name)));
  nodes_.push_back(made);
  return made.outputs;
}

std::string GraphWriter::initializer(const std::string& name, const io::HostArray& values) {
  initializers_.emplace_back(unique(name), values);
  return initializers_.back().first;
}
std::string GraphWriter::parameter(const std::string& name, const Array& values) {
  return initializer(name, to_host(values));
}
std::string GraphWriter::constant(const Array& values) {
  const io::HostArray host = to_host(values);
  std::string key = fmt::format("{} {} ", host.dtype, host.shape);
  key.append(reinterpret_cast<const char*>(host.data.get()), host.nbytes());
  const auto [at, is_new] = constants_.emplace(std::move(key), "");
  if (is_new) at->second = initializer("constant", host);
  return at->second;
}
std::string GraphWriter::integers(const Integers& values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return constant(Array::from_host(values.data(), {size}, Dtype::int64, get_device("cpu")));
}

bool GraphWriter::is_initializer(const std::string& name) const {
  return std::ranges::any_of(initializers_, [&](const auto& initializer) { return initializer.first == name; });
}

void GraphWriter::rename(const std::string& from, const std::string& to) {
  for (Node& node : nodes_) {
    std::ranges::replace(node.inputs, from, to);
    std::ranges::replace(node.outputs, from, to);
  }
}

void GraphWriter::write(const std::string& path, const std::vector<GraphPort>& inputs,
                        const std::vector<GraphPort>& outputs) const {
  ProtobufWriter graph;
  for (const Node& node : nodes_) {
    ProtobufWriter m;
    for (const std::string& name : node.inputs) m.text(1, name);
    for (const std::string& name : node.outputs) m.text(2, name);
    m.text(3, node.name).text(4, node.type);
    for (const NodeAttribute& attribute : node.attributes) m.message(5, attribute_message(attribute));
    graph.message(1, m);
  }
  graph.text(2, "catenary");
  for (const GraphPort& port : inputs) graph.message(11, port_message(port));
  for (const GraphPort& port : outputs) graph.message(12, port_message(port));
  // The elements of the initializers go to the file directly, behind the start of their messages.
  std::vector<ProtobufWriter> heads;
  std::uint64_t size = graph.bytes().size();
  for (const auto& [name, values] : initializers_) {
    const ProtobufWriter head = initializer_head(name, values);
    heads.push_back(ProtobufWriter().start(5, head.bytes().size() + values.nbytes()));
    size += heads.back().bytes().size() + head.bytes().size() + values.nbytes();
  }
  ProtobufWriter model;
  model.integer(1, ir_version_of(opset_)).text(2, "catenary").text(3, version());
  model.message(8, ProtobufWriter().text(1, "").integer(2, opset_)).start(7, size);
  if (size + model.bytes().size() > INT32_MAX)
    throw ValueError(fmt::format("export_model: {}: the model has {} bytes, but an ONNX file has at most 2 GiB", path,
                                 size + model.bytes().size()));
  os::AtomicFile file(path);
  file.write(model.bytes() + graph.bytes());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const auto& [name, values] = initializers_[i];
    file.write(heads[i].bytes() + initializer_head(name, values).bytes());
    file.write(values.bytes());
  }
  file.commit();
}

}  // namespace catenary::onnx::exporting
