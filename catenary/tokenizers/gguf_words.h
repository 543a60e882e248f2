#pragma once
// Private: GGUF's pre-tokenizers of byte pairs, by the name in tokenizer.ggml.pre.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/tokenizers/pieces.h"

namespace catenary::tokenizers {

/// A pre-tokenizer with its settings.
struct GgufWords {
  std::unique_ptr<PreTokenizer> words;
  bool ignore_merges = false;  ///< a word that equals a token becomes that token, without merges
  bool add_bos = false;        ///< default if the file has no setting
  bool of_characters = false;  ///< tokens are characters and byte names ("<0x0A>"), not GPT-2's byte characters
  bool marks_spaces = false;   ///< spaces become U+2581
  bool whole_lines = false;    ///< a word of line ends only is looked up as a token
};
/// Returns the pre-tokenizer, or null for unknown names.
std::unique_ptr<GgufWords> gguf_words(std::string_view name);
/// Returns the expressions of Split steps that, followed by a ByteLevel step, equal a pre-tokenizer. Nullopt if there
/// are none: unknown names, groups of digits, and tokens of characters.
std::optional<std::vector<std::string>> gguf_expressions(std::string_view name);
/// Returns all names, separated by commas.
std::string gguf_words_names();

}  // namespace catenary::tokenizers
