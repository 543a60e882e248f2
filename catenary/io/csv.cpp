#include "catenary/io/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "catenary/core/os/file.h"
#include "catenary/io/detail.h"

namespace catenary::io {

namespace {

std::string_view without_spaces(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// The value of a field: NaN if empty, nullopt if it is not a number.
std::optional<double> number_of(std::string_view text) {
  text = without_spaces(text);
  if (text.empty()) return std::numeric_limits<double>::quiet_NaN();
  return detail::parse_number(text);
}

/// Splits a text into rows of fields.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& name, const CsvOptions& options)
      : text_(text), name_(name), options_(options) {
    if (text_.substr(0, 3) == "\xef\xbb\xbf") position_ = line_start_ = 3;
    for (int i = 0; i < options.skip_lines; ++i) skip_line();
  }

  /// Reads the next row that is not empty. Returns false at the end.
  bool next(std::vector<std::string>& fields) {
    for (;;) {
      if (position_ == text_.size()) return false;
      const bool comment = options_.comment != '\0' && text_[position_] == options_.comment;
      const bool blank = text_[position_] == '\n' || text_.substr(position_, 2) == "\r\n";
      if (!comment && !blank) break;
      skip_line();
    }
    row_line_ = line_;
    std::size_t count = 0;
    bool more = true;
    while (more) {
      if (count == fields.size()) fields.emplace_back();
      more = read_field(fields[count++]);
    }
    fields.resize(count);
    return true;
  }

  /// The line on which the last row begins.
  std::int64_t row_line() const { return row_line_; }

  template <class... Args>
  [[noreturn]] void bad(std::int64_t line, std::size_t column, fmt::format_string<Args...> format, Args&&... args) {
    fail<FileError>("{}: line {}, column {}: {}", name_, line, column,
                    fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  std::size_t column() const { return position_ - line_start_ + 1; }

  void skip_line() {
    const std::size_t end = text_.find('\n', position_);
    position_ = end == std::string_view::npos ? text_.size() : end + 1;
    if (end != std::string_view::npos) ++line_;
    line_start_ = position_;
  }

  /// Reads a field and its delimiter. Returns true if another field follows in the row.
  bool read_field(std::string& field) {
    field.clear();
    if (position_ < text_.size() && text_[position_] == options_.quote) {
      read_quoted(field);
    } else {
      const char stops[] = {options_.delimiter, '\n'};
      const std::size_t end = std::min(text_.find_first_of(std::string_view(stops, 2), position_), text_.size());
      field = text_.substr(position_, end - position_);
      position_ = end;
      if (!field.empty() && field.back() == '\r' && (end == text_.size() || text_[end] == '\n')) field.pop_back();
    }
    if (position_ == text_.size()) return false;
    if (text_[position_] == '\n') {
      skip_line();
      return false;
    }
    ++position_;
    return true;
  }

  void read_quoted(std::string& field) {
    const std::int64_t start_line = line_;
    const std::size_t start_column = column();
    ++position_;
    for (;;) {
      const std::size_t end = text_.find(options_.quote, position_);
      if (end == std::string_view::npos) bad(start_line, start_column, "the quote that opens here does not close");
      const std::string_view piece = text_.substr(position_, end - position_);
      for (std::size_t at = 0; (at = piece.find('\n', at)) != std::string_view::npos; ++at) {
        ++line_;
        line_start_ = position_ + at + 1;
      }
      field += piece;
      position_ = end + 1;
      if (position_ == text_.size() || text_[position_] != options_.quote) break;
      field += options_.quote;  // a doubled quote stands for a quote
      ++position_;
    }
    if (text_.substr(position_, 2) == "\r\n" || (position_ + 1 == text_.size() && text_[position_] == '\r'))
      ++position_;
    if (position_ < text_.size() && text_[position_] != options_.delimiter && text_[position_] != '\n')
      bad(line_, column(), "'{}' follows a closing quote", text_.substr(position_, 1));
  }

  std::string_view text_;
  const std::string& name_;
  const CsvOptions& options_;
  std::size_t position_ = 0, line_start_ = 0;
  std::int64_t line_ = 1, row_line_ = 1;
};

}  // namespace

CsvTable read_csv(std::span<const std::byte> bytes, const std::string& name, const CsvOptions& options) {
  const auto special = [](char c) { return c == '\n' || c == '\r' || c == '\0'; };
  if (special(options.delimiter) || special(options.quote) || options.delimiter == options.quote ||
      (options.comment && (options.comment == options.delimiter || options.comment == options.quote)) ||
      options.skip_lines < 0)
    fail<ValueError>(
        "read_csv: delimiter, quote and comment must be three different characters, none a line break, and skip_lines "
        "not negative");
  CsvTable table;
  table.source = name;
  const std::string_view text = detail::as_text(bytes);
  std::vector<std::string> fields;
  Scanner scanner(text, name, options);
  bool any = scanner.next(fields);
  if (!any) return table;
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    CsvColumn column;
    column.name = options.header ? fields[i] : std::to_string(i);
    if (!seen.insert(column.name).second)
      scanner.bad(scanner.row_line(), 1, "two columns are named '{}' (fields {} and before)", column.name, i + 1);
    table.columns.push_back(std::move(column));
  }
  if (options.header) any = scanner.next(fields);
  bool any_text = false;
  const auto is_missing = [&](const std::string& field) {
    return std::find(options.missing.begin(), options.missing.end(), without_spaces(field)) != options.missing.end();
  };
  for (; any; any = scanner.next(fields)) {
    if (fields.size() != table.columns.size())
      scanner.bad(scanner.row_line(), 1, "the row has {} field(s), the {} {}{}", fields.size(),
                  options.header ? "header" : "first row", table.columns.size(),
                  table.columns.size() == 1 ? fmt::format("; is '{}' the delimiter?", options.delimiter) : "");
    for (std::size_t i = 0; i < fields.size(); ++i) {
      CsvColumn& column = table.columns[i];
      if (!column.numeric) continue;
      const std::optional<double> value =
          is_missing(fields[i]) ? std::numeric_limits<double>::quiet_NaN() : number_of(fields[i]);
      if (value) {
        column.values.push_back(*value);
      } else {
        column.numeric = false;
        column.first_text_line = scanner.row_line();
        column.values = {};
        any_text = true;
      }
    }
    ++table.rows;
    table.lines.push_back(scanner.row_line());
  }
  if (!any_text) return table;
  // the last row may show that a column is text, so strings are read in a second pass
  Scanner again(text, name, options);
  if (options.header) again.next(fields);
  while (again.next(fields))
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (!table.columns[i].numeric) table.columns[i].strings.push_back(fields[i]);
  return table;
}

CsvTable read_csv(const std::string& path, const CsvOptions& options) {
  return read_csv(os::FileView(path).bytes(), path, options);
}

std::string csv_field(const std::string& text, char delimiter) {
  if (text.find_first_of("\"\r\n") == std::string::npos && text.find(delimiter) == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::vector<std::string> CsvTable::names() const {
  std::vector<std::string> result;
  for (const CsvColumn& c : columns) result.push_back(c.name);
  return result;
}

const CsvColumn& CsvTable::column(const std::string& name) const {
  for (const CsvColumn& c : columns)
    if (c.name == name) return c;
  const bool joined = columns.size() == 1 && columns[0].name.find_first_of(",;|\t") != std::string::npos;
  fail<FileError>("{}: no column '{}'; its columns are '{}'{}", source, name, detail::listed(names(), "', '"),
                  joined ? "; is the delimiter another one?" : "");
}

HostArray CsvTable::matrix() const { return matrix(names()); }

HostArray CsvTable::matrix(const std::vector<std::string>& wanted) const {
  HostArray result = HostArray::empty(Dtype::float64, {rows, static_cast<std::int64_t>(wanted.size())});
  std::unordered_map<std::string_view, const CsvColumn*> by_name;
  for (const CsvColumn& c : columns) by_name.emplace(c.name, &c);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const auto found = by_name.find(wanted[k]);
    const CsvColumn& c = found != by_name.end() ? *found->second : column(wanted[k]);  // throws
    if (!c.numeric) {
      const auto row = std::find(lines.begin(), lines.end(), c.first_text_line) - lines.begin();
      fail<FileError>("{}: line {}: column '{}' holds '{}', which is not a number", source, c.first_text_line, c.name,
                      c.strings[static_cast<std::size_t>(row)].substr(0, 60));
    }
    for (std::size_t i = 0; i < c.values.size(); ++i) result.as<double>()[i * wanted.size() + k] = c.values[i];
  }
  return result;
}

}  // namespace catenary::io
