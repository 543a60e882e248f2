#pragma once
// Regions of interest in images. Each region is divided into outsize bins, and each bin gives a value. Results are
// [regions, c, outsize[0], outsize[1]].
//
// x is [n, c, h, w] of a floating dtype. rois [regions, 4] of x's dtype are (top, left, bottom, right), which
// spatial_scale converts to pixels. roi_indices [regions] (integers) are the regions' images. Neither has a gradient.
// All functions can be differentiated twice with respect to x. Sums follow the order of regions, so results are
// reproducible. The functions throw ShapeError, DtypeError, IndexError for indices outside the images, and ValueError
// for an outsize other than one or two positive numbers and for an invalid spatial_scale or sampling_ratio.

#include "catenary/autograd/variable.h"
#include "catenary/core/per_axis.h"

namespace catenary::functions {

/// Returns the largest pixel of each bin, 0 for bins outside the image. rois are [regions, 5]: (image, left, top,
/// right, bottom), where right and bottom are the last pixels. (chainer.functions.roi_pooling_2d) (Girshick,
/// arXiv:1504.08083)
CT_API Variable roi_pooling_2d(const Variable& x, const Variable& rois, std::int64_t outh, std::int64_t outw,
                               double spatial_scale);
/// Returns the largest pixel of each bin, -inf for bins outside the image. (chainer.functions.roi_max_pooling_2d)
CT_API Variable roi_max_pooling_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                                   const PerAxis& outsize, double spatial_scale);
/// Returns the mean of each bin's pixels, 0 for bins outside the image. (chainer.functions.roi_average_pooling_2d)
CT_API Variable roi_average_pooling_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                                       const PerAxis& outsize, double spatial_scale);
/// Returns the largest of the points sampled in each bin, with bilinear interpolation: sampling_ratio points along each
/// axis, or as many as pixels if that is 0. -inf if all points are outside the image.
/// (chainer.functions.roi_max_align_2d)
CT_API Variable roi_max_align_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                                 const PerAxis& outsize, double spatial_scale, const PerAxis& sampling_ratio = 0);
/// Returns the mean of the sampled points. Points outside the image count as zeros.
/// (chainer.functions.roi_average_align_2d) (He et al., arXiv:1703.06870)
CT_API Variable roi_average_align_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                                     const PerAxis& outsize, double spatial_scale, const PerAxis& sampling_ratio = 0);

}  // namespace catenary::functions
