#pragma once
// GLM-4 (Zeng et al. 2024).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catenary/links/models/llama.h"

namespace catenary::links {

/// Options of Glm. The defaults are those of GLM-4 with 9 billion weights.
struct GlmOptions {
  std::int64_t vocabulary = 151552, context = 131072, width = 4096, layers = 40, heads = 32, groups = 2;
  std::int64_t hidden = 13696;                 ///< size of the hidden layer in each block
  std::optional<std::int64_t> head_size = {};  ///< by default width / heads
  double epsilon = 1.5625e-7;                  ///< added to variances in normalizations
  double base = 10000;                         ///< base of the rotary positions' wavelengths
  std::optional<std::int64_t> turned = {};     ///< rotated elements of each head, by default half of them
  std::vector<double> rates = {};              ///< replaces the rates computed from base: RotaryOptions.rates
  bool qkv_bias = true;                        ///< biases in the projections to queries, keys and values
  bool tied = false;                           ///< use the token embeddings as the last layer's weights
  bool norm_after = false;  ///< also normalize the results of attention and of the layers (GLM-4-0414)
};
/// A Llama whose positions rotate part of each head, in pairs of adjacent elements.
class CT_API Glm : public Llama {
 public:
  /// Throws ValueError like Llama's constructor.
  explicit Glm(const GlmOptions& options = {});
  std::string type_name() const override { return "Glm"; }

 protected:
  Model as_model() const override { return Model(*this); }
};

}  // namespace catenary::links
