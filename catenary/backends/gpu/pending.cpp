#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/error.h"

namespace catenary::gpu {

void take(Context&, const View&, const View&, const View&, IndexMode) { throw DeviceError("pending"); }
void gather(Context&, const View&, const std::vector<View>&, const View&) { throw DeviceError("pending"); }
void scatter(Context&, const View&, const std::vector<View>&, const View&, ScatterMode) {
  throw DeviceError("pending");
}
void arg_reduce(Context&, bool, const View&, int, const View&) { throw DeviceError("pending"); }
std::vector<std::int64_t> nonzero(Context&, const View&) { throw DeviceError("pending"); }
void scan(Context&, Scan, const View&, int, const View&) { throw DeviceError("pending"); }
void searchsorted(Context&, const View&, const View&, bool, const View&) { throw DeviceError("pending"); }

}  // namespace catenary::gpu
