#include <algorithm>
#include <charconv>
#include <limits>

#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/core/parallel.h"
#include "catenary/core/paths.h"
#include "catenary/datasets/files.h"
#include "catenary/io/identify.h"
#include "catenary/io/jpeg.h"
#include "catenary/io/png.h"

namespace catenary::datasets {

namespace {

void check(const ImageDatasetOptions& options) {
  if (options.channels < 0 || options.channels > 4)
    fail<ValueError>("ImageDataset: channels must be 0 (as in the file) or 1 to 4, got {}", options.channels);
  if (options.height < 0 || options.width < 0 || (options.height == 0) != (options.width == 0))
    fail<ValueError>("ImageDataset: height and width must be both positive, or both 0; got {} and {}", options.height,
                     options.width);
}

/// Returns the nonempty lines of a text file, trimmed, with their numbers.
std::vector<std::pair<int, std::string>> lines_of(const std::string& file) {
  const os::FileView view(file);
  const std::string_view text(reinterpret_cast<const char*>(view.bytes().data()), view.bytes().size());
  std::vector<std::pair<int, std::string>> lines;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    constexpr const char* kSpaces = " \t\r\v\f";
    const std::size_t first = line.find_first_not_of(kSpaces);
    if (first == std::string_view::npos) continue;
    lines.emplace_back(number, line.substr(first, line.find_last_not_of(kSpaces) - first + 1));
  }
  return lines;
}

Array label_array(std::int64_t label, Dtype dtype) {
  return Array::from_host(&label, {}, Dtype::int64, Device()).astype(dtype).eval();
}

}  // namespace

Array read_image(const std::string& path, const ImageDatasetOptions& options) {
  check(options);
  const io::ImageOptions how{.channels = options.channels};
  const os::FileView file(path);
  const io::FileKind kind = io::identify(file.bytes());
  if (kind != io::FileKind::png && kind != io::FileKind::jpeg)
    fail<FileError>("{}: neither a PNG nor a JPEG image", path);
  io::HostArray image =
      kind == io::FileKind::png ? io::read_png(file.bytes(), path, how) : io::read_jpeg(file.bytes(), path, how);
  if (options.height > 0) image = io::resize(image, options.height, options.width);
  const std::int64_t height = image.shape[0], width = image.shape[1], channels = image.shape[2];
  const Array result = Array::empty({channels, height, width}, Dtype::float32, Device());
  const std::uint8_t* from = image.as<std::uint8_t>();
  float* to = result.mutable_data<float>();
  for (std::int64_t channel = 0; channel < channels; ++channel)
    for (std::int64_t i = 0; i < height * width; ++i) *to++ = static_cast<float>(from[i * channels + channel]);
  return result.astype(get_dtype(options.dtype)).eval();
}

namespace {

std::string joined(const ImageDatasetOptions& options, const std::string& path) {
  return path_text(to_path(options.root) / to_path(path));
}

/// Removes entries with unreadable files and returns the error of each.
template <class Entry, class Path>
std::vector<std::string> take_broken(std::vector<Entry>& entries, const ImageDatasetOptions& options,
                                     const Path& path_of) {
  std::vector<std::string> why(entries.size());
  parallel_for(std::ssize(entries), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      try {
        read_image(joined(options, path_of(entries[i])), options);
      } catch (const FileError& error) {
        why[i] = error.what();
      }
    }
  });
  std::size_t at = 0;
  std::erase_if(entries, [&](const Entry&) { return !why[at++].empty(); });
  std::erase(why, "");
  return why;
}

}  // namespace

ImageDataset::ImageDataset(std::vector<std::string> paths, const ImageDatasetOptions& options)
    : paths_(std::move(paths)), options_(options) {
  check(options);
  // config.dtype is per thread, and other threads may read the images
  options_.dtype = get_dtype(options_.dtype);
  if (options_.skip_broken) broken_ = take_broken(paths_, options_, [](const std::string& path) { return path; });
}

std::vector<std::string> ImageDataset::read_list(const std::string& list_file) {
  std::vector<std::string> paths;
  for (auto& [number, line] : lines_of(list_file)) paths.push_back(std::move(line));
  return paths;
}

std::string ImageDataset::path(std::int64_t i) const { return joined(options_, paths_[static_cast<std::size_t>(i)]); }

Example ImageDataset::get_example(std::int64_t i) const {
  try {
    return {{read_image(path(i), options_)}, {}};
  } catch (const FileError& error) {
    fail<FileError>("{}; such files can be left out (the option skip_broken)", error.what());
  }
}

namespace {
std::vector<std::string> paths_of(const LabeledImageDataset::Pairs& pairs) {
  std::vector<std::string> paths;
  for (const auto& [path, label] : pairs) paths.push_back(path);
  return paths;
}
}  // namespace

LabeledImageDataset::LabeledImageDataset(const Pairs& pairs, const ImageDatasetOptions& options)
    : images_(std::vector<std::string>{}), label_dtype_(options.label_dtype) {
  check(options);
  Pairs kept = pairs;
  ImageDatasetOptions own = options;
  own.dtype = get_dtype(options.dtype);
  own.skip_broken = false;
  if (options.skip_broken) broken_ = take_broken(kept, own, [](const auto& pair) { return pair.first; });
  images_ = ImageDataset(paths_of(kept), own);
  for (const auto& [path, label] : kept) labels_.push_back(label);
}

LabeledImageDataset::Pairs LabeledImageDataset::read_list(const std::string& list_file) {
  Pairs pairs;
  for (const auto& [number, line] : lines_of(list_file)) {
    const std::size_t space = line.find_last_of(" \t");
    const char *begin = line.data() + (space == std::string::npos ? 0 : space + 1), *end = line.data() + line.size();
    std::int32_t label = 0;
    const auto [stop, error] = std::from_chars(begin, end, label);
    if (space == std::string::npos || error != std::errc() || stop != end)
      fail<FileError>("{}: line {}: expected a path, a space and a class number such as 'cat.png 3', found '{}'",
                      list_file, number, line);
    pairs.emplace_back(line.substr(0, line.find_last_not_of(" \t", space) + 1), label);
  }
  return pairs;
}

Example LabeledImageDataset::get_example(std::int64_t i) const {
  Example example = images_.get_example(i);
  example.values.push_back(label_array(labels_[static_cast<std::size_t>(i)], label_dtype_));
  return example;
}

struct ImageFolderDataset::Found {
  std::string folder;
  Pairs pairs;
  std::vector<std::string> classes;
};

namespace {

/// Returns the file name extension in lower case, without the dot.
std::string ending(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  std::string result = dot == std::string::npos ? "" : name.substr(dot + 1);
  for (char& c : result) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return result;
}

/// Collects the images below a folder. With `all`, includes unsupported formats, which otherwise are an error.
void collect(const std::string& folder, std::int64_t label, bool all, LabeledImageDataset::Pairs& pairs) {
  for (const std::string& name : os::list_directory(folder)) {
    const std::string path = folder + "/" + name;
    if (name.front() == '.') continue;
    if (os::is_directory(path)) {
      collect(path, label, all, pairs);
      continue;
    }
    const std::string kind = ending(name);
    const bool other = kind == "gif" || kind == "bmp" || kind == "webp" || kind == "tif" || kind == "tiff";
    if (kind == "png" || kind == "jpg" || kind == "jpeg" || (other && all)) pairs.emplace_back(path, label);
    if (other && !all)
      fail<FileError>(
          "{}: images of this kind cannot be read; convert it to PNG or JPEG, or leave it out (the option skip_broken)",
          path);
  }
}

}  // namespace

ImageFolderDataset::ImageFolderDataset(const std::string& folder, const ImageDatasetOptions& options)
    : ImageFolderDataset(
          [&] {
            Found found{.folder = folder, .pairs = {}, .classes = {}};
            for (const std::string& name : os::list_directory(folder))
              if (name.front() != '.' && os::is_directory(folder + "/" + name)) found.classes.push_back(name);
            if (found.classes.empty())
              fail<FileError>("{}: expected a sub-folder of images for each class, found none", folder);
            for (std::size_t i = 0; i < found.classes.size(); ++i) {
              const std::size_t before = found.pairs.size();
              collect(folder + "/" + found.classes[i], static_cast<std::int64_t>(i), options.skip_broken, found.pairs);
              if (found.pairs.size() == before)
                fail<FileError>("{}/{}: the folder of a class has no images (*.png, *.jpg, *.jpeg)", folder,
                                found.classes[i]);
            }
            return found;
          }(),
          options) {}

ImageFolderDataset::ImageFolderDataset(Found found, const ImageDatasetOptions& options)
    : LabeledImageDataset(found.pairs,
                          [&] {
                            ImageDatasetOptions own = options;
                            own.root = "";
                            return own;
                          }()),
      class_names_(std::move(found.classes)) {
  std::vector<bool> any(class_names_.size());
  for (std::int64_t i = 0; i < size(); ++i) any[static_cast<std::size_t>(label(i))] = true;
  for (std::size_t i = 0; i < any.size(); ++i) {
    if (any[i]) continue;
    const std::string of_class = found.folder + "/" + class_names_[i];
    const auto first = std::find_if(broken().begin(), broken().end(),
                                    [&](const std::string& why) { return why.starts_with(of_class + "/"); });
    fail<FileError>("{}: none of the images of the class can be read; {}", of_class, *first);
  }
}

}  // namespace catenary::datasets
