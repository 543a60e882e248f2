#pragma once
// Saves language models in formats that other programs read.

#include <optional>
#include <string>

#include "catenary/links/models/language_model.h"
#include "catenary/tokenizers/tokenizer.h"

namespace catenary::links {

/// Options of save_language_model.
struct SaveLanguageModelOptions {
  std::optional<Dtype> dtype = {};          ///< of the weights: float32, float16 or bfloat16, by default unchanged
  std::optional<Tokenizer> tokenizer = {};  ///< saved beside the weights, or in the GGUF file
};
/// Saves a GPT or Llama for load_language_model, load_generator and other programs. A `path` ending with ".gguf" makes
/// a GGUF file for llama.cpp. Any other path makes a folder in the format of `transformers`: config.json and
/// model.safetensors, with a tokenizer also tokenizer.json and tokenizer_config.json. A Llama is named llama, mistral
/// or qwen2 after its biases and window.
///
/// In GGUF files vectors are float32, as llama.cpp requires, and embedding rows without a token get an unused token.
/// The end tokens are model.end_tokens, or the tokenizer's eos_id if that list is empty. An error never leaves an
/// incomplete file.
///
/// Throws ValueError for other models, for quantised weights (save plain weights and run `catenary quantize`), for
/// settings that the format cannot express, and for tokenizers that have more tokens than the model or do not fit into
/// GGUF (see gguf_tokens). Throws DtypeError for other dtypes.
CT_API void save_language_model(const std::string& path, const LanguageModel& model,
                                const SaveLanguageModelOptions& options = {});

}  // namespace catenary::links
