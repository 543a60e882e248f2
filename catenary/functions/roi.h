#pragma once
// Regions of images (regions of interest): each is cut into bins, outsize of them, and gives a value a bin. Results are
// [regions, c, outsize[0], outsize[1]].
//
// x is [n, c, h, w] of a floating dtype. rois [regions, 4] of x's dtype are (top, left, bottom, right), which
// spatial_scale turns into pixels; roi_indices [regions] (integers) tell of which image each is, and neither has a
// gradient. All can be differentiated twice with respect to x. Sums are in the order of regions, so the same each time.
// They throw ShapeError, DtypeError, IndexError for an image that is not there, and ValueError for an outsize of other
// than one or two positive numbers, for a spatial_scale or a sampling_ratio that makes no sense.

#include "catenary/autograd/variable.h"
#include "catenary/core/per_axis.h"

namespace catenary::functions {

/// The largest pixel of each bin. rois are [regions, 5]: (image, left, top, right, bottom), the last pixels included;
/// 0 where a bin lies outside. (chainer.functions.roi_pooling_2d; Girshick, arXiv:1504.08083)
CT_API Variable roi_pooling_2d(const Variable& x, const Variable& rois, std::int64_t outh, std::int64_t outw,
                               double spatial_scale);
/// The largest pixel of each bin; -inf where a bin lies outside. (chainer.functions.roi_max_pooling_2d)
CT_API Variable roi_max_pooling_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                                   const PerAxis& outsize, double spatial_scale);
/// The mean of each bin's pixels; 0 where a bin lies outside. (chainer.functions.roi_average_pooling_2d)
CT_API Variable roi_average_pooling_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                                       const PerAxis& outsize, double spatial_scale);
/// The largest of points in each bin, between pixels' centres bilinear: sampling_ratio of them along each axis, or,
/// where that is 0, as many as pixels. -inf where all lie outside. (chainer.functions.roi_max_align_2d)
CT_API Variable roi_max_align_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                                 const PerAxis& outsize, double spatial_scale, const PerAxis& sampling_ratio = 0);
/// The mean of such points, where those outside count as zeros. (chainer.functions.roi_average_align_2d; He et al.,
/// arXiv:1703.06870)
CT_API Variable roi_average_align_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                                     const PerAxis& outsize, double spatial_scale, const PerAxis& sampling_ratio = 0);

}  // namespace catenary::functions
