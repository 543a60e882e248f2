#include "catenary/serializers/serializer.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>

#include "catenary/core/format.h"
#include "catenary/core/json_text.h"
#include "catenary/io/npz.h"
#include "catenary/io/safetensors_index.h"
#include "catenary/serializers/detail.h"
#include "catenary/serializers/names.h"

namespace catenary {

/// The storage behind serializers: writes values, or reads and holds them until all are read.
class Archive {
 public:
  virtual ~Archive() = default;
  virtual bool loading() const = 0;
  virtual void write(const std::string&, const io::NpyValue&) {
    throw ValueError("internal: this archive is being read");
  }
  /// Returns nothing if the key is missing and may be missing.
  virtual std::optional<io::NpyValue> read(const std::string&) {
    throw ValueError("internal: this archive is being written");
  }
  virtual bool contains(const std::string&) const { return false; }
  /// Returns a value's origin, for messages.
  virtual std::string where(const std::string& key) const { return key; }

  void later(std::function<void()> f) { values_.push_back(std::move(f)); }
  void last(std::function<void()> f) { objects_.push_back(std::move(f)); }
  void commit() {
    for (const auto& f : values_) f();
    for (const auto& f : objects_) f();
  }

 private:
  std::vector<std::function<void()>> values_, objects_;
};

namespace {

io::HostArray to_host(const Array& array) {
  io::HostArray host = io::HostArray::empty(array.dtype(), array.shape());
  array.copy_to_host(host.data.get());
  return host;
}

Array from_host(const io::HostArray& host, const Device& device) {
  return Array::from_host(host.data.get(), host.shape, host.dtype, device);
}

class NpzSaver : public Archive {
 public:
  explicit NpzSaver(io::NpzWriter& writer) : writer_(writer) {}
  bool loading() const override { return false; }
  void write(const std::string& key, const io::NpyValue& value) override {
    if (const auto* array = std::get_if<io::HostArray>(&value)) {
      const bool is_known = array->dtype != Dtype::bfloat16;
      writer_.write(key, is_known ? *array : to_host(from_host(*array, Device()).astype(Dtype::float32)));
    }
    if (const auto* text = std::get_if<std::string>(&value)) writer_.write(key, *text);
    if (std::holds_alternative<io::None>(value)) writer_.write(key, io::None{});
  }

 private:
  io::NpzWriter& writer_;
};

/// Lists the first names, up to a readable length.
std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 300;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (text.size() > kMost) return fmt::format("{} and {} more", text, names.size() - i);
    text += (text.empty() ? "" : ", ") + names[i];
  }
  return text;
}

class NpzLoader : public Archive {
 public:
  NpzLoader(const std::string& file, bool strict) : file_(file), reader_(file), strict_(strict) {}
  NpzLoader(std::span<const std::byte> bytes, const std::string& file, bool strict)
      : file_(file), reader_(bytes, file), strict_(strict) {}
  bool loading() const override { return true; }
  bool contains(const std::string& key) const override { return reader_.contains(key); }
  std::string where(const std::string& key) const override { return fmt::format("{}, key '{}'", file_, key); }
  std::optional<io::NpyValue> read(const std::string& key) override {
    if (reader_.contains(key)) return reader_.read(key);
    if (!strict_) return std::nullopt;
    fail<FileError>("{}: there is no key '{}'; the file has: {}", file_, key, first_of(reader_.names()));
  }

 private:
  std::string file_;
  io::NpzReader reader_;
  bool strict_;
};

class TensorSaver : public Archive {
 public:
  bool loading() const override { return false; }
  void write(const std::string& key, const io::NpyValue& value) override {
    const auto* array = std::get_if<io::HostArray>(&value);
    if (std::holds_alternative<io::None>(value)) return;
    if (!array) fail<ValueError>("save_safetensors: '{}' is not an array; safetensors holds arrays only", key);
    std::string name = key;
    std::replace(name.begin(), name.end(), '/', '.');
    tensors.emplace_back(name, *array);
  }
  std::vector<std::pair<std::string, io::HostArray>> tensors;
};

class TensorLoader : public Archive {
 public:
  TensorLoader(const std::string& file, const serializers::SafetensorsLoadOptions& options)
      : file_(file), reader_(file), options_(options) {
    for (const std::string& name : reader_.names()) shapes_.emplace_back(name, reader_.tensor(name).shape);
    for (serializers::Names::Tensor& tensor : options.names.of(file, shapes_)) {
      const std::string name = tensor.name;
      tensors_.emplace(name, std::move(tensor));
    }
  }
  bool loading() const override { return true; }
  bool contains(const std::string& key) const override { return tensors_.contains(tensor_name(key)); }
  std::string where(const std::string& key) const override {
    const auto found = tensors_.find(tensor_name(key));
    return fmt::format(
        "{}, tensor '{}'", file_,
        found == tensors_.end() || found->second.theirs.empty() ? tensor_name(key) : found->second.theirs);
  }
  std::optional<io::NpyValue> read(const std::string& key) override {
    if (const auto found = tensors_.find(tensor_name(key)); found != tensors_.end()) {
      const serializers::Names::Tensor& tensor = found->second;
      used_.insert(found->first);
      if (tensor.theirs.empty()) return io::HostArray::scalar(std::int64_t{0});
      io::HostArray array = reader_.read(tensor.theirs);
      array.shape = tensor.shape;
      return array;
    }
    if (!options_.strict) return std::nullopt;
    const std::string by = options_.names.empty() ? "" : fmt::format(" by the names of '{}'", options_.names.text());
    fail<FileError>("{}: there is no tensor '{}'{}; {}the file has: {}", file_, tensor_name(key), by,
                    rule_hint(tensor_name(key)), first_of(reader_.names()));
  }
  /// Throws if names were mapped strictly and the object does not use a tensor of the file.
  void check_all_used() const {
    if (!options_.strict || options_.names.empty()) return;
    std::vector<std::string> left;
    for (const auto& [name, tensor] : tensors_)
      if (!used_.contains(name)) left.push_back(fmt::format("{} ({})", tensor.theirs, name));
    if (!left.empty())
      fail<FileError>("{}: the object has no place for {} of its tensors: {}; skip them with {{.strict = false}}",
                      file_, left.size(), fmt::join(left, ", "));
  }

 private:
  /// If no rule was given, names the rule under which the file has the tensor.
  std::string rule_hint(const std::string& wanted) const {
    if (!options_.names.empty()) return "";
    for (const char* rule : {"torchvision", "timm", "torch"}) {
      try {
        const auto named = serializers::Names(rule).of(file_, shapes_);
        if (std::ranges::any_of(named, [&](const auto& tensor) { return tensor.name == wanted; }))
          return fmt::format(
              "its names are PyTorch's: give load_safetensors the option {{.names = \"{}\"}}, or convert the file by "
              "`catenary convert --from {}`; ",
              rule, rule);
      } catch (const FileError&) {  // this rule does not apply to the file
      }
    }
    return "";
  }
  static std::string tensor_name(std::string key) {
    std::replace(key.begin(), key.end(), '/', '.');
    return key;
  }
  std::string file_;
  io::ShardedSafetensorsReader reader_;
  const serializers::SafetensorsLoadOptions& options_;
  std::vector<std::pair<std::string, Shape>> shapes_;          // keyed by the file's names
  std::map<std::string, serializers::Names::Tensor> tensors_;  // keyed by our names
  std::set<std::string> used_;
};

/// Returns the only element of a number in the file.
template <class T>
T number(const io::NpyValue& value, const std::string& where) {
  const auto* array = std::get_if<io::HostArray>(&value);
  if (!array || array->size() != 1)
    fail<FileError>("{}: expected a number, found {}", where, array ? array->shape.str() : "something else");
  return from_host(*array, Device()).item<T>();
}

template <class T>
io::NpyValue scalar_value(T value) {
  return io::HostArray::scalar(value);
}

template <class T, class Stored = T>
void serialize_number(Archive& archive, const std::string& key, T& value) {
  if (!archive.loading()) return archive.write(key, scalar_value(static_cast<Stored>(value)));
  if (const auto read = archive.read(key)) {
    const T loaded = static_cast<T>(number<Stored>(*read, archive.where(key)));
    archive.later([&value, loaded] { value = loaded; });
  }
}

template <class T>
void serialize_optional(Archive& archive, const std::string& key, std::optional<T>& value) {
  if (!archive.loading()) return archive.write(key, value ? scalar_value(*value) : io::NpyValue(io::None{}));
  if (const auto read = archive.read(key)) {
    std::optional<T> loaded;
    if (!std::holds_alternative<io::None>(*read)) loaded = number<T>(*read, archive.where(key));
    archive.later([&value, loaded] { value = loaded; });
  }
}

}  // namespace

bool Serializer::loading() const { return archive_->loading(); }
bool Serializer::contains(const std::string& key) const { return archive_->contains(path_ + key); }
void Serializer::after_loading(std::function<void()> f) const { archive_->last(std::move(f)); }

void Serializer::operator()(const std::string& key, bool& value) const {
  serialize_number(*archive_, path_ + key, value);
}
void Serializer::operator()(const std::string& key, std::int64_t& value) const {
  serialize_number(*archive_, path_ + key, value);
}
void Serializer::operator()(const std::string& key, int& value) const {
  serialize_number<int, std::int64_t>(*archive_, path_ + key, value);
}
void Serializer::operator()(const std::string& key, double& value) const {
  serialize_number(*archive_, path_ + key, value);
}
void Serializer::operator()(const std::string& key, std::optional<std::int64_t>& value) const {
  serialize_optional(*archive_, path_ + key, value);
}
void Serializer::operator()(const std::string& key, std::optional<double>& value) const {
  serialize_optional(*archive_, path_ + key, value);
}

std::string Serializer::read_string(const std::string& key) const {
  const auto read = archive_->read(path_ + key);
  const auto* text = read ? std::get_if<std::string>(&*read) : nullptr;
  if (!text) reject(key, "expected a string");
  return *text;
}

std::vector<std::int64_t> Serializer::read_integers(const std::string& key) const {
  const auto read = archive_->read(path_ + key);
  const auto* host = read ? std::get_if<io::HostArray>(&*read) : nullptr;
  if (!host || !(is_integer(host->dtype) || host->dtype == Dtype::bool_)) reject(key, "expected whole numbers");
  return from_host(*host, Device()).to_vector<std::int64_t>();
}

void Serializer::reject(const std::string& key, const std::string& why) const {
  fail<FileError>("{}: {}", archive_->where(path_ + key), why);
}

void Serializer::operator()(const std::string& key, std::string& value) const {
  if (!loading()) return archive_->write(path_ + key, value);
  if (contains(key)) {
    archive_->later([&value, loaded = read_string(key)] { value = loaded; });
  } else {
    archive_->read(path_ + key);  // throws that the key is missing, unless that is allowed
  }
}

void Serializer::operator()(const std::string& key, std::vector<std::string>& value) const {
  if (!loading()) {
    try {
      return archive_->write(path_ + key, nlohmann::json(value).dump());
    } catch (const nlohmann::json::exception&) {
      fail<ValueError>("a text of '{}' is not UTF-8: '{}'", path_ + key, fmt::join(value, "', '"));
    }
  }
  if (!contains(key)) {
    archive_->read(path_ + key);  // throws that the key is missing, unless that is allowed
    return;
  }
  const auto read = json_text::parse_or_discarded<nlohmann::json>(read_string(key));
  if (!read.is_array() || !std::all_of(read.begin(), read.end(), [](const auto& text) { return text.is_string(); }))
    reject(key, "expected a JSON list of texts");
  archive_->later([&value, read] { value = read.get<std::vector<std::string>>(); });
}

namespace {

/// Returns the stored array. Throws unless its dtype can be converted to `into`.
const io::HostArray& stored_array(const io::NpyValue& read, Dtype into, const std::string& where) {
  const auto* host = std::get_if<io::HostArray>(&read);
  if (!host) fail<FileError>("{}: expected an array", where);
  if (loses_parts(host->dtype, into))
    fail<DtypeError>("{}: the stored array is {}, which {} cannot represent", where, host->dtype, into);
  return *host;
}

}  // namespace

void Serializer::operator()(const std::string& key, Array& value) const { (*this)(key, value, {}); }

void Serializer::operator()(const std::string& key, Array& value, const Check& check) const {
  const std::string full = path_ + key;
  if (!loading())
    return archive_->write(full, value.defined() ? io::NpyValue(to_host(value)) : io::NpyValue(io::None{}));
  const auto read = archive_->read(full);
  if (!read || std::holds_alternative<io::None>(*read)) return;
  const io::HostArray& host =
      stored_array(*read, value.defined() ? value.dtype() : Dtype::complex128, archive_->where(full));
  if (check) check(host.dtype, host.shape);
  if (!value.defined()) {
    archive_->later([&value, loaded = from_host(host, current_device())] { value = loaded; });
    return;
  }
  if (!(host.shape == value.shape()))
    fail<ShapeError>("{}: the array there has shape {}, expected {}", archive_->where(full), host.shape, value.shape());
  archive_->later([value, loaded = from_host(host, value.device())] { value.set(loaded, ellipsis); });
}

void Serializer::operator()(const std::string& key, const Parameter& value) const {
  const std::string full = path_ + key;
  if (!loading())
    return archive_->write(full,
                           value.is_initialized() ? io::NpyValue(to_host(value.array())) : io::NpyValue(io::None{}));
  const auto read = archive_->read(full);
  if (!read || std::holds_alternative<io::None>(*read)) return;
  // parameters are real, because backward supports real numbers only
  const io::HostArray& host = stored_array(*read, Dtype::float64, archive_->where(full));
  if (value.is_initialized() && !(host.shape == value.shape()))
    fail<ShapeError>("{}: the array there has shape {}, the parameter {}", archive_->where(full), host.shape,
                     value.shape());
  archive_->later([value, loaded = from_host(host, value.initial_device())] {
    if (!value.is_initialized()) value.initialize(loaded.shape());
    value.array().set(loaded, ellipsis);
  });
}

namespace serializers::detail {

void save_npz(const std::string& path, const std::function<void(Serializer&)>& serialize, bool compression) {
  io::NpzWriter writer(path, {.compression = compression ? io::NpzCompression::deflate : io::NpzCompression::stored});
  NpzSaver archive(writer);
  Serializer root(archive, "");
  serialize(root);
  writer.finish();
}

static void load(NpzLoader& archive, const std::function<void(Serializer&)>& serialize, const std::string& path) {
  Serializer root(archive, path.empty() || path.back() == '/' ? path : path + "/");
  serialize(root);
  archive.commit();
}

void load_npz(const std::string& file, const std::function<void(Serializer&)>& serialize, const std::string& path,
              bool strict) {
  NpzLoader archive(file, strict);
  load(archive, serialize, path);
}

void load_npz(std::span<const std::byte> bytes, const std::string& file,
              const std::function<void(Serializer&)>& serialize, const std::string& path, bool strict) {
  NpzLoader archive(bytes, file, strict);
  load(archive, serialize, path);
}

void save_safetensors(const std::string& path, const std::function<void(Serializer&)>& serialize) {
  TensorSaver archive;
  Serializer root(archive, "");
  serialize(root);
  io::write_safetensors(path, archive.tensors);
}

void load_safetensors(const std::string& file, const std::function<void(Serializer&)>& serialize, bool strict) {
  load_safetensors(file, serialize, SafetensorsLoadOptions{.strict = strict});
}
void load_safetensors(const std::string& file, const std::function<void(Serializer&)>& serialize,
                      const SafetensorsLoadOptions& options) {
  TensorLoader archive(file, options);
  Serializer root(archive, "");
  serialize(root);
  archive.check_all_used();
  archive.commit();
}

}  // namespace serializers::detail

}  // namespace catenary
