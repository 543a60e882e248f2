#pragma once
// What models of text have in common, and text from them.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "catenary/links/attention.h"
#include "catenary/links/link.h"

namespace catenary::links {

/// A model that tells of each place of a sequence of tokens which token may come next. Derive from it to add one.
class CT_API LanguageModel : public Chain {
 public:
  /// Scores (logits) [batch, length, vocabulary()] of ids [batch, length], integers. With caches, one for each layer,
  /// ids follow what the caches hold, which then hold these, too; see MultiHeadAttention::Call. Throws ShapeError,
  /// IndexError for an id that is none, and ValueError where the sequence would be longer than context().
  Variable operator()(const Variable& ids, std::vector<KeyValueCache>* caches = nullptr) const;
  /// The scores of the last place alone, [batch, 1, vocabulary()]: the others' are not computed.
  Variable last(const Variable& ids, std::vector<KeyValueCache>* caches = nullptr) const;
  /// Adds ids to the caches; no scores are computed.
  void read(const Variable& ids, std::vector<KeyValueCache>& caches) const { checked_features(ids, &caches); }
  /// Whether a prompt may be read in pieces, one call after the other: each place sees only what stands before it.
  virtual bool reads_in_pieces() const { return true; }
  virtual std::int64_t vocabulary() const = 0;
  /// The longest sequence.
  virtual std::int64_t context() const = 0;
  /// How many caches it takes.
  virtual std::int64_t layers() const = 0;
  /// Tokens after which a text is over: generate() ends with them. load_language_model fills them in.
  std::vector<std::int64_t> end_tokens;

 protected:
  /// What the scores are computed from, [batch, length, width], of ids that follow `first` others.
  virtual Variable features(const Variable& ids, std::int64_t first, std::vector<KeyValueCache>* caches) const = 0;
  /// Scores of features of any length.
  virtual Variable scores(const Variable& features) const = 0;

 private:
  Variable checked_features(const Variable& ids, std::vector<KeyValueCache>* caches) const;
};

/// Options of generate.
struct GenerateOptions {
  std::int64_t tokens = 100;  ///< at most; the end of the context comes first where it does
  std::int64_t context = 0;   ///< of the sequence, where it is to be shorter than the model's; 0: the model's
  double temperature = 1;     ///< scores are divided by it; 0 takes the most likely token
  std::int64_t top_k = 0;     ///< only the so many most likely tokens; 0: all
  double top_p = 1;           ///< only the most likely tokens whose probabilities come to this
  double min_p = 0;           ///< only tokens whose probability is at least this part of the most likely one's
  /// A token that is in the prompt or the text already has its score divided by this where it is positive, else
  /// multiplied with it (Keskar et al. 2019); 1: none has.
  double repetition_penalty = 1;
  std::uint64_t seed = 0;  ///< of the choices: the same tokens on every machine for the same scores
  /// One for each layer, where they are to be kept: they may hold what the prompt begins with, which is not computed
  /// again, and hold all but the last token in the end.
  std::vector<KeyValueCache>* caches = nullptr;
  /// A prompt of more than 512 tokens is read in equal pieces of at most as many, where the model allows that. Told
  /// after each but the last how many tokens were read; false ends it, without a token.
  std::function<bool(std::int64_t read)> on_prompt = {};
  /// Told of each token as it comes; false ends it.
  std::function<bool(std::int64_t token)> on_token = {};
};
/// Tokens that follow a prompt, one after the other, each drawn from what the model says of it. The model is called
/// with the prompt, in pieces, and then with one token at a time, in test mode. One of the model's end_tokens is the
/// last. Throws ValueError for an empty prompt, one that is longer than the context, caches that are not of this model
/// or hold more than the prompt's beginning, and options out of range.
CT_API std::vector<std::int64_t> generate(const LanguageModel& model, const std::vector<std::int64_t>& prompt,
                                          const GenerateOptions& options = {});

}  // namespace catenary::links
