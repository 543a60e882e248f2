#pragma once
// Addresses that stand in for memory without CUDA's or HIP's addresses, so that programs which tell arrays of a device
// by __cuda_array_interface__ find one on the processor and on OpenCL, too.

#include <cstdint>

namespace catenary_python {

/// What the address of the processor's memory has added. No program has memory between it and kStandInsEnd, which
/// holds the numbers that OpenCL's memory is given, too.
inline constexpr std::uint64_t kStandIn = std::uint64_t{1} << 55, kOpenClStandIn = std::uint64_t{1} << 56,
                               kStandInsEnd = std::uint64_t{1} << 57;

/// Does CATENARY_CUDA_ARRAY_INTERFACE=1 ask for them?
bool gives_stand_ins();
/// From now on a program that reads or writes at such an address is told so, and ends with status 1.
void watch_stand_ins();

}  // namespace catenary_python
