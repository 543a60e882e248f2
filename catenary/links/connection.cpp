#include "catenary/links/connection.h"

#include <algorithm>

#include "catenary/functions/activation.h"
#include "catenary/functions/connection.h"
#include "catenary/functions/math_elementwise.h"
#include "catenary/functions/noise.h"
#include "catenary/initializers/initializers.h"
#include "catenary/links/detail.h"

namespace catenary::links {

using detail::weight_init;

Linear::Linear(std::int64_t out, const LinearOptions& options)
    : QuantizableW(Parameter(weight_init(options.initialW), "W")), out_size(out), n_batch_axes(options.n_batch_axes) {
  if (!options.nobias) b = Parameter(options.initial_bias, Shape{out}, "b");
}

Linear::Linear(std::int64_t in, std::int64_t out, const LinearOptions& options) : Linear(out, options) {
  W.initialize({out, in});
}

Variable Linear::operator()(const Variable& x, int batch_axes) const {
  if (const auto quantised = quantized()) {
    return hooked(
        *this, [&] { return detail::quantized_linear(x, *quantised, b, batch_axes); }, x);
  }
  if (!W.is_initialized()) {
    std::int64_t in = 1;
    for (int axis = std::max(batch_axes < 0 ? batch_axes + x.ndim() : batch_axes, 0); axis < x.ndim(); ++axis)
      in *= x.shape()[axis];
    W.initialize({out_size, in});
  }
  return hooked(
      *this, [&] { return b.defined() ? functions::linear(x, W, b, batch_axes) : functions::linear(x, W, batch_axes); },
      x);
}

Bilinear::Bilinear(std::int64_t left, std::int64_t right, std::int64_t out, const BilinearOptions& options)
    : W(weight_init(options.initialW), Shape{left, right, out}, "W"), nobias_(options.nobias) {
  if (nobias_) return;
  V1 = Parameter(weight_init(options.initialW), Shape{left, out}, "V1");
  V2 = Parameter(weight_init(options.initialW), Shape{right, out}, "V2");
  b = Parameter(options.initial_bias, Shape{out}, "b");
}

Variable Bilinear::operator()(const Variable& e1, const Variable& e2) const {
  return hooked(
      *this, [&] { return nobias_ ? functions::bilinear(e1, e2, W) : functions::bilinear(e1, e2, W, V1, V2, b); }, e1,
      e2);
}

EmbedID::EmbedID(std::int64_t in, std::int64_t out, const EmbedIDOptions& options)
    : QuantizableW(Parameter(options.initialW ? *options.initialW : ParameterInit(initializers::Normal(1.0)),
                             Shape{in, out}, "W")),
      ignore_label(options.ignore_label),
      shape_{in, out} {}

Variable EmbedID::operator()(const Variable& x) const {
  return hooked(
      *this,
      [&] {
        const auto quantised = quantized();
        return quantised ? detail::quantized_rows(x, *quantised, ignore_label)
                         : functions::embed_id(x, W, ignore_label);
      },
      x);
}

Variable EmbedID::scores(const Variable& x) const {
  return hooked(
      *this,
      [&] {
        const auto quantised = quantized();
        return quantised ? detail::quantized_linear(x, *quantised, Variable(), -1) : functions::linear(x, W, -1);
      },
      x);
}

Scale::Scale(int axis0, const OptionalShape& W_shape, bool bias_term, const OptionalShape& bias_shape) : axis(axis0) {
  if (W_shape) W = Parameter(1, *W_shape, "W");
  if (!bias_term) return;
  if (!W_shape && !bias_shape) throw ValueError("Scale: a bias needs bias_shape where W_shape is not given");
  bias = Parameter(0, bias_shape ? *bias_shape : *W_shape, "bias");
}

Variable Scale::operator()(const Variable& x) const {
  if (!W.defined()) throw ValueError("Scale: no W_shape was given, so the factor is the second argument");
  return (*this)(x, W);
}

Variable Scale::operator()(const Variable& x, const Variable& factor) const {
  return hooked(
      *this,
      [&] {
        const Variable y = functions::scale(x, factor, axis);
        return bias.defined() ? functions::bias(y, bias, axis) : y;
      },
      x);
}

Bias::Bias(int axis0, const OptionalShape& shape) : axis(axis0) {
  if (shape) b = Parameter(0, *shape, "b");
}

Variable Bias::operator()(const Variable& x) const {
  if (!b.defined()) throw ValueError("Bias: no shape was given, so the bias is the second argument");
  return (*this)(x, b);
}

Variable Bias::operator()(const Variable& x, const Variable& bias) const {
  return hooked(
      *this, [&] { return functions::bias(x, bias, axis); }, x);
}

Maxout::Maxout(std::int64_t in, std::int64_t out, std::int64_t pool, const std::optional<ParameterInit>& initialW,
               const ParameterInit& initial_bias)
    : out_size(out), pool_size(pool), linear(in, out * pool, {.initialW = initialW, .initial_bias = initial_bias}) {}

Variable Maxout::operator()(const Variable& x) const {
  return hooked(
      *this, [&] { return functions::maxout(linear(x), pool_size); }, x);
}

Highway::Highway(std::int64_t size, bool nobias, std::function<Variable(const Variable&)> activation,
                 const std::optional<ParameterInit>& init_Wh, const std::optional<ParameterInit>& init_Wt,
                 const ParameterInit& init_bh, const ParameterInit& init_bt)
    : activate(activation ? std::move(activation) : [](const Variable& h) { return functions::relu(h); }),
      plain(size, size, {.nobias = nobias, .initialW = init_Wh, .initial_bias = init_bh}),
      transform(size, size, {.nobias = nobias, .initialW = init_Wt, .initial_bias = init_bt}) {}

Variable Highway::operator()(const Variable& x) const {
  return hooked(
      *this,
      [&] {
        const Variable h = activate(plain(x)), t = functions::sigmoid(transform(x));
        return h * t + x * (1 - t);
      },
      x);
}

PReLU::PReLU(const Shape& shape, double init) : W(ParameterInit(init), shape, "W") {}
Variable PReLU::operator()(const Variable& x) const {
  return hooked(
      *this, [&] { return functions::prelu(x, W); }, x);
}

Swish::Swish(const OptionalShape& beta_shape, const ParameterInit& beta_init) : beta(beta_init, "beta") {
  if (beta_shape) beta.initialize(*beta_shape);
}
Variable Swish::operator()(const Variable& x) const {
  if (!beta.is_initialized()) {
    Shape shape = x.shape();
    if (!shape.empty()) shape.erase(0);
    beta.initialize(shape);
  }
  return hooked(
      *this, [&] { return functions::swish(x, beta); }, x);
}

SimplifiedDropconnect::SimplifiedDropconnect(const std::optional<std::int64_t>& in_size, std::int64_t out,
                                             const SimplifiedDropconnectOptions& options)
    : out_size(out), ratio(options.ratio), W(weight_init(options.initialW), "W") {
  if (in_size) W.initialize({out, *in_size});
  if (!options.nobias) b = Parameter(options.initial_bias, Shape{out}, "b");
}
Variable SimplifiedDropconnect::operator()(const Variable& x, bool train, const Array& mask,
                                           bool use_batchwise_mask) const {
  if (!W.is_initialized()) W.initialize({out_size, x.shape(0) ? x.size() / x.shape(0) : 0});
  return hooked(
      *this,
      [&] {
        functions::DropconnectOptions options;
        options.ratio = ratio;
        options.train = train;
        options.mask = mask;
        options.use_batchwise_mask = use_batchwise_mask;
        return functions::simplified_dropconnect(x, W, b, options);
      },
      x);
}

ParameterLink::ParameterLink(const Array& array) : W(Parameter::from_array(array, "W")) {}
Variable ParameterLink::operator()() const {
  return hooked(
      *this, [&] { return Variable(W); }, W);
}

}  // namespace catenary::links
