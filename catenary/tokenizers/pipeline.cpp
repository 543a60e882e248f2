#include "catenary/tokenizers/pipeline.h"

#include <algorithm>

#include "catenary/core/format.h"
#include "catenary/core/os/file.h"

namespace catenary {

namespace tokenizers {

namespace {

constexpr std::size_t kLongestWord = 64;  // longer words are not cached
constexpr std::size_t kMostWords = 1 << 16;

}  // namespace

const std::vector<std::int64_t>* WordCache::find(std::string_view word) const {
  const auto found = words_.find(word);
  return found == words_.end() ? nullptr : &found->second;
}

void WordCache::add(std::string_view word, std::vector<std::int64_t> ids) {
  if (words_.size() >= kMostWords) words_.clear();
  words_.emplace(word, std::move(ids));
}

}  // namespace tokenizers

Tokenizer::Tokenizer(std::shared_ptr<const State> state) : state_(std::move(state)) {}

std::vector<std::int64_t> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  std::string valid;
  if (!tokenizers::is_valid(text)) {
    tokenizers::append_valid(valid, text);
    text = valid;
  }
  tokenizers::Pieces pieces = state_->added.split(text, state_->normalizer.get(), options.parse_special);
  if (state_->pre_tokenizer) state_->pre_tokenizer->apply(pieces);

  std::vector<std::int64_t> ids, of_word;
  const std::unique_lock lock(state_->mutex, std::try_to_lock);
  tokenizers::WordCache own;
  tokenizers::WordCache& cache = lock ? state_->cache : own;
  for (const tokenizers::Piece& piece : pieces.list) {
    if (piece.id >= 0) {
      ids.push_back(piece.id);
      continue;
    }
    const std::string_view word = pieces.of(piece);
    if (word.size() > tokenizers::kLongestWord) {
      state_->model->encode(word, ids);
    } else if (const auto* known = cache.find(word)) {
      ids.insert(ids.end(), known->begin(), known->end());
    } else {
      of_word.clear();
      state_->model->encode(word, of_word);
      ids.insert(ids.end(), of_word.begin(), of_word.end());
      cache.add(word, of_word);
    }
  }
  const std::size_t most = tokenizers::most_bytes_of(ids.size());
  for (const auto& parts : state_->templates) {
    std::vector<std::int64_t> made;
    for (const tokenizers::TemplatePart& part : parts) {
      if (part.text) {
        made.insert(made.end(), ids.begin(), ids.end());
      } else if (options.add_special) {
        made.insert(made.end(), part.ids.begin(), part.ids.end());
      }
    }
    if (made.size() > most)
      fail<ValueError>("{}: the post-processor makes more than {} tokens of a text", state_->name, most);
    ids.swap(made);
  }
  return ids;
}

const std::string& Tokenizer::State::token(std::int64_t id) const {
  if (const auto* token = added.find(id)) return token->content;
  if (const std::string* token = model->vocabulary.token(id)) return *token;
  fail<IndexError>("the tokenizer {} has no token {}: ids are below {}", name, id,
                   std::max(added.end(), model->vocabulary.size()));
}

std::string Tokenizer::State::decode(std::span<const std::int64_t> ids, bool skip_special, bool raw) const {
  std::vector<std::string> tokens;
  for (const std::int64_t id : ids) {
    const auto* token = added.find(id);
    if (unused.contains(id)) continue;
    if (!token) {
      tokens.push_back(this->token(id));
    } else if (!token->special || !skip_special) {
      tokens.push_back(added.form(*token));
    }
  }
  const auto bytes = [&] {
    std::size_t sum = 0;
    for (const std::string& token : tokens) sum += token.size();
    return sum;
  };
  const std::size_t most = tokenizers::most_bytes_of(bytes());
  for (std::size_t i = 0; i < decoders.size(); ++i) {
    decoders[i]->apply(tokens, raw);
    if (bytes() > most) fail<ValueError>("{}: the decoder's step {} makes more than {} bytes of a text", name, i, most);
  }
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

std::string Tokenizer::decode(std::span<const std::int64_t> ids, bool skip_special) const {
  return state_->decode(ids, skip_special, false);
}

std::int64_t Tokenizer::vocabulary_size() const {
  return std::max(state_->added.end(), state_->model->vocabulary.size());
}

std::optional<std::int64_t> Tokenizer::id(std::string_view token) const {
  if (const auto* found = state_->added.find(token)) return found->id;
  return state_->model->vocabulary.id(token);
}

std::string Tokenizer::token(std::int64_t id) const { return state_->token(id); }

bool Tokenizer::is_special(std::int64_t id) const {
  state_->token(id);
  const auto* token = state_->added.find(id);
  return token && token->special;
}

bool Tokenizer::is_added(std::int64_t id) const {
  state_->token(id);
  return state_->added.find(id) != nullptr;
}

std::optional<std::int64_t> Tokenizer::bos_id() const { return state_->bos; }
std::optional<std::int64_t> Tokenizer::eos_id() const { return state_->eos; }
const std::string& Tokenizer::chat_template() const { return state_->chat_template; }

TokenStream::TokenStream(Tokenizer tokenizer, bool skip_special)
    : tokenizer_(std::move(tokenizer)), skip_special_(skip_special) {}

// A token's text depends on whether another token precedes it: the first token loses its space. So tokens are decoded
// together with earlier ones whose text has already been returned.
std::string TokenStream::put(std::int64_t id) {
  const auto& state = tokenizer_.state();
  if (tokenizer_.is_special(id) && skip_special_) return "";
  pending_.push_back(id);
  std::vector<std::int64_t> ids = context_;
  ids.insert(ids.end(), pending_.begin(), pending_.end());
  const std::string all = state.decode(ids, skip_special_, true);
  const std::size_t whole = tokenizers::complete_size(all);
  std::string text;
  if (whole > given_) {
    tokenizers::append_valid(text, std::string_view(all).substr(given_, whole - given_));
    given_ = whole;
  }
  // keep tokens that decode to nothing pending, otherwise the next token would count as the first
  if (whole == all.size() && !state.decode(pending_, skip_special_, true).empty()) {
    context_.swap(pending_);
    pending_.clear();
    given_ = state.decode(context_, skip_special_, true).size();
  }
  return text;
}

std::string TokenStream::finish() {
  std::vector<std::int64_t> ids = std::move(context_);
  ids.insert(ids.end(), pending_.begin(), pending_.end());
  const std::string all = tokenizer_.state().decode(ids, skip_special_, true);
  std::string text;
  if (all.size() > given_) tokenizers::append_valid(text, std::string_view(all).substr(given_));
  context_.clear();
  pending_.clear();
  given_ = 0;
  return text;
}

}  // namespace catenary
