// Losses of functions/loss.h for large vocabularies and for sequences of labels.

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/defined.h"
#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/array.h"
#include "catenary/functions/labels.h"
#include "catenary/functions/masked.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/math_reduction.h"
#include "catenary/functions/reduce.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

void check_words(const Variable& x, const Variable& t, const Variable& W, const char* what) {
  if (x.dtype() != W.dtype() || !is_floating(x.dtype()))
    fail<DtypeError>("{}: x and W must have equal floating dtypes, not {} and {}", what, x.dtype(), W.dtype());
  detail::check_integers(what, "t", t.array());
  if (x.ndim() != 2 || W.ndim() != 2 || x.shape(1) != W.shape(1) || t.shape() != Shape{x.shape(0)})
    fail<ShapeError>("{}: x must be (n, d), t (n,) and W (classes, d), not {}, {} and {}", what, x.shape(), t.shape(),
                     W.shape());
}

/// x · W[c] for each class c in an example's classes [n, k].
Variable scores(const Variable& x, const Variable& W, const Array& classes) {
  const std::int64_t n = x.shape(0), k = classes.shape(1);
  return reshape(matmul(get_item(W, {classes}), expand_dims(x, 2)), {n, k});
}

void check_chain(const Variable& cost, const std::vector<Variable>& xs, const char* what) {
  if (xs.empty()) fail<ValueError>("{}: there is no time", what);
  const std::int64_t labels = cost.ndim() == 2 ? cost.shape(0) : -1;
  if (cost.shape() != Shape{labels, labels})
    fail<ShapeError>("{}: cost must be (labels, labels), not {}", what, cost.shape());
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (xs[i].ndim() != 2 || xs[i].shape(1) != labels)
      fail<ShapeError>("{}: xs[{}] must be (n, {}), not {}", what, i, labels, xs[i].shape());
    if (i > 0 && xs[i].shape(0) > xs[i - 1].shape(0))
      fail<ShapeError>("{}: xs[{}] has more sequences ({}) than the one before it ({})", what, i, xs[i].shape(0),
                       xs[i - 1].shape(0));
  }
}

/// Values of unfinished sequences. Values of finished sequences are put aside and joined at the end.
class Running {
 public:
  explicit Running(const Variable& first) : value(first) {}
  /// Keeps only the first n sequences.
  void shorten(std::int64_t n) {
    if (n == value.shape(0)) return;
    const Variables parts = split_axis(value, {n}, 0);
    value = parts[0];
    ended_.insert(ended_.begin(), parts[1]);
  }
  Variable joined() const {
    if (ended_.empty()) return value;
    std::vector<Variable> all = {value};
    all.insert(all.end(), ended_.begin(), ended_.end());
    return concat(all, 0);
  }
  Variable value;

 private:
  std::vector<Variable> ended_;
};

/// Scores [n, from, to] of transitions from labels with scores alpha [n, from].
Variable transitions(const Variable& alpha, const Variable& cost) { return expand_dims(alpha, 2) + cost; }

}  // namespace

Variable negative_sampling(const Variable& x, const Variable& t, const Variable& W, const Sampler& sampler,
                           std::int64_t sample_size, Reduce reduce, Array* return_samples) {
  CT_DEFINED(x, t, W);
  detail::check_reduce(reduce, Reduce::sum, Reduce::no, "negative_sampling");
  check_words(x, t, W, "negative_sampling");
  const Shape shape = {x.shape(0), sample_size + 1};
  const Array samples = sampler(shape).copy();
  if (samples.shape() != shape)
    fail<ShapeError>("negative_sampling: the sampler must give {}, not {}", shape, samples.shape());
  samples.set(t.array(), slice(), 0);
  if (return_samples) *return_samples = samples;
  const std::int64_t words = W.shape(0);
  const detail::Labels labels{"negative_sampling", "t", t.array(), words, -1},
      drawn{"negative_sampling", "samples[:, 1:]", samples(slice(), slice(1, none)), words};
  const Dtype wide = promote(x.dtype(), Dtype::float32);  // like detail::in_float32, for the scores only
  // exclude ignored labels and their gradients
  const Array counted = labels.counted(), row = counted.reshape({shape[0], 1});
  const Variable rows = detail::only_where(row, x);
  const Variable score = labels.pick([&](const Array& own) {
    return drawn.pick([&](const Array& others) {
      const Array classes = catenary::concatenate({own.reshape({shape[0], 1}), others}, 1);
      return detail::only_where(row, cast(scores(rows, W, classes), wide));
    });
  });
  // the label's class wants a high score, the others a low one
  const Array sign = catenary::where(catenary::detail::iota(shape[1], x.device()) == 0, -1, 1).astype(wide);
  const Variable losses = detail::only_where(counted, sum(softplus(score * sign), 1));
  return cast(detail::reduce_elements(losses, reduce, "negative_sampling"), x.dtype());
}

Variable black_out(const Variable& x, const Variable& t, const Variable& W, const Variable& samples, Reduce reduce) {
  CT_DEFINED(x, t, W, samples);
  detail::check_reduce(reduce, Reduce::mean, Reduce::no, "black_out");
  check_words(x, t, W, "black_out");
  if (samples.ndim() != 2 || samples.shape(0) != x.shape(0))
    fail<ShapeError>("black_out: samples must be ({}, k), not {}", x.shape(0), samples.shape());
  const auto scores_of = [&](const char* name, const Array& classes) {
    return detail::Labels{"black_out", name, classes, W.shape(0)}.pick([&](const Array& at) {
      return scores(x, W, at.ndim() == 1 ? at.reshape({at.size(), 1}) : at);
    });
  };
  const Dtype wide = promote(x.dtype(), Dtype::float32);  // like detail::in_float32, for the scores only
  const Variable positive = cast(scores_of("t", t.array()), wide),
                 negative = cast(scores_of("samples", samples.array()), wide);
  const Variable log_z = expand_dims(logsumexp(concat({positive, negative}, 1), 1), 1);
  const Variable losses = -(flatten(positive - log_z) + sum(log(1.0 - exp(negative - log_z)), 1));
  return cast(detail::reduce_elements(losses, reduce, "black_out"), x.dtype());
}

Variable crf1d(const Variable& cost, const std::vector<Variable>& xs, const std::vector<Variable>& ys, Reduce reduce) {
  CT_DEFINED(cost, xs, ys);
  detail::check_reduce(reduce, Reduce::mean, Reduce::no, "crf1d");
  if (const Dtype given = cost.dtype(); is_16bit_float(given)) {
    std::vector<Variable> wide;
    for (const Variable& x : xs) wide.push_back(cast(x, Dtype::float32));
    return cast(crf1d(cast(cost, Dtype::float32), wide, ys, reduce), given);
  }
  check_chain(cost, xs, "crf1d");
  if (ys.size() != xs.size()) fail<ValueError>("crf1d: {} times of xs and {} of ys", xs.size(), ys.size());
  for (std::size_t i = 0; i < ys.size(); ++i)
    if (ys[i].shape() != Shape{xs[i].shape(0)})
      fail<ShapeError>("crf1d: ys[{}] must be ({},), not {}", i, xs[i].shape(0), ys[i].shape());
  // the scores of the labels at a time, with a check of the labels
  const auto item = [&](std::size_t i) {
    return detail::Labels{"crf1d", fmt::format("ys[{}]", i), ys[i].array(), cost.shape(0)}.pick(
        [&](const Array& now) { return select_item(xs[i], now); });
  };
  Running alpha(xs[0]), score(item(0));
  for (std::size_t i = 1; i < xs.size(); ++i) {
    const std::int64_t n = xs[i].shape(0);
    alpha.shorten(n);
    score.shorten(n);
    alpha.value = logsumexp(transitions(alpha.value, cost), 1) + xs[i];
    const Array now = ys[i].array(), before = ys[i - 1].array()(slice(n));
    const Variable here = item(i);  // first, because it checks the labels
    score.value = score.value + here + get_item(cost, {before, now});
  }
  return detail::reduce_elements(logsumexp(alpha.joined(), 1) - score.joined(), reduce, "crf1d");
}

std::pair<Variable, std::vector<Array>> argmax_crf1d(const Variable& cost, const std::vector<Variable>& xs) {
  CT_DEFINED(cost, xs);
  if (const Dtype given = cost.dtype(); is_16bit_float(given)) {
    std::vector<Variable> wide;
    for (const Variable& x : xs) wide.push_back(cast(x, Dtype::float32));
    const auto [score, path] = argmax_crf1d(cast(cost, Dtype::float32), wide);
    return {cast(score, given), path};
  }
  check_chain(cost, xs, "argmax_crf1d");
  Running alpha(xs[0]);
  std::vector<Array> best_before;      // for each time from the second on, the best previous label of each label
  std::vector<Array> last(xs.size());  // the best last labels of the sequences that end at that time
  for (std::size_t i = 1; i < xs.size(); ++i) {
    const std::int64_t n = xs[i].shape(0);
    last[i - 1] = alpha.value.array()(slice(n, none)).argmax(1);
    alpha.shorten(n);
    const Variable going_on = transitions(alpha.value, cost);
    best_before.push_back(going_on.array().argmax(1));
    alpha.value = max(going_on, 1) + xs[i];
  }
  std::vector<Array> path(xs.size());
  path.back() = alpha.value.array().argmax(1);
  for (std::size_t i = xs.size() - 1; i > 0; --i) {
    const Array& now = path[i];
    const Array before = best_before[i - 1].get({catenary::detail::iota(now.size(), now.device()), now});
    path[i - 1] = catenary::concatenate({before, last[i - 1]});
  }
  return {max(alpha.joined(), 1), path};
}

std::span<const Signature> detail::structured_loss_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("loss.black_out", black_out, "x", labels("t"), "W", labels("samples"), "reduce"),
      CT_SIGNATURE("loss.crf1d", crf1d, "cost", "xs", labels("ys"), "reduce"),
  };
  return all;
}

}  // namespace catenary::functions
