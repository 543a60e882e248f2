#pragma once
// Text tables: comma-separated values (RFC 4180) and similar formats.

#include <string>
#include <vector>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// How to read a CSV file.
struct CsvOptions {
  char delimiter = ',';
  char quote = '"';
  bool header = true;   ///< the first line has the column names, otherwise the columns are named "0", "1", …
  char comment = '\0';  ///< skip lines that begin with it, by default none
  int skip_lines = 0;   ///< lines to skip at the beginning
  /// Words for missing numbers, such as "NA", besides empty fields. In a text column these words are texts.
  std::vector<std::string> missing = {};
};

/// A column of numbers or of texts.
struct CsvColumn {
  std::string name;
  bool numeric = true;               ///< every field is a number, empty or missing
  std::vector<double> values;        ///< for a numeric column, NaN where empty or missing
  std::vector<std::string> strings;  ///< for a text column
  std::int64_t first_text_line = 0;  ///< the line of the first field that is not a number, 0 for a numeric column
};

/// The columns of a CSV file.
struct CT_API CsvTable {
  std::string source;  ///< for messages
  std::int64_t rows = 0;
  std::vector<CsvColumn> columns;
  std::vector<std::int64_t> lines;  ///< the line where each row begins, counted from 1

  std::vector<std::string> names() const;
  /// Returns a column by name. Throws FileError if there is none.
  const CsvColumn& column(const std::string& name) const;
  /// Returns all columns, or the named ones, as a float64 array (rows, columns). Throws FileError with the place of a
  /// column with text.
  HostArray matrix() const;
  HostArray matrix(const std::vector<std::string>& names) const;
};

/// Reads a table. Accepts quoted fields (containing delimiters, line breaks and doubled quotes), LF or CRLF, spaces
/// around numbers, and a UTF-8 mark at the beginning. Skips empty lines. Throws FileError with line and column if rows
/// differ in their number of fields, a quote is not closed, or column names repeat.
CT_API CsvTable read_csv(const std::string& path, const CsvOptions& options = {});
CT_API CsvTable read_csv(std::span<const std::byte> bytes, const std::string& name, const CsvOptions& options = {});

/// Returns a text as a field of a CSV file, in quotes if needed.
CT_API std::string csv_field(const std::string& text, char delimiter = ',');

}  // namespace catenary::io
