#include "catenary/links/convolution.h"

#include <array>
#include <cmath>
#include <mutex>

#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/convolution.h"
#include "catenary/functions/resampling.h"
#include "catenary/functions/window_axes.h"
#include "catenary/links/detail.h"

namespace catenary::links {

using detail::weight_init;
using functions::detail::check_window_axes;

namespace {

/// [first, second, sizes…]
Shape filter_shape(std::int64_t first, std::int64_t second, const Shape& sizes) {
  Shape shape = {first, second};
  for (const std::int64_t size : sizes) shape.push_back(size);
  return shape;
}

void check_groups(const char* link, const char* name, std::int64_t channels, std::int64_t groups) {
  if (groups < 1 || channels < 1 || channels % groups != 0)
    fail<ValueError>("{}: {} must be a positive multiple of groups ({}), not {}", link, name, groups, channels);
}

}  // namespace

ConvolutionND::ConvolutionND(const char* name, int ndim, const std::optional<std::int64_t>& in, std::int64_t out,
                             const PerAxis& ksize, const ConvolutionLinkOptions& options)
    : QuantizableW(Parameter(weight_init(options.initialW), "W")),
      out_channels(out),
      name_(name),
      window_(Window::make(name, ndim, ksize, options.stride, options.pad, options.dilate)),
      cover_all_(options.cover_all),
      groups_(options.groups),
      known_(std::make_shared<Known>()) {
  check_groups(name, "out_channels", out, groups_);
  if (!options.nobias) b = Parameter(options.initial_bias, Shape{out}, "b");
  if (in) initialize(*in);
}

Shape ConvolutionND::shape_of_W(const QuantizedArray& w) const {
  return filter_shape(out_channels, w.shape().size() > 1 ? w.shape()[1] : 1, window_.size);
}

namespace {
void check_range(const char* name, const InputRange& range) {
  if (!(range.low <= 0 && range.high >= 0 && std::isfinite(range.high - range.low)))
    fail<ValueError>("{}: the range of x must hold 0 and be of a finite length, not {} to {}", name, range.low,
                     range.high);
}
}  // namespace

// A copy of x_range on the host, valid while x_range is the array `of`. x_range itself may be on a device.
struct ConvolutionND::Known {
  std::mutex mutex;
  Array of;
  InputRange range;
};

void ConvolutionND::set_input_range(const InputRange& range) {
  check_range(name_, range);
  const Device device = W_blocks.defined()                  ? W_blocks->device()
                        : W.defined() && W.is_initialized() ? W.device()
                                                            : Device();
  x_range = Array::from_host(std::array{range.low, range.high}.data(), {2}, Dtype::float32, device);
}

std::optional<InputRange> ConvolutionND::input_range() const {
  if (!x_range.defined()) return {};
  const std::lock_guard lock(known_->mutex);
  if (!known_->of.defined() || !known_->of.is(x_range)) {
    if (x_range->shape() != Shape{2} || x_range->dtype() != Dtype::float32)
      fail<ValueError>("{}: the range of x must be 2 of float32, not {} of {}", name_, x_range->shape(),
                       x_range->dtype());
    const auto ends = x_range->to_vector<float>();
    check_range(name_, {ends[0], ends[1]});
    known_->range = {ends[0], ends[1]};
    known_->of = x_range.array();
  }
  return known_->range;
}

void ConvolutionND::initialize(std::int64_t in) const {
  check_groups(name_, "in_channels", in, groups_);
  W.initialize(filter_shape(out_channels, in / groups_, window_.size));
}

Variable ConvolutionND::operator()(const Variable& x) const {
  check_window_axes(name_, window_.axes(), x);
  const functions::ConvolutionOptions options = {window_.stride, window_.pad, cover_all_, window_.dilate, groups_};
  if (const auto quantised = quantized()) {
    const auto range = input_range();
    return hooked(
        *this,
        [&] {
          return range ? detail::int8_convolution(x, *quantised, prepared(), *range, b, options)
                       : detail::quantized_convolution(x, *quantised, b, options);
        },
        x);
  }
  if (!W.is_initialized()) initialize(x.shape(1));
  return hooked(
      *this,
      [&] {
        return b.defined() ? functions::convolution_nd(x, W, b, options) : functions::convolution_nd(x, W, options);
      },
      x);
}

DeconvolutionND::DeconvolutionND(const char* name, int ndim, const std::optional<std::int64_t>& in, std::int64_t out,
                                 const PerAxis& ksize, const DeconvolutionLinkOptions& options)
    : out_channels(out),
      W(weight_init(options.initialW), "W"),
      name_(name),
      window_(Window::make(name, ndim, ksize, options.stride, options.pad, options.dilate)),
      outsize_(options.outsize),
      groups_(options.groups) {
  check_groups(name, "out_channels", out, groups_);
  if (!options.nobias) b = Parameter(options.initial_bias, Shape{out}, "b");
  if (in) initialize(*in);
}

void DeconvolutionND::initialize(std::int64_t in) const {
  check_groups(name_, "in_channels", in, groups_);
  W.initialize(filter_shape(in, out_channels / groups_, window_.size));
}

Variable DeconvolutionND::operator()(const Variable& x) const {
  check_window_axes(name_, window_.axes(), x);
  if (!W.is_initialized()) initialize(x.shape(1));
  const functions::DeconvolutionOptions options = {window_.stride, window_.pad, outsize_, window_.dilate, groups_};
  return hooked(
      *this,
      [&] {
        return b.defined() ? functions::deconvolution_nd(x, W, b, options) : functions::deconvolution_nd(x, W, options);
      },
      x);
}

DepthwiseConvolution2D::DepthwiseConvolution2D(const std::optional<std::int64_t>& in, std::int64_t multiplier,
                                               const PerAxis& ksize, const DepthwiseConvolutionLinkOptions& options)
    : channel_multiplier(multiplier),
      W(weight_init(options.initialW), "W"),
      window_(Window::make("DepthwiseConvolution2D", 2, ksize, options.stride, options.pad)) {
  check_groups("DepthwiseConvolution2D", "channel_multiplier", multiplier, 1);
  if (!options.nobias) b = Parameter(options.initial_bias, "b");
  if (in) initialize(*in);
}

void DepthwiseConvolution2D::initialize(std::int64_t in) const {
  W.initialize(filter_shape(channel_multiplier, in, window_.size));
  if (b.defined()) b.initialize({in * channel_multiplier});
}

Variable DepthwiseConvolution2D::operator()(const Variable& x) const {
  check_window_axes("DepthwiseConvolution2D", 2, x);
  if (!W.is_initialized()) initialize(x.shape(1));
  const functions::DepthwiseConvolutionOptions options = {window_.stride, window_.pad};
  return hooked(
      *this,
      [&] {
        return b.defined() ? functions::depthwise_convolution_2d(x, W, b, options)
                           : functions::depthwise_convolution_2d(x, W, options);
      },
      x);
}

LocalConvolution2D::LocalConvolution2D(std::int64_t out, const PerAxis& ksize,
                                       const LocalConvolutionLinkOptions& options)
    : out_channels(out),
      W(weight_init(options.initialW), "W"),
      window_(Window::make("LocalConvolution2D", 2, ksize, options.stride, {0})) {
  if (!options.nobias) b = Parameter(options.initial_bias, "b");
}

LocalConvolution2D::LocalConvolution2D(std::int64_t in, std::int64_t out, const PerAxis& in_size, const PerAxis& ksize,
                                       const LocalConvolutionLinkOptions& options)
    : LocalConvolution2D(out, ksize, options) {
  initialize(in, in_size.size() == 1 ? Shape{in_size[0], in_size[0]} : Shape(in_size));
}

void LocalConvolution2D::initialize(std::int64_t in, const Shape& in_size) const {
  const Shape counts = window_.counts("LocalConvolution2D", in_size);
  W.initialize({out_channels, counts[0], counts[1], in, window_.size[0], window_.size[1]});
  if (b.defined()) b.initialize({out_channels, counts[0], counts[1]});
}

Variable LocalConvolution2D::operator()(const Variable& x) const {
  check_window_axes("LocalConvolution2D", 2, x);
  if (!W.is_initialized()) initialize(x.shape(1), {x.shape(2), x.shape(3)});
  return hooked(
      *this,
      [&] {
        return b.defined() ? functions::local_convolution_2d(x, W, b, window_.stride)
                           : functions::local_convolution_2d(x, W, window_.stride);
      },
      x);
}

DeformableConvolution2DSampler::DeformableConvolution2DSampler(const std::optional<std::int64_t>& in, std::int64_t out,
                                                               const PerAxis& ksize,
                                                               const DeformableConvolutionLinkOptions& options)
    : out_channels(out),
      W(weight_init(options.deform_initialW), "W"),
      window_(Window::make("DeformableConvolution2D", 2, ksize, options.stride, options.pad)) {
  check_groups("DeformableConvolution2D", "out_channels", out, 1);
  if (!options.deform_nobias) b = Parameter(options.deform_initial_bias, Shape{out}, "b");
  if (in) W.initialize(filter_shape(out, *in, window_.size));
}

Variable DeformableConvolution2DSampler::operator()(const Variable& x, const Variable& offset) const {
  check_window_axes("DeformableConvolution2D", 2, x);
  if (!W.is_initialized()) W.initialize(filter_shape(out_channels, x.shape(1), window_.size));
  const functions::DeformableConvolutionOptions options = {window_.stride, window_.pad};
  return hooked(
      *this,
      [&] {
        return b.defined() ? functions::deformable_convolution_2d_sampler(x, offset, W, b, options)
                           : functions::deformable_convolution_2d_sampler(x, offset, W, options);
      },
      x, offset);
}

DeformableConvolution2D::DeformableConvolution2D(const std::optional<std::int64_t>& in, std::int64_t out,
                                                 const PerAxis& ksize, const DeformableConvolutionLinkOptions& options)
    : offset_conv(in, 2 * Window::make("DeformableConvolution2D", 2, ksize, {1}, {0}).taps(), ksize,
                  {.stride = options.stride,
                   .pad = options.pad,
                   .nobias = options.offset_nobias,
                   .initialW = options.offset_initialW,
                   .initial_bias = options.offset_initial_bias}),
      deform_conv(in, out, ksize, options) {}

Variable DeformableConvolution2D::operator()(const Variable& x) const {
  return hooked(
      *this, [&] { return deform_conv(x, offset_conv(x)); }, x);
}

MLPConvolution2D::MLPConvolution2D(const std::optional<std::int64_t>& in, const std::vector<std::int64_t>& out,
                                   const PerAxis& ksize, const MLPConvolutionOptions& options)
    : activation_(options.activation ? options.activation : [](const Variable& h) { return functions::relu(h); }) {
  if (out.empty())
    fail<ValueError>("MLPConvolution2D: out_channels must have an entry for each convolution, none was given");
  ConvolutionLinkOptions layer = {
      .stride = options.stride, .pad = options.pad, .initialW = options.conv_init, .initial_bias = options.bias_init};
  add_link(Convolution2D(in, out[0], ksize, layer));
  layer.stride = 1, layer.pad = 0;
  for (std::size_t i = 1; i < out.size(); ++i) add_link(Convolution2D(out[i - 1], out[i], 1, layer));
}

Variable MLPConvolution2D::operator()(const Variable& x) const {
  return hooked(
      *this,
      [&] {
        Variable h = (*this)[0](x);
        for (std::int64_t i = 1; i < size(); ++i) h = (*this)[i](activation_(h));
        return h;
      },
      x);
}

}  // namespace catenary::links
