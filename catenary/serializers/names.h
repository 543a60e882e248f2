#pragma once
// Weights of other frameworks: rules that rename their tensors.

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "catenary/core/shape.h"
#include "catenary/serializers/serializer.h"

namespace catenary::serializers {

/// Maps the tensor names of a PyTorch file to Catenary's names.
///
/// - "torch": modules have the names of links. `weight` and `bias` become W and b, or gamma and beta of a
///   normalization. `running_mean`, `running_var` and `num_batches_tracked` become avg_mean, avg_var and N (0 if the
///   file lacks it).
/// - "torchvision", "timm": also rename the modules of their ResNet, VGG and MobileNet-V2.
/// - "THEIRS=OURS": renames one tensor, or a module with all its contents. "THEIRS=" drops the name of the module.
///   Renamings apply first.
class CT_API Names {
 public:
  /// Keeps the names of the file.
  Names() = default;
  /// Uses one rule: {.names = "torchvision"}. Throws ValueError for an unknown rule.
  Names(const char* rule) : Names({std::string(rule)}) {}
  /// Uses several rules: {.names = {"torch", "backbone=body"}}. All but one must be renamings. Throws ValueError.
  Names(std::initializer_list<std::string> rules) : Names(std::vector<std::string>(rules)) {}
  Names(const std::vector<std::string>& rules);

  /// A tensor of a file with its new name.
  struct Tensor {
    std::string name;    ///< in Catenary, with '.' between its parts
    std::string theirs;  ///< in the file; empty for a number that the file lacks, which is 0
    Shape shape;         ///< in Catenary, with equal elements
  };
  /// Returns all tensors of a file, given by name and shape, in their order. Throws FileError naming `file` for a
  /// tensor that the architecture does not have, for an unknown architecture, for a renaming that matches nothing, and
  /// for two tensors with one name.
  std::vector<Tensor> of(const std::string& file, const std::vector<std::pair<std::string, Shape>>& tensors) const;
  /// Returns whether names stay unchanged.
  bool empty() const { return rule_.empty() && renamings_.empty(); }
  /// Returns the rules as they were given.
  std::string text() const;

 private:
  std::string rule_;  // "torch" if only renamings are given
  std::vector<std::pair<std::string, std::string>> renamings_;
};

/// Options of load_safetensors.
struct SafetensorsLoadOptions {
  bool strict = true;  ///< throws if the file lacks a tensor or, with `names`, if the object lacks one
  Names names = {};    ///< for files of PyTorch
};
/// Does load_safetensors for a file with other names: load_safetensors(path, model, {.names = "torchvision"}). Throws
/// FileError, ShapeError.
template <class T>
void load_safetensors(const std::string& file, T&& object, const SafetensorsLoadOptions& options);

namespace detail {
CT_API void load_safetensors(const std::string& file, const std::function<void(Serializer&)>& serialize,
                             const SafetensorsLoadOptions& options);
}  // namespace detail

template <class T>
void load_safetensors(const std::string& file, T&& object, const SafetensorsLoadOptions& options) {
  detail::load_safetensors(
      file, [&](Serializer& s) { object.serialize(s); }, options);
}

}  // namespace catenary::serializers
