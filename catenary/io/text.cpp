#include "catenary/io/text.h"

#include <fmt/printf.h>

#include <charconv>
#include <cstring>
#include <type_traits>

#include "catenary/core/os/file.h"
#include "catenary/io/detail.h"

namespace catenary::io {

namespace {

constexpr std::string_view kSpace = " \t\r\v\f";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// Splits a line without comment into fields.
std::vector<std::string_view> fields_of(std::string_view line, const std::string& delimiter) {
  std::vector<std::string_view> fields;
  if (!delimiter.empty()) {
    for (std::size_t at = 0; at != std::string_view::npos;) {
      const std::size_t end = line.find(delimiter, at);
      fields.push_back(trimmed(line.substr(at, end == std::string_view::npos ? end : end - at)));
      at = end == std::string_view::npos ? end : end + delimiter.size();
    }
    return fields;
  }
  for (std::size_t at = line.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kSpace, at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kSpace, end);
  }
  return fields;
}

template <class T>
std::optional<T> parse(std::string_view field) {
  if constexpr (std::is_floating_point_v<T>) {
    return detail::parse_number(field);
  } else {
    if (field.size() > 1 && field.front() == '+' && field[1] != '-') field.remove_prefix(1);
    T value = 0;
    const auto parsed = std::from_chars(field.data(), field.data() + field.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != field.data() + field.size()) return std::nullopt;
    return value;
  }
}

template <class T>
HostArray read(const std::string& path, const TextOptions& options) {
  const os::FileView file(path);
  std::string_view text = detail::as_text(file.bytes());
  std::vector<T> values;
  std::int64_t line_number = 0, rows = 0, columns = -1, wanted = 1;
  while (!text.empty() && (!options.max_rows || rows < *options.max_rows)) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (++line_number <= options.skiprows) continue;
    if (!options.comments.empty()) line = line.substr(0, line.find(options.comments));
    if (trimmed(line).empty()) continue;
    const std::vector<std::string_view> fields = fields_of(line, options.delimiter);
    const auto count = static_cast<std::int64_t>(fields.size());
    if (columns < 0) {
      columns = count;
      wanted = options.usecols.empty() ? count : static_cast<std::int64_t>(options.usecols.size());
    }
    if (options.usecols.empty() && count != columns)
      fail<FileError>("{}: line {} has {} fields, the lines before have {}", path, line_number, count, columns);
    for (std::int64_t i = 0; i < wanted; ++i) {
      std::int64_t at = options.usecols.empty() ? i : options.usecols[static_cast<std::size_t>(i)];
      if (at < -count || at >= count)
        fail<FileError>("{}: line {} has {} fields, column {} is wanted", path, line_number, count, at);
      at += at < 0 ? count : 0;
      const std::string_view field = fields[static_cast<std::size_t>(at)];
      const std::optional<T> value = parse<T>(field);
      if (!value)
        fail<FileError>("{}: line {}, column {}: \"{}\" is no {}", path, line_number, at, field,
                        std::is_floating_point_v<T> ? "number" : "integer of that type");
      values.push_back(*value);
    }
    ++rows;
  }
  HostArray result = HostArray::empty(dtype_of<T>, {rows, wanted});
  if (!values.empty()) std::memcpy(result.data.get(), values.data(), values.size() * sizeof(T));
  return result;
}

/// A format: pieces of text, each with the conversion after it, and the text after the last conversion.
struct Format {
  std::vector<std::string> pieces;
  std::vector<bool> integer;
  std::string rest;

  explicit Format(const std::string& format) {
    for (std::size_t i = 0; i < format.size(); ++i) {
      rest += format[i];
      if (format[i] != '%') continue;
      if (i + 1 < format.size() && format[i + 1] == '%') {
        rest += format[++i];
        continue;
      }
      const std::size_t end = format.find_first_not_of("-+ #0123456789.", i + 1);
      if (end == std::string::npos || std::string_view("dieEfFgG").find(format[end]) == std::string_view::npos)
        fail<ValueError>("savetxt: \"{}\" is no format of numbers (%d, %.3f, %.18e, …)", format);
      rest += format.substr(i + 1, end - i);
      i = end;
      pieces.push_back(rest);
      integer.push_back(format[end] == 'd' || format[end] == 'i');
      rest.clear();
    }
    rest = fmt::sprintf(rest);
  }
  std::string operator()(std::size_t piece, double real, std::int64_t whole) const {
    return integer[piece] ? fmt::sprintf(pieces[piece], whole) : fmt::sprintf(pieces[piece], real);
  }
};

void write_lines(os::AtomicFile& file, const std::string& text, const SavetxtOptions& options) {
  if (text.empty()) return;
  std::string lines = options.comments;
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += options.comments;
  }
  file.write(lines + options.newline);
}

}  // namespace

HostArray read_text(const std::string& path, Dtype dtype, const TextOptions& options) {
  if (dtype == Dtype::uint64) return read<std::uint64_t>(path, options);
  return is_floating(dtype) ? read<double>(path, options) : read<std::int64_t>(path, options);
}

void write_text(const std::string& path, const HostArray& a, const SavetxtOptions& options) {
  const int ndim = a.shape.size();
  if (ndim != 1 && ndim != 2) fail<ShapeError>("savetxt: expected a 1-d or 2-d array, its shape is {}", a.shape);
  const std::int64_t rows = a.shape[0], columns = ndim == 1 ? 1 : a.shape[1];
  const Format format(options.fmt);
  const std::size_t fields = format.pieces.size();
  if (fields != 1 && fields != static_cast<std::size_t>(columns))
    fail<ValueError>("savetxt: \"{}\" has {} fields, the array {} columns", options.fmt, fields, columns);
  const bool whole_row = fields > 1;
  os::AtomicFile file(path);
  write_lines(file, options.header, options);
  visit_dtype(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* value = a.as<T>();
    for (std::int64_t i = 0; i < rows; ++i) {
      std::string line;
      for (std::int64_t j = 0; j < columns; ++j, ++value) {
        double real;
        std::int64_t whole;
        if constexpr (std::is_integral_v<T>) {
          real = static_cast<double>(*value);
          whole = static_cast<std::int64_t>(*value);
        } else {
          if constexpr (std::is_floating_point_v<T>) {
            real = static_cast<double>(*value);
          } else {
            real = static_cast<double>(float{*value});
          }
          whole = static_cast<std::int64_t>(real);
        }
        if (j > 0 && !whole_row) line += options.delimiter;
        line += format(whole_row ? static_cast<std::size_t>(j) : 0, real, whole);
        if (!whole_row) line += format.rest;
      }
      if (whole_row) line += format.rest;
      file.write(line + options.newline);
    }
  });
  write_lines(file, options.footer, options);
  file.commit();
}

}  // namespace catenary::io
