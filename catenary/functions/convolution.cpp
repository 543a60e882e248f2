#include "catenary/functions/convolution.h"

#include "catenary/array/convolution.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/core/format.h"
#include "catenary/device/backend.h"
#include "catenary/functions/array.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/math_matrix.h"
#include "catenary/functions/signature_row.h"
#include "catenary/functions/window_axes.h"

namespace catenary::functions {

namespace {

// Three functions that are linear in both operands. The derivatives of each are the two others.

/// (x, W (, b)) to y
Variable forward(const Convolving& how, const Variable& x, const Variable& W);
/// (y, W (, b)) to x
Variable to_data(const Convolving& how, const Variable& y, const Variable& W);
/// (x, y) to W, with the memory layout of `like`
Variable to_filter(const Convolving& how, const Variable& x, const Variable& y, const Variable& like);

std::optional<Array> bias_of(Inputs in) { return in.size() == 3 ? std::optional(in[2]) : std::nullopt; }

Variable bias_gradient(const Variable& gy) {
  Axes axes = {0};
  for (int axis = 2; axis < gy.ndim(); ++axis) axes.push_back(axis);
  return sum(gy, axes);
}

class Convolution : public FunctionNode {
 public:
  explicit Convolution(const Convolving& how) : how_(how) {}
  const char* name() const override { return how_.window.axes() == 2 ? "Convolution2DFunction" : "ConvolutionND"; }
  CT_ATTRIBUTES(how_)

 protected:
  Arrays forward(Inputs in) override {
    retain_inputs({0, 1});
    return convolve(in[0], in[1], how_, bias_of(in));
  }
  Variables backward(Targets targets, Grads gys) override {
    return gradients(targets, [&](int i) {
      if (i == 0) return to_data(how_, gys[0], retained_input(1));
      if (i == 1) return to_filter(how_, retained_input(0), gys[0], retained_input(1));
      return bias_gradient(gys[0]);
    });
  }

 private:
  Convolving how_;
};

class Deconvolution : public FunctionNode {
 public:
  explicit Deconvolution(const Convolving& how) : how_(how) {}
  const char* name() const override { return how_.window.axes() == 2 ? "Deconvolution2DFunction" : "DeconvolutionND"; }
  CT_ATTRIBUTES(how_)

 protected:
  Arrays forward(Inputs in) override {
    retain_inputs({0, 1});
    return convolve_to_data(in[0], in[1], how_, bias_of(in));
  }
  Variables backward(Targets targets, Grads gxs) override {
    return gradients(targets, [&](int i) {
      if (i == 0) return functions::forward(how_, gxs[0], retained_input(1));
      if (i == 1) return to_filter(how_, gxs[0], retained_input(0), retained_input(1));
      return bias_gradient(gxs[0]);
    });
  }

 private:
  Convolving how_;
};

class FilterGradient : public FunctionNode {
 public:
  FilterGradient(const Convolving& how, const Strides& like) : how_(how), like_(like) {}
  const char* name() const override {
    return how_.window.axes() == 2 ? "Convolution2DGradW" : "ConvolutionNDGradWeight";
  }
  CT_ATTRIBUTES(how_, like_)

 protected:
  Arrays forward(Inputs in) override {
    retain_inputs({0, 1});
    return convolve_to_filter(in[0], in[1], how_, like_);
  }
  Variables backward(Targets targets, Grads gws) override {
    return gradients(targets, [&](int i) {
      return i == 0 ? to_data(how_, retained_input(1), gws[0]) : functions::forward(how_, retained_input(0), gws[0]);
    });
  }

 private:
  Convolving how_;
  Strides like_;
};

Variable forward(const Convolving& how, const Variable& x, const Variable& W) {
  return apply(node<Convolution>(how), x, W);
}
Variable to_data(const Convolving& how, const Variable& y, const Variable& W) {
  return apply(node<Deconvolution>(how), y, W);
}
Variable to_filter(const Convolving& how, const Variable& x, const Variable& y, const Variable& like) {
  return apply(node<FilterGradient>(how, like.array().strides()), x, y);
}

/// The entries of a shape from the third on.
Shape last_axes(const Shape& shape) { return Shape(shape.data() + 2, shape.size() - 2); }

/// Runs the checks that convolutions and deconvolutions share, and returns the window. `W_axes` says which of W's axes
/// 0 and 1 are input and output channels.
Window checked_window(const char* function, int axes, const Variable& x, const Variable& W, const Shape& stride,
                      const Shape& pad, const Shape& dilate, std::int64_t groups, const char* W_axes) {
  detail::check_window_axes(function, axes, x);
  if (W.ndim() != x.ndim())
    fail<ShapeError>("{}: W must have {} axes ({}, taps...), not {}", function, x.ndim(), W_axes, W.shape());
  if (x.dtype() != W.dtype() || !is_floating(x.dtype()))
    fail<DtypeError>("{}: x and W must have one floating dtype, not {} and {}", function, x.dtype(), W.dtype());
  if (groups < 1) fail<ValueError>("{}: groups must be at least 1, not {}", function, groups);
  if (W.shape(0) % groups != 0)
    fail<ShapeError>("{}: axis 0 of W {} must be a multiple of {} groups", function, W.shape(), groups);
  return Window::make(function, axes, last_axes(W.shape()), stride, pad, dilate);
}

void check_bias(const char* function, const Variable& x, const Variable& b, std::int64_t channels) {
  if (b.shape() != Shape{channels})
    fail<ShapeError>("{}: b must be ({},), an element for each channel of the result, not {}", function, channels,
                     b.shape());
  if (b.dtype() != x.dtype()) fail<DtypeError>("{}: b must be {} as x, not {}", function, x.dtype(), b.dtype());
}

/// Checks x and W of a convolution and returns its geometry.
Convolving checked_convolution(const char* function, int axes, const Variable& x, const Variable& W,
                               const ConvolutionOptions& options) {
  const std::int64_t groups = options.groups;
  const Window window = checked_window(function, axes, x, W, options.stride, options.pad, options.dilate, groups,
                                       "out channels, channels / groups");
  if (x.shape(1) != W.shape(1) * groups)
    fail<ShapeError>("{}: x {} has {} channels, W {} and {} groups take {}", function, x.shape(), x.shape(1), W.shape(),
                     groups, W.shape(1) * groups);
  const Shape extents = last_axes(x.shape());
  return {window, groups, extents, window.counts(function, extents, options.cover_all)};
}

template <class... B>
Variable convolution(const char* function, int axes, const Variable& x, const Variable& W,
                     const ConvolutionOptions& options, const B&... b) {
  const Convolving how = checked_convolution(function, axes, x, W, options);
  (check_bias(function, x, b, W.shape(0)), ...);
  return apply(node<Convolution>(how), x, W, b...);
}

template <class... B>
Variable deconvolution(const char* function, int axes, const Variable& x, const Variable& W,
                       const DeconvolutionOptions& options, const B&... b) {
  const std::int64_t groups = options.groups;
  const Window window = checked_window(function, axes, x, W, options.stride, options.pad, options.dilate, groups,
                                       "channels, out channels / groups");
  if (x.shape(1) != W.shape(0))
    fail<ShapeError>("{}: x {} has {} channels, W {} takes {}", function, x.shape(), x.shape(1), W.shape(), W.shape(0));
  (check_bias(function, x, b, W.shape(1) * groups), ...);
  const Shape counts = last_axes(x.shape());
  if (!options.outsize)
    return apply(node<Deconvolution>(Convolving{window, groups, window.extents(function, counts), counts}), x, W, b...);
  const Shape& extents = *options.outsize;
  if (extents.size() != axes) fail<ValueError>("{}: outsize must have {} entries, not {}", function, axes, extents);
  const Shape least = window.counts(function, extents), most = window.counts(function, extents, true);
  for (int axis = 0; axis < axes; ++axis)
    if (counts[axis] < least[axis] || counts[axis] > most[axis])
      fail<ShapeError>("{}: outsize {} has from {} to {} windows, x {} has {}", function, extents, least, most,
                       x.shape(), counts);
  return apply(node<Deconvolution>(Convolving{window, groups, extents, counts}), x, W, b...);
}

/// The outputs at one position are a product of the batch's patches and that position's filters.
Variable local_convolution(const Variable& x, const Variable& W, const PerAxis& stride) {
  const char* function = "local_convolution_2d";
  if (x.ndim() != 4) fail<ShapeError>("{}: x must be (n, channels, h, w), not {}", function, x.shape());
  if (W.ndim() != 6 || W.shape(3) != x.shape(1))
    fail<ShapeError>("{}: W must be (out channels, out h, out w, {}, kh, kw) to fit x {}, not {}", function, x.shape(1),
                     x.shape(), W.shape());
  if (x.dtype() != W.dtype() || !is_floating(x.dtype()))
    fail<DtypeError>("{}: x and W must have one floating dtype, not {} and {}", function, x.dtype(), W.dtype());
  const std::int64_t n = x.shape(0), c = x.shape(1), k = W.shape(0), kh = W.shape(4), kw = W.shape(5);
  const Window window = Window::make(function, 2, {kh, kw}, stride, {0});
  const Shape counts = window.counts(function, last_axes(x.shape()));
  if (counts != Shape{W.shape(1), W.shape(2)})
    fail<ShapeError>("{}: x {} has {} windows, W {} has filters for {}", function, x.shape(), counts, W.shape(),
                     Shape{W.shape(1), W.shape(2)});
  const Strides at = contiguous_strides(x.shape());
  const Variable patches = as_strided(x, {counts[0], counts[1], n, c, kh, kw},
                                      {window.stride[0] * at[2], window.stride[1] * at[3], at[0], at[1], at[2], at[3]});
  const Variable places = reshape(patches, {counts.product(), n, c * kh * kw}),
                 filters = reshape(transpose(W, {1, 2, 3, 4, 5, 0}), {counts.product(), c * kh * kw, k});
  return transpose(reshape(matmul(places, filters), {counts[0], counts[1], n, k}), {2, 3, 0, 1});
}

/// Reorders filters so that those of one channel are adjacent.
Variable depthwise_filters(const Variable& W) {
  if (W.ndim() != 4)
    fail<ShapeError>("depthwise_convolution_2d: W must be (multiplier, channels, kh, kw), not {}", W.shape());
  return reshape(swapaxes(W, 0, 1), {W.shape(0) * W.shape(1), 1, W.shape(2), W.shape(3)});
}
ConvolutionOptions depthwise_options(const Variable& W, const DepthwiseConvolutionOptions& options) {
  return {.stride = options.stride, .pad = options.pad, .groups = W.shape(1)};
}

}  // namespace

#define CT_OVER_AXES(kind, Options, suffix, axes)                                                             \
  Variable kind##_##suffix(const Variable& x, const Variable& W, const Options& options) {                    \
    CT_DEFINED(x, W);                                                                                         \
    return kind(#kind "_" #suffix, axes, x, W, options);                                                      \
  }                                                                                                           \
  Variable kind##_##suffix(const Variable& x, const Variable& W, const Variable& b, const Options& options) { \
    CT_DEFINED(x, W, b);                                                                                      \
    return kind(#kind "_" #suffix, axes, x, W, options, b);                                                   \
  }
CT_OVER_AXES(convolution, ConvolutionOptions, 1d, 1)
CT_OVER_AXES(convolution, ConvolutionOptions, 2d, 2)
CT_OVER_AXES(convolution, ConvolutionOptions, 3d, 3)
CT_OVER_AXES(convolution, ConvolutionOptions, nd, x.ndim() - 2)
CT_OVER_AXES(deconvolution, DeconvolutionOptions, 1d, 1)
CT_OVER_AXES(deconvolution, DeconvolutionOptions, 2d, 2)
CT_OVER_AXES(deconvolution, DeconvolutionOptions, 3d, 3)
CT_OVER_AXES(deconvolution, DeconvolutionOptions, nd, x.ndim() - 2)
#undef CT_OVER_AXES

bool detail::convolves_into_float32(const Array& x) {
  return x.device().backend().multiplies_into_float32(x.device().index(), Dtype::bfloat16);
}
Array detail::convolution_in_float32(const Variable& x, const Variable& W, const ConvolutionOptions& options) {
  const Convolving how = checked_convolution("convolution_nd", x.ndim() - 2, x, W, options);
  return convolve(x.array(), W.array(), how, {}, Dtype::float32);
}

Variable dilated_convolution_2d(const Variable& x, const Variable& W, const ConvolutionOptions& options) {
  CT_DEFINED(x, W);
  return convolution("dilated_convolution_2d", 2, x, W, options);
}
Variable dilated_convolution_2d(const Variable& x, const Variable& W, const Variable& b,
                                const ConvolutionOptions& options) {
  CT_DEFINED(x, W, b);
  return convolution("dilated_convolution_2d", 2, x, W, options, b);
}

Variable depthwise_convolution_2d(const Variable& x, const Variable& W, const DepthwiseConvolutionOptions& options) {
  CT_DEFINED(x, W);
  return convolution("depthwise_convolution_2d", 2, x, depthwise_filters(W), depthwise_options(W, options));
}
Variable depthwise_convolution_2d(const Variable& x, const Variable& W, const Variable& b,
                                  const DepthwiseConvolutionOptions& options) {
  CT_DEFINED(x, W, b);
  return convolution("depthwise_convolution_2d", 2, x, depthwise_filters(W), depthwise_options(W, options), b);
}

Variable local_convolution_2d(const Variable& x, const Variable& W, const PerAxis& stride) {
  CT_DEFINED(x, W);
  return local_convolution(x, W, stride);
}
Variable local_convolution_2d(const Variable& x, const Variable& W, const Variable& b, const PerAxis& stride) {
  CT_DEFINED(x, W, b);
  const Variable y = local_convolution(x, W, stride);
  if (b.shape() != Shape{y.shape(1), y.shape(2), y.shape(3)})
    fail<ShapeError>("local_convolution_2d: b must be {} to fit W {}, not {}",
                     Shape{y.shape(1), y.shape(2), y.shape(3)}, W.shape(), b.shape());
  if (b.dtype() != x.dtype()) fail<DtypeError>("local_convolution_2d: b must be {} as x, not {}", x.dtype(), b.dtype());
  return y + b;
}

namespace {

template <class Options>
using WithBias = Variable (*)(const Variable&, const Variable&, const Variable&, const Options&);
template <class Options>
using NoBias = Variable (*)(const Variable&, const Variable&, const Options&);

template <class Options, WithBias<Options> with_bias, NoBias<Options> no_bias>
Variable with_optional_bias(const Variable& x, const Variable& W, const std::optional<Variable>& b,
                            const Options& options) {
  return b ? with_bias(x, W, *b, options) : no_bias(x, W, options);
}

/// The row of a convolution of any kind.
#define CT_CONVOLUTION(module, f, Options, names)                                                       \
  detail::signature("chainer.functions.connection." module "." #f, &with_optional_bias<Options, f, f>,  \
                    &with_optional_bias<Options, f, f>, "x", "W", detail::otherwise("b", std::nullopt), \
                    detail::options(names))

}  // namespace

std::span<const Signature> detail::convolution_signatures() {
  static const Signature all[] = {
      CT_CONVOLUTION("convolution_nd", convolution_1d, ConvolutionOptions, "..."),
      CT_CONVOLUTION("convolution_2d", convolution_2d, ConvolutionOptions, "..., =dilate, =groups"),
      CT_CONVOLUTION("convolution_nd", convolution_3d, ConvolutionOptions, "..."),
      CT_CONVOLUTION("convolution_nd", convolution_nd, ConvolutionOptions, "..."),
      CT_CONVOLUTION("deconvolution_nd", deconvolution_1d, DeconvolutionOptions, "..."),
      CT_CONVOLUTION("deconvolution_2d", deconvolution_2d, DeconvolutionOptions, "..., =dilate, =groups"),
      CT_CONVOLUTION("deconvolution_nd", deconvolution_3d, DeconvolutionOptions, "..."),
      CT_CONVOLUTION("deconvolution_nd", deconvolution_nd, DeconvolutionOptions, "..."),
      CT_CONVOLUTION("dilated_convolution_2d", dilated_convolution_2d, ConvolutionOptions,
                     "stride, pad, dilate, cover_all"),
      CT_CONVOLUTION("depthwise_convolution_2d", depthwise_convolution_2d, DepthwiseConvolutionOptions, "..."),
      signature_of(
          "chainer.functions.connection.local_convolution_2d.local_convolution_2d",
          [](const Variable& x, const Variable& W, const std::optional<Variable>& b, const PerAxis& stride) {
            return b ? local_convolution_2d(x, W, *b, stride) : local_convolution_2d(x, W, stride);
          },
          "x", "W", otherwise("b", std::nullopt), otherwise("stride", 1)),
  };
  return all;
}

}  // namespace catenary::functions
