#pragma once
// NCCL and RCCL, for the CUDA and the HIP backend.

#include <memory>
#include <vector>

#include "catenary/backends/gpu/context.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/device/collectives.h"

namespace catenary::gpu {

/// The oldest supported version: the first with non-blocking calls.
inline constexpr int kOldestNccl = 21400;

/// Returns "2.27.3" for a number from ncclGetVersion, whose encoding changed with 2.9.
CT_API std::string nccl_version(int number);

/// Returns RCCL, also for `catenary doctor`.
CT_API const RocmLibrary& rccl();

/// Makes collectives for the devices of these contexts, which must outlive the result.
std::unique_ptr<DeviceCollectives> make_nccl(bool hip, const std::vector<std::unique_ptr<Context>>& contexts);

}  // namespace catenary::gpu
