// Stacks of recurrent layers over sequences.
//
// A layer in one direction is a single node of the graph. A single product multiplies the inputs of all times, each
// step adds the state's product and runs one program (on the CPU a loop), and gradients of weights are again a single
// product over all times. If a gradient is to be differentiated again, the layer is recomputed step by step on
// variables.

#include <algorithm>
#include <optional>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/autograd/attributes.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/array.h"
#include "catenary/functions/connection.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/noise.h"
#include "catenary/functions/rnn.h"
#include "catenary/functions/rows.h"

namespace catenary::functions {

namespace {

using std::int64_t;

/// c = (or +=) a b, into existing memory.
void multiply_into(const Array& c, const Array& a, const Array& b, bool accumulate) {
  if (c.size() == 0) return;
  compute(c.device(), primitives::Matmul{stack_of_one(readable(a)), stack_of_one(readable(b)),
                                         stack_of_one(writable(c)), nullptr, accumulate});
}

/// A matrix [k, n] that is multiplied by few rows many times. On the CPU it is stored once in panels 64 bytes wide,
/// with a product for each panel. Steps then read it sequentially at memory speed, without packing.
class StepMatrix {
 public:
  StepMatrix(const Array& matrix, int64_t rows, int steps) : matrix_(matrix) {
    constexpr int64_t kFewRows = 128;
    constexpr int kManySteps = 4;
    const int64_t width = 64 / static_cast<int64_t>(matrix.itemsize());
    const int64_t k = matrix.shape(0), count = matrix.shape(1) / width;
    if (!matrix.device().is_cpu() || matrix.itemsize() < 4 || rows > kFewRows || steps < kManySteps || count < 2 ||
        k == 0)
      return;
    panels_ = matrix(slice(), slice(count * width)).reshape({k, count, width}).transpose({1, 0, 2}).contiguous();
  }
  /// c = (or +=) a times the matrix.
  void multiply(const Array& c, const Array& a, bool accumulate) const {
    if (!panels_.defined() || c.size() == 0) return multiply_into(c, a, matrix_, accumulate);
    const int64_t count = panels_.shape(0), width = panels_.shape(2), done = count * width;
    View rows = readable(a), to = writable(c);
    rows.shape.insert(0, count);
    rows.strides.insert(0, 0);
    to.shape = {count, to.shape[0], width};
    to.strides = {width * to.strides[1], to.strides[0], to.strides[1]};
    compute(c.device(), primitives::Matmul{rows, readable(panels_), to, nullptr, accumulate});
    if (done < c.shape(1))
      multiply_into(c(slice(), slice(done, none)), a, matrix_(slice(), slice(done, none)), accumulate);
  }

 private:
  Array matrix_, panels_;
};

/// In C order, as the loops for cells need it.
Array in_rows(const Array& a) { return detail::with_strides(a, contiguous_strides(a.shape()), a.dtype()); }

/// Columns [k · units, (k + 1) · units): a gate of [rows, gates · units].
template <class V>
V gate(const V& x, int k, int64_t units) {
  return x(slice(), slice(k * units, (k + 1) * units));
}

// Cells:
//
// - `forward` turns p, the gates' arguments of one step [n, gates · units], into the gates and writes the new state.
// - `backward` receives the gates and the gradients gh and gc of the new state. It writes the arguments' gradients to
// dp, and
//   the part of the previous state's gradient that does not pass through the weights to gh and gc.
// - `plain` is one step on variables, from the two parts of the arguments.
// - `kStep` names the loop that computes `forward` and `backward` on a device that has it.
//
// Cells whose state part cannot be added to p beforehand (kSplit) have q for it, and dq for its gradient.

struct LstmCell {
  static constexpr const char* kName = "NStepLSTM";
  static constexpr int kGates = 4;
  static constexpr std::optional<RecurrentCell> kStep = RecurrentCell::lstm;
  static constexpr bool kCell = true, kSplit = false;

  static void forward(const Array& p, const Array&, const Array&, const Array& c_prev, const Array& h, const Array& c) {
    const int64_t units = h.shape(1);
    const Array i = gate(p, 0, units), f = gate(p, 1, units), a = gate(p, 2, units), o = gate(p, 3, units);
    copyto(i, catenary::sigmoid(i));
    copyto(f, catenary::sigmoid(f));
    copyto(a, catenary::tanh(a));
    copyto(o, catenary::sigmoid(o));
    copyto(c, f * c_prev + i * a);
    copyto(h, o * catenary::tanh(c));
  }
  static void backward(const Array& p, const Array&, const Array&, const Array& c_prev, const Array& gh,
                       const Array& gc, const Array& dp, const Array&) {
    const int64_t units = gh.shape(1);
    const Array i = gate(p, 0, units), f = gate(p, 1, units), a = gate(p, 2, units), o = gate(p, 3, units);
    Array t = catenary::tanh(f * c_prev + i * a);
    copyto(gate(dp, 3, units), gh * t * o * (1.0 - o));
    const Array gs = gc + gh * o * (1.0 - t * t);
    t = Array();
    copyto(gate(dp, 0, units), gs * a * i * (1.0 - i));
    copyto(gate(dp, 1, units), gs * c_prev * f * (1.0 - f));
    copyto(gate(dp, 2, units), gs * i * (1.0 - a * a));
    copyto(gc, gs * f);
  }
  /// The gradient of the previous state passes only through the weights.
  static constexpr bool kStateByWeightsOnly = true;

  static std::pair<Variable, Variable> plain(const Variable& p, const Variable& q, const Variable&,
                                             const Variable& c_prev) {
    const int64_t units = c_prev.shape(1);
    const Variable s = p + q;
    const Variable i = sigmoid(gate(s, 0, units)), f = sigmoid(gate(s, 1, units)), a = tanh(gate(s, 2, units)),
                   o = sigmoid(gate(s, 3, units));
    const Variable c = f * c_prev + i * a;
    return {o * tanh(c), c};
  }
};

struct GruCell {
  static constexpr const char* kName = "NStepGRU";
  static constexpr int kGates = 3;
  static constexpr std::optional<RecurrentCell> kStep = RecurrentCell::gru;
  static constexpr bool kCell = false, kSplit = true, kStateByWeightsOnly = false;

  static void forward(const Array& p, const Array& q, const Array& h_prev, const Array&, const Array& h, const Array&) {
    const int64_t units = h.shape(1);
    const Array r = gate(p, 0, units), z = gate(p, 1, units), n = gate(p, 2, units);
    copyto(r, catenary::sigmoid(r + gate(q, 0, units)));
    copyto(z, catenary::sigmoid(z + gate(q, 1, units)));
    copyto(n, catenary::tanh(n + r * gate(q, 2, units)));
    copyto(h, (1.0 - z) * n + z * h_prev);
  }
  static void backward(const Array& p, const Array& q, const Array& h_prev, const Array&, const Array& gh, const Array&,
                       const Array& dp, const Array& dq) {
    const int64_t units = gh.shape(1);
    const Array r = gate(p, 0, units), z = gate(p, 1, units), n = gate(p, 2, units), m = gate(q, 2, units);
    const auto both = [&](int k, const Array& value) {
      copyto(gate(dp, k, units), value);
      copyto(gate(dq, k, units), value);
    };
    both(1, gh * (h_prev - n) * z * (1.0 - z));
    const Array dn = gh * (1.0 - z) * (1.0 - n * n);
    both(0, dn * m * r * (1.0 - r));
    copyto(gate(dp, 2, units), dn);
    copyto(gate(dq, 2, units), dn * r);
    copyto(gh, gh * z);
  }
  static std::pair<Variable, Variable> plain(const Variable& p, const Variable& q, const Variable& h_prev,
                                             const Variable&) {
    const int64_t units = h_prev.shape(1);
    const Variable r = sigmoid(gate(p, 0, units) + gate(q, 0, units)),
                   z = sigmoid(gate(p, 1, units) + gate(q, 1, units)),
                   n = tanh(gate(p, 2, units) + r * gate(q, 2, units));
    return {(1.0 - z) * n + z * h_prev, Variable()};
  }
};

template <RnnActivation activation>
struct RnnCell {
  static constexpr bool kTanh = activation == RnnActivation::tanh;
  static constexpr const char* kName = kTanh ? "NStepRNNTanh" : "NStepRNNReLU";
  static constexpr int kGates = 1;
  static constexpr std::optional<RecurrentCell> kStep = {};
  static constexpr bool kCell = false, kSplit = false, kStateByWeightsOnly = true;

  static void forward(const Array& p, const Array&, const Array&, const Array&, const Array& h, const Array&) {
    const Array y = kTanh ? catenary::tanh(p) : catenary::relu(p);
    copyto(p, y);
    copyto(h, y);
  }
  static void backward(const Array& p, const Array&, const Array&, const Array&, const Array& gh, const Array&,
                       const Array& dp, const Array&) {
    copyto(dp, kTanh ? gh * (1.0 - p * p) : catenary::where(p > 0, gh, 0));
  }
  static std::pair<Variable, Variable> plain(const Variable& p, const Variable& q, const Variable&, const Variable&) {
    const Variable s = p + q;
    return {kTanh ? tanh(s) : relu(s), Variable()};
  }
};

/// The order of rows of all times, and the order in which a layer visits them.
struct Schedule {
  std::vector<int64_t> counts;  ///< number of sequences at each time, never increases
  bool backward;

  int steps() const { return static_cast<int>(counts.size()); }
  /// The time of a step.
  int time(int step) const { return backward ? steps() - 1 - step : step; }
  int64_t count(int step) const { return counts[static_cast<std::size_t>(time(step))]; }
  Slice rows(int step) const {
    int64_t begin = 0;
    for (int t = 0; t < time(step); ++t) begin += counts[static_cast<std::size_t>(t)];
    return slice(begin, begin + count(step));
  }
  /// The first `count` rows of the state before a step (after all steps: steps()), in parts: each row comes from its
  /// last earlier step, or from the initial state.
  template <class V, class Of>
  std::vector<V> state_before(int step, int64_t count, const V& start, Of&& after) const {
    std::vector<V> parts;
    int64_t known = 0;
    for (int s = step - 1; s >= 0 && known < count; --s) {
      const int64_t n = std::min(this->count(s), count);
      if (n <= known) continue;
      const V state = after(s);
      parts.push_back(known == 0 && n == state.shape(0) ? state : state(slice(known, n)));
      known = n;
    }
    if (known < count || parts.empty()) parts.push_back(start(slice(known, count)));
    return parts;
  }
};
CT_FIELDS(Schedule, counts, backward)

/// One layer in one direction. Inputs: x [rows of all times, in], W_x [gates · units, in], W_h [gates · units, units],
/// b_x, b_h, and the initial h and, of LSTMs, c [batch, units]. Outputs: h of all rows, final h, final c.
template <class Cell>
class Layer : public FunctionNode {
 public:
  explicit Layer(Schedule schedule) : schedule_(std::move(schedule)) {}
  const char* name() const override { return Cell::kName; }
  CT_ATTRIBUTES(schedule_)

 protected:
  Arrays forward(Inputs in) override {
    const Array &x = in[kX], &Wx = in[kWx], &Wh = in[kWh], &bx = in[kBx], &bh = in[kBh], &h0 = in[kH];
    const int64_t rows = x.shape(0), units = h0.shape(1);
    p_ = catenary::matmul(x, Wx.T(), {.bias = Cell::kSplit ? bx : bx + bh});
    if (Cell::kSplit) q_ = bh.broadcast_to({rows, Cell::kGates * units}).copy();
    h_ = Array::empty({rows, units}, x.dtype(), x.device());
    if (Cell::kCell) c_ = Array::empty({rows, units}, x.dtype(), x.device());
    const StepMatrix weights(Wh.T(), h0.shape(0), schedule_.steps());
    for (int s = 0; s < schedule_.steps(); ++s) {
      const Slice at = schedule_.rows(s);
      const Array h_prev = before(h_, h0, s), c_prev = Cell::kCell ? before(c_, in[kC], s) : Array();
      const Array p = p_(at), q = Cell::kSplit ? q_(at) : Array();
      if constexpr (Cell::kSplit) {
        weights.multiply(q, h_prev, true);
      } else {
        weights.multiply(p, h_prev, true);
      }
      const Array h = h_(at), c = Cell::kCell ? c_(at) : Array();
      if (has_step(x)) {
        detail::recurrent_step(*Cell::kStep,
                               {.p = p, .before = in_rows(Cell::kCell ? c_prev : h_prev), .q = q, .h = h, .c = c});
      } else {
        Cell::forward(p, q, h_prev, c_prev, h, c);
      }
    }
    retain_inputs(in);
    Arrays results = {h_, at_end(h_, h0)};
    if (Cell::kCell) results.push_back(at_end(c_, in[kC]));
    return results;
  }

  Variables backward(Targets targets, Grads gys) override {
    if (config.enable_backprop) return plain_backward(targets, gys);
    const Array &x = input(kX).data(), &Wx = input(kWx).data(), &Wh = input(kWh).data(), &h0 = input(kH).data();
    const Array c0 = Cell::kCell ? input(kC).data() : Array();
    const auto state_gradient = [&](std::size_t output) {
      if (!gys[output].defined()) return zeros_like(h0);
      return gys[output].array().copy();
    };
    const bool in_one_pass = has_step(x);
    Array gh = state_gradient(1), gc = Cell::kCell ? state_gradient(2) : Array();
    Array gy = gys[0].defined() ? gys[0].array() : Array();
    if (in_one_pass)
      for (Array* const a : {&gh, &gc, &gy})
        if (a->defined()) *a = in_rows(*a);
    const Array dp = empty_like(p_), dq = Cell::kSplit ? empty_like(p_) : dp;
    const StepMatrix weights(Wh, h0.shape(0), schedule_.steps());
    for (int s = schedule_.steps() - 1; s >= 0; --s) {
      const Slice at = schedule_.rows(s), first = slice(schedule_.count(s));
      const Array g = gh(first), ds = dq(at);
      const Array q = Cell::kSplit ? q_(at) : Array(), c_gradient = Cell::kCell ? gc(first) : Array();
      if (in_one_pass) {
        detail::recurrent_step(*Cell::kStep, {.p = p_(at),
                                              .before = in_rows(Cell::kCell ? before(c_, c0, s) : before(h_, h0, s)),
                                              .q = q,
                                              .gy = gy.defined() ? gy(at) : Array(),
                                              .gh = g,
                                              .gc = c_gradient,
                                              .dp = dp(at),
                                              .dq = Cell::kSplit ? ds : Array()});
      } else {
        if (gy.defined()) g += gy(at);
        Cell::backward(p_(at), q, before(h_, h0, s), Cell::kCell ? before(c_, c0, s) : Array(), g, c_gradient, dp(at),
                       ds);
      }
      weights.multiply(g, ds, !Cell::kStateByWeightsOnly);
    }
    return gradients(targets, [&](int i) {
      switch (i) {
        case kX:
          return Variable(catenary::matmul(dp, Wx), false);
        case kWx:
          return Variable(catenary::matmul(dp.T(), x), false);
        case kWh:
          return Variable(catenary::matmul(dq.T(), all_before(h_, h0)), false);
        case kBx:
          return Variable(catenary::sum(dp, 0), false);
        case kBh:
          return Variable(catenary::sum(dq, 0), false);
        case kH:
          return Variable(gh, false);
        default:
          return Variable(gc, false);
      }
    });
  }

 private:
  enum { kX, kWx, kWh, kBx, kBh, kH, kC };

  static bool has_step(const Array& x) { return Cell::kStep && detail::has_recurrent_steps(x); }

  std::vector<Array> parts_before(const Array& all, const Array& start, int step, int64_t count) const {
    return schedule_.state_before<Array>(step, count, start, [&](int s) { return all(schedule_.rows(s)); });
  }
  static Array joined(const std::vector<Array>& parts) { return parts.size() == 1 ? parts[0] : concatenate(parts); }
  /// The state before a step, a view if all rows come from one step.
  Array before(const Array& all, const Array& start, int step) const {
    return joined(parts_before(all, start, step, schedule_.count(step)));
  }
  Array at_end(const Array& all, const Array& start) const {
    return joined(parts_before(all, start, schedule_.steps(), start.shape(0)));
  }
  /// The states before all steps, in the order of the rows.
  Array all_before(const Array& all, const Array& start) const {
    std::vector<Array> parts;
    for (int t = 0; t < schedule_.steps(); ++t) {
      const int step = schedule_.time(t);  // equals its own inverse
      for (Array& part : parts_before(all, start, step, schedule_.count(step))) parts.push_back(std::move(part));
    }
    return joined(parts);
  }

  /// Runs the layer again step by step on variables, for gradients that can be differentiated.
  Variables plain_backward(Targets targets, Grads gys) const {
    std::vector<Variable> in;
    // separate variables, because an input may appear twice
    for (int i = 0; i < input_count(); ++i) in.push_back(identity(retained_input(i)));
    const Variable p = linear(in[kX], in[kWx], in[kBx]);
    std::vector<Variable> hs, cs;  // of each step
    const auto state = [&](int step, int64_t count, const Variable& start, const std::vector<Variable>& after) {
      const auto parts = schedule_.state_before<Variable>(step, count, start,
                                                          [&](int s) { return after[static_cast<std::size_t>(s)]; });
      return parts.size() == 1 ? parts[0] : concat(parts, 0);
    };
    for (int s = 0; s < schedule_.steps(); ++s) {
      const int64_t n = schedule_.count(s);
      const Variable h_prev = state(s, n, in[kH], hs), c_prev = Cell::kCell ? state(s, n, in[kC], cs) : Variable();
      auto [h, c] = Cell::plain(get_item(p, {schedule_.rows(s)}), linear(h_prev, in[kWh], in[kBh]), h_prev, c_prev);
      hs.push_back(h), cs.push_back(c);
    }
    std::vector<Variable> in_time;
    for (int t = 0; t < schedule_.steps(); ++t) in_time.push_back(hs[static_cast<std::size_t>(schedule_.time(t))]);
    std::vector<Variable> outputs, grads, wanted;
    const auto add = [&](std::size_t output, auto&& value) {
      if (!gys[output].defined()) return;
      outputs.push_back(value());
      grads.push_back(gys[output]);
    };
    const auto at_end = [&](const Variable& start, const std::vector<Variable>& after) {
      // a state that no step changed is an input, which must become a separate output
      return identity(state(schedule_.steps(), start.shape(0), start, after));
    };
    add(0, [&] { return concat(in_time, 0); });
    add(1, [&] { return at_end(in[kH], hs); });
    if (Cell::kCell) add(2, [&] { return at_end(in[kC], cs); });
    for (int i : targets) wanted.push_back(in[static_cast<std::size_t>(i)]);
    const std::vector<Variable> all = grad(outputs, wanted, {.grad_outputs = grads, .enable_double_backprop = true});
    return Variables(std::span<const Variable>(all));
  }

  Schedule schedule_;
  Array p_, q_, h_, c_;  ///< gates, the state's part of their arguments if kept, and the states after steps
};

struct NStep {
  const char* name;
  int gates, directions, layers;
  double dropout;

  void check(const Variable& hx, const Variable& cx, const LayerParameters& ws, const LayerParameters& bs,
             const std::vector<Variable>& xs) const {
    const int total = layers * directions;
    if (layers < 1) fail<ValueError>("{}: n_layers must be at least 1, not {}", name, layers);
    if (xs.empty()) fail<ValueError>("{}: xs has no times", name);
    if (hx.ndim() != 3 || hx.shape(0) != total)
      fail<ShapeError>("{}: hx must be ({}, batch, units), not {}", name, total, hx.shape());
    if (cx.defined() && cx.shape() != hx.shape())
      fail<ShapeError>("{}: cx must be {} as hx, not {}", name, hx.shape(), cx.shape());
    const Dtype dtype = hx.dtype();
    if (!is_floating(dtype)) fail<DtypeError>("{}: hx must be floating, not {}", name, dtype);
    const auto check_dtype = [&](const char* what, const Variable& v) {
      if (v.dtype() != dtype) fail<DtypeError>("{}: {} must be {} as hx, not {}", name, what, dtype, v.dtype());
    };
    if (cx.defined()) check_dtype("cx", cx);
    for (std::size_t t = 0; t < xs.size(); ++t) {
      check_dtype("xs", xs[t]);
      if (xs[t].ndim() != 2 || xs[t].shape(1) != xs[0].shape(1))
        fail<ShapeError>("{}: xs[{}] must be (n, in) as xs[0] {}, not {}", name, t, xs[0].shape(), xs[t].shape());
      const int64_t most = t == 0 ? hx.shape(1) : xs[t - 1].shape(0);
      if (xs[t].shape(0) > most)
        fail<ShapeError>("{}: xs[{}] has {} rows, but only {} sequences last so long: the longest come first", name, t,
                         xs[t].shape(0), most);
    }
    const int64_t units = hx.shape(2);
    const auto check_count = [&](const char* what, std::size_t given, std::size_t expected) {
      if (given != expected) fail<ValueError>("{}: {} must have {} entries, not {}", name, what, expected, given);
    };
    check_count("ws", ws.size(), static_cast<std::size_t>(total));
    check_count("bs", bs.size(), static_cast<std::size_t>(total));
    for (std::size_t l = 0; l < ws.size(); ++l) {
      check_count("a layer of ws", ws[l].size(), static_cast<std::size_t>(2 * gates));
      check_count("a layer of bs", bs[l].size(), static_cast<std::size_t>(2 * gates));
      for (std::size_t k = 0; k < ws[l].size(); ++k) {
        const bool of_input = k < static_cast<std::size_t>(gates);
        const bool lowest = l < static_cast<std::size_t>(directions);
        const int64_t in = !of_input ? units : lowest ? xs[0].shape(1) : directions * units;
        if (ws[l][k].shape() != Shape{units, in})
          fail<ShapeError>("{}: ws[{}][{}] must be {}, not {}", name, l, k, Shape{units, in}, ws[l][k].shape());
        if (bs[l][k].shape() != Shape{units})
          fail<ShapeError>("{}: bs[{}][{}] must be ({},), not {}", name, l, k, units, bs[l][k].shape());
        check_dtype("ws", ws[l][k]);
        check_dtype("bs", bs[l][k]);
      }
    }
  }

  template <class Cell>
  NStepResult run(const Variable& hx, const Variable& cx, const LayerParameters& ws, const LayerParameters& bs,
                  const std::vector<Variable>& xs) const {
    check(hx, cx, ws, bs, xs);
    Schedule schedule;
    std::vector<int64_t> ends;
    for (const Variable& x : xs) {
      schedule.counts.push_back(x.shape(0));
      ends.push_back((ends.empty() ? 0 : ends.back()) + x.shape(0));
    }
    ends.pop_back();
    const auto join = [](const std::vector<Variable>& parts, int axis) {
      return parts.size() == 1 ? parts[0] : concat(parts, axis);
    };
    Variable x = join(xs, 0);
    std::vector<Variable> hy, cy;
    for (int l = 0; l < layers; ++l) {
      if (l > 0) x = functions::dropout(x, dropout);
      std::vector<Variable> ys;
      for (int d = 0; d < directions; ++d) {
        const int at = l * directions + d;
        const auto half = [&](const LayerParameters& of, int from) {
          const std::vector<Variable>& all = of[static_cast<std::size_t>(at)];
          return join({all.begin() + from, all.begin() + from + gates}, 0);
        };
        schedule.backward = d == 1;
        std::vector<Variable> in = {x, half(ws, 0), half(ws, gates), half(bs, 0), half(bs, gates), hx[at]};
        if (Cell::kCell) in.push_back(cx[at]);
        const Variables out = node<Layer<Cell>>(schedule)->apply(in);
        ys.push_back(out[0]), hy.push_back(out[1]);
        if (Cell::kCell) cy.push_back(out[2]);
      }
      x = join(ys, 1);
    }
    NStepResult result;
    result.hy = stack(hy);
    if (Cell::kCell) result.cy = stack(cy);
    const Variables ys = ends.empty() ? Variables{x} : split_axis(x, Sections(ends), 0);
    result.ys.assign(ys.begin(), ys.end());
    return result;
  }

  NStepResult run(RnnActivation activation, const Variable& hx, const LayerParameters& ws, const LayerParameters& bs,
                  const std::vector<Variable>& xs) const {
    return activation == RnnActivation::tanh ? run<RnnCell<RnnActivation::tanh>>(hx, {}, ws, bs, xs)
                                             : run<RnnCell<RnnActivation::relu>>(hx, {}, ws, bs, xs);
  }
};

}  // namespace

NStepResult n_step_lstm(int n_layers, double dropout_ratio, const Variable& hx, const Variable& cx,
                        const LayerParameters& ws, const LayerParameters& bs, const std::vector<Variable>& xs) {
  CT_DEFINED(hx, cx, ws, bs, xs);
  return NStep{"n_step_lstm", 4, 1, n_layers, dropout_ratio}.run<LstmCell>(hx, cx, ws, bs, xs);
}
NStepResult n_step_bilstm(int n_layers, double dropout_ratio, const Variable& hx, const Variable& cx,
                          const LayerParameters& ws, const LayerParameters& bs, const std::vector<Variable>& xs) {
  CT_DEFINED(hx, cx, ws, bs, xs);
  return NStep{"n_step_bilstm", 4, 2, n_layers, dropout_ratio}.run<LstmCell>(hx, cx, ws, bs, xs);
}
NStepResult n_step_gru(int n_layers, double dropout_ratio, const Variable& hx, const LayerParameters& ws,
                       const LayerParameters& bs, const std::vector<Variable>& xs) {
  CT_DEFINED(hx, ws, bs, xs);
  return NStep{"n_step_gru", 3, 1, n_layers, dropout_ratio}.run<GruCell>(hx, {}, ws, bs, xs);
}
NStepResult n_step_bigru(int n_layers, double dropout_ratio, const Variable& hx, const LayerParameters& ws,
                         const LayerParameters& bs, const std::vector<Variable>& xs) {
  CT_DEFINED(hx, ws, bs, xs);
  return NStep{"n_step_bigru", 3, 2, n_layers, dropout_ratio}.run<GruCell>(hx, {}, ws, bs, xs);
}
NStepResult n_step_rnn(int n_layers, double dropout_ratio, const Variable& hx, const LayerParameters& ws,
                       const LayerParameters& bs, const std::vector<Variable>& xs, RnnActivation activation) {
  CT_DEFINED(hx, ws, bs, xs);
  return NStep{"n_step_rnn", 1, 1, n_layers, dropout_ratio}.run(activation, hx, ws, bs, xs);
}
NStepResult n_step_birnn(int n_layers, double dropout_ratio, const Variable& hx, const LayerParameters& ws,
                         const LayerParameters& bs, const std::vector<Variable>& xs, RnnActivation activation) {
  CT_DEFINED(hx, ws, bs, xs);
  return NStep{"n_step_birnn", 1, 2, n_layers, dropout_ratio}.run(activation, hx, ws, bs, xs);
}

}  // namespace catenary::functions
