#pragma once
// Normalizations.

#include <functional>

#include "catenary/autograd/operators.h"
#include "catenary/core/fields.h"
#include "catenary/core/optional_shape.h"

namespace catenary::functions {

/// Options of batch_normalization.
struct BatchNormalizationOptions {
  double eps = 2e-5;
  /// Averages over batches, updated in place: decay * old + (1 - decay) * new, with the unbiased variance. Not kept if
  /// undefined.
  Array running_mean = {};
  Array running_var = {};
  double decay = 0.9;
  /// The axes of x to take statistics over, by default the first axis and those after gamma's.
  OptionalShape axis = {};
  /// For processes that share statistics: returns an array's mean over processes, which all have equal weight.
  /// Gradients through it cannot be differentiated again.
  std::function<Array(const Array&)> mean_over_processes = {};
};
CT_FIELDS(BatchNormalizationOptions, eps, running_mean, running_var, decay, axis, mean_over_processes)
/// Computes (x - mean) / sqrt(var + eps) * gamma + beta with the mean and variance of x over a batch. gamma and beta
/// have the shape of the axes that are not averaged over, by default x's axes from the second on. Statistics are
/// computed in the wider dtype of x and gamma (float32 at least), and the result has x's dtype. Throws ShapeError and
/// DtypeError. (chainer.functions.batch_normalization) (Ioffe and Szegedy 2015)
CT_API Variable batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                    const BatchNormalizationOptions& options = {});
/// Computes batch_normalization with a given mean and variance of gamma's shape.
/// (chainer.functions.fixed_batch_normalization)
CT_API Variable fixed_batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                          const Variable& mean, const Variable& var, double eps = 2e-5,
                                          const OptionalShape& axis = {});

/// Options of batch_renormalization. Both running statistics are required.
struct BatchRenormalizationOptions : BatchNormalizationOptions {
  /// Update the running statistics.
  bool update_statistics = false;
};
CT_MORE_FIELD(BatchRenormalizationOptions, BatchNormalizationOptions, update_statistics)
/// Computes batch_normalization with a correction towards the running statistics: scales the normalized x by r and
/// shifts it by d, which are limited to [1 / rmax, rmax] and [-dmax, dmax] and have no gradient. Throws ValueError
/// without running statistics. (chainer.functions.batch_renormalization) (Ioffe 2017)
CT_API Variable batch_renormalization(const Variable& x, const Variable& gamma, const Variable& beta, double rmax,
                                      double dmax, const BatchRenormalizationOptions& options);
/// Another name of fixed_batch_normalization. (chainer.functions.fixed_batch_renormalization)
CT_API Variable fixed_batch_renormalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                            const Variable& mean, const Variable& var, double eps = 2e-5);

/// Options of decorrelated_batch_normalization.
struct DecorrelatedBatchNormalizationOptions {
  int groups = 16;
  double eps = 2e-5;
  /// Averages over batches, updated in place like batch_normalization's: the mean [groups, c] and the projection
  /// [groups, c, c] of the c channels of each group. Not kept if undefined.
  Array running_mean = {};
  Array running_projection = {};
  double decay = 0.9;
};
CT_FIELDS(DecorrelatedBatchNormalizationOptions, groups, eps, running_mean, running_projection, decay)
/// Decorrelates the channels of each group of x [n, channels, d…] and normalises them to mean 0 and variance 1:
/// multiplies the centered channels with (covariance + eps I)^(-1/2), which changes them least (ZCA). Computed in
/// float32 at least. The gradient can be differentiated again. Throws DtypeError, ShapeError, and ValueError if
/// channels is not a multiple of groups. (chainer.functions.decorrelated_batch_normalization) (Huang et al.,
/// arXiv:1804.08450)
CT_API Variable decorrelated_batch_normalization(const Variable& x,
                                                 const DecorrelatedBatchNormalizationOptions& options = {});
/// Computes decorrelated_batch_normalization with a given mean [groups, c] and projection [groups, c, c].
/// (chainer.functions.fixed_decorrelated_batch_normalization)
CT_API Variable fixed_decorrelated_batch_normalization(const Variable& x, const Variable& mean,
                                                       const Variable& projection, int groups = 16);

/// Normalises each row of x [n…, units…] to mean 0 and variance 1, multiplies it with gamma [units…] and adds beta
/// [units…]. Rows are as many last axes as gamma has. Throws ShapeError. (chainer.functions.layer_normalization) (Ba,
/// Kiros and Hinton 2016)
CT_API Variable layer_normalization(const Variable& x, const Variable& gamma, const Variable& beta, double eps = 1e-5);
/// Divides each row of x [n…, units…] by the root of its mean square plus eps and multiplies it with gamma [units…].
/// Rows are as many last axes as gamma has. Computed in float32 at least, with a result of x's dtype. Throws
/// ShapeError, and DtypeError for dtypes that are not floating. (torch.nn.functional.rms_norm) (Zhang and Sennrich
/// 2019)
CT_API Variable rms_normalization(const Variable& x, const Variable& gamma, double eps = 1e-6);
/// Normalises each group of channels of each example of x [n, channels, d…] to mean 0 and variance 1, multiplies it
/// with gamma [channels] and adds beta [channels]. Throws ShapeError, and ValueError if channels is not a multiple of
/// groups. (chainer.functions.group_normalization) (Wu and He 2018)
CT_API Variable group_normalization(const Variable& x, int groups, const Variable& gamma, const Variable& beta,
                                    double eps = 1e-5);
/// Normalises each channel of each example of x [n, channels, d…] to mean 0 and variance 1 over the axes from the third
/// on, multiplies it with gamma [channels] and adds beta [channels]. Throws ShapeError. (Ulyanov, Vedaldi and
/// Lempitsky, arXiv:1607.08022)
CT_API Variable instance_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                       double eps = 1e-5);
/// Returns x divided by its 2-norm over axes plus eps. (chainer.functions.normalize)
CT_API Variable normalize(const Variable& x, double eps = 1e-5, const AxisArg& axis = 1);

/// Options of local_response_normalization.
struct LocalResponseNormalizationOptions {
  int n = 5;
  double k = 2;
  double alpha = 1e-4;
  double beta = 0.75;
};
CT_FIELDS(LocalResponseNormalizationOptions, n, k, alpha, beta)
/// Returns x / (k + alpha * s)^beta, where s is the sum of squares over the n channels around each channel of x [n,
/// channels, d…]. Throws ShapeError, and ValueError for n < 1. (chainer.functions.local_response_normalization)
/// (Krizhevsky et al. 2012)
CT_API Variable local_response_normalization(const Variable& x, const LocalResponseNormalizationOptions& options = {});

}  // namespace catenary::functions
