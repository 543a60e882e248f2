// Layers: products, convolutions, normalisations.

#include <algorithm>
#include <numeric>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/core/config.h"
#include "catenary/onnx/operators.h"
#include "catenary/onnx/windows.h"

namespace catenary::onnx {

namespace {

/// Returns x with channels last in memory where this pays: the processor computes a depthwise convolution on vectors of
/// channels up to seven times faster. Later layers keep this order.
Variable in_fast_order(const Call& c, const Variable& x, const Variable& weight) {
  const bool is_depthwise = weight.shape(1) == 1 && weight.shape(0) >= 8 && c.integer("group", 1) == weight.shape(0);
  if (!is_depthwise || c.device() != Device() || (config.enable_backprop && x.requires_grad())) return x;
  const Array channels = moveaxis(x.array(), 1, -1);
  return channels.is_contiguous() ? x : Variable(moveaxis(channels.copy(), -1, 1));
}

Values convolution(const Call& c) {
  const Variable weight = c.x(1);
  if (weight.ndim() < 3) c.fail("a weight of shape {} has no spatial axis", weight.shape());
  c.list("kernel_shape");
  Windows w = windows_of(c, c.x(0).shape(), spatial(weight.shape()));
  const Variable x = in_fast_order(c, padded(c.x(0), w, 0.0), weight);
  F::ConvolutionOptions options;
  options.stride = per_axis(w.strides);
  options.pad = per_axis(w.before);
  options.dilate = per_axis(w.dilations);
  options.groups = c.integer("group", 1);
  return {c.has(2) ? F::convolution_nd(x, weight, c.x(2), options) : F::convolution_nd(x, weight, options)};
}

Values transposed_convolution(const Call& c) {
  const Variable x = c.x(0), weight = c.x(1);
  if (weight.ndim() < 3 || x.ndim() != weight.ndim())
    c.fail("shapes {} and {} do not match", x.shape(), weight.shape());
  c.list("kernel_shape");
  const Integers kernel = spatial(weight.shape());
  const std::size_t n = kernel.size();
  const Integers strides = or_ones(c, "strides", n), dilations = or_ones(c, "dilations", n);
  const Integers more = c.list("output_padding").value_or(Integers(n, 0));
  Integers pads = c.list("pads").value_or(Integers(2 * n, 0));
  const std::optional<Integers> wanted = c.list("output_shape");
  const std::string how = c.text("auto_pad", "NOTSET");
  if (pads.size() != 2 * n || more.size() != n)
    c.fail("pads or output_padding has another length than the spatial axes");
  std::vector<Index> kept(2, Index(slice()));
  Integers full;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t size = x.shape(static_cast<int>(i) + 2);
    const std::int64_t all = strides[i] * (size - 1) + (kernel[i] - 1) * dilations[i] + 1 + more[i];
    std::int64_t target = 0;
    if (wanted || how == "SAME_UPPER" || how == "SAME_LOWER") {
      target = wanted ? wanted->at(wanted->size() - n + i) : size * strides[i];
      const std::int64_t cut = std::max<std::int64_t>(all - target, 0);
      pads[i] = how == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
      pads[n + i] = cut - pads[i];
    }
    full.push_back(std::max(all, target));
    kept.emplace_back(slice(pads[i], full[i] - pads[n + i]));
  }
  F::DeconvolutionOptions options;
  options.stride = per_axis(strides);
  options.dilate = per_axis(dilations);
  options.outsize = Shape(full);
  options.groups = c.integer("group", 1);
  const Variable y =
      c.has(2) ? F::deconvolution_nd(x, weight, c.x(2), options) : F::deconvolution_nd(x, weight, options);
  return {F::get_item(y, kept)};
}

Values product(const Call& c) {
  const Variable a = c.x(0), b = c.x(1);
  if (!is_inexact(a.dtype())) return {Variable(matmul(a.array(), b.array()))};
  return {F::matmul(a, b)};
}

Values general_product(const Call& c) {
  const Variable a = c.x(0), b = c.x(1);
  const double alpha = c.real("alpha", 1.0), beta = c.real("beta", 1.0);
  const bool transa = c.integer("transA", 0) != 0, transb = c.integer("transB", 0) != 0;
  Variable y = F::matmul(a, b, transa, transb);
  if (alpha != 1.0) y = y * alpha;
  if (c.has(2)) y = y + (beta == 1.0 ? c.x(2) : c.x(2) * beta);
  return {y};
}

Values einsum_of(const Call& c) {
  std::vector<Variable> xs;
  for (int i = 0; i < c.count(); ++i) xs.push_back(c.x(i));
  std::string text = c.text("equation");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return {F::einsum(text, xs)};
}

/// Gives an array for channels the axes of x.
Variable per_channel(const Variable& v, const Variable& x) { return F::reshape(v, shape_along(x.ndim(), 1, v.size())); }

void check_batch_normalization(const Call& c) {
  if (c.opset() < 9 && c.integer("spatial", 1) == 0)
    c.fail("statistics of each element (spatial = 0) are not supported");
  const bool training = c.opset() >= 14 && c.integer("training_mode", 0) != 0;
  if (!training && c.wants(1))
    c.fail("results besides the first are not supported without training_mode: export the model for inference");
}

Values batch_normalization(const Call& c) {
  check_batch_normalization(c);
  const Variable x = c.x(0);
  const double eps = c.real("epsilon", 1e-5), momentum = c.real("momentum", 0.9);
  const bool training = c.opset() >= 14 && c.integer("training_mode", 0) != 0;
  // statistics of the file are not trained
  const auto statistic = [&](int i) { return training || c.x(i).creator() ? c.x(i) : Variable(c.array(i), false); };
  Variable mean = statistic(3), var = statistic(4);
  Values running;
  if (training) {
    Axes axes{0};
    for (int i = 2; i < x.ndim(); ++i) axes.push_back(i);
    const Variable wide = F::cast(x, mean.dtype()), now = F::mean(wide, AxisArg(axes));
    const Variable centred = wide - per_channel(now, x), spread = F::mean(centred * centred, AxisArg(axes));
    running = {mean * momentum + now * (1 - momentum), var * momentum + spread * (1 - momentum)};
    mean = now;
    var = spread;
  }
  const Variable scale = c.x(1) / F::sqrt(var + eps), shift = c.x(2) - mean * scale;
  const Variable y = x * per_channel(scale, x) + per_channel(shift, x);
  Values result{y.dtype() == x.dtype() ? y : F::cast(y, x.dtype())};
  result.insert(result.end(), running.begin(), running.end());
  return result;
}

Values instance_normalization(const Call& c) {
  const Variable x = c.x(0);
  const double eps = c.real("epsilon", 1e-5);
  const AxisArg axes = axes_from(2, x.ndim());
  const Variable centred = x - F::broadcast_to(F::mean(x, axes, true), x.shape());
  const Variable var = F::mean(centred * centred, axes, true);
  return {centred / F::sqrt(var + eps) * per_channel(c.x(1), x) + per_channel(c.x(2), x)};
}

Values layer_normalization(const Call& c) {
  const Variable x = c.x(0);
  const int axis = axis_of(c, c.integer("axis", -1), x.ndim());
  const double eps = c.real("epsilon", 1e-5);
  c.integer("stash_type", 1);
  const AxisArg axes = axes_from(axis, x.ndim());
  const Variable mean = F::mean(x, axes, true), centred = x - mean;
  const Variable inverse = 1 / F::sqrt(F::mean(centred * centred, axes, true) + eps);
  Variable y = centred * inverse * c.x(1);
  if (c.has(2)) y = y + c.x(2);
  return {y, mean, inverse};
}

Values rms_normalization(const Call& c) {
  const Variable x = c.x(0);
  const int axis = axis_of(c, c.integer("axis", -1), x.ndim());
  const double eps = c.real("epsilon", 1e-5);
  c.integer("stash_type", 1);
  const AxisArg axes = axes_from(axis, x.ndim());
  return {x / F::sqrt(F::mean(x * x, axes, true) + eps) * c.x(1)};
}

Values group_normalization(const Call& c) {
  const Variable x = c.x(0);
  const std::int64_t groups = c.integer("num_groups");
  const double eps = c.real("epsilon", 1e-5);
  c.integer("stash_type", 1);
  if (groups < 1 || x.ndim() < 2 || x.shape(1) % groups != 0)
    c.fail("{} channels have no {} groups", x.shape(1), groups);
  const Variable rows = F::reshape(x, {x.shape(0), groups, -1});
  const Variable centred = rows - F::mean(rows, AxisArg(2), true);
  const Variable y = F::reshape(centred / F::sqrt(F::mean(centred * centred, AxisArg(2), true) + eps), x.shape());
  const auto spread = [&](const Variable& v) {  // one number for each group before opset 21
    return c.opset() >= 21 ? v : F::repeat(v, x.shape(1) / groups, 0);
  };
  return {y * per_channel(spread(c.x(1)), x) + per_channel(spread(c.x(2)), x)};
}

Values lp_normalization(const Call& c) {
  const Variable x = c.x(0);
  const int axis = axis_of(c, c.integer("axis", -1), x.ndim());
  const std::int64_t p = c.integer("p", 2);
  if (p != 1 && p != 2) c.fail("p is {} where 1 or 2 is known", p);
  const Variable norm =
      p == 1 ? F::sum(F::absolute(x), AxisArg(axis), true) : F::sqrt(F::sum(x * x, AxisArg(axis), true));
  // a row of zeros stays zero
  return {x / F::where(Variable(equal(norm.array(), 0)), norm * 0 + 1, norm)};
}

Values local_response_normalization(const Call& c) {
  const Variable x = c.x(0);
  const std::int64_t size = c.integer("size");
  const double alpha = c.real("alpha", 1e-4), beta = c.real("beta", 0.75), bias = c.real("bias", 1.0);
  const std::int64_t before = (size - 1) / 2, after = size - 1 - before, channels = x.shape(1);
  const Variable squares = x * x;
  std::vector<PerSide<std::int64_t>::Pair> widths(static_cast<std::size_t>(x.ndim()), {0, 0});
  widths[1] = {before, after};
  const Variable wide = F::pad(squares, PerSide<std::int64_t>(widths));
  Variable sum = F::get_item(wide, {Index(slice()), Index(slice(0, channels))});
  for (std::int64_t k = 1; k < size; ++k)
    sum = sum + F::get_item(wide, {Index(slice()), Index(slice(k, k + channels))});
  return {x / F::power(sum * (alpha / static_cast<double>(size)) + bias, beta)};
}

/// Refuses training. When a file is opened, the ratio and the mode are missing unless they are constants.
void check_dropout(const Call& c) {
  const bool training = c.has(2) && c.array(2).reshape({}).item<bool>();
  const bool drops = c.has(1) ? c.array(1).astype(Dtype::float64).reshape({}).item<double>() != 0
                              : c.node().inputs.size() < 2 || c.node().inputs[1].empty();
  if (training && drops) c.fail("training mode is not supported with a ratio above 0: export the model for inference");
}

Values dropout(const Call& c) {
  if (c.opset() < 12) c.real("ratio", 0.5);
  c.integer("seed", 0);
  check_dropout(c);
  const Variable x = c.x(0);
  Values result{x};
  if (c.wants(1)) result.emplace_back(ones(x.shape(), Dtype::bool_).to_device(c.device()));
  return result;
}

Values mean_variance_normalization(const Call& c) {
  const Variable x = c.x(0);
  const AxisArg axes{Axes(c.list("axes").value_or(Integers{0, 2, 3}))};
  const Variable centred = x - F::mean(x, axes, true);
  return {centred / (F::sqrt(F::mean(centred * centred, axes, true)) + 1e-9)};
}

Values determinant(const Call& c) {
  const Variable x = c.x(0);
  const int ndim = x.ndim();
  if (ndim < 2 || x.shape(ndim - 1) != x.shape(ndim - 2)) c.fail("an array of shape {} is not square", x.shape());
  const std::int64_t n = x.shape(ndim - 1);
  const Shape batch(x.shape().data(), ndim - 2);
  return {F::reshape(F::batch_det(F::reshape(x, {batch.product(), n, n})), batch)};
}

}  // namespace

std::span<const Operator> layer_operators() {
  static const Operator rows[] = {
      {"Conv", 1, convolution},
      {"ConvTranspose", 1, transposed_convolution},
      {"MatMul", 1, product},
      {"Gemm", 7, general_product},
      {"Einsum", 12, einsum_of},
      {"Det", 11, determinant},
      {"BatchNormalization", 7, batch_normalization, "", check_batch_normalization},
      {"InstanceNormalization", 6, instance_normalization},
      {"LayerNormalization", 17, layer_normalization},
      {"RMSNormalization", 23, rms_normalization},
      {"GroupNormalization", 18, group_normalization},
      {"LpNormalization", 1, lp_normalization},
      {"LRN", 1, local_response_normalization},
      {"MeanVarianceNormalization", 9, mean_variance_normalization},
      {"Dropout", 7, dropout, "", check_dropout},
  };
  return rows;
}

}  // namespace catenary::onnx
