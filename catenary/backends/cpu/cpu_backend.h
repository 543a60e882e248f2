#pragma once
// backends/cpu: the CPU device, which is always available. Executes fused programs, matrix products and data movement
// with its own kernels, and can use oneDNN.

namespace catenary {

class Backend;

namespace cpu {
/// Returns the CPU's backend, which is never destroyed.
Backend& backend();
}  // namespace cpu

}  // namespace catenary
