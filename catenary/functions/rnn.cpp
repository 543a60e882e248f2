// Cells of one time step.

#include "catenary/functions/rnn.h"

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/attributes.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/array.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

// The formulas below work on arrays and variables.
Array squash(const Array& x) { return catenary::tanh(x); }
Variable squash(const Variable& x) { return tanh(x); }
Array open(const Array& x) { return catenary::sigmoid(x); }
Variable open(const Variable& x) { return sigmoid(x); }

/// Splits x [n, gates · units, …] into gates, which are interleaved by unit or follow each other.
struct GateLayout {
  int gates;
  bool side_by_side;

  template <class V>
  V gate(const V& x, int k) const {
    const std::int64_t units = x.shape()[1] / gates;
    Shape shape = x.shape();
    shape[1] = side_by_side ? units : gates;
    shape.insert(2, side_by_side ? gates : units);
    const V all = x.reshape(shape);
    return side_by_side ? all(slice(), slice(), k) : all(slice(), k);
  }
  /// Reverses `gate` for all gates.
  Array join(std::vector<Array> parts, const Array& like) const {
    const Array x = Array::empty(like.shape(), like.dtype(), like.device());
    for (int k = 0; k < gates; ++k) copyto(gate(x, k), std::move(parts[static_cast<std::size_t>(k)]));
    return x;
  }
  Variable join(const std::vector<Variable>& parts, const Variable& like) const {
    return reshape(stack(parts, side_by_side ? 2 : 1), like.shape());
  }
};
CT_FIELDS(GateLayout, gates, side_by_side)

/// c = sum of a i + sum of f c_prev, h = sigmoid(sum of o) tanh(c): lstm, slstm and tree_lstm, which differ in the
/// layout of the gates. Inputs: the previous states, then the gates' arguments.
class GatedCell : public FunctionNode {
 public:
  GatedCell(const char* name, int states, GateLayout layout) : name_(name), states_(states), layout_(layout) {}
  const char* name() const override { return name_; }
  CT_ATTRIBUTES(name_, states_, layout_)

 protected:
  Arrays forward(Inputs in) override {
    std::vector<Array> cs, xs;
    for (int i = 0; i < in.size(); ++i) (i < states_ ? cs : xs).push_back(in[i]);
    const Gates<Array> g = gates(xs);
    Array c;
    for (std::size_t k = 0; k < g.a.size(); ++k) add_to(c, squash(g.a[k]) * open(g.i[k]));
    for (std::size_t k = 0; k < cs.size(); ++k) add_to(c, open(g.f[k]) * cs[k]);
    Array h = open(sum_of(g.o)) * squash(c);
    retain_inputs(in);
    retain_outputs({0});
    return {std::move(c), std::move(h)};
  }
  Variables backward(Targets targets, Grads gys) override {
    std::vector<Variable> cs, xs;
    for (int i = 0; i < input_count(); ++i) (i < states_ ? cs : xs).push_back(retained_input(i));
    const Variable c = retained_output(0);
    if (config.enable_backprop) {
      const std::vector<Variable> all = derivatives(cs, xs, c, gys[0], gys[1]);
      return gradients(targets, [&](int i) { return all[static_cast<std::size_t>(i)]; });
    }
    const auto arrays = [](const std::vector<Variable>& variables) {
      std::vector<Array> all;
      for (const Variable& v : variables) all.push_back(v.array());
      return all;
    };
    const auto array = [](const Variable& v) { return v.defined() ? v.array() : Array(); };
    const std::vector<Array> all = derivatives(arrays(cs), arrays(xs), c.array(), array(gys[0]), array(gys[1]));
    return gradients(targets, [&](int i) { return Variable(all[static_cast<std::size_t>(i)], false); });
  }

 private:
  template <class V>
  struct Gates {
    std::vector<V> a, i, f, o;
  };
  template <class V>
  Gates<V> gates(const std::vector<V>& xs) const {
    Gates<V> g;
    for (const V& x : xs) {
      int slot = 0;
      const auto next = [&] { return layout_.gate(x, slot++); };
      g.a.push_back(next()), g.i.push_back(next());
      if (layout_.side_by_side) g.f.push_back(next());
      g.o.push_back(next());
      if (!layout_.side_by_side)
        for (int k = 0; k < states_; ++k) g.f.push_back(next());
    }
    return g;
  }
  /// Gradients of all inputs. gc or gh may be undefined.
  template <class V>
  std::vector<V> derivatives(const std::vector<V>& cs, const std::vector<V>& xs, const V& c, const V& gc,
                             const V& gh) const {
    const Gates<V> g = gates(xs);
    const V o = open(sum_of(g.o)), t = squash(c);
    V go, gs;  // gradients of the sum of o, and of c
    if (gh.defined()) {
      go = gh * t * o * (1.0 - o);
      gs = gh * o * (1.0 - t * t);
    } else {
      go = o * 0.0;
    }
    if (gc.defined()) add_to(gs, gc);
    std::vector<V> all, gf;
    for (std::size_t k = 0; k < cs.size(); ++k) {
      const V f = open(g.f[k]);
      all.push_back(gs * f);
      gf.push_back(gs * cs[k] * f * (1.0 - f));
    }
    for (std::size_t k = 0; k < xs.size(); ++k) {
      const V a = squash(g.a[k]), i = open(g.i[k]);
      std::vector<V> parts = {gs * i * (1.0 - a * a), gs * a * i * (1.0 - i)};
      if (layout_.side_by_side) parts.push_back(gf[k]);
      parts.push_back(go);
      if (!layout_.side_by_side) parts.insert(parts.end(), gf.begin(), gf.end());
      all.push_back(layout_.join(std::move(parts), xs[k]));
    }
    return all;
  }
  template <class V>
  static void add_to(V& total, const V& term) {
    total = total.defined() ? total + term : term;
  }
  template <class V>
  static V sum_of(const std::vector<V>& terms) {
    V total;
    for (const V& term : terms) add_to(total, term);
    return total;
  }

  const char* name_;
  int states_;
  GateLayout layout_;
};

/// Checks that x [n, gates · units, …] matches the states c [n, units, …].
void check_cell(const char* what, const Variable& c, const Variable& x, int gates) {
  Shape expected = c.shape();
  if (c.ndim() >= 2) expected[1] *= gates;
  if (c.ndim() < 2 || x.shape() != expected)
    fail<ShapeError>("{}: x must be {} for states {} (n, units, …) and {} gates, not {}", what, expected, c.shape(),
                     gates, x.shape());
  if (c.dtype() != x.dtype() || !is_floating(x.dtype()))
    fail<DtypeError>("{}: states and x must have equal floating dtypes, not {} and {}", what, c.dtype(), x.dtype());
}
void check_same(const char* what, const Variable& c1, const Variable& c2) {
  if (c1.shape() != c2.shape())
    fail<ShapeError>("{}: the states must have equal shapes, not {} and {}", what, c1.shape(), c2.shape());
  if (c1.dtype() != c2.dtype())
    fail<DtypeError>("{}: the states must have equal dtypes, not {} and {}", what, c1.dtype(), c2.dtype());
}

std::pair<Variable, Variable> run(const Ref<GatedCell>& cell, const std::vector<Variable>& inputs) {
  const Variables both = cell->apply(inputs);
  return {both[0], both[1]};
}

}  // namespace

std::pair<Variable, Variable> lstm(const Variable& c_prev, const Variable& x) {
  CT_DEFINED(c_prev, x);
  const std::int64_t n = x.ndim() > 0 ? x.shape(0) : 0;
  if (c_prev.ndim() < 2 || n >= c_prev.shape(0)) {
    check_cell("lstm", c_prev, x, 4);
    return run(node<GatedCell>("LSTM", 1, GateLayout{4, true}), {c_prev, x});
  }
  const Variables parts = split_axis(c_prev, Sections({n}), 0);
  const auto [c, h] = lstm(parts[0], x);
  return {concat({c, parts[1]}, 0), h};
}

std::pair<Variable, Variable> slstm(const Variable& c_prev1, const Variable& c_prev2, const Variable& x1,
                                    const Variable& x2) {
  CT_DEFINED(c_prev1, c_prev2, x1, x2);
  check_same("slstm", c_prev1, c_prev2);
  check_cell("slstm", c_prev1, x1, 4);
  check_cell("slstm", c_prev2, x2, 4);
  return run(node<GatedCell>("SLSTM", 2, GateLayout{4, true}), {c_prev1, c_prev2, x1, x2});
}

std::pair<Variable, Variable> tree_lstm(const std::vector<Variable>& cs, const Variable& x) {
  CT_DEFINED(cs, x);
  const int gates = 3 + static_cast<int>(cs.size());
  if (x.ndim() < 2 || x.shape(1) % gates != 0)
    fail<ShapeError>("tree_lstm: x must be (n, {} units, …) for {} children, not {}", gates, cs.size(), x.shape());
  for (const Variable& c : cs) {
    check_same("tree_lstm", cs[0], c);
    check_cell("tree_lstm", c, x, gates);
  }
  if (!is_floating(x.dtype())) fail<DtypeError>("tree_lstm: x must be floating, not {}", x.dtype());
  std::vector<Variable> inputs = cs;
  inputs.push_back(x);
  return run(node<GatedCell>("TreeLSTM", gates - 3, GateLayout{gates, false}), inputs);
}

std::span<const Signature> detail::rnn_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("rnn.lstm", lstm, "c_prev", "x"),
      CT_SIGNATURE("rnn.slstm", slstm, "c_prev1", "c_prev2", "x1", "x2"),
      signature_of(
          "chainer.functions.rnn.tree_lstm.tree_lstm",
          [](const std::vector<Variable>& inputs) {
            if (inputs.size() < 2)
              fail<ShapeError>("tree_lstm: expected states and x, not {} variables", inputs.size());
            return tree_lstm({inputs.begin(), inputs.end() - 1}, inputs.back());
          },
          "*inputs"),
  };
  return all;
}

}  // namespace catenary::functions
