#pragma once
// U-Net: down to few pixels of many channels and up again, each level on the way up joined with that on the way down.

#include <vector>

#include "catenary/links/convolution.h"
#include "catenary/links/normalization.h"

namespace catenary::links {

/// Options of UNet.
struct UNetOptions {
  std::int64_t channels = 64;  ///< of the first level; each further one has twice as many
  int depth = 4;               ///< how many times the image is halved
};
/// Scores of classes for each pixel [n, classes, h, w] of images x [n, in_channels, h, w]. Convolutions have pads and
/// normalizations, so that h and w stay, which must be multiples of 2 to the power of depth; ShapeError where they are
/// not. (Ronneberger et al., arXiv:1505.04597)
class CT_API UNet : public Chain {
 public:
  UNet(std::int64_t in_channels, std::int64_t classes, const UNetOptions& options = {});
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "UNet"; }
  void visit_members(MemberVisitor& visitor) const override;

  /// Two 3 × 3 convolutions, each normalized.
  class CT_API Level : public Chain {
   public:
    Level(std::int64_t in_channels, std::int64_t out_channels);
    Variable operator()(const Variable& x) const;
    std::string type_name() const override { return "UNetLevel"; }
    Convolution2D conv1;
    BatchNormalization bn1;
    Convolution2D conv2;
    BatchNormalization bn2;
    CT_LINKS(conv1, bn1, conv2, bn2)
  };
  std::vector<Level> down, up;        ///< children "down0", …, "up0", …: from the finest level to the coarsest
  std::vector<Deconvolution2D> grow;  ///< children "grow0", …: each doubles the extents
  Convolution2D last;
};

}  // namespace catenary::links
