#include "catenary/io/csv.h"

#include <algorithm>
#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/io.h"
#include "catenary/core/format.h"
#include "catenary/datasets/files.h"

namespace catenary::datasets {

namespace {

/// The labels as text; numbers as short as they can be written.
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

}  // namespace

CsvDataset::CsvDataset(const std::string& path, const std::string& label, const CsvDatasetOptions& options) {
  const io::CsvTable table = io::read_csv(path, {.delimiter = options.delimiter, .header = options.header});
  if (table.rows == 0) fail<FileError>("{}: the table has no rows", path);
  const io::CsvColumn* column = label.empty() ? nullptr : &table.column(label);
  feature_names_ = options.features;
  if (feature_names_.empty())
    for (const std::string& name : table.names())
      if (name != label) feature_names_.push_back(name);
  if (feature_names_.empty()) fail<FileError>("{}: the table has no column but the label '{}'", path, label);

  const io::HostArray matrix = table.matrix(feature_names_);
  const auto width = static_cast<std::int64_t>(feature_names_.size());
  double* values = matrix.as<double>();
  for (std::int64_t i = 0; i < matrix.size(); ++i) {
    if (!std::isnan(values[i])) continue;
    if (!options.missing)
      fail<FileError>(
          "{}: line {} has no number in the column '{}'; fill it in, or give a value for what is missing "
          "(the option missing)",
          path, table.lines[static_cast<std::size_t>(i / width)], feature_names_[static_cast<std::size_t>(i % width)]);
    values[i] = *options.missing;
  }
  features_ = from_host(matrix, Device()).astype(options.dtype).eval();
  if (!column) return;

  const auto fail_at_row = [&](std::size_t row, const std::string& what) {
    fail<FileError>("{}: line {}, column '{}': {}", path, table.lines[row], label, what);
  };
  if (!options.classes) {
    const io::HostArray numbers = table.matrix({label});
    for (std::size_t row = 0; row < column->values.size(); ++row)
      if (std::isnan(column->values[row])) fail_at_row(row, "there is no number");
    labels_ = from_host(numbers, Device()).astype(options.dtype).eval();
    return;
  }
  class_names_ = options.class_names.empty() ? classes_of(*column) : options.class_names;
  std::vector<std::int32_t> numbers;
  for (const std::string& text : texts_of(*column)) {
    if (text.empty()) fail_at_row(numbers.size(), "the label is empty");
    const auto found = std::find(class_names_.begin(), class_names_.end(), text);
    if (found == class_names_.end())
      fail_at_row(numbers.size(), fmt::format("'{}' is none of the classes {}", text, fmt::join(class_names_, ", ")));
    numbers.push_back(static_cast<std::int32_t>(found - class_names_.begin()));
  }
  labels_ = Array::from_host(numbers.data(), {table.rows}, Dtype::int32, Device());
}

TupleDataset CsvDataset::tuple() const {
  return labels_.defined() ? TupleDataset(features_, labels_) : TupleDataset(features_);
}
Example CsvDataset::get_example(std::int64_t i) const { return tuple().get_example(i); }
bool CsvDataset::get_columns(const std::vector<std::int64_t>& indices, Columns& columns) const {
  return tuple().get_columns(indices, columns);
}

}  // namespace catenary::datasets
