#include "catenary/training/extensions/snapshot.h"

#include <algorithm>
#include <tuple>

#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/serializers/detail.h"

namespace catenary::training::extensions {

std::string format_filename(const std::string& pattern, const Trainer& trainer) {
  std::string result;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t open = pattern.find('{', at);
    result += pattern.substr(at, open - at);
    if (open == std::string::npos) break;
    const std::size_t close = pattern.find('}', open);
    const std::string field = close == std::string::npos ? "" : pattern.substr(open + 1, close - open - 1);
    if (field == ".updater.iteration") {
      result += std::to_string(trainer.updater()->iteration());
    } else if (field == ".updater.epoch") {
      result += std::to_string(trainer.updater()->epoch());
    } else {
      fail<ValueError>("file name '{}': only {{.updater.iteration}} and {{.updater.epoch}} can be filled in", pattern);
    }
    at = close + 1;
  }
  return result;
}

namespace {

/// Files of the folder whose names fit the pattern, oldest first: by time, and where a file system's clock is too
/// coarse for that, by number ("…_9" before "…_10").
std::vector<std::string> matching(const std::string& folder, const std::string& pattern) {
  const std::size_t open = pattern.find('{'), close = pattern.rfind('}');
  const std::string head = pattern.substr(0, open), tail = close == std::string::npos ? "" : pattern.substr(close + 1);
  std::vector<std::tuple<double, std::size_t, std::string>> found;
  for (const std::string& name : os::list_directory(folder)) {
    if (name.size() < head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) continue;
    const std::string middle = name.substr(head.size(), name.size() - head.size() - tail.size());
    if (open != std::string::npos && (middle.empty() || middle.find_first_not_of("0123456789_-") != std::string::npos))
      continue;
    found.emplace_back(os::modification_time(folder + "/" + name), name.size(), name);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (auto& [time, length, name] : found) names.push_back(name);
  return names;
}

}  // namespace

snapshot::snapshot(SnapshotOptions options) : options_(std::move(options)) {}

std::vector<std::string> snapshot::files(const Trainer& trainer) const {
  return matching(trainer.out(), options_.filename);
}

void snapshot::load(const Trainer& trainer, const std::string& path) const {
  if (target_) {
    serializers::detail::load_npz(path, target_, "", true);
  } else {
    serializers::load_npz(path, trainer);
  }
}

void snapshot::load(const Trainer& trainer, const std::string& path, std::span<const std::byte> bytes) const {
  const auto whole = [&](Serializer& serializer) { trainer.serialize(serializer); };
  serializers::detail::load_npz(bytes, path, target_ ? target_ : whole, "", true);
}

void snapshot::autoload(Trainer& trainer) {
  if (!options_.autoload) return;
  const std::vector<std::string> names = files(trainer);
  if (!names.empty()) load(trainer, trainer.out() + "/" + names.back());
}

std::string snapshot::save(Trainer& trainer) {
  const std::string path = trainer.out() + "/" + format_filename(options_.filename, trainer);
  if (target_) {
    serializers::detail::save_npz(path, target_, true);
  } else {
    serializers::save_npz(path, trainer);
  }
  if (options_.n_retains > 0) {
    const std::vector<std::string> names = files(trainer);
    for (std::size_t i = 0; i + static_cast<std::size_t>(options_.n_retains) < names.size(); ++i)
      os::remove_file(trainer.out() + "/" + names[i]);
  }
  return path;
}

void snapshot::on_error(Trainer& trainer, const std::exception&) {
  if (!options_.snapshot_on_error) return;
  try {
    save(trainer);
  } catch (const std::exception& e) {
    fmt::print(stderr, "snapshot_on_error: {}\n", e.what());
  }
}

}  // namespace catenary::training::extensions
