#pragma once
// Private: the words of GGUF's byte pairs, by the name that tokenizer.ggml.pre has.

#include <memory>
#include <string>
#include <string_view>

#include "catenary/tokenizers/pieces.h"

namespace catenary::tokenizers {

/// What comes before the merges.
struct GgufWords {
  std::unique_ptr<PreTokenizer> words;
  bool ignore_merges = false;  ///< a word that is a token is that token
  bool add_bos = false;        ///< where the file does not say
  bool of_characters = false;  ///< tokens are of characters and bytes ("<0x0A>"), and not of GPT-2's bytes
  bool marks_spaces = false;   ///< a space is U+2581
  bool whole_lines = false;    ///< a word of line ends alone is its token
};
/// By the name, or null where it is not known.
std::unique_ptr<GgufWords> gguf_words(std::string_view name);
/// All names, with commas between them.
std::string gguf_words_names();

}  // namespace catenary::tokenizers
