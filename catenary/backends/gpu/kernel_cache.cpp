#include "catenary/backends/gpu/kernel_cache.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <span>
#include <string_view>

#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/core/sha256.h"

namespace catenary::gpu {

namespace {

constexpr std::string_view kMagic = "catenary kernel 1\n";
constexpr std::string_view kEnding = ".kernel";
constexpr std::size_t kDigest = 64, kHeader = kMagic.size() + kDigest + 1;
constexpr std::size_t kMostBytes = std::size_t{512} << 20;

std::string path_of(const std::string& key) { return kernel_cache_folder() + "/" + key + std::string(kEnding); }

void say_once(const std::string& why) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    fmt::print(stderr, "catenary: compiled kernels cannot be kept on disk, so each run compiles its own: {}\n", why);
}

/// Removes the oldest entries until half of what is allowed is left, where there is more than that.
void keep_below_limit() {
  std::vector<KernelCacheEntry> all = kernel_cache_entries();
  std::size_t total = 0;
  for (const KernelCacheEntry& entry : all) total += entry.bytes;
  if (total <= kMostBytes) return;
  std::sort(all.begin(), all.end(),
            [](const KernelCacheEntry& a, const KernelCacheEntry& b) { return a.time < b.time; });
  for (const KernelCacheEntry& entry : all) {
    if (total <= kMostBytes / 2) break;
    os::remove_file(entry.path);
    total -= entry.bytes;
  }
}

}  // namespace

std::string kernel_cache_folder() {
  for (const auto& [variable, below] : {std::pair("CATENARY_CACHE_DIR", ""), std::pair("XDG_CACHE_HOME", "/catenary"),
                                        std::pair("HOME", "/.cache/catenary")}) {
    const char* value = std::getenv(variable);
    if (value && *value) return std::string(value) + below;
  }
  return {};
}

std::optional<Binary> load_kernel(const std::string& key) {
  if (kernel_cache_folder().empty()) return std::nullopt;
  const std::string path = path_of(key);
  try {
    if (!os::exists(path)) return std::nullopt;
    const std::vector<std::byte> content = os::read_file(path);
    const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
    if (text.size() >= kHeader && text.starts_with(kMagic) &&
        sha256(text.substr(kHeader)) == text.substr(kMagic.size(), kDigest))
      return Binary(content.begin() + kHeader, content.end());
    os::remove_file(path);
  } catch (const FileError& error) {
    say_once(error.what());
  }
  return std::nullopt;
}

void save_kernel(const std::string& key, const Binary& binary) noexcept {
  try {
    const std::string folder = kernel_cache_folder();
    if (folder.empty()) return say_once("neither CATENARY_CACHE_DIR nor HOME is set");
    os::make_directories(folder);
    std::vector<std::byte> content(kHeader + binary.size());
    const std::string header = fmt::format("{}{}\n", kMagic, sha256(std::span(binary)));
    std::copy_n(reinterpret_cast<const std::byte*>(header.data()), kHeader, content.begin());
    std::copy(binary.begin(), binary.end(), content.begin() + kHeader);
    os::write_file(path_of(key), std::span<const std::byte>(content));
    static std::atomic<int> saved{0};
    if (saved.fetch_add(1) % 64 == 0) keep_below_limit();
  } catch (const std::exception& error) {
    try {
      say_once(error.what());
    } catch (...) {
      return;  // not even a line can be written
    }
  }
}

std::vector<KernelCacheEntry> kernel_cache_entries() {
  std::vector<KernelCacheEntry> found;
  const std::string folder = kernel_cache_folder();
  if (folder.empty() || !os::is_directory(folder)) return found;
  for (const std::string& name : os::list_directory(folder)) {
    if (!name.ends_with(kEnding)) continue;
    try {  // another process may remove it meanwhile
      const std::string path = folder + "/" + name;
      found.push_back({path, os::file_size(path), os::modification_time(path)});
    } catch (const FileError&) {
    }
  }
  return found;
}

KernelCacheStats kernel_cache_stats() {
  KernelCacheStats stats;
  for (const KernelCacheEntry& entry : kernel_cache_entries()) {
    ++stats.entries;
    stats.bytes += entry.bytes;
  }
  return stats;
}

KernelCacheStats clear_kernel_cache() {
  KernelCacheStats stats;
  for (const KernelCacheEntry& entry : kernel_cache_entries()) {
    os::remove_file(entry.path);
    ++stats.entries;
    stats.bytes += entry.bytes;
  }
  return stats;
}

}  // namespace catenary::gpu
