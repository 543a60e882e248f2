// Reads models of SentencePiece (tokenizer.model, spiece.model), which are protocol buffers, and rebuilds its steps.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "catenary/core/format.h"
#include "catenary/tokenizers/pipeline.h"

namespace catenary {

namespace tokenizers {

namespace {

// ---- the file ----

/// The fields of a protocol-buffers message, in sequence.
class Message {
 public:
  Message(std::string_view bytes, std::size_t at, const std::string& file) : bytes_(bytes), start_(at), file_(&file) {}

  /// Advances to the next field. Returns false at the end.
  bool next() {
    if (at_ == bytes_.size()) return false;
    const std::uint64_t key = varint();
    field_ = key >> 3;
    switch (key & 7) {
      case 0:
        number_ = varint();
        break;
      case 1:
        content_ = take(8);
        break;
      case 2:
        content_ = take(varint());
        break;
      case 5:
        content_ = take(4);
        break;
      default:
        refuse("a field of the unknown kind {}", key & 7);
    }
    kind_ = static_cast<int>(key & 7);
    return true;
  }
  std::uint64_t field() const { return field_; }
  std::string_view text() const {
    if (kind_ != 2) refuse("field {} is a number, expected a string", field_);
    return content_;
  }
  Message message() const { return {text(), start_ + at_ - content_.size(), *file_}; }
  std::uint64_t number() const {
    if (kind_ != 0) refuse("field {} is no whole number", field_);
    return number_;
  }
  float real() const {
    if (kind_ != 5) refuse("field {} is no float32", field_);
    std::uint32_t bits = 0;
    for (int i = 0; i < 4; ++i)
      bits |= std::uint32_t{static_cast<unsigned char>(content_[static_cast<std::size_t>(i)])} << 8 * i;
    return std::bit_cast<float>(bits);
  }
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw FileError(
        fmt::format("{}: at byte {}: {}", *file_, start_ + at_, fmt::format(format, std::forward<Args>(args)...)));
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) refuse("the file ends within a number");
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    refuse("a number of more than ten bytes");
  }
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) refuse("expected {} more bytes, but {} are left", count, bytes_.size() - at_);
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  std::string_view bytes_, content_;
  std::size_t start_, at_ = 0;
  const std::string* file_;
  std::uint64_t field_ = 0, number_ = 0;
  int kind_ = 0;
};

enum Type : std::uint64_t { kNormal = 1, kUnknown, kControl, kUsers, kUnused, kByte };

/// The content of a file. Field numbers are those of SentencePiece's sentencepiece_model.proto.
struct File {
  struct Entry {
    std::string_view text;
    float score = 0;
    std::uint64_t type = kNormal;
  };
  std::vector<Entry> pieces;
  std::uint64_t model = 1;  // unigram, bpe, word, char
  bool byte_fallback = false, suffix = false;
  std::int64_t bos = 1, eos = 2;
  std::string_view charsmap;
  bool dummy_prefix = true, remove_extra = true, escape = true;

  File(std::string_view bytes, const std::string& name) {
    Message file(bytes, 0, name);
    while (file.next()) {
      if (file.field() == 1) {
        add(file.message());
      } else if (file.field() == 2) {
        for (Message trainer = file.message(); trainer.next();) read_trainer(trainer);
      } else if (file.field() == 3) {
        for (Message normalizer = file.message(); normalizer.next();) read_normalizer(normalizer);
      }
    }
    if (pieces.empty()) file.refuse("there are no pieces, so this is probably not a SentencePiece model");
  }

 private:
  void add(Message piece) {
    Entry entry;
    while (piece.next()) {
      if (piece.field() == 1) entry.text = piece.text();
      if (piece.field() == 2) entry.score = piece.real();
      if (piece.field() == 3) entry.type = piece.number();
    }
    if (entry.type < kNormal || entry.type > kByte) piece.refuse("a piece of the unknown type {}", entry.type);
    if (entry.text.empty() || !is_valid(entry.text)) piece.refuse("the piece {} is empty or not UTF-8", pieces.size());
    constexpr std::size_t kMost = 4096;  // longer pieces would let a small file slow down encoding
    if (entry.text.size() > kMost)
      piece.refuse("the piece {} has {} bytes, which is more than {}", pieces.size(), entry.text.size(), kMost);
    if (!std::isfinite(entry.score)) piece.refuse("the score of the piece {} is not finite", pieces.size());
    pieces.push_back(entry);
  }
  void read_trainer(const Message& trainer) {
    switch (trainer.field()) {
      case 3:
        model = trainer.number();
        break;
      case 24:
        suffix = trainer.number() != 0;
        break;
      case 35:
        byte_fallback = trainer.number() != 0;
        break;
      case 41:
        bos = static_cast<std::int32_t>(trainer.number());
        break;
      case 42:
        eos = static_cast<std::int32_t>(trainer.number());
        break;
      default:
        break;
    }
  }
  void read_normalizer(const Message& normalizer) {
    switch (normalizer.field()) {
      case 2:
        charsmap = normalizer.text();
        break;
      case 3:
        dummy_prefix = normalizer.number() != 0;
        break;
      case 4:
        remove_extra = normalizer.number() != 0;
        break;
      case 5:
        escape = normalizer.number() != 0;
        break;
      default:
        break;
    }
  }
};

// ---- the steps of SentencePiece ----

/// SentencePiece's normalization: repeatedly replaces the longest prefix found in the table, and keeps user-defined
/// pieces. Optionally merges runs of spaces and adds a space before the text.
class SpaceMarks : public Normalizer {
 public:
  explicit SpaceMarks(const File& file)
      : dummy_prefix_(file.dummy_prefix), remove_extra_(file.remove_extra), escape_(file.escape) {
    if (!file.charsmap.empty()) table_.emplace(file.charsmap);
    for (const File::Entry& piece : file.pieces)
      if (piece.type == kUsers) users_.add(piece.text, 0);
  }

  std::string apply(std::string all, Normalizing&) const override {
    std::string_view text = all;
    if (remove_extra_)
      for (Step step = next(text); !text.empty() && step.content == " "; step = next(text))
        text.remove_prefix(step.bytes);
    std::string made;
    if (text.empty()) return made;
    const std::string_view space = escape_ ? std::string_view(kSpaceMark) : " ";
    if (dummy_prefix_) made += space;
    bool after_space = remove_extra_;
    while (!text.empty()) {
      const Step step = next(text);
      std::string_view content = step.content;
      while (after_space && content.starts_with(' ')) content.remove_prefix(1);
      for (const char c : content) c == ' ' ? made += space : made += c;
      if (!content.empty()) after_space = remove_extra_ && content.ends_with(' ');
      text.remove_prefix(step.bytes);
    }
    while (remove_extra_ && made.ends_with(space)) made.erase(made.size() - space.size());
    return made;
  }

 private:
  struct Step {
    std::size_t bytes = 0;
    std::string_view content;
  };
  /// The next prefix of the text and its replacement.
  Step next(std::string_view text) const {
    if (text.empty()) return {};
    std::size_t whole = 0;
    users_.prefixes(text, [&](std::size_t bytes, std::uint32_t) { whole = bytes; });
    if (whole == 0 && table_)
      if (const auto found = table_->longest(text)) return {found->bytes, found->content};
    if (whole == 0) whole = std::min(bytes_of_char(text[0]), text.size());
    return {whole, text.substr(0, whole)};
  }

  bool dummy_prefix_, remove_extra_, escape_;
  std::optional<Charsmap> table_;
  Trie users_;
};

/// Removes the space that SentencePiece added before the text. With `all`, also removes tokens that are only that
/// space.
class FirstSpace : public Decoder {
 public:
  explicit FirstSpace(bool all) : all_(all) {}
  void apply(std::vector<std::string>& tokens, bool) const override {
    for (std::string& token : tokens) {
      if (token.starts_with(kSpaceMark)) token.erase(0, std::string_view(kSpaceMark).size());
      if (!all_ || !token.empty()) return;
    }
  }

 private:
  bool all_;
};

/// Decodes tokens that represent a text other than their name.
class Named : public Decoder {
 public:
  explicit Named(std::unordered_map<std::string, std::string> names) : names_(std::move(names)) {}
  void apply(std::vector<std::string>& tokens, bool) const override {
    for (std::string& token : tokens)
      if (const auto found = names_.find(token); found != names_.end()) token = found->second;
  }

 private:
  std::unordered_map<std::string, std::string> names_;
};

class Reader {
 public:
  Reader(const File& file, const std::string& name) : file_(file), name_(name) {}

  std::shared_ptr<Tokenizer::State> read() {
    state_->name = name_;
    if (file_.suffix) refuse("spaces after words are not supported");
    Vocabulary vocabulary;
    for (std::size_t i = 0; i < file_.pieces.size(); ++i) {
      const auto& piece = file_.pieces[i];
      const auto id = static_cast<std::uint32_t>(i);
      try {
        vocabulary.add(piece.text, id);
      } catch (const ValueError& e) {
        refuse("the piece {}: {}", i, e.what());
      }
      if (piece.type == kUnknown) unknown_ = id;
      if (piece.type == kUnknown || piece.type == kControl) add(piece.text, id, true);
      if (piece.type == kUsers && file_.model == 2) add(piece.text, id, false);
    }
    if (file_.model == 1) {
      unigram(std::move(vocabulary));
    } else if (file_.model == 2) {
      pairs(std::move(vocabulary));
    } else {
      refuse("word and character models are not supported; expected unigram or bpe");
    }
    steps();
    state_->added.finish(nullptr);
    const auto end = [&](std::int64_t id) {
      return id >= 0 && id < static_cast<std::int64_t>(file_.pieces.size()) ? std::optional(id) : std::nullopt;
    };
    state_->bos = end(file_.bos);
    state_->eos = end(file_.eos);
    if (chatglm_) surround_as_chatglm();
    return std::move(state_);
  }

 private:
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw FileError(fmt::format("{}: {}", name_, fmt::format(format, std::forward<Args>(args)...)));
  }

  void add(std::string_view text, std::uint32_t id, bool special) {
    AddedToken token;
    token.content = text;
    token.id = id;
    token.special = special;
    token.normalized = !special;  // found in the normalized text, as the normalizer keeps it
    state_->added.add(std::move(token));
  }

  /// Whether the model may use this piece in texts.
  static bool is_in_texts(const File::Entry& piece) { return piece.type == kNormal || piece.type == kUsers; }

  void unigram(Vocabulary vocabulary) {
    float least = std::numeric_limits<float>::infinity(), most = -least;
    for (const File::Entry& piece : file_.pieces) {
      if (piece.type != kNormal) continue;
      least = std::min(least, piece.score);
      most = std::max(most, piece.score);
    }
    std::vector<double> scores;
    for (const File::Entry& piece : file_.pieces) {
      // a user-defined piece gets the score of the best piece for each of its bytes, minus a little
      const double of_users = double{static_cast<float>(piece.text.size()) * most - 0.1F};
      scores.push_back(!is_in_texts(piece)    ? std::numeric_limits<double>::quiet_NaN()
                       : piece.type == kUsers ? of_users
                                              : static_cast<double>(piece.score));
    }
    state_->model = make_unigram(std::move(vocabulary), std::move(scores), unknown_, file_.byte_fallback,
                                 UnigramSums{.least = least, .in_float32 = true});
  }

  void pairs(Vocabulary vocabulary) {
    std::vector<float> scores;
    for (const File::Entry& piece : file_.pieces) {
      if (piece.type == kUnused) refuse("unused pieces in a bpe model are not supported");
      scores.push_back(piece.type == kNormal ? piece.score : std::numeric_limits<float>::quiet_NaN());
    }
    state_->model = make_scored_pairs(std::move(vocabulary), std::move(scores), unknown_, true);
  }

  /// Sets up the steps from a text to the model's input, and back.
  void steps() {
    const auto find = [&](std::string_view text) { return state_->model->vocabulary.id(text); };
    chatglm_ = find("<n>") && find("<|tab|>") && find("<|blank_2|>") && find("[gMASK]") && find("<sop>");
    std::vector<std::unique_ptr<Normalizer>> steps;
    std::unordered_map<std::string, std::string> names;
    if (chatglm_) {
      const auto stands_for = [&](std::string name, std::string text) {
        steps.push_back(make_replace(Pattern(text), name));
        names.emplace(std::move(name), std::move(text));
      };
      constexpr std::size_t kMostSpaces = 80;
      stands_for("<n>", "\n");
      stands_for("<|tab|>", "\t");
      for (std::size_t n = kMostSpaces; n >= 2; --n)
        if (const std::string name = fmt::format("<|blank_{}|>", n); find(name)) stands_for(name, std::string(n, ' '));
    }
    try {
      steps.push_back(std::make_unique<SpaceMarks>(file_));
    } catch (const ValueError& e) {
      refuse("precompiled_charsmap: {}", e.what());
    }
    state_->normalizer = make_sequence(std::move(steps));
    if (file_.dummy_prefix || file_.remove_extra)
      state_->decoders.push_back(std::make_unique<FirstSpace>(file_.remove_extra));
    state_->decoders.push_back(make_replace_decoder(Pattern(std::string(kSpaceMark)), " "));
    if (!names.empty()) state_->decoders.push_back(std::make_unique<Named>(std::move(names)));
    state_->decoders.push_back(make_fallback_decoder(true));
    state_->decoders.push_back(make_fuse_decoder());
  }

  void surround_as_chatglm() {
    const auto id = [&](const char* text) { return std::int64_t{*state_->model->vocabulary.id(text)}; };
    state_->templates.push_back({{true}, {false, {id("[gMASK]"), id("<sop>")}}});
    state_->bos = id("<sop>");
    if (const auto end = state_->model->vocabulary.id("<eop>")) state_->eos = *end;
  }

  const File& file_;
  const std::string& name_;
  std::optional<std::uint32_t> unknown_;
  bool chatglm_ = false;
  std::shared_ptr<Tokenizer::State> state_ = std::make_shared<Tokenizer::State>();
};

}  // namespace

std::shared_ptr<Tokenizer::State> read_sentencepiece(std::string_view model, const std::string& name) {
  const File file(model, name);
  return Reader(file, name).read();
}

}  // namespace tokenizers

Tokenizer parse_sentencepiece(std::string_view model, const std::string& name) {
  return Tokenizer(tokenizers::read_sentencepiece(model, name));
}

}  // namespace catenary
