#pragma once
// A product of matrices in BLAS's form.

#include <cstdint>
#include <optional>
#include <string>

#include "catenary/device/primitives.h"

namespace catenary::gpu {

/// c[m, n] = (c +) op(a)[m, k] op(b)[k, n] (+ bias), `batch` times. Matrices are stored by columns, `ld` elements
/// apart, and op transposes if the matrix is marked. Everything except offsets and strides fits 32 bits.
struct Gemm {
  struct Matrix {
    void* handle = nullptr;
    std::int64_t offset = 0;  ///< in elements
    std::int64_t ld = 1;
    std::int64_t stride = 0;  ///< distance between matrices of the batch
    bool transposed = false;
  };

  Dtype dtype = Dtype::float32;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Matrix a, b, c;
  bool accumulate = false;
  const View* bias = nullptr;
  bool bias_along_m = false;  ///< an element for each row of c, otherwise for each column

  /// Returns the address of a matrix, for devices whose handles are addresses.
  void* address(const Matrix& x) const {
    return static_cast<char*>(x.handle) + x.offset * static_cast<std::int64_t>(itemsize(dtype));
  }
};

/// Converts a product to this form. Returns nothing if BLAS cannot compute it (neither rows nor columns of a matrix are
/// contiguous, or they overlap), or if there is nothing to multiply.
std::optional<Gemm> as_gemm(const primitives::Matmul& product);

/// Returns whether a, b and c, their columns and their batches begin at multiples of 16 bytes. For devices whose
/// handles are addresses.
bool is_aligned(const Gemm& gemm);
/// The text for unaligned operands.
constexpr const char* kNotAligned = "alignment: not all operands begin at multiples of 16 bytes and step by them";

/// Describes the product, for messages.
std::string describe(const Gemm& gemm);

}  // namespace catenary::gpu
