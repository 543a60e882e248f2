#pragma once
// Private to the library and its tools: compiled kernels on disk, for GPUs and the CPU, shared by all processes of a
// user. Each file holds one binary and is named by the SHA-256 of everything that it depends on. Files are written
// under a temporary name and renamed. A checksum is compared on load: a damaged file is reported once, removed and made
// again.
//
// Loaded binaries are executed. Therefore the folder is made for this user alone, and a folder that another user owns
// or may write to is not used. An unusable folder is reported once, and the process goes on without it.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "catenary/core/export.h"

namespace catenary {

/// Returns whether kernels are kept on disk. With CATENARY_KERNEL_CACHE=0 nothing is read or stored, and drivers are
/// not asked for binaries.
bool keeps_kernels();
/// Returns CATENARY_CACHE_DIR, else catenary/ in XDG_CACHE_HOME or ~/.cache. Empty if none of them is set.
CT_API std::string kernel_cache_folder();

/// Returns the binary of a key, if it exists and is intact.
CT_API std::optional<std::vector<std::byte>> load_kernel(const std::string& key);
/// Stores a binary. Never throws.
CT_API void save_kernel(const std::string& key, const std::vector<std::byte>& binary) noexcept;

/// Returns why the folder is not used, for example because it belongs to another user. Empty if it can be used or does
/// not exist yet.
CT_API std::string kernel_cache_trouble();

/// A compiled kernel on disk, or the unfinished file of a process that was killed.
struct KernelCacheEntry {
  std::string name;
  std::size_t bytes = 0;
  double time = 0;          ///< of the last change, in seconds since 1970
  bool unfinished = false;  ///< being written, or never finished
};
/// Returns all entries by name. Throws FileError if the folder must not be used.
CT_API std::vector<KernelCacheEntry> kernel_cache_entries();

struct KernelCacheStats {
  std::size_t entries = 0;
  std::size_t unfinished = 0;
  std::size_t bytes = 0;  ///< of both

  void add(const KernelCacheEntry& entry) {
    ++(entry.unfinished ? unfinished : entries);
    bytes += entry.bytes;
  }
};
/// Returns the number and size of the entries. Throws as kernel_cache_entries.
CT_API KernelCacheStats kernel_cache_stats();
/// Removes all entries except those being written, and returns their number and size. Throws as kernel_cache_entries.
CT_API KernelCacheStats clear_kernel_cache();

}  // namespace catenary
