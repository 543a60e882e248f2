#include "catenary/links/models/resnet.h"

#include "catenary/functions/activation.h"
#include "catenary/functions/math_reduction.h"
#include "catenary/functions/pooling.h"
#include "catenary/initializers/initializers.h"

namespace catenary::links {

using functions::relu;

namespace {

Convolution2D conv(std::int64_t in, std::int64_t out, std::int64_t ksize, std::int64_t stride = 1) {
  return {in, out, ksize, {.stride = stride, .pad = ksize / 2, .nobias = true, .initialW = initializers::HeNormal()}};
}

/// Output channels of stage k (0 to 3), and the stage itself.
template <class Block>
std::int64_t stage_channels(int k);
template <>
std::int64_t stage_channels<Bottleneck>(int k) {
  return std::int64_t{256} << k;
}
template <>
std::int64_t stage_channels<BasicBlock>(int k) {
  return std::int64_t{64} << k;
}

std::vector<Bottleneck> blocks_of(Bottleneck*, int k, std::int64_t count, const ResNetBlockOptions& options) {
  const std::int64_t out = stage_channels<Bottleneck>(k), mid = out / 4;
  std::vector<Bottleneck> blocks = {Bottleneck(k == 0 ? 64 : out / 2, mid, out, k == 0 ? 1 : 2, options)};
  while (static_cast<std::int64_t>(blocks.size()) < count) blocks.emplace_back(out, mid, options);
  return blocks;
}
std::vector<BasicBlock> blocks_of(BasicBlock*, int k, std::int64_t count, const ResNetBlockOptions& options) {
  const std::int64_t out = stage_channels<BasicBlock>(k);
  std::vector<BasicBlock> blocks = {BasicBlock(k == 0 ? 64 : out / 2, out, k == 0 ? 1 : 2, options)};
  while (static_cast<std::int64_t>(blocks.size()) < count) blocks.emplace_back(out, out, 1, options);
  return blocks;
}
template <class Block>
ResNetStage<Block> stage(int k, const std::vector<std::int64_t>& counts, const ResNetOptions& options) {
  return ResNetStage<Block>(blocks_of(static_cast<Block*>(nullptr), k, counts[static_cast<std::size_t>(k)],
                                      {.torchvision = options.torchvision}));
}

BatchNormalizationLinkOptions normalization(bool torchvision) { return {.eps = torchvision ? 1e-5 : 2e-5}; }

template <class L>
auto result_of(const L& link) {
  return [&link](const Variable& x) { return link(x); };
}

}  // namespace

Bottleneck::Bottleneck(std::int64_t in, std::int64_t mid, std::int64_t out, std::int64_t stride,
                       const ResNetBlockOptions& options)
    : conv1(conv(in, mid, 1, options.torchvision ? 1 : stride)),
      bn1(mid, normalization(options.torchvision)),
      conv2(conv(mid, mid, 3, options.torchvision ? stride : 1)),
      bn2(mid, normalization(options.torchvision)),
      conv3(conv(mid, out, 1)),
      bn3(out, normalization(options.torchvision)),
      conv4(conv(in, out, 1, stride)),
      bn4(std::in_place, out, normalization(options.torchvision)) {}

Bottleneck::Bottleneck(std::int64_t channels, std::int64_t mid, const ResNetBlockOptions& options)
    : conv1(conv(channels, mid, 1)),
      bn1(mid, normalization(options.torchvision)),
      conv2(conv(mid, mid, 3)),
      bn2(mid, normalization(options.torchvision)),
      conv3(conv(mid, channels, 1)),
      bn3(channels, normalization(options.torchvision)) {}

Variable Bottleneck::operator()(const Variable& x) const {
  return hooked(
      *this,
      [&] {
        const Variable h = bn3(conv3(relu(bn2(conv2(relu(bn1(conv1(x))))))));
        return relu(h + (conv4 ? (*bn4)((*conv4)(x)) : x));
      },
      x);
}

BasicBlock::BasicBlock(std::int64_t in, std::int64_t out, std::int64_t stride, const ResNetBlockOptions& options)
    : conv1(conv(in, out, 3, stride)),
      bn1(out, normalization(options.torchvision)),
      conv2(conv(out, out, 3)),
      bn2(out, normalization(options.torchvision)) {
  if (in == out && stride == 1) return;
  conv3 = conv(in, out, 1, stride);
  bn3.emplace(out, normalization(options.torchvision));
}

Variable BasicBlock::operator()(const Variable& x) const {
  return hooked(
      *this,
      [&] {
        const Variable h = bn2(conv2(relu(bn1(conv1(x)))));
        return relu(h + (conv3 ? (*bn3)((*conv3)(x)) : x));
      },
      x);
}

template <class Block>
ResNetOf<Block>::ResNetOf(const char* name, const std::vector<std::int64_t>& counts, const ResNetOptions& options)
    : conv1(3, 64, 7, {.stride = 2, .pad = 3, .nobias = options.torchvision, .initialW = initializers::HeNormal()}),
      bn1(64, normalization(options.torchvision)),
      res2(stage<Block>(0, counts, options)),
      res3(stage<Block>(1, counts, options)),
      res4(stage<Block>(2, counts, options)),
      res5(stage<Block>(3, counts, options)),
      fc6(stage_channels<Block>(3), options.classes),
      name_(name),
      torchvision_(options.torchvision) {}

template <class Block>
std::vector<ImageClassifier::Layer> ResNetOf<Block>::layers() const {
  return {{"conv1", [this](const Variable& x) { return relu(bn1(conv1(x))); }},
          {"pool1",
           [pad = torchvision_ ? 1 : 0](const Variable& x) {
             return functions::max_pooling_2d(x, 3, {.stride = 2, .pad = pad, .cover_all = pad == 0});
           }},
          {"res2", result_of(res2)},
          {"res3", result_of(res3)},
          {"res4", result_of(res4)},
          {"res5", result_of(res5)},
          {"pool5",
           [](const Variable& x) {
             return functions::mean(x, {2, 3});
           }},
          {"fc6", result_of(fc6)},
          {"prob", [](const Variable& x) { return functions::softmax(x); }}};
}

template class ResNetOf<BasicBlock>;
template class ResNetOf<Bottleneck>;

}  // namespace catenary::links
