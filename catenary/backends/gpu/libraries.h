#pragma once
// Finding and opening the vendors' libraries, whatever they compute: one copy of what all of a vendor's have in common.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "catenary/backends/gpu/context.h"
#include "catenary/core/error.h"
#include "catenary/core/export.h"
#include "catenary/core/os/library.h"

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
/// CATENARY_TF32=1: float32 may be multiplied with 10 bits of mantissa.
bool allow_tf32();

/// A library of ROCm's that keeps its kernels in files for each chip (rocBLAS, hipBLASLt): it ends the process where
/// those for the chip are missing, so they are looked for before it is loaded. It is taken from LD_LIBRARY_PATH, from
/// the folder of the HIP runtime in use, or from ROCm's folders. `folder` is "rocblas" or "hipblaslt"; or "miopen"
/// or "rccl", which have no such files.
std::optional<os::Library> find_rocm_library(const Context& context, const std::string& folder, std::string& why);

/// What `open` makes of it; null, with the reason, where there is none or it makes nothing of it.
template <class Open>
auto open_rocm_library(const Context& context, const std::string& folder, std::string& why, const Open& open) {
  std::invoke_result_t<Open, const os::Library&, std::string&> opened;
  try {
    if (const auto library = find_rocm_library(context, folder, why)) opened = open(*library, why);
  } catch (const Error& error) {
    why = error.what();
  }
  return opened;
}

/// Where such a library's files may lie; `variable` is the value of ROCBLAS_TENSILE_LIBPATH or the like.
CT_API std::vector<std::string> tensile_folders(const std::string& library, const std::string& folder,
                                                const std::string& variable);
/// Are there files for a chip ("gfx90a:sramecc+:xnack-") among these?
CT_API bool has_tensile_files(const std::vector<std::string>& names, const std::string& arch);
/// The versions of rocBLAS ("librocblas.so.5") and of hipBLASLt that belong to a HIP runtime of this major version.
CT_API std::vector<std::string> rocm_library_names(const std::string& folder, int hip_major);

}  // namespace catenary::gpu
