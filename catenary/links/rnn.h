#pragma once
// Recurrent layers: single steps, cells that remember their state, and stacks over sequences. Parameters have Chainer's
// names and shapes.

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "catenary/core/fields.h"
#include "catenary/functions/rnn.h"
#include "catenary/links/connection.h"

namespace catenary::links {

/// Options of LSTM and StatelessLSTM. Each gate's part of a weight is initialised separately.
struct LSTMOptions {
  std::optional<ParameterInit> lateral_init = {};  ///< LeCunNormal by default
  std::optional<ParameterInit> upward_init = {};   ///< LeCunNormal by default
  ParameterInit bias_init = 0;                     ///< of the gates a, i and o
  ParameterInit forget_bias_init = 1;
};
CT_FIELDS(LSTMOptions, lateral_init, upward_init, bias_init, forget_bias_init)

/// The linear layers of an LSTM: upward W [4 out, in] and b, lateral W [4 out, out], with the four gates of each unit
/// adjacent (F::lstm).
class CT_API LSTMBase : public Chain {
 public:
  /// Without `in_size`, determines the input size at the first call.
  LSTMBase(std::optional<std::int64_t> in_size, std::int64_t out_size, const LSTMOptions& options);
  std::int64_t state_size;
  Linear upward, lateral;
  CT_LINKS(upward, lateral)

 protected:
  /// Returns upward(x) + lateral(h), without the second term if h is undefined.
  Variable gates(const Variable& x, const Variable& h) const;
};

/// One step of an LSTM, without memory. (chainer.links.StatelessLSTM)
class CT_API StatelessLSTM : public LSTMBase {
 public:
  explicit StatelessLSTM(std::int64_t out_size, const LSTMOptions& options = {})
      : LSTMBase(std::nullopt, out_size, options) {}
  StatelessLSTM(std::int64_t in_size, std::int64_t out_size, const LSTMOptions& options = {})
      : LSTMBase(in_size, out_size, options) {}
  /// Returns the next cell state and output. Undefined c and h mean zeros.
  std::pair<Variable, Variable> operator()(const Variable& c, const Variable& h, const Variable& x) const;
  std::string type_name() const override { return "StatelessLSTM"; }
};

// Links that remember their state. A batch may be smaller than the last one: the remaining rows of the state stay as
// they are. Larger batches throw ShapeError. Use links/persistent.h to write such a link.

/// An LSTM that remembers its state c and output h between calls. (chainer.links.LSTM)
class CT_API LSTM : public LSTMBase {
 public:
  explicit LSTM(std::int64_t out_size, const LSTMOptions& options = {}) : LSTMBase(std::nullopt, out_size, options) {}
  LSTM(std::int64_t in_size, std::int64_t out_size, const LSTMOptions& options = {})
      : LSTMBase(in_size, out_size, options) {}
  Variable operator()(const Variable& x) const;
  /// Sets the state, moved to the link's device. (chainer.links.LSTM.set_state)
  void set_state(const Variable& c, const Variable& h) const;
  /// Clears the state.
  void reset_state() const;
  std::string type_name() const override { return "LSTM"; }
  StateVariable c, h;
  CT_MORE_LINKS(LSTMBase, c, h)
};

/// An LSTM whose gates see the cell state: i and f the previous, o the new one. The gates' biases have no special start
/// values. (chainer.links.StatefulPeepholeLSTM) (Gers and Schmidhuber 2000)
class CT_API StatefulPeepholeLSTM : public Chain {
 public:
  StatefulPeepholeLSTM(std::int64_t in_size, std::int64_t out_size);
  Variable operator()(const Variable& x) const;
  void set_state(const Variable& c, const Variable& h) const;
  void reset_state() const;
  std::string type_name() const override { return "StatefulPeepholeLSTM"; }
  std::int64_t state_size;
  Linear upward, lateral, peep_i, peep_f, peep_o;
  StateVariable c, h;
  CT_LINKS(upward, lateral, peep_i, peep_f, peep_o, c, h)
};

/// An LSTM in which, in training, elements of c and h keep their previous values with the given probabilities
/// (F::zoneout). (chainer.links.StatefulZoneoutLSTM) (Krueger et al., arXiv:1606.01305)
class CT_API StatefulZoneoutLSTM : public Chain {
 public:
  StatefulZoneoutLSTM(std::int64_t in_size, std::int64_t out_size, double c_ratio = 0.5, double h_ratio = 0.5);
  Variable operator()(const Variable& x) const;
  void set_state(const Variable& c, const Variable& h) const;
  void reset_state() const;
  std::string type_name() const override { return "StatefulZoneoutLSTM"; }
  std::int64_t state_size;
  double c_ratio, h_ratio;
  Linear upward, lateral;
  StateVariable c, h;
  CT_LINKS(upward, lateral, c, h)
};

/// Options of GRUs.
struct GRUOptions {
  std::optional<ParameterInit> init = {};        ///< of W_r, W_z and W, LeCunNormal by default
  std::optional<ParameterInit> inner_init = {};  ///< of U_r, U_z and U, LeCunNormal by default
  ParameterInit bias_init = 0;
};
CT_FIELDS(GRUOptions, init, inner_init, bias_init)

/// One step of a GRU, without memory: r = sigmoid(W_r x + U_r h), z = sigmoid(W_z x + U_z h), and the new h = z tanh(W
/// x + U (r h)) + (1 - z) h. (chainer.links.StatelessGRU) (Cho et al., arXiv:1409.1259)
class CT_API StatelessGRU : public Chain {
 public:
  /// Determines the input size at the first call.
  explicit StatelessGRU(std::int64_t out_size, const GRUOptions& options = {})
      : StatelessGRU(std::nullopt, out_size, options) {}
  StatelessGRU(std::optional<std::int64_t> in_size, std::int64_t out_size, const GRUOptions& options = {});
  /// An undefined h means zeros.
  Variable operator()(const Variable& h, const Variable& x) const;
  std::string type_name() const override { return "StatelessGRU"; }
  std::int64_t state_size;
  Linear W_r, U_r, W_z, U_z, W, U;
  CT_LINKS(W_r, U_r, W_z, U_z, W, U)
};

/// A GRU that remembers h between calls. (chainer.links.StatefulGRU)
class CT_API StatefulGRU : public StatelessGRU {
 public:
  StatefulGRU(std::int64_t in_size, std::int64_t out_size, const GRUOptions& options = {})
      : StatelessGRU(in_size, out_size, options) {}
  Variable operator()(const Variable& x) const;
  void set_state(const Variable& h) const;
  void reset_state() const;
  std::string type_name() const override { return "StatefulGRU"; }
  StateVariable h;
  CT_MORE_LINKS(StatelessGRU, h)
};
/// (chainer.links.GRU)
using GRU = StatefulGRU;

/// One step of a minimal gated unit, without memory: f = sigmoid(W_f [h x]), the new h = f tanh(W_h [f h, x]) + (1 - f)
/// h. (chainer.links.StatelessMGU) (Zhou et al., arXiv:1603.09420)
class CT_API StatelessMGU : public Chain {
 public:
  StatelessMGU(std::int64_t in_size, std::int64_t out_size);
  Variable operator()(const Variable& h, const Variable& x) const;
  std::string type_name() const override { return "StatelessMGU"; }
  std::int64_t state_size;
  Linear W_f, W_h;
  CT_LINKS(W_f, W_h)
};

/// A minimal gated unit that remembers h between calls. (chainer.links.StatefulMGU)
class CT_API StatefulMGU : public StatelessMGU {
 public:
  using StatelessMGU::StatelessMGU;
  Variable operator()(const Variable& x) const;
  void set_state(const Variable& h) const;
  void reset_state() const;
  std::string type_name() const override { return "StatefulMGU"; }
  StateVariable h;
  CT_MORE_LINKS(StatelessMGU, h)
};

/// The LSTM of a tree node with any number of children, whose outputs are added. (chainer.links.ChildSumTreeLSTM) (Tai
/// et al., arXiv:1503.00075)
class CT_API ChildSumTreeLSTM : public Chain {
 public:
  ChildSumTreeLSTM(std::int64_t in_size, std::int64_t out_size);
  /// Returns c and h of the node, computed from its children's cs and hs, in equal order, and its input x [n, in].
  std::pair<Variable, Variable> operator()(const std::vector<Variable>& cs, const std::vector<Variable>& hs,
                                           const Variable& x) const;
  std::string type_name() const override { return "ChildSumTreeLSTM"; }
  std::int64_t state_size;
  Linear W_x, W_h_aio, W_h_f;
  CT_LINKS(W_x, W_h_aio, W_h_f)
};

/// The LSTM of a tree node with n_ary children, each with separate weights (W_h1, W_h2, …).
/// (chainer.links.NaryTreeLSTM) (Tai et al., arXiv:1503.00075)
class CT_API NaryTreeLSTM : public Chain {
 public:
  NaryTreeLSTM(std::int64_t in_size, std::int64_t out_size, int n_ary = 2);
  /// Like ChildSumTreeLSTM's call. Throws ValueError for another number of children.
  std::pair<Variable, Variable> operator()(const std::vector<Variable>& cs, const std::vector<Variable>& hs,
                                           const Variable& x) const;
  std::string type_name() const override { return "NaryTreeLSTM"; }
  void visit_members(MemberVisitor& visitor) const override;
  NaryTreeLSTM copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
  int n_ary() const { return static_cast<int>(W_h.size()); }
  std::int64_t state_size;
  Linear W_x;
  std::vector<Linear> W_h;  ///< one per child, named W_h1, W_h2, …
};

/// Options of the n-step links.
struct NStepOptions {
  std::optional<ParameterInit> initialW = {};  ///< LeCunNormal by default
  ParameterInit initial_bias = 0;
};
CT_FIELDS(NStepOptions, initialW, initial_bias)

/// The base of the n-step links: a stack of recurrent layers over whole sequences. Children "0", "1", … have parameters
/// w0, b0, w1, b1, … as the n_step functions take them. Bidirectional links have a child for each direction.
class CT_API NStepBase : public Chain {
 public:
  /// The weights and biases of a layer in one direction.
  class CT_API Layer : public Link {
   public:
    std::vector<Parameter> w, b;
    void visit_members(MemberVisitor& visitor) const override;
  };
  int n_layers;
  std::int64_t in_size, out_size;
  double dropout;  ///< between layers, in training
  std::vector<Layer> layers;
  /// Return the arguments of the n_step functions.
  functions::LayerParameters weights() const;
  functions::LayerParameters biases() const;
  void visit_members(MemberVisitor& visitor) const override;

 protected:
  NStepBase(int gates, int directions, int n_layers, std::int64_t in_size, std::int64_t out_size, double dropout,
            const NStepOptions& options);
  using Run =
      std::function<functions::NStepResult(const functions::LayerParameters& ws, const functions::LayerParameters& bs,
                                           const Variable& hx, const Variable& cx, const std::vector<Variable>& xs)>;
  /// Runs on sequences in any order. Undefined states mean zeros. Hooks see hx, cx and the sequences as inputs, and hy,
  /// cy and the outputs as results. Links with a single state leave cx and cy undefined.
  functions::NStepResult run(const Run& run, const Variable& hx, const Variable& cx,
                             const std::vector<Variable>& xs) const;

 private:
  functions::NStepResult run_sorted(const Run& run, const Variable& hx, const Variable& cx,
                                    const std::vector<Variable>& xs) const;
};

/// The base of LSTMs in one and two directions.
class CT_API NStepLSTMBase : public NStepBase {
 public:
  /// Runs on sequences xs [length, in] of any lengths, in any order. hx and cx [layers, batch, out] are the initial
  /// states, undefined for zeros. Returns the final states and each sequence's outputs [length, out] ([length, 2 out]
  /// for bidirectional links). Throws ShapeError and DtypeError.
  functions::NStepResult operator()(const Variable& hx, const Variable& cx, const std::vector<Variable>& xs) const;
  /// The number of states.
  static constexpr int n_cells = 2;

 protected:
  using Call = decltype(&functions::n_step_lstm);
  NStepLSTMBase(Call call, int directions, int n_layers, std::int64_t in_size, std::int64_t out_size, double dropout,
                const NStepOptions& options)
      : NStepBase(4, directions, n_layers, in_size, out_size, dropout, options), call_(call) {}

 private:
  Call call_;
};
/// The base of GRUs in one and two directions.
class CT_API NStepGRUBase : public NStepBase {
 public:
  /// Like NStepLSTMBase's call, with one state.
  functions::NStepResult operator()(const Variable& hx, const std::vector<Variable>& xs) const;
  static constexpr int n_cells = 1;

 protected:
  using Call = decltype(&functions::n_step_gru);
  NStepGRUBase(Call call, int directions, int n_layers, std::int64_t in_size, std::int64_t out_size, double dropout,
               const NStepOptions& options)
      : NStepBase(3, directions, n_layers, in_size, out_size, dropout, options), call_(call) {}

 private:
  Call call_;
};
/// The base of Elman networks in one and two directions.
class CT_API NStepRNNBase : public NStepBase {
 public:
  /// Like NStepLSTMBase's call, with one state.
  functions::NStepResult operator()(const Variable& hx, const std::vector<Variable>& xs) const;
  static constexpr int n_cells = 1;

 protected:
  using Call = decltype(&functions::n_step_rnn);
  NStepRNNBase(Call call, functions::RnnActivation activation, int directions, int n_layers, std::int64_t in_size,
               std::int64_t out_size, double dropout, const NStepOptions& options)
      : NStepBase(1, directions, n_layers, in_size, out_size, dropout, options), call_(call), activation_(activation) {}

 private:
  Call call_;
  functions::RnnActivation activation_;
};

/// LSTM layers (F::n_step_lstm). (chainer.links.NStepLSTM)
class CT_API NStepLSTM : public NStepLSTMBase {
 public:
  NStepLSTM(int n_layers, std::int64_t in_size, std::int64_t out_size, double dropout, const NStepOptions& options = {})
      : NStepLSTMBase(functions::n_step_lstm, 1, n_layers, in_size, out_size, dropout, options) {}
  std::string type_name() const override { return "NStepLSTM"; }
  NStepLSTM copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};
/// LSTM layers in both directions (F::n_step_bilstm). (chainer.links.NStepBiLSTM)
class CT_API NStepBiLSTM : public NStepLSTMBase {
 public:
  NStepBiLSTM(int n_layers, std::int64_t in_size, std::int64_t out_size, double dropout,
              const NStepOptions& options = {})
      : NStepLSTMBase(functions::n_step_bilstm, 2, n_layers, in_size, out_size, dropout, options) {}
  std::string type_name() const override { return "NStepBiLSTM"; }
  NStepBiLSTM copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};
/// GRU layers (F::n_step_gru). (chainer.links.NStepGRU)
class CT_API NStepGRU : public NStepGRUBase {
 public:
  NStepGRU(int n_layers, std::int64_t in_size, std::int64_t out_size, double dropout, const NStepOptions& options = {})
      : NStepGRUBase(functions::n_step_gru, 1, n_layers, in_size, out_size, dropout, options) {}
  std::string type_name() const override { return "NStepGRU"; }
  NStepGRU copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};
/// GRU layers in both directions (F::n_step_bigru). (chainer.links.NStepBiGRU)
class CT_API NStepBiGRU : public NStepGRUBase {
 public:
  NStepBiGRU(int n_layers, std::int64_t in_size, std::int64_t out_size, double dropout,
             const NStepOptions& options = {})
      : NStepGRUBase(functions::n_step_bigru, 2, n_layers, in_size, out_size, dropout, options) {}
  std::string type_name() const override { return "NStepBiGRU"; }
  NStepBiGRU copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};
/// Elman layers with tanh (F::n_step_rnn). (chainer.links.NStepRNNTanh)
class CT_API NStepRNNTanh : public NStepRNNBase {
 public:
  NStepRNNTanh(int n_layers, std::int64_t in_size, std::int64_t out_size, double dropout,
               const NStepOptions& options = {})
      : NStepRNNBase(functions::n_step_rnn, functions::RnnActivation::tanh, 1, n_layers, in_size, out_size, dropout,
                     options) {}
  std::string type_name() const override { return "NStepRNNTanh"; }
  NStepRNNTanh copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};
/// Elman layers with tanh in both directions (F::n_step_birnn). (chainer.links.NStepBiRNNTanh)
class CT_API NStepBiRNNTanh : public NStepRNNBase {
 public:
  NStepBiRNNTanh(int n_layers, std::int64_t in_size, std::int64_t out_size, double dropout,
                 const NStepOptions& options = {})
      : NStepRNNBase(functions::n_step_birnn, functions::RnnActivation::tanh, 2, n_layers, in_size, out_size, dropout,
                     options) {}
  std::string type_name() const override { return "NStepBiRNNTanh"; }
  NStepBiRNNTanh copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};
/// Elman layers with relu (F::n_step_rnn). (chainer.links.NStepRNNReLU)
class CT_API NStepRNNReLU : public NStepRNNBase {
 public:
  NStepRNNReLU(int n_layers, std::int64_t in_size, std::int64_t out_size, double dropout,
               const NStepOptions& options = {})
      : NStepRNNBase(functions::n_step_rnn, functions::RnnActivation::relu, 1, n_layers, in_size, out_size, dropout,
                     options) {}
  std::string type_name() const override { return "NStepRNNReLU"; }
  NStepRNNReLU copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};
/// Elman layers with relu in both directions (F::n_step_birnn). (chainer.links.NStepBiRNNReLU)
class CT_API NStepBiRNNReLU : public NStepRNNBase {
 public:
  NStepBiRNNReLU(int n_layers, std::int64_t in_size, std::int64_t out_size, double dropout,
                 const NStepOptions& options = {})
      : NStepRNNBase(functions::n_step_birnn, functions::RnnActivation::relu, 2, n_layers, in_size, out_size, dropout,
                     options) {}
  std::string type_name() const override { return "NStepBiRNNReLU"; }
  NStepBiRNNReLU copy(CopyMode mode = CopyMode::share) const { return copy_link(*this, mode); }
};

}  // namespace catenary::links
