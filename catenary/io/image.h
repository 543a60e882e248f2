#pragma once
// Images as uint8 arrays (height, width, channels), top row first. 1 channel is gray, 2 gray and alpha, 3 RGB, 4 RGBA.

#include <vector>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// How to read an image.
struct ImageOptions {
  /// 0 keeps the file's channels. 1 to 4 convert: colour to gray by ITU-R 601 luma, and alpha is dropped or set to 255.
  int channels = 0;
  /// Larger images throw FileError.
  std::int64_t max_pixels = std::int64_t{1} << 28;
};

/// Changes the number of channels of an (H, W, C) uint8 image. Throws ValueError for other arrays.
CT_API HostArray convert_channels(const HostArray& image, int channels);

/// Resizes an (H, W, C) uint8 image. Each pixel is a mean with triangular weights, as wide as a pixel of the larger of
/// the two images: bilinear when enlarging, without aliasing when shrinking, like Pillow's BILINEAR. Throws ValueError
/// for other arrays and for sizes < 1.
CT_API HostArray resize(const HostArray& image, std::int64_t height, std::int64_t width);

}  // namespace catenary::io
