// Attention, linear attention, and the caches of language models.

#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/onnx/attention.h"

namespace catenary::onnx {

namespace {

/// Reads q, k and v, whose heads may be joined in the last axis.
AttentionArguments heads_of(const Call& c) {
  AttentionArguments a{c.x(0), c.x(1), c.x(2)};
  const int ndim = a.q.ndim();
  if (ndim != a.k.ndim() || ndim != a.v.ndim() || (ndim != 3 && ndim != 4))
    c.fail("q, k and v of shapes {}, {} and {} must have 3 or 4 axes", a.q.shape(), a.k.shape(), a.v.shape());
  if (ndim == 3) {
    const std::int64_t heads = c.integer("q_num_heads"), groups = c.integer("kv_num_heads");
    a.q = split_heads(c, a.q, heads);
    a.k = split_heads(c, a.k, groups);
    a.v = split_heads(c, a.v, groups);
  } else if (c.integer("q_num_heads", a.q.shape(1)) != a.q.shape(1) ||
             c.integer("kv_num_heads", a.k.shape(1)) != a.k.shape(1)) {
    c.fail("the numbers of heads differ from q of shape {} and k of shape {}", a.q.shape(), a.k.shape());
  }
  return a;
}

/// Returns the mask (input 3) with all keys hidden that it does not reach.
Variable mask_of(const Call& c, std::int64_t keys) {
  if (!c.has(3)) return {};
  const Variable mask = c.x(3);
  const int last = mask.ndim() - 1;
  if (last < 0) c.fail("the mask has no axes");
  if (mask.shape(last) >= keys) return mask;
  Shape missing = mask.shape();
  missing[last] = keys - mask.shape(last);
  const Scalar hidden = mask.dtype() == Dtype::bool_ ? Scalar(false) : Scalar(-INFINITY);
  return F::concat({mask, Variable(full(missing, hidden, mask.dtype()).to_device(c.device()))}, last);
}

/// Reads which keys the queries see, for `past` keys from the cache.
void read_reach(const Call& c, AttentionArguments& a, std::int64_t past) {
  const std::int64_t L = a.q.shape(2), S = a.k.shape(2);
  Reach reach{c.integer("left_window_size", -1), c.integer("right_window_size", -1)};
  if (reach.before < -1 || reach.after < -1) c.fail("a window size is below -1");
  if (c.integer("is_causal", 0) != 0) reach.after = 0;
  const bool by_lengths = c.opset() >= 24 && c.has(6);
  if (by_lengths) {
    const Array lengths = c.array(6).astype(Dtype::int64).reshape({a.q.shape(0)});
    a.options.mask = also_masked(a.options.mask, keys_in_reach(lengths - L, L, S, reach));
    a.options.mask = also_masked(a.options.mask, keys_in_reach(lengths - 1, 1, S, {-1, 0}));
  } else if (reach.after == 0) {
    a.options.causal = true;
    a.options.first = past;
    a.options.window = reach.before + 1;
  } else if (reach.before >= 0 || reach.after >= 0) {
    const Array first = full({1}, past, Dtype::int64).to_device(c.device());
    a.options.mask = also_masked(a.options.mask, keys_in_reach(first, L, S, reach));
  }
}

std::optional<Dtype> softmax_precision(const Call& c) {
  const std::int64_t type = c.integer("softmax_precision", 0);
  if (type == 0) return {};
  const std::optional<Dtype> dtype = dtype_of_type(static_cast<int>(type));
  if (!dtype || !is_floating(*dtype))
    c.fail("softmax_precision {} is not supported", name_of_type(static_cast<int>(type)));
  return dtype;
}

Values attention(const Call& c) {
  AttentionArguments a = heads_of(c);
  if (c.has(4) != c.has(5)) c.fail("past_key and past_value must be given together");
  if (c.has(4) && c.has(6)) c.fail("nonpad_kv_seqlen cannot be combined with past keys");
  const std::int64_t past = c.has(4) ? c.x(4).shape(2) : 0;
  if (c.has(4)) {
    a.k = F::concat({c.x(4), a.k}, 2);
    a.v = F::concat({c.x(5), a.v}, 2);
  }
  const Variable v = a.v;
  if (v.dtype() != a.q.dtype()) a.v = F::cast(v, a.q.dtype());
  if (c.find("scale")) a.options.scale = c.real("scale");
  a.softcap = c.real("softcap", 0.0);
  a.precision = softmax_precision(c);
  a.options.mask = mask_of(c, a.k.shape(2));
  read_reach(c, a, past);
  const std::int64_t mode = c.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) c.fail("qk_matmul_output_mode is {} where 0 to 3 are known", mode);
  const Attended result = attend(c, a, c.wants(3) ? std::optional(static_cast<AttentionMatrix>(mode)) : std::nullopt);
  return {c.x(0).ndim() == 3 ? join_heads(result.y) : result.y, a.k, v, result.matrix};
}

/// Attention whose scores and weights are changed by graphs.
Values flexible_attention(const Call& c) {
  AttentionArguments a{c.x(0), c.x(1), c.x(2)};
  if (a.q.ndim() != 4 || a.k.ndim() != 4 || a.v.ndim() != 4)
    c.fail("q, k and v of shapes {}, {} and {} must have 4 axes", a.q.shape(), a.k.shape(), a.v.shape());
  if (c.find("scale")) a.options.scale = c.real("scale");
  const std::optional<Dtype> precision = softmax_precision(c);
  a.precision = precision ? *precision : promote(a.q.dtype(), Dtype::float32);
  const auto change = [&c](const char* name) -> std::function<Variable(const Variable&)> {
    if (!c.find(name)) return {};
    c.graph(name);
    return [&c, name](const Variable& x) {
      const Values results = c.run(name, {x});
      if (results.size() != 1 || results[0].array().shape() != x.shape() || results[0].array().dtype() != x.dtype())
        c.fail("{} must return one array of shape {} and dtype {}", name, x.shape(), x.dtype());
      return results[0].variable();
    };
  };
  a.change_scores = change("score_mod");
  a.change_weights = change("prob_mod");
  return {attend(c, a).y};
}

Values rotary_embedding(const Call& c) {
  const Variable x = c.x(0);
  const bool joined = x.ndim() == 3;
  const std::int64_t heads = c.integer("num_heads", 0), dims = c.integer("rotary_embedding_dim", 0);
  const bool interleaved = c.integer("interleaved", 0) != 0;
  if (!joined && x.ndim() != 4) c.fail("an input of shape {} must have 3 or 4 axes", x.shape());
  const auto at_positions = [&](int i) {
    return c.has(3) ? F::get_item(c.x(i), {Index(c.array(3).astype(Dtype::int64))}) : c.x(i);
  };
  const Variable cosines = at_positions(1), sines = at_positions(2), split = joined ? split_heads(c, x, heads) : x;
  const std::int64_t wanted = dims ? dims : split.shape(3);
  if (2 * cosines.shape(cosines.ndim() - 1) != wanted)
    c.fail("cosines of shape {} do not rotate {} elements", cosines.shape(), wanted);
  const Variable y = rotated(c, split, cosines, sines, interleaved);
  return {joined ? join_heads(y) : y};
}

/// The inputs of linear attention in float32 at least: q [n, T, groups, heads of a group, K], k and decay [n, T,
/// groups, 1, K], v [n, T, groups, 1, V], beta [n, T, groups, 1, 1].
struct LinearAttentionInputs {
  Variable q, k, v, decay, beta;
};

LinearAttentionInputs linear_inputs(const Call& c, bool gated, bool corrected) {
  const std::int64_t heads = c.integer("q_num_heads"), groups = c.integer("kv_num_heads");
  if (groups < 1 || heads < 1 || heads % groups != 0) c.fail("{} heads do not share the keys of {}", heads, groups);
  if (c.has(4) != gated) c.fail("decay is missing, or the update rule does not use it");
  if (c.has(5) != corrected) c.fail("beta is missing, or the update rule does not use it");
  const Variable q = c.x(0);
  if (q.ndim() != 3) c.fail("the queries have {} axes instead of 3", q.ndim());
  const Dtype wide = promote(q.dtype(), Dtype::float32);
  const auto split = [&](int i, std::int64_t shared, std::int64_t rows) {
    const Variable x = F::cast(c.x(i), wide);
    if (x.ndim() != 3 || x.shape(0) != q.shape(0) || x.shape(1) != q.shape(1) || x.shape(2) % (shared * rows) != 0)
      c.fail("input {} of shape {} does not fit queries of shape {} with {} heads", i, x.shape(), q.shape(), shared);
    return F::reshape(x, {x.shape(0), x.shape(1), shared, rows, x.shape(2) / (shared * rows)});
  };
  LinearAttentionInputs in{split(0, groups, heads / groups), split(1, groups, 1), split(2, groups, 1), {}, {}};
  if (gated) in.decay = F::exp(split(4, groups, 1));
  if (corrected) in.beta = split(5, c.x(5).ndim() == 3 && c.x(5).shape(2) == 1 ? 1 : groups, 1);
  return in;
}

Values linear_attention(const Call& c) {
  const std::string rule = c.text("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta", corrected = rule == "delta" || rule == "gated_delta";
  if (!gated && !corrected && rule != "linear") c.fail("update_rule '{}' is not known", rule);
  c.integer("chunk_size", 64);
  const LinearAttentionInputs in = linear_inputs(c, gated, corrected);
  const Shape q = in.q.shape();
  const std::int64_t n = q[0], steps = q[1], V = in.v.shape(4);
  const double given = c.real("scale", 0.0), scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(q[4]));
  const Shape of_state{n, q[2], q[4], V};
  if (c.has(3) && c.x(3).shape() != of_state)
    c.fail("a state of shape {} where {} is needed", c.x(3).shape(), of_state);
  Variable state =
      c.has(3) ? F::cast(c.x(3), in.q.dtype()) : Variable(zeros(of_state, in.q.dtype()).to_device(c.device()));
  std::vector<Variable> outputs;
  for (std::int64_t t = 0; t < steps; ++t) {
    const auto step = [&](const Variable& x) { return F::get_item(x, {Index(slice()), Index(t)}); };
    const Variable k = step(in.k);
    Variable v = step(in.v);
    if (gated) state = state * F::swapaxes(step(in.decay), 2, 3);
    if (corrected) v = step(in.beta) * (v - F::matmul(k, state));
    state = state + F::matmul(k, v, true, false);
    outputs.push_back(F::matmul(step(in.q) * scale, state));
  }
  const Shape shape{n, steps, q[2] * q[3] * V};
  const Variable y = outputs.empty() ? Variable(zeros(shape, in.q.dtype()).to_device(c.device()))
                                     : F::reshape(F::stack(outputs, 1), shape);
  return {F::cast(y, c.x(0).dtype()), F::cast(state, c.has(3) ? c.x(3).dtype() : c.x(0).dtype())};
}

Values causal_convolution(const Call& c) {
  const Variable x = c.x(0), weight = c.x(1);
  const std::string activation = c.text("activation", "none");
  const bool silu = activation == "silu" || activation == "swish";
  if (!silu && activation != "none") c.fail("activation '{}' is not known", activation);
  if (x.ndim() != 3 || weight.ndim() != 3 || weight.shape(0) != x.shape(1) || weight.shape(1) != 1)
    c.fail("a weight of shape {} does not fit an input of shape {}", weight.shape(), x.shape());
  const Shape of_state{x.shape(0), x.shape(1), weight.shape(2) - 1};
  const Variable past = c.has(3) ? c.x(3) : Variable(zeros(of_state, x.dtype()).to_device(c.device()));
  if (past.shape() != of_state) c.fail("a state of shape {} where {} is needed", past.shape(), of_state);
  const Variable all = F::concat({past, x}, 2);
  F::ConvolutionOptions options;
  options.groups = x.shape(1);
  const Variable y =
      c.has(2) ? F::convolution_1d(all, weight, c.x(2), options) : F::convolution_1d(all, weight, options);
  const std::int64_t length = all.shape(2);
  return {silu ? F::silu(y) : y, F::get_item(all, {Index(ellipsis), Index(slice(length - of_state[2], length))})};
}

Values scattered_to_cache(const Call& c) {
  const Variable cache = c.x(0), update = c.x(1);
  const std::string mode = c.text("mode", "linear");
  if (mode != "linear" && mode != "circular") c.fail("mode '{}' is not known", mode);
  const int axis = axis_of(c, c.integer("axis", -2), cache.ndim());
  if (axis == 0) c.fail("axis 0 holds the samples");
  const Integers zero(static_cast<std::size_t>(cache.shape(0)), 0);
  return {written_to_cache(c, cache, update, c.integers(2).value_or(zero), axis, mode == "circular")};
}

}  // namespace

std::span<const Operator> attention_operators() {
  static const Operator rows[] = {
      {"Attention", 23, attention},
      {"FlexAttention", 1, flexible_attention, "ai.onnx.preview"},
      {"RotaryEmbedding", 23, rotary_embedding},
      {"LinearAttention", 27, linear_attention},
      {"CausalConvWithState", 27, causal_convolution},
      {"TensorScatter", 24, scattered_to_cache},
  };
  return rows;
}

}  // namespace catenary::onnx
