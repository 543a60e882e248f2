#pragma once
// Attention functions of transformers.

#include <cstdint>
#include <optional>
#include <vector>

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"

namespace catenary::functions {

/// Options of scaled_dot_product_attention.
struct AttentionOptions {
  /// Broadcasts to [batch axes…, heads, L, S]. A bool mask hides keys where it is false. A mask of q's dtype is added
  /// to the scores (-inf hides a key).
  Variable mask = {};
  /// Query i sees the keys up to index `first` + i. With keys cached from earlier calls, `first` is their number.
  bool causal = false;
  std::int64_t first = 0;
  /// With causal, query i sees only the last `window` of its keys, including its own. 0 for all.
  std::int64_t window = 0;
  /// Factor of the scores, 1 / sqrt(E) by default.
  std::optional<double> scale = {};
  /// Probability of setting a weight to 0 in training (config.train). The others are multiplied by 1 / (1 - dropout).
  double dropout = 0;
};
CT_FIELDS(AttentionOptions, mask, causal, first, window, scale, dropout)

/// Computes softmax(scale q kᵀ + mask) v for each head: q [batch axes…, H, L, E], k [batch axes…, G, S, E] and v [batch
/// axes…, G, S, F] give [batch axes…, H, L, F]. H must be a multiple of G: groups of H / G heads share keys and values.
/// Without batch axes and heads q is [L, E]. A query without visible keys gives zeros. 16-bit floats are summed in
/// float32. Never stores a matrix of L × S, except with dropout, for a mask with gradient, and when gradients are
/// differentiated again. Throws ShapeError, DtypeError for different or non-floating dtypes, and ValueError for a
/// window without causal or a dropout outside [0, 1). (torch.nn.functional.scaled_dot_product_attention) (Vaswani et
/// al. 2017) (grouped queries: Ainslie et al. 2023)
CT_API Variable scaled_dot_product_attention(const Variable& q, const Variable& k, const Variable& v,
                                             const AttentionOptions& options = {});

/// Options of rotary_embedding.
struct RotaryOptions {
  double base = 10000;
  /// How many elements of the last axis are rotated, from the first on. By default all.
  std::optional<std::int64_t> dims = {};
  /// Pairs are adjacent elements (0, 1), (2, 3), … (GPT-J, GLM). Otherwise they are dims / 2 apart (GPT-NeoX, Llama).
  bool interleaved = false;
  /// Angle of each pair per position, dims / 2 numbers. Computed from base if empty.
  std::vector<double> rates = {};
};
CT_FIELDS(RotaryOptions, base, dims, interleaved, rates)
/// How positions are scaled for a longer context than the model was trained with.
struct RotaryScaling {
  double factor = 1;  ///< divides the rates
  /// The context that the model was trained with. If given, pairs with a wavelength below learnt / high keep their
  /// rate, pairs with a wavelength above learnt / low are scaled, and rates between are interpolated (Llama 3).
  /// Otherwise all pairs are scaled (Chen et al. 2023).
  std::optional<std::int64_t> learnt = {};
  double low = 1, high = 4;
};
/// Returns rates for RotaryOptions: base^(-2 i / dims) for pair i of dims / 2, scaled. Throws ValueError unless factor
/// is positive and low and high are in order.
CT_API std::vector<double> rotary_rates(std::int64_t dims, double base, const RotaryScaling& scaling = {});
/// Rotates pairs of the last axis of x [axes…, L, E]: pair i of dims / 2 by positions[l] rates[i]. Positions are
/// integers or floats of shape [L], or of any shape that broadcasts to x's axes but the last. For two-dimensional
/// positions (GLM) call it once for each half of the last axis. Angles are float32 at least, and the result has x's
/// dtype. Throws ShapeError, ValueError for dims that are odd or exceed E and for a wrong number of rates, and
/// DtypeError for a non-floating x. (Su et al. 2021)
CT_API Variable rotary_embedding(const Variable& x, const Array& positions, const RotaryOptions& options = {});

}  // namespace catenary::functions
