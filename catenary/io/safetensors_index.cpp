#include "catenary/io/safetensors_index.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "catenary/core/json_text.h"
#include "catenary/core/os/file.h"
#include "catenary/core/paths.h"
#include "catenary/io/detail.h"
#include "catenary/io/identify.h"

namespace catenary::io {

namespace {

using detail::shown;

constexpr std::uint64_t kMaxIndex = 100'000'000;  // as for a header
constexpr const char* kIndexName = "model.safetensors.index.json";
constexpr const char* kSingleName = "model.safetensors";

/// Whether a path stays inside the folder where it begins.
bool stays_below(std::string_view path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return path.find('\0') == std::string_view::npos;
}

/// Parses the index as a stream. Ignores everything beside "weight_map".
class Index : public nlohmann::json_sax<nlohmann::json> {
 public:
  Index(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  SafetensorsIndex entries;
  bool has_map = false;

  bool null() override { return other("null"); }
  bool boolean(bool) override { return other("a boolean"); }
  bool number_integer(number_integer_t) override { return other("a number"); }
  bool number_unsigned(number_unsigned_t) override { return other("a number"); }
  bool number_float(number_float_t, const string_t&) override { return other("a number"); }
  bool binary(binary_t&) override { return other("binary data"); }
  bool string(string_t& value) override {
    if (!in_map()) return other("a text");
    if (!stays_below(value))
      bad("the file '{}' of tensor '{}' does not lie in the index's folder: a plain name was expected", shown(value),
          shown(key_));
    if (!seen_.insert(key_).second) bad("tensor '{}' is named twice", shown(key_));
    entries.emplace_back(key_, value);
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ == 1 && key_ == "weight_map") {
      if (has_map) bad("weight_map is there twice");
      has_map = inside_ = true;
    } else if (depth_ > 0) {
      other("an object");
    }
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    inside_ = inside_ && depth_ > 1;
    return true;
  }
  bool start_array(std::size_t) override {
    other("a list");
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& text) override {
    key_ = text;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception&) override {
    not_json(position, token);
  }
  [[noreturn]] void not_json(std::size_t position, const std::string& token) {
    detail::fail_at(name_, position, "the index is not JSON (near '{}')", token.substr(0, 40));
  }

 private:
  bool in_map() const { return inside_ && depth_ == 2; }
  bool other(const char* what) {
    if (depth_ == 0) bad("the index is {}, not an object", what);
    if (in_map()) bad("weight_map has {} for tensor '{}', where a file's name was expected", what, shown(key_));
    if (depth_ == 1 && key_ == "weight_map") bad("weight_map is {}, not an object", what);
    return true;
  }
  /// The parser reports no position, so the error uses the position of the last key if it can be found in the text.
  template <class... Args>
  [[noreturn]] void bad(fmt::format_string<Args...> format, Args&&... args) {
    const std::size_t at = key_.empty() ? 0 : text_.rfind('"' + key_ + '"');
    detail::fail_at(name_, at == std::string_view::npos ? 0 : at, format, std::forward<Args>(args)...);
  }

  std::string_view text_;
  const std::string& name_;
  std::string key_;
  std::unordered_set<std::string> seen_;
  std::size_t depth_ = 0;
  bool inside_ = false;
};

std::string in_folder(const std::string& folder, const std::string& name) {
  return folder.empty() || folder.back() == '/' ? folder + name : folder + "/" + name;
}

/// The file to read in a folder: its index, or its only file.
std::string file_in(const std::string& folder) {
  const std::string index = in_folder(folder, kIndexName), single = in_folder(folder, kSingleName);
  const bool has_index = os::exists(index), has_single = os::exists(single);
  if (has_index && has_single)
    fail<FileError>("{}: a folder that has both {} and {}: name the one that is meant", folder, kIndexName,
                    kSingleName);
  if (!has_index && !has_single)
    fail<FileError>("{}: a folder that has neither {} nor {}", folder, kIndexName, kSingleName);
  return has_index ? index : single;
}

/// An index is a text that begins with '{'. A safetensors file may begin with that byte, too, but then its header
/// follows the length.
bool is_index(std::span<const std::byte> bytes) {
  const std::string_view text = detail::as_text(bytes);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' && identify(bytes) != FileKind::safetensors;
}

}  // namespace

SafetensorsIndex read_safetensors_index(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.size() > kMaxIndex)
    detail::fail_at(name, 0, "an index of {} bytes (at most {} are taken)", bytes.size(), kMaxIndex);
  const std::string_view text = detail::as_text(bytes);
  Index index(text, name);
  json_text::sax_parse<nlohmann::json>(text, index);
  if (!index.has_map) detail::fail_at(name, 0, "no index of safetensors files: it has no weight_map");
  return std::move(index.entries);
}

struct ShardedSafetensorsReader::State {
  std::string name;
  std::vector<std::string> files;
  std::vector<SafetensorsReader> readers;
  std::vector<std::string> names;
  std::unordered_map<std::string, std::size_t> places;  // of tensors, in `readers`

  void open(const std::string& path) {
    name = os::is_directory(path) ? file_in(path) : path;
    const os::FileView view(name);
    if (!is_index(view.bytes())) {
      files.push_back(name);
      readers.emplace_back(name);
      names = readers[0].names();
      for (const std::string& tensor : names) places.emplace(tensor, 0);
      return;
    }
    const SafetensorsIndex index = read_safetensors_index(view.bytes(), name);
    const std::string folder = folder_of(name);
    std::unordered_map<std::string, std::size_t> shards;
    for (const auto& [tensor, shard] : index) {
      const auto [found, added] = shards.emplace(shard, files.size());
      if (added) {
        files.push_back(in_folder(folder, shard));
        if (!os::exists(files.back()))
          fail<FileError>("{}: '{}', which it names for tensor '{}', is missing", name, files.back(), tensor);
        readers.emplace_back(files.back());
      }
      places.emplace(tensor, found->second);
    }
    check(index);
  }

  void check(const SafetensorsIndex& index) {
    for (std::size_t i = 0; i < readers.size(); ++i) {
      for (const std::string& tensor : readers[i].names()) {
        const auto found = places.find(tensor);
        if (found == places.end())
          fail<FileError>("{}: '{}' has a tensor '{}', which the index does not name", name, files[i], tensor);
        if (found->second != i)
          fail<FileError>("{}: tensor '{}' is in '{}', the index says in '{}'", name, tensor, files[i],
                          files[found->second]);
        names.push_back(tensor);
      }
    }
    for (const auto& [tensor, shard] : index)
      if (!readers[places.at(tensor)].contains(tensor))
        fail<FileError>("{}: tensor '{}' is not in '{}', where the index says", name, tensor, shard);
  }

  std::size_t place(const std::string& tensor) const {
    const auto found = places.find(tensor);
    if (found == places.end()) fail<FileError>("{}: no tensor '{}' in it ({} are)", name, tensor, places.size());
    return found->second;
  }
};

ShardedSafetensorsReader::ShardedSafetensorsReader(const std::string& path) : state_(std::make_unique<State>()) {
  state_->open(path);
}

ShardedSafetensorsReader::ShardedSafetensorsReader(ShardedSafetensorsReader&&) noexcept = default;
ShardedSafetensorsReader& ShardedSafetensorsReader::operator=(ShardedSafetensorsReader&&) noexcept = default;
ShardedSafetensorsReader::~ShardedSafetensorsReader() = default;

const std::vector<std::string>& ShardedSafetensorsReader::names() const { return state_->names; }
bool ShardedSafetensorsReader::contains(const std::string& name) const { return state_->places.count(name) > 0; }
const std::vector<std::string>& ShardedSafetensorsReader::files() const { return state_->files; }

const ShardedSafetensorsReader::Tensor& ShardedSafetensorsReader::tensor(const std::string& name) const {
  return state_->readers[state_->place(name)].tensor(name);
}
std::span<const std::byte> ShardedSafetensorsReader::bytes(const std::string& name) const {
  return state_->readers[state_->place(name)].bytes(name);
}
HostArray ShardedSafetensorsReader::read(const std::string& name) const {
  return state_->readers[state_->place(name)].read(name);
}
const std::string& ShardedSafetensorsReader::file_of(const std::string& name) const {
  return state_->files[state_->place(name)];
}
const std::map<std::string, std::string>& ShardedSafetensorsReader::metadata_of(const std::string& name) const {
  return state_->readers[state_->place(name)].metadata();
}

std::string write_sharded_safetensors(const std::string& folder,
                                      const std::vector<std::pair<std::string, HostArray>>& tensors,
                                      std::uint64_t max_bytes, const std::map<std::string, std::string>& metadata) {
  std::vector<std::vector<std::pair<std::string, HostArray>>> shards(1);
  std::unordered_set<std::string> seen;
  std::uint64_t bytes = 0, total = 0;
  for (const auto& tensor : tensors) {
    if (!seen.insert(tensor.first).second)
      fail<ValueError>("write_sharded_safetensors: {}: '{}' is given twice", folder, tensor.first);
    const std::uint64_t more = tensor.second.nbytes();
    if (!shards.back().empty() && (more > max_bytes || bytes > max_bytes - more)) {
      shards.emplace_back();
      bytes = 0;
    }
    shards.back().push_back(tensor);
    bytes += more;
    total += more;
  }
  os::make_directories(folder);
  nlohmann::ordered_json map = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string file = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    write_safetensors(in_folder(folder, file), shards[i], metadata);
    for (const auto& [name, array] : shards[i]) map[name] = file;
  }
  const nlohmann::ordered_json index = {{"metadata", {{"total_size", total}}}, {"weight_map", std::move(map)}};
  std::string path = in_folder(folder, kIndexName);
  os::write_file(path, index.dump(2) + "\n");
  return path;
}

}  // namespace catenary::io
