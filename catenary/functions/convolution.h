#pragma once
// Convolutions and transposed convolutions over 1 to 3 axes.
//
// Results have x's memory layout, so channels-last inputs give channels-last results. The gradient of W has W's layout.

#include <cstdint>

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"
#include "catenary/core/optional_shape.h"
#include "catenary/core/per_axis.h"

namespace catenary::functions {

/// Options of convolution_1d, _2d, _3d and _nd.
struct ConvolutionOptions {
  PerAxis stride = 1;      ///< from one window to the next
  PerAxis pad = 0;         ///< zeros on both sides of an axis
  bool cover_all = false;  ///< add windows until all elements are covered
  PerAxis dilate = 1;      ///< from one tap of a window to the next
  std::int64_t groups = 1;
};
CT_FIELDS(ConvolutionOptions, stride, pad, cover_all, dilate, groups)

/// Computes y[n, k, …] = Σ x[n, c, …] W[k, c, …] (+ b[k]) over channels c and the taps of each window: x [n, channels,
/// spatial axes…], W [out channels, channels / groups, taps…], b [out channels]. With groups, the first outputs use
/// only the first channels, and so on. Throws ShapeError for shapes that do not match, DtypeError unless all have one
/// floating dtype, and ValueError for impossible options. (chainer.functions.convolution_2d)
CT_API Variable convolution_2d(const Variable& x, const Variable& W, const ConvolutionOptions& options = {});
CT_API Variable convolution_2d(const Variable& x, const Variable& W, const Variable& b,
                               const ConvolutionOptions& options = {});
/// Convolves over one axis, like convolution_2d. (chainer.functions.convolution_1d)
CT_API Variable convolution_1d(const Variable& x, const Variable& W, const ConvolutionOptions& options = {});
CT_API Variable convolution_1d(const Variable& x, const Variable& W, const Variable& b,
                               const ConvolutionOptions& options = {});
/// Convolves over three axes, like convolution_2d. (chainer.functions.convolution_3d)
CT_API Variable convolution_3d(const Variable& x, const Variable& W, const ConvolutionOptions& options = {});
CT_API Variable convolution_3d(const Variable& x, const Variable& W, const Variable& b,
                               const ConvolutionOptions& options = {});
/// Convolves over all axes of x from the third on, 1 to 3, like convolution_2d. (chainer.functions.convolution_nd)
CT_API Variable convolution_nd(const Variable& x, const Variable& W, const ConvolutionOptions& options = {});
CT_API Variable convolution_nd(const Variable& x, const Variable& W, const Variable& b,
                               const ConvolutionOptions& options = {});

namespace detail {
/// Internal: returns whether x's device convolves bfloat16 into float32 faster than float32.
CT_API bool convolves_into_float32(const Array& x);
/// Internal: computes convolution_nd of bfloat16 with an unrounded float32 result, without a graph.
CT_API Array convolution_in_float32(const Variable& x, const Variable& W, const ConvolutionOptions& options);
}  // namespace detail

/// Options of deconvolution_1d, _2d, _3d and _nd.
struct DeconvolutionOptions {
  PerAxis stride = 1;          ///< from one window to the next
  PerAxis pad = 0;             ///< elements cut off on both sides of an axis
  OptionalShape outsize = {};  ///< spatial shape of the result, by default the smallest that the windows fit into
  PerAxis dilate = 1;          ///< from one tap of a window to the next
  std::int64_t groups = 1;
};
CT_FIELDS(DeconvolutionOptions, stride, pad, outsize, dilate, groups)

/// Computes the transposed convolution, plus b: the gradient of convolution_2d with respect to its input. x is [n,
/// channels, spatial axes…], W [channels, out channels / groups, taps…], b [out channels]. Throws ShapeError for shapes
/// that do not match or an outsize with another number of windows than x, DtypeError, and ValueError for impossible
/// options. (chainer.functions.deconvolution_2d)
CT_API Variable deconvolution_2d(const Variable& x, const Variable& W, const DeconvolutionOptions& options = {});
CT_API Variable deconvolution_2d(const Variable& x, const Variable& W, const Variable& b,
                                 const DeconvolutionOptions& options = {});
/// Computes a transposed convolution over one axis, like deconvolution_2d. (chainer.functions.deconvolution_1d)
CT_API Variable deconvolution_1d(const Variable& x, const Variable& W, const DeconvolutionOptions& options = {});
CT_API Variable deconvolution_1d(const Variable& x, const Variable& W, const Variable& b,
                                 const DeconvolutionOptions& options = {});
/// Computes a transposed convolution over three axes, like deconvolution_2d. (chainer.functions.deconvolution_3d)
CT_API Variable deconvolution_3d(const Variable& x, const Variable& W, const DeconvolutionOptions& options = {});
CT_API Variable deconvolution_3d(const Variable& x, const Variable& W, const Variable& b,
                                 const DeconvolutionOptions& options = {});
/// Computes a transposed convolution over all axes of x from the third on, 1 to 3, like deconvolution_2d.
/// (chainer.functions.deconvolution_nd)
CT_API Variable deconvolution_nd(const Variable& x, const Variable& W, const DeconvolutionOptions& options = {});
CT_API Variable deconvolution_nd(const Variable& x, const Variable& W, const Variable& b,
                                 const DeconvolutionOptions& options = {});

/// The older name of convolution_2d. (chainer.functions.dilated_convolution_2d)
CT_API Variable dilated_convolution_2d(const Variable& x, const Variable& W, const ConvolutionOptions& options = {});
CT_API Variable dilated_convolution_2d(const Variable& x, const Variable& W, const Variable& b,
                                       const ConvolutionOptions& options = {});

/// Options of depthwise_convolution_2d.
struct DepthwiseConvolutionOptions {
  PerAxis stride = 1;
  PerAxis pad = 0;
};
CT_FIELDS(DepthwiseConvolutionOptions, stride, pad)
/// Convolves each channel of x [n, channels, h, w] with its filters in W [multiplier, channels, kh, kw]. b is [channels
/// * multiplier]. The outputs of a channel are adjacent. Throws like convolution_2d.
/// (chainer.functions.depthwise_convolution_2d)
CT_API Variable depthwise_convolution_2d(const Variable& x, const Variable& W,
                                         const DepthwiseConvolutionOptions& options = {});
CT_API Variable depthwise_convolution_2d(const Variable& x, const Variable& W, const Variable& b,
                                         const DepthwiseConvolutionOptions& options = {});

/// Convolves x [n, channels, h, w] without padding, with different filters at each position: W [out channels, out h,
/// out w, channels, kh, kw], b [out channels, out h, out w]. Throws ShapeError for shapes that do not match, DtypeError
/// and ValueError. (chainer.functions.local_convolution_2d)
CT_API Variable local_convolution_2d(const Variable& x, const Variable& W, const PerAxis& stride = 1);
CT_API Variable local_convolution_2d(const Variable& x, const Variable& W, const Variable& b,
                                     const PerAxis& stride = 1);

}  // namespace catenary::functions
