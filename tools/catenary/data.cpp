// Datasets known by name: shows which are installed, and downloads them from their publishers.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/terminal.h"
#include "catenary/core/sha256.h"
#include "catenary/datasets/datasets.h"
#include "catenary/datasets/distributions.h"
#include "tools/catenary/commands.h"
#include "tools/catenary/download.h"

namespace catenary::command {

namespace {

using datasets::DistributedFile;
using datasets::Distribution;

double mib(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

std::int64_t bytes_of(const Distribution& d) {
  std::int64_t sum = 0;
  for (const DistributedFile& file : d.files) sum += file.bytes;
  return sum;
}

/// The folder where a reader looks for a dataset.
std::string reader_folder(const Distribution& d) { return *d.home ? datasets::folder_of(d) : datasets::mnist_folder(); }

/// Where the dataset is complete, or empty.
std::string place_of(const Distribution& d) {
  std::string folder;
  try {
    folder = reader_folder(d);
  } catch (const FileError&) {  // MNIST is in none of its folders
    return {};
  }
  if (*d.unpacked && os::is_directory(folder + "/" + d.unpacked)) return folder + "/" + d.unpacked;
  for (const DistributedFile& file : d.files) {
    const std::string path = folder + "/" + file.name;
    if (!os::exists(path) || static_cast<std::int64_t>(os::file_size(path)) != file.bytes) return {};
  }
  return folder;
}

/// A progress bar on a terminal. Prints nothing elsewhere.
class Bar {
 public:
  explicit Bar(const DistributedFile& file) : file_(file), shown_(os::is_terminal(os::kStandardError)) {}
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;
  ~Bar() {
    if (shown_) fmt::print(stderr, "\r{:{}}\r", "", os::terminal_width() - 1);
  }
  void show(std::int64_t now) {
    const auto percent = static_cast<int>(100 * now / file_.bytes);
    if (!shown_ || percent == percent_) return;
    percent_ = percent;
    const auto full = static_cast<std::size_t>(std::min(percent, 100)) / 4;
    fmt::print(stderr, "\r{} [{}{}] {:3} %", file_.name, std::string(full, '#'), std::string(25 - full, '.'), percent);
    std::fflush(stderr);
  }

 private:
  const DistributedFile& file_;
  bool shown_;
  int percent_ = -1;
};

/// Downloads a file, verified by its published checksum, or leaves nothing.
void fetch_file(const DistributedFile& file, const std::string& url, const std::string& path) {
  if (os::exists(path) && sha256_of_file(path) == file.sha256) {
    fmt::print("{}: already present, with the published SHA-256\n", path);
    return;
  }
  os::AtomicFile to(path);
  Sha256 digest;
  Bar bar(file);
  const auto check_size = [&](std::uint64_t come) {
    if (come > static_cast<std::uint64_t>(file.bytes))
      throw FileError(
          fmt::format("{}: the server sent more than the published {} bytes; nothing was kept", url, file.bytes));
  };
  download(url, {.bytes =
                     [&](std::span<const std::byte> bytes) {
                       check_size(to.offset() + bytes.size());
                       to.write(bytes);
                       digest.update(bytes);
                     },
                 .progress =
                     [&](std::int64_t now, std::int64_t total) {
                       check_size(static_cast<std::uint64_t>(std::max<std::int64_t>(total, 0)));
                       bar.show(now);
                     }});
  const std::string found = digest.hex();
  if (found != file.sha256)
    throw FileError(
        fmt::format("{}: received {} bytes with SHA-256 {}, but {} bytes with {} were published; nothing was kept", url,
                    to.offset(), found, file.bytes, file.sha256));
  to.commit();
  fmt::print("{}: {:.1f} MiB, with the published SHA-256\n", path, mib(file.bytes));
}

}  // namespace

int list_data(bool json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Distribution& d : datasets::distributions()) {
    const std::string place = place_of(d);
    if (json)
      list.push_back({{"name", d.name},
                      {"bytes", bytes_of(d)},
                      {"home", d.home},
                      {"place", place.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(place)}});
    else
      fmt::print("{:<14} {:>6.1f} MiB  {}\n", d.name, mib(bytes_of(d)),
                 !place.empty() ? place
                 : *d.home      ? fmt::format("not in {}: catenary data fetch {}", datasets::folder_of(d), d.name)
                                : "missing, though it comes with Catenary");
  }
  if (json) fmt::print("{}\n", nlohmann::ordered_json{{"schema", 1}, {"datasets", list}}.dump(2));
  return 0;
}

int fetch_data(const FetchOptions& options) {
  const Distribution& d = datasets::distribution(options.name);
  if (!*d.home && options.url.empty()) {
    const std::string place = place_of(d);
    if (place.empty())
      throw FileError(fmt::format("{} comes with Catenary, but is not in {}", d.name, reader_folder(d)));
    fmt::print("{} comes with Catenary: {}\n", d.name, place);
    return 0;
  }
  const std::string folder = options.to.empty() ? datasets::folder_of(d) : options.to;
  std::string home = options.url.empty() ? d.home : options.url;
  if (!home.ends_with('/')) home += '/';
  os::make_directories(folder);
  for (const DistributedFile& file : d.files) fetch_file(file, home + file.name, folder + "/" + file.name);
  return 0;
}

}  // namespace catenary::command
