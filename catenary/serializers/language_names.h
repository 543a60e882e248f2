#pragma once
// Weights of language models: what their tensors are called in other programs' files, and how they lie there.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::serializers {

/// Whose names a file has.
enum class LanguageFormat { hugging_face, gguf };

/// How a tensor of a file becomes one here.
enum class LanguageLayout {
  same,
  transposed,  ///< [in, out] there
  /// Rows of each head are pairs of neighbours there, and half a head apart here: GGUF turns llama's queries and keys
  /// so.
  paired,
  /// Of each head the rows of its queries, its keys and its values follow one another there (ChatGLM).
  by_heads,
  ignored,  ///< made of others, or a mask: nothing is read
};

/// A row of the table. A '*' stands for a block's number, the same on both sides.
struct LanguageName {
  LanguageFormat format;
  const char* architectures;  ///< with blanks between them, as config.json's model_type or general.architecture
  const char* theirs;         ///< in the file
  /// A parameter's path here, or several with blanks between them, of which the file has the rows one after the other.
  const char* ours;
  LanguageLayout layout = LanguageLayout::same;
};
/// The whole table.
CT_API std::span<const LanguageName> language_names();
/// The architectures that the table has in a format, in alphabetical order.
CT_API std::vector<std::string> language_architectures(LanguageFormat format);

/// A tensor of a file, by the table.
struct LanguageTensor {
  std::vector<std::string> ours;  ///< paths of parameters, as "blocks/3/attention/q/W"; empty for what is ignored
  LanguageLayout layout = LanguageLayout::same;
};
/// What a tensor of a file of this architecture is here; nothing where the table does not have it. Of Hugging Face's
/// names the first part, "model." or "transformer.", may be missing.
CT_API std::optional<LanguageTensor> language_tensor(LanguageFormat format, std::string_view architecture,
                                                     std::string_view theirs);
/// The other way: the tensor of which a parameter is made, or those of them ("attn_q.weight or attn_qkv.weight"); empty
/// where the table has none.
CT_API std::string language_tensor_name(LanguageFormat format, std::string_view architecture, std::string_view ours);

}  // namespace catenary::serializers
