// Rows of layers whose arguments or warnings are Python's own: noise of NumPy's generator, lists of layers.

#include "catenary/array/elementwise.h"
#include "catenary/array/random.h"
#include "catenary/core/config.h"
#include "catenary/functions/functions.h"
#include "rows.h"

namespace catenary_python {

namespace {

namespace F = ct::functions;

Variable batch_normalization(Floats x, Floats gamma, Floats beta, const F::BatchNormalizationOptions& options) {
  if (!of_one_dtype(gamma.v, beta.v) || !of_one_dtype(x.v, gamma.v)) return {};
  if (x.v.size() <= gamma.v.size()) {
    if (PyErr_WarnEx(PyExc_UserWarning, "batch_normalization: the batch has one element, so the results are beta", 1) !=
        0)
      raise_set();
  }
  return F::batch_normalization(x.v, gamma.v, beta.v, options);
}

/// Seeds the library's generator from NumPy's, which users seed, and restores its state at the end.
class NumpysSeed {
 public:
  NumpysSeed() {
    const nb::object randint = nb::object(numpy().attr("random")).attr("randint");
    ct::random::seed(nb::cast<std::uint64_t>(nb::int_(randint(std::int64_t(1) << 31))));
  }
  ~NumpysSeed() { ct::random::set_state(before_); }
  NumpysSeed(const NumpysSeed&) = delete;
  NumpysSeed& operator=(const NumpysSeed&) = delete;

 private:
  const ct::random::Generator before_ = ct::random::get_state();
};

/// Are the arguments of an n_step function of one kind?
bool is_taken(std::initializer_list<const Variable*> states, const F::LayerParameters& ws, const F::LayerParameters& bs,
              const std::vector<Variable>& xs) {
  if (!of_one_kind(xs)) return false;
  for (const Variable* h : states)
    if (!of_one_dtype(*h, xs[0])) return false;
  for (const F::LayerParameters* all : {&ws, &bs})
    for (const std::vector<Variable>& layer : *all)
      for (const Variable& v : layer)
        if (!of_one_dtype(v, xs[0])) return false;
  return true;
}
ct::Variables flat(F::NStepResult&& result) {
  ct::Variables all(std::move(result.hy));
  if (result.cy.defined()) all.push_back(std::move(result.cy));
  for (Variable& y : result.ys) all.push_back(std::move(y));
  return all;
}
/// Calls an n_step function. Its noise comes from a generator that NumPy's seeds.
template <auto f, class... Arguments>
ct::Variables n_step(int n_layers, double dropout_ratio, const Arguments&... arguments) {
  std::optional<NumpysSeed> seed;
  if (dropout_ratio != 0 && ct::config.train) seed.emplace();
  return flat(f(n_layers, dropout_ratio, arguments...));
}
template <auto f>
ct::Variables n_step_lstm(int n_layers, double dropout_ratio, Floats hx, Floats cx, F::LayerParameters ws,
                          F::LayerParameters bs, std::vector<Variable> xs) {
  if (!is_taken({&hx.v, &cx.v}, ws, bs, xs)) return {};
  return n_step<f>(n_layers, dropout_ratio, hx.v, cx.v, ws, bs, xs);
}
template <auto f>
ct::Variables n_step_gru(int n_layers, double dropout_ratio, Floats hx, F::LayerParameters ws, F::LayerParameters bs,
                         std::vector<Variable> xs) {
  if (!is_taken({&hx.v}, ws, bs, xs)) return {};
  return n_step<f>(n_layers, dropout_ratio, hx.v, ws, bs, xs);
}
template <auto f>
ct::Variables n_step_rnn(int n_layers, double dropout_ratio, Floats hx, F::LayerParameters ws, F::LayerParameters bs,
                         std::vector<Variable> xs, std::optional<F::RnnActivation> activation) {
  if (!is_taken({&hx.v}, ws, bs, xs)) return {};
  return n_step<f>(n_layers, dropout_ratio, hx.v, ws, bs, xs, activation.value_or(F::RnnActivation::tanh));
}

Variable dropout(Floats x, std::optional<double> ratio) {
  const double p = ratio.value_or(0.5);
  if (!ct::config.train) return x.v;
  if (x.v.device() != ct::Device() || !(p >= 0 && p < 1)) return {};
  const std::optional<Array> noise = drawn("random_sample", x.v.shape());
  if (!noise) return {};
  return F::dropout(x.v, p, {.mask = (*noise >= p).astype(x.v.dtype()) * (1 / (1 - p))});
}
Variable gaussian(Floats mean, Floats ln_var) {
  if (mean.v.device() != ct::Device() || !of_one_dtype(mean.v, ln_var.v)) return {};
  const std::optional<Array> noise = drawn("standard_normal", ln_var.v.shape());
  return noise ? F::gaussian(mean.v, ln_var.v, {.eps = noise->astype(mean.v.dtype())}) : Variable();
}
ct::Variables rrelu(Floats x, std::optional<double> l, std::optional<double> u, std::optional<Any> r,
                    std::optional<bool> return_r) {
  const double low = l.value_or(1.0 / 8), high = u.value_or(1.0 / 3);
  const bool is_drawn = !r && ct::config.train;
  if (x.v.device() != ct::Device() && is_drawn) return {};
  if (!(0 <= low && low < high && high < 1)) return {};
  F::RReLUOptions options;
  if (r) {
    if (!of_one_dtype(r->v, x.v) || return_r.value_or(false)) return {};  // Chainer returns its argument
    options.r = r->v.array();
  } else if (ct::config.train) {
    const std::optional<Array> slopes = drawn("uniform", x.v.shape(), low, high);
    if (!slopes) return {};
    options.r = slopes->astype(x.v.dtype());
  }
  Array used;
  options.return_r = &used;
  ct::Variables ys(F::rrelu(x.v, low, high, options));
  if (return_r.value_or(false)) ys.push_back(Variable(used, false));
  return ys;
}
Variable gumbel_softmax(Floats log_pi, std::optional<double> tau, std::optional<int> axis) {
  const Variable& x = log_pi.v;
  if (x.device() != ct::Device() || x.ndim() == 0) return {};
  const std::optional<Array> noise = drawn("gumbel", x.shape(), 0.0, 1.0);
  return noise ? F::softmax((x + noise->astype(x.dtype())) / tau.value_or(0.1), axis.value_or(1)) : Variable();
}
Variable zoneout(Floats h, Floats x, std::optional<double> ratio) {
  if (!ct::config.train && of_one_dtype(h.v, x.v)) return x.v;
  if (!ct::config.train || x.v.device() != ct::Device() || !of_one_dtype(h.v, x.v) || h.v.shape() != x.v.shape() ||
      x.v.ndim() == 0)
    return {};
  const nb::object sizes = nb::steal(tuple_of(x.v.shape()));
  const nb::object rand = nb::object(numpy().attr("random")).attr("rand");
  const std::optional<Array> noise = unshared(checked(PyObject_CallObject(rand.ptr(), sizes.ptr())));
  return noise ? F::where(Variable(*noise >= ratio.value_or(0.5), false), x.v, h.v) : Variable();
}

constexpr Row table[] = {
    {"chainer.functions.normalization.batch_normalization.batch_normalization", {}, 0, call<batch_normalization>},
    {"chainer.functions.noise.dropout.dropout", {"x", "ratio"}, 1, call<dropout>},
    {"chainer.functions.noise.gaussian.gaussian", {"mean", "ln_var"}, 2, call<gaussian>},
    {"chainer.functions.activation.rrelu.rrelu",
     {"x", "l", "u", "=r", "=return_r"},
     1,
     call<rrelu>,
     Gives::one_and_array},
    {"chainer.functions.noise.gumbel_softmax.gumbel_softmax", {"log_pi", "tau", "axis"}, 1, call<gumbel_softmax>},
    {"chainer.functions.noise.zoneout.zoneout", {"h", "x", "ratio"}, 2, call<zoneout>},
    {"chainer.functions.rnn.n_step_lstm.n_step_lstm",
     {"n_layers", "dropout_ratio", "hx", "cx", "ws", "bs", "xs"},
     7,
     call<n_step_lstm<F::n_step_lstm>>,
     Gives::two_and_rest},
    {"chainer.functions.rnn.n_step_gru.n_step_gru",
     {"n_layers", "dropout_ratio", "hx", "ws", "bs", "xs"},
     6,
     call<n_step_gru<F::n_step_gru>>,
     Gives::one_and_rest},
    {"chainer.functions.rnn.n_step_rnn.n_step_rnn",
     {"n_layers", "dropout_ratio", "hx", "ws", "bs", "xs", "activation"},
     6,
     call<n_step_rnn<F::n_step_rnn>>,
     Gives::one_and_rest},
    {"chainer.functions.rnn.n_step_lstm.n_step_bilstm",
     {"n_layers", "dropout_ratio", "hx", "cx", "ws", "bs", "xs"},
     7,
     call<n_step_lstm<F::n_step_bilstm>>,
     Gives::two_and_rest},
    {"chainer.functions.rnn.n_step_gru.n_step_bigru",
     {"n_layers", "dropout_ratio", "hx", "ws", "bs", "xs"},
     6,
     call<n_step_gru<F::n_step_bigru>>,
     Gives::one_and_rest},
    {"chainer.functions.rnn.n_step_rnn.n_step_birnn",
     {"n_layers", "dropout_ratio", "hx", "ws", "bs", "xs", "activation"},
     6,
     call<n_step_rnn<F::n_step_birnn>>,
     Gives::one_and_rest},
};

}  // namespace

std::span<const Row> rows_of_layers() { return table; }

}  // namespace catenary_python
