#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "catenary/catenary.h"
#include "catenary/core/os/file.h"
#include "catenary/io/gguf.h"
#include "catenary/io/identify.h"
#include "catenary/io/idx.h"
#include "catenary/io/npz.h"
#include "catenary/io/safetensors_index.h"
#include "tools/catenary/commands.h"
#include "tools/catenary/tensors.h"

namespace catenary::command {

namespace {

struct Entry {
  std::string name, dtype, shape;
  std::optional<double> min, mean, max;
  std::string text;                         ///< value of a string, or a remark
  std::string file = {};                    ///< the entry's file, for an index
  std::optional<std::uint64_t> bytes = {};  ///< shown instead of statistics
};

/// A metadata value of a GGUF file: its type, the number of an array's elements, and the first of them.
struct Fact {
  std::string key, type;
  std::uint64_t count;
  nlohmann::ordered_json first;
};

struct Contents {
  std::vector<Entry> entries;
  std::vector<Fact> metadata = {};
};

Entry describe(const std::string& name, const io::HostArray& host) {
  Entry entry{name, dtype_name(host.dtype), host.shape.str(), {}, {}, {}, {}};
  if (host.size() == 0 || is_complex(host.dtype)) return entry;  // complex numbers have no order
  // Piece by piece, because values in float64 take up to eight times the memory of those in the file.
  constexpr std::int64_t kPiece = std::int64_t{1} << 22;
  std::vector<double> least, sums, most;
  for (std::int64_t first = 0; first < host.size(); first += kPiece) {
    const Shape count{std::min(kPiece, host.size() - first)};
    const Array x = Array::from_memory(host.data.get() + static_cast<std::size_t>(first) * itemsize(host.dtype), count,
                                       contiguous_strides(count), host.dtype, Device(), host.data)
                        .astype(Dtype::float64);
    least.push_back(x.min().item<double>());
    sums.push_back(x.mean().item<double>() * static_cast<double>(count[0]));
    most.push_back(x.max().item<double>());
  }
  const auto of = [](const std::vector<double>& values) {
    return Array::from_host(values.data(), {std::ssize(values)}, Dtype::float64, Device());
  };
  entry.min = of(least).min().item<double>();
  entry.mean = of(sums).sum().item<double>() / static_cast<double>(host.size());
  entry.max = of(most).max().item<double>();
  return entry;
}

Entry describe(const std::string& name, const io::NpyValue& value) {
  if (const auto* array = std::get_if<io::HostArray>(&value)) return describe(name, *array);
  if (const auto* text = std::get_if<std::string>(&value)) return {name, "str", "()", {}, {}, {}, *text};
  if (const auto* strings = std::get_if<io::StringArray>(&value))
    return {name, "str", strings->shape.str(), {}, {}, {}, fmt::format("{}", fmt::join(strings->values, ", "))};
  return {name, "None", "", {}, {}, {}, {}};
}

Fact describe(const io::GgufReader& reader, std::string_view key) {
  constexpr std::size_t kFirst = 8;
  const io::GgufReader::Value& value = *reader.find(key);
  const bool is_array = value.type == io::GgufType::array;
  Fact fact{std::string(key), gguf_type_name(value.element), value.count, nlohmann::ordered_json::array()};
  if (value.element == io::GgufType::array) return fact;
  const auto add = [&](const auto& x) { fact.first.push_back(x); };
  if (value.element == io::GgufType::string) {
    const auto texts = is_array ? reader.texts(key) : std::vector<std::string_view>{reader.text(key)};
    std::for_each_n(texts.begin(), std::min(texts.size(), kFirst), add);
    return fact;
  }
  std::visit(
      [&]<class T>(const T& x) {
        if constexpr (std::is_arithmetic_v<T>) {
          add(x);
        } else if constexpr (!std::is_same_v<T, std::string>) {
          for (std::size_t i = 0; i < std::min(x.size(), kFirst); ++i) add(typename T::value_type(x[i]));
        }
      },
      reader.value(key));
  return fact;
}

Contents read_gguf(const std::string& file) {
  const io::GgufReader reader(file);
  Contents contents;
  for (const std::string_view key : reader.keys()) contents.metadata.push_back(describe(reader, key));
  for (const std::string& name : reader.names()) {
    const io::GgufReader::Tensor& tensor = reader.tensor(name);
    contents.entries.push_back(
        {name, std::string(tensor.type_name), tensor.shape.str(), {}, {}, {}, {}, {}, tensor.end - tensor.begin});
  }
  return contents;
}

/// Quantised weights, which a link stores in two arrays, as one entry.
Entry describe(const Blocks& blocks, const Shape& held, const std::string& file = "") {
  const std::int64_t bytes = held.product();
  Entry entry{blocks.name, quantization_info(blocks.kind).name, blocks.shape.str(), {}, {}, {}, {}, file};
  entry.bytes = static_cast<std::uint64_t>(bytes);
  return entry;
}

Contents read(const std::string& file, io::FileKind kind) {
  std::vector<Entry> entries;
  std::set<std::string> kinds;  // names of block tensors
  switch (kind) {
    case io::FileKind::npy:
      entries.push_back(describe("", io::read_npy_value(file)));
      break;
    case io::FileKind::npz: {
      const io::NpzReader reader(file);
      const auto find = [&](const std::string& name) -> std::optional<io::HostArray> {
        if (!reader.contains(name)) return {};
        const io::NpyValue value = reader.read(name);
        const auto* array = std::get_if<io::HostArray>(&value);
        return array ? std::optional(*array) : std::nullopt;
      };
      for (const std::string& name : reader.names()) {
        const io::NpyValue value = reader.read(name);
        const auto* array = std::get_if<io::HostArray>(&value);
        const auto blocks = array ? blocks_of(name, array->dtype, array->shape, find) : std::nullopt;
        entries.push_back(blocks ? describe(*blocks, array->shape) : describe(name, value));
        if (blocks) kinds.insert(kind_name(blocks->name));
      }
      break;
    }
    case io::FileKind::safetensors:
    case io::FileKind::safetensors_index: {
      const io::ShardedSafetensorsReader reader(file);
      const auto find = [&](const std::string& name) -> std::optional<io::HostArray> {
        if (!reader.contains(name) || !reader.tensor(name).dtype) return {};
        return reader.read(name);
      };
      for (const std::string& name : reader.names()) {
        const auto& tensor = reader.tensor(name);
        const auto blocks = tensor.dtype ? blocks_of(name, *tensor.dtype, tensor.shape, find) : std::nullopt;
        if (blocks) kinds.insert(kind_name(blocks->name));
        entries.push_back(blocks ? describe(*blocks, tensor.shape)
                          : tensor.dtype
                              ? describe(name, reader.read(name))
                              : Entry{name, tensor.dtype_name, tensor.shape.str(), {}, {}, {}, "unsupported dtype"});
        if (kind == io::FileKind::safetensors_index) entries.back().file = reader.file_of(name);
      }
      break;
    }
    case io::FileKind::gguf:
      return read_gguf(file);
    case io::FileKind::idx:
    case io::FileKind::idx_gzip:
      entries.push_back(describe("", io::read_idx(file)));
      break;
    default:
      throw FileError(fmt::format("{}: this is {}; NPY, NPZ, safetensors, GGUF and IDX files can be inspected", file,
                                  kind == io::FileKind::unknown ? "a file of unknown kind"
                                                                : fmt::format("a {} file", io::file_kind_name(kind))));
  }
  std::erase_if(entries, [&](const Entry& entry) { return !entry.bytes && kinds.contains(entry.name); });
  return {std::move(entries)};
}

nlohmann::ordered_json number(const std::optional<double>& x) {
  return x && std::isfinite(*x) ? nlohmann::ordered_json(*x) : nlohmann::ordered_json();
}

std::string cell(const std::optional<double>& x) { return x ? fmt::format("{:.6g}", *x) : "-"; }

/// Serialises JSON that may contain invalid UTF-8.
std::string dump(const nlohmann::ordered_json& value, int indent = -1) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string shortened(const std::string& text) { return text.size() > 60 ? text.substr(0, 57) + "..." : text; }

void print_metadata(const std::vector<Fact>& metadata) {
  std::size_t width = 0;
  for (const Fact& f : metadata) width = std::max(width, f.key.size());
  for (const Fact& f : metadata) {
    std::string values;
    for (const auto& value : f.first) values += (values.empty() ? "" : ", ") + dump(value);
    const bool is_cut = f.count > f.first.size();
    fmt::print("  {:<{}}  {:<16} {}\n", f.key, width, f.count == 1 ? f.type : fmt::format("{} × {}", f.type, f.count),
               shortened(values) + (is_cut ? ", …" : ""));
  }
}

/// Prints an ONNX model's inputs, outputs and operators, and returns them as JSON.
nlohmann::ordered_json inspect_onnx(const std::string& file, bool json) {
  const onnx::Model model(file);
  nlohmann::ordered_json result = {
      {"file", file}, {"kind", "onnx"}, {"opset", model.opset()}, {"parameters", model.count_params()}};
  if (!json) fmt::print("{}: onnx, opset {}, {} parameters\n", file, model.opset(), model.count_params());
  const auto list = [&](const char* name, const std::vector<onnx::Port>& ports) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const onnx::Port& port : ports) {
      rows.push_back({{"name", port.name}, {"dtype", port.type()}, {"shape", port.shape}});
      if (!json) fmt::print("  {:<8} {:<24} {:<9} ({})\n", name, port.name, port.type(), fmt::join(port.shape, ", "));
    }
    result[name] = rows;
  };
  list("input", model.inputs());
  list("output", model.outputs());
  nlohmann::ordered_json counts;
  for (const auto& [name, count] : model.operators()) {
    counts[name] = count;
    if (!json) fmt::print("  operator {:<24} {}\n", name, count);
  }
  result["operators"] = counts;
  return result;
}

/// Prints the heading of a table of entries. `width` is the width of the names.
void print_heading(io::FileKind kind, std::size_t width) {
  if (kind == io::FileKind::gguf) {
    fmt::print("  {:<{}}  {:<8}  {:<16} {:>12}\n", "name", width, "kind", "shape", "bytes");
  } else {
    fmt::print("  {:<{}}  {:<8}  {:<16} {:>12} {:>12} {:>12}\n", "name", width, "dtype", "shape", "min", "mean", "max");
  }
}
void print_entry(const Entry& e, io::FileKind kind, std::size_t width) {
  if (e.bytes) {  // a heading names this column for GGUF files
    fmt::print("  {:<{}}  {:<8}  {:<16} {:>12}{}\n", e.name, width, e.dtype, e.shape, *e.bytes,
               kind == io::FileKind::gguf ? "" : " bytes of blocks");
  } else if (e.min) {
    fmt::print("  {:<{}}  {:<8}  {:<16} {:>12} {:>12} {:>12}\n", e.name, width, e.dtype, e.shape, cell(e.min),
               cell(e.mean), cell(e.max));
  } else {
    fmt::print("  {:<{}}  {:<8}  {:<16} {}\n", e.name, width, e.dtype, e.shape, shortened(e.text));
  }
}

nlohmann::ordered_json entry_json(const Entry& e) {
  nlohmann::ordered_json row = {{"name", e.name},       {"dtype", e.dtype},       {"shape", e.shape},
                                {"min", number(e.min)}, {"mean", number(e.mean)}, {"max", number(e.max)}};
  if (!e.text.empty()) row["text"] = e.text;
  if (!e.file.empty()) row["file"] = e.file;
  if (e.bytes) row["bytes"] = *e.bytes;
  return row;
}

/// Prints the arrays and the metadata of a file, and returns them as JSON.
nlohmann::ordered_json inspect_arrays(const std::string& file, bool json) {
  // a folder must contain safetensors
  const io::FileKind kind = os::is_directory(file) ? io::FileKind::safetensors_index : io::identify(file);
  const auto [entries, metadata] = read(file, kind);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::size_t width = 4;
  for (const Entry& e : entries) width = std::max(width, e.name.size());
  if (!json) {
    fmt::print("{}: {}\n", file, io::file_kind_name(kind));
    print_metadata(metadata);
    print_heading(kind, width);
  }
  for (const Entry& e : entries) {
    rows.push_back(entry_json(e));
    if (!json) print_entry(e, kind, width);
  }
  nlohmann::ordered_json result = {{"file", file}, {"kind", io::file_kind_name(kind)}, {"entries", rows}};
  if (kind != io::FileKind::gguf) return result;
  nlohmann::ordered_json facts = nlohmann::ordered_json::array();
  for (const Fact& f : metadata)
    facts.push_back({{"key", f.key}, {"type", f.type}, {"count", f.count}, {"first", f.first}});
  result["metadata"] = facts;
  return result;
}

}  // namespace

int inspect(const std::vector<std::string>& files, bool json) {
  int status = 0;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& file : files) {
    try {
      list.push_back(file.ends_with(".onnx") ? inspect_onnx(file, json) : inspect_arrays(file, json));
    } catch (const std::exception& e) {
      status = 1;
      fmt::print(stderr, "catenary inspect: {}\n", e.what());
      list.push_back({{"file", file}, {"error", e.what()}});
    }
  }
  if (json) fmt::print("{}\n", dump({{"schema", 1}, {"files", list}}, 2));
  return status;
}

}  // namespace catenary::command
