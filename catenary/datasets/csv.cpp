#include "catenary/io/csv.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/io.h"
#include "catenary/array/reduction.h"
#include "catenary/core/format.h"
#include "catenary/datasets/files.h"
#include "catenary/io/detail.h"
#include "catenary/io/npy.h"

namespace catenary::datasets {

namespace {

/// Returns the labels as text, numbers in their shortest form.
std::vector<std::string> texts_of(const io::CsvColumn& column) {
  if (!column.numeric) return column.strings;
  std::vector<std::string> texts;
  for (double value : column.values) texts.push_back(std::isnan(value) ? "" : fmt::format("{}", value));
  return texts;
}

std::vector<std::string> classes_of(const io::CsvColumn& column) {
  if (!column.numeric) {
    std::vector<std::string> names = column.strings;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }
  std::vector<double> values;
  std::copy_if(column.values.begin(), column.values.end(), std::back_inserter(values),
               [](double value) { return !std::isnan(value); });
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<std::string> names;
  for (double value : values) names.push_back(fmt::format("{}", value));
  return names;
}

/// Names are printed and saved with weights. Reject other encodings now, not after an hour of training.
void check_name(const std::string& path, const std::string& name) {
  try {
    io::npy_string(name);
  } catch (const ValueError&) {
    fail<FileError>("{}: the name '{}' is not UTF-8; convert the table (iconv -f latin1 -t utf8)", path, name);
  }
}

/// Returns columns of numbers in a dtype, with `missing` in empty fields.
Array numbers_of(const io::CsvTable& table, const std::vector<std::string>& names, const std::optional<double>& missing,
                 Dtype dtype) {
  const io::HostArray matrix = table.matrix(names);
  const auto width = static_cast<std::int64_t>(names.size());
  const auto line = [&](std::int64_t i) { return table.lines[static_cast<std::size_t>(i / width)]; };
  const auto name = [&](std::int64_t i) { return names[static_cast<std::size_t>(i % width)]; };
  double* values = matrix.as<double>();
  const Array cast = from_host(matrix, Device()).astype(dtype).eval();
  if (const Array infinite = isinf(cast); infinite.any()) {
    const auto i = argmax(infinite.ravel()).item<std::int64_t>();
    fail<FileError>("{}: line {}: column '{}' holds {}, which is infinite as {}", table.source, line(i), name(i),
                    values[i], dtype);
  }
  const Array gaps = isnan(cast);
  if (!gaps.any()) return cast;
  if (!missing) {
    const auto i = argmax(gaps.ravel()).item<std::int64_t>();
    fail<FileError>(
        "{}: line {} has no number in the column '{}'; fill it in, or give a value for missing numbers "
        "(the option missing)",
        table.source, line(i), name(i));
  }
  return where(gaps, *missing, cast).eval();
}

}  // namespace

CsvDataset::CsvDataset(const std::string& path, const std::string& label, const CsvDatasetOptions& options) {
  const io::CsvTable table =
      io::read_csv(path, {.delimiter = options.delimiter, .header = options.header, .missing = options.missing_words});
  if (table.rows == 0) fail<FileError>("{}: the table has no rows", path);
  lines_ = table.lines;
  const io::CsvColumn* column = label.empty() ? nullptr : &table.column(label);
  const std::unordered_set<std::string> left_out(options.ignore.begin(), options.ignore.end());
  std::unordered_map<std::string_view, const io::CsvColumn*> columns;
  for (const io::CsvColumn& c : table.columns) columns.emplace(c.name, &c);
  const auto ignored = [&](const std::string& name) { return left_out.contains(name); };
  for (const std::string& name : options.ignore)
    if (!columns.contains(name)) table.column(name);  // throws
  if (!label.empty() && ignored(label)) fail<ValueError>("CsvDataset: the label '{}' is among those to ignore", label);
  feature_names_ = options.features;
  if (feature_names_.empty())
    for (const std::string& name : table.names())
      if (name != label && !ignored(name)) feature_names_.push_back(name);
  if (feature_names_.empty())
    fail<FileError>("{}: the table has no column but the label '{}'{}", path, label,
                    options.ignore.empty() ? "" : " and those to ignore");
  for (const std::string& name : feature_names_) {
    check_name(path, name);
    const auto found = columns.find(name);
    if (found != columns.end() && found->second->numeric) continue;
    try {
      table.matrix({name});
    } catch (const FileError& error) {
      fail<FileError>("{}; where it is no feature, leave it out (the option ignore)", error.what());
    }
  }
  features_ = numbers_of(table, feature_names_, options.missing, options.dtype);
  if (!column) return;

  const auto fail_at_row = [&](std::size_t row, const std::string& what) {
    fail<FileError>("{}: line {}, column '{}': {}", path, table.lines[row], label, what);
  };
  check_name(path, label);
  if (!options.classes) {
    for (std::size_t row = 0; row < column->values.size(); ++row)
      if (std::isnan(column->values[row])) fail_at_row(row, "there is no number");
    labels_ = numbers_of(table, {label}, {}, options.dtype);
    return;
  }
  class_names_ = options.class_names.empty() ? classes_of(*column) : options.class_names;
  for (const std::string& name : class_names_) check_name(path, name);
  std::unordered_map<std::string_view, std::int32_t> number_of;
  for (std::size_t i = 0; i < class_names_.size(); ++i)
    number_of.emplace(class_names_[i], static_cast<std::int32_t>(i));
  std::vector<std::int32_t> numbers;
  for (const std::string& text : texts_of(*column)) {
    if (text.empty()) fail_at_row(numbers.size(), "the label is empty");
    const auto found = number_of.find(text);
    if (found == number_of.end())
      fail_at_row(numbers.size(),
                  fmt::format("'{}' is not one of the classes {}", text, io::detail::listed(class_names_, ", ")));
    numbers.push_back(found->second);
  }
  labels_ = Array::from_host(numbers.data(), {table.rows}, Dtype::int32, Device());
}

std::int64_t CsvDataset::line(std::int64_t i) const {
  if (i < 0 || i >= size()) fail<IndexError>("CsvDataset: there is no row {} among {}", i, size());
  return lines_[static_cast<std::size_t>(i)];
}

TupleDataset CsvDataset::tuple() const {
  return labels_.defined() ? TupleDataset(features_, labels_) : TupleDataset(features_);
}
Example CsvDataset::get_example(std::int64_t i) const { return tuple().get_example(i); }
bool CsvDataset::get_columns(const std::vector<std::int64_t>& indices, Columns& columns) const {
  return tuple().get_columns(indices, columns);
}

}  // namespace catenary::datasets
