#pragma once
// Language models that others have trained, from their files.

#include <memory>
#include <optional>
#include <string>

#include "catenary/links/models/language_model.h"

namespace catenary::links {

/// Options of load_language_model.
struct LoadLanguageModelOptions {
  /// Of the weights, and so of all that is computed with them; when not given, that of the embeddings in the file.
  std::optional<Dtype> dtype = Dtype::float32;
  std::optional<Device> device = {};  ///< the current one when not given
  bool dequantize = false;            ///< quantised tensors become plain weights of `dtype`, which can be trained
};
/// A model with its weights, from a folder as `transformers` saves it (config.json, and model.safetensors or its parts
/// behind model.safetensors.index.json), or from a GGUF file. Known are Llama, Mistral, Qwen2, GLM-4, ChatGLM-6B and
/// GPT-2, by config.json's model_type or GGUF's general.architecture (llama, qwen2, chatglm for GLM-4, glm4, gpt2).
/// Each tensor is read, brought to its dtype and moved by itself: there is no second copy of all weights. Quantised
/// tensors, of GGUF and as `catenary quantize` writes them to safetensors, stay blocks: their links have
/// quantized() in place of W, and a `.dtype` other than float32 throws ValueError; with `.dequantize` they become W.
/// GGUF's Q4_1, Q5_0 and Q5_1 always do, and a line on standard error says so. Throws FileError for an architecture or
/// a setting that is not known, and where tensors are missing, too many, or of other shapes than the settings tell,
/// with their names.
CT_API std::unique_ptr<LanguageModel> load_language_model(const std::string& path,
                                                          const LoadLanguageModelOptions& options = {});

}  // namespace catenary::links
