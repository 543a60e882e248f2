#define PCRE2_CODE_UNIT_WIDTH 8
#include "catenary/tokenizers/regex.h"

#include <pcre2.h>

#include <algorithm>

#include "catenary/core/format.h"
#include "catenary/tokenizers/utf8.h"

namespace catenary::tokenizers {

namespace {

std::string message_of(int code) {
  unsigned char text[256];
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

}  // namespace

struct Regex::Code {
  std::string pattern;
  pcre2_code* code = nullptr;
  ~Code() { pcre2_code_free(code); }
};

struct Regex::Search::Data {
  pcre2_match_data* match = nullptr;
  pcre2_match_context* context = nullptr;
  ~Data() {
    pcre2_match_data_free(match);
    pcre2_match_context_free(context);
  }
};

Regex::Regex(const std::string& pattern) {
  auto made = std::make_shared<Code>();
  made->pattern = pattern;
  const std::unique_ptr<pcre2_compile_context, void (*)(pcre2_compile_context*)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  if (!context) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  made->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                             PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_AUTO_CAPTURE,
                             &error, &offset, context.get());
  if (!made->code) fail<ValueError>("a regular expression that PCRE2 rejects: {}", message_of(error));
  // Without its compiler (unsupported processor, or executable memory forbidden) PCRE2 interprets.
  pcre2_jit_compile(made->code, PCRE2_JIT_COMPLETE);
  code_ = std::move(made);
}

Regex Regex::oniguruma(std::string_view expression) { return Regex(translate_expression(expression)); }

Regex::Search::Search(const Regex& regex, std::string_view text)
    : text_(text), code_(*regex.code_), data_(std::make_unique<Data>()) {
  data_->match = pcre2_match_data_create(1, nullptr);
  data_->context = pcre2_match_context_create(nullptr);
  if (!data_->match || !data_->context) throw std::bad_alloc();
  // Limits the steps of a match, which can grow without bound. Words need few, and a run of spaces one per space.
  constexpr std::size_t kSteps = 1'000'000;
  constexpr std::uint32_t kHeapKib = 256 << 10;
  const std::size_t steps = std::min(kSteps + 20 * text.size(), std::size_t{UINT32_MAX});
  pcre2_set_match_limit(data_->context, static_cast<std::uint32_t>(steps));
  pcre2_set_heap_limit(data_->context, kHeapKib);
}

Regex::Search::~Search() = default;

std::optional<std::pair<std::size_t, std::size_t>> Regex::Search::next() {
  while (from_ <= text_.size()) {
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text_.data() ? text_.data() : "");
    int found = pcre2_match(code_.code, subject, text_.size(), from_, PCRE2_NO_UTF_CHECK, data_->match, data_->context);
    // the interpreter keeps its stack on the heap
    if (found == PCRE2_ERROR_JIT_STACKLIMIT)
      found = pcre2_match(code_.code, subject, text_.size(), from_, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data_->match,
                          data_->context);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0)
      fail<ValueError>("the regular expression '{}' on a text of {} bytes: {}", code_.pattern.substr(0, 200),
                       text_.size(), message_of(found));
    const PCRE2_SIZE* span = pcre2_get_ovector_pointer(data_->match);
    if (span[0] == span[1] && last_end_ == span[1]) {
      from_ += from_ < text_.size() ? bytes_of_char(text_[from_]) : 1;
      continue;
    }
    last_end_ = from_ = span[1];
    return std::pair{span[0], span[1]};
  }
  from_ = text_.size() + 1;
  return std::nullopt;
}

}  // namespace catenary::tokenizers
