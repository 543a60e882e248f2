#pragma once
// GLM-4 (Zeng et al. 2024).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catenary/links/models/llama.h"

namespace catenary::links {

/// Options of Glm. The defaults are GLM-4's with 9 billion weights.
struct GlmOptions {
  std::int64_t vocabulary = 151552, context = 131072, width = 4096, layers = 40, heads = 32, groups = 2;
  std::int64_t hidden = 13696;                 ///< of the layers between residual sums
  std::optional<std::int64_t> head_size = {};  ///< width / heads when not given
  double epsilon = 1.5625e-7;                  ///< of normalizations
  double base = 10000;                         ///< of rotary positions
  std::optional<std::int64_t> turned = {};     ///< elements of a head that positions turn; half of them when not given
  std::vector<double> rates = {};              ///< of positions, in place of those of base: RotaryOptions.rates
  bool qkv_bias = true;                        ///< of the projections to queries, keys and values
  bool tied = false;                           ///< are the embeddings the last layer's weights?
  bool norm_after = false;                     ///< normalization of what is added, too (GLM-4-0414)
};
/// A Llama of which positions turn a part of each head, in pairs of neighbours.
class CT_API Glm : public Llama {
 public:
  /// Throws ValueError as Llama does.
  explicit Glm(const GlmOptions& options = {});
  std::string type_name() const override { return "Glm"; }
};

}  // namespace catenary::links
