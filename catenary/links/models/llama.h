#pragma once
// Llama (Touvron et al. 2023) and models of its architecture: Mistral, Qwen2.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catenary/links/connection.h"
#include "catenary/links/models/language_model.h"
#include "catenary/links/normalization.h"

namespace catenary::links {

/// Options of Llama. The defaults are those of Llama 2 with 7 billion weights.
struct LlamaOptions {
  std::int64_t vocabulary = 32000, context = 4096, width = 4096, layers = 32, heads = 32;
  std::int64_t hidden = 11008;  ///< size of the hidden layer in each block
  std::optional<std::int64_t> groups =
      {};  ///< number of key and value heads, shared by groups of query heads, by default heads
  std::optional<std::int64_t> head_size = {};  ///< by default width / heads
  double epsilon = 1e-5;                       ///< added to variances in normalizations
  functions::RotaryOptions rotary = {};        ///< for longer contexts, see rotary_rates
  bool qkv_bias = false;                       ///< biases in the projections to queries, keys and values (Qwen2)
  bool out_bias = false;                       ///< bias in attention's output projection
  std::int64_t window = 0;                     ///< attention window of every layer (Mistral), 0 for all keys
  std::vector<std::int64_t> windows = {};      ///< replaces `window` by a value for each layer
  bool tied = false;                           ///< use the token embeddings as the last layer's weights
  bool norm_after = false;  ///< also normalize the results of attention and of the layers (GLM-4-0414)
};
/// A decoder-only transformer with RMSNorm before each part, rotary positions, grouped-query attention and SwiGLU
/// layers. Weights start normal with a deviation of 0.02.
class CT_API Llama : public LanguageModel {
 public:
  /// Throws ValueError if width is not a multiple of heads (unless head_size is given), heads not a multiple of groups,
  /// or windows not of the number of layers.
  explicit Llama(const LlamaOptions& options = {});
  std::string type_name() const override { return "Llama"; }
  std::int64_t vocabulary() const override { return options.vocabulary; }
  std::int64_t context() const override { return options.context; }
  std::int64_t layers() const override { return options.layers; }
  const LlamaOptions options;

  /// Attention and SwiGLU layers, each with a residual sum.
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
  std::optional<Linear> head;  ///< empty if the token embeddings are used
  CT_LINKS(tokens, blocks, norm, head)

 protected:
  Model as_model() const override { return Model(*this); }
  Variable features(const Variable& ids, std::int64_t first, std::vector<KeyValueCache>* caches) const override;
  Variable scores(const Variable& features) const override;
};

}  // namespace catenary::links
