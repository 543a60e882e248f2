#pragma once
// Compiled kernels on disk, shared by all processes of a user: a file a binary, named by the SHA-256 of all that it
// depends on. Written under a temporary name and renamed; a checksum is compared on load, and what is broken is removed
// and made anew. A folder that cannot be written is said once, and then does without.

#include <optional>
#include <string>
#include <vector>

#include "catenary/backends/gpu/driver.h"
#include "catenary/core/export.h"

namespace catenary::gpu {

/// CATENARY_CACHE_DIR, else catenary/ in XDG_CACHE_HOME or ~/.cache; empty where none of them is set.
CT_API std::string kernel_cache_folder();

/// The binary of a key, if it is there and whole.
std::optional<Binary> load_kernel(const std::string& key);
/// Keeps a binary. Never throws.
void save_kernel(const std::string& key, const Binary& binary) noexcept;

/// A compiled kernel on disk.
struct KernelCacheEntry {
  std::string path;
  std::size_t bytes = 0;
  double time = 0;  ///< of the last change, seconds since 1970
};
/// All there are, by name.
CT_API std::vector<KernelCacheEntry> kernel_cache_entries();

struct KernelCacheStats {
  std::size_t entries = 0;
  std::size_t bytes = 0;
};
CT_API KernelCacheStats kernel_cache_stats();
/// Removes all entries; returns what there was.
CT_API KernelCacheStats clear_kernel_cache();

}  // namespace catenary::gpu
