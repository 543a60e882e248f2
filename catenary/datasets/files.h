#pragma once
// Datasets from a user's files: tables and images.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/datasets/datasets.h"

namespace catenary::datasets {

/// Options of CsvDataset.
struct CsvDatasetOptions {
  std::vector<std::string> features = {};  ///< columns of x (if empty, all except the label)
  std::vector<std::string> ignore = {};    ///< columns that are not features, such as names, which must exist
  /// If true, the label is a class, an int32 number from 0 in the order of the names (of the numbers, if numeric). If
  /// false, the label is a number in a float array (1).
  bool classes = true;
  std::vector<std::string> class_names = {};  ///< classes in order, for example of another table; if empty, taken from
                                              ///< the file
  std::optional<double> missing = {};         ///< value of missing features, which by default are an error
  /// Words for missing values in a column of numbers, besides empty fields. Does not apply to labels that are text.
  std::vector<std::string> missing_words = {"NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "?"};
  Dtype dtype = Dtype::float32;  ///< dtype of the features and of numeric labels
  bool header = true;            ///< the first line contains the column names (if false, they are "0", "1", …)
  char delimiter = ',';
};

/// A table (CSV): example i is (x, t) of row i with the feature columns in x and the label column in t. Holds the whole
/// table in memory, so that a batch is one gather.
class CT_API CsvDataset : public DatasetMixin {
 public:
  /// Reads a table. An empty `label` means examples (x) without labels. Throws FileError with file, column and line for
  /// a damaged or empty table, a missing column, a field that is not a number or not representable in `dtype`, an empty
  /// or unknown label, or a name that is not UTF-8.
  CsvDataset(const std::string& path, const std::string& label, const CsvDatasetOptions& options = {});
  std::int64_t size() const override { return features_.len(); }
  Example get_example(std::int64_t i) const override;
  bool get_columns(const std::vector<std::int64_t>& indices, Columns& columns) const override;

  /// Returns arrays (rows, features) and (rows) or (rows, 1), for example to scale them and make a TupleDataset.
  const Array& features() const { return features_; }
  const Array& labels() const { return labels_; }
  const std::vector<std::string>& feature_names() const { return feature_names_; }
  /// Returns the names of the class numbers, empty if the label is a number.
  const std::vector<std::string>& class_names() const { return class_names_; }
  /// Returns the line of the file where row i begins, counted from 1, for messages. Throws IndexError.
  std::int64_t line(std::int64_t i) const;

 private:
  TupleDataset tuple() const;
  std::vector<std::int64_t> lines_;
  Array features_, labels_;
  std::vector<std::string> feature_names_, class_names_;
};

/// Options of ImageDataset.
struct ImageDatasetOptions {
  std::string root = ".";            ///< folder that relative paths start from
  std::optional<Dtype> dtype = {};   ///< default config.dtype, values are 0 to 255
  int channels = 0;                  ///< 1 gray, 3 RGB, … (see io/image.h), 0: as in each file
  std::int64_t height = 0;           ///< resizes all images to height by width, 0: as in each file
  std::int64_t width = 0;            ///< set both or neither
  Dtype label_dtype = Dtype::int32;  ///< dtype of labels
  /// Reads every file once at construction and skips unreadable files, which `broken()` lists.
  bool skip_broken = false;
};

/// Images from files (PNG or JPEG, detected by content), each read on access: arrays (channels, height, width).
/// Palettes become RGB. Batches need images of equal shape, so set channels, height and width if the files differ.
/// (chainer.datasets.ImageDataset)
class CT_API ImageDataset : public DatasetMixin {
 public:
  /// Makes the dataset. Throws ValueError for invalid options. A missing or damaged file throws FileError when it is
  /// read.
  explicit ImageDataset(std::vector<std::string> paths, const ImageDatasetOptions& options = {});
  /// Reads the paths from the lines of a text file and skips empty lines. Throws FileError.
  template <std::convertible_to<std::string> S>
  explicit ImageDataset(const S& list_file, const ImageDatasetOptions& options = {})
      : ImageDataset(read_list(list_file), options) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(paths_.size()); }
  Example get_example(std::int64_t i) const override;
  /// Returns the file of image i, including the root.
  std::string path(std::int64_t i) const;
  /// Returns the error message of each file that skip_broken skipped.
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  static std::vector<std::string> read_list(const std::string& list_file);
  std::vector<std::string> paths_, broken_;
  ImageDatasetOptions options_;
};

/// Images with labels: examples are (image, label). (chainer.datasets.LabeledImageDataset)
class CT_API LabeledImageDataset : public DatasetMixin {
 public:
  using Pairs = std::vector<std::pair<std::string, std::int64_t>>;
  explicit LabeledImageDataset(const Pairs& pairs, const ImageDatasetOptions& options = {});
  /// Reads lines "path label" from a text file (as in Caffe) and skips empty lines. Throws FileError with the line.
  template <std::convertible_to<std::string> S>
  explicit LabeledImageDataset(const S& list_file, const ImageDatasetOptions& options = {})
      : LabeledImageDataset(read_list(list_file), options) {}
  std::int64_t size() const override { return images_.size(); }
  Example get_example(std::int64_t i) const override;
  std::string path(std::int64_t i) const { return images_.path(i); }
  std::int64_t label(std::int64_t i) const { return labels_[static_cast<std::size_t>(i)]; }
  /// See ImageDataset::broken().
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  static Pairs read_list(const std::string& list_file);
  ImageDataset images_;
  std::vector<std::int64_t> labels_;
  std::vector<std::string> broken_;
  Dtype label_dtype_;
};

/// Images in a folder with one subfolder per class, as in "flowers/rose/1.jpg". Classes are numbered in the order of
/// their names, and images may be at any depth below their class's folder. Skips hidden files and files without an
/// image's file name extension.
class CT_API ImageFolderDataset : public LabeledImageDataset {
 public:
  /// Scans the folder. Ignores `options.root`. Throws FileError if the folder does not exist or has no subfolders, if a
  /// class has no (readable) images, or if a file has an unsupported image format (GIF, BMP, WebP, TIFF) and
  /// skip_broken is false.
  explicit ImageFolderDataset(const std::string& folder, const ImageDatasetOptions& options = {});
  const std::vector<std::string>& class_names() const { return class_names_; }

 private:
  struct Found;
  ImageFolderDataset(Found found, const ImageDatasetOptions& options);
  std::vector<std::string> class_names_;
};

/// Reads one image file like ImageDataset.
CT_API Array read_image(const std::string& path, const ImageDatasetOptions& options = {});

/// Options of get_cifar10 and get_cifar100.
struct CifarOptions {
  bool withlabel = true;            ///< if false, examples are images without labels
  int ndim = 3;                     ///< 3: (3, 32, 32), 1: (3072)
  double scale = 1.0;               ///< pixels are in [0, scale]
  std::string folder = {};          ///< folder of the files (default CATENARY_DATA)
  std::optional<Dtype> dtype = {};  ///< dtype of the images (default config.dtype)
  bool complete = true;             ///< requires all images of the distribution; if false, accepts any number of
                                    ///< complete images
};
/// Returns CIFAR-10 from its authors' binary distribution: 50,000 training and 10,000 test images, labels int32. Reads
/// cifar-10-binary.tar.gz or its unpacked files (cifar-10-batches-bin/*.bin), never pickled files. Throws FileError
/// that names a missing, short or altered file and the remedy. (chainer.datasets.get_cifar10)
CT_API std::pair<Dataset, Dataset> get_cifar10(const CifarOptions& options = {});
/// Returns CIFAR-100 with its fine labels in the form of get_cifar10(), from cifar-100-binary.tar.gz or
/// cifar-100-binary/*.bin. (get_cifar100)
CT_API std::pair<Dataset, Dataset> get_cifar100(const CifarOptions& options = {});

}  // namespace catenary::datasets
