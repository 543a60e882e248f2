#include "catenary/links/models/vgg.h"

#include "catenary/functions/activation.h"
#include "catenary/functions/noise.h"
#include "catenary/functions/pooling.h"
#include "catenary/initializers/initializers.h"

namespace catenary::links {

namespace {

// the initial weights of the paper
Convolution2D conv(std::int64_t in, std::int64_t out) {
  return {in, out, 3, {.pad = 1, .initialW = initializers::Normal(0.01)}};
}
Linear fc(std::int64_t in, std::int64_t out) { return {in, out, {.initialW = initializers::Normal(0.01)}}; }

Variable pool(const Variable& x) { return functions::max_pooling_2d(x, 2); }
template <class L>
auto relu_of(const L& link) {
  return [&link](const Variable& x) { return functions::relu(link(x)); };
}
auto dropout_of(const Linear& link) {
  return [&link](const Variable& x) { return functions::dropout(functions::relu(link(x))); };
}

}  // namespace

VGG16Layers::VGG16Layers()
    : conv1_1(conv(3, 64)),
      conv1_2(conv(64, 64)),
      conv2_1(conv(64, 128)),
      conv2_2(conv(128, 128)),
      conv3_1(conv(128, 256)),
      conv3_2(conv(256, 256)),
      conv3_3(conv(256, 256)),
      conv4_1(conv(256, 512)),
      conv4_2(conv(512, 512)),
      conv4_3(conv(512, 512)),
      conv5_1(conv(512, 512)),
      conv5_2(conv(512, 512)),
      conv5_3(conv(512, 512)),
      fc6(fc(512 * 7 * 7, 4096)),
      fc7(fc(4096, 4096)),
      fc8(fc(4096, 1000)) {}

std::vector<ImageClassifier::Layer> VGG16Layers::layers() const {
  return {{"conv1_1", relu_of(conv1_1)},
          {"conv1_2", relu_of(conv1_2)},
          {"pool1", pool},
          {"conv2_1", relu_of(conv2_1)},
          {"conv2_2", relu_of(conv2_2)},
          {"pool2", pool},
          {"conv3_1", relu_of(conv3_1)},
          {"conv3_2", relu_of(conv3_2)},
          {"conv3_3", relu_of(conv3_3)},
          {"pool3", pool},
          {"conv4_1", relu_of(conv4_1)},
          {"conv4_2", relu_of(conv4_2)},
          {"conv4_3", relu_of(conv4_3)},
          {"pool4", pool},
          {"conv5_1", relu_of(conv5_1)},
          {"conv5_2", relu_of(conv5_2)},
          {"conv5_3", relu_of(conv5_3)},
          {"pool5", pool},
          {"fc6", dropout_of(fc6)},
          {"fc7", dropout_of(fc7)},
          {"fc8", [this](const Variable& x) { return fc8(x); }},
          {"prob", [](const Variable& x) { return functions::softmax(x); }}};
}

VGG19Layers::VGG19Layers() : conv3_4(conv(256, 256)), conv4_4(conv(512, 512)), conv5_4(conv(512, 512)) {}

std::vector<ImageClassifier::Layer> VGG19Layers::layers() const {
  std::vector<Layer> all;
  for (Layer& layer : VGG16Layers::layers()) {
    if (layer.name == "pool3") all.push_back({"conv3_4", relu_of(conv3_4)});
    if (layer.name == "pool4") all.push_back({"conv4_4", relu_of(conv4_4)});
    if (layer.name == "pool5") all.push_back({"conv5_4", relu_of(conv5_4)});
    all.push_back(std::move(layer));
  }
  return all;
}

}  // namespace catenary::links
