#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "catenary/catenary.h"
#include "catenary/io/identify.h"
#include "catenary/io/idx.h"
#include "catenary/io/npz.h"
#include "catenary/io/safetensors.h"
#include "tools/catenary/commands.h"

namespace catenary::command {

namespace {

struct Entry {
  std::string name, dtype, shape;
  std::optional<double> min, mean, max;
  std::string text;  ///< of a string, or a remark
};

Entry describe(const std::string& name, const io::HostArray& host) {
  Entry entry{name, dtype_name(host.dtype), host.shape.str(), {}, {}, {}, {}};
  if (host.size() == 0) return entry;
  const Array x =
      Array::from_memory(host.data.get(), host.shape, contiguous_strides(host.shape), host.dtype, Device(), host.data)
          .astype(Dtype::float64);
  entry.min = x.min().item<double>();
  entry.mean = x.mean().item<double>();
  entry.max = x.max().item<double>();
  return entry;
}

Entry describe(const std::string& name, const io::NpyValue& value) {
  if (const auto* array = std::get_if<io::HostArray>(&value)) return describe(name, *array);
  if (const auto* text = std::get_if<std::string>(&value)) return {name, "str", "()", {}, {}, {}, *text};
  if (const auto* strings = std::get_if<io::StringArray>(&value))
    return {name, "str", strings->shape.str(), {}, {}, {}, fmt::format("{}", fmt::join(strings->values, ", "))};
  return {name, "None", "", {}, {}, {}, {}};
}

std::vector<Entry> read(const std::string& file, io::FileKind kind) {
  std::vector<Entry> entries;
  switch (kind) {
    case io::FileKind::npy:
      entries.push_back(describe("", io::read_npy_value(file)));
      break;
    case io::FileKind::npz: {
      const io::NpzReader reader(file);
      for (const std::string& name : reader.names()) entries.push_back(describe(name, reader.read(name)));
      break;
    }
    case io::FileKind::safetensors: {
      const io::SafetensorsReader reader(file);
      for (const std::string& name : reader.names()) {
        const auto& tensor = reader.tensor(name);
        entries.push_back(
            tensor.dtype ? describe(name, reader.read(name))
                         : Entry{name, tensor.dtype_name, tensor.shape.str(), {}, {}, {}, "a dtype that is not read"});
      }
      break;
    }
    case io::FileKind::idx:
    case io::FileKind::idx_gzip:
      entries.push_back(describe("", io::read_idx(file)));
      break;
    default:
      throw FileError(fmt::format("{}: this is {}; NPY, NPZ, safetensors and IDX files can be inspected", file,
                                  kind == io::FileKind::unknown ? "a file of no known kind"
                                                                : fmt::format("a {} file", io::file_kind_name(kind))));
  }
  return entries;
}

nlohmann::ordered_json number(const std::optional<double>& x) {
  return x && std::isfinite(*x) ? nlohmann::ordered_json(*x) : nlohmann::ordered_json();
}

std::string cell(const std::optional<double>& x) { return x ? fmt::format("{:.6g}", *x) : "-"; }

}  // namespace

int inspect(const std::vector<std::string>& files, bool json) {
  int status = 0;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& file : files) {
    try {
      const io::FileKind kind = io::identify(file);
      const std::vector<Entry> entries = read(file, kind);
      nlohmann::ordered_json rows = nlohmann::ordered_json::array();
      std::size_t width = 4;
      for (const Entry& e : entries) width = std::max(width, e.name.size());
      if (!json)
        fmt::print("{}: {}\n  {:<{}}  {:<8}  {:<16} {:>12} {:>12} {:>12}\n", file, io::file_kind_name(kind), "name",
                   width, "dtype", "shape", "min", "mean", "max");
      for (const Entry& e : entries) {
        rows.push_back({{"name", e.name},
                        {"dtype", e.dtype},
                        {"shape", e.shape},
                        {"min", number(e.min)},
                        {"mean", number(e.mean)},
                        {"max", number(e.max)}});
        if (!e.text.empty()) rows.back()["text"] = e.text;
        if (json) continue;
        if (e.min) {
          fmt::print("  {:<{}}  {:<8}  {:<16} {:>12} {:>12} {:>12}\n", e.name, width, e.dtype, e.shape, cell(e.min),
                     cell(e.mean), cell(e.max));
        } else {
          fmt::print("  {:<{}}  {:<8}  {:<16} {}\n", e.name, width, e.dtype, e.shape,
                     e.text.size() > 60 ? e.text.substr(0, 57) + "..." : e.text);
        }
      }
      list.push_back({{"file", file}, {"kind", io::file_kind_name(kind)}, {"entries", rows}});
    } catch (const std::exception& e) {
      status = 1;
      fmt::print(stderr, "catenary inspect: {}\n", e.what());
      list.push_back({{"file", file}, {"error", e.what()}});
    }
  }
  if (json) fmt::print("{}\n", nlohmann::ordered_json{{"schema", 1}, {"files", list}}.dump(2));
  return status;
}

}  // namespace catenary::command
