#pragma once
// The base class of language models, and text generation.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "catenary/links/attention.h"
#include "catenary/links/link.h"
#include "catenary/links/model.h"

namespace catenary::links {

/// A model that predicts the next token at each position of a sequence. Derive from it to add a model.
class CT_API LanguageModel : public Chain {
 public:
  /// Returns scores (logits) [batch, length, vocabulary()] for integer ids [batch, length]. With caches, one per layer,
  /// the ids continue the sequence in the caches and are added to them; see MultiHeadAttention::Call. Throws
  /// ShapeError, IndexError for ids outside the vocabulary, and ValueError if the sequence would be longer than
  /// context().
  Variable operator()(const Variable& ids, std::vector<KeyValueCache>* caches = nullptr) const;
  /// Computes the scores of the last position only, [batch, 1, vocabulary()].
  Variable last(const Variable& ids, std::vector<KeyValueCache>* caches = nullptr) const;
  /// Adds ids to the caches without computing scores.
  void read(const Variable& ids, std::vector<KeyValueCache>& caches) const { checked_features(ids, &caches); }
  /// Whether a prompt may be read in several calls. True if each position depends only on earlier ones.
  virtual bool reads_in_pieces() const { return true; }
  virtual std::int64_t vocabulary() const = 0;
  /// The longest sequence, in tokens.
  virtual std::int64_t context() const = 0;
  /// The number of layers, and so of caches.
  virtual std::int64_t layers() const = 0;
  /// Returns a Model of this class that shares this model's parameters: `optimizer.setup(*loaded)` calls it. Throws
  /// ValueError if the class does not override as_model().
  Model model() const;
  /// Tokens that end a text: generate() stops after them. load_language_model fills them in.
  std::vector<std::int64_t> end_tokens;

 protected:
  /// Returns Model(*this), in each class that can be trained through a reference to LanguageModel.
  virtual Model as_model() const { return {}; }
  /// Returns the inputs of scores(), [batch, length, width], for ids that follow `first` others.
  virtual Variable features(const Variable& ids, std::int64_t first, std::vector<KeyValueCache>* caches) const = 0;
  /// Returns the scores of features of any length.
  virtual Variable scores(const Variable& features) const = 0;

 private:
  Variable checked_features(const Variable& ids, std::vector<KeyValueCache>* caches) const;
};

/// Options of generate.
struct GenerateOptions {
  std::int64_t tokens = 100;  ///< the most new tokens, unless the context ends first
  std::int64_t context = 0;   ///< limit of the sequence below the model's own, 0 for the model's
  double temperature = 1;     ///< divisor of scores, 0 always takes the most likely token
  std::int64_t top_k = 0;     ///< draw from the top_k most likely tokens, 0 for all
  double top_p = 1;           ///< draw from the most likely tokens whose probabilities add up to top_p
  double min_p = 0;           ///< ignore tokens less likely than min_p times the most likely token's probability
  /// Lowers the scores of tokens that have occurred before: divides positive scores by it and multiplies negative
  /// scores with it (Keskar et al. 2019). 1 changes nothing.
  double repetition_penalty = 1;
  std::uint64_t seed = 0;  ///< of the random choices: equal scores give equal tokens on every machine
  /// Caches to keep between calls, one per layer. They may hold the beginning of the prompt, which is not computed
  /// again. Afterwards they hold all tokens but the last.
  std::vector<KeyValueCache>* caches = nullptr;
  /// Called while a prompt of more than 512 tokens is read in equal pieces, if the model allows pieces: after each
  /// piece but the last, with the number of tokens read. Return false to stop without generating a token.
  std::function<bool(std::int64_t read)> on_prompt = {};
  /// Called with each new token. Return false to stop.
  std::function<bool(std::int64_t token)> on_token = {};
};
/// Returns the tokens that follow a prompt, each drawn from the model's scores. Calls the model in test mode with the
/// prompt, in pieces, and then with one token at a time. Stops after one of the model's end_tokens. Throws ValueError
/// for an empty prompt, a prompt longer than the context, caches of another model or with other tokens than the
/// prompt's beginning, and options out of range.
CT_API std::vector<std::int64_t> generate(const LanguageModel& model, const std::vector<std::int64_t>& prompt,
                                          const GenerateOptions& options = {});

}  // namespace catenary::links
