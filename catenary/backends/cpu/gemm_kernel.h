#pragma once
// Private to the CPU backend: what gemm.cpp asks of gemm_kernel.simd.cpp, one thread's work each.

#include <cstddef>
#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/core/dtype.h"
#include "catenary/core/half.h"

namespace catenary::cpu {

/// C[i, j] = sum over p of A[i, p] B[p, j] (+ C[i, j]) (+ bias_n[j]) (+ bias_m[i]); strides in elements. Sums are T,
/// elements in memory E, which is T or a 16-bit float that is widened as it is read; those of C and the biases, R, are
/// rounded once.
template <class T, class E = T, class R = E>
struct GemmArgs {
  using Sum = T;
  using Element = E;
  using Result = R;
  std::int64_t m, n, k;
  const E* a;
  std::int64_t a_rs, a_cs;
  const E* b;
  std::int64_t b_rs, b_cs;
  R* c;
  std::int64_t c_rs, c_cs;
  const R* bias_n;
  const R* bias_m;
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
/// The largest side of a product that is not worth packing.
constexpr std::int64_t kSmallSide = 32;
/// Bytes of the second-level cache that products reckon with.
std::int64_t gemm_cache();
template <class T>
struct GemmLevel {
  using Scratch = T;
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

/// Any product of a kind.
template <class G>
struct BlockedLevel {
  using Scratch = char;
  GemmTiling tiling;
  std::int64_t (*scratch)(const G&, std::int64_t cache);  ///< bytes
  void (*blocked)(const G&, std::int64_t cache, char* scratch);
};

/// One level's products of a 16-bit float, summed in float32.
template <class E>
struct HalfLevel {
  using Scratch = char;
  GemmTiling tiling;
  /// From so many columns on, `blocked` reads rows where they lie faster than `thin` does, if their length is a
  /// multiple of `row_step`.
  std::int64_t columns_in_place, row_step;
  /// Bytes of scratch memory (aligned to 64) that `blocked` needs.
  std::int64_t (*scratch)(const GemmArgs<float, E>&, std::int64_t cache);
  /// Any product, and any whose result is float32.
  void (*blocked)(const GemmArgs<float, E>&, std::int64_t cache, char* scratch);
  BlockedLevel<GemmArgs<float, E, float>> wide;
  /// No side above kSmallSide.
  void (*small)(const GemmArgs<float, E>&);
  /// Few columns: a_cs = 1 and b_rs = 1; or a_rs = 1 and n = 1.
  void (*thin)(const GemmArgs<float, E>&);
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
                extern const HalfLevel<float16> gemm_float16; extern const HalfLevel<bfloat16> gemm_bfloat16;
                // n float16 or bfloat16 as float32, and float32 rounded to them.
                void widen(const float16*, float*, std::int64_t n); void widen(const bfloat16*, float*, std::int64_t n);
                void narrow(const float*, float16*, std::int64_t n);
                void narrow(const float*, bfloat16*, std::int64_t n);)

#if defined(__x86_64__) && !defined(CT_SIMD_NO_V4)
namespace simd_v4 {
// By pairs of products in one instruction: AVX512_BF16's dot products, and AMX's on tiles.
extern const HalfLevel<bfloat16> gemm_bfloat16_avx512, gemm_bfloat16_amx;
// Of float32 in three pieces each, by AMX.
extern const BlockedLevel<GemmArgs<float>> gemm_float_amx;
}  // namespace simd_v4
#endif

}  // namespace catenary::cpu
