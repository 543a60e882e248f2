#include "chainer_sixteen.h"

#include <algorithm>
#include <map>

#include "catenary/device/device.h"
#include "sixteen.h"

namespace reference {

namespace ct = catenary;
using ct::Array;
using ct::Dtype;

namespace {

// A unit is the dtype's epsilon. Rounding once gives up to half a unit of each element, and float32's rounding may tip
// a value to the other side.
constexpr Units kOnce = {0.5, 0.02};

using Allowed = std::array<Units, 3>;
/// The tolerances of values, gradients and gradients of gradients, and the names to which they apply, separated by
/// spaces.
struct Bound {
  Allowed allowed;
  const char* names;
};
constexpr Bound kBounds[] = {
    // elements are moved, selected or compared; gradients add contributions of several places
    {{kExact, kOnce, kOnce},
     "argmax argmin broadcast_to ceil concat crelu depth2space diagonal dstack embed_id expand_dims fix "
     "flatten flip fliplr flipud floor get_item hstack im2col max max_pooling_1d max_pooling_2d "
     "max_pooling_3d max_pooling_nd maximum maxout min minimum moveaxis pad permutate relu repeat reshape "
     "roi_max_pooling_2d roi_pooling_2d rollaxis select_item separate shift sign space2depth split_axis "
     "squeeze stack swapaxes tile transpose upsampling_2d vstack where"},
    // computed in float32 and rounded once, with their gradients: docs/guide/precision.md
    {{kOnce, kOnce, Units{0.5, 2}},
     "accuracy average average_pooling_1d average_pooling_2d average_pooling_3d average_pooling_nd "
     "batch_l2_norm_squared batch_normalization bernoulli_nll binary_accuracy "
     "connectionist_temporal_classification contrastive convolution_1d convolution_2d convolution_3d "
     "convolution_nd cross_covariance cumprod cumsum deconvolution_1d deconvolution_2d deconvolution_3d "
     "deconvolution_nd decov depthwise_convolution_2d dilated_convolution_2d fixed_batch_normalization "
     "gaussian_kl_divergence gaussian_nll group_normalization hinge huber_loss layer_normalization linear "
     "local_response_normalization logsumexp matmul mean mean_absolute_error mean_squared_error normalize "
     "prod r2_score resize_images roi_average_align_2d roi_average_pooling_2d roi_max_align_2d "
     "scatter_add sigmoid_cross_entropy softmax_cross_entropy spatial_transformer_grid "
     "spatial_transformer_sampler sum tensordot triplet unpooling_1d unpooling_2d unpooling_3d "
     "unpooling_nd fft ifft"},
    // the float32 parameters, rounded
    {{kOnce, kOnce, kOnce},
     "AMSBound AMSGrad AdaBound AdaDelta AdaGrad Adam AdamW CorrectedMomentumSGD MomentumSGD NesterovAG "
     "RMSprop RMSpropGraves SGD SMORMS3"},
    // divides the difference of two nearly equal numbers by 1e-4 in its first step
    {{Units{0.5, 1}, kOnce, kOnce}, "MSVAG"},
    // many layers, each rounded
    {{Units{0.5, 2}, Units{0.5, 2}, kOnce}, "GoogLeNet ResNet50Layers VGG16Layers"},
    // many time steps, each rounded, and so is the sum of a weight's gradients
    {{Units{0.5, 1}, Units{0.5, 6}, kOnce},
     "LSTM StatefulGRU StatefulMGU StatefulPeepholeLSTM StatefulZoneoutLSTM StatelessLSTM StatelessGRU StatelessMGU "
     "ChildSumTreeLSTM NaryTreeLSTM"},
    // several layers of many time steps, with weights up to 1, so that errors grow over time
    {{Units{0.5, 10}, Units{0.5, 60}, Units{0.5, 80}},
     "n_step_lstm n_step_bilstm n_step_gru n_step_bigru n_step_rnn n_step_birnn"},
    // relu of numbers near 0, and gradients of offsets that jump between pixels: in 16 bits some numbers are on another
    // side
    {{Units{0.5, 2}, Units{0.5, 40}, kOnce}, "InceptionBN DeformableConvolution2D"},
};
// All others: a few operations, each rounded. Gradients have more operations, and their gradients still more.
constexpr Allowed kUsual = {Units{0.5, 0.5}, Units{0.5, 2}, Units{0.5, 4}};

const Allowed& allowed_to(const std::string& name) {
  for (const Bound& bound : kBounds)
    if ((" " + std::string(bound.names) + " ").find(" " + name + " ") != std::string::npos) return bound.allowed;
  return kUsual;
}

/// Keeps the results for inputs rounded to 16 bits.
class Rounded : public Vectors {
 public:
  Rounded(const std::string& path, Dtype wide, Dtype rounding) : Vectors(path, wide), rounding_(rounding) {}
  using Vectors::given;
  Array given(const Array& values) const override {
    return Vectors::given(ct::is_floating(values.dtype()) ? values.astype(rounding_) : values);
  }
  void compare(const std::string& key, const Array& got, Part, const Tolerance&) const override {
    kept_[key] = got.defined() ? got.to_device(ct::Device()).copy() : got;  // copy, because parameters change
  }
  const std::map<std::string, Array>& kept() const { return kept_; }

 private:
  Dtype rounding_;
  mutable std::map<std::string, Array> kept_;
};

/// Compares with the kept results.
class Narrow : public Vectors {
 public:
  Narrow(const std::string& path, Dtype dtype, const Rounded& reference, const Allowed& allowed)
      : Vectors(path, dtype), reference_(reference), allowed_(allowed) {}

  void compare(const std::string& key, const Array& got, Part part, const Tolerance&) const override {
    const Array& expected = reference_.kept().at(key);
    if (!expected.defined()) {
      if (got.defined() && got.any()) throw Mismatch(key + " should be zeros");
      return;
    }
    double& most = off_[static_cast<std::size_t>(part)];
    most = std::max(most, compare_in_16_bits(key, got, expected, dtype(), allowed_[static_cast<std::size_t>(part)]));
  }
  const Off& off() const { return off_; }

 private:
  const Rounded& reference_;
  const Allowed& allowed_;
  mutable Off off_{};
};

}  // namespace

const char* why_not_in_16_bits(const std::string& name) {
  static const std::map<std::string, const char*> all = {
      {"cholesky", "matrices are factorised in float32 and float64 alone"},
  };
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

Off run_in_16_bits(const std::string& path, Dtype dtype, const std::string& name,
                   const std::function<void(const Vectors&)>& run, Dtype wide) {
  const Rounded reference(path, wide, dtype);
  {
    const ct::DeviceScope processor{ct::Device()};
    if (wide == Dtype::float64) run(Vectors(path, wide));
    run(reference);
  }
  const Narrow narrow(path, dtype, reference, allowed_to(name));
  run(narrow);
  return narrow.off();
}

}  // namespace reference
