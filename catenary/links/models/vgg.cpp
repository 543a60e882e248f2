#include "catenary/links/models/vgg.h"

#include "catenary/array/creation.h"
#include "catenary/array/manipulation.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/noise.h"
#include "catenary/functions/pooling.h"
#include "catenary/initializers/initializers.h"

namespace catenary::links {

namespace {

// with the paper's initial weights
Convolution2D conv(std::int64_t in, std::int64_t out) {
  return {in, out, 3, {.pad = 1, .initialW = initializers::Normal(0.01)}};
}
Linear fc(std::int64_t in, std::int64_t out) { return {in, out, {.initialW = initializers::Normal(0.01)}}; }

template <class L>
auto relu_of(const L& link) {
  return [&link](const Variable& x) { return functions::relu(link(x)); };
}
auto dropout_of(const Linear& link) {
  return [&link](const Variable& x) { return functions::dropout(functions::relu(link(x))); };
}

/// Row i holds the weights of part i's mean. Parts are as equal as possible and overlap if their number does not divide
/// the length.
Array means(std::int64_t parts, std::int64_t extent, const Array& like) {
  std::vector<double> weights(static_cast<std::size_t>(parts * extent));
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t begin = i * extent / parts, end = ((i + 1) * extent + parts - 1) / parts;
    for (std::int64_t j = begin; j < end; ++j)
      weights[static_cast<std::size_t>(i * extent + j)] = 1.0 / static_cast<double>(end - begin);
  }
  return array(weights).reshape({parts, extent}).astype(like.dtype()).to_device(like.device());
}
/// Averages images of any size to 7 × 7. (torch.nn.AdaptiveAvgPool2d)
Variable seven(const Variable& x) {
  if (x.shape(2) == 7 && x.shape(3) == 7) return x;
  return functions::matmul(functions::matmul(means(7, x.shape(2), x.array()), x), means(7, x.shape(3), x.array()).T());
}

}  // namespace

VGG16Layers::VGG16Layers(const VGGOptions& options)
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
      fc6(fc(512 * 7 * 7, options.units)),
      fc7(fc(options.units, options.units)),
      fc8(fc(options.units, options.classes)),
      torchvision_(options.torchvision) {}

std::vector<ImageClassifier::Layer> VGG16Layers::layers() const {
  const auto pool = [torchvision = torchvision_](const Variable& x) {
    return functions::max_pooling_2d(x, 2, {.cover_all = !torchvision});
  };
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
          {"fc6", [this, last = dropout_of(fc6)](const Variable& x) { return last(torchvision_ ? seven(x) : x); }},
          {"fc7", dropout_of(fc7)},
          {"fc8", [this](const Variable& x) { return fc8(x); }},
          {"prob", [](const Variable& x) { return functions::softmax(x); }}};
}

VGG19Layers::VGG19Layers(const VGGOptions& options)
    : VGG16Layers(options), conv3_4(conv(256, 256)), conv4_4(conv(512, 512)), conv5_4(conv(512, 512)) {}

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
