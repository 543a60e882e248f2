// CLBlast, by its C interface. Used for float32 and float64 only, because it sums float16 in 16 bits.

#include <filesystem>
#include <system_error>

#include "catenary/backends/gpu/blas/provider.h"
#include "catenary/backends/gpu/drivers/find.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

using Handle = void*;

/// Returns the resolved path, whose file name has the version.
std::string real_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

constexpr int kByColumns = 102, kNone = 111, kTranspose = 112;  // CLBlastLayout, CLBlastTranspose

class Clblast final : public MatmulProvider {
 public:
  template <class T>
  using Multiply = int(int layout, int, int, std::size_t m, std::size_t n, std::size_t k, T alpha, Handle a,
                       std::size_t a_offset, std::size_t lda, Handle b, std::size_t b_offset, std::size_t ldb, T beta,
                       Handle c, std::size_t c_offset, std::size_t ldc, Handle* queue, Handle* event);
  template <class T>
  using MultiplyBatch = int(int layout, int, int, std::size_t m, std::size_t n, std::size_t k, T alpha, Handle a,
                            std::size_t a_offset, std::size_t lda, std::size_t a_stride, Handle b, std::size_t b_offset,
                            std::size_t ldb, std::size_t b_stride, T beta, Handle c, std::size_t c_offset,
                            std::size_t ldc, std::size_t c_stride, std::size_t batch, Handle* queue, Handle* event);

  Clblast(Context& context, const os::Library& library)
      : MatmulProvider(context),
        path_(real_path(library.path())),
        f32_(library.required<Multiply<float>>("CLBlastSgemm")),
        f64_(library.required<Multiply<double>>("CLBlastDgemm")),
        f32_batch_(library.required<MultiplyBatch<float>>("CLBlastSgemmStridedBatched")),
        f64_batch_(library.required<MultiplyBatch<double>>("CLBlastDgemmStridedBatched")) {}

  std::string detail() const override { return path_; }

  const Computation* multiply(const Gemm& g, std::string& why) override {
    int status = 0;
    if (g.dtype == Dtype::float32)
      status = submit(g, f32_, f32_batch_);
    else if (g.dtype == Dtype::float64)
      status = submit(g, f64_, f64_batch_);
    else
      return nullptr;
    if (status != 0) {
      why = fmt::format("it cannot multiply (status {})", status);
      return nullptr;
    }
    return &known_.get(static_cast<std::size_t>(g.dtype), [&]() -> const Computation& {
      return context_.computations.keep({.kind = "blas",
                                         .library = "CLBlast",
                                         .algorithm = {},
                                         .dtype = g.dtype,
                                         .compute = sums_of(g.dtype),
                                         .units = {},
                                         .why_not = "kernels in OpenCL C cannot use them"});
    });
  }

 private:
  ComputationTable<static_cast<std::size_t>(kDtypes)> known_;
  template <class T>
  int submit(const Gemm& g, Multiply<T>* one, MultiplyBatch<T>* many) const {
    Handle queue = context_.driver.queue(context_.index);
    const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    const int a = g.a.transposed ? kTranspose : kNone, b = g.b.transposed ? kTranspose : kNone;
    const T beta = g.accumulate ? 1 : 0;
    if (g.batch == 1)
      return one(kByColumns, a, b, size(g.m), size(g.n), size(g.k), T{1}, g.a.handle, size(g.a.offset), size(g.a.ld),
                 g.b.handle, size(g.b.offset), size(g.b.ld), beta, g.c.handle, size(g.c.offset), size(g.c.ld), &queue,
                 nullptr);
    return many(kByColumns, a, b, size(g.m), size(g.n), size(g.k), T{1}, g.a.handle, size(g.a.offset), size(g.a.ld),
                size(g.a.stride), g.b.handle, size(g.b.offset), size(g.b.ld), size(g.b.stride), beta, g.c.handle,
                size(g.c.offset), size(g.c.ld), size(g.c.stride), size(g.batch), &queue, nullptr);
  }

  const std::string path_;
  Multiply<float>* const f32_;
  Multiply<double>* const f64_;
  MultiplyBatch<float>* const f32_batch_;
  MultiplyBatch<double>* const f64_batch_;
};

}  // namespace

std::unique_ptr<Provider<Gemm>> open_clblast(Context& context, std::string& why) {
  try {
    const auto library = find_library({os::library_file("clblast", "1")}, {"/usr/local/lib", "/usr/local/lib64"}, why);
    return library ? std::make_unique<Clblast>(context, *library) : nullptr;
  } catch (const Error& error) {
    why = error.what();
    return nullptr;
  }
}

}  // namespace catenary::gpu
