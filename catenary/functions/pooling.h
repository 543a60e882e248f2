#pragma once
// Poolings over the axes after the second, and their reverse over 1 to 3 axes.
//
// x is [n, channels, spatial axes…] of a floating dtype. Results have x's memory layout, so channels-last inputs give
// channels-last results.

#include <optional>
#include <string>

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"
#include "catenary/core/optional_shape.h"
#include "catenary/core/per_axis.h"

namespace catenary::functions {

/// Options of max_pooling_1d, _2d, _3d and _nd.
struct MaxPoolingOptions {
  OptionalPerAxis stride = {};  ///< from one window to the next, by default a window's size
  PerAxis pad = 0;              ///< padding on both sides of an axis
  bool cover_all = true;        ///< add windows until all elements are covered
  /// Receives the index of each maximum in its window (int64, in C order), in the result's shape.
  Array* return_indices = nullptr;
};
CT_FIELDS(MaxPoolingOptions, stride, pad, cover_all, return_indices)

/// Returns the largest element of each window of `ksize`. Padding counts as -infinity. A window with NaN gives NaN.
/// Among equal elements the first gets the gradient. Throws ShapeError if no window fits or x has another number of
/// axes, DtypeError, and ValueError for impossible options. (chainer.functions.max_pooling_2d)
CT_API Variable max_pooling_2d(const Variable& x, const PerAxis& ksize, const MaxPoolingOptions& options = {});
/// Pools over one axis, like max_pooling_2d. (chainer.functions.max_pooling_1d)
CT_API Variable max_pooling_1d(const Variable& x, const PerAxis& ksize, const MaxPoolingOptions& options = {});
/// Pools over three axes, like max_pooling_2d. (chainer.functions.max_pooling_3d)
CT_API Variable max_pooling_3d(const Variable& x, const PerAxis& ksize, const MaxPoolingOptions& options = {});
/// Pools over all axes of x from the third on, like max_pooling_2d. return_indices needs at most three of them.
/// (chainer.functions.max_pooling_nd)
CT_API Variable max_pooling_nd(const Variable& x, const PerAxis& ksize, const MaxPoolingOptions& options = {});

/// Options of average_pooling_1d, _2d, _3d and _nd.
struct AveragePoolingOptions {
  OptionalPerAxis stride = {};          ///< from one window to the next, by default a window's size
  PerAxis pad = 0;                      ///< padding on both sides of an axis
  std::optional<double> pad_value = 0;  ///< 0, or nullopt to average only over elements that are not padding
};
CT_FIELDS(AveragePoolingOptions, stride, pad, pad_value)

/// Returns the mean of each window of `ksize`. Throws like max_pooling_2d. (chainer.functions.average_pooling_2d)
CT_API Variable average_pooling_2d(const Variable& x, const PerAxis& ksize, const AveragePoolingOptions& options = {});
/// Pools over one axis, like average_pooling_2d. (chainer.functions.average_pooling_1d)
CT_API Variable average_pooling_1d(const Variable& x, const PerAxis& ksize, const AveragePoolingOptions& options = {});
/// Pools over three axes, like average_pooling_2d. (chainer.functions.average_pooling_3d)
CT_API Variable average_pooling_3d(const Variable& x, const PerAxis& ksize, const AveragePoolingOptions& options = {});
/// Pools over all axes of x from the third on, like average_pooling_2d. (chainer.functions.average_pooling_nd)
CT_API Variable average_pooling_nd(const Variable& x, const PerAxis& ksize, const AveragePoolingOptions& options = {});

/// Options of unpooling_1d, _2d, _3d and _nd, and of upsampling_2d.
struct UnpoolingOptions {
  OptionalPerAxis stride = {};  ///< from one window to the next, by default a window's size
  PerAxis pad = 0;              ///< elements cut off on both sides of an axis
  OptionalShape outsize = {};   ///< spatial shape of the result, by default the smallest that the windows fit into
  bool cover_all = true;        ///< as in the pooling that unpooling reverses
};
CT_FIELDS(UnpoolingOptions, stride, pad, outsize, cover_all)

/// Spreads each element of x over its window of `ksize` and adds where windows overlap. Throws ShapeError for an
/// outsize with another number of windows than x, and like max_pooling_2d. (chainer.functions.unpooling_2d)
CT_API Variable unpooling_2d(const Variable& x, const PerAxis& ksize, const UnpoolingOptions& options = {});
/// Unpools over one axis, like unpooling_2d. (chainer.functions.unpooling_1d)
CT_API Variable unpooling_1d(const Variable& x, const PerAxis& ksize, const UnpoolingOptions& options = {});
/// Unpools over three axes, like unpooling_2d. (chainer.functions.unpooling_3d)
CT_API Variable unpooling_3d(const Variable& x, const PerAxis& ksize, const UnpoolingOptions& options = {});
/// Unpools over all axes of x from the third on, 1 to 3, like unpooling_2d. (chainer.functions.unpooling_nd)
CT_API Variable unpooling_nd(const Variable& x, const PerAxis& ksize, const UnpoolingOptions& options = {});

/// Puts each element of x at the index in its window that max_pooling_2d found (return_indices), with zeros elsewhere.
/// Throws ShapeError if the shapes of x and indexes differ, DtypeError for indexes that are not integers, IndexError
/// for an index outside the window, and like unpooling_2d. (chainer.functions.upsampling_2d)
CT_API Variable upsampling_2d(const Variable& x, const Array& indexes, const PerAxis& ksize,
                              const UnpoolingOptions& options = {});

/// Pools x [n, c, h, w] into 1, 2 × 2, 4 × 4, … windows, pyramid_height times, and concatenates the results: [n,
/// features, 1, 1]. Throws ValueError unless `pooling` is "max". (chainer.functions.spatial_pyramid_pooling_2d) (He et
/// al. 2014)
CT_API Variable spatial_pyramid_pooling_2d(const Variable& x, int pyramid_height, const std::string& pooling = "max");

}  // namespace catenary::functions
