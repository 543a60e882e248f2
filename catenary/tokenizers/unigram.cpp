#include <algorithm>
#include <cmath>
#include <limits>

#include "catenary/core/format.h"
#include "catenary/tokenizers/model.h"

namespace catenary::tokenizers {

namespace {

class Unigram : public Model {
 public:
  Unigram(Vocabulary v, std::vector<double> scores, std::optional<std::uint32_t> unknown, bool byte_fallback,
          const UnigramSums& sums)
      : scores_(std::move(scores)), in_float32_(sums.in_float32), unknown_(unknown) {
    vocabulary = std::move(v);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      if (std::isnan(scores_[i])) continue;
      const std::string& token = *vocabulary.token(static_cast<std::int64_t>(i));
      if (!token.empty()) trie_.add(token, static_cast<std::uint32_t>(i));
      least = std::min(least, scores_[i]);
    }
    constexpr double kPenalty = 10;  // as in SentencePiece
    unknown_score_ = rounded(sums.least.value_or(least) - kPenalty);
    if (byte_fallback)
      for (int byte = 0; byte < 256; ++byte)
        bytes_[byte] = vocabulary.id(name_of_byte(static_cast<unsigned char>(byte)));
  }

  void encode(std::string_view word, std::vector<std::int64_t>& ids) const override {
    std::vector<Node> best(word.size() + 1);
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t bytes = bytes_of_char(word[at]);
      const double here = best[at].score;
      bool single = false;
      const auto offer = [&](std::size_t length, double score, std::int64_t id) {
        Node& node = best[at + length];
        if (node.id != kNone && !(score > node.score)) return;
        node = {score, at, id};
      };
      trie_.prefixes(word.substr(at), [&](std::size_t length, std::uint32_t id) {
        offer(length, rounded(scores_[id] + here), id);
        single = single || length == bytes;
      });
      if (!single) offer(bytes, rounded(unknown_score_ + here), unknown_ ? std::int64_t{*unknown_} : kUnknown);
      at += bytes;
    }
    // in reverse order, with adjacent unknown characters joined
    std::vector<std::pair<std::size_t, std::size_t>> spans;
    bool unknown_after = false;
    for (std::size_t end = word.size(); end > 0;) {
      const Node& node = best[end];
      if (node.id == kUnknown)
        fail<ValueError>("a character of '{}' is unknown, and unk_id is not given", word.substr(0, 40));
      const bool is_unknown = unknown_ && node.id == *unknown_;
      if (is_unknown && unknown_after) {
        spans.back().first = node.begin;
      } else {
        spans.emplace_back(node.begin, end);
      }
      unknown_after = is_unknown;
      end = node.begin;
    }
    for (auto span = spans.rbegin(); span != spans.rend(); ++span)
      append(word.substr(span->first, span->second - span->first), ids);
  }

 private:
  static constexpr std::int64_t kNone = -1, kUnknown = -2;
  struct Node {
    double score = 0;
    std::size_t begin = 0;
    std::int64_t id = kNone;
  };

  double rounded(double sum) const { return in_float32_ ? static_cast<float>(sum) : sum; }

  void append(std::string_view text, std::vector<std::int64_t>& ids) const {
    if (const auto id = vocabulary.id(text); id && !std::isnan(scores_[*id])) {
      ids.push_back(*id);
    } else if (std::all_of(text.begin(), text.end(),
                           [&](char c) { return bytes_[static_cast<unsigned char>(c)].has_value(); })) {
      for (const char c : text) ids.push_back(*bytes_[static_cast<unsigned char>(c)]);
    } else {
      ids.push_back(*unknown_);
    }
  }

  std::vector<double> scores_;
  bool in_float32_;
  double unknown_score_;
  std::optional<std::uint32_t> unknown_, bytes_[256];
  Trie trie_;
};

}  // namespace

std::unique_ptr<Model> make_unigram(Vocabulary vocabulary, std::vector<double> scores,
                                    std::optional<std::uint32_t> unknown, bool byte_fallback, const UnigramSums& sums) {
  return std::make_unique<Unigram>(std::move(vocabulary), std::move(scores), unknown, byte_fallback, sums);
}

}  // namespace catenary::tokenizers
