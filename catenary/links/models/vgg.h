#pragma once
// VGG: stages of 3 × 3 convolutions followed by three fully connected layers.

#include "catenary/links/connection.h"
#include "catenary/links/convolution.h"
#include "catenary/links/models/image_classifier.h"

namespace catenary::links {

/// Options of VGG16Layers and VGG19Layers.
struct VGGOptions {
  std::int64_t classes = 1000;
  std::int64_t units = 4096;  ///< size of fc6 and fc7
  /// Computes like torchvision's network: poolings ignore incomplete windows, and images of other sizes are averaged to
  /// the 7 × 7 pixels that fc6 expects.
  bool torchvision = false;
};
/// The network of 16 layers. (chainer.links.VGG16Layers) (Simonyan and Zisserman, arXiv:1409.1556)
class CT_API VGG16Layers : public ImageClassifier {
 public:
  explicit VGG16Layers(const VGGOptions& options = {});
  std::string type_name() const override { return "VGG16Layers"; }
  Convolution2D conv1_1, conv1_2, conv2_1, conv2_2, conv3_1, conv3_2, conv3_3, conv4_1, conv4_2, conv4_3, conv5_1,
      conv5_2, conv5_3;
  Linear fc6, fc7, fc8;
  CT_LINKS(conv1_1, conv1_2, conv2_1, conv2_2, conv3_1, conv3_2, conv3_3, conv4_1, conv4_2, conv4_3, conv5_1, conv5_2,
           conv5_3, fc6, fc7, fc8)

 protected:
  std::vector<Layer> layers() const override;
  std::string features() const override { return "fc7"; }
  std::vector<double> mean() const override { return {103.939, 116.779, 123.68}; }
  bool as_torchvision() const override { return torchvision_; }

 private:
  bool torchvision_;
};

/// The network of 19 layers: a fourth convolution in the last three stages. (chainer.links.VGG19Layers)
class CT_API VGG19Layers : public VGG16Layers {
 public:
  explicit VGG19Layers(const VGGOptions& options = {});
  std::string type_name() const override { return "VGG19Layers"; }
  Convolution2D conv3_4, conv4_4, conv5_4;
  CT_MORE_LINKS(VGG16Layers, conv3_4, conv4_4, conv5_4)

 protected:
  std::vector<Layer> layers() const override;
};

}  // namespace catenary::links
