#pragma once
// Images as arrays: uint8, (height, width, channels), the first row on top; 1 channel is gray, 2 gray and alpha, 3 RGB,
// 4 RGBA.

#include <vector>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// How an image is read.
struct ImageOptions {
  /// 0: as in the file. Else 1 to 4: colour becomes gray by the luma of ITU-R 601, alpha is dropped or set to 255.
  int channels = 0;
  /// Larger images are refused.
  std::int64_t max_pixels = std::int64_t{1} << 28;
};

/// Changes the number of channels of an (H, W, C) uint8 image; throws ValueError for what is none.
CT_API HostArray convert_channels(const HostArray& image, int channels);

/// An (H, W, C) uint8 image in another size: each pixel is the mean under a triangle of the source, as wide as a pixel
/// of the larger of the two images (bilinear when growing, without aliasing when shrinking, as Pillow's BILINEAR).
/// Throws ValueError for what is no image, or an extent < 1.
CT_API HostArray resize(const HostArray& image, std::int64_t height, std::int64_t width);

}  // namespace catenary::io
