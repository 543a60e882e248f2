#pragma once
// Convolutional layers. Without in_channels (`{}`) they determine it at the first call.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "catenary/core/fields.h"
#include "catenary/core/optional_shape.h"
#include "catenary/core/per_axis.h"
#include "catenary/core/window.h"
#include "catenary/links/quantized.h"
#include "catenary/links/sequential.h"

namespace catenary::links {

/// Options of ConvolutionND, Convolution1D, Convolution2D and Convolution3D.
struct ConvolutionLinkOptions {
  PerAxis stride = 1;
  PerAxis pad = 0;
  bool nobias = false;
  std::optional<ParameterInit> initialW = {};  ///< LeCunNormal by default
  ParameterInit initial_bias = 0;
  bool cover_all = false;
  PerAxis dilate = 1;
  std::int64_t groups = 1;
};
CT_FIELDS(ConvolutionLinkOptions, stride, pad, nobias, initialW, initial_bias, cover_all, dilate, groups)

/// A convolution over `ndim` axes (1 to 3) with W [out_channels, in_channels / groups, ksize…] and b [out_channels].
/// See functions::convolution_nd. W may be quantised. Throws ValueError for impossible sizes, and for channels that are
/// not a multiple of groups. (chainer.links.ConvolutionND)
class CT_API ConvolutionND : public QuantizableW {
 public:
  ConvolutionND(int ndim, const std::optional<std::int64_t>& in_channels, std::int64_t out_channels,
                const PerAxis& ksize, const ConvolutionLinkOptions& options = {})
      : ConvolutionND("ConvolutionND", ndim, in_channels, out_channels, ksize, options) {}
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return name_; }
  /// Rounds x to 256 values of this range in calls with quantised weights, so that both operands have 8 bits (see
  /// calibrate). Throws ValueError unless low ≤ 0 ≤ high, both finite.
  void set_input_range(const InputRange& range);
  /// Returns nullopt if x is not rounded.
  std::optional<InputRange> input_range() const;
  /// Stops rounding x.
  void clear_input_range() { x_range = Array(); }
  std::int64_t out_channels;
  Parameter b;
  Persistent x_range;  ///< float32: low and high, undefined if x is not rounded
  CT_MORE_LINKS(QuantizableW, W, b, W_blocks, W_kind, x_range)

 protected:
  ConvolutionND(const char* name, int ndim, const std::optional<std::int64_t>& in_channels, std::int64_t out_channels,
                const PerAxis& ksize, const ConvolutionLinkOptions& options);

 private:
  Shape shape_of_W(const QuantizedArray& w) const override;
  void initialize(std::int64_t in_channels) const;
  const char* name_;
  Window window_;
  bool cover_all_;
  std::int64_t groups_;
  struct Known;
  std::shared_ptr<Known> known_;
};

/// ConvolutionND over one axis. (chainer.links.Convolution1D)
class CT_API Convolution1D : public ConvolutionND {
 public:
  Convolution1D(std::int64_t out_channels, const PerAxis& ksize) : Convolution1D(std::nullopt, out_channels, ksize) {}
  Convolution1D(const std::optional<std::int64_t>& in_channels, std::int64_t out_channels, const PerAxis& ksize,
                const ConvolutionLinkOptions& options = {})
      : ConvolutionND("Convolution1D", 1, in_channels, out_channels, ksize, options) {}
  Convolution1D copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};
/// ConvolutionND over two axes. (chainer.links.Convolution2D)
class CT_API Convolution2D : public ConvolutionND {
 public:
  Convolution2D(std::int64_t out_channels, const PerAxis& ksize) : Convolution2D(std::nullopt, out_channels, ksize) {}
  Convolution2D(const std::optional<std::int64_t>& in_channels, std::int64_t out_channels, const PerAxis& ksize,
                const ConvolutionLinkOptions& options = {})
      : ConvolutionND("Convolution2D", 2, in_channels, out_channels, ksize, options) {}
  Convolution2D copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};
/// ConvolutionND over three axes. (chainer.links.Convolution3D)
class CT_API Convolution3D : public ConvolutionND {
 public:
  Convolution3D(std::int64_t out_channels, const PerAxis& ksize) : Convolution3D(std::nullopt, out_channels, ksize) {}
  Convolution3D(const std::optional<std::int64_t>& in_channels, std::int64_t out_channels, const PerAxis& ksize,
                const ConvolutionLinkOptions& options = {})
      : ConvolutionND("Convolution3D", 3, in_channels, out_channels, ksize, options) {}
  Convolution3D copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};
/// The older name of Convolution2D. (chainer.links.DilatedConvolution2D)
class CT_API DilatedConvolution2D : public ConvolutionND {
 public:
  DilatedConvolution2D(std::int64_t out_channels, const PerAxis& ksize)
      : DilatedConvolution2D(std::nullopt, out_channels, ksize) {}
  DilatedConvolution2D(const std::optional<std::int64_t>& in_channels, std::int64_t out_channels, const PerAxis& ksize,
                       const ConvolutionLinkOptions& options = {})
      : ConvolutionND("DilatedConvolution2D", 2, in_channels, out_channels, ksize, options) {}
  DilatedConvolution2D copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};

/// Options of DeconvolutionND, Deconvolution1D, Deconvolution2D and Deconvolution3D.
struct DeconvolutionLinkOptions {
  PerAxis stride = 1;
  PerAxis pad = 0;
  bool nobias = false;
  OptionalShape outsize = {};                  ///< spatial shape of the result, by default the smallest possible
  std::optional<ParameterInit> initialW = {};  ///< LeCunNormal by default
  ParameterInit initial_bias = 0;
  PerAxis dilate = 1;
  std::int64_t groups = 1;
};
CT_FIELDS(DeconvolutionLinkOptions, stride, pad, nobias, outsize, initialW, initial_bias, dilate, groups)

/// A transposed convolution over `ndim` axes (1 to 3) with W [in_channels, out_channels / groups, ksize…] and b
/// [out_channels]. See functions::deconvolution_nd. Throws ValueError for impossible sizes, and for channels that are
/// not a multiple of groups. (chainer.links.DeconvolutionND)
class CT_API DeconvolutionND : public Link {
 public:
  DeconvolutionND(int ndim, const std::optional<std::int64_t>& in_channels, std::int64_t out_channels,
                  const PerAxis& ksize, const DeconvolutionLinkOptions& options = {})
      : DeconvolutionND("DeconvolutionND", ndim, in_channels, out_channels, ksize, options) {}
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return name_; }
  std::int64_t out_channels;
  Parameter W, b;
  CT_LINKS(W, b)

 protected:
  DeconvolutionND(const char* name, int ndim, const std::optional<std::int64_t>& in_channels, std::int64_t out_channels,
                  const PerAxis& ksize, const DeconvolutionLinkOptions& options);

 private:
  void initialize(std::int64_t in_channels) const;
  const char* name_;
  Window window_;
  OptionalShape outsize_;
  std::int64_t groups_;
};

/// DeconvolutionND over one axis. (chainer.links.Deconvolution1D)
class CT_API Deconvolution1D : public DeconvolutionND {
 public:
  Deconvolution1D(std::int64_t out_channels, const PerAxis& ksize)
      : Deconvolution1D(std::nullopt, out_channels, ksize) {}
  Deconvolution1D(const std::optional<std::int64_t>& in_channels, std::int64_t out_channels, const PerAxis& ksize,
                  const DeconvolutionLinkOptions& options = {})
      : DeconvolutionND("Deconvolution1D", 1, in_channels, out_channels, ksize, options) {}
  Deconvolution1D copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};
/// DeconvolutionND over two axes. (chainer.links.Deconvolution2D)
class CT_API Deconvolution2D : public DeconvolutionND {
 public:
  Deconvolution2D(std::int64_t out_channels, const PerAxis& ksize)
      : Deconvolution2D(std::nullopt, out_channels, ksize) {}
  Deconvolution2D(const std::optional<std::int64_t>& in_channels, std::int64_t out_channels, const PerAxis& ksize,
                  const DeconvolutionLinkOptions& options = {})
      : DeconvolutionND("Deconvolution2D", 2, in_channels, out_channels, ksize, options) {}
  Deconvolution2D copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};
/// DeconvolutionND over three axes. (chainer.links.Deconvolution3D)
class CT_API Deconvolution3D : public DeconvolutionND {
 public:
  Deconvolution3D(std::int64_t out_channels, const PerAxis& ksize)
      : Deconvolution3D(std::nullopt, out_channels, ksize) {}
  Deconvolution3D(const std::optional<std::int64_t>& in_channels, std::int64_t out_channels, const PerAxis& ksize,
                  const DeconvolutionLinkOptions& options = {})
      : DeconvolutionND("Deconvolution3D", 3, in_channels, out_channels, ksize, options) {}
  Deconvolution3D copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};

/// Options of DepthwiseConvolution2D.
struct DepthwiseConvolutionLinkOptions {
  PerAxis stride = 1;
  PerAxis pad = 0;
  bool nobias = false;
  std::optional<ParameterInit> initialW = {};  ///< LeCunNormal by default
  ParameterInit initial_bias = 0;
};
CT_FIELDS(DepthwiseConvolutionLinkOptions, stride, pad, nobias, initialW, initial_bias)
/// Convolves each channel separately: W [channel_multiplier, in_channels, ksize…], b [in_channels ·
/// channel_multiplier]. See functions::depthwise_convolution_2d. (chainer.links.DepthwiseConvolution2D)
class CT_API DepthwiseConvolution2D : public Link {
 public:
  DepthwiseConvolution2D(const std::optional<std::int64_t>& in_channels, std::int64_t channel_multiplier,
                         const PerAxis& ksize, const DepthwiseConvolutionLinkOptions& options = {});
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "DepthwiseConvolution2D"; }
  std::int64_t channel_multiplier;
  Parameter W, b;
  CT_LINKS(W, b)

 private:
  void initialize(std::int64_t in_channels) const;
  Window window_;
};

/// Options of LocalConvolution2D.
struct LocalConvolutionLinkOptions {
  PerAxis stride = 1;
  bool nobias = false;
  std::optional<ParameterInit> initialW = {};  ///< LeCunNormal by default
  ParameterInit initial_bias = 0;
};
CT_FIELDS(LocalConvolutionLinkOptions, stride, nobias, initialW, initial_bias)
/// A convolution whose filters differ at each position: W [out_channels, out h, out w, in_channels, ksize…], b
/// [out_channels, out h, out w]. See functions::local_convolution_2d. Determines the input's channels and size at the
/// first call unless both are given. (chainer.links.LocalConvolution2D)
class CT_API LocalConvolution2D : public Link {
 public:
  LocalConvolution2D(std::int64_t out_channels, const PerAxis& ksize, const LocalConvolutionLinkOptions& options = {});
  LocalConvolution2D(std::int64_t in_channels, std::int64_t out_channels, const PerAxis& in_size, const PerAxis& ksize,
                     const LocalConvolutionLinkOptions& options = {});
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "LocalConvolution2D"; }
  std::int64_t out_channels;
  Parameter W, b;
  CT_LINKS(W, b)

 private:
  void initialize(std::int64_t in_channels, const Shape& in_size) const;
  Window window_;
};

/// Options of DeformableConvolution2D and of DeformableConvolution2DSampler.
struct DeformableConvolutionLinkOptions {
  PerAxis stride = 1;
  PerAxis pad = 0;
  bool offset_nobias = false;
  ParameterInit offset_initialW = 0;  ///< taps start at their regular positions
  ParameterInit offset_initial_bias = 0;
  bool deform_nobias = false;
  std::optional<ParameterInit> deform_initialW = {};  ///< LeCunNormal by default
  ParameterInit deform_initial_bias = 0;
};
CT_FIELDS(DeformableConvolutionLinkOptions, stride, pad, offset_nobias, offset_initialW, offset_initial_bias,
          deform_nobias, deform_initialW, deform_initial_bias)
/// A convolution whose taps are displaced by the second input: W [out_channels, in_channels, ksize…], b [out_channels].
/// See functions::deformable_convolution_2d_sampler. (chainer.links.DeformableConvolution2DSampler)
class CT_API DeformableConvolution2DSampler : public Link {
 public:
  DeformableConvolution2DSampler(const std::optional<std::int64_t>& in_channels, std::int64_t out_channels,
                                 const PerAxis& ksize, const DeformableConvolutionLinkOptions& options = {});
  Variable operator()(const Variable& x, const Variable& offset) const;
  std::string type_name() const override { return "DeformableConvolution2DSampler"; }
  std::int64_t out_channels;
  Parameter W, b;
  CT_LINKS(W, b)

 private:
  Window window_;
};
/// A convolution whose taps are displaced by offsets that another convolution, offset_conv, computes from the input.
/// (chainer.links.DeformableConvolution2D) (Dai et al., arXiv:1703.06211)
class CT_API DeformableConvolution2D : public Chain {
 public:
  DeformableConvolution2D(const std::optional<std::int64_t>& in_channels, std::int64_t out_channels,
                          const PerAxis& ksize, const DeformableConvolutionLinkOptions& options = {});
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "DeformableConvolution2D"; }
  Convolution2D offset_conv;
  DeformableConvolution2DSampler deform_conv;
  CT_LINKS(offset_conv, deform_conv)
};

/// Options of MLPConvolution2D.
struct MLPConvolutionOptions {
  PerAxis stride = 1;
  PerAxis pad = 0;
  std::function<Variable(const Variable&)> activation = {};  ///< relu by default
  std::optional<ParameterInit> conv_init = {};               ///< LeCunNormal by default
  ParameterInit bias_init = 0;
};
CT_FIELDS(MLPConvolutionOptions, stride, pad, activation, conv_init, bias_init)
/// A convolution to out_channels[0] channels followed by 1 × 1 convolutions to the further out_channels, with an
/// activation between them. Throws ValueError if out_channels is empty. (chainer.links.MLPConvolution2D) (Lin et al.,
/// arXiv:1312.4400)
class CT_API MLPConvolution2D : public ChainList {
 public:
  MLPConvolution2D(const std::optional<std::int64_t>& in_channels, const std::vector<std::int64_t>& out_channels,
                   const PerAxis& ksize, const MLPConvolutionOptions& options = {});
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "MLPConvolution2D"; }

 private:
  std::function<Variable(const Variable&)> activation_;
};

}  // namespace catenary::links
