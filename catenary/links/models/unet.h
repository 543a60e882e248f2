#pragma once
// U-Net: an encoder that halves the image at each level, and a decoder that joins each level with the encoder's.

#include <vector>

#include "catenary/links/convolution.h"
#include "catenary/links/normalization.h"

namespace catenary::links {

/// Options of UNet.
struct UNetOptions {
  std::int64_t channels = 64;  ///< of the first level, doubled at each further level
  int depth = 4;               ///< how many times the image is halved
};
/// Returns class scores for each pixel [n, classes, h, w] of images x [n, in_channels, h, w]. Convolutions are padded
/// and normalized. Throws ShapeError unless h and w are multiples of 2 to the power of depth. (Ronneberger et al.,
/// arXiv:1505.04597)
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
  std::vector<Level> down, up;        ///< children "down0", …, "up0", …, each from the finest to the coarsest level
  std::vector<Deconvolution2D> grow;  ///< children "grow0", …, each doubles height and width
  Convolution2D last;
};

}  // namespace catenary::links
