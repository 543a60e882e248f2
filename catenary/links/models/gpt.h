#pragma once
// GPT-2 (Radford et al. 2019) and smaller ones of its shape.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catenary/links/connection.h"
#include "catenary/links/models/language_model.h"
#include "catenary/links/normalization.h"

namespace catenary::links {

/// Options of GPT. The defaults are GPT-2's smallest model.
struct GPTOptions {
  std::int64_t vocabulary = 50257, context = 1024, width = 768, layers = 12, heads = 12;
  double dropout = 0.1;                     ///< of embeddings, attention's weights and residuals, in training
  std::optional<std::int64_t> hidden = {};  ///< of the layers between residual sums; 4 width when not given
  double epsilon = 1e-5;                    ///< of normalizations
  bool tied = true;                         ///< are the embeddings the last layer's weights?
};
/// A transformer of decoders with learned positions: normalization before each part, GELU by tanh, and the embedding of
/// tokens as the weights of the last layer (unless options.tied is false). Weights begin as GPT-2's do: normal with a
/// deviation of 0.02, those before a residual sum divided by the root of how many such sums there are. (Radford et al.
/// 2019)
class CT_API GPT : public LanguageModel {
 public:
  /// Throws ValueError where width is no multiple of heads.
  explicit GPT(const GPTOptions& options = {});
  std::string type_name() const override { return "GPT"; }
  std::int64_t vocabulary() const override { return options.vocabulary; }
  std::int64_t context() const override { return options.context; }
  std::int64_t layers() const override { return options.layers; }
  const GPTOptions options;

  /// Attention and two layers, each added to what it is computed from.
  class CT_API Block : public Chain {
   public:
    explicit Block(const GPTOptions& options);
    Variable operator()(const Variable& x, KeyValueCache* cache) const;
    std::string type_name() const override { return "GPTBlock"; }
    double dropout;
    LayerNormalization norm1;
    MultiHeadAttention attention;
    LayerNormalization norm2;
    Linear fc1, fc2;
    CT_LINKS(norm1, attention, norm2, fc1, fc2)
  };
  EmbedID tokens, positions;
  std::vector<Block> blocks;  ///< children "blocks/0", …
  LayerNormalization norm;
  std::optional<Linear> head;  ///< where it is not tokens' weights
  CT_LINKS(tokens, positions, blocks, norm, head)

 protected:
  Variable features(const Variable& ids, std::int64_t first, std::vector<KeyValueCache>* caches) const override;
  Variable scores(const Variable& features) const override;
};

}  // namespace catenary::links
