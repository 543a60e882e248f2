#pragma once
// NCCL and RCCL, as an ability of the CUDA and the HIP backend.

#include <memory>
#include <vector>

#include "catenary/backends/gpu/context.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/device/collectives.h"

namespace catenary::gpu {

/// The oldest version that is taken: the first one whose calls need not wait for other ranks.
inline constexpr int kOldestNccl = 21400;

/// "2.27.3" for the number that ncclGetVersion gives; before 2.9 it was made another way.
CT_API std::string nccl_version(int number);

/// RCCL, for `catenary doctor` too.
CT_API const RocmLibrary& rccl();

/// For the devices of these contexts, which live as long as it does.
std::unique_ptr<DeviceCollectives> make_nccl(bool hip, const std::vector<std::unique_ptr<Context>>& contexts);

}  // namespace catenary::gpu
