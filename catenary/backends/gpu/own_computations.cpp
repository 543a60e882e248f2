#include "catenary/backends/gpu/own_computations.h"

#include <array>
#include <string>
#include <string_view>

#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

bool is_product(OwnKernel kernel) { return kernel <= OwnKernel::matmul_blocks; }

std::string why_not(std::string_view driver, OwnKernel kernel, Dtype operands, OwnBecause why) {
  if (driver == "opencl") return "kernels in OpenCL C cannot use them";
  constexpr const char* kOwn = "Catenary's own kernels use none";
  switch (why) {
    case OwnBecause::dtype:
      return fmt::format("dtype: no library takes {}, and {}", operands, kOwn);
    case OwnBecause::form:
      return fmt::format("{}: no library takes {}, and {}", is_product(kernel) ? "strides" : "strides or form",
                         is_product(kernel) ? "such operands" : "such a convolution", kOwn);
    case OwnBecause::switched_off:
      return fmt::format("config.use_cudnn is false, and {}", kOwn);
    default:
      return fmt::format("no library computed it, and {}", kOwn);
  }
}

}  // namespace

const char* kernel_name(OwnKernel kernel) {
  constexpr std::array<const char*, 10> names = {
      "matmul_panels",      "matmul_rows",       "matmul_tiles",  "matmul_blocks", "convolution_direct",
      "convolution_panels", "convolution_tiles", "filter_direct", "filter_panels", "filter_tiles"};
  return names[static_cast<std::size_t>(kernel)];
}

void OwnComputations::note(OwnKernel kernel, Dtype operands, Dtype result, OwnBecause why) {
  const auto place = [](auto value) { return static_cast<std::size_t>(value); };
  const bool widens = operands != result;
  const std::size_t number =
      ((place(kernel) * kReasons + place(why)) * 2 + place(widens)) * place(kDtypes) + place(operands);
  const Computation& computation = known_.get(number, [&]() -> const Computation& {
    return context_.computations.keep({.kind = is_product(kernel) ? "blas" : "dnn",
                                       .library = "own",
                                       .algorithm = kernel_name(kernel),
                                       .dtype = operands,
                                       .compute = widens ? sums_of(result, dtype_name(operands)) : sums_of(operands),
                                       .units = {},
                                       .why_not = why_not(context_.driver.name(), kernel, operands, why)});
  });
  context_.computations.note(is_product(kernel) ? ComputationKind::product : ComputationKind::convolution, computation);
}

}  // namespace catenary::gpu
