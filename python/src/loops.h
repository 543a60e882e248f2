#pragma once
// Loops on the processor behind functions that only the Python package has: connected components, filters with
// feedback, sparse matrices, splines, ufunc.reduceat. Each function takes C-ordered arrays and returns None for arrays
// of another device or dtype. The callers then compute by array operations, which run in parallel on every device.

#include <complex>
#include <initializer_list>
#include <type_traits>

#include "bind.h"

namespace catenary_python {

/// Are all arrays C-ordered, on the processor?
inline bool on_host(std::initializer_list<const Array*> arrays) {
  for (const Array* const a : arrays)
    if (!a->device().is_cpu() || !a->is_contiguous()) return false;
  return true;
}

/// Calls f with a value of the dtype's type, for int8 to uint64 and float32 to complex128. Returns false for other
/// dtypes.
template <class F>
bool visit_number(Dtype dtype, const F& f) {
  if (dtype == Dtype::complex64) return f(std::complex<float>()), true;
  if (dtype == Dtype::complex128) return f(std::complex<double>()), true;
  return ct::visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
    if constexpr (is_number) f(zero);
    return is_number;
  });
}

void register_filter_loops(nb::module_& m);
void register_label_loops(nb::module_& m);
void register_sparse_loops(nb::module_& m);
void register_spline_loops(nb::module_& m);
void register_stretch_loops(nb::module_& m);

}  // namespace catenary_python
