#pragma once
// Finds, opens and queries the vendors' libraries of all kinds.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/backends/gpu/context.h"
#include "catenary/core/environment.h"
#include "catenary/core/error.h"
#include "catenary/core/export.h"
#include "catenary/core/format.h"
#include "catenary/core/os/library.h"
#include "catenary/device/providers.h"

namespace catenary::gpu {

/// Finds a CUDA library by its file name. A simulated device uses only libraries in LD_LIBRARY_PATH, because real
/// libraries do not support it. Returns nothing, with the reason, if there is none.
std::optional<os::Library> find_cuda_library(bool for_simulated, const std::string& file, std::string& why);

/// Calls `open` with each found version of the library `name` until it returns true. `why` is the first reason.
void each_cuda_library(const Context& context, const std::string& name, const std::vector<const char*>& versions,
                       std::string& why, const std::function<bool(const os::Library&, std::string& why)>& open);
/// Returns the result of `open` for the newest version that it accepts, or null with the first reason.
template <class Open>
auto open_cuda_library(const Context& context, const std::string& name, std::string& why, const Open& open,
                       const std::vector<const char*>& versions = {"13", "12", "11"}) {
  std::invoke_result_t<Open, const os::Library&, std::string&> opened;
  each_cuda_library(context, name, versions, why, [&](const os::Library& library, std::string& reason) {
    opened = open(library, reason);
    return opened != nullptr;
  });
  return opened;
}
/// Returns a version as "13.0.2".
std::string cuda_library_version(std::size_t number);
/// Returns the handle made by the library's function `create`, or null with the reason.
void* make_handle(Context& context, const os::Library& library, const std::string& create, std::string& why);

/// A library of ROCm. Each library's source defines its names and versions.
struct RocmLibrary {
  struct File {
    int oldest_hip, newest_hip;  ///< major versions of the HIP runtimes that the file belongs to
    const char* name;
  };
  const char* name;         ///< "rocBLAS"
  std::vector<File> files;  ///< in the order of the search
  /// Folder of its kernel files for each chip. The library ends the process if the files for the chip are missing, so
  /// they are checked before loading it. Empty for a library without such files.
  std::string folder = {};
  const char* variable = nullptr;  ///< environment variable that names another such folder

  /// Returns the file names for a HIP runtime of this major version.
  CT_API std::vector<std::string> names(int hip_major) const;
};

/// Searches LD_LIBRARY_PATH, then the folder of the HIP runtime in use, then ROCm's folders.
std::optional<os::Library> find_rocm_library(const Context& context, const RocmLibrary& library, std::string& why);

/// Returns the result of `open` for the library, or null with the reason.
template <class Open>
auto open_rocm_library(const Context& context, const RocmLibrary& library, std::string& why, const Open& open) {
  std::invoke_result_t<Open, const os::Library&, std::string&> opened;
  try {
    if (const auto found = find_rocm_library(context, library, why)) opened = open(*found, why);
  } catch (const Error& error) {
    why = error.what();
  }
  return opened;
}

/// Returns possible folders of such a library's kernels. `given` is the value of its variable.
CT_API std::vector<std::string> tensile_folders(const std::string& path, const std::string& folder,
                                                const std::string& given);
/// Returns whether `names` contains files for a chip ("gfx90a:sramecc+:xnack-").
CT_API bool has_tensile_files(const std::vector<std::string>& names, const std::string& arch);

/// Opens a library for a device. Returns null, with the reason, if it cannot be used.
template <class Spec>
using OpenLibrary = std::unique_ptr<Provider<Spec>>(Context& context, std::string& why);

/// A kind of libraries, which take one type of Spec.
template <class Spec>
struct LibraryKind {
  struct Known {
    const char* driver;  ///< driver of the devices that the library serves
    const char* name;
    OpenLibrary<Spec>* open;
  };
  const char* name;         ///< LibraryInfo::kind, and the word in CATENARY_TRACE
  const char* variable;     ///< environment variable that selects: "own", a library's name, or unset for all useful
                            ///< ones
  std::vector<Known> list;  ///< in the order of trying
  /// Returns the reason why no library is useful on a device unless requested, or "".
  std::string (*useless)(const Context&) = [](const Context&) { return std::string(); };
};
/// All kinds are defined in library_list.cpp.
template <class Spec>
const LibraryKind<Spec>& library_kind();

/// The libraries of a kind for one device.
template <class Spec>
class Libraries : public Providers<Spec> {
 public:
  explicit Libraries(Context& context)
      : Providers<Spec>(library_kind<Spec>().name, fmt::format("{}:{}", context.driver.name(), context.index),
                        known_for(context), library_kind<Spec>().useless(context)) {
    const std::string variable = library_kind<Spec>().variable, asked = environment::text(variable);
    this->choose(asked, variable + "=" + asked);
  }

 private:
  static std::vector<std::pair<const char*, typename Providers<Spec>::Open>> known_for(Context& context) {
    std::vector<std::pair<const char*, typename Providers<Spec>::Open>> list;
    for (const auto& known : library_kind<Spec>().list)
      if (context.driver.name() == std::string(known.driver))
        list.emplace_back(known.name, [&context, open = known.open](std::string& why) { return open(context, why); });
    return list;
  }
};
/// Returns the libraries, which a primitive asks first by run(), and then count_own() if none computed it.
template <class Spec>
Libraries<Spec>& libraries_for(Context& context) {
  return context.part<Libraries<Spec>>();
}
/// Returns the libraries of all kinds or of one kind (device/libraries.h).
std::vector<LibraryInfo> libraries(Context& context, std::string_view kind);

}  // namespace catenary::gpu
