#pragma once
// ChatGLM-6B (Du et al. 2022, Zeng et al. 2023), the predecessor of GLM-4.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catenary/links/connection.h"
#include "catenary/links/models/language_model.h"
#include "catenary/links/normalization.h"

namespace catenary::links {

/// Options of ChatGlm. The defaults are those of chatglm-6b, which has 6.2 billion weights.
struct ChatGlmOptions {
  std::int64_t vocabulary = 130528, context = 2048, width = 4096, layers = 28, heads = 32;
  std::int64_t hidden = 16384;  ///< size of the hidden layer in each block
  double epsilon = 1e-5;        ///< added to variances in normalizations
  double base = 10000;          ///< base of the rotary positions' wavelengths
  bool tied = false;            ///< use the token embeddings as the last layer's weights
  /// The tokens [MASK] and [gMASK], which mark the position of the text to generate, and `<sop>`, which starts that
  /// text.
  std::int64_t mask = 130000, gmask = 130001, begin = 130004;
};
/// A transformer with bidirectional attention up to the token `begin` and causal attention after it. Each token has two
/// positions, which rotate the two halves of each head:
///
/// - its index up to `begin`, and after that the index of the first gmask (of mask, if the row has no gmask)
/// - 0 up to `begin`, and after that the distance from the token before `begin`
///
/// Residual sums add the normalized input times sqrt(2 layers). GELU uses the tanh approximation. Each row of ids must
/// contain `begin` and gmask or mask, else a call throws ValueError. (Du et al. 2022)
class CT_API ChatGlm : public LanguageModel {
 public:
  bool reads_in_pieces() const override { return false; }  // the prompt needs bidirectional attention
  /// Throws ValueError if width is not a multiple of 4 heads.
  explicit ChatGlm(const ChatGlmOptions& options = {});
  std::string type_name() const override { return "ChatGlm"; }
  std::int64_t vocabulary() const override { return options.vocabulary; }
  std::int64_t context() const override { return options.context; }
  std::int64_t layers() const override { return options.layers; }
  const ChatGlmOptions options;

  /// Attention and two linear layers, each with a residual sum over its normalized input.
  class CT_API Block : public Chain {
   public:
    explicit Block(const ChatGlmOptions& options);
    Variable operator()(const Variable& x, const MultiHeadAttention::Call& call) const;
    std::string type_name() const override { return "ChatGlmBlock"; }
    double residual;  ///< factor of the input in residual sums
    LayerNormalization norm1;
    MultiHeadAttention attention;
    LayerNormalization norm2;
    Linear fc1, fc2;
    CT_LINKS(norm1, attention, norm2, fc1, fc2)
  };
  EmbedID tokens;
  std::vector<Block> blocks;  ///< children "blocks/0", …
  LayerNormalization norm;
  std::optional<Linear> head;  ///< empty if the token embeddings are used
  CT_LINKS(tokens, blocks, norm, head)

 protected:
  Model as_model() const override { return Model(*this); }
  Variable features(const Variable& ids, std::int64_t first, std::vector<KeyValueCache>* caches) const override;
  Variable scores(const Variable& features) const override;

 private:
  std::vector<std::int64_t> places(const Variable& ids) const;
};

}  // namespace catenary::links
