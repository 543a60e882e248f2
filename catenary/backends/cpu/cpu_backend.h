#pragma once
// backends/cpu: the device that is always there. Fused blocks, its own matrix products and data movement; oneDNN when
// it is found.

namespace catenary {

class Backend;

namespace cpu {
/// The CPU's backend; never destroyed.
Backend& backend();
}  // namespace cpu

}  // namespace catenary
