// Chainer's functions that are the library's: one row each, with Chainer's names of its arguments.

#include "catenary/core/error.h"
#include "catenary/functions/functions.h"
#include "functions.h"

namespace catenary_python {

namespace {

using ct::Variable;
namespace F = ct::functions;

ct::PerAxis both(const std::optional<ct::Dims>& given, std::int64_t otherwise) {
  return given ? ct::PerAxis(*given) : ct::PerAxis(otherwise);
}

template <auto f>
bool call(PyObject* const* arguments, ct::Variables& result) {
  return called(+f, arguments, result);
}

template <Variable (*f)(const Variable&)>
Variable of_one(Floats x) {
  return f(x.v);
}

Variable leaky_relu(Floats x, std::optional<double> slope) { return F::leaky_relu(x.v, slope.value_or(0.2)); }
Variable elu(Floats x, std::optional<double> alpha) { return F::elu(x.v, alpha.value_or(1.0)); }
Variable clipped_relu(Floats x, std::optional<double> z) { return F::clipped_relu(x.v, z.value_or(20.0)); }
Variable softmax(Floats x, std::optional<int> axis) { return F::softmax(x.v, axis.value_or(1)); }
Variable log_softmax(Floats x, std::optional<int> axis) { return F::log_softmax(x.v, axis.value_or(1)); }

Variable linear(Floats x, Floats W, std::optional<Floats> b, std::optional<int> n_batch_axes) {
  if (!of_one_dtype(x.v, W.v) || (b && !of_one_dtype(x.v, b->v))) return {};
  return b ? F::linear(x.v, W.v, b->v, n_batch_axes.value_or(1)) : F::linear(x.v, W.v, n_batch_axes.value_or(1));
}

Variable max_pooling_2d(Floats x, ct::Dims ksize, std::optional<ct::Dims> stride, std::optional<ct::Dims> pad,
                        std::optional<bool> cover_all, std::optional<bool> return_indices) {
  if (return_indices.value_or(false)) return {};
  F::MaxPoolingOptions options{.pad = both(pad, 0), .cover_all = cover_all.value_or(true)};
  if (stride) options.stride = ct::PerAxis(*stride);
  return F::max_pooling_2d(x.v, ct::PerAxis(ksize), options);
}

Variable softmax_cross_entropy(Floats x, Any t, std::optional<bool> normalize, std::optional<bool>,
                               std::optional<Any> class_weight, std::optional<std::int64_t> ignore_label,
                               std::optional<std::string> reduce, std::optional<bool>,
                               std::optional<std::string> soft_target_loss) {
  const std::string by = reduce.value_or("mean");
  if (class_weight || ct::is_floating(t.v.dtype()) || (by != "mean" && by != "no") ||
      soft_target_loss.value_or("cross-entropy") != "cross-entropy" || x.v.device() != t.v.device())
    return {};
  return F::softmax_cross_entropy(x.v, t.v,
                                  {.normalize = normalize.value_or(true),
                                   .ignore_label = ignore_label.value_or(-1),
                                   .reduce = by == "no" ? F::Reduce::no : F::Reduce::mean});
}

Variable accuracy(Floats y, Any t, std::optional<std::int64_t> ignore_label) {
  if (ct::is_floating(t.v.dtype()) || y.v.device() != t.v.device()) return {};
  return F::accuracy(y.v, t.v, ignore_label);
}

Variable mean_squared_error(Floats x0, Floats x1) {
  return of_one_dtype(x0.v, x1.v) ? F::mean_squared_error(x0.v, x1.v) : Variable();
}

Variable sum(Floats x, std::optional<ct::Dims> axis, std::optional<bool> keepdims) {
  return F::sum(x.v, axis ? ct::AxisArg(*axis) : ct::AxisArg(), keepdims.value_or(false));
}

// Of the same shape Chainer gives the variable itself.
Variable reshape(Floats x, ct::Dims shape) { return x.v.shape() == shape ? Variable() : F::reshape(x.v, shape); }

Variable transpose(Floats x, std::optional<ct::Dims> axes) {
  return axes ? F::transpose(x.v, *axes) : F::transpose(x.v);
}

Variable matmul(Floats a, Floats b, std::optional<bool> transa, std::optional<bool> transb) {
  if (!of_one_dtype(a.v, b.v)) return {};
  return F::matmul(a.v, b.v, transa.value_or(false), transb.value_or(false));
}

Variable embed_id(Any x, Floats W, std::optional<std::int64_t> ignore_label) {
  if (ct::is_floating(x.v.dtype()) || x.v.device() != W.v.device()) return {};
  return F::embed_id(x.v, W.v, ignore_label);
}

template <Variable (*f)(const Variable&, const Variable&)>
Variable of_two(Floats a, Floats b) {
  return of_one_dtype(a.v, b.v) ? f(a.v, b.v) : Variable();
}
template <Variable (*f)(const Variable&, int)>
Variable with_axis(Floats x, int axis) {
  return f(x.v, axis);
}
template <Variable (*f)(const Variable&, const std::optional<int>&)>
Variable along(Floats x, std::optional<int> axis) {
  return f(x.v, axis);
}
template <Variable (*f)(const Variable&, const ct::AxisArg&, bool)>
Variable over_axes(Floats x, std::optional<ct::Dims> axis, std::optional<bool> keepdims) {
  return f(x.v, axis ? ct::AxisArg(*axis) : ct::AxisArg(), keepdims.value_or(false));
}
/// Of one dtype, on one device, with as many axes?
bool of_one_kind(const std::vector<Variable>& xs) {
  for (const Variable& x : xs)
    if (!of_one_dtype(x, xs[0]) || x.ndim() != xs[0].ndim()) return false;
  return true;
}
template <Variable (*f)(const std::vector<Variable>&)>
Variable of_list(std::vector<Variable> xs) {
  return of_one_kind(xs) ? f(xs) : Variable();
}

Variable selu(Floats x, std::optional<double> alpha, std::optional<double> scale) {
  return F::selu(x.v, alpha.value_or(1.6732632423543772), scale.value_or(1.0507009873554805));
}
Variable softplus(Floats x, std::optional<double> beta) { return F::softplus(x.v, beta.value_or(1.0)); }
Variable maxout(Floats x, std::int64_t pool_size, std::optional<int> axis) {
  return F::maxout(x.v, pool_size, axis.value_or(1));
}
Variable crelu(Floats x, std::optional<int> axis) { return F::crelu(x.v, axis.value_or(1)); }
Variable clip(Floats x, std::optional<double> low, std::optional<double> high) {
  return low || high ? F::clip(x.v, low, high) : Variable();
}
Variable scale(Floats x, Floats y, std::optional<int> axis) {
  return of_one_dtype(x.v, y.v) ? F::scale(x.v, y.v, axis.value_or(1)) : Variable();
}
Variable bias(Floats x, Floats y, std::optional<int> axis) {
  return of_one_dtype(x.v, y.v) ? F::bias(x.v, y.v, axis.value_or(1)) : Variable();
}
Variable linear_interpolate(Floats p, Floats x, Floats y) {
  return of_one_dtype(p.v, x.v) && of_one_dtype(x.v, y.v) ? F::linear_interpolate(p.v, x.v, y.v) : Variable();
}
Variable average(Floats x, std::optional<ct::Dims> axis, std::optional<Any> weights, std::optional<bool> keepdims) {
  if (weights) return {};
  return F::average(x.v, axis ? ct::AxisArg(*axis) : ct::AxisArg(), {}, keepdims.value_or(false));
}
Variable logsumexp(Floats x, std::optional<ct::Dims> axis) {
  return F::logsumexp(x.v, axis ? ct::AxisArg(*axis) : ct::AxisArg());
}
Variable batch_l2_norm_squared(Floats x) { return x.v.ndim() < 2 ? Variable() : F::batch_l2_norm_squared(x.v); }
Variable tensordot(Floats a, Floats b, std::optional<int> axes) {
  return of_one_dtype(a.v, b.v) ? F::tensordot(a.v, b.v, axes.value_or(2)) : Variable();
}
Variable broadcast_to(Floats x, ct::Dims shape) {
  return x.v.shape() == shape ? Variable() : F::broadcast_to(x.v, shape);
}
Variable rollaxis(Floats x, int axis, std::optional<int> start) { return F::rollaxis(x.v, axis, start.value_or(0)); }
Variable swapaxes(Floats x, int axis1, int axis2) { return F::swapaxes(x.v, axis1, axis2); }
Variable squeeze(Floats x, std::optional<ct::Dims> axis) {
  return F::squeeze(x.v, axis ? ct::AxisArg(*axis) : ct::AxisArg());
}
Variable concat(std::vector<Variable> xs, std::optional<int> axis) {
  return of_one_kind(xs) ? F::concat(xs, axis.value_or(1)) : Variable();
}
Variable stack(std::vector<Variable> xs, std::optional<int> axis) {
  return of_one_kind(xs) ? F::stack(xs, axis.value_or(0)) : Variable();
}
ct::Variables split_axis(Floats x, int sections, int axis, std::optional<bool> force_tuple) {
  return force_tuple.value_or(true) ? F::split_axis(x.v, sections, axis) : ct::Variables();
}
ct::Variables separate(Floats x, std::optional<int> axis) { return F::separate(x.v, axis.value_or(0)); }
Variable select_item(Floats x, Any t) {
  return ct::is_floating(t.v.dtype()) || x.v.device() != t.v.device() ? Variable() : F::select_item(x.v, t.v);
}
Variable where(Any condition, Floats x, Floats y) {
  return of_one_dtype(x.v, y.v) && condition.v.dtype() == Dtype::bool_ ? F::where(condition.v, x.v, y.v) : Variable();
}

template <auto with_bias, auto without_bias>
Variable convolution(Floats x, Floats W, std::optional<Floats> b, std::optional<ct::Dims> stride,
                     std::optional<ct::Dims> pad, std::optional<bool> cover_all, std::optional<ct::Dims> dilate,
                     std::optional<std::int64_t> groups) {
  if (!of_one_dtype(x.v, W.v) || (b && !of_one_dtype(x.v, b->v))) return {};
  const F::ConvolutionOptions options{.stride = both(stride, 1),
                                      .pad = both(pad, 0),
                                      .cover_all = cover_all.value_or(false),
                                      .dilate = both(dilate, 1),
                                      .groups = groups.value_or(1)};
  return b ? with_bias(x.v, W.v, b->v, options) : without_bias(x.v, W.v, options);
}
template <auto with_bias, auto without_bias>
Variable deconvolution(Floats x, Floats W, std::optional<Floats> b, std::optional<ct::Dims> stride,
                       std::optional<ct::Dims> pad, std::optional<ct::Dims> outsize, std::optional<ct::Dims> dilate,
                       std::optional<std::int64_t> groups) {
  if (!of_one_dtype(x.v, W.v) || (b && !of_one_dtype(x.v, b->v))) return {};
  F::DeconvolutionOptions options{
      .stride = both(stride, 1), .pad = both(pad, 0), .dilate = both(dilate, 1), .groups = groups.value_or(1)};
  if (outsize) options.outsize = *outsize;
  return b ? with_bias(x.v, W.v, b->v, options) : without_bias(x.v, W.v, options);
}
using WithBias = Variable (*)(const Variable&, const Variable&, const Variable&, const F::ConvolutionOptions&);
using NoBias = Variable (*)(const Variable&, const Variable&, const F::ConvolutionOptions&);
using BackWithBias = Variable (*)(const Variable&, const Variable&, const Variable&, const F::DeconvolutionOptions&);
using BackNoBias = Variable (*)(const Variable&, const Variable&, const F::DeconvolutionOptions&);

Variable average_pooling_2d(Floats x, ct::Dims ksize, std::optional<ct::Dims> stride, std::optional<ct::Dims> pad) {
  F::AveragePoolingOptions options{.pad = both(pad, 0)};
  if (stride) options.stride = ct::PerAxis(*stride);
  return F::average_pooling_2d(x.v, ct::PerAxis(ksize), options);
}

/// Averages that a function changes in place, or none.
struct Averages {
  Array a;
};
bool read(PyObject* o, Averages& to) {
  return (is_ndarray(o) || PyObject_HasAttrString(o, "__array_interface__")) && array_over(o, to.a, true);
}
Variable batch_normalization(Floats x, Floats gamma, Floats beta, std::optional<double> eps,
                             std::optional<Averages> mean, std::optional<Averages> var, std::optional<double> decay,
                             std::optional<ct::Dims> axis) {
  if (!of_one_dtype(gamma.v, beta.v) || !of_one_dtype(x.v, gamma.v)) return {};
  if (x.v.size() <= gamma.v.size()) return {};  // Chainer warns of a batch of one
  F::BatchNormalizationOptions options{.eps = eps.value_or(2e-5), .decay = decay.value_or(0.9)};
  if (mean) options.running_mean = mean->a;
  if (var) options.running_var = var->a;
  if (axis) options.axis = *axis;
  return F::batch_normalization(x.v, gamma.v, beta.v, options);
}
Variable fixed_batch_normalization(Floats x, Floats gamma, Floats beta, Floats mean, Floats var,
                                   std::optional<double> eps, std::optional<ct::Dims> axis) {
  for (const Variable* v : {&gamma.v, &beta.v, &mean.v, &var.v})
    if (!of_one_dtype(x.v, *v)) return {};
  return axis ? F::fixed_batch_normalization(x.v, gamma.v, beta.v, mean.v, var.v, eps.value_or(2e-5), *axis)
              : F::fixed_batch_normalization(x.v, gamma.v, beta.v, mean.v, var.v, eps.value_or(2e-5));
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
Variable local_response_normalization(Floats x, std::optional<int> n, std::optional<double> k,
                                      std::optional<double> alpha, std::optional<double> beta) {
  return F::local_response_normalization(
      x.v, {.n = n.value_or(5), .k = k.value_or(2), .alpha = alpha.value_or(1e-4), .beta = beta.value_or(0.75)});
}

std::pair<Variable, Variable> lstm(Floats c_prev, Floats x) {
  if (!of_one_dtype(c_prev.v, x.v)) throw ct::DtypeError("lstm: c_prev and x are of different dtypes");
  return F::lstm(c_prev.v, x.v);
}

/// Of losses; nothing for a word that Chainer does not know either.
std::optional<F::Reduce> reduction(const std::optional<std::string>& word, F::Reduce otherwise) {
  if (!word) return otherwise;
  if (*word == "mean") return F::Reduce::mean;
  if (*word == "sum") return F::Reduce::sum;
  if (*word == "no") return F::Reduce::no;
  return std::nullopt;
}
Variable sigmoid_cross_entropy(Floats x, Any t, std::optional<bool> normalize, std::optional<std::string> reduce) {
  const auto by = reduction(reduce, F::Reduce::mean);
  if (!by || *by == F::Reduce::sum || ct::is_floating(t.v.dtype()) || x.v.device() != t.v.device()) return {};
  return F::sigmoid_cross_entropy(x.v, t.v, normalize.value_or(true), *by);
}
template <Variable (*f)(const Variable&, const Variable&, F::Reduce)>
Variable likelihood(Floats a, Floats b, std::optional<std::string> reduce) {
  const auto by = reduction(reduce, F::Reduce::sum);
  return by && of_one_dtype(a.v, b.v) ? f(a.v, b.v, *by) : Variable();
}
Variable gaussian_nll(Floats x, Floats mean, Floats ln_var, std::optional<std::string> reduce) {
  const auto by = reduction(reduce, F::Reduce::sum);
  if (!by || !of_one_dtype(x.v, mean.v) || !of_one_dtype(x.v, ln_var.v)) return {};
  return F::gaussian_nll(x.v, mean.v, ln_var.v, *by);
}

constexpr Row table[] = {
    {"chainer.functions.activation.relu.relu", {"x"}, 1, call<of_one<F::relu>>},
    {"chainer.functions.activation.leaky_relu.leaky_relu", {"x", "slope"}, 1, call<leaky_relu>},
    {"chainer.functions.activation.elu.elu", {"x", "alpha"}, 1, call<elu>},
    {"chainer.functions.activation.clipped_relu.clipped_relu", {"x", "z"}, 1, call<clipped_relu>},
    {"chainer.functions.activation.sigmoid.sigmoid", {"x"}, 1, call<of_one<F::sigmoid>>},
    {"chainer.functions.activation.tanh.tanh", {"x"}, 1, call<of_one<F::tanh>>},
    {"chainer.functions.activation.softmax.softmax", {"x", "axis"}, 1, call<softmax>},
    {"chainer.functions.activation.log_softmax.log_softmax", {"x", "axis"}, 1, call<log_softmax>},
    {"chainer.functions.array.concat.concat", {"xs", "axis"}, 1, call<concat>},
    {"chainer.functions.array.reshape.reshape", {"x", "shape"}, 2, call<reshape>},
    {"chainer.functions.array.transpose.transpose", {"x", "axes"}, 1, call<transpose>},
    {"chainer.functions.connection.convolution_2d.convolution_2d",
     {"x", "W", "b", "stride", "pad", "cover_all", "dilate", "groups"},
     2,
     call<convolution<WithBias(F::convolution_2d), NoBias(F::convolution_2d)>>},
    {"chainer.functions.connection.embed_id.embed_id", {"x", "W", "ignore_label"}, 2, call<embed_id>},
    {"chainer.functions.connection.linear.linear", {"x", "W", "b", "n_batch_axes"}, 2, call<linear>},
    {"chainer.functions.evaluation.accuracy.accuracy", {"y", "t", "ignore_label"}, 2, call<accuracy>},
    {"chainer.functions.loss.mean_squared_error.mean_squared_error", {"x0", "x1"}, 2, call<mean_squared_error>},
    {"chainer.functions.loss.softmax_cross_entropy.softmax_cross_entropy",
     {"x", "t", "normalize", "cache_score", "class_weight", "ignore_label", "reduce", "enable_double_backprop",
      "soft_target_loss"},
     2,
     call<softmax_cross_entropy>},
    {"chainer.functions.math.exponential.exp", {"x"}, 1, call<of_one<F::exp>>},
    {"chainer.functions.math.exponential.log", {"x"}, 1, call<of_one<F::log>>},
    {"chainer.functions.math.matmul.matmul", {"a", "b", "transa", "transb"}, 2, call<matmul>},
    {"chainer.functions.math.sqrt.sqrt", {"x"}, 1, call<of_one<F::sqrt>>},
    {"chainer.functions.math.square.square", {"x"}, 1, call<of_one<F::square>>},
    {"chainer.functions.math.sum.sum", {"x", "axis", "keepdims"}, 1, call<sum>},
    {"chainer.functions.pooling.max_pooling_2d.max_pooling_2d",
     {"x", "ksize", "stride", "pad", "cover_all", "return_indices"},
     2,
     call<max_pooling_2d>},
    {"chainer.functions.activation.selu.selu", {"x", "alpha", "scale"}, 1, call<selu>},
    {"chainer.functions.activation.softplus.softplus", {"x", "beta"}, 1, call<softplus>},
    {"chainer.functions.activation.maxout.maxout", {"x", "pool_size", "axis"}, 2, call<maxout>},
    {"chainer.functions.activation.crelu.crelu", {"x", "axis"}, 1, call<crelu>},
    {"chainer.functions.activation.hard_sigmoid.hard_sigmoid", {"x"}, 1, call<of_one<F::hard_sigmoid>>},
    {"chainer.functions.activation.clipped_relu.relu6", {"x"}, 1, call<of_one<F::relu6>>},
    {"chainer.functions.activation.prelu.prelu", {"x", "W"}, 2, call<of_two<F::prelu>>},
    {"chainer.functions.activation.swish.swish", {"x", "beta"}, 2, call<of_two<F::swish>>},
    {"chainer.functions.array.broadcast.broadcast_to", {"x", "shape"}, 2, call<broadcast_to>},
    {"chainer.functions.array.dstack.dstack", {"xs"}, 1, call<of_list<F::dstack>>},
    {"chainer.functions.array.expand_dims.expand_dims", {"x", "axis"}, 2, call<with_axis<F::expand_dims>>},
    {"chainer.functions.array.flatten.flatten", {"x"}, 1, call<of_one<F::flatten>>},
    {"chainer.functions.array.flip.flip", {"x", "axis"}, 2, call<with_axis<F::flip>>},
    {"chainer.functions.array.fliplr.fliplr", {"a"}, 1, call<of_one<F::fliplr>>},
    {"chainer.functions.array.flipud.flipud", {"a"}, 1, call<of_one<F::flipud>>},
    {"chainer.functions.array.hstack.hstack", {"xs"}, 1, call<of_list<F::hstack>>},
    {"chainer.functions.array.rollaxis.rollaxis", {"x", "axis", "start"}, 2, call<rollaxis>},
    {"chainer.functions.array.select_item.select_item", {"x", "t"}, 2, call<select_item>},
    {"chainer.functions.array.separate.separate", {"x", "axis"}, 1, call<separate>, true},
    {"chainer.functions.array.split_axis.split_axis",
     {"x", "indices_or_sections", "axis", "force_tuple"},
     3,
     call<split_axis>,
     true},
    {"chainer.functions.array.squeeze.squeeze", {"x", "axis"}, 1, call<squeeze>},
    {"chainer.functions.array.stack.stack", {"xs", "axis"}, 1, call<stack>},
    {"chainer.functions.array.swapaxes.swapaxes", {"x", "axis1", "axis2"}, 3, call<swapaxes>},
    {"chainer.functions.array.vstack.vstack", {"xs"}, 1, call<of_list<F::vstack>>},
    {"chainer.functions.array.where.where", {"condition", "x", "y"}, 3, call<where>},
    {"chainer.functions.connection.convolution_nd.convolution_nd",
     {"x", "W", "b", "stride", "pad", "cover_all", "dilate", "groups"},
     2,
     call<convolution<WithBias(F::convolution_nd), NoBias(F::convolution_nd)>>},
    {"chainer.functions.connection.deconvolution_2d.deconvolution_2d",
     {"x", "W", "b", "stride", "pad", "outsize", "dilate", "groups"},
     2,
     call<deconvolution<BackWithBias(F::deconvolution_2d), BackNoBias(F::deconvolution_2d)>>},
    {"chainer.functions.connection.deconvolution_nd.deconvolution_nd",
     {"x", "W", "b", "stride", "pad", "outsize", "dilate", "groups"},
     2,
     call<deconvolution<BackWithBias(F::deconvolution_nd), BackNoBias(F::deconvolution_nd)>>},
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
    {"chainer.functions.math.average.average", {"x", "axis", "weights", "keepdims"}, 1, call<average>},
    {"chainer.functions.math.batch_l2_norm_squared.batch_l2_norm_squared", {"x"}, 1, call<batch_l2_norm_squared>},
    {"chainer.functions.math.bias.bias", {"x", "y", "axis"}, 2, call<bias>},
    {"chainer.functions.math.clip.clip", {"x", "x_min", "x_max"}, 3, call<clip>},
    {"chainer.functions.math.cumprod.cumprod", {"x", "axis"}, 1, call<along<F::cumprod>>},
    {"chainer.functions.math.cumsum.cumsum", {"x", "axis"}, 1, call<along<F::cumsum>>},
    {"chainer.functions.math.det.batch_det", {"a"}, 1, call<of_one<F::batch_det>>},
    {"chainer.functions.math.det.det", {"a"}, 1, call<of_one<F::det>>},
    {"chainer.functions.math.digamma.digamma", {"x"}, 1, call<of_one<F::digamma>>},
    {"chainer.functions.math.erf.erf", {"x"}, 1, call<of_one<F::erf>>},
    {"chainer.functions.math.erfc.erfc", {"x"}, 1, call<of_one<F::erfc>>},
    {"chainer.functions.math.erfcx.erfcx", {"x"}, 1, call<of_one<F::erfcx>>},
    {"chainer.functions.math.erfinv.erfinv", {"x"}, 1, call<of_one<F::erfinv>>},
    {"chainer.functions.math.exponential.log10", {"x"}, 1, call<of_one<F::log10>>},
    {"chainer.functions.math.exponential.log2", {"x"}, 1, call<of_one<F::log2>>},
    {"chainer.functions.math.exponential_m1.expm1", {"x"}, 1, call<of_one<F::expm1>>},
    {"chainer.functions.math.hyperbolic.cosh", {"x"}, 1, call<of_one<F::cosh>>},
    {"chainer.functions.math.hyperbolic.sinh", {"x"}, 1, call<of_one<F::sinh>>},
    {"chainer.functions.math.inv.batch_inv", {"a"}, 1, call<of_one<F::batch_inv>>},
    {"chainer.functions.math.inv.inv", {"a"}, 1, call<of_one<F::inv>>},
    {"chainer.functions.math.lgamma.lgamma", {"x"}, 1, call<of_one<F::lgamma>>},
    {"chainer.functions.math.linear_interpolate.linear_interpolate", {"p", "x", "y"}, 3, call<linear_interpolate>},
    {"chainer.functions.math.log_ndtr.log_ndtr", {"x"}, 1, call<of_one<F::log_ndtr>>},
    {"chainer.functions.math.logarithm_1p.log1p", {"x"}, 1, call<of_one<F::log1p>>},
    {"chainer.functions.math.logsumexp.logsumexp", {"x", "axis"}, 1, call<logsumexp>},
    {"chainer.functions.math.maximum.maximum", {"x1", "x2"}, 2, call<of_two<F::maximum>>},
    {"chainer.functions.math.minimum.minimum", {"x1", "x2"}, 2, call<of_two<F::minimum>>},
    {"chainer.functions.math.minmax.max", {"x", "axis", "keepdims"}, 1, call<over_axes<F::max>>},
    {"chainer.functions.math.minmax.min", {"x", "axis", "keepdims"}, 1, call<over_axes<F::min>>},
    {"chainer.functions.math.ndtr.ndtr", {"x"}, 1, call<of_one<F::ndtr>>},
    {"chainer.functions.math.ndtri.ndtri", {"x"}, 1, call<of_one<F::ndtri>>},
    {"chainer.functions.math.prod.prod", {"x", "axis", "keepdims"}, 1, call<over_axes<F::prod>>},
    {"chainer.functions.math.scale.scale", {"x", "y", "axis"}, 2, call<scale>},
    {"chainer.functions.math.sqrt.rsqrt", {"x"}, 1, call<of_one<F::rsqrt>>},
    {"chainer.functions.math.tensordot.tensordot", {"a", "b", "axes"}, 2, call<tensordot>},
    {"chainer.functions.math.trigonometric.arccos", {"x"}, 1, call<of_one<F::arccos>>},
    {"chainer.functions.math.trigonometric.arcsin", {"x"}, 1, call<of_one<F::arcsin>>},
    {"chainer.functions.math.trigonometric.arctan", {"x"}, 1, call<of_one<F::arctan>>},
    {"chainer.functions.math.trigonometric.arctan2", {"x1", "x2"}, 2, call<of_two<F::arctan2>>},
    {"chainer.functions.math.trigonometric.cos", {"x"}, 1, call<of_one<F::cos>>},
    {"chainer.functions.math.trigonometric.sin", {"x"}, 1, call<of_one<F::sin>>},
    {"chainer.functions.math.trigonometric.tan", {"x"}, 1, call<of_one<F::tan>>},
    {"chainer.functions.math.arctanh.arctanh", {"x"}, 1, call<of_one<F::arctanh>>},
    {"chainer.functions.normalization.batch_normalization.batch_normalization",
     {"x", "gamma", "beta", "eps", "running_mean", "running_var", "decay", "axis"},
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
     {"x", "n", "k", "alpha", "beta"},
     1,
     call<local_response_normalization>},
    {"chainer.functions.pooling.average_pooling_2d.average_pooling_2d",
     {"x", "ksize", "stride", "pad"},
     2,
     call<average_pooling_2d>},
    {"chainer.functions.rnn.lstm.lstm", {"c_prev", "x"}, 2, call<lstm>, true},
};

}  // namespace

std::span<const Row> rows() { return table; }

}  // namespace catenary_python
