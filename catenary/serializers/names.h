#pragma once
// Weights of other frameworks: what their tensors are called here, by rule.

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "catenary/core/shape.h"
#include "catenary/serializers/serializer.h"

namespace catenary::serializers {

/// What the tensors of a file of PyTorch are called here. `weight` and `bias` are W and b, or gamma and beta of what
/// normalizes; `running_mean`, `running_var` and `num_batches_tracked` are avg_mean, avg_var and N (0 where the file
/// has none). That is the rule "torch", where modules have the names of links. "torchvision" and "timm" also know the
/// modules of their ResNet, VGG and MobileNet-V2. "THEIRS=OURS" renames one tensor, or a module with all that is in it;
/// with nothing behind the sign its name is left out. Renaming comes first.
class CT_API Names {
 public:
  /// As they are in the file.
  Names() = default;
  /// One rule: {.names = "torchvision"}. Throws ValueError for one that is none.
  Names(const char* rule) : Names({std::string(rule)}) {}
  /// Several: {.names = {"torch", "backbone=body"}}, of which one at most is no renaming. Throws ValueError.
  Names(std::initializer_list<std::string> rules) : Names(std::vector<std::string>(rules)) {}
  Names(const std::vector<std::string>& rules);

  /// A tensor of a file, as it is here.
  struct Tensor {
    std::string name;    ///< here, with '.' between its parts
    std::string theirs;  ///< in the file; empty for a number that the file lacks, which is 0
    Shape shape;         ///< here: the same elements
  };
  /// All tensors of a file by name and shape, in their order. Throws FileError, which names `file`, for one that an
  /// architecture does not have, for an architecture that is not known, for a renaming of what is not there, and where
  /// two would have one name.
  std::vector<Tensor> of(const std::string& file, const std::vector<std::pair<std::string, Shape>>& tensors) const;
  /// Are names left as they are?
  bool empty() const { return rule_.empty() && renamings_.empty(); }
  /// The rules, as they were given.
  std::string text() const;

 private:
  std::string rule_;  // "torch" where only renamings are given
  std::vector<std::pair<std::string, std::string>> renamings_;
};

/// Options of load_safetensors.
struct SafetensorsLoadOptions {
  bool strict = true;  ///< a tensor that the file lacks is an error; with `names` also one that the object lacks
  Names names = {};    ///< for files of PyTorch
};
/// load_safetensors of a file whose tensors are called otherwise: load_safetensors(path, model, {.names =
/// "torchvision"}). Throws FileError, ShapeError.
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
