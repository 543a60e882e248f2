#pragma once
// Attention, as transformers use it.

#include <cstdint>
#include <optional>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// Options of scaled_dot_product_attention.
struct AttentionOptions {
  /// Broadcast to [batch axes…, heads, L, S]: bool, where false is not seen, or of q's dtype, added to the scores (-inf
  /// is not seen).
  Variable mask = {};
  /// Query i sees the keys up to `first` + i. With keys that are kept from earlier calls `first` is their number.
  bool causal = false;
  std::int64_t first = 0;
  /// With causal: query i sees the last so many of its keys, itself among them; 0 for all.
  std::int64_t window = 0;
  /// What scores are multiplied by; 1 / sqrt(E) when not given.
  std::optional<double> scale = {};
  /// The probability with which a weight is 0 in training (config.train), the others being scaled by 1 / (1 - dropout).
  double dropout = 0;
};

/// softmax(scale q kᵀ + mask) v, for each head: q [batch axes…, H, L, E], k [batch axes…, G, S, E] and v [batch axes…,
/// G, S, F] give [batch axes…, H, L, F]. H is a multiple of G, and each H / G heads share keys and values; without
/// batch axes and heads q is [L, E]. A query that sees no key gives zeros. Sums are float32 for 16-bit floats. No
/// matrix of L × S is in memory, but with dropout, for a mask that wants a gradient, and where gradients are
/// differentiated again. Throws ShapeError, DtypeError for dtypes that differ or are not floating, ValueError for a
/// window without causal and a dropout outside of [0, 1). (torch.nn.functional.scaled_dot_product_attention; Vaswani et
/// al. 2017; heads that share keys: Ainslie et al. 2023)
CT_API Variable scaled_dot_product_attention(const Variable& q, const Variable& k, const Variable& v,
                                             const AttentionOptions& options = {});

/// Options of rotary_embedding.
struct RotaryOptions {
  double base = 10000;
  /// How many of the last axis's elements are turned, from the first on; all when not given.
  std::optional<std::int64_t> dims = {};
  /// Are pairs neighbours (0, 1), (2, 3), … (GPT-J, GLM)? Else they are half of dims apart (GPT-NeoX, Llama).
  bool interleaved = false;
};
/// x [axes…, L, E] with pairs of its last axis turned: pair i of dims / 2 by positions[l] base^(-2 i / dims). Positions
/// are integers or floats of shape [L] or what broadcasts to x's axes but the last. Two-dimensional positions (GLM) are
/// two calls, one for each half of the last axis. Angles are float32 at least, the result has x's dtype. Throws
/// ShapeError, ValueError for dims that are odd or beyond E, DtypeError for x that is not floating. (Su et al. 2021)
CT_API Variable rotary_embedding(const Variable& x, const Array& positions, const RotaryOptions& options = {});

}  // namespace catenary::functions
