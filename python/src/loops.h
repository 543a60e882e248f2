#pragma once
// Loops on the processor behind functions that only the Python package has: connected components, sparse matrices,
// splines, ufunc.reduceat. Each function takes C-ordered arrays and returns None for arrays of another device or dtype.
// The callers then compute by array operations, which run in parallel on every device.

#include <complex>
#include <initializer_list>

#include "bind.h"

namespace catenary_python {

/// Are all arrays C-ordered, on the processor?
inline bool on_host(std::initializer_list<const Array*> arrays) {
  for (const Array* const a : arrays)
    if (!a->device().is_cpu() || !a->is_contiguous()) return false;
  return true;
}

/// Calls f with a value of the dtype's type, for float32 to complex128. Returns false for other dtypes.
template <class F>
bool visit_inexact(Dtype dtype, const F& f) {
  switch (dtype) {
    case Dtype::float32:
      f(float());
      return true;
    case Dtype::float64:
      f(double());
      return true;
    case Dtype::complex64:
      f(std::complex<float>());
      return true;
    case Dtype::complex128:
      f(std::complex<double>());
      return true;
    default:
      return false;
  }
}

/// Calls f as visit_inexact(), also for int8 to uint64.
template <class F>
bool visit_number(Dtype dtype, const F& f) {
  switch (dtype) {
    case Dtype::int8:
      f(std::int8_t());
      return true;
    case Dtype::int16:
      f(std::int16_t());
      return true;
    case Dtype::int32:
      f(std::int32_t());
      return true;
    case Dtype::int64:
      f(std::int64_t());
      return true;
    case Dtype::uint8:
      f(std::uint8_t());
      return true;
    case Dtype::uint16:
      f(std::uint16_t());
      return true;
    case Dtype::uint32:
      f(std::uint32_t());
      return true;
    case Dtype::uint64:
      f(std::uint64_t());
      return true;
    default:
      return visit_inexact(dtype, f);
  }
}

void register_label_loops(nb::module_& m);
void register_sparse_loops(nb::module_& m);
void register_spline_loops(nb::module_& m);
void register_stretch_loops(nb::module_& m);

}  // namespace catenary_python
