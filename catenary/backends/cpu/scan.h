#pragma once
// Running totals along one axis.

#include "catenary/backends/cpu/view.h"
#include "catenary/core/export.h"
#include "catenary/device/primitives.h"

namespace catenary::cpu {

/// dst[…, i, …] = src[…, 0, …] op … op src[…, i, …] along `axis`, from the first element to the last, one after the
/// other as NumPy does. src is cast to dst's dtype first; the accumulator has that dtype (float32 for 16-bit floats,
/// and rounded only when stored). Integers wrap; bool adds by or and multiplies by and. dst may be src itself. Throws
/// ShapeError where shapes differ or `axis` does not exist.
CT_API void scan(ScanOp op, const StridedView& dst, const StridedView& src, std::int64_t axis);

}  // namespace catenary::cpu
