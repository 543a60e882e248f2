#pragma once
// Attention, as transformers use it.

#include <cstdint>
#include <optional>
#include <vector>

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"

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
CT_FIELDS(AttentionOptions, mask, causal, first, window, scale, dropout)

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
  /// What each pair is turned by from one position to the next: dims / 2 numbers; base's when there are none.
  std::vector<double> rates = {};
};
CT_FIELDS(RotaryOptions, base, dims, interleaved, rates)
/// How a model that has learnt with a shorter context turns pairs.
struct RotaryScaling {
  double factor = 1;  ///< by which pairs are turned more slowly
  /// The context that the model has learnt with. When given, a pair that turns around in less than learnt / high
  /// positions keeps its rate, one that takes more than learnt / low is turned more slowly, and between them the rate
  /// goes from one to the other (Llama 3). Else all are turned more slowly (Chen et al. 2023).
  std::optional<std::int64_t> learnt = {};
  double low = 1, high = 4;
};
/// Rates for RotaryOptions: base^(-2 i / dims) for pair i of dims / 2, scaled. Throws ValueError for a factor that is
/// not positive and for low and high that are not in order.
CT_API std::vector<double> rotary_rates(std::int64_t dims, double base, const RotaryScaling& scaling = {});
/// x [axes…, L, E] with pairs of its last axis turned: pair i of dims / 2 by positions[l] rates[i]. Positions
/// are integers or floats of shape [L] or what broadcasts to x's axes but the last. Two-dimensional positions (GLM) are
/// two calls, one for each half of the last axis. Angles are float32 at least, the result has x's dtype. Throws
/// ShapeError, ValueError for dims that are odd or beyond E and rates that are not one a pair, DtypeError for x that is
/// not floating. (Su et al. 2021)
CT_API Variable rotary_embedding(const Variable& x, const Array& positions, const RotaryOptions& options = {});

}  // namespace catenary::functions
