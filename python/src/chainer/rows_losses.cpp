// Chainer's losses and evaluation functions that the library implements.

#include <algorithm>

#include "catenary/functions/functions.h"
#include "rows.h"

namespace catenary_python {

namespace {

namespace F = ct::functions;

/// Weights of classes: an array of floats. Chainer rejects a variable.
struct Weights {
  Array a;
};
bool read(PyObject* o, Weights& to) { return !is_variable(o) && array_over(o, to.a) && ct::is_floating(to.a.dtype()); }

/// Returns the reduction of a loss, by default the first that Chainer accepts, or nothing for an unknown one.
std::optional<F::Reduce> reduction(const std::optional<F::Reduce>& given, std::initializer_list<F::Reduce> taken) {
  const F::Reduce by = given.value_or(*taken.begin());
  return std::find(taken.begin(), taken.end(), by) != taken.end() ? std::optional(by) : std::nullopt;
}
Variable softmax_cross_entropy(Floats x, Any t, std::optional<bool> normalize, std::optional<bool> cache_score,
                               std::optional<Weights> class_weight, std::optional<std::int64_t> ignore_label,
                               std::optional<F::Reduce> reduce, std::optional<bool>,
                               std::optional<std::string> soft_target_loss) {
  const auto by = reduction(reduce, {F::Reduce::mean, F::Reduce::no});
  const std::string soft = soft_target_loss.value_or("cross-entropy");
  const bool is_soft = ct::is_floating(t.v.dtype()), is_divergence = soft == "kl-divergence";
  if (!by || (class_weight && class_weight->a.device() != x.v.device()) || x.v.device() != t.v.device()) return {};
  if (chainer_is_own ? (soft != "cross-entropy" && !is_divergence) || (is_soft && x.v.shape() != t.v.shape())
                     : is_soft || soft != "cross-entropy" || !cache_score.value_or(true))
    return {};
  return F::softmax_cross_entropy(x.v, t.v,
                                  {.normalize = normalize.value_or(true),
                                   .ignore_label = ignore_label.value_or(-1),
                                   .class_weight = class_weight ? class_weight->a : Array(),
                                   .reduce = *by,
                                   .kl_divergence = is_divergence});
}
Variable accuracy(Floats y, Any t, std::optional<std::int64_t> ignore_label) {
  if (!are_labels(t, y)) return {};
  return F::accuracy(y.v, t.v, ignore_label);
}
Variable mean_squared_error(Floats x0, Floats x1) {
  return of_one_dtype(x0.v, x1.v) ? F::mean_squared_error(x0.v, x1.v) : Variable();
}

Variable sigmoid_cross_entropy(Floats x, Any t, std::optional<bool> normalize, std::optional<F::Reduce> reduce) {
  const auto by = reduction(reduce, {F::Reduce::mean, F::Reduce::no});
  if (!by || !are_labels(t, x)) return {};
  return F::sigmoid_cross_entropy(x.v, t.v, normalize.value_or(true), *by);
}
template <Variable (*f)(const Variable&, const Variable&, F::Reduce)>
Variable likelihood(Floats a, Floats b, std::optional<F::Reduce> reduce) {
  const auto by = reduction(reduce, {F::Reduce::sum, F::Reduce::mean, F::Reduce::no});
  return by && of_one_dtype(a.v, b.v) ? f(a.v, b.v, *by) : Variable();
}
Variable gaussian_nll(Floats x, Floats mean, Floats ln_var, std::optional<F::Reduce> reduce) {
  const auto by = reduction(reduce, {F::Reduce::sum, F::Reduce::mean, F::Reduce::no});
  return by && of_one_dtype({&x.v, &mean.v, &ln_var.v}) ? F::gaussian_nll(x.v, mean.v, ln_var.v, *by) : Variable();
}
Variable hinge(Floats x, Any t, std::optional<F::HingeNorm> norm, std::optional<F::Reduce> reduce) {
  const auto by = reduction(reduce, {F::Reduce::mean, F::Reduce::no});
  return by && are_labels(t, x) ? F::hinge(x.v, t.v, norm.value_or(F::HingeNorm::L1), *by) : Variable();
}
Variable huber_loss(Floats x, Floats t, double delta, std::optional<F::Reduce> reduce) {
  const auto by = reduction(reduce, {F::Reduce::sum_along_second_axis, F::Reduce::no});
  return by && of_one_dtype(x.v, t.v) ? F::huber_loss(x.v, t.v, delta, *by) : Variable();
}
Variable contrastive(Floats x0, Floats x1, Any y, std::optional<double> margin, std::optional<F::Reduce> reduce) {
  const auto by = reduction(reduce, {F::Reduce::mean, F::Reduce::no});
  if (!by || !of_one_dtype(x0.v, x1.v) || !are_labels(y, x0)) return {};
  return F::contrastive(x0.v, x1.v, y.v, margin.value_or(1), *by);
}
Variable triplet(Floats anchor, Floats positive, Floats negative, std::optional<double> margin,
                 std::optional<F::Reduce> reduce) {
  const auto by = reduction(reduce, {F::Reduce::mean, F::Reduce::no});
  if (!by || !of_one_dtype({&anchor.v, &positive.v, &negative.v})) return {};
  return F::triplet(anchor.v, positive.v, negative.v, margin.value_or(0.2), *by);
}
Variable cross_covariance(Floats y, Floats z, std::optional<F::Reduce> reduce) {
  const auto by = reduction(reduce, {F::Reduce::half_squared_sum, F::Reduce::no});
  return by && of_one_dtype(y.v, z.v) ? F::cross_covariance(y.v, z.v, *by) : Variable();
}
Variable decov(Floats h, std::optional<F::Reduce> reduce) {
  const auto by = reduction(reduce, {F::Reduce::half_squared_sum, F::Reduce::no});
  return by ? F::decov(h.v, *by) : Variable();
}
Variable black_out(Floats x, Any t, Floats W, Any samples, std::optional<F::Reduce> reduce) {
  const auto by = reduction(reduce, {F::Reduce::mean, F::Reduce::no});
  if (!by || !of_one_dtype(x.v, W.v) || !are_labels(t, x) || !are_labels(samples, x)) return {};
  return F::black_out(x.v, t.v, W.v, samples.v, *by);
}
Variable ctc(std::vector<Variable> x, Any t, std::int64_t blank_symbol, const F::CtcOptions& options) {
  if (!reduction(options.reduce, {F::Reduce::mean, F::Reduce::no}) || !of_one_kind(x) || !are_labels(t, {x[0]}) ||
      blank_symbol < 0)
    return {};
  return F::connectionist_temporal_classification(x, t.v, blank_symbol, options);
}
Variable crf1d(Floats cost, std::vector<Variable> xs, std::vector<Any> ys, std::optional<F::Reduce> reduce) {
  const auto by = reduction(reduce, {F::Reduce::mean, F::Reduce::no});
  if (!by || !of_one_kind(xs) || !of_one_dtype(cost.v, xs[0])) return {};
  std::vector<Variable> labels;
  for (const Any& y : ys) {
    if (!are_labels(y, cost)) return {};
    labels.push_back(y.v);
  }
  return F::crf1d(cost.v, xs, labels, *by);
}

ct::Variables argmax_crf1d(Floats cost, std::vector<Variable> xs) {
  if (!of_one_kind(xs) || !of_one_dtype(cost.v, xs[0])) return {};
  auto [score, path] = F::argmax_crf1d(cost.v, xs);
  ct::Variables all(std::move(score));
  for (const Array& labels : path) all.push_back(Variable(labels.astype(Dtype::int32), false));
  return all;
}
/// The samples that Python's function draws.
struct Draws {
  nb::object f;
};
bool read(PyObject* o, Draws& to) {
  to.f = nb::borrow(o);
  return PyCallable_Check(o) != 0;
}
ct::Variables negative_sampling(Floats x, Any t, Floats W, Draws sampler, std::int64_t sample_size,
                                std::optional<F::Reduce> reduce, std::optional<bool> return_samples) {
  const auto by = reduction(reduce, {F::Reduce::sum, F::Reduce::no});
  if (!by || !of_one_dtype(x.v, W.v) || !are_labels(t, x) || t.v.dtype() != Dtype::int32 || x.v.ndim() != 2 ||
      t.v.ndim() != 1 || W.v.ndim() != 2 || t.v.shape(0) != x.v.shape(0) || x.v.shape(1) != W.v.shape(1))
    return {};
  const auto draw = [&](const Shape& shape) {
    Array a;
    const nb::object drawn = sampler.f(nb::steal(tuple_of(shape)));
    if (!array_over(drawn.ptr(), a)) throw ct::DtypeError("negative_sampling: the sampler must return an array");
    return a;
  };
  Array samples;
  ct::Variables all(F::negative_sampling(x.v, t.v, W.v, draw, sample_size, *by, &samples));
  if (return_samples.value_or(false)) all.push_back(Variable(samples, false));
  return all;
}
ct::Variables clustering(Floats embeddings, Any labels, double delta_v, double delta_d, int max_embedding_dim,
                         const F::ClusteringLossOptions& options) {
  // for a single embedding, Chainer's distance loss is a number
  if (max_embedding_dim < 2 || !are_labels(labels, embeddings)) return {};
  auto losses = F::discriminative_margin_based_clustering_loss(embeddings.v, labels.v, delta_v, delta_d,
                                                               max_embedding_dim, options);
  ct::Variables all(std::move(losses[0]));
  for (Variable* loss : {&losses[1], &losses[2]}) all.push_back(std::move(*loss));
  return all;
}

ct::Variables classification_summary(Floats y, Any t, std::optional<std::int64_t> label_num, std::optional<double> beta,
                                     std::optional<std::int64_t> ignore_label) {
  if (!are_labels(t, y)) return {};
  F::ClassificationSummary all =
      F::classification_summary(y.v, t.v, label_num, beta.value_or(1), ignore_label.value_or(-1));
  ct::Variables list(std::move(all.precision));
  for (Variable* v : {&all.recall, &all.fbeta, &all.support}) list.push_back(std::move(*v));
  return list;
}
template <std::pair<Variable, Variable> (*f)(const Variable&, const Variable&, std::optional<std::int64_t>,
                                             std::int64_t)>
ct::Variables of_classes(Floats y, Any t, std::optional<std::int64_t> label_num,
                         std::optional<std::int64_t> ignore_label) {
  return are_labels(t, y) ? results(f(y.v, t.v, label_num, ignore_label.value_or(-1))) : ct::Variables();
}
Variable binary_accuracy(Floats y, Any t) { return are_labels(t, y) ? F::binary_accuracy(y.v, t.v) : Variable(); }
Variable r2_score(Floats pred, Floats truth, std::optional<Any> sample_weight,
                  std::optional<F::Multioutput> multioutput) {
  if (sample_weight || !of_one_dtype(pred.v, truth.v)) return {};
  return F::r2_score(pred.v, truth.v, multioutput.value_or(F::Multioutput::uniform_average));
}

constexpr Row table[] = {
    {"chainer.functions.evaluation.accuracy.accuracy", {"y", "t", "ignore_label"}, 2, call<accuracy>},
    {"chainer.functions.loss.mean_squared_error.mean_squared_error", {"x0", "x1"}, 2, call<mean_squared_error>},
    {"chainer.functions.loss.softmax_cross_entropy.softmax_cross_entropy",
     {"x", "t", "normalize", "cache_score", "class_weight", "ignore_label", "reduce", "enable_double_backprop",
      "soft_target_loss"},
     2,
     call<softmax_cross_entropy>},
    {"chainer.functions.loss.mean_absolute_error.mean_absolute_error",
     {"x0", "x1"},
     2,
     call<of_two<F::mean_absolute_error>>},
    {"chainer.functions.loss.squared_error.squared_error", {"x0", "x1"}, 2, call<of_two<F::squared_error>>},
    {"chainer.functions.loss.absolute_error.absolute_error", {"x0", "x1"}, 2, call<of_two<F::absolute_error>>},
    {"chainer.functions.loss.sigmoid_cross_entropy.sigmoid_cross_entropy",
     {"x", "t", "normalize", "reduce"},
     2,
     call<sigmoid_cross_entropy>},
    {"chainer.functions.loss.vae.bernoulli_nll", {"x", "y", "reduce"}, 2, call<likelihood<F::bernoulli_nll>>},
    {"chainer.functions.loss.vae.gaussian_kl_divergence",
     {"mean", "ln_var", "reduce"},
     2,
     call<likelihood<F::gaussian_kl_divergence>>},
    {"chainer.functions.loss.vae.gaussian_nll", {"x", "mean", "ln_var", "reduce"}, 3, call<gaussian_nll>},
    {"chainer.functions.loss.squared_error.squared_difference", {"x1", "x2"}, 2, call<of_two<F::squared_error>>},
    {"chainer.functions.loss.hinge.hinge", {"x", "t", "norm", "reduce"}, 2, call<hinge>},
    {"chainer.functions.loss.huber_loss.huber_loss", {"x", "t", "delta", "reduce"}, 3, call<huber_loss>},
    {"chainer.functions.loss.contrastive.contrastive", {"x0", "x1", "y", "margin", "reduce"}, 3, call<contrastive>},
    {"chainer.functions.loss.triplet.triplet",
     {"anchor", "positive", "negative", "margin", "reduce"},
     3,
     call<triplet>},
    {"chainer.functions.loss.cross_covariance.cross_covariance", {"y", "z", "reduce"}, 2, call<cross_covariance>},
    {"chainer.functions.loss.decov.decov", {"h", "reduce"}, 1, call<decov>},
    {"chainer.functions.loss.black_out.black_out", {"x", "t", "W", "samples", "reduce"}, 4, call<black_out>},
    {"chainer.functions.loss.ctc.connectionist_temporal_classification",
     {"x", "t", "blank_symbol", "..."},
     3,
     call<ctc>},
    {"chainer.functions.loss.crf1d.crf1d", {"cost", "xs", "ys", "reduce"}, 3, call<crf1d>},
    {"chainer.functions.loss.crf1d.argmax_crf1d", {"cost", "xs"}, 2, call<argmax_crf1d>, Gives::one_and_arrays},
    {"chainer.functions.loss.negative_sampling.negative_sampling",
     {"x", "t", "W", "sampler", "sample_size", "reduce", "=return_samples"},
     5,
     call<negative_sampling>,
     Gives::one_and_array},
    {"chainer.functions.loss.discriminative_loss.discriminative_margin_based_clustering_loss",
     {"embeddings", "labels", "delta_v", "delta_d", "max_embedding_dim", "..."},
     5,
     call<clustering>,
     Gives::all},
    {"chainer.functions.evaluation.binary_accuracy.binary_accuracy", {"y", "t"}, 2, call<binary_accuracy>},
    {"chainer.functions.evaluation.classification_summary.classification_summary",
     {"y", "t", "label_num", "beta", "ignore_label"},
     2,
     call<classification_summary>,
     Gives::all},
    {"chainer.functions.evaluation.classification_summary.precision",
     {"y", "t", "label_num", "ignore_label"},
     2,
     call<of_classes<F::precision>>,
     Gives::all},
    {"chainer.functions.evaluation.classification_summary.recall",
     {"y", "t", "label_num", "ignore_label"},
     2,
     call<of_classes<F::recall>>,
     Gives::all},
    {"chainer.functions.evaluation.classification_summary.f1_score",
     {"y", "t", "label_num", "ignore_label"},
     2,
     call<of_classes<F::f1_score>>,
     Gives::all},
    {"chainer.functions.evaluation.r2_score.r2_score",
     {"pred", "true", "sample_weight", "multioutput"},
     2,
     call<r2_score>},
};

}  // namespace

std::span<const Row> rows_of_losses() { return table; }

}  // namespace catenary_python
