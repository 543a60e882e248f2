#include "catenary/training/extensions/snapshot.h"

#include <algorithm>
#include <charconv>
#include <compare>

#include "catenary/array/io.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/io/npz.h"
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

/// The order of snapshots, oldest first. File times decide only between equal snapshots, because clocks of other
/// machines may be wrong.
struct Age {
  std::int64_t iteration = -1, epoch = -1;  // -1 if unknown
  double time = 0;
  std::size_t length = 0;  // of the name: "…_9" comes before "…_10"
  std::string name;
  auto operator<=>(const Age&) const = default;
};

std::int64_t number_at(std::string_view text) {
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Reads iteration and epoch from a name made by the pattern.
void read_name(const std::string& pattern, Age& age) {
  std::string_view rest = age.name;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t open = pattern.find('{', at), close = pattern.find('}', open);
    if (close == std::string::npos) return;
    rest.remove_prefix(std::min(open - at, rest.size()));
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const bool is_epoch = pattern.compare(open, close - open, "{.updater.epoch") == 0;
    (is_epoch ? age.epoch : age.iteration) = number_at(rest.substr(0, digits));
    rest.remove_prefix(digits);
    at = close + 1;
  }
}

/// Reads the iteration from a trainer's snapshot. Snapshots of single objects have none, and damaged files are ordered
/// by name.
void read_content(const std::string& path, Age& age) {
  try {
    const io::NpzReader reader(path, {.max_member_bytes = 4096});
    if (const std::string key = "updater/iteration"; reader.contains(key))
      age.iteration = from_host(reader.read_array(key), Device()).item<std::int64_t>();
  } catch (const Error&) {
  }
}

/// Files of the folder that match the pattern, oldest first.
std::vector<std::string> matching(const std::string& folder, const std::string& pattern) {
  const std::size_t open = pattern.find('{'), close = pattern.rfind('}');
  const std::string head = pattern.substr(0, open), tail = close == std::string::npos ? "" : pattern.substr(close + 1);
  std::vector<Age> found;
  for (const std::string& name : os::list_directory(folder)) {
    if (name.size() < head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) continue;
    const std::string middle = name.substr(head.size(), name.size() - head.size() - tail.size());
    if (open != std::string::npos && (middle.empty() || middle.find_first_not_of("0123456789_-") != std::string::npos))
      continue;
    const std::string path = folder + "/" + name;
    Age& age = found.emplace_back();
    age = {.time = os::modification_time(path), .length = name.size(), .name = name};
    read_name(pattern, age);
    read_content(path, age);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (Age& age : found) names.push_back(std::move(age.name));
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
  const std::string saved = format_filename(options_.filename, trainer), path = trainer.out() + "/" + saved;
  if (target_) {
    serializers::detail::save_npz(path, target_, true);
  } else {
    serializers::save_npz(path, trainer);
  }
  if (options_.n_retains > 0) {
    std::vector<std::string> others = files(trainer);
    std::erase(others, saved);  // keep it, even if another training in this folder was further
    for (std::size_t i = 0; i + static_cast<std::size_t>(options_.n_retains) <= others.size(); ++i)
      os::remove_file(trainer.out() + "/" + others[i]);
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
