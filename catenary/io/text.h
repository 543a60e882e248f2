#pragma once
// Plain-text tables of numbers, as in numpy.loadtxt and numpy.savetxt.

#include <optional>
#include <string>
#include <vector>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// How to read a table of numbers.
struct TextOptions {
  std::string comments = "#";              ///< beginning of comments, none if empty
  std::string delimiter = "";              ///< between fields, white space if empty
  std::int64_t skiprows = 0;               ///< lines to skip at the beginning
  std::vector<std::int64_t> usecols = {};  ///< columns to read, in this order, all if empty
  std::optional<std::int64_t> max_rows = {};
};
/// Reads numbers [rows, columns] as float64, or as int64 or uint64 if requested. Skips empty lines. Throws FileError
/// with the line for invalid fields, rows of different lengths and missing columns.
CT_API HostArray read_text(const std::string& path, Dtype dtype = Dtype::float64, const TextOptions& options = {});

/// How to write numbers.
struct SavetxtOptions {
  std::string fmt = "%.18e";    ///< C's format for one number (d, i, e, f, g) or for a whole row
  std::string delimiter = " ";  ///< between numbers, if fmt is for one number
  std::string newline = "\n";
  std::string header = "";      ///< lines before the numbers
  std::string footer = "";      ///< lines after the numbers
  std::string comments = "# ";  ///< prefix of each line of header and footer
};
/// Writes a 1-d array as a column, or a 2-d array in rows. Throws ShapeError for other arrays, and ValueError for an
/// invalid format or a format whose number of fields is neither one nor the number of columns.
CT_API void write_text(const std::string& path, const HostArray& a, const SavetxtOptions& options = {});

}  // namespace catenary::io
