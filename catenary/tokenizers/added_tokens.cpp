#include <algorithm>

#include "catenary/core/format.h"
#include "catenary/tokenizers/pipeline.h"

namespace catenary::tokenizers {

void AddedTokens::add(AddedToken token) {
  if (token.content.empty()) fail<ValueError>("an added token without content");
  if (const auto* other = find(token.id))
    fail<ValueError>("the added tokens '{}' and '{}' have both id {}", other->content, token.content, token.id);
  if (find(token.content)) fail<ValueError>("the added token '{}' is there twice", token.content);
  by_id_[token.id] = by_content_[token.content] = tokens_.size();
  end_ = std::max(end_, token.id + 1);
  tokens_.push_back(std::move(token));
}

void AddedTokens::finish(const Normalizer* normalizer) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    const bool changes = token.normalized && normalizer;
    Normalizing state{.most = most_bytes_of(token.content.size())};
    forms_.push_back(changes ? normalizer->apply(token.content, state) : token.content);
    if (!forms_.back().empty())
      (token.normalized ? normalized_ : plain_).add(forms_.back(), static_cast<std::uint32_t>(i));
    if (token.single_word && !word_) word_ = std::make_unique<Regex>("[" + word_characters() + "]");
  }
}

const AddedToken* AddedTokens::find(std::int64_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found = by_content_.find(std::string(content));
  return found == by_content_.end() ? nullptr : &tokens_[found->second];
}

const std::string& AddedTokens::form(const AddedToken& token) const { return forms_[by_id_.at(token.id)]; }

/// Splits `text` into added tokens, leftmost first and longest among those, and the text between them.
void AddedTokens::split(std::string_view text, const Trie& tokens, bool parse_special,
                        std::vector<Piece>& pieces) const {
  std::size_t from = 0;
  const auto is_word = [&](std::string_view character) {
    bool is = false;
    word_->for_each(character, [&](std::size_t, std::size_t) { is = true; });
    return is;
  };
  const auto before = [&](std::size_t at) {
    do --at;
    while ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
    return at;
  };
  for (std::size_t at = 0; !tokens.empty() && at < text.size();) {
    std::size_t length = 0;
    std::uint32_t which = 0;
    tokens.prefixes(text.substr(at), [&](std::size_t bytes, std::uint32_t value) {
      length = bytes;
      which = value;
    });
    if (length == 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[which];
    std::size_t begin = at, end = at + length;
    at = end;
    if (token.special && !parse_special) continue;
    if (token.single_word) {
      if (begin > 0 && is_word(text.substr(before(begin), begin - before(begin)))) continue;
      if (end < text.size() && is_word(text.substr(end, bytes_of_char(text[end])))) continue;
    }
    if (token.lstrip)
      while (begin > from) {
        std::size_t character = before(begin);
        const std::size_t start = character;
        if (!is_space(next_char(text, character))) break;
        begin = start;
      }
    if (token.rstrip)
      while (end < text.size()) {
        std::size_t next = end;
        if (!is_space(next_char(text, next))) break;
        end = next;
      }
    if (from < begin) pieces.push_back({from, begin, -1, from == 0});
    pieces.push_back({begin, end, token.id, begin == 0});
    from = end;
  }
  if (from < text.size()) pieces.push_back({from, text.size(), -1, from == 0});
}

Pieces AddedTokens::split(std::string_view text, const Normalizer* normalizer, bool parse_special) const {
  std::vector<Piece> plain, inside;
  split(text, plain_, parse_special, plain);
  Pieces made;
  for (const Piece& piece : plain) {
    if (piece.id >= 0) {
      made.list.push_back({made.text.size(), made.text.size(), piece.id, piece.at_start});
      continue;
    }
    const std::string_view part = text.substr(piece.begin, piece.end - piece.begin);
    Normalizing state{.most = most_bytes_of(part.size())};
    const std::string normal = normalizer ? normalizer->apply(std::string(part), state) : std::string(part);
    const bool from_start = piece.at_start && !state.loses_beginning;
    inside.clear();
    split(normal, normalized_, parse_special, inside);
    const std::size_t base = made.text.size();
    for (const Piece& p : inside) made.list.push_back({base + p.begin, base + p.end, p.id, from_start && p.at_start});
    made.text += normal;
  }
  return made;
}

}  // namespace catenary::tokenizers
