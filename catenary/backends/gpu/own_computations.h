#pragma once
// How our own kernels computed products and convolutions (device/libraries.h).

#include <cstddef>
#include <cstdint>

#include "catenary/backends/gpu/context.h"
#include "catenary/device/computations.h"

namespace catenary::gpu {

/// The kernels, by their names: those of products, and those of convolutions.
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
/// Why they computed, and no library: none takes the dtype, or the strides and what else it is; none may; none did.
enum class OwnBecause : std::uint8_t { dtype, form, switched_off, none_took_it };

/// A part of the context.
class OwnComputations {
 public:
  explicit OwnComputations(Context& context) : context_(context) {}
  /// The calling thread's last computation, of operands of one dtype into another one.
  void note(OwnKernel kernel, Dtype operands, Dtype result, OwnBecause why);

 private:
  static constexpr std::size_t kKernels = static_cast<std::size_t>(OwnKernel::filter_tiles) + 1, kReasons = 4;
  Context& context_;
  ComputationTable<kKernels * kReasons * 2 * static_cast<std::size_t>(kDtypes)> known_;
};

/// The kernel's name.
const char* kernel_name(OwnKernel kernel);

}  // namespace catenary::gpu
