#pragma once
// Private to the library: stacks of matrices in host memory, where array/factor.h decomposes them one by one.

#include <complex>

#include "catenary/array/array.h"
#include "catenary/array/factor.h"
#include "catenary/core/parallel.h"

namespace catenary::detail {

/// A copy of the elements in host memory, C-ordered and float64 or complex128.
Array host_copy(const Array& a, Dtype dtype);
/// An array without values there.
Array host_array(const Shape& shape, Dtype dtype = Dtype::float64);

/// The distance from 1 to the next number, of results that are float32 or complex64, or else of float64.
double epsilon_of(Dtype dtype);

/// Matrix i of a stack in host memory.
template <class T>
factor::Matrix<T> matrix_of(const Array& stack, std::int64_t i) {
  const std::int64_t rows = stack.shape(1), columns = stack.shape(2);
  return {stack.mutable_data<T>() + i * rows * columns, rows, columns};
}

/// A stack of matrices as [batch, m, n] in host memory, and how results go back to where it came from.
struct HostStack {
  Array matrices;  ///< a copy, float64 or complex128
  Shape outer;     ///< the axes before the last two
  Dtype result;
  Device device;
  std::int64_t batch, m, n, k;

  /// Of the dtype that a and `other` have in common. Throws ShapeError unless a has two axes, DtypeError for 16 bits.
  HostStack(const Array& a, const char* what, Dtype other = Dtype::bool_);
  /// Hermitian matrices of the lower triangles.
  void symmetrise(const char* what);
  /// The result's dtype for numbers that were computed as `host`'s dtype: a part's where they are real.
  Dtype result_of(const Array& host) const { return is_complex(host.dtype()) ? result : part_dtype(result); }
  /// [batch, …] on the stack's device, with the axes of the stack.
  Array back(const Array& host) const { return back(host, result_of(host)); }
  Array back(const Array& host, Dtype dtype) const;
  /// Calls f(T(), i) for each matrix, T being double or std::complex<double>, some at a time.
  template <class F>
  void each(const F& f) const {
    parallel_for(batch, 1, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i)
        is_complex(matrices.dtype()) ? f(std::complex<double>(), i) : f(double(), i);
    });
  }
};

}  // namespace catenary::detail
