#pragma once
// Loads pretrained language models from their files.

#include <memory>
#include <optional>
#include <string>

#include "catenary/links/models/language_model.h"

namespace catenary::links {

/// Options of load_language_model.
struct LoadLanguageModelOptions {
  /// Dtype of the weights, and so of the computation. nullopt keeps the dtype of the file's embeddings.
  std::optional<Dtype> dtype = Dtype::float32;
  std::optional<Device> device = {};  ///< by default the current device
  bool dequantize = false;            ///< convert quantised tensors to plain weights of `dtype`, which can be trained
};
/// Loads a model with its weights from a folder in the format of `transformers` (config.json with model.safetensors, or
/// with its parts and model.safetensors.index.json) or from a GGUF file. Supports Llama, Mistral, Qwen2, GLM-4,
/// ChatGLM-6B and GPT-2, by config.json's model_type or GGUF's general.architecture (llama, qwen2, chatglm for GLM-4,
/// glm4, gpt2).
///
/// Tensors are read, converted and moved one at a time, so the weights never exist twice in memory. Quantised tensors
/// (from GGUF, or from safetensors files of `catenary quantize`) stay quantised: their links have quantized() in place
/// of W, and `.dtype` must be float32, else ValueError. With `.dequantize` they become W. GGUF's Q4_1, Q5_0 and Q5_1
/// always become W, with a line on standard error.
///
/// Throws FileError for unknown architectures or settings, and for missing, surplus or misshapen tensors, with their
/// names.
CT_API std::unique_ptr<LanguageModel> load_language_model(const std::string& path,
                                                          const LoadLanguageModelOptions& options = {});

}  // namespace catenary::links
