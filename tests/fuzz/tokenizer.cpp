// libFuzzer: reads arbitrary bytes as a tokenizer.json followed by a zero byte and a text to encode, or as a
// SentencePiece model if they begin like one. Reading may throw only FileError, and encoding only ValueError.

#include "catenary/tokenizers/tokenizer.h"

#include <cstddef>
#include <cstdlib>

#include "catenary/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = all.find('\0');
  const bool pieces = all.starts_with('\n');
  const std::string_view text =
      zero == std::string_view::npos || pieces ? "It's  na\xc3\xafve\n\xc3\xa9" : all.substr(zero + 1);
  try {
    const catenary::Tokenizer tokenizer =
        pieces ? catenary::parse_sentencepiece(all, "fuzz") : catenary::parse_tokenizer(all.substr(0, zero), "fuzz");
    try {
      const auto ids = tokenizer.encode(text, {.add_special = true, .parse_special = true});
      const std::string decoded = tokenizer.decode(ids, false);
      catenary::TokenStream stream(tokenizer, false);
      std::string streamed;
      for (const std::int64_t id : ids) streamed += stream.put(id);
      streamed += stream.finish();
      if (tokenizer.vocabulary_size() < 0) std::abort();
    } catch (const catenary::ValueError&) {
    }
  } catch (const catenary::FileError&) {
  }
  return 0;
}
