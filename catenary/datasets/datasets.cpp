#include "catenary/datasets/datasets.h"

#include <algorithm>
#include <numeric>

#include "catenary/array/indexing.h"
#include "catenary/array/random.h"
#include "catenary/core/format.h"

namespace catenary::datasets {

TupleDataset::TupleDataset(std::vector<Array> columns) : columns_(std::move(columns)) {
  if (columns_.empty()) throw ValueError("TupleDataset: no arrays were given");
  size_ = columns_.front().len();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].len() != size_)
      fail<ValueError>("TupleDataset: array 0 has {} examples, array {} has {}", size_, i, columns_[i].len());
  }
}

Example TupleDataset::get_example(std::int64_t i) const {
  Example example;
  for (const Array& column : columns_) example.values.push_back(column[i]);
  return example;
}

bool TupleDataset::get_columns(const std::vector<std::int64_t>& indices, Columns& columns) const {
  const Array at = Array::from_host(indices.data(), {static_cast<std::int64_t>(indices.size())}, Dtype::int64,
                                    columns_.front().device());
  for (const Array& column : columns_) columns.values.push_back(take(column, at, 0));
  return true;
}

namespace {
std::vector<Array> arrays_of(const std::vector<std::pair<std::string, Array>>& columns) {
  std::vector<Array> arrays;
  for (const auto& entry : columns) arrays.push_back(entry.second);
  return arrays;
}
}  // namespace

DictDataset::DictDataset(std::vector<std::pair<std::string, Array>> columns) : tuple_(arrays_of(columns)) {
  for (auto& entry : columns) names_.push_back(entry.first);
}

Example DictDataset::get_example(std::int64_t i) const {
  Example example = tuple_.get_example(i);
  example.names = names_;
  return example;
}

bool DictDataset::get_columns(const std::vector<std::int64_t>& indices, Columns& columns) const {
  columns.names = names_;
  return tuple_.get_columns(indices, columns);
}

SubDataset::SubDataset(Dataset dataset, std::int64_t start, std::int64_t finish, std::vector<std::int64_t> order)
    : dataset_(std::move(dataset)), start_(start), finish_(finish), order_(std::move(order)) {
  const std::int64_t n = dataset_.size();
  if (start < 0 || finish < start || finish > n)
    fail<ValueError>("SubDataset: [{}, {}) is not within {} examples", start, finish, n);
  if (!order_.empty() && static_cast<std::int64_t>(order_.size()) != n)
    fail<ValueError>("SubDataset: an order of {} indices for {} examples", order_.size(), n);
}

bool SubDataset::get_columns(const std::vector<std::int64_t>& indices, Columns& columns) const {
  std::vector<std::int64_t> inner;
  inner.reserve(indices.size());
  for (std::int64_t i : indices) inner.push_back(index(i));
  return dataset_.get_columns(inner, columns);
}

ConcatenatedDataset::ConcatenatedDataset(std::vector<Dataset> datasets) : datasets_(std::move(datasets)) {
  std::int64_t end = 0;
  for (const Dataset& dataset : datasets_) ends_.push_back(end += dataset.size());
}

Example ConcatenatedDataset::get_example(std::int64_t i) const {
  const std::size_t k = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin());
  return datasets_[k][i - (k ? ends_[k - 1] : 0)];
}

std::pair<Dataset, Dataset> split_dataset(const Dataset& dataset, std::int64_t split_at,
                                          const std::vector<std::int64_t>& order) {
  return {SubDataset(dataset, 0, split_at, order), SubDataset(dataset, split_at, dataset.size(), order)};
}

namespace {
std::vector<std::int64_t> random_order(std::int64_t n, std::optional<std::uint64_t> seed) {
  if (!seed) return random::permutation(n).to_vector<std::int64_t>();
  random::Generator generator{*seed};
  return random::permutation(n, {.generator = &generator}).to_vector<std::int64_t>();
}
}  // namespace

std::pair<Dataset, Dataset> split_dataset_random(const Dataset& dataset, std::int64_t first_size,
                                                 std::optional<std::uint64_t> seed) {
  return split_dataset(dataset, first_size, random_order(dataset.size(), seed));
}

std::vector<Dataset> split_dataset_n(const Dataset& dataset, std::int64_t n, const std::vector<std::int64_t>& order) {
  if (n <= 0) fail<ValueError>("split_dataset_n: n must be positive, got {}", n);
  const std::int64_t size = dataset.size() / n;
  std::vector<Dataset> parts;
  for (std::int64_t i = 0; i < n; ++i) parts.emplace_back(SubDataset(dataset, size * i, size * (i + 1), order));
  return parts;
}

std::vector<Dataset> split_dataset_n_random(const Dataset& dataset, std::int64_t n, std::optional<std::uint64_t> seed) {
  return split_dataset_n(dataset, n, random_order(dataset.size(), seed));
}

std::vector<std::pair<Dataset, Dataset>> get_cross_validation_datasets(const Dataset& dataset, std::int64_t n_folds,
                                                                       const std::vector<std::int64_t>& order) {
  if (n_folds <= 0 || n_folds > dataset.size())
    fail<ValueError>("cross validation: {} folds of {} examples", n_folds, dataset.size());
  std::vector<std::int64_t> all = order;
  if (all.empty()) {
    all.resize(static_cast<std::size_t>(dataset.size()));
    std::iota(all.begin(), all.end(), 0);
  }
  const std::int64_t n = dataset.size();
  std::vector<std::pair<Dataset, Dataset>> folds;
  for (std::int64_t fold = n_folds; fold > 0; --fold) {
    // the fold's test set is at the end of the order; move it to the front for the next fold
    const std::int64_t length = n * fold / n_folds - n * (fold - 1) / n_folds;
    folds.push_back(split_dataset(dataset, n - length, all));
    std::rotate(all.begin(), all.end() - length, all.end());
  }
  return folds;
}

std::vector<std::pair<Dataset, Dataset>> get_cross_validation_datasets_random(const Dataset& dataset,
                                                                              std::int64_t n_folds,
                                                                              std::optional<std::uint64_t> seed) {
  return get_cross_validation_datasets(dataset, n_folds, random_order(dataset.size(), seed));
}

}  // namespace catenary::datasets
