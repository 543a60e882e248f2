#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

#include "catenary/core/format.h"
#include "catenary/tokenizers/pieces.h"
#include "catenary/tokenizers/unicode_tables.h"
#include "catenary/tokenizers/utf8.h"

namespace catenary::tokenizers {

namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

class Unicode : public Normalizer {
 public:
  explicit Unicode(Form form) : form_(form) {}

  std::string apply(std::string text, Normalizing&) const override {
    if (is_ascii(text)) return text;
    std::string made;
    std::size_t from = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t here = at;
      if (!kept(next_char(text, at))) continue;
      append(made, std::string_view(text).substr(from, here - from));
      made.append(text, here, at - here);
      from = at;
    }
    append(made, std::string_view(text).substr(from));
    return made;
  }

 private:
  static bool kept(char32_t c) {
    if (c < kNotNormalized[0].first) return false;
    const auto* after = std::upper_bound(std::begin(kNotNormalized), std::end(kNotNormalized), c,
                                         [](char32_t value, const CodeRange& range) { return value < range.first; });
    return c <= (after - 1)->last;
  }

  void append(std::string& made, std::string_view part) const {
    if (is_ascii(part)) {
      made += part;
      return;
    }
    int options = UTF8PROC_STABLE;
    options |= form_ == Form::nfc || form_ == Form::nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
    if (form_ == Form::nfkc || form_ == Form::nfkd) options |= UTF8PROC_COMPAT;
    utf8proc_uint8_t* result = nullptr;
    const auto size =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(part.data()), static_cast<utf8proc_ssize_t>(part.size()),
                     &result, static_cast<utf8proc_option_t>(options));
    const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(result, std::free);
    if (size < 0) fail<ValueError>("a text of {} bytes was not normalized: {}", part.size(), utf8proc_errmsg(size));
    made.append(reinterpret_cast<const char*>(result), static_cast<std::size_t>(size));
  }

  Form form_;
};

class Lowercase : public Normalizer {
 public:
  std::string apply(std::string text, Normalizing&) const override {
    std::string made;
    made.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
      const char32_t c = next_char(text, at);
      append_char(made, small(c));
      if (c == 0x130) append_char(made, 0x307);  // the only letter whose lower-case form is two characters
    }
    return made;
  }

 private:
  static char32_t small(char32_t c) {
    if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
    if (c == 0x130) return 'i';
    for (const Lower& row : kLower)
      if (c >= row.first && c <= row.last) return row.to + (c - row.first);
    return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
  }
};

class Prepended : public Normalizer {
 public:
  explicit Prepended(std::string what) : what_(std::move(what)) {}
  std::string apply(std::string text, Normalizing& state) const override {
    if (text.size() + what_.size() > state.most)
      fail<ValueError>("the normalizer Prepend of '{}' makes more than {} bytes of a text", what_.substr(0, 40),
                       state.most);
    return text.empty() ? text : what_ + text;
  }

 private:
  std::string what_;
};

class Replace : public Normalizer {
 public:
  Replace(Pattern pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  std::string apply(std::string text, Normalizing& state) const override {
    if (content_.empty())
      pattern_.for_each(text, [&](std::size_t begin, std::size_t end) {
        if (begin == 0 && end > 0) state.loses_beginning = true;
      });
    return pattern_.replaced(text, content_, state.most);
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class Strip : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  std::string apply(std::string text, Normalizing& state) const override {
    std::size_t begin = 0, end = 0;
    bool inside = false;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t here = at;
      if (is_space(next_char(text, at))) continue;
      if (!inside) begin = here;
      inside = true;
      end = at;
    }
    if (!inside) return left_ || right_ ? "" : text;
    if (left_ && begin > 0) state.loses_beginning = true;
    if (right_) text.resize(end);
    return left_ ? text.substr(begin) : text;
  }

 private:
  bool left_, right_;
};

class Steps : public Normalizer {
 public:
  explicit Steps(std::vector<std::unique_ptr<Normalizer>> steps) : steps_(std::move(steps)) {}
  std::string apply(std::string text, Normalizing& state) const override {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      text = steps_[i]->apply(std::move(text), state);
      if (text.size() > state.most)
        fail<ValueError>("the normalizer's step {} makes more than {} bytes of a text", i, state.most);
    }
    return text;
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> steps_;
};

}  // namespace

std::string Pattern::replaced(std::string_view text, std::string_view content, std::size_t most) const {
  std::string made;
  std::size_t from = 0;
  for_each(text, [&](std::size_t begin, std::size_t end) {
    if (made.size() + (begin - from) + content.size() > most)
      fail<ValueError>("Replace by '{}' makes more than {} bytes of a text", content.substr(0, 40), most);
    made += text.substr(from, begin - from);
    made += content;
    from = end;
  });
  made += text.substr(from);
  return made;
}

std::unique_ptr<Normalizer> make_form(Form form) { return std::make_unique<Unicode>(form); }
std::unique_ptr<Normalizer> make_lowercase() { return std::make_unique<Lowercase>(); }
std::unique_ptr<Normalizer> make_prepend(std::string what) { return std::make_unique<Prepended>(std::move(what)); }
std::unique_ptr<Normalizer> make_replace(Pattern pattern, std::string content) {
  return std::make_unique<Replace>(std::move(pattern), std::move(content));
}
std::unique_ptr<Normalizer> make_strip(bool left, bool right) { return std::make_unique<Strip>(left, right); }
std::unique_ptr<Normalizer> make_sequence(std::vector<std::unique_ptr<Normalizer>> steps) {
  return std::make_unique<Steps>(std::move(steps));
}

}  // namespace catenary::tokenizers
