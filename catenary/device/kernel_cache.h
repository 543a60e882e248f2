#pragma once
// Private to the library and its tools: compiled kernels on disk, those of GPUs and of the processor, shared by all
// processes of a user: a file a binary, named by the SHA-256 of all that it depends on. Written under a temporary name
// and renamed; a checksum is compared on load, and what is broken is removed, said once, and made anew. What is loaded
// is run: so the folder is made for this user alone, and one that another user owns or may write is not used. A folder
// that cannot be used is said once, and then does without.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "catenary/core/export.h"

namespace catenary {

/// CATENARY_KERNEL_CACHE=0 has nothing read, kept, or asked of a driver in order to keep it.
bool keeps_kernels();
/// CATENARY_CACHE_DIR, else catenary/ in XDG_CACHE_HOME or ~/.cache; empty where none of them is set.
CT_API std::string kernel_cache_folder();

/// The binary of a key, if it is there and whole.
CT_API std::optional<std::vector<std::byte>> load_kernel(const std::string& key);
/// Keeps a binary. Never throws.
CT_API void save_kernel(const std::string& key, const std::vector<std::byte>& binary) noexcept;

/// Why the folder is not used, as it belongs to another user or the like; empty where it may be, or is not there yet.
CT_API std::string kernel_cache_trouble();

/// A compiled kernel on disk, or what a process that was killed left of one.
struct KernelCacheEntry {
  std::string name;
  std::size_t bytes = 0;
  double time = 0;          ///< of the last change, seconds since 1970
  bool unfinished = false;  ///< being written, or never finished
};
/// All there are, by name. Throws FileError where the folder is not to be used.
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
/// The same, counted.
CT_API KernelCacheStats kernel_cache_stats();
/// Removes all but what is being written; returns what was removed. Throws as kernel_cache_entries.
CT_API KernelCacheStats clear_kernel_cache();

}  // namespace catenary
