#pragma once
// Private to onnx/: attention, for the operators of ai.onnx and com.microsoft.

#include <functional>

#include "catenary/onnx/operators.h"

namespace catenary::onnx {

/// Arguments of attention: q [n, heads, L, E], k [n, groups, S, E], v [n, groups, S, F].
struct AttentionArguments {
  Variable q, k, v;
  F::AttentionOptions options = {};
  Variable sinks = {};                  ///< of the heads [heads]: a score in the denominator of the softmax
  double softcap = 0;                   ///< 0 for none
  std::optional<Dtype> precision = {};  ///< of the softmax
  /// Change the scores before the softmax, and its results [n, heads, L, S].
  std::function<Variable(const Variable&)> change_scores = {}, change_weights = {};
};

/// The matrix of each head that an operator returns besides the result, numbered as in ONNX.
enum class AttentionMatrix : int { products, capped, masked, weights };

struct Attended {
  Variable y;       ///< [n, heads, L, F]
  Variable matrix;  ///< [n, heads, L, S] if asked for
};
/// Computes attention by F::scaled_dot_product_attention, or by its parts if these arguments need it. Throws
/// ValueError.
Attended attend(const Call& c, const AttentionArguments& a, std::optional<AttentionMatrix> wanted = {});

/// Splits the last axis of x [n, L, heads E] into [n, heads, L, E], and back. Throws ValueError.
Variable split_heads(const Call& c, const Variable& x, std::int64_t heads);
Variable join_heads(const Variable& x);

/// How far from its own position a query sees keys. Negative for all.
struct Reach {
  std::int64_t before = -1, after = -1;
};
/// Returns the keys [n, 1, L, S] that queries see if sample i's first query is at position first[i].
Array keys_in_reach(const Array& first, std::int64_t L, std::int64_t S, const Reach& reach);
/// Returns a mask for attention that hides further keys. The mask may be undefined.
Variable also_masked(const Variable& mask, const Array& seen);

/// Rotates pairs of the last axis of x [n, heads, L, E] by angles with cosines and sines of shape [n, L, pairs].
Variable rotated(const Call& c, const Variable& x, const Variable& cosines, const Variable& sines, bool interleaved);

/// Returns a copy of cache [n, …, S, …] with the update at positions first[i] of `axis` for sample i, modulo S if
/// `circular`. Throws ValueError for positions outside the cache.
Variable written_to_cache(const Call& c, const Variable& cache, const Variable& update, const Integers& first, int axis,
                          bool circular = false);

}  // namespace catenary::onnx
