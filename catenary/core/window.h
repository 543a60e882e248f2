#pragma once
// Windows that slide over the last axes of an array, as convolutions and poolings have them. All extents of results are
// computed here.

#include <cstdint>

#include "catenary/core/export.h"
#include "catenary/core/shape.h"

namespace catenary {

/// A window and how it slides over 1 to 3 axes: an entry of each member for each axis.
struct CT_API Window {
  Shape size;    ///< taps
  Shape stride;  ///< from one window to the next
  Shape pad;     ///< what is added on both sides of an axis
  Shape dilate;  ///< from one tap to the next

  /// Each argument has one entry for each axis, or a single one for all of them. Throws ValueError, which names
  /// `function`, for another number of entries, for other than 1 to 3 axes, for sizes, strides or distances below 1 or
  /// pads below 0, and for what is above `most`: kernels reckon with places around a window.
  static Window make(const char* function, int axes, const Shape& size, const Shape& stride, const Shape& pad,
                     const Shape& dilate = {1});

  /// The largest entry, number of taps and reach.
  static constexpr std::int64_t most = 1 << 28;

  int axes() const { return size.size(); }
  std::int64_t taps() const { return size.product(); }
  /// What one window covers of an axis, gaps included.
  std::int64_t reach(int axis) const { return dilate[axis] * (size[axis] - 1) + 1; }

  /// How many windows fit on each axis of `extents`; cover_all: until all elements are in one. Throws ShapeError where
  /// that is none. (chainer.utils.conv.get_conv_outsize)
  Shape counts(const char* function, const Shape& extents, bool cover_all = false) const;
  /// The smallest extents that so many windows fit on: those of a transposed convolution's result. Throws ShapeError
  /// where nothing is left. (chainer.utils.conv.get_deconv_outsize)
  Shape extents(const char* function, const Shape& counts, bool cover_all = false) const;

  friend bool operator==(const Window&, const Window&) = default;
};

}  // namespace catenary
