#pragma once
// Recurrent networks: cells for one time step, and stacks of layers over sequences.

#include <utility>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// Computes a step of an LSTM: the new cell state c = a i + f c_prev and the output h = o tanh(c). c_prev is [n, units,
/// …]. x [m, 4 units, …] holds the gates' arguments, interleaved by unit: a (tanh), i, f, o (sigmoid). If m is less
/// than n, the last rows of c_prev are passed on, and h has m rows. Throws ShapeError and DtypeError.
/// (chainer.functions.lstm)
CT_API std::pair<Variable, Variable> lstm(const Variable& c_prev, const Variable& x);
/// Joins two LSTMs: c = a1 i1 + a2 i2 + f1 c_prev1 + f2 c_prev2, h = sigmoid(o1 + o2) tanh(c), with gates like lstm's.
/// Throws ShapeError and DtypeError. (chainer.functions.slstm) (Zhu et al., arXiv:1503.04881)
CT_API std::pair<Variable, Variable> slstm(const Variable& c_prev1, const Variable& c_prev2, const Variable& x1,
                                           const Variable& x2);
/// Computes the LSTM of a tree node: c = a i + the sum of f_k c_k over its children's states [n, units, …], h = o
/// tanh(c). x [n, (3 + children) units, …] holds the gates' arguments, one gate after another: a, i, o, f_1, f_2, …
/// Throws ShapeError and DtypeError. (chainer.functions.tree_lstm) (Tai et al., arXiv:1503.00075)
CT_API std::pair<Variable, Variable> tree_lstm(const std::vector<Variable>& cs, const Variable& x);

/// The activation of n_step_rnn.
enum class RnnActivation { tanh, relu };
/// Weights or biases by layer and gate. Bidirectional order: first layer forward, first layer backward, second layer …
using LayerParameters = std::vector<std::vector<Variable>>;
/// Result of the n_step functions: the last state of each layer [layers, batch, units] and the last layer's output at
/// each time. LSTMs also set `cy`.
struct NStepResult {
  Variable hy, cy;
  std::vector<Variable> ys;
};

// Stacks of recurrent layers over sequences. xs[t] [B_t, in] holds the t-th elements of all sequences that last that
// long, longest first, so B_t never increases. F::transpose_sequence makes it from sequences. hx, and cx of LSTMs, are
// the initial states [layers, batch, units], or [2 layers, …] for bidirectional stacks. W of a layer has as many
// columns as the layer below has outputs (twice the units for bidirectional stacks). dropout_ratio applies between
// layers in training. All throw ValueError, ShapeError or DtypeError for arguments that do not match.

/// Computes LSTM layers. ws and bs are W_0 … W_7 and b_0 … b_7 of each layer: i = sigmoid(W_0 x + W_4 h + b_0 + b_4), f
/// uses W_1 and W_5, a = tanh(W_2 x + W_6 h + …), o = sigmoid(W_3 x + W_7 h + …). (chainer.functions.n_step_lstm)
CT_API NStepResult n_step_lstm(int n_layers, double dropout_ratio, const Variable& hx, const Variable& cx,
                               const LayerParameters& ws, const LayerParameters& bs, const std::vector<Variable>& xs);
/// Computes LSTM layers in both directions and concatenates their outputs. (chainer.functions.n_step_bilstm)
CT_API NStepResult n_step_bilstm(int n_layers, double dropout_ratio, const Variable& hx, const Variable& cx,
                                 const LayerParameters& ws, const LayerParameters& bs, const std::vector<Variable>& xs);
/// Computes GRU layers: r = sigmoid(W_0 x + W_3 h + b_0 + b_3), z uses W_1 and W_4, n = tanh(W_2 x + b_2 + r (W_5 h +
/// b_5)), h = (1 - z) n + z h. (chainer.functions.n_step_gru)
CT_API NStepResult n_step_gru(int n_layers, double dropout_ratio, const Variable& hx, const LayerParameters& ws,
                              const LayerParameters& bs, const std::vector<Variable>& xs);
/// Computes GRU layers in both directions and concatenates their outputs. (chainer.functions.n_step_bigru)
CT_API NStepResult n_step_bigru(int n_layers, double dropout_ratio, const Variable& hx, const LayerParameters& ws,
                                const LayerParameters& bs, const std::vector<Variable>& xs);
/// Computes layers of an Elman network: h = activation(W_0 x + W_1 h + b_0 + b_1). (chainer.functions.n_step_rnn)
CT_API NStepResult n_step_rnn(int n_layers, double dropout_ratio, const Variable& hx, const LayerParameters& ws,
                              const LayerParameters& bs, const std::vector<Variable>& xs,
                              RnnActivation activation = RnnActivation::tanh);
/// Computes Elman layers in both directions and concatenates their outputs. (chainer.functions.n_step_birnn)
CT_API NStepResult n_step_birnn(int n_layers, double dropout_ratio, const Variable& hx, const LayerParameters& ws,
                                const LayerParameters& bs, const std::vector<Variable>& xs,
                                RnnActivation activation = RnnActivation::tanh);

}  // namespace catenary::functions
