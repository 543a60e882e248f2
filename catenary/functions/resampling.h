#pragma once
// Functions that sample images between pixels. x is [n, c, h, w] of a floating dtype.

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"
#include "catenary/core/per_axis.h"

namespace catenary::functions {

/// How resize_images computes a pixel.
enum class ResizeMode : std::uint8_t {
  bilinear,  ///< from the four nearest pixels
  nearest,   ///< the pixel at or before the position
};
/// Options of resize_images.
struct ResizeOptions {
  ResizeMode mode = ResizeMode::bilinear;
  /// For bilinear: aligns the centres of the corner pixels, otherwise their edges.
  bool align_corners = true;
};
CT_FIELDS(ResizeOptions, mode, align_corners)
/// Resizes images to [n, c, output_shape[0], output_shape[1]]. Can be differentiated twice. Throws ShapeError for
/// another number of axes and for images without pixels, DtypeError, and ValueError unless output_shape is two positive
/// numbers. (chainer.functions.resize_images)
CT_API Variable resize_images(const Variable& x, const Shape& output_shape, const ResizeOptions& options = {});

/// Returns a sampling grid [n, 2, h, w]: the coordinates (first x, then y, from -1 to 1) to which the affine maps theta
/// [n, 2, 3] send the pixels of an image of output_shape (h, w). Can be differentiated twice. Throws ShapeError,
/// DtypeError, and ValueError unless output_shape is two positive numbers. (chainer.functions.spatial_transformer_grid)
/// (Jaderberg et al., arXiv:1506.02025)
CT_API Variable spatial_transformer_grid(const Variable& theta, const Shape& output_shape);
/// Samples x at the coordinates of a grid [n, 2, h', w'] and returns images [n, c, h', w']. -1 and 1 are the centres of
/// the outermost pixels. Interpolation is bilinear, with zeros outside x. Gradients cannot be differentiated again
/// (ValueError). Throws ShapeError and DtypeError. (chainer.functions.spatial_transformer_sampler)
CT_API Variable spatial_transformer_sampler(const Variable& x, const Variable& grid);

/// Options of deformable_convolution_2d_sampler.
struct DeformableConvolutionOptions {
  PerAxis stride = 1;  ///< from one window to the next
  PerAxis pad = 0;     ///< zeros on both sides of an axis
};
CT_FIELDS(DeformableConvolutionOptions, stride, pad)
/// Convolves x with W [c', c, kh, kw] at displaced taps. offset [n, 2 kh kw, h', w'] holds each tap's displacement,
/// first to the right, then down. h' and w' are the result's. b is [c']. Gradients cannot be differentiated again
/// (ValueError). Throws ShapeError, DtypeError, and ValueError for an invalid stride or pad.
/// (chainer.functions.deformable_convolution_2d_sampler) (Dai et al., arXiv:1703.06211)
CT_API Variable deformable_convolution_2d_sampler(const Variable& x, const Variable& offset, const Variable& W,
                                                  const DeformableConvolutionOptions& options = {});
CT_API Variable deformable_convolution_2d_sampler(const Variable& x, const Variable& offset, const Variable& W,
                                                  const Variable& b, const DeformableConvolutionOptions& options = {});

}  // namespace catenary::functions
