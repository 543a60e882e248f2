#pragma once
// Private to the CPU backend: the work of one thread, called by attention.cpp and implemented in attention.simd.cpp.
// Scores are computed tile by tile, so memory grows with the sum, not the product, of the numbers of queries and keys.

#include <algorithm>
#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/core/half.h"

namespace catenary::cpu {

/// Maximum number of queries for `few`, over all heads that share keys.
inline constexpr std::int64_t kFewQueries = 16;

/// An array [batch, head, row, column] of any strides.
template <class E>
struct HeadRows {
  E* data;
  std::int64_t batch, head, row, column;  ///< strides in elements
  [[gnu::always_inline]] HeadRows at(std::int64_t b, std::int64_t h) const {
    return {data + b * batch + h * head, batch, head, row, column};
  }
};

/// Elements have type E, sums type T. See primitives::Attention.
template <class T, class E>
struct AttentionArgs {
  std::int64_t batches, heads, groups, queries, keys, depth, width;
  HeadRows<const E> q, k, v;
  HeadRows<E> y;  ///< the gradient only reads it
  T* sums;        ///< [batches, heads, queries]
  enum class Mask { none, flags, numbers } mask_kind = Mask::none;
  HeadRows<const E> mask{};  ///< flags are bytes
  T scale;
  bool causal;
  std::int64_t first, window;

  // Arguments of the gradient.
  HeadRows<const E> gy{};
  HeadRows<E> gk{}, gv{};
  T* gq = nullptr;  ///< [parts, batches, heads, queries, depth], gradient of the scaled queries

  [[gnu::always_inline]] std::int64_t sharing() const { return heads / groups; }
  /// Query i may see the keys [first_key(i), last_key(i)). Both bounds grow with i.
  [[gnu::always_inline]] std::int64_t last_key(std::int64_t i) const {
    return causal ? std::clamp<std::int64_t>(first + i + 1, 0, keys) : keys;
  }
  [[gnu::always_inline]] std::int64_t first_key(std::int64_t i) const {
    return window > 0 ? std::clamp<std::int64_t>(first + i + 1 - window, 0, last_key(i)) : 0;
  }
};

template <class T, class E>
struct AttentionLevel {
  /// Number of queries of a head for one thread at a time; the gradient may be split at multiples of `keys` keys.
  std::int64_t queries, keys;
  /// Elements of scratch memory, aligned to 64 bytes, for each function below.
  std::int64_t (*forward_scratch)(const AttentionArgs<T, E>&);
  std::int64_t (*few_scratch)(const AttentionArgs<T, E>&);
  std::int64_t (*backward_scratch)(const AttentionArgs<T, E>&);
  /// Computes queries [i0, i1), at most `queries`, of head h.
  void (*forward)(const AttentionArgs<T, E>&, std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t i1,
                  T* scratch);
  /// Computes all queries of the heads that share the keys of group g. For few queries: reads keys and values in place.
  void (*few)(const AttentionArgs<T, E>&, std::int64_t b, std::int64_t g, T* scratch);
  /// Computes the gradients of keys [j0, j1) of group g, and their contributions to the gradients of all its queries,
  /// in `gq`.
  void (*backward)(const AttentionArgs<T, E>&, std::int64_t b, std::int64_t g, std::int64_t j0, std::int64_t j1, T* gq,
                   T* scratch);
};

/// `forward` for bfloat16 on a matrix unit (attention_tiles.simd.cpp).
struct AttentionTiles {
  std::int64_t queries;
  std::int64_t (*scratch)(const AttentionArgs<float, bfloat16>&);
  void (*forward)(const AttentionArgs<float, bfloat16>&, std::int64_t b, std::int64_t h, std::int64_t i0,
                  std::int64_t i1, float* scratch);
};

#define CT_ATTENTION_LEVELS                                      \
  extern const AttentionLevel<float, float> attention_float32;   \
  extern const AttentionLevel<double, double> attention_float64; \
  extern const AttentionLevel<float, float16> attention_float16; \
  extern const AttentionLevel<float, bfloat16> attention_bfloat16;
CT_SIMD_DECLARE(CT_ATTENTION_LEVELS)

#if defined(__x86_64__) && !defined(CT_SIMD_NO_V4)
namespace simd_v4 {
extern const AttentionTiles attention_tiles;
}  // namespace simd_v4
#endif

}  // namespace catenary::cpu
