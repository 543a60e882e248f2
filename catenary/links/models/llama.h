#pragma once
// Llama (Touvron et al. 2023) and what has its shape: Mistral, Qwen2.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catenary/links/connection.h"
#include "catenary/links/models/language_model.h"
#include "catenary/links/normalization.h"

namespace catenary::links {

/// Options of Llama. The defaults are Llama 2's with 7 billion weights.
struct LlamaOptions {
  std::int64_t vocabulary = 32000, context = 4096, width = 4096, layers = 32, heads = 32;
  std::int64_t hidden = 11008;  ///< of the layers between residual sums
  std::optional<std::int64_t> groups =
      {};  ///< of heads that share keys and values: their number; heads' when not given
  std::optional<std::int64_t> head_size = {};  ///< width / heads when not given
  double epsilon = 1e-5;                       ///< of normalizations
  functions::RotaryOptions rotary = {};        ///< rotary_rates makes those of a longer context
  bool qkv_bias = false;                       ///< of the projections to queries, keys and values (Qwen2)
  bool out_bias = false;                       ///< of attention's last projection
  std::int64_t window = 0;                     ///< of attention in all layers (Mistral); 0 for all keys
  std::vector<std::int64_t> windows = {};      ///< in place of `window` that of each layer, where layers differ
  bool tied = false;                           ///< are the embeddings the last layer's weights?
  bool norm_after = false;                     ///< normalization of what is added, too (GLM-4-0414)
};
/// A transformer of decoders: RMSNorm before each part, rotary positions, heads that share keys, and two layers of
/// which one, by silu, gates the other. Weights begin normal with a deviation of 0.02.
class CT_API Llama : public LanguageModel {
 public:
  /// Throws ValueError where width is no multiple of heads (unless head_size is given), or heads of groups, and for
  /// windows of another number of layers.
  explicit Llama(const LlamaOptions& options = {});
  std::string type_name() const override { return "Llama"; }
  std::int64_t vocabulary() const override { return options.vocabulary; }
  std::int64_t context() const override { return options.context; }
  std::int64_t layers() const override { return options.layers; }
  const LlamaOptions options;

  /// Attention and the gated layers, each added to what it is computed from.
  class CT_API Block : public Chain {
   public:
    explicit Block(const LlamaOptions& options);
    Variable operator()(const Variable& x, KeyValueCache* cache) const;
    std::string type_name() const override { return "LlamaBlock"; }
    std::int64_t window;
    RMSNorm norm1;
    MultiHeadAttention attention;
    std::optional<RMSNorm> after_attention;
    RMSNorm norm2;
    Linear gate, up, down;
    std::optional<RMSNorm> after_layers;
    CT_LINKS(norm1, attention, after_attention, norm2, gate, up, down, after_layers)
  };
  EmbedID tokens;
  std::vector<Block> blocks;  ///< children "blocks/0", …
  RMSNorm norm;
  std::optional<Linear> head;  ///< where it is not tokens' weights
  CT_LINKS(tokens, blocks, norm, head)

 protected:
  Variable features(const Variable& ids, std::int64_t first, std::vector<KeyValueCache>* caches) const override;
  Variable scores(const Variable& features) const override;
};

}  // namespace catenary::links
