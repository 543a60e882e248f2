#pragma once
// Random augmentation of images: crops and flips.

#include <cstdint>
#include <utility>

#include "catenary/array/array.h"

namespace catenary::random {
struct Generator;
}

namespace catenary::datasets {

/// Options of random_crop.
struct RandomCropOptions {
  std::int64_t pad = 0;                    ///< zeros padded around the image first
  random::Generator* generator = nullptr;  ///< default: the calling thread's generator
};
/// Returns a window of (height, width) at a random position of an image (c, h, w), or at an independent position of
/// each image of a batch (n, c, h, w), as a new array with x's dtype and device. Throws ShapeError for another number
/// of axes and for a window that does not fit.
CT_API Array random_crop(const Array& x, std::pair<std::int64_t, std::int64_t> size,
                         const RandomCropOptions& options = {});

/// Options of random_flip.
struct RandomFlipOptions {
  bool horizontal = true;  ///< flip left and right with probability 1/2
  bool vertical = false;   ///< flip top and bottom with probability 1/2
  random::Generator* generator = nullptr;
};
/// Returns an image (c, h, w), or each image of a batch (n, c, h, w), flipped at random, as a new array with x's dtype
/// and device. Throws ShapeError for another number of axes.
CT_API Array random_flip(const Array& x, const RandomFlipOptions& options = {});

}  // namespace catenary::datasets
