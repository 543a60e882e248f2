#pragma once
// blas/: the vendors' libraries of matrix products, found at run time and tried before our own kernels. Each file has
// one interface, with declarations of its public ABI; nothing of it is needed to build, and none may end the process.

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
  /// Is the bias, if any, added by the library? It is put into c beforehand where not.
  virtual bool adds_bias(const Gemm&) const { return false; }
  /// Provider::run.
  virtual bool multiply(const Gemm& gemm, std::string& why) = 0;

  Context& context_;
};

/// rocBLAS and hipBLASLt, for `catenary doctor` too.
CT_API const RocmLibrary& rocblas();
CT_API const RocmLibrary& hipblaslt();

}  // namespace catenary::gpu
