#pragma once
// Tables of numbers as plain text, as numpy.loadtxt and numpy.savetxt read and write them.

#include <optional>
#include <string>
#include <vector>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// How a table of numbers is read.
struct TextOptions {
  std::string comments = "#";              ///< begins what is not read of a line; none when empty
  std::string delimiter = "";              ///< between fields; white space when empty
  std::int64_t skiprows = 0;               ///< lines before anything is read
  std::vector<std::int64_t> usecols = {};  ///< the columns that are wanted, in that order; all when empty
  std::optional<std::int64_t> max_rows = {};
};
/// The numbers [rows, columns] as float64, or as int64 or uint64 where such a dtype is asked for; empty lines are
/// skipped. Throws FileError with the line for a field that is no such number, rows of different lengths and a column
/// that is not there.
CT_API HostArray read_text(const std::string& path, Dtype dtype = Dtype::float64, const TextOptions& options = {});

/// How numbers are written.
struct SavetxtOptions {
  std::string fmt = "%.18e";    ///< C's format of one number (d, i, e, f, g), or of a whole row
  std::string delimiter = " ";  ///< between numbers, where fmt is of one
  std::string newline = "\n";
  std::string header = "";      ///< lines before the numbers
  std::string footer = "";      ///< lines after them
  std::string comments = "# ";  ///< put before each line of header and footer
};
/// Writes a 1-d array as a column, a 2-d one in rows. Throws ShapeError for other arrays, and ValueError for a format
/// that is none or whose number of fields is neither one nor that of the columns.
CT_API void write_text(const std::string& path, const HostArray& a, const SavetxtOptions& options = {});

}  // namespace catenary::io
