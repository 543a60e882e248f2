#pragma once
// Tables as text: comma-separated values (RFC 4180) and its relatives.

#include <string>
#include <vector>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// How a CSV file is read.
struct CsvOptions {
  char delimiter = ',';
  char quote = '"';
  bool header = true;   ///< the first line names the columns; else they are "0", "1", …
  char comment = '\0';  ///< lines that begin with it are skipped; none by default
  int skip_lines = 0;   ///< before anything is read
  /// Words for a missing number, such as "NA", besides an empty field. In a column that holds other texts they are
  /// texts.
  std::vector<std::string> missing = {};
};

/// A column of numbers, or of texts.
struct CsvColumn {
  std::string name;
  bool numeric = true;               ///< every field is a number, empty or missing
  std::vector<double> values;        ///< of a numeric column; what is empty or missing is NaN
  std::vector<std::string> strings;  ///< of another
  std::int64_t first_text_line = 0;  ///< where its first field that is no number stands; 0 in a numeric column
};

/// The columns of a CSV file.
struct CT_API CsvTable {
  std::string source;  ///< for messages
  std::int64_t rows = 0;
  std::vector<CsvColumn> columns;
  std::vector<std::int64_t> lines;  ///< where each row begins, counted from 1

  std::vector<std::string> names() const;
  /// A column by name; throws FileError when there is none.
  const CsvColumn& column(const std::string& name) const;
  /// All columns, or those named, as a float64 array (rows, columns); throws FileError for a column with text, saying
  /// where.
  HostArray matrix() const;
  HostArray matrix(const std::vector<std::string>& names) const;
};

/// Reads a table: quoted fields (with delimiters, line breaks and doubled quotes in them), LF or CRLF, spaces around
/// numbers, a UTF-8 mark at the start; empty lines are skipped. Throws FileError with line and column when rows differ
/// in their number of fields, a quote does not end, or two columns have one name.
CT_API CsvTable read_csv(const std::string& path, const CsvOptions& options = {});
CT_API CsvTable read_csv(std::span<const std::byte> bytes, const std::string& name, const CsvOptions& options = {});

/// A text as it stands in a field of a CSV file: in quotes where it needs them.
CT_API std::string csv_field(const std::string& text, char delimiter = ',');

}  // namespace catenary::io
