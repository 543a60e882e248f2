#pragma once
// Recurrent networks: cells of one step, and whole stacks of layers over sequences.

#include <utility>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// One step of an LSTM: the new cell state c = a i + f c_prev and the output h = o tanh(c). c_prev [n, units, …]; x [m,
/// 4 units, …] holds the gates' arguments, those of a unit side by side: a (tanh), i, f, o (sigmoid). m may be less
/// than n: the last rows of c_prev are then passed on, and h has m rows. Throws ShapeError and DtypeError.
/// (chainer.functions.lstm)
CT_API std::pair<Variable, Variable> lstm(const Variable& c_prev, const Variable& x);
/// Two LSTMs that flow into one: c = a1 i1 + a2 i2 + f1 c_prev1 + f2 c_prev2, h = sigmoid(o1 + o2) tanh(c), with gates
/// as lstm's. Throws ShapeError and DtypeError. (chainer.functions.slstm; Zhu et al., arXiv:1503.04881)
CT_API std::pair<Variable, Variable> slstm(const Variable& c_prev1, const Variable& c_prev2, const Variable& x1,
                                           const Variable& x2);
/// A node of a tree: c = a i + the sum of f_k c_k over its children's states [n, units, …], h = o tanh(c). x [n, (3 +
/// children) units, …] holds the gates' arguments, one gate behind the other: a, i, o, f_1, f_2, … Throws ShapeError
/// and DtypeError. (chainer.functions.tree_lstm; Tai et al., arXiv:1503.00075)
CT_API std::pair<Variable, Variable> tree_lstm(const std::vector<Variable>& cs, const Variable& x);

/// What n_step_rnn makes of a unit's sum.
enum class RnnActivation { tanh, relu };
/// Weights or biases by layer (in bi-forms: the first layer forward, then backward, then the second layer …) and gate.
using LayerParameters = std::vector<std::vector<Variable>>;
/// What the n_step functions return: the last state of each layer [layers, batch, units] and the last layer's output at
/// each time. `cy` only of LSTMs.
struct NStepResult {
  Variable hy, cy;
  std::vector<Variable> ys;
};

// Stacks of recurrent layers over sequences. xs[t] [B_t, in] holds the t-th elements of those sequences that last so
// long, the longest sequences first, so that B_t never rises (F::transpose_sequence makes it of sequences). hx, and cx
// of LSTMs, are the states before, [layers, batch, units], in bi-forms [2 layers, …]; W of layer l has as many columns
// as the layer below has outputs (twice the units in bi-forms). dropout_ratio is between layers, in training. Each
// throws ValueError, ShapeError or DtypeError for what does not fit.

/// LSTM: ws and bs are W_0 … W_7 and b_0 … b_7 of each layer; i = sigmoid(W_0 x + W_4 h + b_0 + b_4), f of W_1 and W_5,
/// a = tanh(W_2 x + W_6 h + …), o = sigmoid(W_3 x + W_7 h + …). (chainer.functions.n_step_lstm)
CT_API NStepResult n_step_lstm(int n_layers, double dropout_ratio, const Variable& hx, const Variable& cx,
                               const LayerParameters& ws, const LayerParameters& bs, const std::vector<Variable>& xs);
/// The same in both directions; the outputs of both stand side by side. (chainer.functions.n_step_bilstm)
CT_API NStepResult n_step_bilstm(int n_layers, double dropout_ratio, const Variable& hx, const Variable& cx,
                                 const LayerParameters& ws, const LayerParameters& bs, const std::vector<Variable>& xs);
/// GRU: r = sigmoid(W_0 x + W_3 h + b_0 + b_3), z of W_1 and W_4, n = tanh(W_2 x + b_2 + r (W_5 h + b_5)), h = (1 - z)
/// n + z h. (chainer.functions.n_step_gru)
CT_API NStepResult n_step_gru(int n_layers, double dropout_ratio, const Variable& hx, const LayerParameters& ws,
                              const LayerParameters& bs, const std::vector<Variable>& xs);
/// The same in both directions. (chainer.functions.n_step_bigru)
CT_API NStepResult n_step_bigru(int n_layers, double dropout_ratio, const Variable& hx, const LayerParameters& ws,
                                const LayerParameters& bs, const std::vector<Variable>& xs);
/// Elman network: h = activation(W_0 x + W_1 h + b_0 + b_1). (chainer.functions.n_step_rnn)
CT_API NStepResult n_step_rnn(int n_layers, double dropout_ratio, const Variable& hx, const LayerParameters& ws,
                              const LayerParameters& bs, const std::vector<Variable>& xs,
                              RnnActivation activation = RnnActivation::tanh);
/// The same in both directions. (chainer.functions.n_step_birnn)
CT_API NStepResult n_step_birnn(int n_layers, double dropout_ratio, const Variable& hx, const LayerParameters& ws,
                                const LayerParameters& bs, const std::vector<Variable>& xs,
                                RnnActivation activation = RnnActivation::tanh);

}  // namespace catenary::functions
