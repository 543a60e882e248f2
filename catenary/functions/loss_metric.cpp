// Losses of functions/loss.h for binary labels, distances and correlation.

#include "catenary/array/axes.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/array.h"
#include "catenary/functions/in_float32.h"
#include "catenary/functions/labels.h"
#include "catenary/functions/masked.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/reduce.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

using detail::check_alike;
using detail::check_reduce;
using detail::mean_of_rows;

class SigmoidCrossEntropy : public FunctionNode {
 public:
  SigmoidCrossEntropy(bool normalize, Reduce reduce) : normalize_(normalize), reduce_(reduce) {}
  const char* name() const override { return "SigmoidCrossEntropy"; }
  CT_ATTRIBUTES(normalize_, reduce_)

 protected:
  Arrays forward(Inputs in) override {
    const Array &x = in[0], &t = in[1];
    if (!is_floating(x.dtype())) fail<DtypeError>("sigmoid_cross_entropy: x must be floating, not {}", x.dtype());
    detail::check_integers("sigmoid_cross_entropy", "t", t);
    if (x.shape() != t.shape())
      fail<ShapeError>("sigmoid_cross_entropy: x and t must have equal shapes, not {} and {}", x.shape(), t.shape());
    const detail::Labels labels{"sigmoid_cross_entropy", "t", t, 2, -1};
    labels.check<ValueError>();
    retain_inputs({0, 1});
    counted_ = labels.counted();
    const Array losses = detail::only_where(counted_, catenary::softplus(x) - x * t.astype(x.dtype()));
    if (reduce_ == Reduce::no) return losses;
    const Array count =
        normalize_ ? catenary::maximum(counted_.sum(), 1)
                   : catenary::detail::filled({}, std::max<std::int64_t>(x.len(), 1), Dtype::int64, x.device());
    count_ = count.astype(x.dtype());
    return losses.sum() / count_;
  }
  Variables backward(Targets targets, Grads gys) override {
    // exclude the scores of ignored labels from second derivatives, too
    const Variable x = detail::only_where(counted_, retained_input(0));
    const Array t = input(1).data().astype(x.dtype());
    const Variable gy = count_.defined() ? gys[0] / count_ : gys[0];
    return gradients(targets,
                     [&](int i) { return i == 0 ? detail::only_where(counted_, gy * (sigmoid(x) - t)) : Variable(); });
  }

 private:
  bool normalize_;
  Reduce reduce_;
  Array counted_;  // where labels are not ignored
  Array count_;    // divisor of the sum, or undefined
};

void check_rows(const Variable& x, const char* what) {
  if (x.ndim() != 2 || x.shape(0) == 0)
    fail<ShapeError>("{}: inputs must be (n, d) with n > 0, not {}", what, x.shape());
}

/// sqrt(x) with gradient 0 at 0.
Variable safe_sqrt(const Variable& x) {
  const Array is_zero = x.array() == 0;
  return detail::only_where(!is_zero, sqrt(where(is_zero, Scalar(1), x)));
}

Variable centered(const Variable& x) { return x - sum(x, 0, true) * (1.0 / static_cast<double>(x.shape(0))); }

/// The covariance of columns.
Variable covariance(const Variable& y, const Variable& z) {
  return matmul(centered(y), centered(z), true) * (1.0 / static_cast<double>(y.shape(0)));
}

Variable reduce_covariance(const Variable& covariance, Reduce reduce) {
  return reduce == Reduce::no ? covariance : sum(covariance * covariance) * 0.5;
}

}  // namespace

Variable sigmoid_cross_entropy(const Variable& x, const Variable& t, bool normalize, Reduce reduce) {
  CT_DEFINED(x, t);
  if (const auto narrow =
          detail::in_float32([&](const Variable& a) { return sigmoid_cross_entropy(a, t, normalize, reduce); }, x))
    return *narrow;
  check_reduce(reduce, Reduce::mean, Reduce::no, "sigmoid_cross_entropy");
  return apply(node<SigmoidCrossEntropy>(normalize, reduce), x, t);
}

Variable hinge(const Variable& x, const Variable& t, HingeNorm norm, Reduce reduce) {
  CT_DEFINED(x, t);
  if (const auto narrow = detail::in_float32([&](const Variable& a) { return hinge(a, t, norm, reduce); }, x))
    return *narrow;
  check_reduce(reduce, Reduce::mean, Reduce::no, "hinge");
  if (!is_floating(x.dtype())) fail<DtypeError>("hinge: x must be floating, not {}", x.dtype());
  detail::check_integers("hinge", "t", t.array());
  if (x.ndim() != 2 || t.shape() != Shape{x.shape(0)})
    fail<ShapeError>("hinge: x must be (n, classes) and t (n,), not {} and {}", x.shape(), t.shape());
  const Array sign = catenary::detail::filled(x.shape(), 1, x.dtype(), x.device());
  detail::Labels{"hinge", "t", t.array(), x.shape(1)}.pick(
      [&](const Array& classes) { sign.set(-1, catenary::detail::iota(x.shape(0), x.device()), classes); });
  const Variable margins = relu(x * sign + 1.0);
  const Variable losses = norm == HingeNorm::L1 ? margins : square(margins);
  return reduce == Reduce::no ? losses : mean_of_rows(losses, x.shape(0));
}

Variable contrastive(const Variable& x0, const Variable& x1, const Variable& y, double margin, Reduce reduce) {
  CT_DEFINED(x0, x1, y);
  if (const auto narrow = detail::in_float32(
          [&](const Variable& a, const Variable& b) { return contrastive(a, b, y, margin, reduce); }, x0, x1))
    return *narrow;
  check_reduce(reduce, Reduce::mean, Reduce::no, "contrastive");
  if (margin <= 0) fail<ValueError>("contrastive: margin must be positive, not {}", margin);
  check_alike(x0.array(), x1.array(), "contrastive");
  check_rows(x0, "contrastive");
  if (y.shape() != Shape{x0.shape(0)}) fail<ShapeError>("contrastive: y must be ({},), not {}", x0.shape(0), y.shape());
  detail::Labels{"contrastive", "y", y.array(), 2}.check<ValueError>();
  const Array similar = y.array() != 0;
  const Variable squares = sum(square(x0 - x1), 1);
  const Variable losses = where(similar, squares, square(relu(margin - safe_sqrt(squares)))) * 0.5;
  return reduce == Reduce::no ? losses : mean_of_rows(losses, x0.shape(0));
}

Variable triplet(const Variable& anchor, const Variable& positive, const Variable& negative, double margin,
                 Reduce reduce) {
  CT_DEFINED(anchor, positive, negative);
  if (const auto narrow = detail::in_float32(
          [&](const Variable& a, const Variable& b, const Variable& c) { return triplet(a, b, c, margin, reduce); },
          anchor, positive, negative))
    return *narrow;
  check_reduce(reduce, Reduce::mean, Reduce::no, "triplet");
  if (margin <= 0) fail<ValueError>("triplet: margin must be positive, not {}", margin);
  check_alike(anchor.array(), positive.array(), "triplet");
  check_alike(anchor.array(), negative.array(), "triplet");
  check_rows(anchor, "triplet");
  const Variable losses = relu(sum(square(anchor - positive) - square(anchor - negative), 1) + margin);
  return reduce == Reduce::no ? losses : mean_of_rows(losses, anchor.shape(0));
}

Variable cross_covariance(const Variable& y, const Variable& z, Reduce reduce) {
  CT_DEFINED(y, z);
  if (const auto narrow = detail::in_float32(
          [&](const Variable& a, const Variable& b) { return cross_covariance(a, b, reduce); }, y, z))
    return *narrow;
  check_reduce(reduce, Reduce::half_squared_sum, Reduce::no, "cross_covariance");
  check_rows(y, "cross_covariance");
  check_rows(z, "cross_covariance");
  if (y.shape(0) != z.shape(0))
    fail<ShapeError>("cross_covariance: y and z must have as many rows, not {} and {}", y.shape(), z.shape());
  return reduce_covariance(covariance(y, z), reduce);
}

Variable decov(const Variable& h, Reduce reduce) {
  CT_DEFINED(h);
  if (const auto narrow = detail::in_float32([&](const Variable& a) { return decov(a, reduce); }, h)) return *narrow;
  check_reduce(reduce, Reduce::half_squared_sum, Reduce::no, "decov");
  check_rows(h, "decov");
  const Array diagonal = eye(h.shape(1), {}, 0, Dtype::bool_).to_device(h.device());
  return reduce_covariance(where(diagonal, Scalar(0), covariance(h, h)), reduce);
}

std::array<Variable, 3> discriminative_margin_based_clustering_loss(const Variable& embeddings, const Variable& labels,
                                                                    double delta_v, double delta_d,
                                                                    int max_embedding_dim,
                                                                    const ClusteringLossOptions& options) {
  CT_DEFINED(embeddings, labels);
  constexpr const char* kWhat = "discriminative_margin_based_clustering_loss";
  if (const Dtype given = embeddings.dtype(); is_16bit_float(given)) {
    auto losses = discriminative_margin_based_clustering_loss(cast(embeddings, Dtype::float32), labels, delta_v,
                                                              delta_d, max_embedding_dim, options);
    for (Variable& loss : losses) loss = cast(loss, given);
    return losses;
  }
  const std::int64_t instances = max_embedding_dim;
  if (options.norm != 1 && options.norm != 2) fail<ValueError>("{}: norm must be 1 or 2, not {}", kWhat, options.norm);
  if (!is_floating(embeddings.dtype()))
    fail<DtypeError>("{}: embeddings must be floating, not {}", kWhat, embeddings.dtype());
  if (embeddings.ndim() != 4 || instances < 1 || embeddings.shape(1) != instances ||
      labels.shape() != Shape{embeddings.shape(0), embeddings.shape(2), embeddings.shape(3)})
    fail<ShapeError>("{}: embeddings must be (n, {}, h, w) and labels (n, h, w), not {} and {}", kWhat, instances,
                     embeddings.shape(), labels.shape());
  detail::Labels{kWhat, "labels", labels.array(), instances + 1, -1}.check();
  const auto norm = [&](const Variable& x, const AxisArg& axis) {
    return options.norm == 1 ? sum(absolute(x), axis) : safe_sqrt(sum(square(x), axis));
  };
  const Dtype dtype = embeddings.dtype();
  const std::int64_t n = embeddings.shape(0);
  const auto at_least_one = [&](const Array& count) { return catenary::maximum(count.astype(dtype), 1); };
  // : whether the pixel belongs to the instance
  const Array one_to_last = (catenary::detail::iota(instances, embeddings.device()) + 1).reshape({instances, 1, 1, 1});
  const Array of_instance = catenary::expand_dims(labels.array() == one_to_last, 2);
  const Variable pixels = detail::only_where(of_instance, expand_dims(embeddings, 0));  // [instance, n, d, h, w]
  const Variable centers = sum(pixels, {3, 4}) / at_least_one(of_instance.sum({2, 3, 4})).reshape({instances, n, 1});
  const Variable centered_pixels = reshape(centers, {instances, n, instances, 1, 1}) * of_instance - pixels;

  const Variable variance =
      sum(square(relu(norm(centered_pixels, 2) - delta_v)), {1, 2, 3}) / at_least_one(of_instance.sum({1, 2, 3, 4}));
  Variable distance = sum(centers) * 0.0;
  std::int64_t pairs = 0;
  for (std::int64_t a = 0; a < instances; ++a) {
    for (std::int64_t b = a + 1; b < instances; ++b, ++pairs)
      distance = distance + sum(square(relu(2 * delta_d - norm(centers[a] - centers[b], 1))));
  }
  const double all = static_cast<double>(instances);
  return {sum(variance) * (options.alpha / all),
          distance * (options.beta / static_cast<double>(std::max<std::int64_t>(pairs * n, 1))),
          sum(norm(centers, {1, 2})) * (options.gamma / (all * static_cast<double>(n)))};
}

std::span<const Signature> detail::metric_loss_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("loss.sigmoid_cross_entropy", sigmoid_cross_entropy, "x", labels("t"), otherwise("normalize", true),
                   "reduce"),
      CT_SIGNATURE("loss.hinge", hinge, "x", labels("t"), otherwise("norm", HingeNorm::L1), "reduce"),
      CT_SIGNATURE("loss.contrastive", contrastive, "x0", "x1", labels("y"), otherwise("margin", 1), "reduce"),
      CT_SIGNATURE("loss.triplet", triplet, "anchor", "positive", "negative", otherwise("margin", 0.2), "reduce"),
      CT_SIGNATURE("loss.cross_covariance", cross_covariance, "y", "z", "reduce"),
      CT_SIGNATURE("loss.decov", decov, "h", "reduce"),
      signature_of(
          "chainer.functions.loss.discriminative_loss.discriminative_margin_based_clustering_loss",
          [](const Variable& embeddings, const Variable& t, double delta_v, double delta_d, int max_embedding_dim,
             const ClusteringLossOptions& options) {
            // in Chainer, pixels with labels above max_embedding_dim belong to no instance
            const Variable known =
                t.defined() ? Variable(catenary::maximum(t.array(), 0) * (t.array() <= max_embedding_dim), false) : t;
            return discriminative_margin_based_clustering_loss(embeddings, known, delta_v, delta_d, max_embedding_dim,
                                                               options);
          },
          "embeddings", labels("labels"), "delta_v", "delta_d", "max_embedding_dim", options("...")),
  };
  return all;
}

}  // namespace catenary::functions
