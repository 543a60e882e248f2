#include "catenary/backends/gpu/blas/provider.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/environment.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

/// Opens a library for a device; null, with the reason, where it cannot serve. Each has a file of its own here.
using OpenMatmul = std::unique_ptr<MatmulProvider>(Context& context, std::string& why);
OpenMatmul open_cublaslt, open_cublas, open_hipblaslt, open_rocblas, open_clblast;

namespace {

struct Known {
  const char* driver;
  const char* name;
  OpenMatmul* open;
};
constexpr Known kKnown[] = {{"cuda", "cuBLASLt", open_cublaslt},
                            {"cuda", "cuBLAS", open_cublas},
                            {"hip", "hipBLASLt", open_hipblaslt},
                            {"hip", "rocBLAS", open_rocblas},
                            {"opencl", "CLBlast", open_clblast}};

std::vector<std::pair<const char*, MatmulProviders::Open>> known_for(Context& context) {
  std::vector<std::pair<const char*, MatmulProviders::Open>> list;
  for (const Known& known : kKnown)
    if (context.driver.name() == std::string(known.driver))
      list.emplace_back(known.name, [&context, open = known.open](std::string& why) { return open(context, why); });
  return list;
}

}  // namespace

MatmulProviders::MatmulProviders(Context& context)
    : Providers(
          "blas", fmt::format("{}:{}", context.driver.name(), context.index), known_for(context),
          context.loops || context.is_llvmpipe ? "the device is a processor, where our own kernels are faster" : "") {
  const std::string asked = environment::text("CATENARY_GPU_BLAS");
  choose(asked, "CATENARY_GPU_BLAS=" + asked);
}

bool MatmulProvider::run(const Gemm& gemm, std::string& why) {
  if (!gemm.bias || adds_bias(gemm)) return multiply(gemm, why);
  if (gemm.accumulate) return false;
  // c begins as the bias, and the product is added
  const Shape shape{gemm.batch, gemm.n, gemm.m};
  const std::int64_t step = gemm.bias->strides.empty() ? 0 : gemm.bias->strides[0];
  const View c{gemm.c.handle, gemm.c.offset, gemm.dtype, shape, {gemm.c.stride, gemm.c.ld, 1}},
      bias{gemm.bias->handle,
           gemm.bias->offset,
           gemm.bias->dtype,
           shape,
           {0, gemm.bias_along_m ? 0 : step, gemm.bias_along_m ? step : 0}};
  compute(context_, Copy{c, bias});
  Gemm rest = gemm;
  rest.bias = nullptr;
  rest.accumulate = true;
  return multiply(rest, why);
}

}  // namespace catenary::gpu
