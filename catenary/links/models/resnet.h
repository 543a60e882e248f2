#pragma once
// ResNet: convolutional networks with residual blocks.

#include <optional>
#include <vector>

#include "catenary/links/connection.h"
#include "catenary/links/convolution.h"
#include "catenary/links/models/image_classifier.h"
#include "catenary/links/normalization.h"

namespace catenary::links {

/// Options of Bottleneck and BasicBlock.
struct ResNetBlockOptions {
  bool torchvision =
      false;  ///< compute like torchvision: eps is 1e-5, and a Bottleneck's stride is in its 3 × 3 convolution
};

/// A 1 × 1, a 3 × 3 and a 1 × 1 convolution, each normalized, added to the input. If the block changes size or
/// channels, its shortcut has a 1 × 1 convolution.
class CT_API Bottleneck : public Chain {
 public:
  /// With a convolution in the shortcut. The first convolution has the stride.
  Bottleneck(std::int64_t in_channels, std::int64_t mid_channels, std::int64_t out_channels, std::int64_t stride,
             const ResNetBlockOptions& options = {});
  /// With the identity as shortcut.
  Bottleneck(std::int64_t channels, std::int64_t mid_channels, const ResNetBlockOptions& options = {});
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return conv4 ? "BottleneckA" : "BottleneckB"; }
  Convolution2D conv1;
  BatchNormalization bn1;
  Convolution2D conv2;
  BatchNormalization bn2;
  Convolution2D conv3;
  BatchNormalization bn3;
  std::optional<Convolution2D> conv4;
  std::optional<BatchNormalization> bn4;
  CT_LINKS(conv1, bn1, conv2, bn2, conv3, bn3, conv4, bn4)
};

/// Two 3 × 3 convolutions, each normalized, added to the input. If the block changes size or channels, its shortcut has
/// a 1 × 1 convolution.
class CT_API BasicBlock : public Chain {
 public:
  BasicBlock(std::int64_t in_channels, std::int64_t out_channels, std::int64_t stride = 1,
             const ResNetBlockOptions& options = {});
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "BasicBlock"; }
  Convolution2D conv1;
  BatchNormalization bn1;
  Convolution2D conv2;
  BatchNormalization bn2;
  std::optional<Convolution2D> conv3;
  std::optional<BatchNormalization> bn3;
  CT_LINKS(conv1, bn1, conv2, bn2, conv3, bn3)
};

/// Blocks in sequence, named a, b1, b2, … (chainer.links.model.vision.resnet.BuildingBlock)
template <class Block>
class ResNetStage : public Chain {
 public:
  explicit ResNetStage(std::vector<Block> blocks) : blocks(std::move(blocks)) {}
  Variable operator()(const Variable& x) const {
    return hooked(
        *this,
        [&] {
          Variable h = x;
          for (const Block& block : blocks) h = block(h);
          return h;
        },
        x);
  }
  std::string type_name() const override { return "BuildingBlock"; }
  void visit_members(MemberVisitor& visitor) const override {
    for (std::size_t i = 0; i < blocks.size(); ++i)
      visitor(i == 0 ? "a" : "b" + std::to_string(i), const_cast<Block&>(blocks[i]));
  }
  std::vector<Block> blocks;
};

/// Options of ResNet18Layers, ResNet34Layers, ResNet50Layers, ResNet101Layers and ResNet152Layers.
struct ResNetOptions {
  std::int64_t classes = 1000;
  /// Computes like torchvision, so that its weights can be used (docs/guide/from-pytorch.md): eps is 1e-5, the first
  /// convolution has no bias, the first pooling has a pad of 1, and a Bottleneck's stride is in its 3 × 3 convolution.
  bool torchvision = false;
};
/// A 7 × 7 convolution, four stages of blocks, global average pooling and a fully connected layer.
template <class Block>
class CT_API ResNetOf : public ImageClassifier {
 public:
  Convolution2D conv1;
  BatchNormalization bn1;
  ResNetStage<Block> res2, res3, res4, res5;
  Linear fc6;
  CT_LINKS(conv1, bn1, res2, res3, res4, res5, fc6)
  std::string type_name() const override { return name_; }

 protected:
  /// `counts` is the number of blocks of each stage.
  ResNetOf(const char* name, const std::vector<std::int64_t>& counts, const ResNetOptions& options);
  std::vector<Layer> layers() const override;
  std::string features() const override { return "pool5"; }
  std::vector<double> mean() const override { return {103.063, 115.903, 123.152}; }
  bool as_torchvision() const override { return torchvision_; }

 private:
  const char* name_;
  bool torchvision_;
};
extern template class ResNetOf<BasicBlock>;
extern template class ResNetOf<Bottleneck>;

/// The network of 18 layers, made of BasicBlock. (He et al., arXiv:1512.03385)
class CT_API ResNet18Layers : public ResNetOf<BasicBlock> {
 public:
  explicit ResNet18Layers(const ResNetOptions& options = {}) : ResNetOf("ResNet18Layers", {2, 2, 2, 2}, options) {}
};
/// The network of 34 layers, made of BasicBlock. (He et al., arXiv:1512.03385)
class CT_API ResNet34Layers : public ResNetOf<BasicBlock> {
 public:
  explicit ResNet34Layers(const ResNetOptions& options = {}) : ResNetOf("ResNet34Layers", {3, 4, 6, 3}, options) {}
};
/// The network of 50 layers. (chainer.links.ResNet50Layers) (He et al., arXiv:1512.03385)
class CT_API ResNet50Layers : public ResNetOf<Bottleneck> {
 public:
  explicit ResNet50Layers(const ResNetOptions& options = {}) : ResNetOf("ResNet50Layers", {3, 4, 6, 3}, options) {}
};
/// The network of 101 layers. (chainer.links.ResNet101Layers)
class CT_API ResNet101Layers : public ResNetOf<Bottleneck> {
 public:
  explicit ResNet101Layers(const ResNetOptions& options = {}) : ResNetOf("ResNet101Layers", {3, 4, 23, 3}, options) {}
};
/// The network of 152 layers. (chainer.links.ResNet152Layers)
class CT_API ResNet152Layers : public ResNetOf<Bottleneck> {
 public:
  explicit ResNet152Layers(const ResNetOptions& options = {}) : ResNetOf("ResNet152Layers", {3, 8, 36, 3}, options) {}
};

}  // namespace catenary::links
