#include "catenary/io/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "catenary/core/json_text.h"
#include "catenary/core/os/file.h"
#include "catenary/io/detail.h"
#include "catenary/io/identify.h"

namespace catenary::io {

namespace {

using Tensor = SafetensorsReader::Tensor;

constexpr std::uint64_t kMaxHeader = 100'000'000;  // limit of the reference implementation
constexpr std::uint64_t kLengthBytes = 8;

constexpr std::pair<const char*, Dtype> kDtypeNames[] = {
#define CT_DTYPE(id, name, T, kind, npy, safetensors, ...) {safetensors, Dtype::id},
#include "catenary/core/dtypes.def"
};
/// Sizes of dtypes that can be listed but not read.
constexpr std::pair<const char*, std::uint64_t> kForeign[] = {{"F8_E4M3", 1}, {"F8_E5M2", 1}, {"F8_E8M0", 1}};

/// Parses the header as a stream, so that a malicious header allocates nothing beyond the format.
class Header : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Header(const std::string& name) : name_(name) {}

  std::vector<std::string> names;
  std::unordered_map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a boolean"); }
  bool number_integer(number_integer_t) override { unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { unexpected("a fraction"); }
  bool binary(binary_t&) override { unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::shape) {
      if (value > (std::uint64_t{1} << 59)) bad("an axis of size {} is too large", value);
      detail::append_extent(current_.shape, static_cast<std::int64_t>(value), where(), kLengthBytes);
    } else if (place_ == Place::offsets) {
      if (offsets_ == 2) bad("data_offsets has more than two numbers");
      (offsets_++ == 0 ? current_.begin : current_.end) = value;
    } else {
      unexpected("a number");
    }
    return true;
  }
  bool string(string_t& value) override {
    if (place_ == Place::metadata_value) {
      if (!metadata.emplace(key_, value).second) bad("__metadata__ has '{}' twice", key_);
      place_ = Place::metadata;
    } else if (place_ == Place::dtype) {
      current_.dtype_name = value;
      place_ = Place::tensor;
    } else {
      unexpected("a string");
    }
    return true;
  }
  bool start_object(std::size_t) override {
    if (place_ == Place::outside) {
      place_ = Place::top;
    } else if (place_ == Place::entry && key_ == "__metadata__") {
      if (seen_metadata_) bad("__metadata__ is there twice");
      seen_metadata_ = true;
      place_ = Place::metadata;
    } else if (place_ == Place::entry) {
      place_ = Place::tensor;
      tensor_ = key_;
      current_ = {};
      fields_ = 0;
    } else {
      unexpected("an object");
    }
    return true;
  }
  bool key(string_t& text) override {
    key_ = text;
    if (place_ == Place::top) {
      place_ = Place::entry;
    } else if (place_ == Place::metadata) {
      place_ = Place::metadata_value;
    } else {
      const int field = text == "dtype" ? 1 : text == "shape" ? 2 : text == "data_offsets" ? 4 : 0;
      if (field == 0) bad("unknown field '{}' (dtype, shape and data_offsets are known)", text);
      if (fields_ & field) bad("'{}' is there twice", text);
      fields_ |= field;
      place_ = field == 1 ? Place::dtype : field == 2 ? Place::before_shape : Place::before_offsets;
    }
    return true;
  }
  bool end_object() override {
    if (place_ == Place::metadata) {
      place_ = Place::top;
    } else if (place_ == Place::tensor) {
      finish_tensor();
      place_ = Place::top;
    } else {
      place_ = Place::outside;
    }
    tensor_.clear();
    return true;
  }
  bool start_array(std::size_t) override {
    if (place_ == Place::before_shape) {
      place_ = Place::shape;
    } else if (place_ == Place::before_offsets) {
      place_ = Place::offsets;
      offsets_ = 0;
    } else {
      unexpected("a list");
    }
    return true;
  }
  bool end_array() override {
    if (place_ == Place::offsets && offsets_ != 2) bad("data_offsets has {} numbers, not two", offsets_);
    place_ = Place::tensor;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception&) override {
    not_json(position, token);
  }
  [[noreturn]] void not_json(std::size_t position, const std::string& token) {
    detail::fail_at(name_, kLengthBytes + position, "the header is not JSON (near '{}')", token.substr(0, 40));
  }

 private:
  enum class Place {
    outside,
    top,
    entry,
    metadata,
    metadata_value,
    tensor,
    dtype,
    before_shape,
    shape,
    before_offsets,
    offsets
  };

  std::string where() const { return tensor_.empty() ? name_ : name_ + "['" + tensor_ + "']"; }
  template <class... Args>
  [[noreturn]] void bad(fmt::format_string<Args...> format, Args&&... args) {
    detail::fail_at(where(), kLengthBytes, format, std::forward<Args>(args)...);
  }
  [[noreturn]] void unexpected(const char* what) {
    bad("the header has {} where it may not be (near '{}')", what, key_);
  }

  void finish_tensor() {
    if (fields_ != 7) bad("one of dtype, shape, data_offsets is missing");
    std::optional<std::uint64_t> size;
    for (const auto& [text, dtype] : kDtypeNames) {
      if (current_.dtype_name != text || current_.dtype_name.empty()) continue;
      current_.dtype = dtype;
      size = itemsize(dtype);
    }
    for (const auto& [text, bytes] : kForeign)
      if (current_.dtype_name == text) size = bytes;
    if (current_.begin > current_.end) bad("data_offsets [{}, {}] end before they begin", current_.begin, current_.end);
    const auto count = static_cast<std::uint64_t>(detail::count_elements(current_.shape, where(), kLengthBytes));
    if (size && count * *size != current_.end - current_.begin)
      bad("shape {} of {} needs {} bytes, data_offsets [{}, {}] give {}", current_.shape, current_.dtype_name,
          count * *size, current_.begin, current_.end, current_.end - current_.begin);
    if (!tensors.emplace(tensor_, current_).second) bad("two tensors have this name");
    names.push_back(tensor_);
  }

  const std::string& name_;
  Place place_ = Place::outside;
  std::string key_, tensor_;
  Tensor current_;
  int fields_ = 0, offsets_ = 0;
  bool seen_metadata_ = false;
};

}  // namespace

struct SafetensorsReader::State {
  std::string name;
  std::unique_ptr<os::FileView> view;
  std::uint64_t start = 0;  // of the data in the file
  std::span<const std::byte> data;
  std::vector<std::string> names;
  std::unordered_map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;

  void open(std::span<const std::byte> bytes) {
    using detail::fail_at;
    if (bytes.size() <= kLengthBytes || bytes[kLengthBytes] != std::byte{'{'})
      if (const std::string what = what_it_is(bytes); !what.empty())
        fail_at(name, 0, "not a safetensors file: it is {}", what);
    if (bytes.size() < kLengthBytes + 2)
      fail_at(name, 0, "not a safetensors file: it has {} bytes, at least 10 are needed", bytes.size());
    const auto length = detail::load_le<std::uint64_t>(bytes.data());
    if (length > kMaxHeader) fail_at(name, 0, "a header of {} bytes (at most {} are taken)", length, kMaxHeader);
    if (length > bytes.size() - kLengthBytes)
      fail_at(name, 0, "the header needs {} bytes, the file has {} after its length", length,
              bytes.size() - kLengthBytes);
    const std::string_view text = detail::as_text(bytes.subspan(kLengthBytes, static_cast<std::size_t>(length)));
    if (text.empty() || text[0] != '{') fail_at(name, kLengthBytes, "the header does not begin with '{{'");
    Header header(name);
    json_text::sax_parse<nlohmann::json>(text, header);
    start = kLengthBytes + length;
    data = bytes.subspan(static_cast<std::size_t>(start));
    check_cover(header);
    names = std::move(header.names);
    tensors = std::move(header.tensors);
    metadata = std::move(header.metadata);
  }

  /// Checks that the tensors, ordered by offset, cover the data without gaps.
  void check_cover(const Header& header) {
    std::vector<std::pair<const std::string*, const Tensor*>> order;
    for (const auto& [key, tensor] : header.tensors) order.emplace_back(&key, &tensor);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return std::tie(a.second->begin, a.second->end, *a.first) < std::tie(b.second->begin, b.second->end, *b.first);
    });
    std::uint64_t position = 0;
    for (const auto& [key, tensor] : order) {
      if (tensor->begin != position)
        detail::fail_at(name, start + position, "tensor '{}' begins at {} of the data, where {} was expected: {}", *key,
                        tensor->begin, position, tensor->begin > position ? "a gap" : "an overlap");
      position = tensor->end;
    }
    if (position != data.size())
      detail::fail_at(name, start + std::min<std::uint64_t>(position, data.size()),
                      "the tensors have {} bytes, the file has {}", position, data.size());
  }

  const Tensor& find(const std::string& key) const {
    const auto found = tensors.find(key);
    if (found == tensors.end()) fail<FileError>("{}: no tensor '{}' in it ({} are)", name, key, tensors.size());
    return found->second;
  }
};

SafetensorsReader::SafetensorsReader(const std::string& path) : state_(std::make_unique<State>()) {
  state_->name = path;
  state_->view = std::make_unique<os::FileView>(path);
  state_->open(state_->view->bytes());
}

SafetensorsReader::SafetensorsReader(std::span<const std::byte> bytes, const std::string& name)
    : state_(std::make_unique<State>()) {
  state_->name = name;
  state_->open(bytes);
}

SafetensorsReader::SafetensorsReader(SafetensorsReader&&) noexcept = default;
SafetensorsReader& SafetensorsReader::operator=(SafetensorsReader&&) noexcept = default;
SafetensorsReader::~SafetensorsReader() = default;

const std::vector<std::string>& SafetensorsReader::names() const { return state_->names; }
bool SafetensorsReader::contains(const std::string& name) const { return state_->tensors.count(name) > 0; }
const Tensor& SafetensorsReader::tensor(const std::string& name) const { return state_->find(name); }
const std::map<std::string, std::string>& SafetensorsReader::metadata() const { return state_->metadata; }

std::span<const std::byte> SafetensorsReader::bytes(const std::string& name) const {
  const Tensor& t = state_->find(name);
  return state_->data.subspan(static_cast<std::size_t>(t.begin), static_cast<std::size_t>(t.end - t.begin));
}

HostArray SafetensorsReader::read(const std::string& name) const {
  const Tensor& t = state_->find(name);
  if (!t.dtype) fail<FileError>("{}: tensor '{}' has dtype {}, which cannot be read", state_->name, name, t.dtype_name);
  HostArray result = HostArray::empty(*t.dtype, t.shape);
  const auto from = bytes(name);
  if (!from.empty()) std::memcpy(result.data.get(), from.data(), from.size());
  if (*t.dtype == Dtype::bool_) detail::normalize_bools(result.data.get(), from.size());
  return result;
}

void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, HostArray>>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<const std::pair<std::string, HostArray>*> order;
  std::unordered_set<std::string> seen;
  for (const auto& tensor : tensors) {
    if (tensor.first == "__metadata__")
      fail<ValueError>("write_safetensors: {}: a tensor cannot be named __metadata__", path);
    if (!seen.insert(tensor.first).second)
      fail<ValueError>("write_safetensors: {}: '{}' is given twice", path, tensor.first);
    order.push_back(&tensor);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return itemsize(a->second.dtype) > itemsize(b->second.dtype); });
  const auto quoted = [&](const std::string& value) {
    try {
      return nlohmann::json(value).dump();
    } catch (const nlohmann::json::exception&) {
      fail<ValueError>("write_safetensors: {}: a name or metadata is not UTF-8", path);
    }
  };
  std::vector<std::string> entries;
  if (!metadata.empty()) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : metadata) pairs.push_back(quoted(key) + ":" + quoted(value));
    entries.push_back(fmt::format("\"__metadata__\":{{{}}}", fmt::join(pairs, ",")));
  }
  std::uint64_t position = 0;
  for (const auto* tensor : order) {
    const HostArray& a = tensor->second;
    const auto* dtype = std::find_if(std::begin(kDtypeNames), std::end(kDtypeNames),
                                     [&](const auto& n) { return n.second == a.dtype; });
    if (std::string_view(dtype->first).empty())
      fail<DtypeError>("write_safetensors: {}: the format has no {}; convert it, or use npz", tensor->first, a.dtype);
    entries.push_back(fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                                  quoted(tensor->first), dtype->first, fmt::join(a.shape.begin(), a.shape.end(), ","),
                                  position, position + a.nbytes()));
    position += a.nbytes();
  }
  std::string text = fmt::format("{{{}}}", fmt::join(entries, ","));
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxHeader)
    fail<ValueError>("write_safetensors: {}: a header of {} bytes (readers take {})", path, text.size(), kMaxHeader);
  std::string length;
  detail::append_le<std::uint64_t>(length, text.size());
  os::AtomicFile file(path);
  file.write(length + text);
  for (const auto* tensor : order) file.write(tensor->second.bytes());
  file.commit();
}

}  // namespace catenary::io
