#pragma once
// blas/: the vendors' libraries of matrix products, found at run time and tried before our own kernels. Each file has
// one interface, with declarations of its public ABI; nothing of it is needed to build, and none may end the process.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "catenary/backends/gpu/blas/gemm.h"
#include "catenary/backends/gpu/context.h"
#include "catenary/device/matmul_providers.h"

namespace catenary::gpu {

/// A library, opened for one device.
class MatmulProvider {
 public:
  virtual ~MatmulProvider() = default;
  /// Version and file.
  virtual std::string detail() const = 0;
  /// Is the bias, if any, added by the library? It is put into c beforehand where not.
  virtual bool adds_bias(const Gemm&) const { return false; }
  /// Submits the product to the device, in order with everything else there. False, with nothing submitted, where the
  /// library does not take it; `why` tells of an error. Calls come one at a time.
  virtual bool run(const Gemm& gemm, std::string& why) = 0;
};

/// Opens a library for a device; null, with the reason, where it cannot serve.
using OpenProvider = std::unique_ptr<MatmulProvider> (*)(Context& context, std::string& why);
std::unique_ptr<MatmulProvider> open_cublaslt(Context& context, std::string& why);
std::unique_ptr<MatmulProvider> open_cublas(Context& context, std::string& why);
std::unique_ptr<MatmulProvider> open_hipblaslt(Context& context, std::string& why);
std::unique_ptr<MatmulProvider> open_rocblas(Context& context, std::string& why);
std::unique_ptr<MatmulProvider> open_clblast(Context& context, std::string& why);

/// The providers of one device, in the order in which they are tried.
class MatmulProviders {
 public:
  /// Opens them, as CATENARY_GPU_BLAS says: "own", the name of a library, or nothing for all that are of use.
  explicit MatmulProviders(Context& context);

  /// False where no library takes the product.
  bool run(const primitives::Matmul& product);
  void count_own() { own_.fetch_add(1, std::memory_order_relaxed); }
  std::vector<MatmulProviderInfo> info() const;

 private:
  struct Entry {
    std::string name, detail;
    std::unique_ptr<MatmulProvider> provider;  // null where it is not used: `detail` says why
    mutable std::mutex mutex;                  // of the library's handle, and of `detail`
    bool refused = false;                      // a product, with an error
    std::atomic<std::int64_t> products{0};
  };
  void report(const Entry& entry) const;

  Context& context_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::atomic<std::int64_t> own_{0};
};

}  // namespace catenary::gpu
