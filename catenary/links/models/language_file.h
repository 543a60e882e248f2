#pragma once
// Private: the files of language models, in any format.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catenary/core/quantization.h"
#include "catenary/links/models/language_model.h"
#include "catenary/serializers/language_names.h"

namespace catenary::links::detail {

/// A file, or a folder of files, that holds a language model.
class LanguageFile {
 public:
  struct Tensor {
    std::string name;
    Shape shape;
    std::string dtype_name;                 ///< the file's name of the dtype
    std::optional<Dtype> dtype;             ///< of plain elements; empty if Catenary does not have it
    std::optional<Quantization> kind = {};  ///< of quantised blocks
  };

  virtual ~LanguageFile() = default;
  /// The path, for messages.
  virtual const std::string& path() const = 0;
  virtual serializers::LanguageFormat format() const = 0;
  virtual const std::string& architecture() const = 0;
  /// Returns a model with the file's settings. Throws FileError for unknown architectures.
  std::unique_ptr<LanguageModel> make() const;
  virtual std::vector<Tensor> tensors() const = 0;
  /// Returns a tensor's values as stored. Quantised blocks are uint8 [rows, bytes of a row].
  virtual Array read(const Tensor& tensor, const Device& device) const = 0;

  /// Limits the settings until they are compared with the tensors, so that a few damaged bytes cannot make the loader
  /// allocate too much memory: layers (each is an object of some KiB) and the rates of a head, which every layer holds.
  std::int64_t most_layers() const;
  static constexpr std::int64_t kMostRotated = 1024;

  /// Throws FileError if the table of tensor names does not contain the architecture.
  void check_architecture() const;

 private:
  /// The path of the settings, for messages.
  virtual std::string settings() const { return path(); }
  virtual std::unique_ptr<LanguageModel> by_settings() const = 0;
  /// The tokens that end a text.
  virtual std::vector<std::int64_t> end_tokens() const = 0;
};

/// Opens a Hugging Face folder or a GGUF file.
std::unique_ptr<LanguageFile> open_language_file(const std::string& path);
std::unique_ptr<LanguageFile> open_hugging_face(const std::string& folder);
std::unique_ptr<LanguageFile> open_gguf(const std::string& path);

}  // namespace catenary::links::detail
