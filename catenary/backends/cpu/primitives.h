#pragma once
// Private: the primitives on the CPU.

#include "catenary/backends/cpu/view.h"
#include "catenary/device/primitives.h"

namespace catenary::cpu {

using namespace primitives;  // NOLINT: all files here use these names

/// Computes a primitive. Each is defined in the file of its kind, so a missing one is a linker error.
template <class P>
void compute(const P& primitive);

inline StridedView strided(const View& view) { return {view.data(), view.dtype, view.shape, view.strides}; }
inline const std::int64_t* indices_of(const View& view) { return static_cast<const std::int64_t*>(view.data()); }

/// Rows along the last axis of a C-contiguous view.
struct Rows {
  explicit Rows(const View& view)
      : n(view.shape.empty() ? 1 : view.shape.back()), count(n ? view.size() / n : 0), data(view.data()) {}
  std::int64_t n, count;
  void* data;
};

}  // namespace catenary::cpu
