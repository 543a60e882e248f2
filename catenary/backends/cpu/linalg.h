#pragma once
// Small dense linear algebra on stacks of C-ordered matrices, float or double, as primitives::Linalg wants it.

#include <cstdint>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::cpu {

/// out[i] = lower triangular L with L Lᵀ = a[i], zeros above; reads a's lower triangles. a, out: (batch, n, n). ok[i]
/// is false for a matrix that is not positive definite.
template <class T>
void cholesky(T* out, const T* a, std::int64_t batch, std::int64_t n, std::vector<bool>& ok);

/// LU with partial pivoting: U, and below the diagonal L without its ones; row i was exchanged with row pivots[i] (n
/// each). ok[i] is false for a matrix with a pivot that is 0; its factors are still written.
template <class T>
void lu(T* out, std::int32_t* pivots, const T* a, std::int64_t batch, std::int64_t n, std::vector<bool>& ok);

/// a[i] out[i] = b[i]; b, out: (batch, n, k).
template <class T>
void solve(T* out, const T* a, const T* b, std::int64_t batch, std::int64_t n, std::int64_t k, std::vector<bool>& ok);

/// out[i] = inverse of a[i].
template <class T>
void inv(T* out, const T* a, std::int64_t batch, std::int64_t n, std::vector<bool>& ok);

/// out: (batch, 3): determinant, its sign (-1, 0, 1), logarithm of its absolute value.
template <class T>
void det(T* out, const T* a, std::int64_t batch, std::int64_t n);

#define CT_LINALG_DECLARE(T)                                                                                   \
  extern template CT_API void cholesky(T*, const T*, std::int64_t, std::int64_t, std::vector<bool>&);          \
  extern template CT_API void lu(T*, std::int32_t*, const T*, std::int64_t, std::int64_t, std::vector<bool>&); \
  extern template CT_API void solve(T*, const T*, const T*, std::int64_t, std::int64_t, std::int64_t,          \
                                    std::vector<bool>&);                                                       \
  extern template CT_API void inv(T*, const T*, std::int64_t, std::int64_t, std::vector<bool>&);               \
  extern template CT_API void det(T*, const T*, std::int64_t, std::int64_t);
CT_LINALG_DECLARE(float)
CT_LINALG_DECLARE(double)
#undef CT_LINALG_DECLARE

}  // namespace catenary::cpu
