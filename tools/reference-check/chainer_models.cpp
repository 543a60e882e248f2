#include "chainer_models.h"

#include <cmath>
#include <map>
#include <memory>

#include "catenary/array/elementwise_core.h"
#include "catenary/core/config.h"
#include "catenary/core/parallel.h"
#include "catenary/links/models/googlenet.h"
#include "catenary/links/models/resnet.h"
#include "catenary/links/models/vgg.h"
#include "chainer_arrays.h"

namespace reference {

namespace ct = catenary;
namespace L = catenary::links;
using ct::Array;

namespace {

template <class Model>
std::unique_ptr<L::ImageClassifier> made_model() {
  return std::make_unique<Model>();
}

std::unique_ptr<L::ImageClassifier> make_model(const std::string& name) {
  static const std::map<std::string, std::unique_ptr<L::ImageClassifier> (*)()> makers = {
      {"VGG16Layers", made_model<L::VGG16Layers>},
      {"ResNet50Layers", made_model<L::ResNet50Layers>},
      {"GoogLeNet", made_model<L::GoogLeNet>},
  };
  const auto found = makers.find(name);
  if (found == makers.end()) throw NotImplemented("model " + name);
  return found->second();
}

/// Element i of array k, in [0, 1): the upper bits of splitmix64.
double element(std::uint64_t k, std::uint64_t i) {
  std::uint64_t z = (k << 32) + i + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 40) * 0x1p-24;
}

/// An array of offset + scale * element, as in the vectors.
Array filled(const Vectors& vectors, std::uint64_t k, const ct::Shape& shape, double scale, double offset) {
  const Array a = Array::empty(shape, ct::Dtype::float32, ct::Device());
  float* to = a.mutable_data<float>();
  ct::parallel_for(a.size(), 4096, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      to[i] = static_cast<float>(offset + scale * element(k, static_cast<std::uint64_t>(i)));
  });
  return vectors.given(a);
}

/// Fills parameters and running statistics in the order of their paths.
void fill(const Vectors& vectors, const ct::Link& model, double gain) {
  std::map<std::string, Array> members;
  for (const auto& [path, parameter] : model.namedparams()) members[path] = parameter.array();
  for (const auto& [path, array] : model.namedpersistents())
    if (!path.ends_with("/N")) members[path] = array;
  std::uint64_t k = 0;
  for (const auto& [path, array] : members) {
    const std::string kind = path.substr(path.rfind('/') + 1);
    const double inputs = static_cast<double>(array.size()) / static_cast<double>(array.shape(0));
    const double range = kind == "W" ? std::sqrt(gain / inputs) : 0.2;
    const bool positive = kind == "gamma" || kind == "avg_var";
    ct::copyto(array, positive ? filled(vectors, k, array.shape(), 1, 0.5)
                               : filled(vectors, k, array.shape(), 2 * range, -range));
    ++k;
  }
}

}  // namespace

void check_model(const nlohmann::json& entry, const Vectors& vectors) {
  const auto no_training = ct::using_config(ct::config.train, false);
  const auto no_graph = ct::no_backprop_mode();
  const auto dtype = ct::using_config(ct::config.dtype, vectors.dtype());
  const auto model = make_model(entry.at("class"));
  fill(vectors, *model, entry.at("gain"));
  const Array x = filled(vectors, 1000000, {1, 3, 224, 224}, 2, -1);
  const std::string layer = entry.at("layer");
  vectors.compare("y", (*model)(x, {layer}).at(layer).array(), Part::value, {0, 1e-4});
}

}  // namespace reference
