#pragma once
// Copies and casts between views of any strides.

#include "catenary/backends/cpu/view.h"
#include "catenary/core/export.h"

namespace catenary::cpu {

/// Copies `src` to `dst` of equal shape and casts if the dtypes differ (NumPy's `copyto` with `astype`'s casts). Floats
/// are truncated to integers, integers wrap, bool is `!= 0`, and float64 is rounded once to the 16-bit floats. NaN and
/// values out of an integer's range give the result of a C cast on x86, on every machine. If both overlap, the result
/// is as if `src` had been copied first. Strides of `src` may be 0; strides of `dst` may be 0 only along axes of size
/// 1. Throws ShapeError if the shapes differ. `stream` means that dst is part of an array larger than the caches.
CT_API void strided_copy(const StridedView& dst, const StridedView& src, bool stream = false);

/// Casts n contiguous elements.
CT_API void cast(void* dst, Dtype dst_dtype, const void* src, Dtype src_dtype, std::int64_t n);

}  // namespace catenary::cpu
