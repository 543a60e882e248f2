#include "catenary/links/rnn.h"

#include <algorithm>
#include <numeric>

#include "catenary/array/axes.h"
#include "catenary/array/creation.h"
#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/array.h"
#include "catenary/functions/math_elementwise.h"
#include "catenary/functions/noise.h"
#include "catenary/initializers/initializers.h"

namespace catenary::links {

namespace F = functions;

namespace {

ParameterInit weight_init(const std::optional<ParameterInit>& given) {
  return given ? *given : ParameterInit(initializers::LeCunNormal());
}

/// Initialises four parts of a weight's rows separately, because some initializers (orthogonal) use the whole shape.
class FourParts : public Initializer {
 public:
  explicit FourParts(ParameterInit part) : part_(std::move(part)) {}
  void operator()(const Array& array) const override {
    const std::int64_t rows = array.shape(0) / 4;
    for (int k = 0; k < 4; ++k) (*part_.initializer())(array(slice(k * rows, (k + 1) * rows)));
  }

 private:
  ParameterInit part_;
};

/// Initialises the bias of the gates a, i, f, o, interleaved by unit.
class GateBias : public Initializer {
 public:
  GateBias(ParameterInit others, ParameterInit forget) : others_(std::move(others)), forget_(std::move(forget)) {}
  void operator()(const Array& array) const override {
    const Array units = array.reshape({array.size() / 4, 4});
    for (int k = 0; k < 4; ++k) (*(k == 2 ? forget_ : others_).initializer())(units(slice(), slice(k, k + 1)));
  }

 private:
  ParameterInit others_, forget_;
};

Linear linear_of(std::optional<std::int64_t> in, std::int64_t out, const LinearOptions& options = {}) {
  return in ? Linear(*in, out, options) : Linear(out, options);
}

Variable zero_state(const Variable& x, std::int64_t units) {
  return Variable(catenary::detail::filled({x.shape(0), units}, 0, x.dtype(), x.device()), false);
}
Variable or_zeros(const Variable& state, const Variable& x, std::int64_t units) {
  return state.defined() ? state : zero_state(x, units);
}

/// Throws ShapeError unless the state is undefined (zeros) or has a row of `units` for each row of x.
void check_state(const Link& link, const char* name, const Variable& state, const Variable& x, std::int64_t units) {
  const Shape expected = {x.shape(0), units};
  if (state.defined() && state.shape() != expected)
    fail<ShapeError>("{}: {} must be {} for x of shape {}, not {}", link.type_name(), name, expected, x.shape(),
                     state.shape());
}
/// Returns the state for the rows of x, undefined before the first call.
Variable recall(const Link& link, const char* name, const StateVariable& state, const Variable& x, std::int64_t units) {
  const Variable rows = state_rows(link, state, x.shape(0));
  check_state(link, name, rows, x, units);
  return rows;
}

/// Moves a state to the device of the link's weights.
Variable on_device_of(const Linear& link, const Variable& state) {
  const Device device = link.W.initial_device();
  return !state.defined() || state.device() == device ? state : F::copy(state, device);
}

/// Splits lstm's layout [n, 4 units] into a, i, f, o.
Variables split_gates(const Variable& x) { return F::separate(F::reshape(x, {x.shape(0), x.shape(1) / 4, 4}), 2); }

}  // namespace

LSTMBase::LSTMBase(std::optional<std::int64_t> in_size, std::int64_t out_size, const LSTMOptions& options)
    : state_size(out_size),
      upward(linear_of(in_size, 4 * out_size,
                       {.initialW = ParameterInit(FourParts(weight_init(options.upward_init))),
                        .initial_bias = ParameterInit(GateBias(options.bias_init, options.forget_bias_init))})),
      lateral(out_size, 4 * out_size,
              {.nobias = true, .initialW = ParameterInit(FourParts(weight_init(options.lateral_init)))}) {}

Variable LSTMBase::gates(const Variable& x, const Variable& h) const {
  const Variable up = upward(x);
  return h.defined() ? up + lateral(h) : up;
}

std::pair<Variable, Variable> StatelessLSTM::operator()(const Variable& c, const Variable& h, const Variable& x) const {
  return hooked(
      *this,
      [&] {
        check_state(*this, "c", c, x, state_size);
        check_state(*this, "h", h, x, state_size);
        return F::lstm(or_zeros(c, x, state_size), gates(x, h));
      },
      x);
}

Variable LSTM::operator()(const Variable& x) const {
  return hooked(
      *this,
      [&]() -> Variable {
        const Variable c_prev = recall(*this, "c", c, x, state_size), h_prev = recall(*this, "h", h, x, state_size);
        const auto [next, y] = F::lstm(or_zeros(c_prev, x, state_size), gates(x, h_prev));
        remember_rows(c, next);
        remember_rows(h, y);
        return y;
      },
      x);
}
void LSTM::set_state(const Variable& c0, const Variable& h0) const {
  c = on_device_of(lateral, c0);
  h = on_device_of(lateral, h0);
}
void LSTM::reset_state() const {
  c = Variable();
  h = Variable();
}

StatefulPeepholeLSTM::StatefulPeepholeLSTM(std::int64_t in_size, std::int64_t out_size)
    : state_size(out_size),
      upward(in_size, 4 * out_size),
      lateral(out_size, 4 * out_size, {.nobias = true}),
      peep_i(out_size, out_size, {.nobias = true}),
      peep_f(out_size, out_size, {.nobias = true}),
      peep_o(out_size, out_size, {.nobias = true}) {}

Variable StatefulPeepholeLSTM::operator()(const Variable& x) const {
  return hooked(
      *this,
      [&]() -> Variable {
        const Variable c_prev = or_zeros(recall(*this, "c", c, x, state_size), x, state_size),
                       h_prev = recall(*this, "h", h, x, state_size), up = upward(x);
        const Variables g = split_gates(h_prev.defined() ? up + lateral(h_prev) : up);
        const Variable i = F::sigmoid(g[1] + peep_i(c_prev)), f = F::sigmoid(g[2] + peep_f(c_prev));
        const Variable next = F::tanh(g[0]) * i + f * c_prev;
        const Variable y = F::sigmoid(g[3] + peep_o(next)) * F::tanh(next);
        remember_rows(c, next);
        remember_rows(h, y);
        return y;
      },
      x);
}
void StatefulPeepholeLSTM::set_state(const Variable& c0, const Variable& h0) const {
  c = on_device_of(lateral, c0);
  h = on_device_of(lateral, h0);
}
void StatefulPeepholeLSTM::reset_state() const {
  c = Variable();
  h = Variable();
}

StatefulZoneoutLSTM::StatefulZoneoutLSTM(std::int64_t in_size, std::int64_t out_size, double c_ratio0, double h_ratio0)
    : state_size(out_size),
      c_ratio(c_ratio0),
      h_ratio(h_ratio0),
      upward(in_size, 4 * out_size),
      lateral(out_size, 4 * out_size, {.nobias = true}) {}

Variable StatefulZoneoutLSTM::operator()(const Variable& x) const {
  return hooked(
      *this,
      [&]() -> Variable {
        const Variable c_prev = or_zeros(recall(*this, "c", c, x, state_size), x, state_size),
                       h_prev = or_zeros(recall(*this, "h", h, x, state_size), x, state_size);
        const auto [c_next, h_next] = F::lstm(c_prev, upward(x) + lateral(h_prev));
        const Variable y = F::zoneout(h_prev, h_next, h_ratio);
        remember_rows(c, F::zoneout(c_prev, c_next, c_ratio));
        remember_rows(h, y);
        return y;
      },
      x);
}
void StatefulZoneoutLSTM::set_state(const Variable& c0, const Variable& h0) const {
  c = on_device_of(lateral, c0);
  h = on_device_of(lateral, h0);
}
void StatefulZoneoutLSTM::reset_state() const {
  c = Variable();
  h = Variable();
}

StatelessGRU::StatelessGRU(std::optional<std::int64_t> in_size, std::int64_t out_size, const GRUOptions& options)
    : state_size(out_size),
      W_r(linear_of(in_size, out_size, {.initialW = options.init, .initial_bias = options.bias_init})),
      U_r(out_size, out_size, {.initialW = options.inner_init, .initial_bias = options.bias_init}),
      W_z(linear_of(in_size, out_size, {.initialW = options.init, .initial_bias = options.bias_init})),
      U_z(out_size, out_size, {.initialW = options.inner_init, .initial_bias = options.bias_init}),
      W(linear_of(in_size, out_size, {.initialW = options.init, .initial_bias = options.bias_init})),
      U(out_size, out_size, {.initialW = options.inner_init, .initial_bias = options.bias_init}) {}

Variable StatelessGRU::operator()(const Variable& h, const Variable& x) const {
  return hooked(
      *this,
      [&] {
        check_state(*this, "h", h, x, state_size);
        if (!h.defined()) return F::sigmoid(W_z(x)) * F::tanh(W(x));
        const Variable r = F::sigmoid(W_r(x) + U_r(h)), z = F::sigmoid(W_z(x) + U_z(h));
        return F::linear_interpolate(z, F::tanh(W(x) + U(r * h)), h);
      },
      x);
}

Variable StatefulGRU::operator()(const Variable& x) const {
  const Variable y = StatelessGRU::operator()(recall(*this, "h", h, x, state_size), x);
  remember_rows(h, y);
  return y;
}
void StatefulGRU::set_state(const Variable& h0) const { h = on_device_of(U, h0); }
void StatefulGRU::reset_state() const { h = Variable(); }

StatelessMGU::StatelessMGU(std::int64_t in_size, std::int64_t out_size)
    : state_size(out_size), W_f(in_size + out_size, out_size), W_h(in_size + out_size, out_size) {}

Variable StatelessMGU::operator()(const Variable& h, const Variable& x) const {
  return hooked(
      *this,
      [&] {
        check_state(*this, "h", h, x, state_size);
        const Variable f = F::sigmoid(W_f(F::concat({h, x}, 1)));
        return F::linear_interpolate(f, F::tanh(W_h(F::concat({f * h, x}, 1))), h);
      },
      x);
}

Variable StatefulMGU::operator()(const Variable& x) const {
  const Variable y = StatelessMGU::operator()(or_zeros(recall(*this, "h", h, x, state_size), x, state_size), x);
  remember_rows(h, y);
  return y;
}
void StatefulMGU::set_state(const Variable& h0) const { h = on_device_of(W_h, h0); }
void StatefulMGU::reset_state() const { h = Variable(); }

namespace {
void check_children(const Link& link, const std::vector<Variable>& cs, const std::vector<Variable>& hs,
                    const Variable& x, std::int64_t units) {
  if (cs.size() != hs.size())
    fail<ValueError>("{}: there are {} cell states and {} outputs of children", link.type_name(), cs.size(), hs.size());
  for (std::size_t k = 0; k < cs.size(); ++k) {
    check_state(link, "each of cs", cs[k], x, units);
    check_state(link, "each of hs", hs[k], x, units);
  }
}
}  // namespace

ChildSumTreeLSTM::ChildSumTreeLSTM(std::int64_t in_size, std::int64_t out_size)
    : state_size(out_size),
      W_x(in_size, 4 * out_size),
      W_h_aio(out_size, 3 * out_size, {.nobias = true}),
      W_h_f(out_size, out_size, {.nobias = true}) {}

std::pair<Variable, Variable> ChildSumTreeLSTM::operator()(const std::vector<Variable>& cs,
                                                           const std::vector<Variable>& hs, const Variable& x) const {
  check_children(*this, cs, hs, x, state_size);
  return hooked(
      *this,
      [&] {
        const Variables parts = F::split_axis(W_x(x), Sections({3 * state_size}), 1);  // first a, i, o, then f
        if (hs.empty()) return F::tree_lstm({}, parts[0]);
        std::vector<Variable> gates = {parts[0] + W_h_aio(F::add(hs))};
        for (const Variable& h : hs) gates.push_back(parts[1] + W_h_f(h));
        return F::tree_lstm(cs, F::concat(gates, 1));
      },
      x);
}

NaryTreeLSTM::NaryTreeLSTM(std::int64_t in_size, std::int64_t out_size, int n_ary)
    : state_size(out_size), W_x(in_size, (3 + std::max(n_ary, 1)) * out_size) {
  if (n_ary < 1) fail<ValueError>("NaryTreeLSTM: n_ary must be at least 1, not {}", n_ary);
  for (int k = 0; k < n_ary; ++k) W_h.emplace_back(out_size, (3 + n_ary) * out_size, LinearOptions{.nobias = true});
}

void NaryTreeLSTM::visit_members(MemberVisitor& visitor) const {
  auto& self = const_cast<NaryTreeLSTM&>(*this);
  visitor("W_x", self.W_x);
  for (std::size_t k = 0; k < W_h.size(); ++k) visitor("W_h" + std::to_string(k + 1), self.W_h[k]);
}

std::pair<Variable, Variable> NaryTreeLSTM::operator()(const std::vector<Variable>& cs, const std::vector<Variable>& hs,
                                                       const Variable& x) const {
  check_children(*this, cs, hs, x, state_size);
  if (hs.size() != W_h.size())
    fail<ValueError>("NaryTreeLSTM: {} children are expected, not {}", W_h.size(), hs.size());
  return hooked(
      *this,
      [&] {
        Variable gates = W_x(x);
        for (std::size_t k = 0; k < hs.size(); ++k) gates = gates + W_h[k](hs[k]);
        return F::tree_lstm(cs, gates);
      },
      x);
}

void NStepBase::Layer::visit_members(MemberVisitor& visitor) const {
  auto& self = const_cast<Layer&>(*this);
  for (std::size_t k = 0; k < w.size(); ++k) {
    visitor("w" + std::to_string(k), self.w[k]);
    visitor("b" + std::to_string(k), self.b[k]);
  }
}

NStepBase::NStepBase(int gates, int directions, int n_layers0, std::int64_t in, std::int64_t out, double dropout0,
                     const NStepOptions& options)
    : n_layers(n_layers0), in_size(in), out_size(out), dropout(dropout0) {
  if (n_layers < 1) fail<ValueError>("an n_step link needs n_layers of at least 1, not {}", n_layers);
  for (int l = 0; l < n_layers * directions; ++l) {
    Layer& layer = layers.emplace_back();
    for (int k = 0; k < 2 * gates; ++k) {
      const std::int64_t columns = k >= gates ? out_size : l < directions ? in_size : directions * out_size;
      layer.w.emplace_back(weight_init(options.initialW), Shape{out_size, columns}, "w" + std::to_string(k));
      layer.b.emplace_back(options.initial_bias, Shape{out_size}, "b" + std::to_string(k));
    }
  }
}

void NStepBase::visit_members(MemberVisitor& visitor) const {
  auto& self = const_cast<NStepBase&>(*this);
  for (std::size_t l = 0; l < layers.size(); ++l) visitor(std::to_string(l), self.layers[l]);
}

F::LayerParameters NStepBase::weights() const {
  F::LayerParameters all;
  for (const Layer& layer : layers) all.emplace_back(layer.w.begin(), layer.w.end());
  return all;
}
F::LayerParameters NStepBase::biases() const {
  F::LayerParameters all;
  for (const Layer& layer : layers) all.emplace_back(layer.b.begin(), layer.b.end());
  return all;
}

F::NStepResult NStepBase::run(const Run& run, const Variable& hx, const Variable& cx,
                              const std::vector<Variable>& xs) const {
  F::NStepResult result;
  hooked(
      *this,
      [&] {
        result = run_sorted(run, hx, cx, xs);
        return std::pair(std::vector<Variable>{result.hy, result.cy}, result.ys);
      },
      hx, cx, xs);
  return result;
}

F::NStepResult NStepBase::run_sorted(const Run& run, const Variable& hx, const Variable& cx,
                                     const std::vector<Variable>& xs) const {
  if (xs.empty()) fail<ValueError>("{}: xs has no sequences", type_name());
  const auto batch = static_cast<std::int64_t>(xs.size());
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (xs[i].ndim() != 2 || xs[i].shape(1) != in_size)
      fail<ShapeError>("{}: xs[{}] must be (length, {}), not {}", type_name(), i, in_size, xs[i].shape());
    if (xs[i].dtype() != xs[0].dtype())
      fail<DtypeError>("{}: xs[{}] must be {} as xs[0], not {}", type_name(), i, xs[0].dtype(), xs[i].dtype());
  }
  const Shape state_shape = {static_cast<std::int64_t>(layers.size()), batch, out_size};
  const auto check = [&](const char* name, const Variable& given) {
    if (given.defined() && given.shape() != state_shape)
      fail<ShapeError>("{}: {} must be {} for {} sequences, not {}", type_name(), name, state_shape, batch,
                       given.shape());
  };
  check("hx", hx);
  check("cx", cx);
  std::vector<std::int64_t> order(xs.size());
  std::iota(order.begin(), order.end(), 0);
  const auto length = [&](std::int64_t i) { return xs[static_cast<std::size_t>(i)].len(); };
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return length(i) > length(j); });
  const bool sorted = std::is_sorted(order.begin(), order.end());
  const Variable permutation = array(order).to_device(xs[0].device());
  const auto state = [&](const Variable& given) {
    if (!given.defined())
      return Variable(catenary::detail::filled(state_shape, 0, xs[0].dtype(), xs[0].device()), false);
    return sorted ? given : F::permutate(given, permutation, 1);
  };
  std::vector<Variable> in_order;
  for (const std::int64_t i : order) in_order.push_back(xs[static_cast<std::size_t>(i)]);
  const Variables times = F::transpose_sequence(in_order);
  F::NStepResult result = run(weights(), biases(), state(hx), state(cx), {times.begin(), times.end()});
  const Variables ys = F::transpose_sequence(result.ys);
  const std::int64_t columns = result.ys[0].shape(1);
  result.ys.assign(xs.size(), Variable());
  for (std::size_t k = 0; k < order.size(); ++k)
    // empty sequences are at the end
    result.ys[static_cast<std::size_t>(order[k])] =
        k < ys.size() ? ys[k]
                      : Variable(catenary::detail::filled({0, columns}, 0, xs[0].dtype(), xs[0].device()), false);
  if (sorted) return result;
  result.hy = F::permutate(result.hy, permutation, 1, true);
  if (result.cy.defined()) result.cy = F::permutate(result.cy, permutation, 1, true);
  return result;
}

F::NStepResult NStepLSTMBase::operator()(const Variable& hx, const Variable& cx,
                                         const std::vector<Variable>& xs) const {
  return run([this](const auto& ws, const auto& bs, const auto& h, const auto& c,
                    const auto& x) { return call_(n_layers, dropout, h, c, ws, bs, x); },
             hx, cx, xs);
}
F::NStepResult NStepGRUBase::operator()(const Variable& hx, const std::vector<Variable>& xs) const {
  return run([this](const auto& ws, const auto& bs, const auto& h, const auto&,
                    const auto& x) { return call_(n_layers, dropout, h, ws, bs, x); },
             hx, {}, xs);
}
F::NStepResult NStepRNNBase::operator()(const Variable& hx, const std::vector<Variable>& xs) const {
  return run([this](const auto& ws, const auto& bs, const auto& h, const auto&,
                    const auto& x) { return call_(n_layers, dropout, h, ws, bs, x, activation_); },
             hx, {}, xs);
}

}  // namespace catenary::links
