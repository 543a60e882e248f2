#pragma once
// A product of matrices as BLAS describes it.

#include <cstdint>
#include <optional>
#include <string>

#include "catenary/device/primitives.h"

namespace catenary::gpu {

/// c[m, n] = (c +) op(a)[m, k] op(b)[k, n] (+ bias), `batch` times. Matrices are stored by columns, `ld` elements from
/// one to the next; op transposes where the matrix says so. Everything fits in 32 bits but offsets and strides.
struct Gemm {
  struct Matrix {
    void* handle = nullptr;
    std::int64_t offset = 0;  ///< in elements
    std::int64_t ld = 1;
    std::int64_t stride = 0;  ///< from one matrix of the batch to the next
    bool transposed = false;
  };

  Dtype dtype = Dtype::float32;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Matrix a, b, c;
  bool accumulate = false;
  const View* bias = nullptr;
  bool bias_along_m = false;  ///< an element for each row of c; else for each column

  /// The address of a matrix in memory that has addresses.
  void* address(const Matrix& x) const {
    return static_cast<char*>(x.handle) + x.offset * static_cast<std::int64_t>(itemsize(dtype));
  }
};

/// A product in that form; nothing where BLAS knows no such product (neither rows nor columns of a
/// matrix are contiguous, or they overlap), or where there is nothing to multiply.
std::optional<Gemm> as_gemm(const primitives::Matmul& product);

/// Do a, b and c begin at multiples of 16 bytes, and step by them from column to column and from matrix to matrix?
/// In memory that has addresses.
bool is_aligned(const Gemm& gemm);
/// What is said where they do not.
constexpr const char* kNotAligned = "alignment: not all operands begin at multiples of 16 bytes and step by them";

/// For messages.
std::string describe(const Gemm& gemm);

}  // namespace catenary::gpu
