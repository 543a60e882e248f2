#pragma once
// Private to the CPU backend: the work of one thread, called by gemm.cpp and implemented in gemm_kernel.simd.cpp.

#include <cstddef>
#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/core/dtype.h"
#include "catenary/core/half.h"

namespace catenary::cpu {

/// C[i, j] = sum over p of A[i, p] B[p, j] (+ C[i, j]) (+ bias_n[j]) (+ bias_m[i]), with strides in elements. Sums have
/// type T. Elements in memory have type E: T, or a 16-bit float that is widened while reading. Elements of C and the
/// biases have type R and are rounded once.
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

/// Tiling of one level's float products. The micro-tiles of C are mr × nr.
struct GemmTiling {
  std::int64_t mr, nr;
};
/// Divides C into tm × tn parts of whole micro-tiles for at most `threads` threads. Chooses the fastest division,
/// assuming that packing an element costs about as much as 8 multiplications.
struct GemmGrid {
  GemmGrid(std::int64_t rows, std::int64_t columns, GemmTiling tiling, std::int64_t threads);
  std::int64_t tm = 1, tn = 1;
};
/// Largest side of a product that is not worth packing.
constexpr std::int64_t kSmallSide = 32;
/// Returns the size in bytes of the L2 cache that products assume.
std::int64_t gemm_cache();
template <class T>
struct GemmLevel {
  using Scratch = T;
  GemmTiling tiling;
  /// Returns the elements of scratch memory (aligned to 64 bytes) that `blocked` needs. `cache` is the size of the L2
  /// cache in bytes.
  std::int64_t (*scratch)(const GemmArgs<T>&, std::int64_t cache);
  /// Computes any product.
  void (*blocked)(const GemmArgs<T>&, std::int64_t cache, T* scratch);
  /// Computes small products in place. C and B must have unit column strides.
  void (*direct)(const GemmArgs<T>&);
  /// Computes products with few columns: a_cs = 1 and b_rs = 1, or a_rs = 1 and n = 1.
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
  /// With at least this many columns, `blocked` reads rows in place faster than `thin` does if their length is a
  /// multiple of `row_step`.
  std::int64_t columns_in_place, row_step;
  /// Returns the bytes of scratch memory (aligned to 64) that `blocked` needs.
  std::int64_t (*scratch)(const GemmArgs<float, E>&, std::int64_t cache);
  /// Computes any product; `wide` computes any product with float32 results.
  void (*blocked)(const GemmArgs<float, E>&, std::int64_t cache, char* scratch);
  BlockedLevel<GemmArgs<float, E, float>> wide;
  /// Computes products with no side above kSmallSide.
  void (*small)(const GemmArgs<float, E>&);
  /// Computes products with few columns: a_cs = 1 and b_rs = 1, or a_rs = 1 and n = 1.
  void (*thin)(const GemmArgs<float, E>&);
};

/// A product of integers, which wrap, or of bools: any(a and b).
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
                // A and B have dtype `from`, C and the biases `to`: equal dtypes, or int32 for 8-bit integers.
                void gemm_integer(const IntegerGemm&, Dtype from, Dtype to);
                extern const HalfLevel<float16> gemm_float16; extern const HalfLevel<bfloat16> gemm_bfloat16;
                // Convert n elements from float16 or bfloat16 to float32, and back with rounding.
                void widen(const float16*, float*, std::int64_t n); void widen(const bfloat16*, float*, std::int64_t n);
                void narrow(const float*, float16*, std::int64_t n);
                void narrow(const float*, bfloat16*, std::int64_t n);)

#if defined(__x86_64__) && !defined(CT_SIMD_NO_V4)
namespace simd_v4 {
// Two products per lane and instruction: AVX512_BF16's dot products, and AMX's tiles.
extern const HalfLevel<bfloat16> gemm_bfloat16_avx512, gemm_bfloat16_amx;
// For float32 in three pieces, by AMX.
extern const BlockedLevel<GemmArgs<float>> gemm_float_amx;
}  // namespace simd_v4
#endif

}  // namespace catenary::cpu
