#pragma once
// blas/: the vendors' libraries of matrix products, found at run time and tried before our own kernels. Each file has
// one interface, with declarations of its public ABI. No vendor files are needed to build, and no library may end the
// process.

#include <memory>
#include <string>

#include "catenary/backends/gpu/blas/gemm.h"
#include "catenary/backends/gpu/context.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/device/providers.h"

namespace catenary::gpu {

/// A library that multiplies matrices.
class MatmulProvider : public Provider<Gemm> {
 public:
  explicit MatmulProvider(Context& context) : context_(context) {}
  bool run(const Gemm& gemm, std::string& why) final;

 protected:
  /// Returns whether the library adds the bias. If not, c is filled with the bias beforehand.
  virtual bool adds_bias(const Gemm&) const { return false; }
  /// Implements Provider::run. Returns the stored description of the computation, or null if there was none.
  virtual const Computation* multiply(const Gemm& gemm, std::string& why) = 0;

  Context& context_;
};

/// Descriptions of products by libraries that do not report which units ran.
class UntoldProducts {
 public:
  UntoldProducts(Context& context, const char* library) : context_(context), library_(library) {}
  /// `tf32`: the library was allowed to round float32 to TF32.
  const Computation* of(const Gemm& gemm, bool tf32);

 private:
  Context& context_;
  const char* const library_;
  ComputationTable<4 * static_cast<std::size_t>(kDtypes)> known_;
};

/// Return rocBLAS and hipBLASLt, also for `catenary doctor`.
CT_API const RocmLibrary& rocblas();
CT_API const RocmLibrary& hipblaslt();

}  // namespace catenary::gpu
