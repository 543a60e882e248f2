#include "catenary/onnx/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"

namespace catenary::onnx {

namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// Returns the scores with the mask and causality of the options.
Variable masked_scores(const Variable& scores, const F::AttentionOptions& options) {
  Variable mask = options.mask;
  if (options.causal) {
    const Reach reach{options.window - 1, 0};
    const Array first = full({1}, options.first, Dtype::int64).to_device(scores.device());
    mask = also_masked(mask, keys_in_reach(first, scores.shape(2), scores.shape(3), reach));
  }
  if (!mask.defined()) return scores;
  return mask.dtype() == Dtype::bool_ ? F::where(mask, scores, Scalar(kHidden)) : scores + mask;
}

/// Returns the softmax of rows. A row of hidden keys only becomes zeros. `sinks` may be undefined.
Variable attention_weights(const Variable& scores, const Variable& sinks) {
  const Shape shape = scores.shape();
  if (sinks.defined()) {
    const Variable column = F::reshape(F::cast(sinks, scores.dtype()), {1, shape[1], 1, 1});
    const Variable all = F::concat({scores, F::broadcast_to(column, {shape[0], shape[1], shape[2], 1})}, 3);
    return F::get_item(F::softmax(all, 3), {Index(ellipsis), Index(slice(shape[3]))});
  }
  const Variable some((scores.array() != kHidden).any(-1, true));
  return F::where(some, F::softmax(F::where(some, scores, Scalar(0.0)), 3), Scalar(0.0));
}

}  // namespace

Attended attend(const Call& c, const AttentionArguments& a, std::optional<AttentionMatrix> wanted) {
  const Dtype dtype = a.q.dtype();
  const Variable& mask = a.options.mask;
  if (mask.defined() && mask.dtype() != Dtype::bool_ && mask.dtype() != dtype)
    c.fail("the mask is {} where bool or {} is needed", mask.dtype(), dtype);
  const std::int64_t heads = a.q.shape(1), groups = a.k.shape(1);
  if (groups == 0 || heads % groups != 0) c.fail("{} heads do not share the keys of {}", heads, groups);
  const bool doubles = a.precision == Dtype::float64 && dtype != Dtype::float64;
  const bool changed = a.change_scores || a.change_weights;
  if (!wanted && a.softcap == 0 && !doubles && !a.sinks.defined() && !changed)
    return {F::scaled_dot_product_attention(a.q, a.k, a.v, a.options), {}};
  const auto for_each_head = [&](const Variable& x) { return heads == groups ? x : F::repeat(x, heads / groups, 1); };
  const double scale = a.options.scale.value_or(1 / std::sqrt(static_cast<double>(a.q.shape(3))));
  const Variable products = F::matmul(a.q * scale, for_each_head(a.k), false, true);
  const Variable capped = a.softcap == 0 ? products : F::tanh(products / a.softcap) * a.softcap;
  const Variable masked = masked_scores(capped, a.options);
  Variable weights = F::cast(masked, a.precision.value_or(dtype));
  if (a.change_scores) weights = a.change_scores(weights);
  weights = attention_weights(weights, a.sinks);
  if (a.change_weights) weights = a.change_weights(weights);
  weights = F::cast(weights, dtype);
  const Variable matrices[] = {products, capped, masked, weights};
  return {F::matmul(weights, for_each_head(a.v)), wanted ? matrices[static_cast<std::size_t>(*wanted)] : Variable()};
}

Variable split_heads(const Call& c, const Variable& x, std::int64_t heads) {
  if (x.ndim() != 3 || heads < 1 || x.shape(2) % heads != 0)
    c.fail("an array of shape {} has no {} heads in its last axis", x.shape(), heads);
  return F::transpose(F::reshape(x, {x.shape(0), x.shape(1), heads, x.shape(2) / heads}), {0, 2, 1, 3});
}

Variable join_heads(const Variable& x) {
  return F::reshape(F::transpose(x, {0, 2, 1, 3}), {x.shape(0), x.shape(2), x.shape(1) * x.shape(3)});
}

Array keys_in_reach(const Array& first, std::int64_t L, std::int64_t S, const Reach& reach) {
  const auto numbers = [&](std::int64_t count) { return arange(count, Dtype::int64).to_device(first.device()); };
  const Array own = first.astype(Dtype::int64).reshape({first.size(), 1, 1, 1}) + numbers(L).reshape({L, 1});
  const Array ahead = numbers(S) - own;
  Array seen = ones(ahead.shape(), Dtype::bool_).to_device(first.device());
  if (reach.after >= 0) seen = less_equal(ahead, reach.after);
  if (reach.before >= 0) seen = logical_and(seen, greater_equal(ahead, -reach.before));
  return seen;
}

Variable also_masked(const Variable& mask, const Array& seen) {
  if (!mask.defined()) return Variable(seen);
  if (mask.dtype() == Dtype::bool_) return Variable(logical_and(mask.array(), seen));
  return F::where(Variable(seen), mask, Scalar(kHidden));
}

Variable rotated(const Call& c, const Variable& x, const Variable& cosines, const Variable& sines, bool interleaved) {
  const std::int64_t size = x.shape(3), pairs = cosines.shape(cosines.ndim() - 1), dims = 2 * pairs;
  if (cosines.ndim() != 3 || sines.shape() != cosines.shape() || dims > size)
    c.fail("cosines of shape {} and sines of shape {} do not fit heads of shape {}", cosines.shape(), sines.shape(),
           x.shape());
  const auto part = [&](std::int64_t k) {
    return F::get_item(x,
                       {Index(ellipsis), Index(interleaved ? slice(k, dims, 2) : slice(k * pairs, (k + 1) * pairs))});
  };
  const auto for_heads = [](const Variable& v) { return F::expand_dims(v, 1); };
  const Variable a = part(0), b = part(1), cosine = for_heads(cosines), sine = for_heads(sines);
  const std::vector<Variable> turned{a * cosine - b * sine, b * cosine + a * sine};
  if (!interleaved && dims == size) return F::concat(turned, 3);
  Shape shape = x.shape();
  shape[3] = dims;
  const Variable y = interleaved ? F::reshape(F::stack(turned, 4), shape) : F::concat(turned, 3);
  return dims == size ? y : F::concat({y, F::get_item(x, {Index(ellipsis), Index(slice(dims, size))})}, 3);
}

Variable written_to_cache(const Call& c, const Variable& cache, const Variable& update, const Integers& first, int axis,
                          bool circular) {
  const std::int64_t n = cache.shape(0), S = cache.shape(axis), L = update.shape(axis);
  Shape fitting = cache.shape();
  fitting[axis] = L;
  if (update.shape() != fitting || L > S || std::ssize(first) != n)
    c.fail("an update of shape {} with {} positions does not fit a cache of shape {}", update.shape(), first.size(),
           cache.shape());
  for (const std::int64_t position : first)
    if (position < 0 || (!circular && position + L > S))
      c.fail("an update of {} elements at position {} does not fit a cache of {}", L, position, S);
  if (L == 0) return cache;
  // the element of the update that belongs to each position of the cache
  const Array start = Array::from_host(first.data(), {n, 1}, Dtype::int64, c.device());
  Array source = subtract(arange(S).to_device(c.device()), circular ? remainder(start, S) : start);
  if (circular) source = where(less(source, 0), add(source, S), source);
  const Array inside = logical_and(greater_equal(source, 0), less(source, L));
  const Array sample = arange(n).reshape({n, 1}).to_device(c.device());
  const Variable moved =
      F::get_item(F::moveaxis(update, axis, 1), {Index(sample), Index(minimum(maximum(source, 0), L - 1))});
  Shape spread = shape_along(cache.ndim(), 0, n);
  spread[axis] = S;
  const Array chosen = inside.reshape(spread);
  const Variable values = F::moveaxis(moved, 1, axis);
  if (!is_floating(cache.dtype())) return Variable(where(chosen, values.array(), cache.array()));
  return F::where(Variable(chosen), values, cache);
}

}  // namespace catenary::onnx
