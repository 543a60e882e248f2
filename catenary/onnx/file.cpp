#include "catenary/onnx/file.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <limits>

#include "catenary/core/format.h"
#include "catenary/core/paths.h"
#include "catenary/io/protobuf.h"

namespace catenary::onnx {

namespace {

using io::ProtobufField;
using io::ProtobufMessage;
using io::read_protobuf;

/// Graphs in attributes of If, Loop and Scan may be nested this deep.
constexpr int kMaxDepth = 32;
/// How many bytes of structures a file may give, besides 16 times its size. A node of two bytes takes hundreds.
constexpr std::uint64_t kMaxStructures = std::uint64_t{256} << 20;
/// How many bytes of external data tensors may have, besides 4 times the size of the file that holds them.
constexpr std::uint64_t kMaxShared = std::uint64_t{64} << 20;

struct DataType {
  const char* name;
  std::optional<Dtype> dtype;
};
/// TensorProto.DataType, by number.
const std::array kTypes = {
    DataType{"UNDEFINED", {}},
    DataType{"FLOAT", Dtype::float32},
    DataType{"UINT8", Dtype::uint8},
    DataType{"INT8", Dtype::int8},
    DataType{"UINT16", Dtype::uint16},
    DataType{"INT16", Dtype::int16},
    DataType{"INT32", Dtype::int32},
    DataType{"INT64", Dtype::int64},
    DataType{"STRING", {}},
    DataType{"BOOL", Dtype::bool_},
    DataType{"FLOAT16", Dtype::float16},
    DataType{"DOUBLE", Dtype::float64},
    DataType{"UINT32", Dtype::uint32},
    DataType{"UINT64", Dtype::uint64},
    DataType{"COMPLEX64", Dtype::complex64},
    DataType{"COMPLEX128", Dtype::complex128},
    DataType{"BFLOAT16", Dtype::bfloat16},
    DataType{"FLOAT8E4M3FN", {}},
    DataType{"FLOAT8E4M3FNUZ", {}},
    DataType{"FLOAT8E5M2", {}},
    DataType{"FLOAT8E5M2FNUZ", {}},
    DataType{"UINT4", {}},
    DataType{"INT4", {}},
    DataType{"FLOAT4E2M1", {}},
    DataType{"FLOAT8E8M0", {}},
    DataType{"UINT2", {}},
    DataType{"INT2", {}},
};

/// The nesting of graphs, and the memory for structures that a file may still take.
struct Reading {
  std::uint64_t left;
  int depth = 0;

  /// Throws FileError if the file takes too much memory.
  void count(std::size_t bytes, const ProtobufMessage& message) {
    if (bytes > left)
      throw FileError(
          fmt::format("{}: at byte {}: the nodes, attributes and values take more memory than {} bytes and "
                      "16 times the file",
                      message.file, message.offset, kMaxStructures));
    left -= bytes;
  }
};

std::pair<std::string, std::string> read_entry(const ProtobufMessage& message) {
  std::pair<std::string, std::string> entry;
  read_protobuf(message, [&](const ProtobufField& f) {
    if (f.number() == 1) entry.first = f.text();
    if (f.number() == 2) entry.second = f.text();
  });
  return entry;
}

Tensor read_tensor(const ProtobufMessage& message, Reading& reading) {
  reading.count(sizeof(Tensor), message);
  Tensor tensor;
  bool external = false;
  read_protobuf(message, [&](const ProtobufField& f) {
    switch (f.number()) {
      case 1:
        f.append_to(tensor.dims);
        break;
      case 2:
        tensor.type = static_cast<int>(f.integer());
        break;
      case 3:
        throw FileError(fmt::format("{}: at byte {}: a tensor in segments is not supported", message.file, f.offset()));
      case 4:
        f.append_to(tensor.reals);
        break;
      case 5:
      case 7:
      case 11:
        f.append_to(tensor.integers);
        break;
      case 6:
        tensor.has_strings = true;
        break;
      case 8:
        tensor.name = f.text();
        break;
      case 9:
        tensor.raw = f.bytes();
        break;
      case 10:
        f.append_to(tensor.doubles);
        break;
      case 13:
        tensor.external.insert(read_entry(message.inside(f)));
        break;
      case 14:
        external = f.integer() == 1;
        break;
      default:  // doc_string and metadata_props change no value
        break;
    }
  });
  if (external != !tensor.external.empty())
    throw FileError(fmt::format("{}: tensor '{}' has {}", message.file, tensor.name,
                                external ? "external data without a location" : "a location, but no external data"));
  return tensor;
}

Graph read_graph(const ProtobufMessage& message, Reading& reading);

std::string domain_of(const ProtobufField& f) { return f.text() == "ai.onnx" ? "" : f.text(); }

Attribute read_attribute(const ProtobufMessage& message, Reading& reading) {
  reading.count(sizeof(Attribute), message);
  Attribute a;
  read_protobuf(message, [&](const ProtobufField& f) {
    switch (f.number()) {
      case 1:
        a.name = f.text();
        break;
      case 2:
        a.real = f.real();
        break;
      case 3:
        a.integer = f.integer();
        break;
      case 4:
        a.text = f.text();
        break;
      case 5:
        a.tensor = std::make_shared<const Tensor>(read_tensor(message.inside(f), reading));
        break;
      case 6:
        a.graph = std::make_shared<const Graph>(read_graph(message.inside(f), reading));
        break;
      case 7:
        f.append_to(a.reals);
        break;
      case 8:
        f.append_to(a.integers);
        break;
      case 9:
        reading.count(sizeof(std::string), message);
        a.texts.push_back(f.text());
        break;
      case 20:
        a.type = static_cast<int>(f.integer());
        break;
      case 21:
        a.reference = f.text();
        break;
      default:
        break;
    }
  });
  return a;
}

Node read_node(const ProtobufMessage& message, Reading& reading) {
  reading.count(sizeof(Node), message);
  Node node;
  read_protobuf(message, [&](const ProtobufField& f) {
    switch (f.number()) {
      case 1:
        reading.count(sizeof(std::string), message);
        node.inputs.push_back(f.text());
        break;
      case 2:
        reading.count(sizeof(std::string), message);
        node.outputs.push_back(f.text());
        break;
      case 3:
        node.name = f.text();
        break;
      case 4:
        node.type = f.text();
        break;
      case 5:
        node.attributes.push_back(read_attribute(message.inside(f), reading));
        break;
      case 7:
        node.domain = domain_of(f);
        break;
      case 8:
        node.overload = f.text();
        break;
      default:
        break;
    }
  });
  return node;
}

void read_shape(ValueInfo& info, const ProtobufMessage& message, Reading& reading) {
  info.shape.emplace();
  read_protobuf(message, [&](const ProtobufField& f) {
    if (f.number() != 1) return;
    reading.count(sizeof(std::variant<std::int64_t, std::string>), message);
    std::variant<std::int64_t, std::string> extent = std::string();
    read_protobuf(message.inside(f), [&](const ProtobufField& g) {
      if (g.number() == 1) extent = g.integer();
      if (g.number() == 2) extent = g.text();
    });
    info.shape->push_back(extent);
  });
}

/// Reads a TypeProto.
void read_type(ValueInfo& info, const ProtobufMessage& message, Reading& reading, int depth) {
  static constexpr std::pair<int, const char*> kKinds[] = {
      {1, "tensor"}, {4, "sequence"}, {5, "map"}, {8, "sparse tensor"}, {9, "optional"}};
  if (depth > kMaxDepth)
    throw FileError(
        fmt::format("{}: at byte {}: types are nested more than {} deep", message.file, message.offset, kMaxDepth));
  read_protobuf(message, [&](const ProtobufField& f) {
    for (const auto& [number, kind] : kKinds)
      if (f.number() == number) info.kind += (info.kind.empty() ? "" : " of ") + std::string(kind);
    if (f.number() != 1 && f.number() != 4 && f.number() != 9) return;
    const ProtobufMessage inside = message.inside(f);
    read_protobuf(inside, [&](const ProtobufField& g) {
      if (f.number() != 1 && g.number() == 1) read_type(info, inside.inside(g), reading, depth + 1);
      if (f.number() == 1 && g.number() == 1) info.type = static_cast<int>(g.integer());
      if (f.number() == 1 && g.number() == 2) read_shape(info, inside.inside(g), reading);
    });
  });
}

ValueInfo read_value_info(const ProtobufMessage& message, Reading& reading) {
  reading.count(sizeof(ValueInfo), message);
  ValueInfo info;
  read_protobuf(message, [&](const ProtobufField& f) {
    if (f.number() == 1) info.name = f.text();
    if (f.number() == 2) read_type(info, message.inside(f), reading, 0);
  });
  return info;
}

Graph read_graph(const ProtobufMessage& message, Reading& reading) {
  if (reading.depth > kMaxDepth)
    throw FileError(
        fmt::format("{}: at byte {}: graphs are nested more than {} deep", message.file, message.offset, kMaxDepth));
  reading.count(sizeof(Graph), message);
  ++reading.depth;
  Graph graph;
  read_protobuf(message, [&](const ProtobufField& f) {
    switch (f.number()) {
      case 1:
        graph.nodes.push_back(read_node(message.inside(f), reading));
        break;
      case 2:
        graph.name = f.text();
        break;
      case 5:
        graph.initializers.push_back(read_tensor(message.inside(f), reading));
        break;
      case 11:
        graph.inputs.push_back(read_value_info(message.inside(f), reading));
        break;
      case 12:
        graph.outputs.push_back(read_value_info(message.inside(f), reading));
        break;
      case 15:
        throw FileError(
            fmt::format("{}: graph '{}' has sparse initializers, which are not supported: convert them to "
                        "dense tensors",
                        message.file, graph.name));
      default:
        break;
    }
  });
  --reading.depth;
  return graph;
}

/// Reads an OperatorSetIdProto.
void read_opset(Opsets& opsets, const ProtobufMessage& message) {
  std::string domain;
  std::int64_t version = 0;
  read_protobuf(message, [&](const ProtobufField& f) {
    if (f.number() == 1) domain = domain_of(f);
    if (f.number() == 2) version = f.integer();
  });
  opsets[domain] = version;
}

/// Reads a FunctionProto, and its domain, name and overload.
std::pair<std::array<std::string, 3>, Function> read_function(const ProtobufMessage& message, Reading& reading) {
  reading.count(sizeof(Function), message);
  std::array<std::string, 3> key;
  Function function;
  read_protobuf(message, [&](const ProtobufField& f) {
    switch (f.number()) {
      case 1:
        key[1] = f.text();
        break;
      case 4:
        reading.count(sizeof(ValueInfo), message);
        function.graph.inputs.push_back({f.text(), "", 0, {}});
        break;
      case 5:
        reading.count(sizeof(ValueInfo), message);
        function.graph.outputs.push_back({f.text(), "", 0, {}});
        break;
      case 7:
        function.graph.nodes.push_back(read_node(message.inside(f), reading));
        break;
      case 9:
        read_opset(function.opsets, message.inside(f));
        break;
      case 10:
        key[0] = domain_of(f);
        break;
      case 11:
        function.defaults.push_back(read_attribute(message.inside(f), reading));
        break;
      case 13:
        key[2] = f.text();
        break;
      default:
        break;
    }
  });
  return {std::move(key), std::move(function)};
}

/// Returns the number of elements, or nullopt if it does not fit into memory.
std::optional<std::uint64_t> elements_of(const Tensor& tensor) {
  std::uint64_t count = 1;
  for (const std::int64_t n : tensor.dims) {
    if (n < 0) return {};
    if (n != 0 && count > (std::uint64_t{1} << 48) / static_cast<std::uint64_t>(n)) return {};
    count *= static_cast<std::uint64_t>(n);
  }
  return count;
}

template <class T, class From>
void store(const io::HostArray& to, const std::vector<From>& values) {
  T* out = to.as<T>();
  for (const From& value : values) {
    if constexpr (std::is_arithmetic_v<T>)
      *out++ = static_cast<T>(value);
    else
      *out++ = T(static_cast<float>(value));
  }
}

/// Stores 16-bit floats, which lie in the low halves of integers.
void store_bits(const io::HostArray& to, const std::vector<std::int64_t>& values) {
  std::byte* out = to.data.get();
  for (const std::int64_t value : values) {
    const auto bits = static_cast<std::uint16_t>(value);
    std::memcpy(out, &bits, sizeof bits);
    out += sizeof bits;
  }
}

template <class From>
void store_all(const io::HostArray& to, const std::vector<From>& values) {
  switch (to.dtype) {
#define CT_DTYPE(id, name, T, ...) \
  case Dtype::id:                  \
    return store<T>(to, values);
#define CT_COMPLEX_DTYPE(id, ...) \
  case Dtype::id:                 \
    break;
#include "catenary/core/dtypes.def"
  }
}

}  // namespace

std::optional<Dtype> dtype_of_type(int type) {
  return type >= 0 && type < static_cast<int>(kTypes.size()) ? kTypes[static_cast<std::size_t>(type)].dtype
                                                             : std::nullopt;
}

std::string name_of_type(int type) {
  if (type < 0 || type >= static_cast<int>(kTypes.size())) return fmt::format("data type {}", type);
  return kTypes[static_cast<std::size_t>(type)].name;
}

std::string Node::label() const {
  constexpr std::size_t kShown = 200;  // a name may be as long as a file
  const std::string& shown = name.empty() && !outputs.empty() ? outputs[0] : name;
  return fmt::format("node '{}' ({}{}{})", shown.substr(0, kShown), domain.substr(0, kShown), domain.empty() ? "" : ".",
                     type.substr(0, kShown));
}

File::File(const std::string& path) : path(path), view_(path) {
  const ProtobufMessage message{{reinterpret_cast<const char*>(view_.bytes().data()), view_.bytes().size()},
                                this->path};
  Reading reading{kMaxStructures + 16 * size()};
  bool has_graph = false;
  read_protobuf(message, [&](const ProtobufField& f) {
    switch (f.number()) {
      case 1:
        ir_version = f.integer();
        break;
      case 2:
        producer = f.text();
        break;
      case 7:
        graph = read_graph(message.inside(f), reading);
        has_graph = true;
        break;
      case 8:
        read_opset(opsets, message.inside(f));
        break;
      case 25:
        functions.insert(read_function(message.inside(f), reading));
        break;
      default:
        break;
    }
  });
  if (!has_graph || ir_version == 0) throw FileError(fmt::format("{}: not an ONNX model: it has no graph", path));
}

const Function* File::function(const Node& node) const {
  const auto found = functions.find({node.domain, node.type, node.overload});
  return found == functions.end() ? nullptr : &found->second;
}

std::string_view File::external(const Tensor& tensor) const {
  namespace fs = std::filesystem;
  const auto number = [&](const char* key) -> std::optional<std::uint64_t> {
    const auto found = tensor.external.find(key);
    if (found == tensor.external.end()) return {};
    std::uint64_t value = 0;
    for (const char c : found->second) {
      if (c < '0' || c > '9' || value > std::numeric_limits<std::uint64_t>::max() / 16)
        throw FileError(
            fmt::format("{}: tensor '{}': {} is not a number of bytes: '{}'", path, tensor.name, key, found->second));
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return value;
  };
  const auto location = tensor.external.find("location");
  if (location == tensor.external.end())
    throw FileError(fmt::format("{}: tensor '{}' has external data without a location", path, tensor.name));
  const fs::path relative = to_path(location->second).lexically_normal();
  const fs::path folder = to_path(path).parent_path();
  std::error_code failed;
  const fs::path real_folder = fs::canonical(folder.empty() ? fs::path(".") : folder, failed);
  const fs::path real = failed ? fs::path() : fs::canonical(real_folder / relative, failed);
  if (failed)
    throw FileError(
        fmt::format("{}: tensor '{}' lies in '{}', which does not exist", path, tensor.name, location->second));
  const fs::path inside = real.lexically_relative(real_folder);
  if (relative.is_absolute() || inside.empty() || *inside.begin() == ".." || !fs::is_regular_file(real))
    throw FileError(fmt::format("{}: tensor '{}' lies in '{}'; external data must be a file in the model's folder",
                                path, tensor.name, location->second));
  const std::string file = path_text(real);
  auto other = others_.find(file);
  try {
    if (other == others_.end()) other = others_.emplace(file, os::FileView(file)).first;
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: tensor '{}': {}", path, tensor.name, error.what()));
  }
  const std::span<const std::byte> all = other->second.bytes();
  const std::uint64_t offset = number("offset").value_or(0);
  const std::uint64_t length = number("length").value_or(offset <= all.size() ? all.size() - offset : 0);
  if (offset > all.size() || length > all.size() - offset)
    throw FileError(fmt::format("{}: tensor '{}' needs bytes {} to {} of '{}', which has {}", path, tensor.name, offset,
                                offset + length, location->second, all.size()));
  std::uint64_t& used = external_bytes_[file];
  if (length > 4 * all.size() + kMaxShared - used)
    throw FileError(fmt::format("{}: tensor '{}' lies in '{}'; all tensors there have more than 4 times its {} bytes",
                                path, tensor.name, location->second, all.size()));
  used += length;
  return {reinterpret_cast<const char*>(all.data()) + offset, length};
}

namespace {

/// Returns the number of elements that a tensor holds outside `raw`.
std::uint64_t listed_elements(const Tensor& tensor, Dtype dtype) {
  return tensor.integers.size() + (tensor.reals.size() + tensor.doubles.size()) / (is_complex(dtype) ? 2 : 1);
}

io::HostArray elements(const Tensor& tensor, std::string_view raw, const std::string& where) {
  const std::optional<Dtype> dtype = dtype_of_type(tensor.type);
  if (!dtype || tensor.has_strings)
    throw FileError(fmt::format("{}: elements of {} are not supported", where, name_of_type(tensor.type)));
  const std::optional<std::uint64_t> count = elements_of(tensor);
  if (!count) throw FileError(fmt::format("{}: impossible shape ({})", where, fmt::join(tensor.dims, ", ")));
  const std::uint64_t given = !raw.empty() ? raw.size() / itemsize(*dtype) : listed_elements(tensor, *dtype);
  if (given != *count || raw.size() % itemsize(*dtype) != 0)
    throw FileError(fmt::format("{}: {} elements are given, but the shape has {}", where, given, *count));
  io::HostArray array;
  try {
    array = io::HostArray::empty(*dtype, Shape(tensor.dims));
  } catch (const Error& error) {  // too many axes, or no memory
    throw FileError(fmt::format("{}: {}", where, error.what()));
  }
  if (!raw.empty()) {
    std::memcpy(array.data.get(), raw.data(), raw.size());
  } else if (is_complex(*dtype)) {
    const auto copy = [&](const auto& parts) {
      if (!parts.empty()) std::memcpy(array.data.get(), parts.data(), parts.size() * sizeof parts[0]);
    };
    if (*dtype == Dtype::complex64) copy(tensor.reals);
    if (*dtype == Dtype::complex128) copy(tensor.doubles);
  } else if (is_16bit_float(*dtype) && !tensor.integers.empty()) {
    store_bits(array, tensor.integers);
  } else {
    if (!tensor.integers.empty()) store_all(array, tensor.integers);
    if (!tensor.reals.empty()) store_all(array, tensor.reals);
    if (!tensor.doubles.empty()) store_all(array, tensor.doubles);
  }
  return array;
}

}  // namespace

io::HostArray read_tensor_elements(const Tensor& tensor, const std::string& where) {
  return elements(tensor, tensor.raw, where);
}

io::HostArray File::read(const Tensor& tensor) const {
  return elements(tensor, tensor.external.empty() ? tensor.raw : external(tensor),
                  fmt::format("{}: tensor '{}'", path, tensor.name));
}

}  // namespace catenary::onnx
