#pragma once
// Private to the CPU backend: records how products and convolutions were computed (device/libraries.h).

#include <cstdint>

#include "catenary/core/dtype.h"
#include "catenary/device/computations.h"

namespace catenary::cpu {

/// Implementations of products and convolutions. Sizes, strides and dtype decide which is used.
enum class Way : std::uint8_t {
  // products
  panels,
  tiles,    ///< float32 split into bfloat16 pieces, by AMX
  columns,  ///< few columns
  small,
  integers,
  widened_integers,  ///< 8-bit integers with int32 results
  onednn,
  quantized,  ///< quantised weights
  rounded,    ///< quantised weights, with x rounded to 8 bits
  // convolutions
  gathered_panels,
  direct,  ///< few channels
  depthwise,
  winograd,
  gathered_tiles,  ///< bfloat16 by AMX
};
constexpr int kWays = static_cast<int>(Way::gathered_tiles) + 1;

/// Records the calling thread's last product. Takes a few instructions. The description is made on request.
void note_product(Way way, Dtype operands);
void note_convolution(Way way, Dtype operands);
/// Returns null if the thread has computed none.
const Computation* last_computation(ComputationKind kind);

}  // namespace catenary::cpu
