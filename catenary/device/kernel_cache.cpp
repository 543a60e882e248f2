#include "catenary/device/kernel_cache.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <span>
#include <string_view>

#include "catenary/core/environment.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/core/os/private_folder.h"
#include "catenary/core/os/system.h"
#include "catenary/core/sha256.h"

namespace catenary {

namespace {

constexpr std::string_view kMagic = "catenary kernel 1\n";
constexpr std::string_view kEnding = ".kernel";
constexpr std::size_t kDigest = 64, kHeader = kMagic.size() + kDigest + 1;
constexpr std::size_t kMostBytes = std::size_t{512} << 20;

std::string name_of(const std::string& key) { return key + std::string(kEnding); }

/// Returns kernels, and unfinished files of killed processes. No other file is ever counted or removed.
std::vector<os::PrivateFolder::Entry> entries_of(const os::PrivateFolder& folder) {
  std::vector<os::PrivateFolder::Entry> all = folder.list();
  std::erase_if(all, [](const os::PrivateFolder::Entry& entry) {
    return entry.unfinished ? entry.name.find(kEnding) == std::string::npos : !entry.name.ends_with(kEnding);
  });
  return all;
}

void say_once(std::atomic<bool>& said, std::string_view what, std::string_view why) {
  if (!said.exchange(true)) fmt::print(stderr, "catenary: {}: {}\n", what, why);
}

void say_not_kept(std::string_view why) {
  static std::atomic<bool> said{false};
  say_once(said, "compiled kernels cannot be kept on disk, so each process compiles them again", why);
}

void say_not_loaded(std::string_view why) {
  static std::atomic<bool> said{false};
  say_once(said, "a cached file is not used and is made again", why);
}

/// If the folder exceeds its limit, removes unfinished files and then the oldest entries until half of the limit is
/// left.
void keep_below_limit(const os::PrivateFolder& folder) {
  std::vector<os::PrivateFolder::Entry> all = entries_of(folder);
  std::size_t total = 0;
  for (const auto& entry : all) total += entry.bytes;
  if (total <= kMostBytes) return;
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(!a.unfinished, a.time) < std::pair(!b.unfinished, b.time);
  });
  for (const auto& entry : all) {
    if (total <= kMostBytes / 2) break;
    if (folder.remove(entry.name)) total -= entry.bytes;
  }
}

/// Returns the folder if it exists and is safe to use.
std::optional<os::PrivateFolder> open_folder() {
  const std::string path = kernel_cache_folder();
  return path.empty() ? std::nullopt : os::PrivateFolder::find(path);
}

}  // namespace

bool keeps_kernels() { return environment::flag("CATENARY_KERNEL_CACHE", true); }

std::string kernel_cache_folder() {
  if (const std::string named = environment::text("CATENARY_CACHE_DIR"); !named.empty()) return named;
  const std::string folder = os::user_cache_folder();
  return folder.empty() ? folder : folder + "/catenary";
}

std::string kernel_cache_trouble() {
  try {
    open_folder();
    return {};
  } catch (const FileError& error) {
    return error.what();
  }
}

std::optional<std::vector<std::byte>> load_kernel(const std::string& key) {
  if (!keeps_kernels()) return std::nullopt;
  std::optional<os::PrivateFolder> folder;
  try {
    folder = open_folder();
  } catch (const FileError& error) {
    say_not_kept(error.what());
  }
  try {
    if (!folder) return std::nullopt;
    const auto content = folder->read(name_of(key));
    if (!content) return std::nullopt;
    const std::string_view text(reinterpret_cast<const char*>(content->data()), content->size());
    if (text.size() >= kHeader && text.starts_with(kMagic) &&
        sha256(text.substr(kHeader)) == text.substr(kMagic.size(), kDigest))
      return std::vector<std::byte>(content->begin() + kHeader, content->end());
    folder->remove(name_of(key));
    say_not_loaded(fmt::format("{} is damaged", name_of(key)));
  } catch (const FileError& error) {
    say_not_loaded(error.what());
  }
  return std::nullopt;
}

void save_kernel(const std::string& key, const std::vector<std::byte>& binary) noexcept {
  try {
    if (!keeps_kernels()) return;
    const std::string path = kernel_cache_folder();
    if (path.empty()) return say_not_kept("neither CATENARY_CACHE_DIR nor HOME is set");
    const os::PrivateFolder folder = os::PrivateFolder::make(path);
    std::vector<std::byte> content(kHeader + binary.size());
    const std::string header = fmt::format("{}{}\n", kMagic, sha256(std::span(binary)));
    std::copy_n(reinterpret_cast<const std::byte*>(header.data()), kHeader, content.begin());
    std::copy(binary.begin(), binary.end(), content.begin() + kHeader);
    folder.write(name_of(key), content);
    static std::atomic<int> saved{0};
    if (saved.fetch_add(1) % 64 == 0) keep_below_limit(folder);
  } catch (const std::exception& error) {
    try {
      say_not_kept(error.what());
    } catch (...) {
      return;  // not even a message can be printed
    }
  }
}

std::vector<KernelCacheEntry> kernel_cache_entries() {
  std::vector<KernelCacheEntry> found;
  if (const auto folder = open_folder())
    for (const auto& entry : entries_of(*folder))
      found.push_back({entry.name, entry.bytes, entry.time, entry.unfinished});
  return found;
}

KernelCacheStats kernel_cache_stats() {
  KernelCacheStats stats;
  for (const KernelCacheEntry& entry : kernel_cache_entries()) stats.add(entry);
  return stats;
}

KernelCacheStats clear_kernel_cache() {
  KernelCacheStats stats;
  if (const auto folder = open_folder())
    for (const KernelCacheEntry& entry : kernel_cache_entries())
      if (folder->remove(entry.name)) stats.add(entry);
  return stats;
}

}  // namespace catenary
