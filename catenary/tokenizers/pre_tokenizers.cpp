#include <algorithm>

#include "catenary/tokenizers/pieces.h"
#include "catenary/tokenizers/utf8.h"

namespace catenary::tokenizers {

const char* const kWordsOfGpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

namespace {

/// A match, or the part of a word between matches.
struct Part {
  std::size_t begin, end;
  bool match;
};

/// Joins parts according to the behaviour. Isolated and Removed join none.
void join(std::vector<Part>& parts, Behavior behavior) {
  std::vector<Part> joined;
  bool before = false;
  const auto contiguous = [&](const Part& part) { return part.match == before; };
  const auto merged = [&](const Part& part) { return part.match && !before; };
  if (behavior == Behavior::merged_with_next) std::reverse(parts.begin(), parts.end());
  for (const Part& part : parts) {
    const bool together = behavior == Behavior::contiguous ? contiguous(part) : merged(part);
    before = part.match;
    if (together && !joined.empty()) {
      joined.back().begin = std::min(joined.back().begin, part.begin);
      joined.back().end = std::max(joined.back().end, part.end);
    } else {
      joined.push_back(part);
    }
  }
  if (behavior == Behavior::merged_with_next) std::reverse(joined.begin(), joined.end());
  parts.swap(joined);
}

class Split : public PreTokenizer {
 public:
  Split(Pattern pattern, Behavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

  void apply(Pieces& pieces) const override {
    std::vector<Piece> made;
    made.reserve(pieces.list.size());
    std::vector<Part> parts;
    for (const Piece& piece : pieces.list) {
      if (piece.id >= 0) {
        made.push_back(piece);
        continue;
      }
      const std::string_view text = pieces.of(piece);
      parts.clear();
      std::size_t from = 0;
      pattern_.for_each(text, [&](std::size_t begin, std::size_t end) {
        if (from != begin) parts.push_back({from, begin, invert_});
        parts.push_back({begin, end, !invert_});
        from = end;
      });
      if (from != text.size()) parts.push_back({from, text.size(), invert_});
      if (behavior_ != Behavior::isolated && behavior_ != Behavior::removed) join(parts, behavior_);
      for (const Part& part : parts) {
        if (part.begin == part.end || (part.match && behavior_ == Behavior::removed)) continue;
        made.push_back({piece.begin + part.begin, piece.begin + part.end, -1, piece.at_start && part.begin == 0});
      }
    }
    pieces.list.swap(made);
  }

 private:
  Pattern pattern_;
  Behavior behavior_;
  bool invert_;
};

class DigitGroups : public PreTokenizer {
 public:
  explicit DigitGroups(bool within) : digits_(within ? "[0-9]+" : "\\p{N}+"), within_(within) {}

  void apply(Pieces& pieces) const override {
    std::vector<Piece> made;
    std::vector<std::size_t> cuts;
    for (const Piece& piece : pieces.list) {
      if (piece.id >= 0) {
        made.push_back(piece);
        continue;
      }
      const std::string_view text = pieces.of(piece);
      cuts.clear();
      digits_.for_each(text, [&](std::size_t begin, std::size_t end) { cut(text, begin, end, cuts); });
      std::size_t from = 0;
      cuts.push_back(text.size());
      for (const std::size_t to : cuts) {
        if (from < to) made.push_back({piece.begin + from, piece.begin + to, -1, piece.at_start && from == 0});
        from = to;
      }
    }
    pieces.list.swap(made);
  }

 private:
  /// Appends the offsets that split a run of digits.
  void cut(std::string_view text, std::size_t begin, std::size_t end, std::vector<std::size_t>& cuts) const {
    std::size_t left = 0;
    for (std::size_t at = begin; at < end; at += bytes_of_char(text[at])) ++left;
    for (std::size_t at = begin; at < end; at += bytes_of_char(text[at]), --left)
      if (left % 3 == 0 || (at == begin && !within_)) cuts.push_back(at);
    if (!within_) cuts.push_back(end);
  }

  Regex digits_;
  bool within_;
};

/// Rewrites every word: f(word, piece, text) appends the new word.
template <class F>
void rewrite(Pieces& pieces, F f) {
  std::string text;
  text.reserve(pieces.text.size() + pieces.text.size() / 4);
  for (Piece& piece : pieces.list) {
    if (piece.id >= 0) continue;
    const std::size_t begin = text.size();
    f(pieces.of(piece), piece, text);
    piece.begin = begin;
    piece.end = text.size();
  }
  pieces.text.swap(text);
}

class ByteLevel : public PreTokenizer {
 public:
  ByteLevel(bool add_prefix_space, bool use_regex) : add_prefix_space_(add_prefix_space) {
    if (use_regex) words_ = make_split(Pattern(Regex::oniguruma(kWordsOfGpt2)), Behavior::isolated, false);
    for (int byte = 0; byte < 256; ++byte) append_char(chars_[byte], char_of_byte(static_cast<unsigned char>(byte)));
  }

  void apply(Pieces& pieces) const override {
    if (add_prefix_space_)
      rewrite(pieces, [](std::string_view word, const Piece&, std::string& text) {
        if (word[0] != ' ') text += ' ';
        text += word;
      });
    if (words_) words_->apply(pieces);
    rewrite(pieces, [&](std::string_view word, const Piece&, std::string& text) {
      for (const char c : word) text += chars_[static_cast<unsigned char>(c)];
    });
  }

 private:
  bool add_prefix_space_;
  std::unique_ptr<PreTokenizer> words_;
  std::string chars_[256];
};

class Metaspace : public PreTokenizer {
 public:
  Metaspace(std::string replacement, Prepend prepend, bool split)
      : replacement_(std::move(replacement)), prepend_(prepend) {
    if (split) words_ = make_split(Pattern(replacement_), Behavior::merged_with_next, false);
  }

  void apply(Pieces& pieces) const override {
    rewrite(pieces, [&](std::string_view word, const Piece& piece, std::string& text) {
      const bool wanted = prepend_ == Prepend::always || (prepend_ == Prepend::first && piece.at_start);
      if (wanted && word[0] != ' ' && !word.starts_with(replacement_)) text += replacement_;
      for (const char c : word) {
        if (c == ' ') {
          text += replacement_;
        } else {
          text += c;
        }
      }
    });
    if (words_) words_->apply(pieces);
  }

 private:
  std::string replacement_;
  Prepend prepend_;
  std::unique_ptr<PreTokenizer> words_;
};

class Steps : public PreTokenizer {
 public:
  explicit Steps(std::vector<std::unique_ptr<PreTokenizer>> steps) : steps_(std::move(steps)) {}
  void apply(Pieces& pieces) const override {
    for (const auto& step : steps_) step->apply(pieces);
  }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> steps_;
};

}  // namespace

std::unique_ptr<PreTokenizer> make_split(Pattern pattern, Behavior behavior, bool invert) {
  return std::make_unique<Split>(std::move(pattern), behavior, invert);
}
std::unique_ptr<PreTokenizer> make_digit_groups(bool within) { return std::make_unique<DigitGroups>(within); }
std::unique_ptr<PreTokenizer> make_byte_level(bool add_prefix_space, bool use_regex) {
  return std::make_unique<ByteLevel>(add_prefix_space, use_regex);
}
std::unique_ptr<PreTokenizer> make_metaspace(std::string replacement, Prepend prepend, bool split) {
  return std::make_unique<Metaspace>(std::move(replacement), prepend, split);
}
std::unique_ptr<PreTokenizer> make_sequence(std::vector<std::unique_ptr<PreTokenizer>> steps) {
  return std::make_unique<Steps>(std::move(steps));
}

}  // namespace catenary::tokenizers
