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

/// How many channels come out of a stage, and the stage itself; k is 0 to 3.
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

std::vector<Bottleneck> blocks_of(Bottleneck*, int k, std::int64_t count) {
  const std::int64_t out = stage_channels<Bottleneck>(k), mid = out / 4;
  std::vector<Bottleneck> blocks = {Bottleneck(k == 0 ? 64 : out / 2, mid, out, k == 0 ? 1 : 2)};
  while (static_cast<std::int64_t>(blocks.size()) < count) blocks.emplace_back(out, mid);
  return blocks;
}
std::vector<BasicBlock> blocks_of(BasicBlock*, int k, std::int64_t count) {
  const std::int64_t out = stage_channels<BasicBlock>(k);
  std::vector<BasicBlock> blocks = {BasicBlock(k == 0 ? 64 : out / 2, out, k == 0 ? 1 : 2)};
  while (static_cast<std::int64_t>(blocks.size()) < count) blocks.emplace_back(out, out);
  return blocks;
}
template <class Block>
ResNetStage<Block> stage(int k, const std::vector<std::int64_t>& counts) {
  return ResNetStage<Block>(blocks_of(static_cast<Block*>(nullptr), k, counts[static_cast<std::size_t>(k)]));
}

template <class L>
auto result_of(const L& link) {
  return [&link](const Variable& x) { return link(x); };
}

}  // namespace

Bottleneck::Bottleneck(std::int64_t in, std::int64_t mid, std::int64_t out, std::int64_t stride)
    : conv1(conv(in, mid, 1, stride)),
      bn1(mid),
      conv2(conv(mid, mid, 3)),
      bn2(mid),
      conv3(conv(mid, out, 1)),
      bn3(out),
      conv4(conv(in, out, 1, stride)),
      bn4(std::in_place, out) {}

Bottleneck::Bottleneck(std::int64_t channels, std::int64_t mid)
    : conv1(conv(channels, mid, 1)),
      bn1(mid),
      conv2(conv(mid, mid, 3)),
      bn2(mid),
      conv3(conv(mid, channels, 1)),
      bn3(channels) {}

Variable Bottleneck::operator()(const Variable& x) const {
  return hooked(
      *this,
      [&] {
        const Variable h = bn3(conv3(relu(bn2(conv2(relu(bn1(conv1(x))))))));
        return relu(h + (conv4 ? (*bn4)((*conv4)(x)) : x));
      },
      x);
}

BasicBlock::BasicBlock(std::int64_t in, std::int64_t out, std::int64_t stride)
    : conv1(conv(in, out, 3, stride)), bn1(out), conv2(conv(out, out, 3)), bn2(out) {
  if (in == out && stride == 1) return;
  conv3 = conv(in, out, 1, stride);
  bn3.emplace(out);
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
ResNetOf<Block>::ResNetOf(const char* name, const std::vector<std::int64_t>& counts)
    : conv1(3, 64, 7, {.stride = 2, .pad = 3, .initialW = initializers::HeNormal()}),
      bn1(64),
      res2(stage<Block>(0, counts)),
      res3(stage<Block>(1, counts)),
      res4(stage<Block>(2, counts)),
      res5(stage<Block>(3, counts)),
      fc6(stage_channels<Block>(3), 1000),
      name_(name) {}

template <class Block>
std::vector<ImageClassifier::Layer> ResNetOf<Block>::layers() const {
  return {{"conv1", [this](const Variable& x) { return relu(bn1(conv1(x))); }},
          {"pool1", [](const Variable& x) { return functions::max_pooling_2d(x, 3, {.stride = 2}); }},
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
