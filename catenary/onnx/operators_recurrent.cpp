// Recurrent networks: RNN, GRU and LSTM, one step at a time.

#include <algorithm>
#include <array>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/linalg.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

using Activation = Variable (*)(const Variable&);

Activation activation_of(const Call& c, const std::string& name) {
  if (name == "Sigmoid") return F::sigmoid;
  if (name == "Tanh") return F::tanh;
  if (name == "Relu") return F::relu;
  c.fail("activation '{}' is not supported (Sigmoid, Tanh and Relu are)", name);
}

/// The weights of a product, [outputs, inputs], or whole numbers [inputs, outputs] with a scale, in a dtype in which
/// their sums of products with 8-bit integers are exact.
struct Weights {
  Variable w;
  Array whole, scale;

  Variable times(const Variable& x) const {
    if (!whole.defined()) return F::matmul(x, w, false, true);
    const auto [y, step, zero] = dynamically_quantized(x.array());
    const Array product = matmul(subtract(y.astype(whole.dtype()), zero.astype(whole.dtype())), whole);
    return Variable(multiply(product.astype(step.dtype()), multiply(step, scale)));
  }
};

/// The parameters of one direction of a layer. Shapes: b [2 gates h], h [n, h].
struct Direction {
  Weights W, R;
  Variable b, bR, h, c, peephole;
  std::vector<Activation> f;
  bool backwards;
};

/// Rows of a layer's steps: x [steps, n, inputs] and the mask of valid steps [steps, n, 1], if lengths are given.
struct Sequence {
  Variable x;
  Array valid;
  std::int64_t hidden;
};

Variable part(const Variable& v, std::int64_t k, std::int64_t size) {
  return F::get_item(v, {Index(ellipsis), Index(slice(k * size, (k + 1) * size))});
}

/// A step of a cell: the input's products with W [n, gates h], and the state h, c.
using CellStep = std::pair<Variable, Variable> (*)(const Call&, const Direction&, const Variable& wx, const Variable& h,
                                                   const Variable& c, std::int64_t size);

std::pair<Variable, Variable> rnn_step(const Call&, const Direction& d, const Variable& wx, const Variable& h,
                                       const Variable& c, std::int64_t) {
  return {d.f[0](wx + d.R.times(h) + d.bR), c};
}

std::pair<Variable, Variable> gru_step(const Call& call, const Direction& d, const Variable& wx, const Variable& h,
                                       const Variable& c, std::int64_t size) {
  const bool reset_after = call.integer("linear_before_reset", 0) != 0;
  const Variable rh = d.R.times(h) + d.bR;
  const Variable z = d.f[0](part(wx, 0, size) + part(rh, 0, size)), r = d.f[0](part(wx, 1, size) + part(rh, 1, size));
  const auto rows = [&](const Variable& v) { return F::get_item(v, {Index(slice(2 * size, 3 * size))}); };
  const Variable inner = reset_after ? r * part(rh, 2, size) : F::matmul(r * h, rows(d.R.w), false, true) + rows(d.bR);
  const Variable candidate = d.f[1](part(wx, 2, size) + inner);
  return {(1 - z) * candidate + z * h, c};
}

std::pair<Variable, Variable> lstm_step(const Call& call, const Direction& d, const Variable& wx, const Variable& h,
                                        const Variable& c, std::int64_t size) {
  const Variable gates = wx + d.R.times(h) + d.bR;
  const auto peep = [&](std::int64_t k, const Variable& state) {
    const Variable gate = part(gates, k == 2 ? 2 : k, size);
    if (!d.peephole.defined()) return gate;
    const std::int64_t of[] = {0, 1, 2};  // input, output, forget
    return gate + part(d.peephole, of[k], size) * state;
  };
  const Variable i = d.f[0](peep(0, c)), f = call.integer("input_forget", 0) != 0 ? 1 - i : d.f[0](peep(2, c));
  const Variable next = f * c + i * d.f[1](part(gates, 3, size));
  return {d.f[0](peep(1, next)) * d.f[2](next), next};
}

/// Returns the outputs [steps, n, h], and the last h and c.
std::array<Variable, 3> run_direction(const Call& call, const Direction& d, const Sequence& s, CellStep step) {
  const std::int64_t steps = s.x.shape(0);
  const Variable wx = d.W.times(s.x) + d.b;
  Variable h = d.h, c = d.c;
  std::vector<Variable> outputs(static_cast<std::size_t>(steps));
  for (std::int64_t k = 0; k < steps; ++k) {
    const std::int64_t t = d.backwards ? steps - 1 - k : k;
    const auto [next_h, next_c] = step(call, d, wx[t], h, c, s.hidden);
    Variable y = next_h;
    if (s.valid.defined()) {  // sequences that have ended keep their state
      const Variable valid(broadcast_to(s.valid(t), h.shape()));
      y = F::where(valid, next_h, next_h * 0);
      h = F::where(valid, next_h, h);
      if (c.defined()) c = F::where(valid, next_c, c);
    } else {
      h = next_h;
      c = next_c;
    }
    outputs[static_cast<std::size_t>(t)] = y;
  }
  return {F::stack(outputs, 0), h, c};
}

/// Reads the weights in input 1 or 2 of direction k. Those of 8 bits have scales and zero points from input 8 on.
Weights weights_of(const Call& c, int i, int k) {
  const Variable w = c.x(i)[k];
  if (is_floating(w.dtype())) return {w, {}, {}};
  const int scale = i == 1 ? 8 : 10;
  const Array zero = c.array(scale + 1)(k);
  const Array whole = c.kept(2 * i + k, {i, scale + 1}, [&] {
    const Array all = subtract(w.array().astype(Dtype::int32), zero.astype(Dtype::int32));
    return all.astype(exact_dtype(c, all, 0));
  });
  return {{}, whole, c.array(scale)(k)};
}

/// Returns whether the batch is the first axis of the arrays (layout 1).
bool has_batch_first(const Call& c) { return c.opset() >= 14 && c.integer("layout", 0) != 0; }

/// Reads one direction `k` of the inputs X, W, R, B, sequence_lens, initial_h, initial_c, P.
Direction direction_of(const Call& c, int k, std::int64_t gates, std::int64_t hidden, std::int64_t n, bool has_cell,
                       const std::vector<std::string>& names) {
  Direction d{weights_of(c, 1, k), weights_of(c, 2, k), {}, {}, {}, {}, {}, {}, false};
  const Dtype dtype = c.x(0).dtype();
  const auto zeros_of = [&](const Shape& shape) { return Variable(zeros(shape, dtype).to_device(c.device())); };
  const Variable both = c.has(3) ? c.x(3)[k] : zeros_of({2 * gates * hidden});
  d.b = part(both, 0, gates * hidden);
  d.bR = part(both, 1, gates * hidden);
  const auto state = [&](int i) {
    if (!c.has(i)) return zeros_of({n, hidden});
    return has_batch_first(c) ? F::get_item(c.x(i), {Index(slice()), Index(k)}) : c.x(i)[k];
  };
  d.h = state(5);
  if (has_cell) d.c = state(6);
  if (has_cell && c.has(7)) d.peephole = c.x(7)[k];
  const std::size_t count = names.size() / (c.x(1).shape(0) == 2 ? 2 : 1);
  for (std::size_t i = 0; i < count; ++i)
    d.f.push_back(activation_of(c, names[static_cast<std::size_t>(k) * count + i]));
  return d;
}

/// Returns the direction, and refuses attributes that are not supported.
std::string checked_direction(const Call& c) {
  const std::string way = c.text("direction", "forward");
  if (c.find("clip")) c.fail("clip is not supported");
  if (c.find("activation_alpha") || c.find("activation_beta")) c.fail("parameters of activations are not supported");
  return way;
}

void check_recurrent(const Call& c) {
  checked_direction(c);
  if (const Attribute* given = c.find("activations"))
    for (const std::string& name : given->texts) activation_of(c, name);
}

Values recurrent(const Call& c, std::int64_t gates, std::vector<std::string> defaults, CellStep step) {
  const bool has_cell = gates == 4;
  const std::string way = checked_direction(c);
  const int directions = way == "bidirectional" ? 2 : 1;
  const std::int64_t hidden = c.x(2).shape(is_floating(c.x(2).dtype()) ? 2 : 1);
  c.integer("hidden_size", hidden);
  const Attribute* given = c.find("activations");
  std::vector<std::string> names = given ? given->texts : defaults;
  if (!given && directions == 2) names.insert(names.end(), defaults.begin(), defaults.end());
  if (names.size() != defaults.size() * static_cast<std::size_t>(directions))
    c.fail("{} activations are given", names.size());
  const bool batch_first = has_batch_first(c);
  if (c.x(0).ndim() != 3) c.fail("the input has {} axes instead of 3", c.x(0).ndim());
  Sequence s{batch_first ? F::transpose(c.x(0), {1, 0, 2}) : c.x(0), {}, hidden};
  const std::int64_t steps = s.x.shape(0), n = s.x.shape(1);
  if (c.has(4)) {
    const Array lengths = c.array(4).astype(Dtype::int64).reshape({1, n, 1});
    s.valid = less(arange(steps).to_device(c.device()).reshape({steps, 1, 1}), lengths);
  }
  std::vector<Variable> ys, hs, cs;
  for (int k = 0; k < directions; ++k) {
    Direction d = direction_of(c, k, gates, hidden, n, has_cell, names);
    d.backwards = way == "reverse" || k == 1;
    const auto [y, h, cell] = run_direction(c, d, s, step);
    ys.push_back(y);
    hs.push_back(h);
    cs.push_back(cell);
  }
  const auto states = [&](const std::vector<Variable>& list) { return F::stack(list, batch_first ? 1 : 0); };
  const Variable y = F::stack(ys, 1);
  Values results{batch_first ? F::transpose(y, {2, 0, 1, 3}) : y, states(hs)};
  if (has_cell) results.push_back(states(cs));
  return results;
}

}  // namespace

std::span<const Operator> recurrent_operators() {
  static const Operator rows[] = {
      {"RNN", 7, [](const Call& c) { return recurrent(c, 1, {"Tanh"}, rnn_step); }, "", check_recurrent},
      {"GRU", 7,
       [](const Call& c) {
         c.integer("linear_before_reset", 0);
         return recurrent(c, 3, {"Sigmoid", "Tanh"}, gru_step);
       },
       "", check_recurrent},
      {"LSTM", 7,
       [](const Call& c) {
         c.integer("input_forget", 0);
         return recurrent(c, 4, {"Sigmoid", "Tanh", "Tanh"}, lstm_step);
       },
       "", check_recurrent},
      {"DynamicQuantizeLSTM", 1,
       [](const Call& c) {
         c.integer("input_forget", 0);
         return recurrent(c, 4, {"Sigmoid", "Tanh", "Tanh"}, lstm_step);
       },
       "com.microsoft", check_recurrent},
  };
  return rows;
}

}  // namespace catenary::onnx
