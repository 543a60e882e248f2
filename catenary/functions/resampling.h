#pragma once
// Functions that take images at other places than their pixels. x is [n, c, h, w] of a floating dtype.

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"
#include "catenary/core/per_axis.h"

namespace catenary::functions {

/// How resize_images finds a pixel's value.
enum class ResizeMode : std::uint8_t {
  bilinear,  ///< of the four pixels around
  nearest,   ///< the pixel at or before it
};
/// Options of resize_images.
struct ResizeOptions {
  ResizeMode mode = ResizeMode::bilinear;
  /// bilinear: the corners' centres are those of x's corners; else the corners' edges are.
  bool align_corners = true;
};
CT_FIELDS(ResizeOptions, mode, align_corners)
/// Images of another size: [n, c, output_shape[0], output_shape[1]]. Can be differentiated twice. Throws ShapeError for
/// another number of axes and for images without pixels, DtypeError, and ValueError for another output_shape than two
/// positive numbers. (chainer.functions.resize_images)
CT_API Variable resize_images(const Variable& x, const Shape& output_shape, const ResizeOptions& options = {});

/// The coordinates [n, 2, h, w] (along x, then along y; -1 and 1 are the outermost) that affine maps theta [n, 2, 3]
/// send the points of an image of output_shape (h, w) to. Can be differentiated twice. Throws ShapeError, DtypeError,
/// and ValueError for another output_shape than two positive numbers. (chainer.functions.spatial_transformer_grid;
/// Jaderberg et al., arXiv:1506.02025)
CT_API Variable spatial_transformer_grid(const Variable& theta, const Shape& output_shape);
/// Images [n, c, h', w'] of what x has at the coordinates of a grid [n, 2, h', w'], which are -1 and 1 at the centres
/// of the outermost pixels: bilinear, and zeros around x. Has no gradient of second order (ValueError). Throws
/// ShapeError and DtypeError. (chainer.functions.spatial_transformer_sampler)
CT_API Variable spatial_transformer_sampler(const Variable& x, const Variable& grid);

/// Options of deformable_convolution_2d_sampler.
struct DeformableConvolutionOptions {
  PerAxis stride = 1;  ///< from one window to the next
  PerAxis pad = 0;     ///< zeros on both sides of an axis
};
CT_FIELDS(DeformableConvolutionOptions, stride, pad)
/// A convolution with W [c', c, kh, kw] whose taps are moved: offset [n, 2 kh kw, h', w'] has how far each lies to the
/// right of its own place, and then how far below; h' and w' are the result's. b is [c']. Has no gradient of second
/// order (ValueError). Throws ShapeError, DtypeError, and ValueError for a stride or a pad.
/// (chainer.functions.deformable_convolution_2d_sampler; Dai et al., arXiv:1703.06211)
CT_API Variable deformable_convolution_2d_sampler(const Variable& x, const Variable& offset, const Variable& W,
                                                  const DeformableConvolutionOptions& options = {});
CT_API Variable deformable_convolution_2d_sampler(const Variable& x, const Variable& offset, const Variable& W,
                                                  const Variable& b, const DeformableConvolutionOptions& options = {});

}  // namespace catenary::functions
