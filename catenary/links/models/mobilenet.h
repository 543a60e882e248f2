#pragma once
// MobileNet-V2: inverted residual blocks with depthwise convolutions.

#include <optional>
#include <vector>

#include "catenary/links/connection.h"
#include "catenary/links/convolution.h"
#include "catenary/links/normalization.h"

namespace catenary::links {

/// A 1 × 1 convolution to `expansion` times the channels (left out for 1), a 3 × 3 depthwise convolution and a 1 × 1
/// convolution to the output channels. Each is normalized, and relu6 follows the first two. The input is added if the
/// block keeps its shape and channels.
class CT_API InvertedResidual : public Chain {
 public:
  InvertedResidual(std::int64_t in_channels, std::int64_t out_channels, std::int64_t stride, std::int64_t expansion,
                   double eps = 2e-5);
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "InvertedResidual"; }
  std::optional<Convolution2D> expand;
  std::optional<BatchNormalization> expand_bn;
  Convolution2D depthwise;
  BatchNormalization depthwise_bn;
  Convolution2D project;
  BatchNormalization project_bn;
  CT_LINKS(expand, expand_bn, depthwise, depthwise_bn, project, project_bn)

 private:
  bool adds_input_;
};

/// Options of MobileNetV2.
struct MobileNetV2Options {
  std::int64_t classes = 1000;
  double width = 1;          ///< factor of each layer's channels, which are rounded to multiples of 8
  double dropout = 0.2;      ///< before the last layer
  bool torchvision = false;  ///< compute like torchvision's network: eps is 1e-5
};
/// Returns class scores [n, classes] of images x [n, 3, h, w]. (Sandler et al., arXiv:1801.04381)
class CT_API MobileNetV2 : public Chain {
 public:
  explicit MobileNetV2(const MobileNetV2Options& options = {});
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "MobileNetV2"; }
  void visit_members(MemberVisitor& visitor) const override;
  Convolution2D first;
  BatchNormalization first_bn;
  std::vector<InvertedResidual> blocks;  ///< children "0", "1", …
  Convolution2D last;
  BatchNormalization last_bn;
  Linear fc;

 private:
  double dropout_;
};

}  // namespace catenary::links
