#include <algorithm>
#include <cmath>
#include <cstring>

#include "catenary/core/format.h"
#include "catenary/tokenizers/model.h"

namespace catenary::tokenizers {

namespace {

/// An entry of the linked list of a word's symbols. A merge removes the right symbol of a pair.
struct Place {
  std::int32_t before, after;  // -1: none
  bool gone = false;
};

/// Merges the greatest candidate until none is left. `look` returns the candidate of two symbols, if they are
/// mergeable; `left` is the index of its first symbol. `join` merges into the left symbol. It returns false if one of
/// the symbols has been merged since the candidate was found.
template <class Candidate, class Symbol, class Look, class Join>
void merge_neighbours(std::vector<Symbol>& symbols, const Look& look, const Join& join) {
  std::vector<Candidate> queue;
  const auto add = [&](std::int32_t left) {
    if (left < 0 || symbols[left].after < 0) return false;
    const std::optional<Candidate> found = look(left, symbols[left], symbols[symbols[left].after]);
    if (found) queue.push_back(*found);
    return found.has_value();
  };
  const auto push = [&](std::int32_t left) {
    if (add(left)) std::push_heap(queue.begin(), queue.end());
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) add(static_cast<std::int32_t>(i));
  std::make_heap(queue.begin(), queue.end());
  while (!queue.empty()) {
    const Candidate top = queue.front();
    std::pop_heap(queue.begin(), queue.end());
    queue.pop_back();
    Symbol& left = symbols[top.left];
    if (left.gone || left.after < 0) continue;
    Symbol& right = symbols[left.after];
    if (!join(top, left, right)) continue;
    left.after = right.after;
    right.gone = true;
    if (left.after >= 0) symbols[left.after].before = top.left;
    push(left.before);
    push(top.left);
  }
}

void check_length(std::string_view word) {
  constexpr std::size_t kLongest = INT32_MAX;
  if (word.size() > kLongest)
    fail<ValueError>("a word of {} bytes is too long (at most {} are supported)", word.size(), kLongest);
}

[[noreturn]] void unknown_character(std::string_view character) {
  std::string bytes;
  for (const char c : character) bytes += fmt::format("{:02X} ", static_cast<unsigned char>(c));
  fail<ValueError>("the character {}(in UTF-8) is not in the vocabulary, which has no unknown token", bytes);
}

class ByRank : public Model {
 public:
  ByRank(Vocabulary v, const BytePairs& options, std::size_t& at) : options_(options) {
    vocabulary = std::move(v);
    merges_.reserve(options.merges.size());
    std::string joined;
    for (at = 0; at < options.merges.size(); ++at) {
      const auto [left, right] = options.merges[at];
      const std::string& second = *vocabulary.token(right);
      joined = *vocabulary.token(left);
      if (second.size() < options.continuing_prefix.size())
        fail<ValueError>("'{}' is shorter than the prefix '{}'", second, options.continuing_prefix);
      joined += std::string_view(second).substr(options.continuing_prefix.size());
      const auto id = vocabulary.id(joined);
      if (!id) fail<ValueError>("'{}' is not in the vocabulary", joined.substr(0, 80));
      merges_.at(key(left, right)) = {static_cast<std::uint32_t>(at), *id};
    }
    options_.merges = {};
    for (int byte = 0; byte < 256; ++byte) bytes_[byte] = vocabulary.id(name_of_byte(static_cast<unsigned char>(byte)));
    find_joints(options.merges);
  }

  void encode(std::string_view word, std::vector<std::int64_t>& ids) const override {
    if (options_.ignore_merges || (options_.whole_lines && word.find_first_not_of('\n') == word.npos))
      if (const auto whole = vocabulary.id(word)) {
        ids.push_back(*whole);
        return;
      }
    check_length(word);
    const std::vector<std::uint32_t> begun = begin(word);
    std::vector<Symbol> symbols;
    for (std::size_t from = 0; from < begun.size();) {
      std::size_t to = from + 1;
      while (to < begun.size() && (!joints_known_ || joints_.find(key(begun[to - 1], begun[to])))) ++to;
      symbols.clear();
      for (std::size_t i = from; i < to; ++i) {
        const auto at = static_cast<std::int32_t>(i - from);
        symbols.push_back({{at - 1, i + 1 < to ? at + 1 : -1}, begun[i]});
      }
      merge(symbols);
      for (const Symbol& symbol : symbols)
        if (!symbol.gone) ids.push_back(symbol.id);
      from = to;
    }
  }

 private:
  struct Symbol : Place {
    std::uint32_t id;
  };
  struct Merge {
    std::uint32_t rank, id;
  };
  struct Candidate {
    std::uint32_t rank, id;
    std::int32_t left;
    /// lowest rank first, then leftmost
    bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : left > other.left; }
  };
  static std::uint64_t key(std::uint32_t left, std::uint32_t right) { return std::uint64_t{left} << 32 | right; }

  /// Finds the pairs of initial symbols that can be adjacent inside a token. Merges never cross other pairs, so a long
  /// text can be merged in parts, which takes a tenth of the time. (Some tokenizers do not split texts into words.)
  /// Gives up if different merges lead to equal tokens in unusual ways.
  void find_joints(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& merges) {
    if (!options_.continuing_prefix.empty() || !options_.word_suffix.empty()) return;
    const auto size = static_cast<std::size_t>(vocabulary.size());
    std::vector<std::uint32_t> first(size), last(size);
    std::vector<bool> used(size), made(size);
    for (std::size_t i = 0; i < size; ++i) first[i] = last[i] = static_cast<std::uint32_t>(i);
    for (const auto& byte : bytes_)
      if (byte) used[*byte] = true;
    if (options_.unknown) used[*options_.unknown] = true;
    for (const auto& [left, right] : merges) {
      if (vocabulary.token(left)->empty() || vocabulary.token(right)->empty()) return;
      used[left] = used[right] = true;
      const std::uint32_t id = merges_.find(key(left, right))->id;
      const bool same = made[id] && first[id] == first[left] && last[id] == last[right];
      if (!same && (made[id] || used[id])) return;
      made[id] = true;
      first[id] = first[left];
      last[id] = last[right];
      joints_.at(key(last[left], first[right])) = true;
    }
    joints_known_ = true;
  }

  /// The ids of a word's characters.
  std::vector<std::uint32_t> begin(std::string_view word) const {
    std::vector<std::uint32_t> symbols;
    const auto add = [&](std::uint32_t id) { symbols.push_back(id); };
    bool waiting = false;  // an unknown token, which can absorb further unknown characters
    std::string changed;
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t bytes = bytes_of_char(word[at]);
      std::string_view character = word.substr(at, bytes);
      const bool first = at == 0, last = at + bytes == word.size();
      if ((!first && !options_.continuing_prefix.empty()) || (last && !options_.word_suffix.empty())) {
        changed =
            (first ? "" : options_.continuing_prefix) + std::string(character) + (last ? options_.word_suffix : "");
        character = changed;
      }
      at += bytes;
      if (const auto id = vocabulary.id(character)) {
        if (waiting) add(*options_.unknown);
        waiting = false;
        add(*id);
      } else if (options_.byte_fallback && has_bytes(character)) {
        // emitted before a waiting unknown token, in the order of `tokenizers`
        for (const char c : character) add(*bytes_[static_cast<unsigned char>(c)]);
      } else if (!options_.unknown) {
        unknown_character(character);
      } else {
        if (waiting && !options_.fuse_unknown) add(*options_.unknown);
        waiting = true;
      }
    }
    if (waiting) add(*options_.unknown);
    return symbols;
  }

  bool has_bytes(std::string_view character) const {
    return std::all_of(character.begin(), character.end(),
                       [&](char c) { return bytes_[static_cast<unsigned char>(c)].has_value(); });
  }

  void merge(std::vector<Symbol>& symbols) const {
    merge_neighbours<Candidate>(
        symbols,
        [&](std::int32_t at, const Symbol& left, const Symbol& right) -> std::optional<Candidate> {
          const Merge* m = merges_.find(key(left.id, right.id));
          return m ? std::optional(Candidate{m->rank, m->id, at}) : std::nullopt;
        },
        [&](const Candidate& candidate, Symbol& left, const Symbol& right) {
          const Merge* m = merges_.find(key(left.id, right.id));
          if (!m || m->id != candidate.id) return false;
          left.id = candidate.id;
          return true;
        });
  }

  BytePairs options_;
  NumberMap<Merge> merges_;
  NumberMap<char> joints_;
  bool joints_known_ = false;
  std::optional<std::uint32_t> bytes_[256];
};

class ByScore : public Model {
 public:
  ByScore(Vocabulary v, std::vector<float> scores, std::optional<std::uint32_t> unknown, bool fuse_unknown)
      : scores_(std::move(scores)), unknown_(unknown), fuse_unknown_(fuse_unknown) {
    vocabulary = std::move(v);
    for (int byte = 0; byte < 256; ++byte) {
      bytes_[byte] = vocabulary.id(name_of_byte(static_cast<unsigned char>(byte)));
      if (!bytes_[byte] && byte < 0x80) bytes_[byte] = vocabulary.id(std::string(1, static_cast<char>(byte)));
    }
    for (std::int64_t id = 0; id < vocabulary.size(); ++id) {
      if (std::isnan(scores_[static_cast<std::size_t>(id)])) continue;
      const std::string& token = *vocabulary.token(id);
      char32_t before = 0;
      for (std::size_t at = 0; at < token.size();) {
        const bool inside = at > 0;
        const char32_t c = next_char(token, at);
        if (inside) joints_.at(joint(before, c)) = true;
        before = c;
      }
    }
  }

  void encode(std::string_view word, std::vector<std::int64_t>& ids) const override {
    check_length(word);
    std::vector<Span> symbols;
    char32_t before = 0;
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t here = at;
      const char32_t c = next_char(word, at);
      // merges never cross two characters that are adjacent in no token
      if (here > 0 && !joints_.find(joint(before, c))) finish(word, symbols, ids);
      const auto size = static_cast<std::int32_t>(symbols.size());
      if (size > 0) symbols.back().after = size;
      symbols.push_back({{size - 1, -1}, static_cast<std::uint32_t>(here), static_cast<std::uint32_t>(at - here)});
      before = c;
    }
    finish(word, symbols, ids);
  }

 private:
  struct Span : Place {
    std::uint32_t at, bytes;
  };
  struct Candidate {
    float score;
    std::int32_t left;
    std::uint32_t bytes;
    /// highest score first, then leftmost
    bool operator<(const Candidate& other) const {
      return score != other.score ? score < other.score : left > other.left;
    }
  };

  static std::uint64_t joint(char32_t left, char32_t right) { return std::uint64_t{left} << 32 | right; }

  /// Merges the symbols, appends the ids of the result, and clears the symbols.
  void finish(std::string_view word, std::vector<Span>& symbols, std::vector<std::int64_t>& ids) const {
    merge(word, symbols);
    for (const Span& symbol : symbols) {
      if (symbol.gone) continue;
      const std::string_view text = word.substr(symbol.at, symbol.bytes);
      if (const auto id = vocabulary.id(text)) {
        ids.push_back(*id);
        continue;
      }
      for (const char c : text) {
        const auto byte = bytes_[static_cast<unsigned char>(c)];
        if (!byte && !unknown_) unknown_character(text);
        if (!byte && fuse_unknown_ && !ids.empty() && ids.back() == *unknown_) continue;
        ids.push_back(byte ? *byte : *unknown_);
      }
    }
    symbols.clear();
  }

  void merge(std::string_view word, std::vector<Span>& symbols) const {
    merge_neighbours<Candidate>(
        symbols,
        [&](std::int32_t at, const Span& left, const Span& right) -> std::optional<Candidate> {
          const std::uint32_t bytes = left.bytes + right.bytes;
          const auto id = vocabulary.id(word.substr(left.at, bytes));
          return id && !std::isnan(scores_[*id]) ? std::optional(Candidate{scores_[*id], at, bytes}) : std::nullopt;
        },
        [](const Candidate& candidate, Span& left, const Span& right) {
          if (left.bytes + right.bytes != candidate.bytes) return false;
          left.bytes = candidate.bytes;
          return true;
        });
  }

  std::vector<float> scores_;
  NumberMap<char> joints_;
  std::optional<std::uint32_t> unknown_, bytes_[256];
  bool fuse_unknown_;
};

}  // namespace

std::unique_ptr<Model> make_byte_pairs(Vocabulary vocabulary, const BytePairs& options, std::size_t& at) {
  return std::make_unique<ByRank>(std::move(vocabulary), options, at);
}

std::unique_ptr<Model> make_scored_pairs(Vocabulary vocabulary, std::vector<float> scores,
                                         std::optional<std::uint32_t> unknown, bool fuse_unknown) {
  return std::make_unique<ByScore>(std::move(vocabulary), std::move(scores), unknown, fuse_unknown);
}

}  // namespace catenary::tokenizers
