// Entries of recurrent networks, whose inputs are lists of lists.

#include "catenary/functions/rnn.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

namespace {

/// The arguments of an n_step function: states, weights of all layers, biases of all layers, and the inputs of n_seq
/// times.
struct NStepArguments {
  NStepArguments(const Inputs& x, Keywords& k, int states, int gates, int directions) {
    auto next = x.begin();
    for (int i = 0; i < states; ++i) h.push_back(*next++);
    n_layers = k.integer("n_layers");
    const auto layers = [&] {
      F::LayerParameters all;
      for (int l = 0; l < n_layers * directions; ++l, next += 2 * gates) all.emplace_back(next, next + 2 * gates);
      return all;
    };
    ws = layers();
    bs = layers();
    xs.assign(next, x.end());
    if (static_cast<int>(xs.size()) != k.integer("n_seq")) throw Mismatch("the inputs are not those of n_seq times");
  }
  int n_layers;
  std::vector<Variable> h, xs;
  F::LayerParameters ws, bs;
};

std::vector<Variable> flat(const F::NStepResult& result) {
  std::vector<Variable> all = {result.hy};
  if (result.cy.defined()) all.push_back(result.cy);
  all.insert(all.end(), result.ys.begin(), result.ys.end());
  return all;
}

template <class Call>
auto lstm(Call f, int directions) {
  return [f, directions](const Inputs& x, Keywords& k) {
    const NStepArguments a(x, k, 2, 4, directions);
    return flat(f(a.n_layers, 0, a.h[0], a.h[1], a.ws, a.bs, a.xs));
  };
}
template <class Call>
auto gru(Call f, int directions) {
  return [f, directions](const Inputs& x, Keywords& k) {
    const NStepArguments a(x, k, 1, 3, directions);
    return flat(f(a.n_layers, 0, a.h[0], a.ws, a.bs, a.xs));
  };
}
template <class Call>
auto rnn(Call f, int directions) {
  return [f, directions](const Inputs& x, Keywords& k) {
    const NStepArguments a(x, k, 1, 1, directions);
    return flat(f(a.n_layers, 0, a.h[0], a.ws, a.bs, a.xs, k.value("activation", F::RnnActivation::tanh)));
  };
}

}  // namespace

void add_n_step_functions(FunctionTable& table) {
  table.add("n_step_lstm", lstm(F::n_step_lstm, 1));
  table.add("n_step_bilstm", lstm(F::n_step_bilstm, 2));
  table.add("n_step_gru", gru(F::n_step_gru, 1));
  table.add("n_step_bigru", gru(F::n_step_bigru, 2));
  table.add("n_step_rnn", rnn(F::n_step_rnn, 1));
  table.add("n_step_birnn", rnn(F::n_step_birnn, 2));
}

}  // namespace reference
