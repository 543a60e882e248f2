#include "catenary/io/npy.h"

#include <complex>
#include <optional>

#include "catenary/core/os/file.h"
#include "catenary/io/npy_format.h"

namespace catenary::io {

namespace detail {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeader = std::size_t{1} << 20;

/// Parses the Python dict literal of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name, std::uint64_t offset)
      : text_(text), name_(name), offset_(offset) {}

  std::string descr;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;

  void parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = parse_string();
      expect(':');
      if (key == "descr") {
        if (!descr.empty()) bad("'descr' occurs twice");
        skip_space();
        const std::size_t start = position_;
        if (peek() != '\'' && peek() != '"')
          bad("dtype {} is structured: only plain numbers and strings can be read", text_.substr(start, 80));
        descr = parse_string();
        if (descr.empty()) bad("'descr' is empty");
      } else if (key == "fortran_order") {
        if (fortran_order) bad("'fortran_order' occurs twice");
        fortran_order = parse_bool();
      } else if (key == "shape") {
        if (shape) bad("'shape' occurs twice");
        shape = parse_shape();
      } else {
        bad("unknown key '{}' in the header", key);
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (position_ != text_.size()) bad("something follows the header's closing brace");
    if (descr.empty() || !fortran_order || !shape) bad("the header lacks one of 'descr', 'fortran_order', 'shape'");
  }

  template <class... Args>
  [[noreturn]] void bad(fmt::format_string<Args...> format, Args&&... args) {
    fail_at(name_, offset_ + position_, format, std::forward<Args>(args)...);
  }

 private:
  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
  void skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n' ||
                                        text_[position_] == '\t' || text_[position_] == '\r'))
      ++position_;
  }
  bool accept(char c) {
    skip_space();
    if (position_ == text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad("invalid header: expected '{}'", c);
  }
  std::string parse_string() {
    skip_space();
    const char quote = peek();
    if (quote != '\'' && quote != '"') bad("invalid header: expected a quoted string");
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) bad("a string in the header does not end");
    const std::string_view value = text_.substr(position_ + 1, end - position_ - 1);
    if (value.find('\\') != std::string_view::npos) bad("an escape in a string of the header");
    position_ = end + 1;
    return std::string(value);
  }
  bool parse_bool() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(position_, word.size()) != word) continue;
      position_ += word.size();
      return word == "True";
    }
    bad("invalid header: expected True or False");
  }
  Shape parse_shape() {
    Shape result;
    expect('(');
    while (!accept(')')) {
      skip_space();
      std::int64_t value = 0;
      const std::size_t start = position_;
      while (peek() >= '0' && peek() <= '9') {
        if (value > (std::int64_t{1} << 59)) bad("a size in the shape is too large");
        value = value * 10 + (peek() - '0');
        ++position_;
      }
      if (position_ == start) bad("invalid header: expected a size in the shape");
      if (peek() == 'L') ++position_;  // Python 2 wrote long integers with an L
      append_extent(result, value, name_, offset_ + start);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }

  std::string_view text_;
  const std::string& name_;
  std::uint64_t offset_;
  std::size_t position_ = 0;
};

/// Reads kind, dtype, itemsize and byte order from a descr such as "<f4", ">i8", "|b1", "<U12".
void interpret_descr(const std::string& descr, NpyHeader& header, const std::string& name, std::uint64_t offset,
                     const NpyOptions& options) {
  const auto refuse = [&](const char* why) { fail_at(name, offset, "dtype '{}' cannot be read: {}", descr, why); };
  std::string_view rest = descr;
  char order = '=';
  if (!rest.empty() && std::string_view("<>|=").find(rest[0]) != std::string_view::npos) {
    order = rest[0];
    rest.remove_prefix(1);
  }
  if (rest.empty()) refuse("no type");
  const char type = rest[0];
  rest.remove_prefix(1);
  if (type == 'O') {
    header.kind = NpyKind::object;
    return;
  }
  std::uint64_t size = 0;
  if (rest.empty() || rest.size() > 10) refuse("no item size");
  for (const char c : rest) {
    if (c < '0' || c > '9') refuse("not a plain type");
    size = size * 10 + static_cast<std::uint64_t>(c - '0');
  }
  header.big_endian = order == '>';
  if (type == 'U' || type == 'S' || type == 'a') {
    if (size > (std::uint64_t{1} << 31)) refuse("strings too long");
    header.kind = type == 'U' ? NpyKind::unicode : NpyKind::bytes;
    header.itemsize = static_cast<std::size_t>(type == 'U' ? 4 * size : size);
    return;
  }
  const std::optional<Dtype> dtype = [&]() -> std::optional<Dtype> {
    switch (type) {
      case 'b':
        return size == 1 ? std::optional(Dtype::bool_) : std::nullopt;
      case 'i':
        return size == 1   ? std::optional(Dtype::int8)
               : size == 2 ? std::optional(Dtype::int16)
               : size == 4 ? std::optional(Dtype::int32)
               : size == 8 ? std::optional(Dtype::int64)
                           : std::nullopt;
      case 'u':
        return size == 1   ? std::optional(Dtype::uint8)
               : size == 2 ? std::optional(Dtype::uint16)
               : size == 4 ? std::optional(Dtype::uint32)
               : size == 8 ? std::optional(Dtype::uint64)
                           : std::nullopt;
      case 'f':
        return size == 2   ? std::optional(Dtype::float16)
               : size == 4 ? std::optional(Dtype::float32)
               : size == 8 ? std::optional(Dtype::float64)
                           : std::nullopt;
      case 'V':
        if (size == 2 && options.bfloat16_as_void) return Dtype::bfloat16;
        if (size == 2) refuse("raw bytes; if they are bfloat16, say so by NpyOptions::bfloat16_as_void");
        return std::nullopt;
      case 'c':
        return size == 8    ? std::optional(Dtype::complex64)
               : size == 16 ? std::optional(Dtype::complex128)
                            : std::nullopt;
      case 'M':
      case 'm':
        refuse("dates and times are not supported");
        break;
      default:
        break;
    }
    return std::nullopt;
  }();
  if (!dtype) refuse("not one of bool, int8-64, uint8-64, float16-64, complex64-128, str, bytes");
  header.dtype = *dtype;
  header.itemsize = itemsize(*dtype);
}

void append_utf8(std::string& to, std::uint32_t c) {
  if (c < 0x80) {
    to += static_cast<char>(c);
  } else if (c < 0x800) {
    to += static_cast<char>(0xc0 | (c >> 6));
    to += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    to += static_cast<char>(0xe0 | (c >> 12));
    to += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
    to += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    to += static_cast<char>(0xf0 | (c >> 18));
    to += static_cast<char>(0x80 | ((c >> 12) & 0x3f));
    to += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
    to += static_cast<char>(0x80 | (c & 0x3f));
  }
}

std::string decode_item(const NpyHeader& header, const std::byte* item, const std::string& name, std::uint64_t offset) {
  std::string result;
  if (header.kind == NpyKind::bytes) {
    result.assign(reinterpret_cast<const char*>(item), header.itemsize);
    result.erase(result.find_last_not_of('\0') + 1);  // NumPy strips trailing zeros from strings
    return result;
  }
  const auto at = [&](std::size_t i) {
    return header.big_endian ? load_be<std::uint32_t>(item + 4 * i) : load_le<std::uint32_t>(item + 4 * i);
  };
  std::size_t length = header.itemsize / 4;
  while (length > 0 && at(length - 1) == 0) --length;
  for (std::size_t i = 0; i < length; ++i) {
    const std::uint32_t c = at(i);
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
      fail_at(name, offset + 4 * i, "{:#x} is not a Unicode character", c);
    append_utf8(result, c);
  }
  return result;
}

std::vector<std::uint32_t> decode_utf8(const std::string& text) {
  std::vector<std::uint32_t> points;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int more = lead < 0x80 ? 0 : (lead >> 5) == 6 ? 1 : (lead >> 4) == 14 ? 2 : (lead >> 3) == 30 ? 3 : -1;
    std::uint32_t c = more > 0 ? lead & (0x3fu >> more) : lead;
    bool valid = more >= 0 && i + static_cast<std::size_t>(more) < text.size();
    for (int k = 1; valid && k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]);
      valid = (next >> 6) == 2;
      c = (c << 6) | (next & 0x3fu);
    }
    constexpr std::uint32_t kLeast[4] = {0, 0x80, 0x800, 0x10000};
    if (!valid || c < kLeast[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
      fail<ValueError>("npy_string: byte {} of the string is not UTF-8", i);
    points.push_back(c);
    i += static_cast<std::size_t>(more) + 1;
  }
  return points;
}

/// The pickle of numpy.array(None), as numpy.save writes it for each protocol. `module` is numpy.core.multiarray, or
/// numpy._core.multiarray since NumPy 2.
std::string none_pickle(int protocol, std::string_view module) {
  using namespace std::string_view_literals;
  std::string p = {'\x80', static_cast<char>(protocol)};
  if (protocol >= 4) {
    std::string body = {'\x8c', static_cast<char>(module.size())};
    body += module;
    body +=
        "\x94\x8c\x0c_reconstruct\x94\x93\x94\x8c\x05numpy\x94\x8c\x07ndarray\x94\x93\x94K\x00\x85\x94"
        "C\x01"
        "b\x94\x87\x94R\x94(K\x01)h\x03\x8c\x05"
        "dtype\x94\x93\x94\x8c\x02O8\x94\x89\x88\x87\x94R\x94(K\x03\x8c\x01|\x94NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?"
        "t\x94"
        "b\x89]\x94Nat\x94"
        "b."sv;
    p += '\x95';
    append_le<std::uint64_t>(p, body.size());
    return p + body;
  }
  p += "c";
  p += module;
  p += "\n_reconstruct\nq\x00"
       "cnumpy\nndarray\nq\x01K\x00\x85q\x02"sv;
  if (protocol == 2) {
    p += "c_codecs\nencode\nq\x03X\x01\x00\x00\x00"
         "bq\x04X\x06\x00\x00\x00latin1q\x05\x86q\x06Rq\x07\x87q\x08Rq\t(K\x01)"
         "cnumpy\ndtype\nq\nX\x02\x00\x00\x00O8q\x0b\x89"
         "\x88\x87q\x0cRq\r(K\x03X\x01\x00\x00\x00|q\x0eNNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tq\x0f"
         "b\x89]q\x10Natq\x11"
         "b."sv;
  } else {
    p += "C\x01"
         "bq\x03\x87q\x04Rq\x05(K\x01)cnumpy\ndtype\nq\x06X\x02\x00\x00\x00O8q\x07\x89\x88\x87q\x08Rq\t("
         "K\x03X\x01\x00\x00\x00|"
         "q\nNNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tq\x0b"
         "b\x89]q\x0cNatq\r"
         "b."sv;
  }
  return p;
}

constexpr std::string_view kOldModule = "numpy.core.multiarray", kNewModule = "numpy._core.multiarray";

bool is_none_pickle(std::string_view bytes) {
  for (int protocol = 2; protocol <= 5; ++protocol)
    for (const std::string_view module : {kOldModule, kNewModule})
      if (bytes == none_pickle(protocol, module)) return true;
  return false;
}

std::string make_header(std::string_view descr, const Shape& shape) {
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape);
  // as in NumPy, the header's size is a multiple of 64 bytes, and it ends with a newline
  constexpr std::size_t kBefore = 10;
  const std::size_t total = (kBefore + dict.size() + 1 + 63) / 64 * 64;
  dict.resize(total - kBefore - 1, ' ');
  dict += '\n';
  std::string header(kMagic);
  header += '\x01';
  header += '\x00';
  append_le(header, static_cast<std::uint16_t>(dict.size()));
  return header + dict;
}

}  // namespace

std::size_t npy_data_offset(std::span<const std::byte> start, std::uint64_t total, const std::string& name) {
  const std::string_view text = as_text(start);
  if (text.size() < 10 || text.substr(0, 6) != kMagic)
    fail_at(name, 0,
            "not an NPY file: it must begin with \\x93NUMPY and a header of 10 bytes or more ({} bytes are there)",
            total);
  const int major = static_cast<unsigned char>(text[6]);
  if (major < 1 || major > 3)
    fail_at(name, 6, "unknown NPY version {}.{}; supported are 1, 2 and 3", major, static_cast<int>(text[7]));
  const std::size_t before = major == 1 ? 10 : 12;
  if (text.size() < before) fail_at(name, text.size(), "the file ends inside the NPY header");
  const std::uint64_t length =
      major == 1 ? load_le<std::uint16_t>(start.data() + 8) : load_le<std::uint32_t>(start.data() + 8);
  if (length > kMaxHeader) fail_at(name, 8, "an NPY header of {} bytes (at most {} are taken)", length, kMaxHeader);
  if (before + length > total)
    fail_at(name, 8, "the NPY header needs {} bytes, the file has {}", before + length, total);
  return before + static_cast<std::size_t>(length);
}

NpyHeader parse_npy_header(std::span<const std::byte> start, std::uint64_t total, const std::string& name,
                           const NpyOptions& options) {
  const std::size_t end = npy_data_offset(start, total, name);
  const std::size_t before = start[6] == std::byte{1} ? 10 : 12;
  HeaderParser parser(as_text(start).substr(before, end - before), name, before);
  parser.parse();
  NpyHeader header;
  header.fortran_order = *parser.fortran_order;
  header.shape = *parser.shape;
  header.count = count_elements(header.shape, name, before);
  interpret_descr(parser.descr, header, name, before, options);
  const std::uint64_t rest = total - end;
  if (header.kind == NpyKind::object) {
    header.data_bytes = rest;
    return header;
  }
  const auto count = static_cast<std::uint64_t>(header.count);
  if (count > 0 && header.itemsize > UINT64_MAX / 2 / count)
    fail_at(name, before, "shape {} is too large", header.shape);
  header.data_bytes = count * header.itemsize;
  if (header.data_bytes != rest)
    fail_at(name, end, "shape {} of '{}' needs {} bytes, the file has {}", header.shape, parser.descr,
            header.data_bytes, rest);
  // empty strings take no bytes in the file, but they do in memory
  if (header.itemsize == 0 && count > 65536) fail_at(name, before, "{} empty strings", count);
  return header;
}

HostArray finish_npy_numbers(const NpyHeader& header, HostArray raw) {
  const auto count = static_cast<std::size_t>(header.count);
  if (header.big_endian) {
    const std::size_t parts = is_complex(header.dtype) ? 2 : 1;
    swap_bytes(raw.data.get(), parts * count, header.itemsize / parts);
  }
  if (header.dtype == Dtype::bool_) normalize_bools(raw.data.get(), count);
  const int ndim = header.shape.size();
  if (!header.fortran_order || ndim < 2 || count == 0) return raw;
  HostArray result = HostArray::empty(header.dtype, header.shape);
  Strides strides = header.shape;  // for Fortran order, in elements
  std::int64_t step = 1;
  for (int i = 0; i < ndim; ++i) {
    strides[i] = step;
    step *= header.shape[i];
  }
  const auto walk = [&](auto zero) {
    using T = decltype(zero);
    const T* from = reinterpret_cast<const T*>(raw.data.get());
    T* to = reinterpret_cast<T*>(result.data.get());
    Dims index = Dims::filled(ndim, 0);
    const std::int64_t inner = header.shape.back(), inner_stride = strides.back();
    std::int64_t base = 0;
    for (std::int64_t done = 0; done < header.count; done += inner) {
      for (std::int64_t k = 0; k < inner; ++k) *to++ = from[base + k * inner_stride];
      for (int axis = ndim - 2; axis >= 0; --axis) {
        base += strides[axis];
        if (++index[axis] < header.shape[axis]) break;
        base -= strides[axis] * header.shape[axis];
        index[axis] = 0;
      }
    }
  };
  if (header.dtype == Dtype::complex64) {
    walk(std::complex<float>{});
  } else if (header.dtype == Dtype::complex128) {
    walk(std::complex<double>{});
  } else {
    visit_dtype(header.dtype, walk);
  }
  return result;
}

NpyValue parse_npy_object(const NpyHeader& header, std::span<const std::byte> data, const std::string& name,
                          std::uint64_t offset) {
  if (header.kind == NpyKind::object) {
    if (header.shape.empty() && is_none_pickle(as_text(data))) return None{};
    fail_at(name, offset, "an array of Python objects (dtype '|O', a pickle): only a 0-d array of None can be read");
  }
  StringArray strings;
  strings.shape = header.shape;
  strings.values.reserve(static_cast<std::size_t>(header.count));
  for (std::int64_t i = 0; i < header.count; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * header.itemsize;
    strings.values.push_back(decode_item(header, data.data() + at, name, offset + at));
  }
  if (header.shape.empty()) return std::move(strings.values[0]);
  if (header.fortran_order && header.shape.size() > 1 && header.count > 0) {
    HostArray order = HostArray::empty(Dtype::int64, header.shape);
    for (std::int64_t i = 0; i < header.count; ++i) order.as<std::int64_t>()[i] = i;
    NpyHeader of_order = header;
    of_order.dtype = Dtype::int64;
    of_order.big_endian = false;
    order = finish_npy_numbers(of_order, order);
    std::vector<std::string> values;
    values.reserve(strings.values.size());
    for (std::int64_t i = 0; i < header.count; ++i)
      values.push_back(std::move(strings.values[static_cast<std::size_t>(order.as<std::int64_t>()[i])]));
    strings.values = std::move(values);
  }
  return strings;
}

}  // namespace detail

NpyValue read_npy_value(std::span<const std::byte> bytes, const std::string& name, const NpyOptions& options) {
  using namespace detail;
  const std::size_t end = npy_data_offset(bytes, bytes.size(), name);
  const NpyHeader header = parse_npy_header(bytes, bytes.size(), name, options);
  const auto data = bytes.subspan(end);
  if (header.kind != NpyKind::number) return parse_npy_object(header, data, name, end);
  HostArray raw = HostArray::empty(header.dtype, header.shape);
  if (!data.empty()) std::memcpy(raw.data.get(), data.data(), data.size());
  return finish_npy_numbers(header, std::move(raw));
}

NpyValue read_npy_value(const std::string& path, const NpyOptions& options) {
  return read_npy_value(os::FileView(path).bytes(), path, options);
}

HostArray read_npy(std::span<const std::byte> bytes, const std::string& name, const NpyOptions& options) {
  NpyValue value = read_npy_value(bytes, name, options);
  if (HostArray* array = std::get_if<HostArray>(&value)) return std::move(*array);
  fail<FileError>("{}: at byte 0: an array of {} where one of numbers was expected", name,
                  std::holds_alternative<None>(value) ? "None" : "strings");
}

HostArray read_npy(const std::string& path, const NpyOptions& options) {
  return read_npy(os::FileView(path).bytes(), path, options);
}

std::string npy_header(const HostArray& array, const NpyOptions& options) {
  if (array.dtype == Dtype::bfloat16 && !options.bfloat16_as_void)
    fail<DtypeError>(
        "npy: the format has no bfloat16; convert to float32, use safetensors, or set NpyOptions::bfloat16_as_void");
  constexpr std::string_view descrs[kDtypes] = {
#define CT_DTYPE(id, name, T, kind, npy, ...) npy,
#include "catenary/core/dtypes.def"
  };
  const bool is_void = array.dtype == Dtype::bfloat16;
  return detail::make_header(is_void ? "<V2" : descrs[static_cast<int>(array.dtype)], array.shape);
}

std::string npy_string(const std::string& utf8) {
  const std::vector<std::uint32_t> points = detail::decode_utf8(utf8);
  // NumPy has no strings of zero characters: '' is <U1 with a zero
  std::string result = detail::make_header(fmt::format("<U{}", std::max<std::size_t>(points.size(), 1)), Shape{});
  for (const std::uint32_t c : points) detail::append_le(result, c);
  if (points.empty()) detail::append_le(result, std::uint32_t{0});
  return result;
}

std::string npy_none() {
  // every NumPy reads protocol 3 with the old module name, and Chainer's snapshots contain it
  return detail::make_header("|O", Shape{}) + detail::none_pickle(3, detail::kOldModule);
}

void write_npy(const std::string& path, const HostArray& array, const NpyOptions& options) {
  const std::string header = npy_header(array, options);
  os::AtomicFile file(path);
  file.write(header);
  file.write(array.bytes());
  file.commit();
}

}  // namespace catenary::io
