#include "catenary/functions/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/autograd/attributes.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/array.h"
#include "catenary/functions/masked.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/noise.h"

namespace catenary {
CT_FIELDS(AttentionRules, scale, causal, first, window)
}

namespace catenary::functions {

namespace {

constexpr const char* kName = "scaled_dot_product_attention";

Shape first_axes(const Shape& shape, int count) {
  Shape first;
  for (int axis = 0; axis < count; ++axis) first.push_back(shape[axis]);
  return first;
}

/// All arguments except q [B, H, L, E], k [B, G, S, E] and v [B, G, S, F].
struct Rules {
  AttentionRules keys;
  double dropout = 0;
};

/// Where a mask of numbers shows a key to a query.
Array is_seen(const Array& mask) { return mask != -std::numeric_limits<double>::infinity(); }

/// The keys visible to queries, in a shape that broadcasts to [B, H, L, S], or undefined if all are visible.
Array seen_keys(const Array& q, std::int64_t S, const Variable& mask, const AttentionRules& rules) {
  Array seen;
  const auto see = [&](const Array& these) { seen = seen.defined() ? catenary::logical_and(seen, these) : these; };
  if (rules.causal) {
    const DeviceScope scope(q.device());
    const std::int64_t L = q.shape(2);
    const Array last = (arange(L, Dtype::int64) + rules.first).reshape({L, 1}), key = arange(S, Dtype::int64);
    see(key <= last);
    if (rules.window > 0) see(key > last - rules.window);
  }
  if (mask.defined()) see(mask.dtype() == Dtype::bool_ ? mask.array() : is_seen(mask.array()));
  return seen;
}

/// Attention from whole matrices, with operations that can be differentiated any number of times.
Variable written_out(const Variable& q, const Variable& k, const Variable& v, const Variable& mask,
                     const Rules& rules) {
  if (is_16bit_float(q.dtype())) {
    const auto wide = [](const Variable& x) {
      return x.defined() && is_floating(x.dtype()) ? cast(x, Dtype::float32) : x;
    };
    return cast(written_out(wide(q), wide(k), wide(v), wide(mask), rules), q.dtype());
  }
  const std::int64_t B = q.shape(0), H = q.shape(1), L = q.shape(2), G = k.shape(1), S = k.shape(2), F = v.shape(3),
                     together = H / std::max<std::int64_t>(1, G) * L;
  const Array seen = seen_keys(q.array(), S, mask, rules.keys);
  // the queries of heads that share keys become rows of one product
  const Variable rows = reshape(q, {B, G, together, q.shape(3)});
  Variable scores = reshape(matmul(rows * rules.keys.scale, k, false, true), {B, H, L, S});
  if (mask.defined() && mask.dtype() != Dtype::bool_) scores = scores + detail::only_where(is_seen(mask.array()), mask);
  if (!seen.defined()) {
    const Variable p = softmax(scores, -1);
    const Variable y = matmul(reshape(rules.dropout > 0 ? dropout(p, rules.dropout) : p, {B, G, rows.shape(2), S}), v);
    return reshape(y, {B, H, L, F});
  }
  // rows without visible keys are computed as if all were visible, and then zeroed
  const Array some = seen.any(-1, true);
  const Variable p = softmax(
      where(catenary::logical_or(seen, catenary::logical_not(some)), scores, -std::numeric_limits<double>::infinity()),
      -1);
  const Variable weights = detail::only_where(some, rules.dropout > 0 ? dropout(p, rules.dropout) : p);
  return reshape(matmul(reshape(weights, {B, G, together, S}), v), {B, H, L, F});
}

/// Maps q, k, v and y's gradient to the gradients of q, k and v.
class AttentionGrad : public FunctionNode {
 public:
  AttentionGrad(const AttentionRules& rules, Array mask, Array y, Array sums)
      : rules_(rules), mask_(std::move(mask)), y_(std::move(y)), sums_(std::move(sums)) {}
  const char* name() const override { return "ScaledDotProductAttentionGrad"; }
  CT_ATTRIBUTES(rules_, mask_, y_, sums_)

 protected:
  Arrays forward(Inputs x) override {
    retain_inputs(x);
    Arrays results;
    for (int i = 0; i < 3; ++i) results.push_back(empty_beside(x[i], x[i].shape(), x[i].dtype()));
    const View q = readable(x[0]), k = readable(x[1]), v = readable(x[2]), y = readable(y_), sums = readable(sums_),
               gy = readable(x[3]), gq = writable(results[0]), gk = writable(results[1]), gv = writable(results[2]),
               mask = mask_.defined() ? readable(mask_) : View();
    compute(x[0].device(),
            primitives::AttentionBack{rules_, q, k, v, y, sums, gy, gq, gk, gv, mask_.defined() ? &mask : nullptr});
    return results;
  }
  Variables backward(Targets targets, Grads ggs) override {
    std::vector<Variable> in, outputs, grads, wanted;
    std::vector<Variable> first;
    {
      // a separate graph, whether or not the result is differentiated again
      const auto scope = using_config(config.enable_backprop, true);
      for (int i = 0; i < 4; ++i) in.push_back(identity(retained_input(i)));
      const Variable y =
          written_out(in[0], in[1], in[2], mask_.defined() ? Variable(mask_, false) : Variable(), {rules_});
      first = grad({y}, {in[0], in[1], in[2]}, {.grad_outputs = {in[3]}, .enable_double_backprop = true});
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (!ggs[i].defined() || !first[i].defined()) continue;
      outputs.push_back(first[i]);
      grads.push_back(ggs[i]);
    }
    for (int i : targets) wanted.push_back(in[static_cast<std::size_t>(i)]);
    const std::vector<Variable> all =
        grad(outputs, wanted, {.grad_outputs = grads, .enable_double_backprop = config.enable_backprop});
    return Variables(std::span<const Variable>(all));
  }

 private:
  const AttentionRules rules_;
  const Array mask_, y_, sums_;
};

class Attention : public FunctionNode {
 public:
  Attention(const AttentionRules& rules, Array mask) : rules_(rules), mask_(std::move(mask)) {}
  const char* name() const override { return "ScaledDotProductAttention"; }
  CT_ATTRIBUTES(rules_, mask_)

 protected:
  Arrays forward(Inputs x) override {
    retain_inputs(x);
    retain_outputs({0});
    const Array &q = x[0], &v = x[2];
    const Array y = empty_beside(q, {q.shape(0), q.shape(1), q.shape(2), v.shape(3)}, q.dtype());
    sums_ = Array::empty({q.shape(0), q.shape(1), q.shape(2)}, promote(q.dtype(), Dtype::float32), q.device());
    const View of_q = readable(q), of_k = readable(x[1]), of_v = readable(v), to = writable(y), sums = writable(sums_),
               mask = mask_.defined() ? readable(mask_) : View();
    compute(q.device(), primitives::Attention{rules_, of_q, of_k, of_v, to, sums, mask_.defined() ? &mask : nullptr});
    return y;
  }
  Variables backward(Targets targets, Grads gys) override {
    const Variables all = apply_all(node<AttentionGrad>(rules_, mask_, retained_output_array(0), sums_),
                                    retained_input(0), retained_input(1), retained_input(2), gys[0]);
    return gradients(targets, [&](int i) { return all[static_cast<std::size_t>(i)]; });
  }

 private:
  const AttentionRules rules_;
  const Array mask_;
  Array sums_;
};

void check(const Variable& q, const Variable& k, const Variable& v, const AttentionOptions& options) {
  const int n = q.ndim();
  const auto rest = [](const Variable& x, int axes) { return first_axes(x.shape(), x.ndim() - axes); };
  if (n < 2 || k.ndim() != n || v.ndim() != n || (n > 3 && (rest(q, 3) != rest(k, 3) || rest(q, 3) != rest(v, 3))))
    fail<ShapeError>(
        "{}: q must be (batch…, heads, L, E), k (batch…, groups, S, E) and v (batch…, groups, S, F), not {}, {} and {}",
        kName, q.shape(), k.shape(), v.shape());
  if (k.shape(n - 1) != q.shape(n - 1) || v.shape(n - 2) != k.shape(n - 2))
    fail<ShapeError>(
        "{}: k must have the last axis of q and one key for each value of v, not the shape {}, for q {} and v {}",
        kName, k.shape(), q.shape(), v.shape());
  if (n > 2) {
    const std::int64_t heads = q.shape(n - 3), groups = k.shape(n - 3);
    if (v.shape(n - 3) != groups || (groups == 0 ? heads != 0 : heads % groups != 0))
      fail<ShapeError>("{}: {} heads do not share the keys of {} and the values of {}", kName, heads, groups,
                       v.shape(n - 3));
  }
  if (!is_floating(q.dtype()) || k.dtype() != q.dtype() || v.dtype() != q.dtype())
    fail<DtypeError>("{}: q, k and v must have one floating dtype, not {}, {} and {}", kName, q.dtype(), k.dtype(),
                     v.dtype());
  const Variable& mask = options.mask;
  if (mask.defined() && mask.dtype() != Dtype::bool_ && mask.dtype() != q.dtype())
    fail<DtypeError>("{}: the mask must be bool or {} as q, not {}", kName, q.dtype(), mask.dtype());
  if (options.window < 0 || (options.window > 0 && !options.causal))
    fail<ValueError>("{}: window, {}, must not be negative, and goes with causal", kName, options.window);
  if (!(options.dropout >= 0 && options.dropout < 1))
    fail<ValueError>("{}: dropout must be in [0, 1), not {}", kName, options.dropout);
}

/// Rotates pairs of the last axis by angles, forward or back.
class Rotation : public FunctionNode {
 public:
  Rotation(Array cosines, Array sines, bool interleaved)
      : cosines_(std::move(cosines)), sines_(std::move(sines)), interleaved_(interleaved) {}
  const char* name() const override { return "RotaryEmbedding"; }
  CT_ATTRIBUTES(cosines_, sines_, interleaved_)

 protected:
  Arrays forward(Inputs x) override {
    const std::int64_t pairs = cosines_.shape(-1), dims = 2 * pairs;
    const Array y = Array::empty(x[0].shape(), x[0].dtype(), x[0].device());
    const auto part = [&](bool second) {
      if (interleaved_) return slice(second ? 1 : 0, dims, 2);
      return second ? slice(pairs, dims) : slice(0, pairs);
    };
    const Dtype wide = cosines_.dtype();
    const Array a = as_dtype(x[0](ellipsis, part(false)), wide), b = as_dtype(x[0](ellipsis, part(true)), wide);
    y.set(a * cosines_ - b * sines_, ellipsis, part(false));
    y.set(b * cosines_ + a * sines_, ellipsis, part(true));
    if (dims < y.shape(-1)) y.set(x[0](ellipsis, slice(dims, none)), ellipsis, slice(dims, none));
    return y;
  }
  Variables backward(Targets, Grads gys) override {
    return catenary::apply(node<Rotation>(cosines_, -sines_, interleaved_), gys[0]);
  }

 private:
  const Array cosines_, sines_;
  const bool interleaved_;
};

}  // namespace

std::vector<double> rotary_rates(std::int64_t dims, double base, const RotaryScaling& scaling) {
  if (!(scaling.factor > 0)) fail<ValueError>("rotary_rates: factor must be positive, not {}", scaling.factor);
  if (!(scaling.low > 0 && scaling.high > scaling.low))
    fail<ValueError>("rotary_rates: 0 < low < high must hold, not {} and {}", scaling.low, scaling.high);
  std::vector<double> rates;
  for (std::int64_t i = 0; i < dims; i += 2) {
    const double rate = std::pow(base, -static_cast<double>(i) / static_cast<double>(dims));
    double kept = 0;  // the fraction of the rate that is not scaled
    if (scaling.learnt) {
      const double turns = static_cast<double>(*scaling.learnt) * rate / (2 * std::numbers::pi);
      kept = std::clamp((turns - scaling.low) / (scaling.high - scaling.low), 0.0, 1.0);
    }
    rates.push_back(kept * rate + (1 - kept) * rate / scaling.factor);
  }
  return rates;
}

Variable rotary_embedding(const Variable& x, const Array& positions, const RotaryOptions& options) {
  CT_DEFINED(x);
  constexpr const char* what = "rotary_embedding";
  if (x.ndim() < 2) fail<ShapeError>("{}: x must be (…, L, E), not {}", what, x.shape());
  if (!is_floating(x.dtype())) fail<DtypeError>("{}: x must be floating, not {}", what, x.dtype());
  const std::int64_t size = x.shape(x.ndim() - 1), dims = options.dims.value_or(size);
  if (dims < 0 || dims % 2 != 0 || dims > size)
    fail<ValueError>("{}: dims must be even and at most the {} elements of x's last axis, not {}", what, size, dims);
  const Shape rows = first_axes(x.shape(), x.ndim() - 1);
  const DeviceScope scope(x.device());
  const Dtype wide = promote(x.dtype(), Dtype::float32);
  const std::vector<double> rates = options.rates.empty() ? rotary_rates(dims, options.base) : options.rates;
  if (std::ssize(rates) != dims / 2) fail<ValueError>("{}: {} rates for {} pairs", what, rates.size(), dims / 2);
  const Array rate = Array::from_host(rates.data(), {dims / 2}, Dtype::float64, get_device("cpu")).astype(wide);
  Shape column = rows;
  column.push_back(1);
  const Array angles = catenary::broadcast_to(positions.to_device(x.device()), rows).astype(wide).reshape(column) *
                       rate.to_device(x.device());
  return apply(node<Rotation>(catenary::cos(angles), catenary::sin(angles), options.interleaved), x);
}

namespace {

/// The keys visible to at least one query, [batch, groups, keys, 1], or undefined if all are visible. For shapes of q
/// and k with four axes, and the mask as given by the caller.
Array used_keys(const Shape& given_q, const Shape& q, const Shape& k, const Array& mask, const AttentionRules& rules,
                const Device& device) {
  const std::int64_t L = q[2], S = k[2];
  Array used;
  if (rules.causal && (rules.first + L < S || (rules.window > 0 && rules.first >= rules.window))) {
    const DeviceScope scope(device);
    const Array key = arange(S, Dtype::int64);
    used = key < rules.first + L;
    if (rules.window > 0) used = used & (key > rules.first - rules.window);
    used = used.reshape({1, 1, S, 1});
  }
  if (!mask.defined()) return used;
  Array seen = mask.dtype() == Dtype::bool_ ? mask : is_seen(mask);
  if (seen.ndim() > 1) seen = seen.any(-2, true);
  Shape rows = given_q;
  const int n = rows.size();
  rows[n - 2] = 1;
  rows[n - 1] = S;
  seen = catenary::broadcast_to(seen, rows).reshape({q[0], k[1], q[1] / std::max<std::int64_t>(1, k[1]), S}).any(2);
  seen = seen.reshape({q[0], k[1], S, 1});
  return used.defined() ? used & seen : seen;
}

}  // namespace

Variable scaled_dot_product_attention(const Variable& q, const Variable& k, const Variable& v,
                                      const AttentionOptions& options) {
  CT_DEFINED(q, k, v);
  check(q, k, v, options);
  const int n = q.ndim();
  // as [batch, heads, rows, columns]
  std::int64_t batch = 1;
  for (int axis = 0; axis < n - 3; ++axis) batch *= q.shape(axis);
  const auto heads = [&](const Variable& x) {
    return n == 4 ? x : reshape(x, {batch, n > 2 ? x.shape(n - 3) : 1, x.shape(n - 2), x.shape(n - 1)});
  };
  const Variable q4 = heads(q);
  Variable k4 = heads(k), v4 = heads(v);
  Shape result = q.shape();
  result[n - 1] = v.shape(n - 1);
  Variable mask = options.mask;
  if (mask.defined()) {
    Shape whole = q.shape();
    whole[n - 1] = k.shape(n - 2);
    mask = broadcast_to(mask, whole);
    if (n != 4) mask = reshape(mask, {batch, q4.shape(1), q4.shape(2), k4.shape(2)});
  }
  Rules rules;
  rules.keys.scale =
      options.scale.value_or(1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, q.shape(n - 1)))));
  rules.keys.causal = options.causal;
  rules.keys.first = options.first;
  rules.keys.window = options.window;
  rules.dropout = config.train ? options.dropout : 0;
  // keys that no query sees may be NaN, which survives multiplication with a weight of 0
  if (const Array used = used_keys(q.shape(), q4.shape(), k4.shape(),
                                   options.mask.defined() ? options.mask.array() : Array(), rules.keys, q.device());
      used.defined()) {
    k4 = detail::only_where(used, k4);
    v4 = detail::only_where(used, v4);
  }
  const bool whole = rules.dropout > 0 ||
                     (mask.defined() && mask.requires_grad() && config.enable_backprop && is_floating(mask.dtype()));
  const Variable y = whole ? written_out(q4, k4, v4, mask, rules)
                           : apply(node<Attention>(rules.keys, mask.defined() ? mask.array() : Array()), q4, k4, v4);
  return n == 4 ? y : reshape(y, result);
}

}  // namespace catenary::functions
