#pragma once
// Where the vendors' libraries of matrix products lie.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catenary/backends/gpu/blas/provider.h"
#include "catenary/core/export.h"
#include "catenary/core/os/library.h"

namespace catenary::gpu {

/// The newest of libNAME.so.13, .12 and .11 of which `open` makes a provider; null, with the first reason, where it
/// makes none. A simulated device takes those alone that LD_LIBRARY_PATH leads to, as the true ones would not know it.
std::unique_ptr<MatmulProvider> open_cuda_library(
    Context& context, const std::string& name, std::string& why,
    const std::function<std::unique_ptr<MatmulProvider>(const os::Library&, std::string& why)>& open);
/// "13.0.2".
std::string cuda_library_version(std::size_t number);
/// CATENARY_TF32=1: float32 may be multiplied with 10 bits of mantissa.
bool allow_tf32();

/// A library of ROCm's that keeps its kernels in files for each chip (rocBLAS, hipBLASLt): it ends the process where
/// those for the chip are missing, so they are looked for before it is loaded. It is taken from LD_LIBRARY_PATH, from
/// the folder of the HIP runtime in use, or from ROCm's folders. `folder` is "rocblas" or "hipblaslt".
std::optional<os::Library> find_rocm_library(const Context& context, const std::string& folder, std::string& why);

/// Where such a library's files may lie; `variable` is the value of ROCBLAS_TENSILE_LIBPATH or the like.
CT_API std::vector<std::string> tensile_folders(const std::string& library, const std::string& folder,
                                                const std::string& variable);
/// Are there files for a chip ("gfx90a:sramecc+:xnack-") among these?
CT_API bool has_tensile_files(const std::vector<std::string>& names, const std::string& arch);
/// The versions of rocBLAS ("librocblas.so.5") and of hipBLASLt that belong to a HIP runtime of this major version.
CT_API std::vector<std::string> rocm_library_names(const std::string& folder, int hip_major);

}  // namespace catenary::gpu
