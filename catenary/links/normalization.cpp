#include "catenary/links/normalization.h"

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/functions/forget.h"
#include "catenary/functions/normalization.h"
#include "catenary/initializers/initializers.h"

namespace catenary::links {

namespace {

/// The initial value of normalization parameters, in float32 if config.dtype is mixed.
initializers::Constant wide(double value) {
  const Precision precision = config.dtype;
  return initializers::Constant(value, precision.is_mixed() ? std::optional(precision.wide()) : std::nullopt);
}

}  // namespace

BatchNormalization::BatchNormalization(const Shape& size, const BatchNormalizationLinkOptions& options)
    : options_(options) {
  const Dtype dtype = get_dtype(options.dtype, Dtype::float32);
  const auto scope = using_config(config.dtype, dtype);
  if (options.use_gamma) gamma = Parameter(1, size, "gamma");
  if (options.use_beta) beta = Parameter(0, size, "beta");
  avg_mean = zeros(size, dtype);
  avg_var = ones(size, dtype);
  N = zeros({}, Dtype::int64);
  one_ = ones(size, dtype);
  zero_ = zeros(size, dtype);
}

void BatchNormalization::start_finetuning() const { N->fill(0); }

void BatchNormalization::set_mean_over_processes(std::function<Array(const Array&)> mean) const {
  *mean_over_processes_ = std::move(mean);
}

void BatchNormalization::detach(CopyMode mode) {
  Link::detach(mode);
  mean_over_processes_ = std::make_shared<std::function<Array(const Array&)>>(*mean_over_processes_);
}

Variable BatchNormalization::scale(const Variable& x) const {
  return gamma.defined() ? Variable(gamma) : Variable(one_.to_device(x.device()), false);
}
Variable BatchNormalization::shift(const Variable& x) const {
  return beta.defined() ? Variable(beta) : Variable(zero_.to_device(x.device()), false);
}
double BatchNormalization::next_decay(const Variable& x, bool finetune) const {
  if (!finetune || x.size() == 0) return options_.decay;  // an empty batch does not count
  if (!functions::recomputing()) N.array() += 1;
  return 1 - 1 / N->item<double>();
}

Variable BatchNormalization::operator()(const Variable& x, bool finetune) const {
  return hooked(
      *this,
      [&] {
        const Variable scale = this->scale(x), shift = this->shift(x);
        if (!config.train)
          return functions::fixed_batch_normalization(x, scale, shift, avg_mean.array(), avg_var.array(), options_.eps,
                                                      options_.axis);
        functions::BatchNormalizationOptions call;
        call.eps = options_.eps;
        call.decay = next_decay(x, finetune);
        call.running_mean = avg_mean;
        call.running_var = avg_var;
        call.axis = options_.axis;
        call.mean_over_processes = *mean_over_processes_;
        return functions::batch_normalization(x, scale, shift, call);
      },
      x);
}

BatchRenormalization::BatchRenormalization(const Shape& size, const BatchRenormalizationLinkOptions& options)
    : BatchNormalization(size, {.decay = options.decay,
                                .eps = options.eps,
                                .dtype = options.dtype,
                                .use_gamma = options.use_gamma,
                                .use_beta = options.use_beta}),
      rmax(options.rmax),
      dmax(options.dmax) {}

Variable BatchRenormalization::operator()(const Variable& x, bool finetune) const {
  return hooked(
      *this,
      [&] {
        const Variable scale = this->scale(x), shift = this->shift(x);
        if (!config.train)
          return functions::fixed_batch_renormalization(x, scale, shift, avg_mean.array(), avg_var.array(),
                                                        options_.eps);
        functions::BatchRenormalizationOptions call;
        call.eps = options_.eps;
        call.decay = next_decay(x, finetune);
        call.running_mean = avg_mean;
        call.running_var = avg_var;
        call.update_statistics = true;
        return functions::batch_renormalization(x, scale, shift, rmax, dmax, call);
      },
      x);
}

DecorrelatedBatchNormalization::DecorrelatedBatchNormalization(std::int64_t size,
                                                               const DecorrelatedBatchNormalizationLinkOptions& options)
    : options_(options) {
  if (size < 1 || options.groups < 1 || size % options.groups != 0)
    fail<ValueError>("DecorrelatedBatchNormalization: {} channels are no multiple of {} groups", size, options.groups);
  const std::int64_t channels = size / options.groups;
  avg_mean = zeros({options.groups, channels}, options.dtype);
  avg_projection = eye(channels, {}, 0, options.dtype).broadcast_to({options.groups, channels, channels}).copy();
  N = zeros({}, Dtype::int64);
}

void DecorrelatedBatchNormalization::start_finetuning() const { N->fill(0); }

Variable DecorrelatedBatchNormalization::operator()(const Variable& x, bool finetune) const {
  return hooked(
      *this,
      [&] {
        if (!config.train)
          return functions::fixed_decorrelated_batch_normalization(x, avg_mean.array(), avg_projection.array(),
                                                                   options_.groups);
        if (finetune && !functions::recomputing()) N.array() += 1;
        functions::DecorrelatedBatchNormalizationOptions call;
        call.groups = options_.groups;
        call.eps = options_.eps;
        call.decay = finetune ? 1 - 1 / N->item<double>() : options_.decay;
        call.running_mean = avg_mean;
        call.running_projection = avg_projection;
        return functions::decorrelated_batch_normalization(x, call);
      },
      x);
}

LayerNormalization::LayerNormalization(const OptionalShape& normalized_shape, double eps0)
    : eps(eps0), gamma(wide(1), "gamma"), beta(wide(0), "beta") {
  if (!normalized_shape) return;
  gamma.initialize(*normalized_shape);
  beta.initialize(*normalized_shape);
}

Variable LayerNormalization::operator()(const Variable& x) const {
  if (!gamma.is_initialized() && x.ndim() > 1) {
    const Shape last{x.shape(x.ndim() - 1)};
    gamma.initialize(last);
    beta.initialize(last);
  }
  return hooked(
      *this, [&] { return functions::layer_normalization(x, gamma, beta, eps); }, x);
}

RMSNorm::RMSNorm(const OptionalShape& normalized_shape, double eps0) : eps(eps0), gamma(wide(1), "gamma") {
  if (normalized_shape) gamma.initialize(*normalized_shape);
}

Variable RMSNorm::operator()(const Variable& x) const {
  if (!gamma.is_initialized() && x.ndim() > 1) gamma.initialize({x.shape(x.ndim() - 1)});
  return hooked(
      *this, [&] { return functions::rms_normalization(x, gamma, eps); }, x);
}

GroupNormalization::GroupNormalization(int groups0, const std::optional<std::int64_t>& size, double eps0)
    : groups(groups0), eps(eps0), gamma(wide(1), "gamma"), beta(wide(0), "beta") {
  if (!size) return;
  gamma.initialize({*size});
  beta.initialize({*size});
}

Variable GroupNormalization::operator()(const Variable& x) const {
  if (!gamma.is_initialized()) {
    gamma.initialize({x.shape(1)});
    beta.initialize({x.shape(1)});
  }
  return hooked(
      *this, [&] { return functions::group_normalization(x, groups, gamma, beta, eps); }, x);
}

}  // namespace catenary::links
