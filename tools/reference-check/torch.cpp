// Networks of torchvision and timm as safetensors, and their scores of some images, made by
// tests/data/torch/make_torchvision_reference.py --whole.

#include <algorithm>

#include "catenary/core/config.h"
#include "catenary/io/npz.h"
#include "catenary/links/models/mobilenet.h"
#include "catenary/links/models/resnet.h"
#include "catenary/links/models/vgg.h"
#include "catenary/serializers/names.h"
#include "chainer_arrays.h"
#include "report.h"

namespace reference {

namespace ct = catenary;
namespace L = catenary::links;
using ct::Array;
using nlohmann::json;

namespace {

template <class Model>
Array scores(const std::string& weights, const ct::serializers::Names& names, const Array& x) {
  const Model model({.torchvision = true});
  ct::serializers::load_safetensors(weights, model, {.names = names});
  model.to_device(ct::current_device());
  if constexpr (std::is_base_of_v<L::ImageClassifier, Model>) {
    const std::vector<std::string> layers = model.available_layers();
    return model(x, {layers.at(layers.size() - 2)}).begin()->second.array();  // the layer before the probabilities
  } else {
    return model(x).array();
  }
}

void check_torch(const std::string& directory, const json& entry) {
  static const std::vector<std::pair<std::string, decltype(&scores<L::MobileNetV2>)>> models = {
      {"resnet18", scores<L::ResNet18Layers>},   {"resnet34", scores<L::ResNet34Layers>},
      {"resnet50", scores<L::ResNet50Layers>},   {"resnet101", scores<L::ResNet101Layers>},
      {"resnet152", scores<L::ResNet152Layers>}, {"vgg16", scores<L::VGG16Layers>},
      {"vgg19", scores<L::VGG19Layers>},         {"mobilenet_v2", scores<L::MobileNetV2>}};
  const auto no_training = ct::using_config(ct::config.train, false);
  const auto no_graph = ct::no_backprop_mode();
  const std::string model = entry.at("model"), path = directory + "/" + entry.at("file").get<std::string>();
  const auto found = std::find_if(models.begin(), models.end(), [&](const auto& one) { return one.first == model; });
  if (found == models.end()) throw NotImplemented("model " + model);
  const ct::io::NpzReader file(path + ".npz");
  const Array y = found->second(path + ".safetensors", entry.at("rule").get<std::string>().c_str(),
                                load_as(file, "x", ct::Dtype::float32));
  compare_with(file, "scores", y, ct::Dtype::float32, {0, 1e-4});
}

}  // namespace

Report run_torch(const std::string& directory, const json& manifest) {
  Report report;
  for (const json& entry : manifest.at("torch"))
    add_case(report, entry.at("file"), entry.at("model"), [&] { check_torch(directory, entry); });
  return report;
}

}  // namespace reference
