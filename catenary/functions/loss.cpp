#include "catenary/functions/loss.h"

#include <algorithm>

#include "catenary/array/axes.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/reduction.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/in_float32.h"
#include "catenary/functions/labels.h"
#include "catenary/functions/masked.h"
#include "catenary/functions/rows.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

class SoftmaxCrossEntropy : public FunctionNode {
 public:
  explicit SoftmaxCrossEntropy(const SoftmaxCrossEntropyOptions& options) : options_(options) {}
  const char* name() const override { return "SoftmaxCrossEntropy"; }
  CT_ATTRIBUTES(options_)

 protected:
  Arrays forward(Inputs in) override {
    const Array &x = in[0], &t = in[1];
    check(x, t);
    retain_inputs({0});
    const Dtype wide = promote(x.dtype(), Dtype::float32);
    Array losses = losses_of(x, {"softmax_cross_entropy", "t", t, x.shape(1), options_.ignore_label}, wide);
    if (options_.class_weight.defined()) {
      weight_ = catenary::take(options_.class_weight.to_device(x.device()).astype(wide), labels_);
      losses = losses * weight_;
    }
    losses = detail::only_where(counted_, losses);
    if (options_.reduce == Reduce::no) return as_dtype(losses.reshape(t.shape()), x.dtype());
    // divide on the device, so that the host does not wait for the count
    const Array total = std::move(losses).sum();
    if (options_.normalize) {
      scale_ = 1.0 / catenary::maximum(counted_.sum().astype(wide), 1.0);
    } else {
      scale_ = full({}, 1.0 / static_cast<double>(std::max<std::int64_t>(x.shape(0), 1)), wide);
    }
    return as_dtype(total * scale_, x.dtype());
  }

  Variables backward(Targets targets, Grads gys) override {
    if (!config.enable_backprop && marked_.defined())
      return gradients(targets, [&](int i) { return i == 0 ? Variable(of_rows(gys[0].array()), false) : Variable(); });
    const Shape& shape = input_shape(0);
    Shape column = Shape::filled(static_cast<int>(shape.size()) - 1, 1);
    column[0] = shape[1];
    // exclude the scores of ignored examples from second derivatives, too
    const Variable given = cast(retained_input(0), log_z_.dtype());
    const Variable x = config.enable_backprop ? detail::only_where(counted_, given) : given;
    Variable gy = options_.reduce == Reduce::no ? reshape(gys[0], log_z_.shape()) : gys[0];
    if (weight_.defined()) gy = gy * weight_;
    if (scale_.defined()) gy = gy * scale_;
    // compute the class numbers first, so that the remaining operations have x's shape and form one kernel
    const Array classes = catenary::detail::iota(shape[1], labels_.device()).reshape(column);
    const Array one_hot = labels_ == classes;
    const Variable y = config.enable_backprop ? softmax(x) : Variable(catenary::exp(x.array() - log_z_), false);
    const Variable gx = detail::only_where(counted_, (y - one_hot.astype(x.dtype())) * gy);
    return gradients(targets, [&](int i) { return i == 0 ? cast(gx, input_dtype(0)) : Variable(); });
  }

 private:
  void check(const Array& x, const Array& t) const {
    if (!is_floating(x.dtype())) fail<DtypeError>("softmax_cross_entropy: x must be floating, not {}", x.dtype());
    detail::check_integers("softmax_cross_entropy", "t", t);
    Shape labels = x.shape();
    if (x.ndim() >= 2) labels.erase(1);
    if (x.ndim() < 2 || t.shape() != labels)
      fail<ShapeError>("softmax_cross_entropy: x must be (n, classes, d…) and t (n, d…), not {} and {}", x.shape(),
                       t.shape());
    const Array& w = options_.class_weight;
    if (w.defined() && w.shape() != Shape{x.shape(1)})
      fail<ShapeError>("softmax_cross_entropy: class_weight must be ({},), not {}", x.shape(1), w.shape());
    if (w.defined() && !is_floating(w.dtype()))
      fail<DtypeError>("softmax_cross_entropy: class_weight must be floating, not {}", w.dtype());
  }
  /// Computes log_z_ and the losses of examples before weights, and finds the labels. 16-bit scores are computed in
  /// float32, because close numbers are subtracted.
  Array losses_of(const Array& x, const detail::Labels& labels, Dtype wide) {
    counted_ = expand(labels.counted());
    if (detail::has_softmax_rows(x, 1)) {
      labels_ = labels.pick([](const Array& classes) { return expand(classes); });
      marked_ = catenary::where(counted_, labels_, -1);
      const detail::CrossEntropyRows rows = detail::cross_entropy_rows(x, marked_);
      log_z_ = rows.log_z;
      return rows.losses;
    }
    const Array largest = as_dtype(x.max(1, true), wide);
    log_z_ = largest + catenary::log(catenary::exp(as_dtype(x, wide) - largest).sum(1, true));
    const Array of_label = labels.pick([&](const Array& classes) {
      labels_ = expand(classes);
      return catenary::take_along_axis(x, labels_, 1);
    });
    return log_z_ - as_dtype(of_label, wide);
  }
  /// Returns the gradient of x by functions of rows.
  Array of_rows(const Array& gy) const {
    Array factors = as_dtype(options_.reduce == Reduce::no ? gy.reshape(log_z_.shape()) : gy, log_z_.dtype());
    if (weight_.defined()) factors = factors * weight_;
    if (scale_.defined()) factors = factors * scale_;
    return detail::cross_entropy_rows_back(input(0).data(), marked_, log_z_, factors);
  }
  /// Reshapes [n, d…] to [n, 1, d…].
  static Array expand(const Array& t) {
    Shape shape = t.shape();
    shape.insert(1, 1);
    return t.reshape(shape);
  }

  SoftmaxCrossEntropyOptions options_;
  Array log_z_;    // log(sum(exp(x))), [n, 1, d…]
  Array labels_;   // t as int64, 0 where ignored, [n, 1, d…]
  Array marked_;   // the same, but -1 where ignored; undefined without functions of rows
  Array counted_;  // where labels are not ignored, [n, 1, d…]
  Array weight_;   // weight of the label's class, [n, 1, d…], or undefined
  Array scale_;    // 0-d, or undefined
};

/// Cross entropy with probabilities t, which are constants.
Variable soft_cross_entropy(const Variable& x, const Array& t, const SoftmaxCrossEntropyOptions& options) {
  if (const auto narrow = detail::in_float32([&](const Variable& a) { return soft_cross_entropy(a, t, options); }, x))
    return *narrow;
  Variable losses = sum(log_softmax(x) * t, 1) * -1.0;
  if (options.kl_divergence) losses = losses + (t * catenary::log(t + 1e-7)).sum(1);
  if (options.reduce == Reduce::no) return losses;
  return sum(losses) / static_cast<double>(std::max<std::int64_t>(losses.size(), 1));
}

}  // namespace

Variable softmax_cross_entropy(const Variable& x, const Variable& t, const SoftmaxCrossEntropyOptions& options) {
  CT_DEFINED(x, t);
  if (x.shape() == t.shape() && is_floating(t.dtype())) return soft_cross_entropy(x, t.array(), options);
  return apply(node<SoftmaxCrossEntropy>(options), x, t);
}

std::span<const Signature> detail::loss_signatures() {
  static const Signature all[] = {
      refusing_labels(signature_of(
          "chainer.functions.loss.softmax_cross_entropy.softmax_cross_entropy",
          [](const Variable& x, const Variable& t, bool normalize, bool cache_score,
             const std::optional<Array>& class_weight, std::int64_t ignore_label, Reduce reduce, bool,
             const std::string& soft_target_loss) {
            const bool is_divergence = soft_target_loss == "kl-divergence";
            if (!is_divergence && soft_target_loss != "cross-entropy") return Variable();
            return softmax_cross_entropy(
                x, t, {normalize, ignore_label, class_weight.value_or(Array()), reduce, is_divergence, cache_score});
          },
          "x", values("t"), otherwise("normalize", true), otherwise("cache_score", true),
          otherwise("class_weight", std::nullopt), otherwise("ignore_label", -1), otherwise("reduce", Reduce::mean),
          otherwise("enable_double_backprop", false), otherwise("soft_target_loss", "cross-entropy"))),
  };
  return all;
}

}  // namespace catenary::functions
