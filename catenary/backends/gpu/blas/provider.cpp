#include "catenary/backends/gpu/blas/provider.h"

#include "catenary/backends/gpu/primitives.h"

namespace catenary::gpu {

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
