#pragma once
// Tokenizers in GGUF files.

#include "catenary/io/gguf.h"
#include "catenary/tokenizers/tokenizer.h"

namespace catenary {

/// Reads a GGUF file's tokenizer. Throws FileError for keys that are missing or have another type. Lists keys that it
/// does not use on standard error, with the file's `name`.
CT_API GgufTokens gguf_tokens(const io::GgufReader& file, const std::string& name = "GGUF");

/// Converts a tokenizer to the form of GGUF files. Accepts tokenizers from GGUF files, and byte pairs with the
/// pre-tokenizers of GPT-2 (as train_byte_pairs makes them), Llama 3, Qwen2, GLM-4 or StarCoder. An NFC normalizer is
/// dropped, as in llama.cpp. Throws ValueError for other tokenizers, because GGUF would change their results.
CT_API GgufTokens gguf_tokens(const Tokenizer& tokenizer);

/// Returns the keys tokenizer.ggml.*, for write_gguf.
CT_API io::GgufMetadata gguf_metadata(const GgufTokens& tokens);

}  // namespace catenary
