#pragma once
// Windows that slide over the last axes of an array, for convolutions and poolings. All result sizes are computed here.

#include <cstdint>

#include "catenary/core/export.h"
#include "catenary/core/shape.h"

namespace catenary {

/// A window and its movement over 1 to 3 axes. Each member has one entry for each axis.
struct CT_API Window {
  Shape size;    ///< taps
  Shape stride;  ///< from one window to the next
  Shape pad;     ///< padding on both sides of an axis
  Shape dilate;  ///< from one tap to the next

  /// Makes a window. Each argument has one entry for each axis, or a single one for all axes. Throws ValueError, which
  /// names `function`, for another number of entries, for other than 1 to 3 axes, for sizes, strides or dilations below
  /// 1, for negative padding, and for values above `most`, because kernels compute positions around a window.
  static Window make(const char* function, int axes, const Shape& size, const Shape& stride, const Shape& pad,
                     const Shape& dilate = {1});

  /// The largest entry, number of taps and reach.
  static constexpr std::int64_t most = 1 << 28;

  int axes() const { return size.size(); }
  std::int64_t taps() const { return size.product(); }
  /// Returns the number of elements of an axis that one window covers, with gaps.
  std::int64_t reach(int axis) const { return dilate[axis] * (size[axis] - 1) + 1; }

  /// Returns the number of windows along each axis of `extents`. With cover_all, windows continue until all elements
  /// are covered. Throws ShapeError if there is no window. (chainer.utils.conv.get_conv_outsize)
  Shape counts(const char* function, const Shape& extents, bool cover_all = false) const;
  /// Returns the smallest shape with this many windows: the result of a transposed convolution. Throws ShapeError if it
  /// is empty. (chainer.utils.conv.get_deconv_outsize)
  Shape extents(const char* function, const Shape& counts, bool cover_all = false) const;

  friend bool operator==(const Window&, const Window&) = default;
};

}  // namespace catenary
