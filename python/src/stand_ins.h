#pragma once
// Stand-in addresses for memory without CUDA or HIP addresses, so that programs that identify device arrays by
// __cuda_array_interface__ also work on the processor and on OpenCL.

#include <cstdint>

namespace catenary_python {

/// The offset added to addresses of the processor's memory. No program has memory between it and kStandInsEnd. The
/// range also holds the numbers given to OpenCL's memory.
inline constexpr std::uint64_t kStandIn = std::uint64_t{1} << 55, kOpenClStandIn = std::uint64_t{1} << 56,
                               kStandInsEnd = std::uint64_t{1} << 57;

/// Does CATENARY_CUDA_ARRAY_INTERFACE=1 ask for them?
bool gives_stand_ins();
/// Reports every access to such an address from now on, and ends the program with status 1.
void watch_stand_ins();

}  // namespace catenary_python
