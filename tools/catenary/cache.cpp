#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "catenary/device/kernel_cache.h"
#include "tools/catenary/commands.h"

namespace catenary::command {

int cache(CacheAction action, bool json) {
  const std::string folder = kernel_cache_folder();
  const std::vector<KernelCacheEntry> entries = kernel_cache_entries();
  const KernelCacheStats stats = action == CacheAction::clear ? clear_kernel_cache() : kernel_cache_stats();
  if (json) {
    nlohmann::ordered_json object = {{"schema", 1},
                                     {"folder", folder},
                                     {action == CacheAction::clear ? "removed" : "entries", stats.entries},
                                     {"unfinished", stats.unfinished},
                                     {"bytes", stats.bytes}};
    if (action == CacheAction::list) {
      object["list"] = nlohmann::ordered_json::array();
      for (const auto& entry : entries)
        object["list"].push_back({{"name", entry.name}, {"bytes", entry.bytes}, {"time", entry.time}});
    }
    fmt::print("{}\n", object.dump(2));
    return 0;
  }
  if (action == CacheAction::list)
    for (const auto& entry : entries)
      fmt::print("{:%Y-%m-%d %H:%M}  {:>9}  {}\n", fmt::localtime(static_cast<std::time_t>(entry.time)), entry.bytes,
                 entry.name);
  fmt::print("{}: {}{} kernels{}, {:.1f} MiB\n",
             folder.empty() ? "no folder (CATENARY_CACHE_DIR, XDG_CACHE_HOME and HOME are not set)" : folder,
             action == CacheAction::clear ? "removed " : "", stats.entries,
             stats.unfinished ? fmt::format(" and {} unfinished files", stats.unfinished) : "",
             static_cast<double>(stats.bytes) / (1 << 20));
  return 0;
}

}  // namespace catenary::command
