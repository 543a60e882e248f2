#pragma once
// Private to the CPU backend: what gemm.cpp asks of gemm_kernel.simd.cpp, one thread's work each.

#include <cstddef>
#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/core/dtype.h"

namespace catenary::cpu {

/// C[i, j] = sum over p of A[i, p] B[p, j] (+ C[i, j]) (+ bias_n[j]) (+ bias_m[i]); strides in elements.
template <class T>
struct GemmArgs {
  std::int64_t m, n, k;
  const T* a;
  std::int64_t a_rs, a_cs;
  const T* b;
  std::int64_t b_rs, b_cs;
  T* c;
  std::int64_t c_rs, c_cs;
  const T* bias_n;
  const T* bias_m;
  bool accumulate;
};

/// One level's float products. The micro-tiles of C are mr × nr.
struct GemmTiling {
  std::int64_t mr, nr;
};
/// A grid of tm × tn parts of C, in whole micro-tiles, for at most `threads` threads: the one that is done first, given
/// that a packed element costs about as much as 8 multiplications.
struct GemmGrid {
  GemmGrid(std::int64_t rows, std::int64_t columns, GemmTiling tiling, std::int64_t threads);
  std::int64_t tm = 1, tn = 1;
};
/// Bytes of the second-level cache that products reckon with.
std::int64_t gemm_cache();
template <class T>
struct GemmLevel {
  GemmTiling tiling;
  /// Elements of scratch memory (aligned to 64 bytes) that `blocked` needs. `cache` is the second-level cache's size in
  /// bytes.
  std::int64_t (*scratch)(const GemmArgs<T>&, std::int64_t cache);
  /// Any product.
  void (*blocked)(const GemmArgs<T>&, std::int64_t cache, T* scratch);
  /// Small products whose C and B have unit column strides, read where they lie.
  void (*direct)(const GemmArgs<T>&);
  /// Few columns: a_cs = 1 and b_rs = 1; or a_rs = 1 and n = 1.
  void (*thin)(const GemmArgs<T>&);
};

/// A product of integers that wrap around, or of bools: any(a and b).
struct IntegerGemm {
  std::int64_t m, n, k;
  const void* a;
  std::int64_t a_rs, a_cs;
  const void* b;
  std::int64_t b_rs, b_cs;
  void* c;
  std::int64_t c_rs, c_cs;
  const void* bias_n;
  const void* bias_m;
  bool accumulate;
};

CT_SIMD_DECLARE(extern const GemmLevel<float> gemm_float; extern const GemmLevel<double> gemm_double;
                // A and B are of `from`, C and the biases of `to`: the same, or int32 for 8-bit integers.
                void gemm_integer(const IntegerGemm&, Dtype from, Dtype to);
                // n float16 (bfloat16) as float32, and float32 rounded to them.
                void widen(const std::uint16_t* x, float* y, std::int64_t n, bool bfloat);
                void narrow(const float* x, std::uint16_t* y, std::int64_t n, bool bfloat);)

}  // namespace catenary::cpu
