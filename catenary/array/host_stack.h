#pragma once
// Private to the library: stacks of matrices in host memory, which array/factor.h decomposes one by one.

#include <complex>

#include "catenary/array/array.h"
#include "catenary/array/factor.h"
#include "catenary/core/parallel.h"

namespace catenary::detail {

/// Returns a C-ordered copy of the elements in host memory, as float64 or complex128.
Array host_copy(const Array& a, Dtype dtype);
/// Returns an uninitialised array in host memory.
Array host_array(const Shape& shape, Dtype dtype = Dtype::float64);

/// Returns the machine epsilon of results in `dtype`: that of float32 for float32 and complex64, else that of float64.
double epsilon_of(Dtype dtype);

/// Returns matrix i of a stack in host memory.
template <class T>
factor::Matrix<T> matrix_of(const Array& stack, std::int64_t i) {
  const std::int64_t rows = stack.shape(1), columns = stack.shape(2);
  return {stack.mutable_data<T>() + i * rows * columns, rows, columns};
}

/// A stack of matrices as [batch, m, n] in host memory, with functions that return results to its device.
struct HostStack {
  Array matrices;  ///< a copy, as float64 or complex128
  Shape outer;     ///< the axes before the last two
  Dtype result;
  Device device;
  std::int64_t batch, m, n, k;

  /// Copies a to the host; results have the common dtype of a and `other`. Throws ShapeError if a has fewer than two
  /// axes, DtypeError for 16-bit floats.
  HostStack(const Array& a, const char* what, Dtype other = Dtype::bool_);
  /// Replaces the matrices by the Hermitian matrices with their lower triangles.
  void symmetrise(const char* what);
  /// Returns the dtype of a result that was computed as `host`: the real part's dtype for real numbers.
  Dtype result_of(const Array& host) const { return is_complex(host.dtype()) ? result : part_dtype(result); }
  /// Copies a result [batch, …] to the stack's device and restores the axes of the stack.
  Array back(const Array& host) const { return back(host, result_of(host)); }
  Array back(const Array& host, Dtype dtype) const;
  /// Calls f(T(), i) for each matrix i, in parallel. T is double or std::complex<double>.
  template <class F>
  void each(const F& f) const {
    parallel_for(batch, 1, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i)
        is_complex(matrices.dtype()) ? f(std::complex<double>(), i) : f(double(), i);
    });
  }
};

}  // namespace catenary::detail
