#pragma once
// Records how our own kernels computed products and convolutions (device/libraries.h).

#include <cstddef>
#include <cstdint>

#include "catenary/backends/gpu/context.h"
#include "catenary/device/computations.h"

namespace catenary::gpu {

/// Kernels by name: for products first, then for convolutions.
enum class OwnKernel : std::uint8_t {
  matmul_panels,
  matmul_rows,
  matmul_tiles,
  matmul_blocks,
  convolution_direct,
  convolution_panels,
  convolution_tiles,
  filter_direct,
  filter_panels,
  filter_tiles,
};
/// The reason why no library computed: no library supports the dtype, none supports the strides and other properties,
/// libraries are disabled, or all declined.
enum class OwnBecause : std::uint8_t { dtype, form, switched_off, none_took_it };

/// A part of the context.
class OwnComputations {
 public:
  explicit OwnComputations(Context& context) : context_(context) {}
  /// Records the calling thread's last computation, with the dtypes of operands and result.
  void note(OwnKernel kernel, Dtype operands, Dtype result, OwnBecause why);

 private:
  static constexpr std::size_t kKernels = static_cast<std::size_t>(OwnKernel::filter_tiles) + 1, kReasons = 4;
  Context& context_;
  ComputationTable<kKernels * kReasons * 2 * static_cast<std::size_t>(kDtypes)> known_;
};

/// Returns the kernel's name.
const char* kernel_name(OwnKernel kernel);

}  // namespace catenary::gpu
