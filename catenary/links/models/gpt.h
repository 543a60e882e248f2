#pragma once
// GPT-2 (Radford et al. 2019) and smaller models of this architecture.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catenary/links/connection.h"
#include "catenary/links/models/language_model.h"
#include "catenary/links/normalization.h"

namespace catenary::links {

/// Options of GPT. The defaults are those of GPT-2's smallest model.
struct GPTOptions {
  std::int64_t vocabulary = 50257, context = 1024, width = 768, layers = 12, heads = 12;
  double dropout = 0.1;                     ///< rate for embeddings, attention weights and residuals, in training
  std::optional<std::int64_t> hidden = {};  ///< size of the hidden layer in each block, by default 4 width
  double epsilon = 1e-5;                    ///< added to variances in normalizations
  bool tied = true;                         ///< use the token embeddings as the last layer's weights
};
/// A decoder-only transformer with learned positions, normalization before each part and GELU in its tanh
/// approximation. The token embeddings are also the weights of the last layer, unless options.tied is false. Weights
/// start normal with a deviation of 0.02, divided by the root of the number of residual sums for layers before such a
/// sum. (Radford et al. 2019)
class CT_API GPT : public LanguageModel {
 public:
  /// Throws ValueError if width is not a multiple of heads.
  explicit GPT(const GPTOptions& options = {});
  std::string type_name() const override { return "GPT"; }
  std::int64_t vocabulary() const override { return options.vocabulary; }
  std::int64_t context() const override { return options.context; }
  std::int64_t layers() const override { return options.layers; }
  const GPTOptions options;

  /// Attention and two linear layers, each with a residual sum.
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
  std::optional<Linear> head;  ///< empty if the token embeddings are used
  CT_LINKS(tokens, positions, blocks, norm, head)

 protected:
  Model as_model() const override { return Model(*this); }
  Variable features(const Variable& ids, std::int64_t first, std::vector<KeyValueCache>* caches) const override;
  Variable scores(const Variable& features) const override;
};

}  // namespace catenary::links
