#pragma once
// Loss functions.

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"

namespace catenary::functions {

/// What a loss gives: its mean or sum (a 0-d variable), or one value an element or example ("no"). Functions throw
/// ValueError for what they do not know.
enum class Reduce : std::uint8_t { mean, no, sum, half_squared_sum, sum_along_second_axis };

/// Options of softmax_cross_entropy.
struct SoftmaxCrossEntropyOptions {
  /// Divide by the number of labels that are not ignored; else by the batch size.
  bool normalize = true;
  /// Labels that do not count.
  std::int64_t ignore_label = -1;
  /// A factor for each class, or undefined.
  Array class_weight = {};
  Reduce reduce = Reduce::mean;
  /// The loss of probabilities as targets: sum(t * (log(t + 1e-7) - log(softmax(x)))) instead of -sum(t *
  /// log(softmax(x))).
  bool kl_divergence = false;
};
CT_FIELDS(SoftmaxCrossEntropyOptions, normalize, ignore_label, class_weight, reduce, kl_divergence)

/// Cross entropy of softmax(x) and integer labels: x [n, classes, d…], t [n, d…]; or probabilities t of x's shape,
/// which get no gradient and for which labels, weights and normalize mean nothing. The gradient can be differentiated
/// again, always. Throws ShapeError and DtypeError, and IndexError for a label that is no class.
/// (chainer.functions.softmax_cross_entropy)
CT_API Variable softmax_cross_entropy(const Variable& x, const Variable& t,
                                      const SoftmaxCrossEntropyOptions& options = {});

// Of labels.

/// Cross entropy of sigmoid(x) and labels t that are 0 or 1, or -1 to be ignored; x and t of one shape. The mean is
/// over the labels that are not ignored, or over the first extent unless `normalize`. Throws ShapeError, DtypeError,
/// and ValueError for another label. (chainer.functions.sigmoid_cross_entropy)
CT_API Variable sigmoid_cross_entropy(const Variable& x, const Variable& t, bool normalize = true,
                                      Reduce reduce = Reduce::mean);
/// The norm of hinge.
enum class HingeNorm : std::uint8_t { L1, L2 };
/// max(0, 1 - x) for the class t, max(0, 1 + x) for all others, squared for L2: x [n, classes], t [n]. The mean is the
/// sum divided by n. Throws ShapeError, DtypeError, and IndexError for a label that is no class.
/// (chainer.functions.hinge)
CT_API Variable hinge(const Variable& x, const Variable& t, HingeNorm norm = HingeNorm::L1,
                      Reduce reduce = Reduce::mean);

// Of numbers. Both inputs must be of one shape (ShapeError) and dtype (DtypeError).

/// Mean of (x0 - x1)². (chainer.functions.mean_squared_error)
CT_API Variable mean_squared_error(const Variable& x0, const Variable& x1);
/// Mean of |x0 - x1|. (chainer.functions.mean_absolute_error)
CT_API Variable mean_absolute_error(const Variable& x0, const Variable& x1);
/// (x0 - x1)² for each element. (chainer.functions.squared_error)
CT_API Variable squared_error(const Variable& x0, const Variable& x1);
/// squared_error by its other name. (chainer.functions.squared_difference)
inline Variable squared_difference(const Variable& x0, const Variable& x1) { return squared_error(x0, x1); }
/// |x0 - x1| for each element. (chainer.functions.absolute_error)
CT_API Variable absolute_error(const Variable& x0, const Variable& x1);
/// a²/2 for |a| <= delta, else delta (|a| - delta/2), where a = x - t. (chainer.functions.huber_loss)
CT_API Variable huber_loss(const Variable& x, const Variable& t, double delta,
                           Reduce reduce = Reduce::sum_along_second_axis);

// Of distances and of correlation.

/// Half of d² for similar pairs (y 1), of max(margin - d, 0)² for others (y 0), where d is the distance of the rows of
/// x0 and x1 [n, d]. Throws ShapeError, DtypeError, and ValueError for another y or a margin that is not positive.
/// (chainer.functions.contrastive; Chopra et al., CVPR 2005)
CT_API Variable contrastive(const Variable& x0, const Variable& x1, const Variable& y, double margin = 1,
                            Reduce reduce = Reduce::mean);
/// max(d(anchor, positive) - d(anchor, negative) + margin, 0), where d is the squared distance of rows [n, d].
/// (chainer.functions.triplet; Wang et al., arXiv:1404.4661)
CT_API Variable triplet(const Variable& anchor, const Variable& positive, const Variable& negative, double margin = 0.2,
                        Reduce reduce = Reduce::mean);
/// The covariance of the columns of y [n, j] with those of z [n, k], or half the sum of its squares.
/// (chainer.functions.cross_covariance)
CT_API Variable cross_covariance(const Variable& y, const Variable& z, Reduce reduce = Reduce::half_squared_sum);
/// The covariance of the columns of h [n, k] among each other, zeros on the diagonal, or half the sum of its squares.
/// (chainer.functions.decov; Cogswell et al., arXiv:1511.06068)
CT_API Variable decov(const Variable& h, Reduce reduce = Reduce::half_squared_sum);

/// Options of discriminative_margin_based_clustering_loss.
struct ClusteringLossOptions {
  int norm = 1;  ///< 1 or 2
  double alpha = 1.0, beta = 1.0, gamma = 0.001;
};
CT_FIELDS(ClusteringLossOptions, norm, alpha, beta, gamma)
/// Variance, distance and regularisation losses, times alpha, beta and gamma, for embeddings [n, d, h, w] of pixels and
/// labels [n, h, w], where 1 to max_embedding_dim (= d) are instances, 0 and -1 none. Throws ShapeError, DtypeError,
/// ValueError, and IndexError for another label.
/// (chainer.functions.loss.discriminative_loss; De Brabandere et al., arXiv:1708.02551)
CT_API std::array<Variable, 3> discriminative_margin_based_clustering_loss(const Variable& embeddings,
                                                                           const Variable& labels, double delta_v,
                                                                           double delta_d, int max_embedding_dim,
                                                                           const ClusteringLossOptions& options = {});

// Of distributions: sum, mean, or one value an element.

/// Kullback-Leibler divergence of a normal distribution (mean, log variance) from the standard one.
/// (chainer.functions.gaussian_kl_divergence)
CT_API Variable gaussian_kl_divergence(const Variable& mean, const Variable& ln_var, Reduce reduce = Reduce::sum);
/// Negative log-likelihood of x under Bernoulli distributions with logits y. (chainer.functions.bernoulli_nll)
CT_API Variable bernoulli_nll(const Variable& x, const Variable& y, Reduce reduce = Reduce::sum);
/// Negative log-likelihood of x under normal distributions. (chainer.functions.gaussian_nll)
CT_API Variable gaussian_nll(const Variable& x, const Variable& mean, const Variable& ln_var,
                             Reduce reduce = Reduce::sum);

// Of few words out of many, and of sequences of labels.

/// Negative classes for negative_sampling: an integer array of a shape.
using Sampler = std::function<Array(const Shape&)>;
/// softplus(-x·w of the class t) + Σ softplus(x·w of sample_size classes that the sampler draws), for x [n, d], t [n],
/// W [classes, d]; labels that are -1 do not count. Sum, or one value an example. return_samples gets the classes
/// [n, 1 + sample_size], of which the first is t. Throws ShapeError, DtypeError, ValueError, and IndexError for what is
/// no class. (chainer.functions.negative_sampling; Mikolov et al., arXiv:1310.4546)
CT_API Variable negative_sampling(const Variable& x, const Variable& t, const Variable& W, const Sampler& sampler,
                                  std::int64_t sample_size, Reduce reduce = Reduce::sum,
                                  Array* return_samples = nullptr);
/// BlackOut for x [n, d], t [n], W [classes, d] and negative classes [n, samples]. Throws ShapeError, DtypeError, and
/// IndexError for what is no class.
/// (chainer.functions.black_out; Ji et al., arXiv:1511.06909)
CT_API Variable black_out(const Variable& x, const Variable& t, const Variable& W, const Variable& samples,
                          Reduce reduce = Reduce::mean);

/// Negative log-likelihood of the labels ys[time] [n] under a linear chain with transition costs [labels, labels] and
/// scores xs[time] [n, labels]. Sequences are sorted, the longest first, so n may fall with time. Mean, or one value a
/// sequence. Throws ShapeError, DtypeError, ValueError, and IndexError for what is no label. (chainer.functions.crf1d)
CT_API Variable crf1d(const Variable& cost, const std::vector<Variable>& xs, const std::vector<Variable>& ys,
                      Reduce reduce = Reduce::mean);
/// The scores [n] of the best labels of such a chain, and these labels, [n] for each time.
/// (chainer.functions.argmax_crf1d)
CT_API std::pair<Variable, std::vector<Array>> argmax_crf1d(const Variable& cost, const std::vector<Variable>& xs);

}  // namespace catenary::functions
