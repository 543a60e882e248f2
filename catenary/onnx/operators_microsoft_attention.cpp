// The domain com.microsoft: attention, as ONNX Runtime's tools write it.

#include <algorithm>
#include <array>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/onnx/attention.h"

namespace catenary::onnx {

namespace {

Variable last_part(const Variable& x, std::int64_t from, std::int64_t to) {
  return F::get_item(x, {Index(ellipsis), Index(slice(from, to))});
}

/// Turns a padding mask of lengths [n], or of ones for visible keys [n, S] or [n, L, S], into numbers to add.
Variable padding_mask(const Call& c, int i, std::int64_t n, std::int64_t keys, Dtype dtype) {
  const double filler = c.real("mask_filter_value", -10000.0);
  if (!c.has(i)) return {};
  const Array given = c.array(i);
  const Shape shape = given.shape();
  Array seen;
  if (shape == Shape{n}) {
    seen = keys_in_reach(subtract(given.astype(Dtype::int64), 1), 1, keys, {-1, 0});
  } else if ((shape.size() == 2 || shape.size() == 3) && shape[0] == n && shape[shape.size() - 1] == keys) {
    seen = not_equal(given, 0).reshape({n, 1, shape.size() == 3 ? shape[1] : 1, keys});
  } else {
    c.fail("a mask of shape {} for {} keys is not supported", shape, keys);
  }
  return Variable(where(seen, 0.0, filler).astype(dtype));
}

/// Adds numbers to a mask of numbers, which may be undefined.
Variable with_bias(const Variable& mask, const Variable& bias) { return mask.defined() ? mask + bias : bias; }

/// Reads the attributes of attention with unidirectional masks.
void read_options(const Call& c, AttentionArguments& a, std::int64_t past) {
  if (c.find("scale")) a.options.scale = c.real("scale");
  a.options.causal = c.integer("unidirectional", 0) != 0;
  a.options.first = past;
}

/// Reads queries, keys and values [n, L, heads E], and keys and values of cross attention [n, heads, S, E] as they are.
std::array<Variable, 3> separate_inputs(const Call& c, std::int64_t heads) {
  const auto parts = [&](const Variable& x, std::int64_t count) {  // of [n, L, heads, count, E]
    if (x.ndim() != 5 || x.shape(2) != heads || x.shape(3) != count)
      c.fail("an input of shape {} does not hold {} parts for {} heads", x.shape(), count, heads);
    std::vector<Variable> all;
    for (std::int64_t k = 0; k < count; ++k)
      all.push_back(F::reshape(F::get_item(x, {Index(slice()), Index(slice()), Index(slice()), Index(k)}),
                               {x.shape(0), x.shape(1), heads * x.shape(4)}));
    return all;
  };
  const Variable q = c.x(0);
  if (!c.has(1)) {
    const std::vector<Variable> all = parts(q, 3);
    return {all[0], all[1], all[2]};
  }
  if (c.has(2)) return {q, c.x(1), c.x(2)};
  const std::vector<Variable> both = parts(c.x(1), 2);
  return {q, both[0], both[1]};
}

/// Adds the bias of the projections of q, k and v, which are joined in input `i`.
void add_biases(const Call& c, int i, std::array<Variable, 3>& all) {
  if (!c.has(i)) return;
  std::int64_t at = 0;
  for (Variable& x : all) {
    if (x.ndim() != 3) c.fail("a bias for keys with 4 axes is not supported");
    const std::int64_t size = x.shape(2);
    x = x + last_part(c.x(i), at, at + size);
    at += size;
  }
}

Values multi_head_attention(const Call& c) {
  const std::int64_t heads = c.integer("num_heads");
  if (c.has(8) || c.has(9)) c.fail("shared buffers of keys are not supported");
  std::array<Variable, 3> inputs = separate_inputs(c, heads);
  add_biases(c, 3, inputs);
  const auto split = [&](const Variable& x) { return x.ndim() == 4 ? x : split_heads(c, x, heads); };
  AttentionArguments a{split(inputs[0]), split(inputs[1]), split(inputs[2])};
  const std::int64_t past = c.has(6) ? c.x(6).shape(2) : 0;
  if (c.has(6) != c.has(7)) c.fail("past_key and past_value must be given together");
  if (c.has(6)) {
    a.k = F::concat({c.x(6), a.k}, 2);
    a.v = F::concat({c.x(7), a.v}, 2);
  }
  read_options(c, a, past);
  a.options.mask = padding_mask(c, 4, a.q.shape(0), a.k.shape(2), a.q.dtype());
  if (c.has(5)) a.options.mask = with_bias(a.options.mask, c.x(5));
  return {join_heads(attend(c, a).y), a.k, a.v};
}

Values projected_attention(const Call& c) {
  const std::int64_t heads = c.integer("num_heads");
  for (const char* name : {"do_rotary", "past_present_share_buffer"})
    if (c.integer(name, 0) != 0) c.fail("{} is not supported", name);
  c.integer("rotary_embedding_dim", 0);
  Variable joined = F::matmul(c.x(0), c.x(1));
  if (c.has(2)) joined = joined + c.x(2);
  const std::int64_t all = joined.shape(joined.ndim() - 1);
  const Integers sizes = c.list("qkv_hidden_sizes").value_or(Integers(3, all / 3));
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != all) c.fail("qkv_hidden_sizes do not add up to {}", all);
  const auto part = [&](std::int64_t from, std::int64_t size) {
    return split_heads(c, last_part(joined, from, from + size), heads);
  };
  AttentionArguments a{part(0, sizes[0]), part(sizes[0], sizes[1]), part(sizes[0] + sizes[1], sizes[2])};
  std::int64_t past = 0;
  if (c.has(4)) {
    const Variable before = c.x(4);
    if (before.ndim() != 5 || before.shape(0) != 2) c.fail("past keys and values of shape {}", before.shape());
    past = before.shape(3);
    a.k = F::concat({before[0], a.k}, 2);
    a.v = F::concat({before[1], a.v}, 2);
  }
  read_options(c, a, past);
  a.options.mask = padding_mask(c, 3, a.q.shape(0), a.k.shape(2), a.q.dtype());
  if (c.has(5)) a.options.mask = with_bias(a.options.mask, c.x(5));
  Values results{join_heads(attend(c, a).y)};
  if (c.wants(1)) results.push_back(F::stack({a.k, a.v}, 0));
  return results;
}

/// Returns rows of a table of cosines or sines for the positions [n, L].
Variable at_positions(const Variable& table, const Array& positions) {
  return F::get_item(table, {Index(positions.astype(Dtype::int64))});
}

Values rotary_embedding_of_tables(const Call& c) {
  const Variable x = c.x(0), cosines = c.x(2), sines = c.x(3);
  const bool joined = x.ndim() == 3, interleaved = c.integer("interleaved", 0) != 0;
  if (c.integer("is_packed_batching", 0) != 0) c.fail("packed batches are not supported");
  if (c.real("scale", 1.0) != 1.0) c.fail("a scale is not supported");
  if (!joined && x.ndim() != 4) c.fail("an input of shape {} must have 3 or 4 axes", x.shape());
  const std::int64_t heads = c.integer("num_heads", 0), dims = c.integer("rotary_embedding_dim", 0);
  if (cosines.ndim() != 2 || (dims != 0 && dims != 2 * cosines.shape(1)))
    c.fail("cosines of shape {} do not rotate {} elements", cosines.shape(), dims);
  if (joined && heads == 0 && x.shape(2) % (2 * cosines.shape(1)) != 0)
    c.fail("cosines of shape {} do not fit an input of shape {}", cosines.shape(), x.shape());
  const Variable split = joined ? split_heads(c, x, heads != 0 ? heads : x.shape(2) / (2 * cosines.shape(1))) : x;
  const std::int64_t n = split.shape(0), L = split.shape(2);
  Array positions = c.array(1).astype(Dtype::int64);
  if (positions.size() == 1) positions = add(arange(L, Dtype::int64).to_device(c.device()), positions.reshape({1}));
  positions = broadcast_to(positions, {n, L});
  const Variable y = rotated(c, split, at_positions(cosines, positions), at_positions(sines, positions), interleaved);
  return {joined ? join_heads(y) : y};
}

void refuse_quantised_caches(const Call& c) {
  for (const char* name : {"k_quant_type", "v_quant_type"})
    if (c.text(name, "NONE") != "NONE") c.fail("quantised keys and values are not supported");
  c.integer("kv_cache_bit_width", 0);
  if (c.integer("sliding_window_cache", 0) != 0) c.fail("sliding_window_cache is not supported");
  if (c.has(12) || c.has(13)) c.fail("quantised keys and values are not supported");
  if (c.has(14) || c.has(15)) c.fail("normalised queries and keys are not supported");
  if (c.has(16)) c.fail("query_seqlens is not supported");
  if (c.integer("qk_output", 0) != 0) c.fail("qk_output is not supported");
}

/// Reads q, k and v, which may be joined in the first input.
AttentionArguments grouped_heads(const Call& c, std::int64_t heads, std::int64_t groups) {
  if (heads < 1 || groups < 1 || heads % groups != 0) c.fail("{} heads do not share the keys of {}", heads, groups);
  const Variable q = c.x(0);
  if (c.has(1)) return {split_heads(c, q, heads), split_heads(c, c.x(1), groups), split_heads(c, c.x(2), groups)};
  const Variable all = split_heads(c, q, heads + 2 * groups);
  const auto part = [&](std::int64_t from, std::int64_t count) {
    return F::get_item(all, {Index(slice()), Index(slice(from, from + count))});
  };
  return {part(0, heads), part(heads, groups), part(heads + groups, groups)};
}

/// Writes x [n, groups, L, E] after the `past` keys of each sample into the cache (input `i`), which grows to `size`.
Variable grown_cache(const Call& c, int i, const Variable& x, const Integers& past, std::int64_t size) {
  Shape missing = x.shape();
  missing[2] = size - (c.has(i) ? c.x(i).shape(2) : 0);
  Variable cache(zeros(missing, x.dtype()).to_device(c.device()));
  if (c.has(i)) cache = missing[2] == 0 ? c.x(i) : F::concat({c.x(i), cache}, 2);
  return written_to_cache(c, cache, x, past, 2);
}

Values group_query_attention(const Call& c) {
  const bool causal = c.integer("causal", 1) != 0, interleaved = c.integer("rotary_interleaved", 0) != 0;
  refuse_quantised_caches(c);
  c.real("qk_norm_epsilon", 1e-6);
  AttentionArguments a = grouped_heads(c, c.integer("num_heads"), c.integer("kv_num_heads"));
  const std::int64_t n = a.q.shape(0), L = a.q.shape(2), total = c.integers(6).value_or(Integers{0}).at(0);
  const std::int64_t size = std::max(total, c.has(3) ? c.x(3).shape(2) : 0);
  Integers past = c.integers(5).value_or(Integers());  // of each sample
  if (std::ssize(past) != n || a.k.shape(2) != L || total < L)
    c.fail("{} lengths, {} new keys and {} keys in all do not fit {} samples of {} queries", past.size(), a.k.shape(2),
           total, n, L);
  for (std::int64_t& length : past) length = total == L ? 0 : length + 1 - L;
  const Array first = Array::from_host(past.data(), {n}, Dtype::int64, c.device());
  if (c.integer("do_rotary", 0) != 0) {
    const Array steps = arange(L, Dtype::int64).to_device(c.device());
    const Array positions = c.has(9) ? c.array(9) : add(first.reshape({n, 1}), steps);
    const Variable cosines = at_positions(c.x(7), positions), sines = at_positions(c.x(8), positions);
    a.q = rotated(c, a.q, cosines, sines, interleaved);
    a.k = rotated(c, a.k, cosines, sines, interleaved);
  }
  a.k = grown_cache(c, 3, a.k, past, size);
  a.v = grown_cache(c, 4, a.v, past, size);
  if (c.real("scale", 0.0) != 0) a.options.scale = c.real("scale");
  a.softcap = c.real("softcap", 0.0);
  if (c.has(11)) a.sinks = c.x(11);
  if (c.integer("smooth_softmax", -1) > 0 && !c.has(11))
    a.sinks = Variable(zeros({a.q.shape(1)}, a.q.dtype()).to_device(c.device()));
  const std::int64_t window = c.integer("local_window_size", -1);  // counts a query's own key
  if (window < -1 || window == 0) c.fail("local_window_size {} is not supported", window);
  if (c.has(10)) {
    Shape missing = c.x(10).shape();
    missing[missing.size() - 1] = size - missing[missing.size() - 1];
    a.options.mask = F::concat({c.x(10), Variable(zeros(missing, a.q.dtype()).to_device(c.device()))}, 3);
  }
  if (causal && std::all_of(past.begin(), past.end(), [&](std::int64_t p) { return p == past[0]; })) {
    a.options.causal = true;
    a.options.first = past.empty() ? 0 : past[0];
    a.options.window = std::max<std::int64_t>(window, 0);
  } else {
    const Array seen =
        causal ? keys_in_reach(first, L, size, {window - 1, 0}) : keys_in_reach(add(first, L - 1), 1, size, {-1, 0});
    a.options.mask = also_masked(a.options.mask, seen);
  }
  return {join_heads(attend(c, a).y), a.k, a.v};
}

}  // namespace

std::span<const Operator> microsoft_attention_operators() {
  static const Operator rows[] = {
      {"MultiHeadAttention", 1, multi_head_attention, "com.microsoft"},
      {"Attention", 1, projected_attention, "com.microsoft"},
      {"RotaryEmbedding", 1, rotary_embedding_of_tables, "com.microsoft"},
      {"GroupQueryAttention", 1, group_query_attention, "com.microsoft"},
  };
  return rows;
}

}  // namespace catenary::onnx
