#pragma once
// Copies of language models with changeable settings and tensors.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catenary/catenary.h"
#include "catenary/io/gguf.h"
#include "catenary/io/safetensors.h"
#include "catenary/io/safetensors_index.h"
#include "tests/folder.h"
#include "tests/language_models.h"
#include "tests/texts.h"

namespace catenary::test {

namespace L = links;

/// Replaces a piece of a text, which must occur in it.
inline std::string with_piece(std::string text, const std::string& piece, const std::string& other) {
  const std::size_t at = text.find(piece);
  if (at == std::string::npos) throw ValueError("the text has no " + piece);
  return text.replace(at, piece.size(), other);
}

/// A copy of a folder with changeable settings and tensors.
class Copy {
 public:
  explicit Copy(const std::string& name) : config(tests::text_of(tests::language_model(name) + "/config.json")) {
    const io::ShardedSafetensorsReader reader(tests::language_model(name));
    for (const std::string& tensor : reader.names()) tensors.emplace_back(tensor, reader.read(tensor));
  }
  io::HostArray& operator[](const std::string& name) {
    for (auto& [tensor, array] : tensors)
      if (tensor == name) return array;
    throw ValueError("there is no tensor " + name);
  }
  void remove(const std::string& name) {
    std::erase_if(tensors, [&](const auto& tensor) { return tensor.first == name; });
  }
  std::unique_ptr<L::LanguageModel> load(const L::LoadLanguageModelOptions& options = {}) const {
    folder_->write("config.json", config);
    io::write_safetensors(*folder_ / "model.safetensors", tensors);
    return L::load_language_model(folder_->path, options);
  }
  /// The error message.
  std::string refused() const {
    return tests::error_of<FileError>([&] { load(); });
  }
  std::string config;
  std::vector<std::pair<std::string, io::HostArray>> tensors;

 private:
  std::shared_ptr<tests::Folder> folder_ = std::make_shared<tests::Folder>();
};

/// A copy of a GGUF file with changeable metadata and tensors.
class GgufCopy {
 public:
  explicit GgufCopy(const std::string& name) {
    const io::GgufReader reader(tests::language_model(name) + ".gguf");
    for (const std::string_view key : reader.keys()) metadata.emplace_back(key, reader.value(key));
    for (const std::string& tensor : reader.names()) tensors.push_back({tensor, reader.read(tensor)});
  }
  void set(const std::string& key, const io::GgufValue& value) {
    std::erase_if(metadata, [&](const auto& one) { return one.first == key; });
    metadata.emplace_back(key, value);
  }
  void remove(const std::string& name) {
    std::erase_if(metadata, [&](const auto& one) { return one.first == name; });
    std::erase_if(tensors, [&](const auto& one) { return one.name == name; });
  }
  io::GgufTensor& operator[](const std::string& name) {
    for (io::GgufTensor& tensor : tensors)
      if (tensor.name == name) return tensor;
    throw ValueError("there is no tensor " + name);
  }
  std::unique_ptr<L::LanguageModel> load(const L::LoadLanguageModelOptions& options = {}) const {
    io::write_gguf(*folder_ / "model.gguf", metadata, tensors);
    return L::load_language_model(*folder_ / "model.gguf", options);
  }
  std::string refused() const {
    return tests::error_of<FileError>([&] { load(); });
  }
  io::GgufMetadata metadata;
  std::vector<io::GgufTensor> tensors;

 private:
  std::shared_ptr<tests::Folder> folder_ = std::make_shared<tests::Folder>();
};

}  // namespace catenary::test
