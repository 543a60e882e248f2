// Exports the networks of links/models.

#include "catenary/links/models/glm.h"
#include "catenary/links/models/googlenet.h"
#include "catenary/links/models/gpt.h"
#include "catenary/links/models/llama.h"
#include "catenary/links/models/mobilenet.h"
#include "catenary/links/models/resnet.h"
#include "catenary/links/models/unet.h"
#include "catenary/links/models/vgg.h"
#include "tests/onnx/exports.h"

namespace catenary {
namespace {

namespace L = links;
using onnx_exports::expect_round_trip;
using onnx_exports::sample;
using Inputs = std::span<const Variable>;

template <class Net>
void expect_network(const Net& net, const Array& x) {
  expect_round_trip(net, [&](Inputs in) { return std::vector<Variable>{net(in[0])}; }, {x});
}

void expect_classifier(const L::ImageClassifier& net, std::int64_t size = 224) {
  SCOPED_TRACE(net.type_name());
  const Array x = sample({2, 3, size, size});
  double scale = 1;
  {
    // The rounding errors of large scores would be larger in probabilities.
    const auto testing = test_mode();
    while (catenary::max(net(x * scale).at("prob").array()).item<double>() > 0.3) scale /= 2;
  }
  expect_round_trip(net, [&](Inputs in) { return std::vector{net(in[0] * scale).at("prob")}; }, {x});
}

TEST(OnnxExport, WritesNetworksForImages) {
  expect_network(L::MobileNetV2({.classes = 10, .width = 0.25}), sample({2, 3, 64, 64}));
  expect_network(L::UNet(3, 4, {.channels = 4, .depth = 2}), sample({2, 3, 12, 16}));
  expect_classifier(L::ResNet18Layers());
}

TEST(OnnxExport, WritesDeepNetworks) {
  expect_classifier(L::ResNet34Layers({.classes = 10}), 64);
  expect_classifier(L::ResNet50Layers({.classes = 10, .torchvision = true}), 64);
  expect_classifier(L::ResNet101Layers({.classes = 10}), 64);
  expect_classifier(L::ResNet152Layers({.classes = 10}), 64);
  expect_classifier(L::GoogLeNet());
  expect_classifier(L::VGG16Layers({.classes = 10, .units = 32}));
  expect_classifier(L::VGG19Layers({.classes = 10, .units = 32, .torchvision = true}));
}

TEST(OnnxExport, WritesLanguageModels) {
  const Array ids = (arange(10, Dtype::int64) * 7 % 30).reshape({2, 5});
  expect_network(L::GPT({.vocabulary = 30, .context = 8, .width = 16, .layers = 2, .heads = 2}), ids);
  expect_network(
      L::Llama({.vocabulary = 30, .context = 8, .width = 16, .layers = 2, .heads = 4, .hidden = 20, .groups = 2}), ids);
  expect_network(
      L::Glm({.vocabulary = 30, .context = 8, .width = 16, .layers = 2, .heads = 4, .groups = 2, .hidden = 20}),
      ids.astype(Dtype::int32));
}

}  // namespace
}  // namespace catenary
