#include <cstring>
#include <map>

#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/core/parallel.h"
#include "catenary/datasets/distributions.h"
#include "catenary/datasets/files.h"
#include "catenary/io/tar.h"

namespace catenary::datasets {

namespace {

constexpr std::int64_t kPixels = 3 * 32 * 32;

/// A binary distribution: records of labels and 3072 pixels (red, green and blue planes).
struct Cifar {
  const char* name;
  const Distribution& distribution;
  const char* archive() const { return distribution.files[0].name; }
  std::vector<std::string> train, test;
  std::int64_t images_a_file[2];  // for train and test
  std::int64_t label_bytes;       // the last one is the label
  int classes;
};

const Cifar& cifar10() {
  static const Cifar d = {
      "get_cifar10",
      distribution("cifar-10"),
      {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
      {"test_batch.bin"},
      {10000, 10000},
      1,
      10};
  return d;
}
const Cifar& cifar100() {
  static const Cifar d = {
      "get_cifar100", distribution("cifar-100"), {"train.bin"}, {"test.bin"}, {50000, 10000}, 2, 100};
  return d;
}

using Content = std::vector<std::byte>;

std::string what_to_do(const Cifar& d) {
  return fmt::format(
      "`catenary data fetch {}` gets it; or put {} of https://www.cs.toronto.edu/~kriz/cifar.html there, or the folder "
      "{} "
      "that it unpacks to",
      d.distribution.name, d.archive(), d.distribution.unpacked);
}

/// Returns the files by name, from the folder of unpacked files or from the archive.
std::map<std::string, Content> read_files(const Cifar& d, const std::string& folder) {
  std::vector<std::string> names = d.train;
  names.insert(names.end(), d.test.begin(), d.test.end());
  std::map<std::string, Content> files;
  for (const std::string& place : {folder, folder + "/" + d.distribution.unpacked}) {
    if (!os::exists(place + "/" + names.front())) continue;
    for (const std::string& name : names) {
      const std::string path = place + "/" + name;
      if (!os::exists(path)) fail<FileError>("{}: the file is missing; {}", path, what_to_do(d));
      files[name] = os::read_file(path);
    }
    return files;
  }
  const std::string archive = folder + "/" + d.archive();
  if (!os::exists(archive))
    fail<FileError>("{}: {} was not found in {}; {}", d.name, d.archive(), folder, what_to_do(d));
  const auto base = [](const std::string& name) { return name.substr(name.rfind('/') + 1); };
  io::read_tar(
      archive,
      [&](const std::string& name) { return std::find(names.begin(), names.end(), base(name)) != names.end(); },
      [&](const std::string& name, Content content) { files[base(name)] = std::move(content); });
  for (const std::string& name : names)
    if (!files.contains(name)) fail<FileError>("{}: {} is not in the archive; {}", archive, name, what_to_do(d));
  return files;
}

Dataset make(const Cifar& d, const std::map<std::string, Content>& files, bool test, const std::string& folder,
             const CifarOptions& options) {
  const std::int64_t record = d.label_bytes + kPixels;
  std::vector<std::int32_t> labels;
  std::vector<const std::byte*> images;
  for (const std::string& name : test ? d.test : d.train) {
    const Content& content = files.at(name);
    const auto bytes = static_cast<std::int64_t>(content.size());
    if (bytes == 0 || bytes % record != 0 || (options.complete && bytes / record != d.images_a_file[test]))
      fail<FileError>("{}/{}: {} bytes, expected {} ({} images of {}); {}", folder, name, bytes,
                      d.images_a_file[test] * record, d.images_a_file[test], record, what_to_do(d));
    for (std::int64_t at = 0; at < bytes; at += record) {
      const std::byte* start = content.data() + at;
      const int label = std::to_integer<int>(start[d.label_bytes - 1]);
      if (label >= d.classes)
        fail<FileError>("{}/{}: at byte {}: the label {} is not in 0 to {}; the file is altered, {}", folder, name,
                        at + d.label_bytes - 1, label, d.classes - 1, what_to_do(d));
      labels.push_back(label);
      images.push_back(start + d.label_bytes);
    }
  }
  const auto n = static_cast<std::int64_t>(labels.size());
  const Array x = Array::empty(options.ndim == 1 ? Shape{n, kPixels} : Shape{n, 3, 32, 32}, Dtype::float32, Device());
  float* to = x.mutable_data<float>();
  const float scale = static_cast<float>(options.scale);
  parallel_for(n, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = 0; j < kPixels; ++j)
        to[i * kPixels + j] = std::to_integer<std::uint8_t>(images[static_cast<std::size_t>(i)][j]) * scale / 255.0f;
  });
  const Array pixels = x.astype(get_dtype(options.dtype)).eval();
  if (!options.withlabel) return TupleDataset(pixels);
  return TupleDataset(pixels, Array::from_host(labels.data(), {n}, Dtype::int32, Device()));
}

std::pair<Dataset, Dataset> load(const Cifar& d, const CifarOptions& options) {
  if (options.ndim != 1 && options.ndim != 3) fail<ValueError>("{}: ndim must be 1 or 3, got {}", d.name, options.ndim);
  const std::string folder = options.folder.empty() ? folder_of(d.distribution) : options.folder;
  const std::map<std::string, Content> files = read_files(d, folder);
  return {make(d, files, false, folder, options), make(d, files, true, folder, options)};
}

}  // namespace

std::pair<Dataset, Dataset> get_cifar10(const CifarOptions& options) { return load(cifar10(), options); }
std::pair<Dataset, Dataset> get_cifar100(const CifarOptions& options) { return load(cifar100(), options); }

}  // namespace catenary::datasets
