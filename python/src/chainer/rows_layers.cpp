// Chainer's functions of connections, noise, normalization, pooling and recurrence that the library implements.

#include "catenary/array/elementwise.h"
#include "catenary/array/random.h"
#include "catenary/core/config.h"
#include "catenary/functions/functions.h"
#include "rows.h"

namespace catenary_python {

namespace {

namespace F = ct::functions;

Variable linear(Floats x, Floats W, std::optional<Floats> b, std::optional<int> n_batch_axes) {
  if (!of_one_dtype(x.v, W.v) || (b && !of_one_dtype(x.v, b->v))) return {};
  if (chainer_is_own && n_batch_axes.value_or(1) < 1) throw ct::ValueError("linear: n_batch_axes must be at least 1");
  return b ? F::linear(x.v, W.v, b->v, n_batch_axes.value_or(1)) : F::linear(x.v, W.v, n_batch_axes.value_or(1));
}
template <class Options>
using Pooling = Variable (*)(const Variable&, const ct::PerAxis&, const Options&);
template <class Options, Pooling<Options> f>
Variable pooling(Floats x, ct::Dims ksize, const Options& options) {
  return f(x.v, ksize, options);
}
template <Pooling<F::MaxPoolingOptions> f>
ct::Variables max_pooling(Floats x, ct::Dims ksize, const F::MaxPoolingOptions& options,
                          std::optional<bool> return_indices) {
  if (!return_indices.value_or(false)) return results(f(x.v, ksize, options));
  if (!chainer_is_own) return {};
  F::MaxPoolingOptions with_indices = options;
  Array indices;
  with_indices.return_indices = &indices;
  ct::Variables all(f(x.v, ksize, with_indices));
  all.push_back(Variable(indices.astype(Dtype::int32), false));
  return all;
}
Variable embed_id(Any x, Floats W, std::optional<std::int64_t> ignore_label) {
  if (!are_labels(x, W)) return {};
  return F::embed_id(x.v, W.v, ignore_label);
}
template <class Options>
using WithBias = Variable (*)(const Variable&, const Variable&, const Variable&, const Options&);
template <class Options>
using NoBias = Variable (*)(const Variable&, const Variable&, const Options&);
/// A convolution of any kind.
template <class Options, WithBias<Options> with_bias, NoBias<Options> without_bias>
Variable windows(Floats x, Floats W, std::optional<Floats> b, const Options& options) {
  if (!of_one_dtype(x.v, W.v) || (b && !of_one_dtype(x.v, b->v))) return {};
  return b ? with_bias(x.v, W.v, b->v, options) : without_bias(x.v, W.v, options);
}
template <WithBias<F::ConvolutionOptions> with_bias, NoBias<F::ConvolutionOptions> without_bias>
constexpr auto convolution = windows<F::ConvolutionOptions, with_bias, without_bias>;
template <WithBias<F::DeconvolutionOptions> with_bias, NoBias<F::DeconvolutionOptions> without_bias>
constexpr auto deconvolution = windows<F::DeconvolutionOptions, with_bias, without_bias>;
/// L.Convolution2D asks whether to use cuDNN, which Chainer's own code rejects.
Variable convolution_2d(Floats x, Floats W, std::optional<Floats> b, const F::ConvolutionOptions& options,
                        std::optional<bool> cudnn_fast) {
  if (cudnn_fast.value_or(false)) return {};
  return convolution<F::convolution_2d, F::convolution_2d>(x, W, b, options);
}
Variable upsampling_2d(Floats x, Any indexes, ct::Dims ksize, const F::UnpoolingOptions& options) {
  return are_labels(indexes, x) ? F::upsampling_2d(x.v, indexes.v.array(), ksize, options) : Variable();
}
Variable spatial_pyramid_pooling_2d(Floats x, int pyramid_height, std::string pooling) {
  return pooling == "max" ? F::spatial_pyramid_pooling_2d(x.v, pyramid_height, pooling) : Variable();
}

Variable roi_pooling_2d(Floats x, Floats rois, std::int64_t outh, std::int64_t outw, double spatial_scale) {
  return of_one_dtype(x.v, rois.v) ? F::roi_pooling_2d(x.v, rois.v, outh, outw, spatial_scale) : Variable();
}
template <Variable (*f)(const Variable&, const Variable&, const Variable&, const ct::PerAxis&, double)>
Variable roi_pooling(Floats x, Floats rois, Any roi_indices, ct::Dims outsize, double spatial_scale) {
  if (!of_one_dtype(x.v, rois.v) || !are_labels(roi_indices, x)) return {};
  return f(x.v, rois.v, roi_indices.v, outsize, spatial_scale);
}
template <Variable (*f)(const Variable&, const Variable&, const Variable&, const ct::PerAxis&, double,
                        const ct::PerAxis&)>
Variable roi_align(Floats x, Floats rois, Any roi_indices, ct::Dims outsize, double spatial_scale,
                   std::optional<ct::Dims> sampling_ratio) {
  if (!of_one_dtype(x.v, rois.v) || !are_labels(roi_indices, x)) return {};
  return f(x.v, rois.v, roi_indices.v, outsize, spatial_scale, both(sampling_ratio, 0));
}
Variable batch_normalization(Floats x, Floats gamma, Floats beta, const F::BatchNormalizationOptions& options) {
  if (!of_one_dtype(gamma.v, beta.v) || !of_one_dtype(x.v, gamma.v)) return {};
  if (x.v.size() <= gamma.v.size()) {
    if (!chainer_is_own) return {};  // Chainer warns about a batch of size 1
    if (PyErr_WarnEx(PyExc_UserWarning, "batch_normalization: the batch has one element, so the results are beta", 1) !=
        0)
      raise_set();
  }
  return F::batch_normalization(x.v, gamma.v, beta.v, options);
}
Variable fixed_batch_normalization(Floats x, Floats gamma, Floats beta, Floats mean, Floats var,
                                   std::optional<double> eps, std::optional<ct::Dims> axis) {
  for (const Variable* v : {&gamma.v, &beta.v, &mean.v, &var.v})
    if (!of_one_dtype(x.v, *v)) return {};
  return axis ? F::fixed_batch_normalization(x.v, gamma.v, beta.v, mean.v, var.v, eps.value_or(2e-5), *axis)
              : F::fixed_batch_normalization(x.v, gamma.v, beta.v, mean.v, var.v, eps.value_or(2e-5));
}
Variable fixed_batch_renormalization(Floats x, Floats gamma, Floats beta, Floats mean, Floats var,
                                     std::optional<double> eps) {
  return deprecated(fixed_batch_normalization(x, gamma, beta, mean, var, eps, {}),
                    "fixed_batch_renormalization is deprecated. Use fixed_batch_normalization instead.");
}
Variable layer_normalization(Floats x, Floats gamma, Floats beta, std::optional<double> eps) {
  if (!of_one_dtype(x.v, gamma.v) || !of_one_dtype(x.v, beta.v)) return {};
  return F::layer_normalization(x.v, gamma.v, beta.v, eps.value_or(1e-5));
}
Variable group_normalization(Floats x, int groups, Floats gamma, Floats beta, std::optional<double> eps) {
  if (!of_one_dtype(x.v, gamma.v) || !of_one_dtype(x.v, beta.v)) return {};
  return F::group_normalization(x.v, groups, gamma.v, beta.v, eps.value_or(1e-5));
}
Variable normalize(Floats x, std::optional<double> eps, std::optional<ct::Dims> axis) {
  return F::normalize(x.v, eps.value_or(1e-5), axis ? ct::AxisArg(*axis) : ct::AxisArg(1));
}
Variable local_response_normalization(Floats x, const F::LocalResponseNormalizationOptions& options) {
  return F::local_response_normalization(x.v, options);
}
std::pair<Variable, Variable> lstm(Floats c_prev, Floats x) {
  if (!of_one_dtype(c_prev.v, x.v)) throw ct::DtypeError("lstm: c_prev and x are of different dtypes");
  return F::lstm(c_prev.v, x.v);
}

std::pair<Variable, Variable> slstm(Floats c_prev1, Floats c_prev2, Floats x1, Floats x2) {
  if (!of_one_dtype({&c_prev1.v, &c_prev2.v, &x1.v, &x2.v}))
    throw ct::DtypeError("slstm: arguments of different dtypes");
  return F::slstm(c_prev1.v, c_prev2.v, x1.v, x2.v);
}
std::pair<Variable, Variable> tree_lstm(std::vector<Variable> all) {
  if (all.size() < 2 || !of_one_kind(all)) throw ct::DtypeError("tree_lstm: expected states and x, all of one dtype");
  const Variable x = all.back();
  all.pop_back();
  return F::tree_lstm(all, x);
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

/// Can the library compute an n_step function? In training with dropout Chainer's noise is NumPy's: our package seeds
/// the library's generator from it.
bool is_taken(double dropout_ratio, std::initializer_list<const Variable*> states, const F::LayerParameters& ws,
              const F::LayerParameters& bs, const std::vector<Variable>& xs) {
  if ((dropout_ratio != 0 && ct::config.train && !chainer_is_own) || !of_one_kind(xs)) return false;
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
/// Calls an n_step function, with noise if it needs some.
template <auto f, class... Arguments>
ct::Variables n_step(int n_layers, double dropout_ratio, const Arguments&... arguments) {
  std::optional<NumpysSeed> seed;
  if (dropout_ratio != 0 && ct::config.train) seed.emplace();
  return flat(f(n_layers, dropout_ratio, arguments...));
}
template <auto f>
ct::Variables n_step_lstm(int n_layers, double dropout_ratio, Floats hx, Floats cx, F::LayerParameters ws,
                          F::LayerParameters bs, std::vector<Variable> xs) {
  if (!is_taken(dropout_ratio, {&hx.v, &cx.v}, ws, bs, xs)) return {};
  return n_step<f>(n_layers, dropout_ratio, hx.v, cx.v, ws, bs, xs);
}
template <auto f>
ct::Variables n_step_gru(int n_layers, double dropout_ratio, Floats hx, F::LayerParameters ws, F::LayerParameters bs,
                         std::vector<Variable> xs) {
  if (!is_taken(dropout_ratio, {&hx.v}, ws, bs, xs)) return {};
  return n_step<f>(n_layers, dropout_ratio, hx.v, ws, bs, xs);
}
template <auto f>
ct::Variables n_step_rnn(int n_layers, double dropout_ratio, Floats hx, F::LayerParameters ws, F::LayerParameters bs,
                         std::vector<Variable> xs, std::optional<F::RnnActivation> activation) {
  if (!is_taken(dropout_ratio, {&hx.v}, ws, bs, xs)) return {};
  return n_step<f>(n_layers, dropout_ratio, hx.v, ws, bs, xs, activation.value_or(F::RnnActivation::tanh));
}

Variable dropout(Floats x, std::optional<double> ratio) {
  const double p = ratio.value_or(0.5);
  if (!ct::config.train && chainer_is_own) return x.v;
  if (!ct::config.train || x.v.device() != ct::Device() || !(p >= 0 && p < 1)) return {};
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
  if (x.v.device() != ct::Device() && (is_drawn || !chainer_is_own)) return {};
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
  if (!ct::config.train && chainer_is_own && of_one_dtype(h.v, x.v)) return x.v;
  if (!ct::config.train || x.v.device() != ct::Device() || !of_one_dtype(h.v, x.v) || h.v.shape() != x.v.shape() ||
      x.v.ndim() == 0)
    return {};
  const nb::object sizes = nb::steal(tuple_of(x.v.shape()));
  const nb::object rand = nb::object(numpy().attr("random")).attr("rand");
  const std::optional<Array> noise = unshared(checked(PyObject_CallObject(rand.ptr(), sizes.ptr())));
  return noise ? F::where(Variable(*noise >= ratio.value_or(0.5), false), x.v, h.v) : Variable();
}

Variable bilinear(Floats e1, Floats e2, Floats W, std::optional<Floats> V1, std::optional<Floats> V2,
                  std::optional<Floats> b) {
  if (!of_one_dtype({&e1.v, &e2.v, &W.v})) return {};
  if (!V1 && !V2 && !b) return F::bilinear(e1.v, e2.v, W.v);
  if (!V1 || !V2 || !b || !of_one_dtype({&W.v, &V1->v, &V2->v, &b->v})) return {};
  return F::bilinear(e1.v, e2.v, W.v, V1->v, V2->v, b->v);
}
Variable deformable_convolution(Floats x, Floats offset, Floats W, std::optional<Floats> b,
                                const F::DeformableConvolutionOptions& options) {
  if (!of_one_dtype({&x.v, &offset.v, &W.v}) || (b && !of_one_dtype(x.v, b->v))) return {};
  return b ? F::deformable_convolution_2d_sampler(x.v, offset.v, W.v, b->v, options)
           : F::deformable_convolution_2d_sampler(x.v, offset.v, W.v, options);
}
Variable local_convolution_2d(Floats x, Floats W, std::optional<Floats> b, std::optional<ct::Dims> stride) {
  if (!of_one_dtype(x.v, W.v) || (b && !of_one_dtype(x.v, b->v))) return {};
  return b ? F::local_convolution_2d(x.v, W.v, b->v, both(stride, 1))
           : F::local_convolution_2d(x.v, W.v, both(stride, 1));
}
Variable shift(Floats x, std::optional<ct::Dims> ksize, std::optional<ct::Dims> dilate) {
  return F::shift(x.v, both(ksize, 3), both(dilate, 1));
}

Variable batch_renormalization(Floats x, Floats gamma, Floats beta, double rmax, double dmax,
                               const F::BatchRenormalizationOptions& options) {
  if (!of_one_dtype({&x.v, &gamma.v, &beta.v}) || !options.running_mean.defined() || !options.running_var.defined())
    return {};
  return F::batch_renormalization(x.v, gamma.v, beta.v, rmax, dmax, options);
}
Variable decorrelated_batch_normalization(Floats x, const F::DecorrelatedBatchNormalizationOptions& options) {
  return F::decorrelated_batch_normalization(x.v, options);
}
Variable fixed_decorrelated_batch_normalization(Floats x, Floats mean, Floats projection, std::optional<int> groups) {
  if (!of_one_dtype({&x.v, &mean.v, &projection.v})) return {};
  return F::fixed_decorrelated_batch_normalization(x.v, mean.v, projection.v, groups.value_or(16));
}

constexpr Row table[] = {
    {"chainer.functions.connection.convolution_2d.convolution_2d",
     {"x", "W", "b", "...", "=dilate", "=groups", "=cudnn_fast"},
     2,
     call<convolution_2d>},
    {"chainer.functions.connection.embed_id.embed_id", {"x", "W", "ignore_label"}, 2, call<embed_id>},
    {"chainer.functions.connection.linear.linear", {"x", "W", "b", "n_batch_axes"}, 2, call<linear>},
    {"chainer.functions.pooling.max_pooling_nd.max_pooling_2d",
     {"x", "ksize", "...", "return_indices"},
     2,
     call<max_pooling<F::max_pooling_2d>>,
     Gives::one_and_array},
    {"chainer.functions.connection.convolution_nd.convolution_nd",
     {"x", "W", "b", "..."},
     2,
     call<convolution<F::convolution_nd, F::convolution_nd>>},
    {"chainer.functions.connection.deconvolution_2d.deconvolution_2d",
     {"x", "W", "b", "...", "=dilate", "=groups"},
     2,
     call<deconvolution<F::deconvolution_2d, F::deconvolution_2d>>},
    {"chainer.functions.connection.deconvolution_nd.deconvolution_nd",
     {"x", "W", "b", "..."},
     2,
     call<deconvolution<F::deconvolution_nd, F::deconvolution_nd>>},
    {"chainer.functions.normalization.batch_normalization.batch_normalization",
     {"x", "gamma", "beta", "=..."},
     3,
     call<batch_normalization>},
    {"chainer.functions.normalization.batch_normalization.fixed_batch_normalization",
     {"x", "gamma", "beta", "mean", "var", "eps", "axis"},
     5,
     call<fixed_batch_normalization>},
    {"chainer.functions.normalization.group_normalization.group_normalization",
     {"x", "groups", "gamma", "beta", "eps"},
     4,
     call<group_normalization>},
    {"chainer.functions.normalization.l2_normalization.normalize", {"x", "eps", "axis"}, 1, call<normalize>},
    {"chainer.functions.normalization.layer_normalization.layer_normalization",
     {"x", "gamma", "beta", "eps"},
     3,
     call<layer_normalization>},
    {"chainer.functions.normalization.local_response_normalization.local_response_normalization",
     {"x", "..."},
     1,
     call<local_response_normalization>},
    {"chainer.functions.pooling.average_pooling_2d.average_pooling_2d",
     {"x", "ksize", "stride", "pad"},
     2,
     call<pooling<F::AveragePoolingOptions, F::average_pooling_2d>>},
    {"chainer.functions.rnn.lstm.lstm", {"c_prev", "x"}, 2, call<lstm>, Gives::all},
    {"chainer.functions.connection.convolution_nd.convolution_1d",
     {"x", "W", "b", "..."},
     2,
     call<convolution<F::convolution_1d, F::convolution_1d>>},
    {"chainer.functions.connection.deconvolution_nd.deconvolution_1d",
     {"x", "W", "b", "..."},
     2,
     call<deconvolution<F::deconvolution_1d, F::deconvolution_1d>>},
    {"chainer.functions.connection.convolution_nd.convolution_3d",
     {"x", "W", "b", "..."},
     2,
     call<convolution<F::convolution_3d, F::convolution_3d>>},
    {"chainer.functions.connection.deconvolution_nd.deconvolution_3d",
     {"x", "W", "b", "..."},
     2,
     call<deconvolution<F::deconvolution_3d, F::deconvolution_3d>>},
    {"chainer.functions.pooling.max_pooling_nd.max_pooling_1d",
     {"x", "ksize", "...", "return_indices"},
     2,
     call<max_pooling<F::max_pooling_1d>>,
     Gives::one_and_array},
    {"chainer.functions.pooling.average_pooling_nd.average_pooling_1d",
     {"x", "ksize", "..."},
     2,
     call<pooling<F::AveragePoolingOptions, F::average_pooling_1d>>},
    {"chainer.functions.pooling.unpooling_nd.unpooling_1d",
     {"x", "ksize", "..."},
     2,
     call<pooling<F::UnpoolingOptions, F::unpooling_1d>>},
    {"chainer.functions.pooling.max_pooling_nd.max_pooling_3d",
     {"x", "ksize", "...", "return_indices"},
     2,
     call<max_pooling<F::max_pooling_3d>>,
     Gives::one_and_array},
    {"chainer.functions.pooling.average_pooling_nd.average_pooling_3d",
     {"x", "ksize", "..."},
     2,
     call<pooling<F::AveragePoolingOptions, F::average_pooling_3d>>},
    {"chainer.functions.pooling.unpooling_nd.unpooling_3d",
     {"x", "ksize", "..."},
     2,
     call<pooling<F::UnpoolingOptions, F::unpooling_3d>>},
    {"chainer.functions.pooling.max_pooling_nd.max_pooling_nd",
     {"x", "ksize", "...", "return_indices"},
     2,
     call<max_pooling<F::max_pooling_nd>>,
     Gives::one_and_array},
    {"chainer.functions.pooling.average_pooling_nd.average_pooling_nd",
     {"x", "ksize", "..."},
     2,
     call<pooling<F::AveragePoolingOptions, F::average_pooling_nd>>},
    {"chainer.functions.pooling.unpooling_nd.unpooling_nd",
     {"x", "ksize", "..."},
     2,
     call<pooling<F::UnpoolingOptions, F::unpooling_nd>>},
    {"chainer.functions.pooling.unpooling_2d.unpooling_2d",
     {"x", "ksize", "..."},
     2,
     call<pooling<F::UnpoolingOptions, F::unpooling_2d>>},
    {"chainer.functions.pooling.upsampling_2d.upsampling_2d", {"x", "indexes", "ksize", "..."}, 3, call<upsampling_2d>},
    {"chainer.functions.pooling.spatial_pyramid_pooling_2d.spatial_pyramid_pooling_2d",
     {"x", "pyramid_height", "pooling"},
     3,
     call<spatial_pyramid_pooling_2d>},
    {"chainer.functions.pooling.roi_pooling_2d.roi_pooling_2d",
     {"x", "rois", "outh", "outw", "spatial_scale"},
     5,
     call<roi_pooling_2d>},
    {"chainer.functions.pooling.roi_max_pooling_2d.roi_max_pooling_2d",
     {"x", "rois", "roi_indices", "outsize", "spatial_scale"},
     5,
     call<roi_pooling<F::roi_max_pooling_2d>>},
    {"chainer.functions.pooling.roi_max_align_2d.roi_max_align_2d",
     {"x", "rois", "roi_indices", "outsize", "spatial_scale", "sampling_ratio"},
     5,
     call<roi_align<F::roi_max_align_2d>>},
    {"chainer.functions.pooling.roi_average_pooling_2d.roi_average_pooling_2d",
     {"x", "rois", "roi_indices", "outsize", "spatial_scale"},
     5,
     call<roi_pooling<F::roi_average_pooling_2d>>},
    {"chainer.functions.pooling.roi_average_align_2d.roi_average_align_2d",
     {"x", "rois", "roi_indices", "outsize", "spatial_scale", "sampling_ratio"},
     5,
     call<roi_align<F::roi_average_align_2d>>},
    {"chainer.functions.connection.bilinear.bilinear", {"e1", "e2", "W", "V1", "V2", "b"}, 3, call<bilinear>},
    {"chainer.functions.connection.dilated_convolution_2d.dilated_convolution_2d",
     {"x", "W", "b", "stride", "pad", "dilate", "cover_all"},
     2,
     call<convolution<F::dilated_convolution_2d, F::dilated_convolution_2d>>},
    {"chainer.functions.connection.depthwise_convolution_2d.depthwise_convolution_2d",
     {"x", "W", "b", "..."},
     2,
     call<windows<F::DepthwiseConvolutionOptions, F::depthwise_convolution_2d, F::depthwise_convolution_2d>>},
    {"chainer.functions.connection.deformable_convolution_2d_sampler.deformable_convolution_2d_sampler",
     {"x", "offset", "W", "b", "..."},
     3,
     call<deformable_convolution>},
    {"chainer.functions.connection.local_convolution_2d.local_convolution_2d",
     {"x", "W", "b", "stride"},
     2,
     call<local_convolution_2d>},
    {"chainer.functions.connection.shift.shift", {"x", "ksize", "dilate"}, 1, call<shift>},
    {"chainer.functions.noise.dropout.dropout", {"x", "ratio"}, 1, call<dropout>},
    {"chainer.functions.noise.gaussian.gaussian", {"mean", "ln_var"}, 2, call<gaussian>},
    {"chainer.functions.activation.rrelu.rrelu",
     {"x", "l", "u", "=r", "=return_r"},
     1,
     call<rrelu>,
     Gives::one_and_array},
    {"chainer.functions.noise.gumbel_softmax.gumbel_softmax", {"log_pi", "tau", "axis"}, 1, call<gumbel_softmax>},
    {"chainer.functions.noise.zoneout.zoneout", {"h", "x", "ratio"}, 2, call<zoneout>},
    {"chainer.functions.normalization.batch_renormalization.fixed_batch_renormalization",
     {"x", "gamma", "beta", "mean", "var", "eps"},
     5,
     call<fixed_batch_renormalization>},
    {"chainer.functions.normalization.batch_renormalization.batch_renormalization",
     {"x", "gamma", "beta", "rmax", "dmax", "eps", "running_mean", "running_var", "decay", "update_statistics"},
     5,
     call<batch_renormalization>},
    {"chainer.functions.normalization.decorrelated_batch_normalization.decorrelated_batch_normalization",
     {"x", "=..."},
     1,
     call<decorrelated_batch_normalization>},
    {"chainer.functions.normalization.decorrelated_batch_normalization.fixed_decorrelated_batch_normalization",
     {"x", "mean", "projection", "groups"},
     3,
     call<fixed_decorrelated_batch_normalization>},
    {"chainer.functions.rnn.slstm.slstm", {"c_prev1", "c_prev2", "x1", "x2"}, 4, call<slstm>, Gives::all},
    {"chainer.functions.rnn.tree_lstm.tree_lstm", {"*inputs"}, 1, call<tree_lstm>, Gives::all},
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
