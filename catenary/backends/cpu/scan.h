#pragma once
// Running sums and their kin along one axis.

#include "catenary/backends/cpu/view.h"
#include "catenary/core/export.h"

namespace catenary::cpu {

/// What a scan accumulates: `numpy.cumsum`, `cumprod`, `maximum.accumulate`, `minimum.accumulate`,
/// `logaddexp.accumulate`.
enum class ScanOp { sum, product, maximum, minimum, logaddexp };

/// dst[…, i, …] = src[…, 0, …] op … op src[…, i, …] along `axis`, from the first element to the last, one after the
/// other as NumPy does. src is cast to dst's dtype first; the accumulator has that dtype (float32 for 16-bit floats,
/// and rounded only when stored). Integers wrap; maximum and minimum hand on NaN; bool adds by or and multiplies by
/// and. dst may be src itself. Throws ShapeError where shapes differ or `axis` does not exist, DtypeError for logaddexp
/// into a dtype that is not floating.
CT_API void scan(ScanOp op, const StridedView& dst, const StridedView& src, std::int64_t axis);

}  // namespace catenary::cpu
