#pragma once
// Datasets made from arrays and from other datasets.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/datasets/dataset.h"

namespace catenary::datasets {

/// Combines arrays (or datasets) of equal length: example i consists of their entries i. Batches of arrays are one
/// gather. (chainer.datasets.TupleDataset)
class CT_API TupleDataset : public DatasetMixin {
 public:
  /// Makes the dataset. Throws ValueError if the lengths differ.
  explicit TupleDataset(std::vector<Array> columns);
  template <std::same_as<Array>... A>
  explicit TupleDataset(const Array& first, const A&... rest) : TupleDataset(std::vector<Array>{first, rest...}) {}
  std::int64_t size() const override { return size_; }
  Example get_example(std::int64_t i) const override;
  bool get_columns(const std::vector<std::int64_t>& indices, Columns& columns) const override;
  const std::vector<Array>& columns() const { return columns_; }

 private:
  std::vector<Array> columns_;
  std::int64_t size_ = 0;
};

/// A TupleDataset with names: examples are dictionaries. (chainer.datasets.DictDataset)
class CT_API DictDataset : public DatasetMixin {
 public:
  explicit DictDataset(std::vector<std::pair<std::string, Array>> columns);
  std::int64_t size() const override { return tuple_.size(); }
  Example get_example(std::int64_t i) const override;
  bool get_columns(const std::vector<std::int64_t>& indices, Columns& columns) const override;

 private:
  std::vector<std::string> names_;
  TupleDataset tuple_;
};

/// Examples [start, finish) of a dataset, or of a permutation of it. (chainer.datasets.SubDataset)
class CT_API SubDataset : public DatasetMixin {
 public:
  /// Makes the dataset. Throws ValueError unless 0 <= start <= finish <= size and the order, if given, has the
  /// dataset's length.
  SubDataset(Dataset dataset, std::int64_t start, std::int64_t finish, std::vector<std::int64_t> order = {});
  std::int64_t size() const override { return finish_ - start_; }
  Example get_example(std::int64_t i) const override { return dataset_[index(i)]; }
  bool get_columns(const std::vector<std::int64_t>& indices, Columns& columns) const override;

 private:
  std::int64_t index(std::int64_t i) const {
    return order_.empty() ? start_ + i : order_[static_cast<std::size_t>(start_ + i)];
  }
  Dataset dataset_;
  std::int64_t start_, finish_;
  std::vector<std::int64_t> order_;
};

/// Concatenates datasets. (chainer.datasets.ConcatenatedDataset)
class CT_API ConcatenatedDataset : public DatasetMixin {
 public:
  explicit ConcatenatedDataset(std::vector<Dataset> datasets);
  std::int64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  Example get_example(std::int64_t i) const override;

 private:
  std::vector<Dataset> datasets_;
  std::vector<std::int64_t> ends_;
};

/// Applies a function to each example on access. (chainer.datasets.TransformDataset)
class CT_API TransformDataset : public DatasetMixin {
 public:
  TransformDataset(Dataset dataset, std::function<Example(Example)> transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}
  std::int64_t size() const override { return dataset_.size(); }
  Example get_example(std::int64_t i) const override { return transform_(dataset_[i]); }

 private:
  Dataset dataset_;
  std::function<Example(Example)> transform_;
};

/// Splits a dataset into the first `split_at` examples and the rest. (chainer.datasets.split_dataset)
CT_API std::pair<Dataset, Dataset> split_dataset(const Dataset& dataset, std::int64_t split_at,
                                                 const std::vector<std::int64_t>& order = {});
/// Splits a random permutation of a dataset. A seed makes the split repeatable. (split_dataset_random)
CT_API std::pair<Dataset, Dataset> split_dataset_random(const Dataset& dataset, std::int64_t first_size,
                                                        std::optional<std::uint64_t> seed = {});
/// Splits a dataset into n parts of size/n examples each, in order or at random, and drops the remainder.
/// (split_dataset_n, split_dataset_n_random)
CT_API std::vector<Dataset> split_dataset_n(const Dataset& dataset, std::int64_t n,
                                            const std::vector<std::int64_t>& order = {});
CT_API std::vector<Dataset> split_dataset_n_random(const Dataset& dataset, std::int64_t n,
                                                   std::optional<std::uint64_t> seed = {});
/// Returns n pairs of training and test sets whose test sets partition the dataset. (get_cross_validation_datasets and
/// its _random form)
CT_API std::vector<std::pair<Dataset, Dataset>> get_cross_validation_datasets(
    const Dataset& dataset, std::int64_t n_folds, const std::vector<std::int64_t>& order = {});
CT_API std::vector<std::pair<Dataset, Dataset>> get_cross_validation_datasets_random(
    const Dataset& dataset, std::int64_t n_folds, std::optional<std::uint64_t> seed = {});

/// Options of get_mnist and get_fashion_mnist.
struct MnistOptions {
  bool withlabel = true;            ///< if false, examples are images without labels
  int ndim = 1;                     ///< 1: (784), 2: (28, 28), 3: (1, 28, 28)
  double scale = 1.0;               ///< pixels are in [0, scale]
  std::string folder = {};          ///< folder of the four files (default mnist_folder())
  std::optional<Dtype> dtype = {};  ///< dtype of the images (default config.dtype)
};
/// Returns MNIST: 60,000 training and 10,000 test images, labels int32. Throws FileError that names a missing, short or
/// altered file and the remedy. (chainer.datasets.get_mnist)
CT_API std::pair<Dataset, Dataset> get_mnist(const MnistOptions& options = {});
/// Returns Fashion-MNIST in the form of get_mnist(). Its files are not shipped. (get_fashion_mnist)
CT_API std::pair<Dataset, Dataset> get_fashion_mnist(const MnistOptions& options = {});
/// Returns the folder of the MNIST files: CATENARY_DATA, or data/mnist of the installation or of the source tree.
/// Throws FileError that lists the searched folders.
CT_API std::string mnist_folder();

}  // namespace catenary::datasets
