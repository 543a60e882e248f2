#include "catenary/backends/gpu/blas/provider.h"

#include "catenary/backends/gpu/matrix_units.h"
#include "catenary/backends/gpu/primitives.h"

namespace catenary::gpu {

bool MatmulProvider::run(const Gemm& gemm, std::string& why) {
  const auto noted = [&](const Computation* computation) {
    if (computation) context_.computations.note(ComputationKind::product, *computation);
    return computation != nullptr;
  };
  if (!gemm.bias || adds_bias(gemm)) return noted(multiply(gemm, why));
  if (gemm.accumulate) return false;
  // fill c with the bias, then add the product
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
  return noted(multiply(rest, why));
}

const Computation* UntoldProducts::of(const Gemm& gemm, bool tf32) {
  const bool rounded = tf32 && gemm.dtype == Dtype::float32, aligned = is_aligned(gemm);
  const std::size_t number = static_cast<std::size_t>(gemm.dtype) * 4 + (rounded ? 2 : 0) + (aligned ? 1 : 0);
  return &known_.get(number, [&]() -> const Computation& {
    return context_.computations.keep(
        untold("blas", library_, context_.info, gemm.dtype, rounded,
               aligned ? "operands begin at multiples of 16 bytes and step by them" : kNotAligned));
  });
}

}  // namespace catenary::gpu
