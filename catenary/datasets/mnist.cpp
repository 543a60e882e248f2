
#include "catenary/core/config.h"
#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/installation.h"
#include "catenary/core/parallel.h"
#include "catenary/core/sha256.h"
#include "catenary/datasets/datasets.h"
#include "catenary/datasets/distributions.h"
#include "catenary/io/idx.h"

namespace catenary::datasets {

namespace {

constexpr const char* kWhatToDo =
    "put the four files of the distribution there, or name another folder with CATENARY_DATA";

Array read(const Distribution& d, const std::string& folder, const DistributedFile& file, bool check, int dimensions) {
  const std::string path = folder + "/" + file.name;
  if (!os::exists(path))
    fail<FileError>("{}: the file is missing; {}{}", path,
                    *d.home ? fmt::format("`catenary data fetch {}` gets it; or ", d.name) : "", kWhatToDo);
  if (check) {
    const std::string found = sha256_of_file(path);
    if (found != file.sha256)
      fail<FileError>("{}: the file is short or altered (SHA-256 {}, expected {}); {}", path, found, file.sha256,
                      kWhatToDo);
  }
  const io::HostArray values = io::read_idx(path);
  if (values.dtype != Dtype::uint8 || values.shape.size() != dimensions)
    fail<FileError>("{}: expected {} dimensions of uint8, found {} of {}", path, dimensions, values.shape,
                    values.dtype);
  return Array::from_memory(values.data.get(), values.shape, contiguous_strides(values.shape), values.dtype, Device(),
                            values.data);
}

Dataset make(const Distribution& d, const std::string& folder, const DistributedFile& images_file,
             const DistributedFile& labels_file, bool check, const MnistOptions& options) {
  const Array pixels = read(d, folder, images_file, check, 3), classes = read(d, folder, labels_file, check, 1);
  const std::int64_t n = pixels.len();
  if (classes.len() != n)
    fail<FileError>("{}: {} images in {}, but {} labels in {}", folder, n, images_file.name, classes.len(),
                    labels_file.name);
  const std::int64_t rows = pixels.shape(1), columns = pixels.shape(2);
  const Shape shape = options.ndim == 1   ? Shape{n, rows * columns}
                      : options.ndim == 2 ? Shape{n, rows, columns}
                                          : Shape{n, 1, rows, columns};
  // read directly into the final buffer
  const Array images = Array::empty(shape, Dtype::float32, Device());
  const std::uint8_t* from = pixels.data<std::uint8_t>();
  float* to = images.mutable_data<float>();
  const float scale = static_cast<float>(options.scale);
  parallel_for(images.size(), 1 << 20, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) to[i] = static_cast<float>(from[i]) * scale / 255.0f;
  });
  const Array given = images.astype(get_dtype(options.dtype)).eval();
  if (!options.withlabel) return TupleDataset(given);
  return TupleDataset(given, classes.astype(Dtype::int32).eval());
}

std::pair<Dataset, Dataset> load(const char* what, const Distribution& distribution, const std::string& folder,
                                 bool check, const MnistOptions& options) {
  if (options.ndim < 1 || options.ndim > 3) fail<ValueError>("{}: ndim must be 1, 2 or 3, got {}", what, options.ndim);
  const std::vector<DistributedFile>& files = distribution.files;
  return {make(distribution, folder, files[0], files[1], check, options),
          make(distribution, folder, files[2], files[3], check, options)};
}

}  // namespace

std::string mnist_folder() {
  std::vector<std::string> tried;
  const auto has = [&](const std::string& folder) {
    tried.push_back(folder);
    return os::exists(folder + "/" + distribution("mnist").files[0].name);
  };
  if (const std::string named = environment::text("CATENARY_DATA"); !named.empty()) {
    // use the folder that was asked for, so that a mistake shows
    return has(named + "/mnist") ? tried.back() : named;
  }
  if (const std::string share = os::share_folder(); !share.empty() && has(share + "/mnist")) return tried.back();
  if (has("data/mnist")) return tried.back();
  fail<FileError>("the MNIST files were not found in {}; {}", fmt::join(tried, ", "), kWhatToDo);
}

std::pair<Dataset, Dataset> get_mnist(const MnistOptions& options) {
  return load("get_mnist", distribution("mnist"), options.folder.empty() ? mnist_folder() : options.folder, true,
              options);
}

std::pair<Dataset, Dataset> get_fashion_mnist(const MnistOptions& options) {
  const Distribution& fashion = distribution("fashion-mnist");
  return load("get_fashion_mnist", fashion, options.folder.empty() ? folder_of(fashion) : options.folder, false,
              options);
}

}  // namespace catenary::datasets
