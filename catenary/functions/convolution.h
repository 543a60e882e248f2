#pragma once
// Convolutions and transposed convolutions over 1 to 3 axes.
//
// A result lies in memory as x does, so what is channels-last stays so, and the gradient of W as W does.

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
  bool cover_all = false;  ///< windows until all elements are in one
  PerAxis dilate = 1;      ///< from one tap of a window to the next
  std::int64_t groups = 1;
};
CT_FIELDS(ConvolutionOptions, stride, pad, cover_all, dilate, groups)

/// y[n, k, …] = Σ x[n, c, …] W[k, c, …] (+ b[k]) over the channels c and the taps of each window: x [n, channels,
/// extents…], W [out channels, channels / groups, taps…], b [out channels]. With groups, the first outputs see the
/// first channels only, and so on. All of one floating dtype. Throws ShapeError where extents do not fit, DtypeError,
/// and ValueError for impossible options. (chainer.functions.convolution_2d)
CT_API Variable convolution_2d(const Variable& x, const Variable& W, const ConvolutionOptions& options = {});
CT_API Variable convolution_2d(const Variable& x, const Variable& W, const Variable& b,
                               const ConvolutionOptions& options = {});
/// convolution_2d over one axis. (chainer.functions.convolution_1d)
CT_API Variable convolution_1d(const Variable& x, const Variable& W, const ConvolutionOptions& options = {});
CT_API Variable convolution_1d(const Variable& x, const Variable& W, const Variable& b,
                               const ConvolutionOptions& options = {});
/// convolution_2d over three axes. (chainer.functions.convolution_3d)
CT_API Variable convolution_3d(const Variable& x, const Variable& W, const ConvolutionOptions& options = {});
CT_API Variable convolution_3d(const Variable& x, const Variable& W, const Variable& b,
                               const ConvolutionOptions& options = {});
/// convolution_2d over all axes of x behind the second: 1 to 3. (chainer.functions.convolution_nd)
CT_API Variable convolution_nd(const Variable& x, const Variable& W, const ConvolutionOptions& options = {});
CT_API Variable convolution_nd(const Variable& x, const Variable& W, const Variable& b,
                               const ConvolutionOptions& options = {});

namespace detail {
/// Internal: does x's device convolve bfloat16 into float32 in less time than float32?
CT_API bool convolves_into_float32(const Array& x);
/// Internal: what convolution_nd computes of bfloat16, not rounded: in float32. No graph sees it.
CT_API Array convolution_in_float32(const Variable& x, const Variable& W, const ConvolutionOptions& options);
}  // namespace detail

/// Options of deconvolution_1d, _2d, _3d and _nd.
struct DeconvolutionOptions {
  PerAxis stride = 1;          ///< from one window to the next
  PerAxis pad = 0;             ///< what is cut off on both sides of an axis
  OptionalShape outsize = {};  ///< extents of the result; the least that the windows fit on when not given
  PerAxis dilate = 1;          ///< from one tap of a window to the next
  std::int64_t groups = 1;
};
CT_FIELDS(DeconvolutionOptions, stride, pad, outsize, dilate, groups)

/// The transposed convolution: what convolution_2d's backward makes of y's gradient, plus b. x [n, channels, extents…],
/// W [channels, out channels / groups, taps…], b [out channels]. Throws ShapeError where extents do not fit, also for
/// an outsize that has another number of windows than x, DtypeError, and ValueError for impossible options.
/// (chainer.functions.deconvolution_2d)
CT_API Variable deconvolution_2d(const Variable& x, const Variable& W, const DeconvolutionOptions& options = {});
CT_API Variable deconvolution_2d(const Variable& x, const Variable& W, const Variable& b,
                                 const DeconvolutionOptions& options = {});
/// deconvolution_2d over one axis. (chainer.functions.deconvolution_1d)
CT_API Variable deconvolution_1d(const Variable& x, const Variable& W, const DeconvolutionOptions& options = {});
CT_API Variable deconvolution_1d(const Variable& x, const Variable& W, const Variable& b,
                                 const DeconvolutionOptions& options = {});
/// deconvolution_2d over three axes. (chainer.functions.deconvolution_3d)
CT_API Variable deconvolution_3d(const Variable& x, const Variable& W, const DeconvolutionOptions& options = {});
CT_API Variable deconvolution_3d(const Variable& x, const Variable& W, const Variable& b,
                                 const DeconvolutionOptions& options = {});
/// deconvolution_2d over all axes of x behind the second: 1 to 3. (chainer.functions.deconvolution_nd)
CT_API Variable deconvolution_nd(const Variable& x, const Variable& W, const DeconvolutionOptions& options = {});
CT_API Variable deconvolution_nd(const Variable& x, const Variable& W, const Variable& b,
                                 const DeconvolutionOptions& options = {});

/// convolution_2d by its older name. (chainer.functions.dilated_convolution_2d)
CT_API Variable dilated_convolution_2d(const Variable& x, const Variable& W, const ConvolutionOptions& options = {});
CT_API Variable dilated_convolution_2d(const Variable& x, const Variable& W, const Variable& b,
                                       const ConvolutionOptions& options = {});

/// Options of depthwise_convolution_2d.
struct DepthwiseConvolutionOptions {
  PerAxis stride = 1;
  PerAxis pad = 0;
};
CT_FIELDS(DepthwiseConvolutionOptions, stride, pad)
/// Each channel of x [n, channels, h, w] by filters of its own: W [multiplier, channels, kh, kw], b [channels *
/// multiplier], where the outputs of a channel stand side by side. Throws as convolution_2d.
/// (chainer.functions.depthwise_convolution_2d)
CT_API Variable depthwise_convolution_2d(const Variable& x, const Variable& W,
                                         const DepthwiseConvolutionOptions& options = {});
CT_API Variable depthwise_convolution_2d(const Variable& x, const Variable& W, const Variable& b,
                                         const DepthwiseConvolutionOptions& options = {});

/// A convolution of x [n, channels, h, w] without pads that has filters of its own at every place: W [out channels, out
/// h, out w, channels, kh, kw], b [out channels, out h, out w]. Throws ShapeError where extents do not fit, DtypeError
/// and ValueError. (chainer.functions.local_convolution_2d)
CT_API Variable local_convolution_2d(const Variable& x, const Variable& W, const PerAxis& stride = 1);
CT_API Variable local_convolution_2d(const Variable& x, const Variable& W, const Variable& b,
                                     const PerAxis& stride = 1);

}  // namespace catenary::functions
