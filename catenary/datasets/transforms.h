#pragma once
// What is done to images before they are learnt: cuts and mirrors at random.

#include <cstdint>
#include <utility>

#include "catenary/array/array.h"

namespace catenary::random {
struct Generator;
}

namespace catenary::datasets {

/// Options of random_crop.
struct RandomCropOptions {
  std::int64_t pad = 0;                    ///< zeros that are put around an image first
  random::Generator* generator = nullptr;  ///< the calling thread's where not given
};
/// A window of (height, width) at a random place of an image (c, h, w), or of each image of a batch (n, c, h, w) at a
/// place of its own. A new array of x's dtype, on its device. Throws ShapeError for another number of axes and for a
/// window that does not fit.
CT_API Array random_crop(const Array& x, std::pair<std::int64_t, std::int64_t> size,
                         const RandomCropOptions& options = {});

/// Options of random_flip.
struct RandomFlipOptions {
  bool horizontal = true;  ///< mirror left and right, or not, by chance
  bool vertical = false;   ///< mirror top and bottom, or not, by chance
  random::Generator* generator = nullptr;
};
/// An image (c, h, w), or each of a batch (n, c, h, w) by itself, mirrored by chance. A new array of x's dtype, on its
/// device. Throws ShapeError for another number of axes.
CT_API Array random_flip(const Array& x, const RandomFlipOptions& options = {});

}  // namespace catenary::datasets
