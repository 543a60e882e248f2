#pragma once
// Private: what load_language_model reads, whatever the file's form.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catenary/core/quantization.h"
#include "catenary/links/models/language_model.h"
#include "catenary/serializers/language_names.h"

namespace catenary::links::detail {

/// A file, or a folder of them, that holds a language model.
class LanguageFile {
 public:
  struct Tensor {
    std::string name;
    Shape shape;
    std::string dtype_name;                 ///< as the file calls it
    std::optional<Dtype> dtype;             ///< of plain elements; nothing for those we do not have
    std::optional<Quantization> kind = {};  ///< of blocks
  };

  virtual ~LanguageFile() = default;
  /// Where it is, for messages.
  virtual const std::string& path() const = 0;
  virtual serializers::LanguageFormat format() const = 0;
  virtual const std::string& architecture() const = 0;
  /// The model by its settings. Throws FileError for one that is not known here.
  std::unique_ptr<LanguageModel> make() const;
  virtual std::vector<Tensor> tensors() const = 0;
  /// A tensor's values as they lie in the file: of blocks uint8, [rows, bytes of a row].
  virtual Array read(const Tensor& tensor, const Device& device) const = 0;

  /// What settings may ask for before the tensors are compared with them, so that a few bytes of a file do not have a
  /// machine make as much as a number can say: layers, of which each is an object of some KiB, and the rates of a head,
  /// which each layer has.
  std::int64_t most_layers() const;
  static constexpr std::int64_t kMostRotated = 1024;

  /// Throws FileError: the architecture is none that the names' table has.
  void check_architecture() const;

 private:
  /// Where the settings are, for messages.
  virtual std::string settings() const { return path(); }
  virtual std::unique_ptr<LanguageModel> by_settings() const = 0;
  /// Those after which a text has ended.
  virtual std::vector<std::int64_t> end_tokens() const = 0;
};

/// A folder of Hugging Face's, or a GGUF file.
std::unique_ptr<LanguageFile> open_language_file(const std::string& path);
std::unique_ptr<LanguageFile> open_hugging_face(const std::string& folder);
std::unique_ptr<LanguageFile> open_gguf(const std::string& path);

}  // namespace catenary::links::detail
