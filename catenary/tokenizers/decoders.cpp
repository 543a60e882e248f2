#include <algorithm>

#include "catenary/tokenizers/pipeline.h"

namespace catenary::tokenizers {

namespace {

class Bytes : public Decoder {
 public:
  void apply(std::vector<std::string>& tokens, bool raw) const override {
    std::string all, bytes;
    for (const std::string& token : tokens) {
      bytes.clear();
      bool whole = true;
      for (std::size_t at = 0; at < token.size() && whole;) {
        const int byte = byte_of_char(next_char(token, at));
        whole = byte >= 0;
        bytes += static_cast<char>(byte);
      }
      all += whole ? bytes : token;
    }
    tokens.assign(1, "");
    if (raw) {
      tokens[0] = std::move(all);
    } else {
      append_valid(tokens[0], all);
    }
  }
};

class Metaspace : public Decoder {
 public:
  Metaspace(std::string replacement, Prepend prepend) : replacement_(std::move(replacement)), prepend_(prepend) {}
  void apply(std::vector<std::string>& tokens, bool) const override {
    const Pattern pattern(replacement_);
    for (std::size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = pattern.replaced(tokens[i], i == 0 && prepend_ != Prepend::never ? "" : " ");
  }

 private:
  std::string replacement_;
  Prepend prepend_;
};

class Fallback : public Decoder {
 public:
  explicit Fallback(bool by_characters) : by_characters_(by_characters) {}
  void apply(std::vector<std::string>& tokens, bool raw) const override {
    std::vector<std::string> made;
    std::string bytes;
    const auto flush = [&] {
      if (bytes.empty()) return;
      if (raw || is_valid(bytes)) {
        made.push_back(bytes);
      } else {
        for (std::size_t at = 0; at < bytes.size();) {
          const std::string_view rest = std::string_view(bytes).substr(at);
          const std::string_view character = rest.substr(0, bytes_of_char(rest[0]));
          const bool whole = by_characters_ && is_valid(character);
          made.emplace_back(whole ? character : "\xef\xbf\xbd");
          at += whole ? character.size() : 1;
        }
      }
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const int byte = byte_of_name(token); byte >= 0) {
        bytes += static_cast<char>(byte);
        continue;
      }
      flush();
      made.push_back(std::move(token));
    }
    flush();
    tokens.swap(made);
  }

 private:
  bool by_characters_;
};

class Join : public Decoder {
 public:
  explicit Join(std::string between) : between_(std::move(between)) {}
  void apply(std::vector<std::string>& tokens, bool) const override {
    std::string all;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0) all += between_;
      all += tokens[i];
    }
    tokens.assign(1, std::move(all));
  }

 private:
  std::string between_;
};

class Replace : public Decoder {
 public:
  Replace(Pattern pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(std::vector<std::string>& tokens, bool raw) const override {
    for (std::string& token : tokens) {
      if (raw && !is_valid(token)) {  // regular expressions need valid UTF-8
        std::string valid;
        append_valid(valid, token);
        token.swap(valid);
      }
      token = pattern_.replaced(token, content_, most_bytes_of(token.size()));
    }
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class Strip : public Decoder {
 public:
  Strip(std::string content, std::size_t start, std::size_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}
  void apply(std::vector<std::string>& tokens, bool) const override {
    for (std::string& token : tokens) {
      std::string_view rest = token;
      for (std::size_t i = 0; i < start_ && rest.starts_with(content_); ++i) rest.remove_prefix(content_.size());
      for (std::size_t i = 0; i < stop_ && rest.ends_with(content_); ++i) rest.remove_suffix(content_.size());
      token = std::string(rest);
    }
  }

 private:
  std::string content_;
  std::size_t start_, stop_;
};

}  // namespace

std::unique_ptr<Decoder> make_byte_decoder() { return std::make_unique<Bytes>(); }
std::unique_ptr<Decoder> make_metaspace_decoder(std::string replacement, Prepend prepend) {
  return std::make_unique<Metaspace>(std::move(replacement), prepend);
}
std::unique_ptr<Decoder> make_fallback_decoder(bool by_characters) { return std::make_unique<Fallback>(by_characters); }
std::unique_ptr<Decoder> make_fuse_decoder() { return std::make_unique<Join>(""); }
std::unique_ptr<Decoder> make_join_decoder(std::string between) { return std::make_unique<Join>(std::move(between)); }
std::unique_ptr<Decoder> make_replace_decoder(Pattern pattern, std::string content) {
  return std::make_unique<Replace>(std::move(pattern), std::move(content));
}
std::unique_ptr<Decoder> make_strip_decoder(std::string content, std::size_t start, std::size_t stop) {
  return std::make_unique<Strip>(std::move(content), start, stop);
}

}  // namespace catenary::tokenizers
