#pragma once
// Datasets read from a user's own files: tables and images.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/datasets/datasets.h"

namespace catenary::datasets {

/// Options of CsvDataset.
struct CsvDatasetOptions {
  std::vector<std::string> features = {};  ///< columns of x; all but the label when empty
  std::vector<std::string> ignore = {};    ///< columns that are no features, such as names; they must be there
  /// The label is a class, numbered from 0 in the order of the names (of the numbers, where they are such): int32. Off:
  /// the label is a number, as a float array (1).
  bool classes = true;
  std::vector<std::string> class_names = {};  ///< the classes in order, as another table has them; found when empty
  std::optional<double> missing = {};         ///< stands for missing features; without it they are an error
  /// What is missing in a column of numbers, besides empty fields. Labels that are texts are taken as they are.
  std::vector<std::string> missing_words = {"NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "?"};
  Dtype dtype = Dtype::float32;  ///< of the features and of labels that are numbers
  bool header = true;            ///< the first line names the columns; else they are "0", "1", …
  char delimiter = ',';
};

/// A table (CSV): example i is (x, t) of row i, where x holds the feature columns and t the label column. The whole
/// table is in memory, and a batch is one gather.
class CT_API CsvDataset : public DatasetMixin {
 public:
  /// With `label` "" there is none, and examples are (x). Throws FileError for a table that is damaged or empty, a
  /// column that is not there, a field that is no number or none that `dtype` can hold, a label that is empty or not
  /// among the class names, or a name that is not UTF-8: with file, column and place.
  CsvDataset(const std::string& path, const std::string& label, const CsvDatasetOptions& options = {});
  std::int64_t size() const override { return features_.len(); }
  Example get_example(std::int64_t i) const override;
  bool get_columns(const std::vector<std::int64_t>& indices, Columns& columns) const override;

  /// (rows, features), and (rows) or (rows, 1): to scale them, say, and make a TupleDataset of the result.
  const Array& features() const { return features_; }
  const Array& labels() const { return labels_; }
  const std::vector<std::string>& feature_names() const { return feature_names_; }
  /// What the class numbers mean; empty where the label is a number.
  const std::vector<std::string>& class_names() const { return class_names_; }
  /// Where row i begins in the file, counted from 1: for messages. Throws IndexError.
  std::int64_t line(std::int64_t i) const;

 private:
  TupleDataset tuple() const;
  std::vector<std::int64_t> lines_;
  Array features_, labels_;
  std::vector<std::string> feature_names_, class_names_;
};

/// Options of ImageDataset.
struct ImageDatasetOptions {
  std::string root = ".";            ///< the folder that paths are relative to
  std::optional<Dtype> dtype = {};   ///< config.dtype when not given; values are 0 to 255
  int channels = 0;                  ///< 1 gray, 3 RGB, … (see io/image.h); 0: as in each file
  std::int64_t height = 0;           ///< resizes all images to height by width; 0: as in each file
  std::int64_t width = 0;            ///< give both or neither
  Dtype label_dtype = Dtype::int32;  ///< of labelled images
  /// Reads every file once when the dataset is made, and leaves out those that cannot be read: `broken()` lists them.
  bool skip_broken = false;
};

/// Images of files (PNG or JPEG, by content), each read when it is asked for: arrays (channels, height, width).
/// Palettes become RGB. Batches need images of one shape: give channels, height and width where the files differ.
/// (chainer.datasets.ImageDataset)
class CT_API ImageDataset : public DatasetMixin {
 public:
  /// Throws ValueError for options that make no sense; a file that is missing or damaged is a FileError when it is
  /// read.
  explicit ImageDataset(std::vector<std::string> paths, const ImageDatasetOptions& options = {});
  /// The paths are the lines of a text file; empty lines are skipped. Throws FileError.
  template <std::convertible_to<std::string> S>
  explicit ImageDataset(const S& list_file, const ImageDatasetOptions& options = {})
      : ImageDataset(read_list(list_file), options) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(paths_.size()); }
  Example get_example(std::int64_t i) const override;
  /// The file of image i, with the root.
  std::string path(std::int64_t i) const;
  /// What skip_broken left out: for each file the message of its error.
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
  /// The pairs are the lines "path label" of a text file (as Caffe's); empty lines are skipped. Throws FileError with
  /// the line.
  template <std::convertible_to<std::string> S>
  explicit LabeledImageDataset(const S& list_file, const ImageDatasetOptions& options = {})
      : LabeledImageDataset(read_list(list_file), options) {}
  std::int64_t size() const override { return images_.size(); }
  Example get_example(std::int64_t i) const override;
  std::string path(std::int64_t i) const { return images_.path(i); }
  std::int64_t label(std::int64_t i) const { return labels_[static_cast<std::size_t>(i)]; }
  /// As ImageDataset's.
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  static Pairs read_list(const std::string& list_file);
  ImageDataset images_;
  std::vector<std::int64_t> labels_;
  std::vector<std::string> broken_;
  Dtype label_dtype_;
};

/// Images in a folder with one sub-folder a class, as in "flowers/rose/1.jpg": the classes are numbered in the order of
/// their names, and the images of a class lie in its folder or further below. Hidden files and files that are no images
/// by their names are passed over.
class CT_API ImageFolderDataset : public LabeledImageDataset {
 public:
  /// `options.root` is not used. Throws FileError when the folder is not there, has no sub-folders, a class has no
  /// images (that can be read), or a file is an image of a kind that cannot be read (GIF, BMP, WebP, TIFF) and is not
  /// to be skipped.
  explicit ImageFolderDataset(const std::string& folder, const ImageDatasetOptions& options = {});
  const std::vector<std::string>& class_names() const { return class_names_; }

 private:
  struct Found;
  ImageFolderDataset(Found found, const ImageDatasetOptions& options);
  std::vector<std::string> class_names_;
};

/// One image file as ImageDataset reads it.
CT_API Array read_image(const std::string& path, const ImageDatasetOptions& options = {});

/// Options of get_cifar10 and get_cifar100.
struct CifarOptions {
  bool withlabel = true;            ///< examples are (image, label), else images
  int ndim = 3;                     ///< 3: (3, 32, 32), 1: (3072)
  double scale = 1.0;               ///< pixels lie in [0, scale]
  std::string folder = {};          ///< where the files are; the folder that CATENARY_DATA names when empty
  std::optional<Dtype> dtype = {};  ///< of the images; config.dtype when not given
  bool complete = true;             ///< files must have all images of the distribution; off: any number of whole ones
};
/// CIFAR-10 of its authors' binary distribution: 50,000 training and 10,000 test images, labels int32. Read
/// from cifar-10-binary.tar.gz, or from the files that it unpacks to (cifar-10-batches-bin/*.bin); pickled ones are
/// never read. Throws FileError that says which file is missing, short or altered, and what to do.
/// (chainer.datasets.get_cifar10)
CT_API std::pair<Dataset, Dataset> get_cifar10(const CifarOptions& options = {});
/// The same of CIFAR-100 (cifar-100-binary.tar.gz, or cifar-100-binary/*.bin), with the fine labels. (get_cifar100)
CT_API std::pair<Dataset, Dataset> get_cifar100(const CifarOptions& options = {});

}  // namespace catenary::datasets
