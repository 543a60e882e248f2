#pragma once
// Language models as files that other programs run.

#include <optional>
#include <string>

#include "catenary/links/models/language_model.h"
#include "catenary/tokenizers/tokenizer.h"

namespace catenary::links {

/// Options of save_language_model.
struct SaveLanguageModelOptions {
  std::optional<Dtype> dtype = {};          ///< of the weights: float32, float16 or bfloat16; their own when not given
  std::optional<Tokenizer> tokenizer = {};  ///< written beside the weights, or into the GGUF file
};
/// Writes what load_language_model and load_generator read: a GGUF file where `path` ends with ".gguf", as llama.cpp
/// runs it, and else a folder as `transformers` has it (config.json and model.safetensors; with a tokenizer also
/// tokenizer.json and tokenizer_config.json). Of GPT and Llama; one of Llama's shape is called llama, mistral or qwen2,
/// whichever has its biases and its window. In GGUF vectors are float32, as llama.cpp wants them, and rows of
/// embeddings that the tokenizer has no token for get one that is unused. A text ends with model.end_tokens, or, where
/// there are none, with the tokenizer's eos_id. Each file is complete or not there.
///
/// Throws ValueError for another model, for quantised weights (`catenary quantize` makes a quantised GGUF file of a
/// plain one), for settings that the form has no word for, for a tokenizer with more tokens than the model and one that
/// GGUF cannot hold (see gguf_tokens); DtypeError for another dtype.
CT_API void save_language_model(const std::string& path, const LanguageModel& model,
                                const SaveLanguageModelOptions& options = {});

}  // namespace catenary::links
