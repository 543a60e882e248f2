#pragma once
// Datasets made of arrays and of other datasets.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/datasets/dataset.h"

namespace catenary::datasets {

/// Arrays (or datasets) of one length; example i is their i-th entries. Batches of arrays are one gather.
/// (chainer.datasets.TupleDataset)
class CT_API TupleDataset : public DatasetMixin {
 public:
  /// Throws ValueError when the lengths differ.
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

/// The same with names: examples are dictionaries. (chainer.datasets.DictDataset)
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
  /// Throws ValueError unless 0 <= start <= finish <= size, and the order (if any) has the dataset's length.
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

/// One dataset after another. (chainer.datasets.ConcatenatedDataset)
class CT_API ConcatenatedDataset : public DatasetMixin {
 public:
  explicit ConcatenatedDataset(std::vector<Dataset> datasets);
  std::int64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  Example get_example(std::int64_t i) const override;

 private:
  std::vector<Dataset> datasets_;
  std::vector<std::int64_t> ends_;
};

/// A function of each example, computed when it is asked for. (chainer.datasets.TransformDataset)
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

/// The first `split_at` examples and the rest. (chainer.datasets.split_dataset)
CT_API std::pair<Dataset, Dataset> split_dataset(const Dataset& dataset, std::int64_t split_at,
                                                 const std::vector<std::int64_t>& order = {});
/// The same in a random order; a seed makes it repeatable. (split_dataset_random)
CT_API std::pair<Dataset, Dataset> split_dataset_random(const Dataset& dataset, std::int64_t first_size,
                                                        std::optional<std::uint64_t> seed = {});
/// n datasets of size/n examples each (the last examples are left over), in order or at random. (split_dataset_n,
/// split_dataset_n_random)
CT_API std::vector<Dataset> split_dataset_n(const Dataset& dataset, std::int64_t n,
                                            const std::vector<std::int64_t>& order = {});
CT_API std::vector<Dataset> split_dataset_n_random(const Dataset& dataset, std::int64_t n,
                                                   std::optional<std::uint64_t> seed = {});
/// n pairs of training and test sets whose test sets partition the dataset. (get_cross_validation_datasets and its
/// _random form)
CT_API std::vector<std::pair<Dataset, Dataset>> get_cross_validation_datasets(
    const Dataset& dataset, std::int64_t n_folds, const std::vector<std::int64_t>& order = {});
CT_API std::vector<std::pair<Dataset, Dataset>> get_cross_validation_datasets_random(
    const Dataset& dataset, std::int64_t n_folds, std::optional<std::uint64_t> seed = {});

/// Options of get_mnist and get_fashion_mnist.
struct MnistOptions {
  bool withlabel = true;            ///< examples are (image, label), else images
  int ndim = 1;                     ///< 1: (784), 2: (28, 28), 3: (1, 28, 28)
  double scale = 1.0;               ///< pixels lie in [0, scale]
  std::string folder = {};          ///< where the four files are; see mnist_folder()
  std::optional<Dtype> dtype = {};  ///< of the images; config.dtype when not given
};
/// MNIST: 60,000 training and 10,000 test images, labels int32. Throws FileError that names a file that is
/// missing, short or altered, and what to do. (chainer.datasets.get_mnist)
CT_API std::pair<Dataset, Dataset> get_mnist(const MnistOptions& options = {});
/// The same form for Fashion-MNIST, whose files are not shipped. (get_fashion_mnist)
CT_API std::pair<Dataset, Dataset> get_fashion_mnist(const MnistOptions& options = {});
/// The folder of the MNIST files: CATENARY_DATA, else data/mnist of the installation or of the source tree. Throws
/// FileError that lists the folders that were looked into.
CT_API std::string mnist_folder();

}  // namespace catenary::datasets
