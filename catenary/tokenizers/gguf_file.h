#pragma once
// Tokenizers in GGUF files.

#include "catenary/io/gguf.h"
#include "catenary/tokenizers/tokenizer.h"

namespace catenary {

/// What a GGUF file holds of its tokenizer. Throws FileError for what is missing or of another type.
CT_API GgufTokens gguf_tokens(const io::GgufReader& file);

/// A tokenizer as GGUF files hold it: one that a GGUF file held, or pairs of bytes with the words of GPT-2 (as
/// train_byte_pairs makes them), Llama 3, Qwen2, GLM-4 or StarCoder. As in llama.cpp a normalizer NFC is left out.
/// Throws ValueError for others, of which GGUF would mean something else.
CT_API GgufTokens gguf_tokens(const Tokenizer& tokenizer);

/// The keys tokenizer.ggml.*, for write_gguf.
CT_API io::GgufMetadata gguf_metadata(const GgufTokens& tokens);

}  // namespace catenary
