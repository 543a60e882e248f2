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
  /// Provider::run: how it was computed, which was kept; null where it was not.
  virtual const Computation* multiply(const Gemm& gemm, std::string& why) = 0;

  Context& context_;
};

/// How a library that does not tell which units ran computed its products.
class UntoldProducts {
 public:
  UntoldProducts(Context& context, const char* library) : context_(context), library_(library) {}
  /// `tf32`: the library was told that float32 may be rounded to TF32.
  const Computation* of(const Gemm& gemm, bool tf32);

 private:
  Context& context_;
  const char* const library_;
  ComputationTable<4 * static_cast<std::size_t>(kDtypes)> known_;
};

/// rocBLAS and hipBLASLt, for `catenary doctor` too.
CT_API const RocmLibrary& rocblas();
CT_API const RocmLibrary& hipblaslt();

}  // namespace catenary::gpu
