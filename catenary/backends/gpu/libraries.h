#pragma once
// Finding, opening and asking the vendors' libraries, whatever they compute: one copy of what all have in common.

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

/// A library of CUDA's by its file name. A simulated device takes those alone that LD_LIBRARY_PATH leads to, as the
/// true ones would not know it. Nothing, with the reason, where there is none.
std::optional<os::Library> find_cuda_library(bool for_simulated, const std::string& file, std::string& why);

/// Calls `open` with the library `name` of each of these versions, where they are found, until it says true; `why` is
/// the first reason.
void each_cuda_library(const Context& context, const std::string& name, const std::vector<const char*>& versions,
                       std::string& why, const std::function<bool(const os::Library&, std::string& why)>& open);
/// What `open` makes of the newest of them; null, with the first reason, where it makes nothing of any.
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
/// "13.0.2".
std::string cuda_library_version(std::size_t number);
/// What the library's function `create` gives; null, with the reason, where it gives none.
void* make_handle(Context& context, const os::Library& library, const std::string& create, std::string& why);

/// A library of ROCm's. What it is called and of which versions stands beside the library itself.
struct RocmLibrary {
  struct File {
    int oldest_hip, newest_hip;  ///< major versions of the HIP runtimes that it belongs to
    const char* name;
  };
  const char* name;         ///< "rocBLAS"
  std::vector<File> files;  ///< in the order in which they are looked for
  /// Where it keeps its kernels, in files for each chip: it ends the process where those for the chip are missing, so
  /// they are looked for before it is loaded. Empty for a library without such files.
  std::string folder = {};
  const char* variable = nullptr;  ///< of the environment, which names another such folder

  /// Those that belong to a HIP runtime of this major version.
  CT_API std::vector<std::string> names(int hip_major) const;
};

/// It is taken from LD_LIBRARY_PATH, from the folder of the HIP runtime in use, or from ROCm's folders.
std::optional<os::Library> find_rocm_library(const Context& context, const RocmLibrary& library, std::string& why);

/// What `open` makes of it; null, with the reason, where there is none or it makes nothing of it.
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

/// Where the kernels of such a library may lie; `given` is the value of its variable.
CT_API std::vector<std::string> tensile_folders(const std::string& path, const std::string& folder,
                                                const std::string& given);
/// Are there files for a chip ("gfx90a:sramecc+:xnack-") among these?
CT_API bool has_tensile_files(const std::vector<std::string>& names, const std::string& arch);

/// Opens a library for a device; null, with the reason, where it cannot serve.
template <class Spec>
using OpenLibrary = std::unique_ptr<Provider<Spec>>(Context& context, std::string& why);

/// A kind of libraries: those that are asked for the same Spec.
template <class Spec>
struct LibraryKind {
  struct Known {
    const char* driver;  ///< whose devices it is for
    const char* name;
    OpenLibrary<Spec>* open;
  };
  const char* name;         ///< LibraryInfo::kind, and CATENARY_TRACE's word
  const char* variable;     ///< that chooses: "own", the name of one, or nothing for all that are of use
  std::vector<Known> list;  ///< in the order in which they are tried
  /// Why none is of use on a device unless it is asked for; empty where they are.
  std::string (*useless)(const Context&) = [](const Context&) { return std::string(); };
};
/// All kinds are in library_list.cpp.
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
/// A primitive's source asks them first: run, and count_own where none has taken it.
template <class Spec>
Libraries<Spec>& libraries_for(Context& context) {
  return context.part<Libraries<Spec>>();
}
/// Those of all kinds, or of one: see device/libraries.h.
std::vector<LibraryInfo> libraries(Context& context, std::string_view kind);

}  // namespace catenary::gpu
