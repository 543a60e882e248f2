#pragma once
// Copies and casts between views of any strides.

#include "catenary/backends/cpu/view.h"
#include "catenary/core/export.h"

namespace catenary::cpu {

/// Copies `src` into `dst`, which has the same shape, casting where the dtypes differ (NumPy's `copyto` with `astype`'s
/// casts): floats go to integers by truncation, integers wrap, anything to bool by `!= 0`, float64 to the 16-bit floats
/// with one rounding. NaN and what is out of range of an integer give what x86 gives for a C cast, on every machine.
/// The two may overlap: the result is as if `src` had been copied away first. Strides of `src` may be 0; those of `dst`
/// may be 0 only along axes of extent 1. Throws ShapeError when the shapes differ. `stream`: dst is a part of what the
/// caches do not hold.
CT_API void strided_copy(const StridedView& dst, const StridedView& src, bool stream = false);

/// Casts n elements that lie side by side.
CT_API void cast(void* dst, Dtype dst_dtype, const void* src, Dtype src_dtype, std::int64_t n);

}  // namespace catenary::cpu
