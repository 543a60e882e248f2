#pragma once
// Private to the CPU backend: how its products and convolutions were computed (device/libraries.h).

#include <cstdint>

#include "catenary/core/dtype.h"
#include "catenary/device/computations.h"

namespace catenary::cpu {

/// The ways that a product or a convolution may go. Which one depends on its sizes, strides and dtype.
enum class Way : std::uint8_t {
  // products
  panels,
  tiles,    ///< float32 in pieces, by AMX
  columns,  ///< few of them
  small,
  integers,
  widened_integers,  ///< 8 bits into int32
  onednn,
  quantized,  ///< weights
  rounded,    ///< the same, and x rounded to 8 bits
  // convolutions
  gathered_panels,
  direct,  ///< few channels
  depthwise,
  winograd,
  gathered_tiles,  ///< bfloat16 by AMX
};
constexpr int kWays = static_cast<int>(Way::gathered_tiles) + 1;

/// The calling thread's last product went this way. A few instructions: what is said of it is made when it is asked
/// for.
void note_product(Way way, Dtype operands);
void note_convolution(Way way, Dtype operands);
/// Null where the thread has computed none.
const Computation* last_computation(ComputationKind kind);

}  // namespace catenary::cpu
