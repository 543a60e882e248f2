// Trains byte pairs and writes the resulting tokenizer.json.

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "catenary/core/format.h"
#include "catenary/tokenizers/json.h"
#include "catenary/tokenizers/pipeline.h"

namespace catenary {

namespace tokenizers {

namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

class Trainer {
 public:
  Trainer(std::string_view text, std::int64_t size, const TrainOptions& options) : options_(options) {
    for (const std::string& special : options.special) {
      if (special.empty() || !is_valid(special))
        fail<ValueError>("train_byte_pairs: a special token that is empty or not UTF-8");
      token(special);
    }
    std::vector<std::string> alphabet;  // indexed by the character's number, not the byte
    for (char32_t c = 0; c < 324; ++c)
      if (byte_of_char(c) >= 0) append_char(alphabet.emplace_back(), c);
    for (const std::string& character : alphabet) token(character);
    if (tokens_.size() != options.special.size() + 256)
      fail<ValueError>("train_byte_pairs: a special token that is there twice, or is one byte");
    if (size < static_cast<std::int64_t>(tokens_.size()))
      fail<ValueError>("train_byte_pairs: a vocabulary of {} tokens; 256 bytes and {} special tokens need {}", size,
                       options.special.size(), tokens_.size());
    read(text);
    merge(static_cast<std::size_t>(size));
  }

  std::string json() const {
    using nlohmann::ordered_json;
    ordered_json vocabulary = ordered_json::object(), merges = ordered_json::array(), added = ordered_json::array();
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      vocabulary.get_ref<ordered_json::object_t&>().emplace_back(*tokens_[i], i);
    for (const auto& [left, right] : merges_) merges.push_back({*tokens_[left], *tokens_[right]});
    for (std::size_t i = 0; i < options_.special.size(); ++i)
      added.push_back({{"id", i},
                       {"content", options_.special[i]},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", true}});
    const ordered_json bytes = {
        {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
    const ordered_json document = {{"version", "1.0"},
                                   {"truncation", nullptr},
                                   {"padding", nullptr},
                                   {"added_tokens", added},
                                   {"normalizer", nullptr},
                                   {"pre_tokenizer", bytes},
                                   {"post_processor", bytes},
                                   {"decoder", bytes},
                                   {"model",
                                    {{"type", "BPE"},
                                     {"dropout", nullptr},
                                     {"unk_token", nullptr},
                                     {"continuing_subword_prefix", nullptr},
                                     {"end_of_word_suffix", nullptr},
                                     {"fuse_unk", false},
                                     {"byte_fallback", false},
                                     {"ignore_merges", false},
                                     {"vocab", vocabulary},
                                     {"merges", merges}}}};
    return document.dump(1) + "\n";
  }

 private:
  struct Word {
    std::vector<std::uint32_t> ids;
    std::int64_t count = 0;
  };
  /// Words that contain a pair. A pair may have two candidates: its first words, and words found later.
  struct Candidate {
    std::int64_t count;
    Pair pair;
    std::unordered_set<std::uint32_t> words;
    /// most frequent first, then lowest ids
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };
  static std::uint64_t key(const Pair& pair) { return std::uint64_t{pair.first} << 32 | pair.second; }

  std::uint32_t token(const std::string& text) {
    const auto [place, made] = ids_.emplace(text, static_cast<std::uint32_t>(tokens_.size()));
    if (made) tokens_.push_back(&place->first);
    return place->second;
  }

  /// Counts the words of the text.
  void read(std::string_view text) {
    Pieces pieces;
    append_valid(pieces.text, text);
    pieces.list.push_back({0, pieces.text.size(), -1, true});
    if (!pieces.text.empty()) make_byte_level(false, true)->apply(pieces);
    std::unordered_map<std::string_view, std::int64_t> counts;
    for (const Piece& piece : pieces.list) ++counts[pieces.of(piece)];
    for (const auto& [word, count] : counts) {
      Word made;
      made.count = count;
      for (std::size_t at = 0; at < word.size();) {
        const std::size_t bytes = bytes_of_char(word[at]);
        made.ids.push_back(ids_.at(std::string(word.substr(at, bytes))));
        at += bytes;
      }
      words_.push_back(std::move(made));
    }
  }

  void merge(std::size_t size) {
    std::map<Pair, std::unordered_set<std::uint32_t>> found;
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::size_t i = 0; i + 1 < words_[w].ids.size(); ++i) {
        const Pair pair{words_[w].ids[i], words_[w].ids[i + 1]};
        counts_.at(key(pair)) += words_[w].count;
        found[pair].insert(static_cast<std::uint32_t>(w));
      }
    std::vector<Candidate> queue;
    const auto enqueue = [&] {
      for (auto& [pair, words] : found) {
        const std::int64_t count = counts_.at(key(pair));
        if (count <= 0) continue;
        queue.push_back({count, pair, std::move(words)});
        std::push_heap(queue.begin(), queue.end());
      }
      found.clear();
    };
    enqueue();
    while (tokens_.size() < size && !queue.empty()) {
      std::pop_heap(queue.begin(), queue.end());
      Candidate top = std::move(queue.back());
      queue.pop_back();
      const std::int64_t count = counts_.at(key(top.pair));
      if (count != top.count) {  // other merges have used some of its occurrences
        top.count = count;
        queue.push_back(std::move(top));
        std::push_heap(queue.begin(), queue.end());
        continue;
      }
      if (count < 1 || count < options_.min_count) break;
      const std::uint32_t joined = token(*tokens_[top.pair.first] + *tokens_[top.pair.second]);
      merges_.push_back(top.pair);
      for (const std::uint32_t w : top.words) replace(w, top.pair, joined, found);
      enqueue();
    }
  }

  /// Replaces a pair in a word by a single token.
  void replace(std::uint32_t w, const Pair& pair, std::uint32_t joined,
               std::map<Pair, std::unordered_set<std::uint32_t>>& found) {
    Word& word = words_[w];
    std::vector<std::uint32_t>& ids = word.ids;
    const auto change = [&](const Pair& changed, std::int64_t by) {
      counts_.at(key(changed)) += by * word.count;
      if (by > 0) found[changed].insert(w);
    };
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i + 1 == ids.size() || ids[i] != pair.first || ids[i + 1] != pair.second) {
        ids[kept++] = ids[i];
        continue;
      }
      if (kept > 0) {
        change({ids[kept - 1], pair.first}, -1);
        change({ids[kept - 1], joined}, 1);
      }
      if (i + 2 < ids.size()) {
        change({pair.second, ids[i + 2]}, -1);
        change({joined, ids[i + 2]}, 1);
      }
      ids[kept++] = joined;
      ++i;
    }
    ids.resize(kept);
  }

  const TrainOptions& options_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<const std::string*> tokens_;
  std::vector<Word> words_;
  NumberMap<std::int64_t> counts_;
  std::vector<Pair> merges_;
};

}  // namespace

}  // namespace tokenizers

Tokenizer train_byte_pairs(std::string_view text, std::int64_t vocabulary_size, const TrainOptions& options) {
  auto state =
      tokenizers::read_tokenizer(tokenizers::Trainer(text, vocabulary_size, options).json(), "of train_byte_pairs");
  if (!options.special.empty()) state->bos = state->eos = 0;
  return Tokenizer(std::move(state));
}

}  // namespace catenary
