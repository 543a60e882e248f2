#pragma once
// Cumulative operations along one axis.

#include "catenary/backends/cpu/view.h"
#include "catenary/core/export.h"
#include "catenary/device/primitives.h"

namespace catenary::cpu {

/// dst[…, i, …] = src[…, 0, …] op … op src[…, i, …] along `axis`, in order from the first element to the last, as in
/// NumPy. src is cast to dst's dtype first. The accumulator has that dtype, or float32 for 16-bit floats, which are
/// rounded only when stored. Integers wrap. For bool, add is `or` and multiply is `and`. dst may be src. Throws
/// ShapeError if shapes differ or `axis` does not exist.
CT_API void scan(ScanOp op, const StridedView& dst, const StridedView& src, std::int64_t axis);

}  // namespace catenary::cpu
