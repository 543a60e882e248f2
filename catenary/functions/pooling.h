#pragma once
// Poolings over 1 to 3 axes, and their way back.
//
// x is [n, channels, extents…] and of a floating dtype. A result lies in memory as x does, so what is channels-last
// stays so.

#include <optional>
#include <string>

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"
#include "catenary/core/optional_shape.h"
#include "catenary/core/per_axis.h"

namespace catenary::functions {

/// Options of max_pooling_1d, _2d, _3d and _nd.
struct MaxPoolingOptions {
  OptionalPerAxis stride = {};  ///< from one window to the next; a window's size when not given
  PerAxis pad = 0;              ///< what is added on both sides of an axis
  bool cover_all = true;        ///< windows until all elements are in one
  /// Gets which tap of its window each element was (int64, counted in the order of the axes), in the result's shape.
  Array* return_indices = nullptr;
};
CT_FIELDS(MaxPoolingOptions, stride, pad, cover_all, return_indices)

/// The largest element of each window of `ksize`; pads count as -infinity. NaN where a window has one. Among equal ones
/// the first gets the gradient. Throws ShapeError where no window fits or x has other axes, DtypeError, and ValueError
/// for impossible options. (chainer.functions.max_pooling_2d)
CT_API Variable max_pooling_2d(const Variable& x, const PerAxis& ksize, const MaxPoolingOptions& options = {});
/// max_pooling_2d over one axis. (chainer.functions.max_pooling_1d)
CT_API Variable max_pooling_1d(const Variable& x, const PerAxis& ksize, const MaxPoolingOptions& options = {});
/// max_pooling_2d over three axes. (chainer.functions.max_pooling_3d)
CT_API Variable max_pooling_3d(const Variable& x, const PerAxis& ksize, const MaxPoolingOptions& options = {});
/// max_pooling_2d over all axes of x behind the second: 1 to 3. (chainer.functions.max_pooling_nd)
CT_API Variable max_pooling_nd(const Variable& x, const PerAxis& ksize, const MaxPoolingOptions& options = {});

/// Options of average_pooling_1d, _2d, _3d and _nd.
struct AveragePoolingOptions {
  OptionalPerAxis stride = {};          ///< from one window to the next; a window's size when not given
  PerAxis pad = 0;                      ///< what is added on both sides of an axis
  std::optional<double> pad_value = 0;  ///< 0, or nullopt: the mean is that of the elements that are not pads
};
CT_FIELDS(AveragePoolingOptions, stride, pad, pad_value)

/// The mean of each window of `ksize`. Throws as max_pooling_2d. (chainer.functions.average_pooling_2d)
CT_API Variable average_pooling_2d(const Variable& x, const PerAxis& ksize, const AveragePoolingOptions& options = {});
/// average_pooling_2d over one axis. (chainer.functions.average_pooling_1d)
CT_API Variable average_pooling_1d(const Variable& x, const PerAxis& ksize, const AveragePoolingOptions& options = {});
/// average_pooling_2d over three axes. (chainer.functions.average_pooling_3d)
CT_API Variable average_pooling_3d(const Variable& x, const PerAxis& ksize, const AveragePoolingOptions& options = {});
/// average_pooling_2d over all axes of x behind the second: 1 to 3. (chainer.functions.average_pooling_nd)
CT_API Variable average_pooling_nd(const Variable& x, const PerAxis& ksize, const AveragePoolingOptions& options = {});

/// Options of unpooling_1d, _2d, _3d and _nd, and of upsampling_2d.
struct UnpoolingOptions {
  OptionalPerAxis stride = {};  ///< from one window to the next; a window's size when not given
  PerAxis pad = 0;              ///< what is cut off on both sides of an axis
  OptionalShape outsize = {};   ///< extents of the result; the least that the windows fit on when not given
  bool cover_all = true;        ///< a pooling by which so many windows cover the result
};
CT_FIELDS(UnpoolingOptions, stride, pad, outsize, cover_all)

/// Each element of x spread over its window of `ksize`; where windows overlap they are added. Throws ShapeError for an
/// outsize that has another number of windows than x, and as max_pooling_2d. (chainer.functions.unpooling_2d)
CT_API Variable unpooling_2d(const Variable& x, const PerAxis& ksize, const UnpoolingOptions& options = {});
/// unpooling_2d over one axis. (chainer.functions.unpooling_1d)
CT_API Variable unpooling_1d(const Variable& x, const PerAxis& ksize, const UnpoolingOptions& options = {});
/// unpooling_2d over three axes. (chainer.functions.unpooling_3d)
CT_API Variable unpooling_3d(const Variable& x, const PerAxis& ksize, const UnpoolingOptions& options = {});
/// unpooling_2d over all axes of x behind the second: 1 to 3. (chainer.functions.unpooling_nd)
CT_API Variable unpooling_nd(const Variable& x, const PerAxis& ksize, const UnpoolingOptions& options = {});

/// Each element of x at the place in its window that max_pooling_2d found (return_indices); zeros elsewhere. Throws
/// ShapeError where x and indexes differ, DtypeError for indexes that are not integers, IndexError for one that is no
/// tap of the window, and as unpooling_2d. (chainer.functions.upsampling_2d)
CT_API Variable upsampling_2d(const Variable& x, const Array& indexes, const PerAxis& ksize,
                              const UnpoolingOptions& options = {});

/// Poolings of x [n, c, h, w] into 1, 2 × 2, 4 × 4, … windows, pyramid_height of them, one behind the other: [n,
/// features, 1, 1]. The only `pooling` is "max"; ValueError for another one.
/// (chainer.functions.spatial_pyramid_pooling_2d; He et al. 2014)
CT_API Variable spatial_pyramid_pooling_2d(const Variable& x, int pyramid_height, const std::string& pooling = "max");

}  // namespace catenary::functions
