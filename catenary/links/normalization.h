#pragma once
// Normalization layers with learnt scale and shift.

#include <concepts>
#include <functional>
#include <memory>
#include <optional>

#include "catenary/core/fields.h"
#include "catenary/core/optional_shape.h"
#include "catenary/links/link.h"

namespace catenary::links {

/// Options of BatchNormalization.
struct BatchNormalizationLinkOptions {
  double decay = 0.9;  ///< of the running averages
  double eps = 2e-5;
  std::optional<Dtype> dtype = {};  ///< of parameters and averages, config.dtype by default
  bool use_gamma = true;
  bool use_beta = true;
  OptionalShape axis = {};  ///< axes to average over, by default all but the second
};
CT_FIELDS(BatchNormalizationLinkOptions, decay, eps, dtype, use_gamma, use_beta, axis)

/// Normalises over the batch in training, and by running averages otherwise. The persistent arrays have Chainer's names
/// avg_mean, avg_var and N. (chainer.links.BatchNormalization) (Ioffe and Szegedy, arXiv:1502.03167)
class CT_API BatchNormalization : public Link {
 public:
  explicit BatchNormalization(const Shape& size, const BatchNormalizationLinkOptions& options = {});
  explicit BatchNormalization(std::int64_t size, const BatchNormalizationLinkOptions& options = {})
      : BatchNormalization(Shape{size}, options) {}
  /// With `finetune`, averages the statistics of all batches since start_finetuning().
  Variable operator()(const Variable& x, bool finetune = false) const;
  void start_finetuning() const;
  /// Averages statistics, and the gradients of gamma and beta, over processes from now on, in all C++ copies of this
  /// link. BatchRenormalization ignores it.
  void set_mean_over_processes(std::function<Array(const Array&)> mean) const;
  std::string type_name() const override { return "BatchNormalization"; }
  void detach(CopyMode mode) override;
  Parameter gamma, beta;
  Persistent avg_mean, avg_var, N;
  CT_LINKS(gamma, beta, avg_mean, avg_var, N)

 protected:
  Variable scale(const Variable& x) const;
  Variable shift(const Variable& x) const;
  /// Returns the decay of the running averages for this call, which it counts if `finetune` is set.
  double next_decay(const Variable& x, bool finetune) const;
  BatchNormalizationLinkOptions options_;

 private:
  Array one_, zero_;
  std::shared_ptr<std::function<Array(const Array&)>> mean_over_processes_ =
      std::make_shared<std::function<Array(const Array&)>>();
};

/// Options of BatchRenormalization.
struct BatchRenormalizationLinkOptions {
  double rmax = 1, dmax = 0;  ///< limits of the correction, by default those of batch normalization
  double decay = 0.9;         ///< of the running averages
  double eps = 2e-5;
  std::optional<Dtype> dtype = {};  ///< of parameters and averages, config.dtype by default
  bool use_gamma = true;
  bool use_beta = true;
};
CT_FIELDS(BatchRenormalizationLinkOptions, rmax, dmax, decay, eps, dtype, use_gamma, use_beta)

/// Normalises over the batch with a correction towards the running averages in training, and by running averages
/// otherwise. The persistent arrays have Chainer's names avg_mean, avg_var and N. (chainer.links.BatchRenormalization)
/// (Ioffe, arXiv:1702.03275)
class CT_API BatchRenormalization : public BatchNormalization {
 public:
  explicit BatchRenormalization(const Shape& size, const BatchRenormalizationLinkOptions& options = {});
  explicit BatchRenormalization(std::int64_t size, const BatchRenormalizationLinkOptions& options = {})
      : BatchRenormalization(Shape{size}, options) {}
  /// With `finetune`, averages the statistics of all batches since start_finetuning().
  Variable operator()(const Variable& x, bool finetune = false) const;
  std::string type_name() const override { return "BatchRenormalization"; }
  BatchRenormalization copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
  double rmax, dmax;
};

/// Options of DecorrelatedBatchNormalization.
struct DecorrelatedBatchNormalizationLinkOptions {
  int groups = 16;
  double decay = 0.9;  ///< of the running averages
  double eps = 2e-5;
  Dtype dtype = Dtype::float32;  ///< of the running averages
};
CT_FIELDS(DecorrelatedBatchNormalizationLinkOptions, groups, decay, eps, dtype)

/// Decorrelates the channels of each group: by batch statistics in training, and by running averages otherwise. The
/// persistent arrays have Chainer's names avg_mean, avg_projection and N. Throws ValueError if `size` is not a multiple
/// of groups. (chainer.links.DecorrelatedBatchNormalization) (Huang et al., arXiv:1804.08450)
class CT_API DecorrelatedBatchNormalization : public Link {
 public:
  explicit DecorrelatedBatchNormalization(std::int64_t size,
                                          const DecorrelatedBatchNormalizationLinkOptions& options = {});
  /// With `finetune`, averages the statistics of all batches since start_finetuning().
  Variable operator()(const Variable& x, bool finetune = false) const;
  void start_finetuning() const;
  std::string type_name() const override { return "DecorrelatedBatchNormalization"; }
  Persistent avg_mean, avg_projection, N;
  CT_LINKS(avg_mean, avg_projection, N)

 private:
  DecorrelatedBatchNormalizationLinkOptions options_;
};

/// Normalises over the last axis, or over the last axes with a shape: LayerNormalization({4, 8}). Determines the size
/// of the last axis at the first call unless it is given. (chainer.links.LayerNormalization) (Ba et al.,
/// arXiv:1607.06450)
class CT_API LayerNormalization : public Link {
 public:
  explicit LayerNormalization(const OptionalShape& normalized_shape = {}, double eps = 1e-6);
  // two templates, so that {4, 8} is a shape
  template <std::integral Size>
  explicit LayerNormalization(Size size) : LayerNormalization(size, 1e-6) {}
  template <std::integral Size, std::floating_point Eps>
  LayerNormalization(Size size, Eps eps)
      : LayerNormalization(OptionalShape({static_cast<std::int64_t>(size)}), static_cast<double>(eps)) {}
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "LayerNormalization"; }
  double eps;
  Parameter gamma, beta;
  CT_LINKS(gamma, beta)
};

/// Divides rows by the root of their mean square and multiplies them with gamma, over the last axis, or over the last
/// axes with a shape. Determines the size of the last axis at the first call unless it is given. gamma is float32 in
/// mixed precision. (torch.nn.RMSNorm) (Zhang and Sennrich 2019)
class CT_API RMSNorm : public Link {
 public:
  explicit RMSNorm(const OptionalShape& normalized_shape = {}, double eps = 1e-6);
  // two templates, as in LayerNormalization
  template <std::integral Size>
  explicit RMSNorm(Size size) : RMSNorm(size, 1e-6) {}
  template <std::integral Size, std::floating_point Eps>
  RMSNorm(Size size, Eps eps) : RMSNorm(OptionalShape({static_cast<std::int64_t>(size)}), static_cast<double>(eps)) {}
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "RMSNorm"; }
  double eps;
  Parameter gamma;
  CT_LINKS(gamma)
};

/// Normalises groups of channels of (N, C, …). Determines the number of channels at the first call unless it is given.
/// (chainer.links.GroupNormalization) (Wu and He, arXiv:1803.08494)
class CT_API GroupNormalization : public Link {
 public:
  explicit GroupNormalization(int groups, const std::optional<std::int64_t>& size = {}, double eps = 1e-5);
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "GroupNormalization"; }
  int groups;
  double eps;
  Parameter gamma, beta;
  CT_LINKS(gamma, beta)
};

}  // namespace catenary::links
