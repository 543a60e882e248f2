#pragma once
// Loss functions.

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"

namespace catenary::functions {

/// How a loss is reduced: to its mean or sum (0-d), or not at all ("no": a value for each element or example).
/// Functions throw ValueError for values that they do not support.
enum class Reduce : std::uint8_t { mean, no, sum, half_squared_sum, sum_along_second_axis };

/// Options of softmax_cross_entropy.
struct SoftmaxCrossEntropyOptions {
  /// Divide by the number of labels that are not ignored, otherwise by the batch size.
  bool normalize = true;
  /// Labels with this value do not count.
  std::int64_t ignore_label = -1;
  /// A factor for each class, or undefined.
  Array class_weight = {};
  Reduce reduce = Reduce::mean;
  /// For probabilities as targets: compute sum(t * (log(t + 1e-7) - log(softmax(x)))) instead of -sum(t *
  /// log(softmax(x))).
  bool kl_divergence = false;
  /// In Python, give out softmax(x) as y.creator.y. The loss does not depend on it.
  bool cache_score = true;
};
CT_FIELDS(SoftmaxCrossEntropyOptions, normalize, ignore_label, class_weight, reduce, kl_divergence, cache_score)

/// Computes the cross entropy of softmax(x) and labels: x [n, classes, d…], integers t [n, d…]. t may also be
/// probabilities of x's shape, which get no gradient and for which ignored labels, weights and normalize are not used.
/// The gradient can be differentiated again. Throws ShapeError and DtypeError, and IndexError for labels that are not
/// classes. (chainer.functions.softmax_cross_entropy)
CT_API Variable softmax_cross_entropy(const Variable& x, const Variable& t,
                                      const SoftmaxCrossEntropyOptions& options = {});

// Losses of labels.

/// Computes the cross entropy of sigmoid(x) and labels t of x's shape, which are 0, 1, or -1 to be ignored. The mean is
/// over labels that are not ignored, or with `normalize` false over the first axis. Throws ShapeError, DtypeError, and
/// ValueError for other labels. (chainer.functions.sigmoid_cross_entropy)
CT_API Variable sigmoid_cross_entropy(const Variable& x, const Variable& t, bool normalize = true,
                                      Reduce reduce = Reduce::mean);
/// The norm of hinge.
enum class HingeNorm : std::uint8_t { L1, L2 };
/// Computes max(0, 1 - x) for the class t and max(0, 1 + x) for all other classes, squared for L2: x [n, classes], t
/// [n]. The mean is the sum divided by n. Throws ShapeError, DtypeError, and IndexError for labels that are not
/// classes. (chainer.functions.hinge)
CT_API Variable hinge(const Variable& x, const Variable& t, HingeNorm norm = HingeNorm::L1,
                      Reduce reduce = Reduce::mean);

// Losses of numbers. Both inputs must have equal shapes (ShapeError) and dtypes (DtypeError).

/// Returns the mean of (x0 - x1)². (chainer.functions.mean_squared_error)
CT_API Variable mean_squared_error(const Variable& x0, const Variable& x1);
/// Returns the mean of |x0 - x1|. (chainer.functions.mean_absolute_error)
CT_API Variable mean_absolute_error(const Variable& x0, const Variable& x1);
/// Returns (x0 - x1)² for each element. (chainer.functions.squared_error)
CT_API Variable squared_error(const Variable& x0, const Variable& x1);
/// Another name of squared_error. (chainer.functions.squared_difference)
inline Variable squared_difference(const Variable& x0, const Variable& x1) { return squared_error(x0, x1); }
/// Returns |x0 - x1| for each element. (chainer.functions.absolute_error)
CT_API Variable absolute_error(const Variable& x0, const Variable& x1);
/// Returns a²/2 for |a| <= delta, else delta (|a| - delta/2), where a = x - t. (chainer.functions.huber_loss)
CT_API Variable huber_loss(const Variable& x, const Variable& t, double delta,
                           Reduce reduce = Reduce::sum_along_second_axis);

// Losses of distances and of correlation.

/// Computes d²/2 for similar pairs (y 1) and max(margin - d, 0)²/2 for others (y 0), where d is the distance of the
/// rows of x0 and x1 [n, d]. Throws ShapeError, DtypeError, and ValueError for other y or a margin that is not
/// positive. (chainer.functions.contrastive) (Chopra et al., CVPR 2005)
CT_API Variable contrastive(const Variable& x0, const Variable& x1, const Variable& y, double margin = 1,
                            Reduce reduce = Reduce::mean);
/// Computes max(d(anchor, positive) - d(anchor, negative) + margin, 0), where d is the squared distance of rows [n, d].
/// (chainer.functions.triplet) (Wang et al., arXiv:1404.4661)
CT_API Variable triplet(const Variable& anchor, const Variable& positive, const Variable& negative, double margin = 0.2,
                        Reduce reduce = Reduce::mean);
/// Returns the covariance of the columns of y [n, j] with the columns of z [n, k], or half the sum of its squares.
/// (chainer.functions.cross_covariance)
CT_API Variable cross_covariance(const Variable& y, const Variable& z, Reduce reduce = Reduce::half_squared_sum);
/// Returns the covariance of the columns of h [n, k] with zeros on the diagonal, or half the sum of its squares.
/// (chainer.functions.decov) (Cogswell et al., arXiv:1511.06068)
CT_API Variable decov(const Variable& h, Reduce reduce = Reduce::half_squared_sum);

/// Options of discriminative_margin_based_clustering_loss.
struct ClusteringLossOptions {
  int norm = 1;  ///< 1 or 2
  double alpha = 1.0, beta = 1.0, gamma = 0.001;
};
CT_FIELDS(ClusteringLossOptions, norm, alpha, beta, gamma)
/// Returns variance, distance and regularisation losses, multiplied by alpha, beta and gamma, for embeddings [n, d, h,
/// w] of pixels and labels [n, h, w]. Labels 1 to max_embedding_dim (= d) are instances, 0 and -1 mean none. Throws
/// ShapeError, DtypeError, ValueError, and IndexError for other labels. (chainer.functions.loss.discriminative_loss)
/// (De Brabandere et al., arXiv:1708.02551)
CT_API std::array<Variable, 3> discriminative_margin_based_clustering_loss(const Variable& embeddings,
                                                                           const Variable& labels, double delta_v,
                                                                           double delta_d, int max_embedding_dim,
                                                                           const ClusteringLossOptions& options = {});

// Losses of distributions: sum, mean, or a value for each element.

/// Computes the Kullback-Leibler divergence of a normal distribution (mean, log variance) from the standard normal
/// distribution. (chainer.functions.gaussian_kl_divergence)
CT_API Variable gaussian_kl_divergence(const Variable& mean, const Variable& ln_var, Reduce reduce = Reduce::sum);
/// Computes the negative log-likelihood of x under Bernoulli distributions with logits y.
/// (chainer.functions.bernoulli_nll)
CT_API Variable bernoulli_nll(const Variable& x, const Variable& y, Reduce reduce = Reduce::sum);
/// Computes the negative log-likelihood of x under normal distributions. (chainer.functions.gaussian_nll)
CT_API Variable gaussian_nll(const Variable& x, const Variable& mean, const Variable& ln_var,
                             Reduce reduce = Reduce::sum);

// Losses for large vocabularies, and for sequences of labels.

/// Draws negative classes for negative_sampling: returns an integer array of the given shape.
using Sampler = std::function<Array(const Shape&)>;
/// Computes softplus(-x·w of the class t) + Σ softplus(x·w of the sample_size classes drawn by the sampler), for x [n,
/// d], t [n], W [classes, d]. Labels of -1 do not count. Returns the sum, or a value for each example. return_samples
/// receives the classes [n, 1 + sample_size], t first. Throws ShapeError, DtypeError, ValueError, and IndexError for
/// labels that are not classes. (chainer.functions.negative_sampling) (Mikolov et al., arXiv:1310.4546)
CT_API Variable negative_sampling(const Variable& x, const Variable& t, const Variable& W, const Sampler& sampler,
                                  std::int64_t sample_size, Reduce reduce = Reduce::sum,
                                  Array* return_samples = nullptr);
/// Computes BlackOut for x [n, d], t [n], W [classes, d] and negative classes [n, samples]. Throws ShapeError,
/// DtypeError, and IndexError for labels that are not classes. (chainer.functions.black_out) (Ji et al.,
/// arXiv:1511.06909)
CT_API Variable black_out(const Variable& x, const Variable& t, const Variable& W, const Variable& samples,
                          Reduce reduce = Reduce::mean);

/// Computes the negative log-likelihood of labels ys[time] [n] under a linear-chain CRF with transition costs [labels,
/// labels] and scores xs[time] [n, labels]. Sequences must be sorted, longest first, so n may decrease with time.
/// Returns the mean, or a value for each sequence. Throws ShapeError, DtypeError, ValueError, and IndexError for wrong
/// labels. (chainer.functions.crf1d)
CT_API Variable crf1d(const Variable& cost, const std::vector<Variable>& xs, const std::vector<Variable>& ys,
                      Reduce reduce = Reduce::mean);
/// Returns the scores [n] of the best label sequences of crf1d, and these labels, [n] for each time.
/// (chainer.functions.argmax_crf1d)
CT_API std::pair<Variable, std::vector<Array>> argmax_crf1d(const Variable& cost, const std::vector<Variable>& xs);

}  // namespace catenary::functions
