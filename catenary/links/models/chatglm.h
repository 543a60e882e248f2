#pragma once
// ChatGLM-6B (Du et al. 2022, Zeng et al. 2023): what came before GLM-4.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catenary/links/connection.h"
#include "catenary/links/models/language_model.h"
#include "catenary/links/normalization.h"

namespace catenary::links {

/// Options of ChatGlm. The defaults are chatglm-6b's, of which there are 6.2 billion weights.
struct ChatGlmOptions {
  std::int64_t vocabulary = 130528, context = 2048, width = 4096, layers = 28, heads = 32;
  std::int64_t hidden = 16384;  ///< of the layers between residual sums
  double epsilon = 1e-5;        ///< of normalizations
  double base = 10000;          ///< of rotary positions
  bool tied = false;            ///< are the embeddings the last layer's weights?
  /// The tokens [MASK] and [gMASK], which stand for what is to be written, and <sop>, behind which it is.
  std::int64_t mask = 130000, gmask = 130001, begin = 130004;
};
/// A transformer that sees the whole of what stands before `begin`, and behind it what came before, as others do. A
/// place has two positions: its own up to `begin`, from there on that of the first gmask (or mask, where there is no
/// gmask); and its distance from the place before `begin`, 0 up to there. The first turns the first half of each head,
/// the second the other. What is added to a part's result is its normalized operand times the root of 2 layers. GELU by
/// tanh. A sequence must have `begin` and one of the masks: of each row that has neither, a call throws ValueError.
/// (Du et al. 2022)
class CT_API ChatGlm : public LanguageModel {
 public:
  bool reads_in_pieces() const override { return false; }  // what stands before the text is seen whole
  /// Throws ValueError where width is no multiple of 4 heads.
  explicit ChatGlm(const ChatGlmOptions& options = {});
  std::string type_name() const override { return "ChatGlm"; }
  std::int64_t vocabulary() const override { return options.vocabulary; }
  std::int64_t context() const override { return options.context; }
  std::int64_t layers() const override { return options.layers; }
  const ChatGlmOptions options;

  /// Attention and two layers, each added to its normalized operand.
  class CT_API Block : public Chain {
   public:
    explicit Block(const ChatGlmOptions& options);
    Variable operator()(const Variable& x, const MultiHeadAttention::Call& call) const;
    std::string type_name() const override { return "ChatGlmBlock"; }
    double residual;  ///< what operands are multiplied by before the sum
    LayerNormalization norm1;
    MultiHeadAttention attention;
    LayerNormalization norm2;
    Linear fc1, fc2;
    CT_LINKS(norm1, attention, norm2, fc1, fc2)
  };
  EmbedID tokens;
  std::vector<Block> blocks;  ///< children "blocks/0", …
  LayerNormalization norm;
  std::optional<Linear> head;  ///< where it is not tokens' weights
  CT_LINKS(tokens, blocks, norm, head)

 protected:
  Variable features(const Variable& ids, std::int64_t first, std::vector<KeyValueCache>* caches) const override;
  Variable scores(const Variable& features) const override;

 private:
  std::vector<std::int64_t> places(const Variable& ids) const;
};

}  // namespace catenary::links
