#pragma once
// Weights of language models: the names and layouts of their tensors in other programs' files.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::serializers {

/// The naming scheme of a file.
enum class LanguageFormat { hugging_face, gguf };

/// The conversion from a tensor in a file to a parameter.
enum class LanguageLayout {
  same,
  transposed,  ///< [in, out] in the file
  /// GGUF permutes the rows of llama's queries and keys: pairs of rotary components are adjacent in the file, and half
  /// a head apart in Catenary.
  paired,
  /// The rows of queries, keys and values are interleaved by head in the file (ChatGLM).
  by_heads,
  ignored,  ///< computed from others, or a mask: not read
};

/// A row of the table. '*' stands for a block's number, equal in both names.
struct LanguageName {
  LanguageFormat format;
  const char* architectures;  ///< separated by spaces: config.json's model_type, or general.architecture
  const char* theirs;         ///< in the file
  /// A parameter's path in Catenary, or several paths, separated by spaces, whose rows the file concatenates.
  const char* ours;
  LanguageLayout layout = LanguageLayout::same;
};
/// Returns the whole table.
CT_API std::span<const LanguageName> language_names();
/// Returns the architectures of a format, sorted.
CT_API std::vector<std::string> language_architectures(LanguageFormat format);

/// The conversion of a tensor of a file, looked up in the table.
struct LanguageTensor {
  std::vector<std::string> ours;  ///< paths of parameters, such as "blocks/3/attention/q/W", empty for an ignored
                                  ///< tensor
  LanguageLayout layout = LanguageLayout::same;
};
/// Looks up a tensor of a file of this architecture. Returns nothing if the table does not contain it. Hugging Face's
/// names may lack the prefix "model." or "transformer.".
CT_API std::optional<LanguageTensor> language_tensor(LanguageFormat format, std::string_view architecture,
                                                     std::string_view theirs);
/// Returns the name of the tensor for a parameter, or all possible names ("attn_q.weight or attn_qkv.weight"); "" if
/// the table has none.
CT_API std::string language_tensor_name(LanguageFormat format, std::string_view architecture, std::string_view ours);

}  // namespace catenary::serializers
