// The cells of recurrent layers behind their products (device/row_functions.h), one row at a time.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "catenary/backends/cpu/rows/row_vectors.h"
#include "catenary/backends/cpu/rows/rows.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

constexpr int64_t kCellPart = 256;  // elements widened at a time

CT_ROW_INLINE float open_gate(float x) { return math::ct_sigmoid_f32(x); }
CT_ROW_INLINE double open_gate(double x) { return math::ct_sigmoid_f64(x); }
CT_ROW_INLINE float squash(float x) { return math::ct_tanh_f32(x); }
CT_ROW_INLINE double squash(double x) { return math::ct_tanh_f64(x); }

/// Elements [begin, begin + n) of each unit, for one row.
template <class T, class E>
class CellPart {
 public:
  CellPart(const RecurrentArgs& args, int64_t row, int64_t begin)
      : g(args), row_(row), begin_(begin), n_(std::min(kCellPart, args.units - begin)) {}

  void run() {
    const bool is_back = g.gh.data != nullptr;
    if (g.cell == RecurrentCell::lstm) return is_back ? lstm_back() : lstm();
    is_back ? gru_back() : gru();
  }

 private:
  void lstm() {
    T *const i = read(g.p, 0), *const f = read(g.p, 1), *const a = read(g.p, 2), *const o = read(g.p, 3);
    const T* const before = read(g.before);
    T *const c = memory_for(g.c), *const h = memory_for(g.h);
    CT_INDEPENDENT for (int64_t j = 0; j < n_; ++j) {
      const T in = open_gate(i[j]), keep = open_gate(f[j]), value = squash(a[j]), out = open_gate(o[j]);
      const T state = keep * before[j] + in * value;
      i[j] = in, f[j] = keep, a[j] = value, o[j] = out;
      c[j] = state;
      h[j] = out * squash(state);
    }
    store(i, g.p, 0), store(f, g.p, 1), store(a, g.p, 2), store(o, g.p, 3);
    store(c, g.c), store(h, g.h);
  }
  void lstm_back() {
    const T *const i = read(g.p, 0), *const f = read(g.p, 1), *const a = read(g.p, 2), *const o = read(g.p, 3);
    const T *const before = read(g.before), *const gh = state_gradient();
    T* const gc = read(g.gc);
    T *const di = memory_for(g.dp, 0), *const df = memory_for(g.dp, 1), *const da = memory_for(g.dp, 2),
             *const dout = memory_for(g.dp, 3);
    CT_INDEPENDENT for (int64_t j = 0; j < n_; ++j) {
      const T t = squash(f[j] * before[j] + i[j] * a[j]);
      const T gs = gc[j] + gh[j] * o[j] * (1 - t * t);
      dout[j] = gh[j] * t * o[j] * (1 - o[j]);
      di[j] = gs * a[j] * i[j] * (1 - i[j]);
      df[j] = gs * before[j] * f[j] * (1 - f[j]);
      da[j] = gs * i[j] * (1 - a[j] * a[j]);
      gc[j] = gs * f[j];
    }
    store(di, g.dp, 0), store(df, g.dp, 1), store(da, g.dp, 2), store(dout, g.dp, 3);
    store(gc, g.gc);
  }

  void gru() {
    T *const r = read(g.p, 0), *const z = read(g.p, 1), *const n = read(g.p, 2);
    const T *const qr = read(g.q, 0), *const qz = read(g.q, 1), *const qn = read(g.q, 2),
                   *const before = read(g.before);
    T* const h = memory_for(g.h);
    CT_INDEPENDENT for (int64_t j = 0; j < n_; ++j) {
      const T reset = open_gate(r[j] + qr[j]), keep = open_gate(z[j] + qz[j]), value = squash(n[j] + reset * qn[j]);
      r[j] = reset, z[j] = keep, n[j] = value;
      h[j] = (1 - keep) * value + keep * before[j];
    }
    store(r, g.p, 0), store(z, g.p, 1), store(n, g.p, 2), store(h, g.h);
  }
  void gru_back() {
    const T *const r = read(g.p, 0), *const z = read(g.p, 1), *const n = read(g.p, 2), *const qn = read(g.q, 2);
    const T *const before = read(g.before), *const given = state_gradient();
    T *const dr = memory_for(g.dp, 0), *const dz = memory_for(g.dp, 1), *const dn = memory_for(g.dp, 2),
             *const dqr = memory_for(g.dq, 0), *const dqz = memory_for(g.dq, 1), *const dqn = memory_for(g.dq, 2),
             *const gh = memory_for(g.gh);
    CT_INDEPENDENT for (int64_t j = 0; j < n_; ++j) {
      const T of_h = given[j], of_z = of_h * (before[j] - n[j]) * z[j] * (1 - z[j]);
      const T of_n = of_h * (1 - z[j]) * (1 - n[j] * n[j]), of_r = of_n * qn[j] * r[j] * (1 - r[j]);
      dr[j] = of_r, dqr[j] = of_r;
      dz[j] = of_z, dqz[j] = of_z;
      dn[j] = of_n, dqn[j] = of_n * r[j];
      gh[j] = of_h * z[j];
    }
    store(dr, g.dp, 0), store(dz, g.dp, 1), store(dn, g.dp, 2);
    store(dqr, g.dq, 0), store(dqz, g.dq, 1), store(dqn, g.dq, 2);
    store(gh, g.gh);
  }

  E* at(const RecurrentArgs::Rows& rows, int gate) const {
    return static_cast<E*>(rows.data) + row_ * rows.stride + gate * g.units + begin_;
  }
  T* memory() { return memory_[used_++]; }
  /// Returns elements in place, or a widened copy.
  T* read(const RecurrentArgs::Rows& rows, int gate = 0) {
    E* const from = at(rows, gate);
    if constexpr (std::is_same_v<T, E>) {
      return from;
    } else {
      T* const copy = memory();
      widen(from, copy, n_);
      return copy;
    }
  }
  T* memory_for(const RecurrentArgs::Rows& rows, int gate = 0) {
    if constexpr (std::is_same_v<T, E>) {
      return at(rows, gate);
    } else {
      return memory();
    }
  }
  void store(const T* results, const RecurrentArgs::Rows& rows, int gate = 0) {
    finish_row(results, at(rows, gate), n_);
  }
  /// The gradient of the state: of later steps, and of this step's output if there is one.
  const T* state_gradient() {
    const T* const later = read(g.gh);
    if (!g.gy.data) return later;
    const T* const own = read(g.gy);
    T* const sum = sums_;
    CT_INDEPENDENT for (int64_t j = 0; j < n_; ++j) sum[j] = later[j] + own[j];
    return sum;
  }

  const RecurrentArgs& g;
  int64_t row_, begin_, n_;
  int used_ = 0;
  alignas(64) T sums_[kCellPart];
  alignas(64) T memory_[std::is_same_v<T, E> ? 1 : 16][kCellPart];
};

template <class T, class E>
void run_recurrent(const RecurrentArgs& g, int64_t row) {
  for (int64_t begin = 0; begin < g.units; begin += kCellPart) CellPart<T, E>(g, row, begin).run();
}

}  // namespace

RecurrentUnit recurrent_unit(Dtype dtype) {
  return loop_for(dtype, []<class T, class E>() -> RecurrentUnit { return run_recurrent<T, E>; });
}

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
