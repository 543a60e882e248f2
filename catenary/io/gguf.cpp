#include "catenary/io/gguf.h"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <unordered_map>

#include "catenary/core/os/file.h"
#include "catenary/io/detail.h"
#include "catenary/io/detail_gguf.h"
#include "catenary/io/identify.h"

namespace catenary::io {

namespace {

using Tensor = GgufReader::Tensor;
using Value = GgufReader::Value;
using detail::fail_at;
using detail::shown;

constexpr std::uint64_t kMaxExtent = std::uint64_t{1} << 59;
constexpr int kMaxNesting = 4;  // limit of nested arrays, which do not occur in practice

// The smallest sizes of entries in a file.
constexpr std::uint64_t kLeastValue = 8 + 4 + 1;             // key, type, value
constexpr std::uint64_t kLeastTensor = 8 + 4 + 4 + 8;        // name, axes, type, offset
constexpr std::uint64_t kLeastString = 8, kLeastArray = 12;  // inside an array

bool is_known(GgufType type) { return type <= GgufType::float64; }

/// Reads values in sequence and checks every length.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, const std::string& name, std::uint64_t at)
      : bytes_(bytes), name_(name), at_(at) {}

  std::uint64_t at() const { return at_; }
  std::uint64_t left() const { return bytes_.size() - at_; }

  template <class T>
  T number(const char* what) {
    if (left() < sizeof(T)) fail_at(name_, at_, "the file ends within {}", what);
    const T value = detail::load_le<T>(bytes_.data() + at_);
    at_ += sizeof(T);
    return value;
  }
  std::string_view text(const char* what) {
    const auto length = number<std::uint64_t>(what);
    if (length > left())
      fail_at(name_, at_ - sizeof length, "{} of {} bytes, the file has {} left", what, length, left());
    at_ += length;
    return detail::as_text(bytes_.subspan(static_cast<std::size_t>(at_ - length), static_cast<std::size_t>(length)));
  }
  /// The number of entries that follow, each of at least `least` bytes.
  std::uint64_t count(std::uint64_t least, const char* what) {
    const auto value = number<std::uint64_t>(what);
    if (value > left() / least)
      fail_at(name_, at_ - sizeof value, "{} {} cannot be in the {} bytes that the file has left", value, what, left());
    return value;
  }
  GgufType type(std::string_view key) {
    const auto value = static_cast<GgufType>(number<std::uint32_t>("a type"));
    if (!is_known(value))
      fail_at(name_, at_ - 4, "'{}' has the unknown type {} (0 to 12 are known)", shown(key),
              static_cast<std::uint32_t>(value));
    return value;
  }
  /// Skips elements and checks bytes that have restrictions.
  void elements(std::string_view key, GgufType type, std::uint64_t count, int nesting = 1) {
    if (const std::uint64_t size = detail::gguf_number_bytes(type)) {
      if (count > left() / size)
        fail_at(name_, at_, "'{}' needs {} × {} bytes, the file has {} left", shown(key), count, size, left());
      const std::uint64_t begin = at_;
      at_ += count * size;
      if (type != GgufType::boolean) return;
      for (std::uint64_t i = begin; i < at_; ++i)
        if (bytes_[static_cast<std::size_t>(i)] > std::byte{1})
          fail_at(name_, i, "'{}' has {}, but a bool must be 0 or 1", shown(key), std::to_integer<int>(bytes_[i]));
    } else if (type == GgufType::string) {
      for (std::uint64_t i = 0; i < count; ++i) text("a text");
    } else {
      if (nesting == kMaxNesting)
        fail_at(name_, at_, "'{}' has arrays in more than {} arrays", shown(key), kMaxNesting);
      for (std::uint64_t i = 0; i < count; ++i) array(key, nesting + 1);
    }
  }
  /// Reads an array's type and number of elements, and skips its elements.
  Value array(std::string_view key, int nesting = 1) {
    Value value{GgufType::array, type(key), 0, 0, 0};
    const std::uint64_t least = value.element == GgufType::string  ? kLeastString
                                : value.element == GgufType::array ? kLeastArray
                                                                   : detail::gguf_number_bytes(value.element);
    value.count = count(least, "elements");
    value.begin = at_;
    elements(key, value.element, value.count, nesting);
    value.end = at_;
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
  std::uint64_t at_;
};

/// All readable types, for messages.
std::string readable_types() {
  std::string names;
  for (const detail::GgmlType& type : detail::kGgmlTypes)
    if (type.dtype || detail::quantization_of(type) || detail::is_read_as_numbers(type.name))
      names.append(names.empty() ? "" : ", ").append(type.name);
  return names;
}

}  // namespace

const char* gguf_type_name(GgufType type) {
  constexpr const char* kNames[] = {"uint8", "int8",   "uint16", "int16",  "uint32", "int32",  "float32",
                                    "bool",  "string", "array",  "uint64", "int64",  "float64"};
  return is_known(type) ? kNames[static_cast<int>(type)] : "unknown";
}

struct GgufReader::State {
  std::string name;
  std::unique_ptr<os::FileView> view;
  std::span<const std::byte> bytes;
  std::uint32_t version = 0;
  std::uint64_t alignment = detail::kGgufAlignment;
  std::vector<std::string_view> keys;
  std::unordered_map<std::string_view, Value> values;
  std::vector<std::string> names;
  std::unordered_map<std::string_view, Tensor> tensors;  // keys are views into the file

  void open(std::span<const std::byte> all) {
    bytes = all;
    if (!detail::as_text(bytes).starts_with(detail::kGgufMagic)) {
      const std::string what = what_it_is(bytes);
      fail_at(name, 0, "not a GGUF file: it {}", what.empty() ? "does not begin with 'GGUF'" : "is " + what);
    }
    Cursor cursor(bytes, name, detail::kGgufMagic.size());
    version = cursor.number<std::uint32_t>("the version");
    if ((version & 0xffff) == 0 && version != 0)
      fail_at(name, 4, "a big-endian GGUF file; only little-endian files are supported");
    if (version < 2 || version > 3)
      fail_at(name, 4, "version {} of GGUF; only versions 2 and 3 are supported", version);
    const auto tensor_count = cursor.number<std::uint64_t>("the number of tensors");
    const std::uint64_t value_count = cursor.count(kLeastValue, "values of metadata");
    if (tensor_count > cursor.left() / kLeastTensor)
      fail_at(name, 8, "{} tensors cannot be in the {} bytes that the file has left", tensor_count, cursor.left());
    for (std::uint64_t i = 0; i < value_count; ++i) read_value(cursor);
    find_alignment();
    read_tensors(cursor, tensor_count);
  }

  void read_value(Cursor& cursor) {
    const std::uint64_t begin = cursor.at();
    const std::string_view key = cursor.text("a key");
    const GgufType type = cursor.type(key);
    Value value{type, type, 1, cursor.at(), 0};
    if (type == GgufType::array) {
      value = cursor.array(key);
    } else {
      cursor.elements(key, type, 1);
      value.end = cursor.at();
    }
    if (!values.emplace(key, value).second) fail_at(name, begin, "the key '{}' occurs twice", shown(key));
    keys.push_back(key);
  }

  void find_alignment() {
    const auto found = values.find(detail::kGgufAlignmentKey);
    if (found == values.end()) return;
    if (found->second.type != GgufType::uint32)
      fail_at(name, found->second.begin, "{} is of type {}, not uint32", detail::kGgufAlignmentKey,
              described(found->second));
    alignment = load<std::uint32_t>(found->second.begin);
    if (!std::has_single_bit(alignment))
      fail_at(name, found->second.begin, "{} is {}, not a power of two", detail::kGgufAlignmentKey, alignment);
  }

  struct Place {
    std::string_view name;
    std::uint64_t offset, size;  // relative to the data
    std::uint64_t entry;         // in the header, for messages
  };

  void read_tensors(Cursor& cursor, std::uint64_t count) {
    std::vector<Place> places;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t entry = cursor.at();
      const std::string_view key = cursor.text("a tensor's name");
      Tensor tensor{};
      places.push_back(read_header(cursor, key, tensor));
      if (!tensors.emplace(key, tensor).second) fail_at(name, entry, "two tensors are called '{}'", shown(key));
      names.emplace_back(key);
    }
    // the header has ended, so the beginning of the data is known
    const std::uint64_t start = (cursor.at() + alignment - 1) / alignment * alignment;
    for (const auto& [key, offset, size, entry] : places) {
      if (offset % alignment != 0)
        fail_at(name, entry, "tensor '{}' begins at {} of the data, no multiple of {}", shown(key), offset, alignment);
      if (start > bytes.size() || offset > bytes.size() - start || size > bytes.size() - start - offset)
        fail_at(name, entry, "tensor '{}' takes {} bytes at {} of the data, which begins at byte {} of {}", shown(key),
                size, offset, start, bytes.size());
      Tensor& tensor = tensors.find(key)->second;
      tensor.begin = start + offset;
      tensor.end = tensor.begin + size;
    }
    check_apart(places);
  }

  /// Reads the part of a tensor's entry after the name.
  Place read_header(Cursor& cursor, std::string_view key, Tensor& tensor) const {
    const std::uint64_t at = cursor.at();
    const auto axes = cursor.number<std::uint32_t>("a tensor's number of axes");
    if (axes > detail::kGgufMaxDims)
      fail_at(name, at, "tensor '{}' has {} axes (at most {} are supported)", shown(key), axes, detail::kGgufMaxDims);
    tensor.shape = Shape::filled(static_cast<int>(axes), 0);
    for (int i = static_cast<int>(axes) - 1; i >= 0; --i) {
      const auto extent = cursor.number<std::uint64_t>("a tensor's shape");
      if (extent > kMaxExtent) fail_at(name, cursor.at() - 8, "tensor '{}' has an axis of size {}", shown(key), extent);
      tensor.shape[i] = static_cast<std::int64_t>(extent);
    }
    const auto count = static_cast<std::uint64_t>(detail::count_elements(tensor.shape, name, at));
    const auto number = cursor.number<std::uint32_t>("a tensor's type");
    const auto* type = std::find_if(std::begin(detail::kGgmlTypes), std::end(detail::kGgmlTypes),
                                    [&](const detail::GgmlType& t) { return t.number == number; });
    if (type == std::end(detail::kGgmlTypes))
      fail_at(name, cursor.at() - 4, "tensor '{}' has the unknown type {}; supported are {}", shown(key), number,
              readable_types());
    tensor.type_name = type->name;
    tensor.dtype = type->dtype;
    tensor.kind = detail::quantization_of(*type);
    tensor.read_as_numbers = detail::is_read_as_numbers(type->name);
    const auto columns = static_cast<std::uint64_t>(axes == 0 ? 1 : tensor.shape.back());
    if (columns % type->elements != 0)
      fail_at(name, at, "tensor '{}' of shape {}: rows of {} are not whole blocks of {} ({})", shown(key), tensor.shape,
              columns, type->elements, type->name);
    return {key, cursor.number<std::uint64_t>("a tensor's offset"), count / type->elements * type->bytes, at};
  }

  void check_apart(std::vector<Place>& places) const {
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
      return std::tie(a.offset, a.size, a.name) < std::tie(b.offset, b.size, b.name);
    });
    for (std::size_t i = 1; i < places.size(); ++i)
      if (places[i].offset < places[i - 1].offset + places[i - 1].size)
        fail_at(name, places[i].entry, "tensors '{}' and '{}' overlap", shown(places[i - 1].name),
                shown(places[i].name));
  }

  template <class T>
  T load(std::uint64_t at) const {
    return detail::load_le<T>(bytes.data() + at);
  }
  std::string_view load_text(std::uint64_t& at) const {
    const auto length = load<std::uint64_t>(at);
    at += sizeof length + length;
    return detail::as_text(bytes.subspan(static_cast<std::size_t>(at - length), static_cast<std::size_t>(length)));
  }

  static std::string described(const Value& value) {
    return value.type == GgufType::array ? fmt::format("array of {}", gguf_type_name(value.element))
                                         : gguf_type_name(value.type);
  }
  [[noreturn]] void wrong(std::string_view key, const Value& value, const char* wanted) const {
    fail_at(name, value.begin, "'{}' is of type {}, expected {}", shown(key), described(value), wanted);
  }
  const Value& get(std::string_view key) const {
    const auto found = values.find(key);
    if (found == values.end())
      fail<FileError>("{}: no key '{}' in its metadata ({} are)", name, shown(key), keys.size());
    return found->second;
  }
  const Value& get(std::string_view key, bool is_array, const char* wanted) const {
    const Value& value = get(key);
    if ((value.type == GgufType::array) != is_array) wrong(key, value, wanted);
    return value;
  }

  /// Calls `take` with each number of a value or an array if `takes` accepts its type.
  template <class Takes, class Take>
  void numbers(std::string_view key, const Value& value, const char* wanted, Takes takes, Take take) const {
    if (value.type == GgufType::array && value.count == 0) return;
    const bool is_number = detail::visit_gguf_number(value.element, [&](auto zero) {
      using T = decltype(zero);
      if (!takes(zero)) wrong(key, value, wanted);
      for (std::uint64_t i = 0; i < value.count; ++i) take(load<T>(value.begin + i * sizeof(T)));
    });
    if (!is_number) wrong(key, value, wanted);
  }
  template <class Take>
  void integers(std::string_view key, const Value& value, const char* wanted, Take take) const {
    const auto takes = []<class T>(T) { return std::is_integral_v<T> && !std::is_same_v<T, bool>; };
    numbers(key, value, wanted, takes, [&]<class T>(T x) {
      if constexpr (std::is_same_v<T, std::uint64_t>)
        if (x > INT64_MAX) fail_at(name, value.begin, "'{}' has {}, which int64 does not hold", shown(key), x);
      take(static_cast<std::int64_t>(x));
    });
  }
  template <class Take>
  void reals(std::string_view key, const Value& value, const char* wanted, Take take) const {
    numbers(
        key, value, wanted, []<class T>(T) { return !std::is_same_v<T, bool>; },
        [&](auto x) { take(static_cast<double>(x)); });
  }
  template <class Take>
  void flags(std::string_view key, const Value& value, const char* wanted, Take take) const {
    numbers(
        key, value, wanted, []<class T>(T) { return std::is_same_v<T, bool>; },
        [&](auto x) { take(static_cast<bool>(x)); });
  }

  const Tensor& find(const std::string& key) const {
    const auto found = tensors.find(key);
    if (found == tensors.end()) fail<FileError>("{}: no tensor '{}' in it ({} are)", name, shown(key), tensors.size());
    return found->second;
  }
};

GgufReader::GgufReader(const std::string& path) : state_(std::make_unique<State>()) {
  state_->name = path;
  state_->view = std::make_unique<os::FileView>(path);
  state_->open(state_->view->bytes());
}

GgufReader::GgufReader(std::span<const std::byte> bytes, const std::string& name) : state_(std::make_unique<State>()) {
  state_->name = name;
  state_->open(bytes);
}

GgufReader::GgufReader(GgufReader&&) noexcept = default;
GgufReader& GgufReader::operator=(GgufReader&&) noexcept = default;
GgufReader::~GgufReader() = default;

int GgufReader::version() const { return static_cast<int>(state_->version); }
std::uint64_t GgufReader::alignment() const { return state_->alignment; }
const std::vector<std::string_view>& GgufReader::keys() const { return state_->keys; }

const Value* GgufReader::find(std::string_view key) const {
  const auto found = state_->values.find(key);
  return found == state_->values.end() ? nullptr : &found->second;
}

std::string_view GgufReader::text(std::string_view key) const {
  const Value& value = state_->get(key);
  if (value.type != GgufType::string) state_->wrong(key, value, "a string");
  std::uint64_t at = value.begin;
  return state_->load_text(at);
}

std::int64_t GgufReader::integer(std::string_view key) const {
  std::int64_t result = 0;
  constexpr const char* kWanted = "a whole number";
  state_->integers(key, state_->get(key, false, kWanted), kWanted, [&](std::int64_t x) { result = x; });
  return result;
}

double GgufReader::real(std::string_view key) const {
  double result = 0;
  constexpr const char* kWanted = "a number";
  state_->reals(key, state_->get(key, false, kWanted), kWanted, [&](double x) { result = x; });
  return result;
}

bool GgufReader::flag(std::string_view key) const {
  bool result = false;
  constexpr const char* kWanted = "a bool";
  state_->flags(key, state_->get(key, false, kWanted), kWanted, [&](bool x) { result = x; });
  return result;
}

std::vector<std::string_view> GgufReader::texts(std::string_view key) const {
  constexpr const char* kWanted = "an array of strings";
  const Value& value = state_->get(key, true, kWanted);
  std::vector<std::string_view> result;
  if (value.count == 0) return result;
  if (value.element != GgufType::string) state_->wrong(key, value, kWanted);
  result.reserve(static_cast<std::size_t>(value.count));
  std::uint64_t at = value.begin;
  while (at < value.end) result.push_back(state_->load_text(at));
  return result;
}

std::vector<std::int64_t> GgufReader::integers(std::string_view key) const {
  constexpr const char* kWanted = "an array of whole numbers";
  const Value& value = state_->get(key, true, kWanted);
  std::vector<std::int64_t> result;
  result.reserve(static_cast<std::size_t>(value.count));
  state_->integers(key, value, kWanted, [&](std::int64_t x) { result.push_back(x); });
  return result;
}

std::vector<double> GgufReader::reals(std::string_view key) const {
  constexpr const char* kWanted = "an array of numbers";
  const Value& value = state_->get(key, true, kWanted);
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(value.count));
  state_->reals(key, value, kWanted, [&](double x) { result.push_back(x); });
  return result;
}

std::vector<bool> GgufReader::flags(std::string_view key) const {
  constexpr const char* kWanted = "an array of bools";
  const Value& value = state_->get(key, true, kWanted);
  std::vector<bool> result;
  result.reserve(static_cast<std::size_t>(value.count));
  state_->flags(key, value, kWanted, [&](bool x) { result.push_back(x); });
  return result;
}

GgufValue GgufReader::value(std::string_view key) const {
  const Value& value = state_->get(key);
  if (value.element == GgufType::array) state_->wrong(key, value, "a value, or an array of values,");
  const bool is_array = value.type == GgufType::array;
  if (value.element == GgufType::string) {
    if (!is_array) return std::string(text(key));
    const auto views = texts(key);
    return std::vector<std::string>(views.begin(), views.end());
  }
  GgufValue result;
  detail::visit_gguf_number(value.element, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> all(is_array ? static_cast<std::size_t>(value.count) : 0);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = state_->load<T>(value.begin + i * sizeof(T));
    if (is_array) {
      result = std::move(all);
    } else {
      result = state_->load<T>(value.begin);
    }
  });
  return result;
}

const std::vector<std::string>& GgufReader::names() const { return state_->names; }
bool GgufReader::contains(const std::string& name) const { return state_->tensors.count(name) > 0; }
const Tensor& GgufReader::tensor(const std::string& name) const { return state_->find(name); }

std::span<const std::byte> GgufReader::bytes(const std::string& name) const {
  const Tensor& t = state_->find(name);
  return state_->bytes.subspan(static_cast<std::size_t>(t.begin), static_cast<std::size_t>(t.end - t.begin));
}

HostArray GgufReader::read(const std::string& name) const {
  const Tensor& t = state_->find(name);
  if (!t.dtype && !t.kind && !t.read_as_numbers)
    fail<FileError>("{}: tensor '{}' is of type {}, which is not supported; supported are {}", state_->name, name,
                    t.type_name, readable_types());
  const auto from = bytes(name);
  if (t.read_as_numbers) {
    HostArray numbers = HostArray::empty(Dtype::float32, t.shape);
    detail::numbers_of_blocks(t.type_name, from, numbers.as<float>());
    return numbers;
  }
  Shape shape = t.shape;
  if (t.kind) {
    shape.pop_back();
    shape = {shape.product(), quantized_row_bytes(*t.kind, t.shape.back())};
  }
  HostArray result = HostArray::empty(t.dtype.value_or(Dtype::uint8), shape);
  if (!from.empty()) std::memcpy(result.data.get(), from.data(), from.size());
  return result;
}

}  // namespace catenary::io
