// A unit of a softmax (backends/cpu/rows/rows.h): a chunk of a contiguous row in place, or a tile of columns that is
// copied to scratch memory, because rows a power of 2 apart would displace each other from the cache.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "catenary/backends/cpu/rows/row_vectors.h"
#include "catenary/backends/cpu/rows/rows.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

template <class T>
constexpr T kLowest = -std::numeric_limits<T>::infinity();

/// Statistics of chunks: for row k, the largest element and the sum of exponentials, or the sum of a gradient.
template <class T>
CT_ROW_INLINE T* part_of(const SoftmaxArgs& g, int64_t chunk, int which) {
  return static_cast<T*>(g.parts) + (2 * chunk + which) * g.outer * g.inner;
}
/// Subtracting this from a chunk gives no NaN if all its elements are -inf, which another chunk's elements may not be.
template <class T>
CT_ROW_INLINE T shift_of_chunk(T largest) {
  return largest == kLowest<T> ? T(0) : largest;
}
template <class T>
void join_parts(const SoftmaxArgs& g, int64_t k, T& largest, T& sum) {
  largest = kLowest<T>;
  for (int64_t c = 0; c < g.chunks; ++c) largest = std::max(largest, part_of<T>(g, c, 0)[k]);
  sum = 0;
  for (int64_t c = 0; c < g.chunks; ++c) sum += part_of<T>(g, c, 1)[k] * exp_of_low(part_of<T>(g, c, 0)[k] - largest);
}
template <class T>
T sum_of_parts(const SoftmaxArgs& g, int64_t k) {
  T sum = 0;
  for (int64_t c = 0; c < g.chunks; ++c) sum += part_of<T>(g, c, 0)[k];
  return sum;
}

/// Writes the statistics of row k for a cross entropy.
template <class T, class E>
CT_ROW_INLINE void write_loss(const SoftmaxArgs& g, int64_t k, T largest, T sum) {
  const T log_z = largest + log_of_row(sum);
  static_cast<T*>(g.log_z)[k] = log_z;
  const int64_t label = g.labels[k], at = (k / g.inner * g.n + label) * g.inner + k % g.inner;
  static_cast<T*>(g.losses)[k] = label < 0 ? T(0) : log_z - element(static_cast<const E*>(g.x)[at]);
}

// ---- contiguous rows ----

template <class T, class E>
class Row {
 public:
  Row(const SoftmaxArgs& args, RowPhase phase, int64_t unit, T* scratch)
      : g(args),
        phase_(phase),
        k_(unit / args.chunks),
        chunk_(unit % args.chunks),
        n_(std::min(args.chunk, args.n - chunk_ * args.chunk)),
        at_(k_ * args.n + chunk_ * args.chunk),
        scratch_(scratch) {}

  void run() {
    switch (g.op) {
      case SoftmaxOp::softmax:
      case SoftmaxOp::log_softmax:
      case SoftmaxOp::cross_entropy:
        return forward();
      case SoftmaxOp::softmax_back:
        return softmax_back();
      case SoftmaxOp::log_softmax_back:
        return log_softmax_back();
      case SoftmaxOp::cross_entropy_back:
        return cross_entropy_back();
    }
  }

 private:
  /// Elements of x and gy, and memory for results that `finish` stores.
  const T* x() { return row_as(static_cast<const E*>(g.x) + at_, scratch_, n_); }
  const T* gy() { return row_as(static_cast<const E*>(g.gy) + at_, scratch_ + g.chunk, n_); }
  T* results() { return results_of_row(static_cast<E*>(g.out) + at_, scratch_); }
  void finish(const T* results) { finish_row(results, static_cast<E*>(g.out) + at_, n_); }

  void forward() {
    T largest, sum;
    const T* const from = phase_ == RowPhase::finish && g.op == SoftmaxOp::cross_entropy ? nullptr : x();
    T* const to = g.op == SoftmaxOp::cross_entropy ? nullptr : results();
    if (phase_ == RowPhase::finish) {
      join_parts(g, k_, largest, sum);
    } else {
      largest = largest_of_row(from, n_);
      const T shift = phase_ == RowPhase::partial ? shift_of_chunk(largest) : largest;
      if (phase_ == RowPhase::whole && g.op == SoftmaxOp::softmax) {
        sum = exponentials(from, shift, to);
      } else {
        sum = sum_of_row<T>(n_, [=](int64_t i) CT_ROW_BODY { return exp_of_low(from[i] - shift); });
      }
      if (phase_ == RowPhase::partial) {
        part_of<T>(g, chunk_, 0)[k_] = largest;
        part_of<T>(g, chunk_, 1)[k_] = sum;
        return;
      }
    }
    if (g.op == SoftmaxOp::cross_entropy) {
      if (chunk_ == 0) write_loss<T, E>(g, k_, largest, sum);
      return;
    }
    write_forward(from, largest, sum, to);
    finish(to);
  }
  void write_forward(const T* from, T largest, T sum, T* to) const {
    if (g.op == SoftmaxOp::log_softmax) {
      const T log_sum = log_of_row(sum);
      CT_INDEPENDENT for (int64_t i = 0; i < n_; ++i) to[i] = from[i] - largest - log_sum;
      return;
    }
    const T factor = 1 / sum;
    if (phase_ == RowPhase::whole) {
      CT_INDEPENDENT for (int64_t i = 0; i < n_; ++i) to[i] *= factor;
    } else {
      CT_INDEPENDENT for (int64_t i = 0; i < n_; ++i) to[i] = exp_of_low(from[i] - largest) * factor;
    }
  }
  T exponentials(const T* from, T shift, T* to) const {
    return sum_of_row<T>(n_, [=](int64_t i) CT_ROW_BODY {
      const T e = exp_of_low(from[i] - shift);
      to[i] = e;
      return e;
    });
  }

  /// Returns the sum over the whole row, or false after a partial sum.
  template <class F>
  bool summed(T& sum, const F& f) {
    if (phase_ == RowPhase::finish) {
      sum = sum_of_parts<T>(g, k_);
      return true;
    }
    sum = sum_of_row<T>(n_, f);
    if (phase_ == RowPhase::partial) part_of<T>(g, chunk_, 0)[k_] = sum;
    return phase_ == RowPhase::whole;
  }
  void softmax_back() {
    const T *const y = x(), *const grad = gy();
    T* const to = results();
    T sum;
    if (!summed(sum, [=](int64_t i) CT_ROW_BODY { return grad[i] * y[i]; })) return;
    CT_INDEPENDENT for (int64_t i = 0; i < n_; ++i) to[i] = (grad[i] - sum) * y[i];
    finish(to);
  }
  void log_softmax_back() {
    const T *const y = x(), *const grad = gy();
    T* const to = results();
    T sum;
    if (!summed(sum, [=](int64_t i) CT_ROW_BODY { return grad[i]; })) return;
    CT_INDEPENDENT for (int64_t i = 0; i < n_; ++i) to[i] = grad[i] - exp_of_low(y[i]) * sum;
    finish(to);
  }
  void cross_entropy_back() {
    const int64_t label = g.labels[k_];
    T* const to = results();
    if (label < 0) {
      std::fill(to, to + n_, T(0));
      return finish(to);
    }
    const T log_z = static_cast<const T*>(g.log_z)[k_], factor = static_cast<const T*>(g.factors)[k_];
    const T* const from = x();
    const int64_t in_chunk = label - chunk_ * g.chunk;
    const bool is_here = in_chunk >= 0 && in_chunk < n_;
    const T of_label = is_here ? (exp_of_low(from[in_chunk] - log_z) - 1) * factor : T(0);
    CT_INDEPENDENT for (int64_t i = 0; i < n_; ++i) to[i] = exp_of_low(from[i] - log_z) * factor;
    if (is_here) to[in_chunk] = of_label;
    finish(to);
  }

  const SoftmaxArgs& g;
  RowPhase phase_;
  int64_t k_, chunk_, n_, at_;
  T* scratch_;
};

// ---- columns ----

template <class T, class E>
class Columns {
 public:
  Columns(const SoftmaxArgs& args, RowPhase phase, int64_t unit, T* scratch)
      : g(args),
        phase_(phase),
        k_(unit / args.chunks * args.columns),
        chunk_(unit % args.chunks),
        row_(chunk_ * args.chunk),
        rows_(std::min(args.chunk, args.n - row_)),
        count_(std::min(args.columns, args.outer * args.inner - k_)),
        tile_(scratch),
        other_(scratch + args.chunk * args.columns),
        first_(other_ + args.chunk * args.columns),
        second_(first_ + args.columns),
        group_(second_ + args.columns),
        factor_(group_ + args.columns),
        label_(reinterpret_cast<Label*>(factor_ + args.columns)) {}

  void run() {
    switch (g.op) {
      case SoftmaxOp::softmax:
      case SoftmaxOp::log_softmax:
      case SoftmaxOp::cross_entropy:
        return forward();
      case SoftmaxOp::softmax_back:
      case SoftmaxOp::log_softmax_back:
        return back();
      case SoftmaxOp::cross_entropy_back:
        return cross_entropy_back();
    }
  }

 private:
  using Label = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

  /// Calls f(memory, column, count) for pieces of the tile that belong to one index of the outer axis.
  template <class F>
  void for_each_piece(const F& f) const {
    for (int64_t c = 0; c < count_;) {
      const int64_t k = k_ + c, inside = k % g.inner, count = std::min(count_ - c, g.inner - inside);
      f((k / g.inner * g.n + row_) * g.inner + inside, c, count);
      c += count;
    }
  }
  /// Reads a tile and calls done(row), for rows of a matrix while the row is still in the first-level cache.
  template <class F>
  void read(const void* memory, T* tile, const F& done) const {
    const E* const from = static_cast<const E*>(memory);
    if (count_ < g.columns)  // the other columns are computed, too
      for (int64_t j = 0; j < rows_; ++j) std::fill(tile + j * g.columns + count_, tile + (j + 1) * g.columns, T(0));
    if (g.inner == 1) {
      const E* row = from + k_ * g.n + row_;
      for (int64_t c = 0; c < count_; ++c, row += g.n)
        for (int64_t j = 0; j < rows_; ++j) tile[j * g.columns + c] = element(row[j]);
    }
    for (int64_t j = 0; j < rows_; ++j) {
      if (g.inner > 1)
        for_each_piece([&](int64_t at, int64_t c, int64_t count) {
          read_row(from + at + j * g.inner, tile + j * g.columns + c, count);
        });
      done(j);
    }
  }
  void read(const void* memory, T* tile) const {
    read(memory, tile, [](int64_t) {});
  }
  /// Calls make(row) and writes the rows of a tile.
  template <class F>
  void write(const T* tile, const F& make) const {
    E* const to = static_cast<E*>(g.out);
    for (int64_t j = 0; j < rows_; ++j) {
      make(j);
      if (g.inner > 1)
        for_each_piece([&](int64_t at, int64_t c, int64_t count) {
          write_row(tile + j * g.columns + c, to + at + j * g.inner, count);
        });
    }
    if (g.inner == 1) {
      E* row = to + k_ * g.n + row_;
      for (int64_t c = 0; c < count_; ++c, row += g.n)
        for (int64_t j = 0; j < rows_; ++j) set_element(row[j], tile[j * g.columns + c]);
    }
  }
  /// Calls f(element, position, column) for a row of a tile.
  template <class F>
  [[gnu::always_inline]] inline void for_row(T* tile, int64_t j, const F& f) const {
    const int64_t columns = g.columns, begin = j * columns;
    CT_INDEPENDENT for (int64_t c = 0; c < columns; ++c) f(tile[begin + c], begin + c, c);
  }

  void forward() {
    const bool is_loss = g.op == SoftmaxOp::cross_entropy;
    T *const largest = first_, *const sum = second_;
    if (phase_ == RowPhase::finish) {
      if (!is_loss) read(g.x, tile_);
      for (int64_t c = 0; c < count_; ++c) join_parts(g, k_ + c, first_[c], second_[c]);
      std::fill(first_ + count_, first_ + g.columns, T(0));
      std::fill(second_ + count_, second_ + g.columns, T(1));
    } else {
      std::fill(largest, largest + g.columns, kLowest<T>);
      read(g.x, tile_, [&](int64_t j) {
        for_row(tile_, j, [=](T& x, int64_t, int64_t c) CT_ROW_BODY { largest[c] = x > largest[c] ? x : largest[c]; });
      });
      sum_exponentials();
      if (phase_ == RowPhase::partial) {
        std::copy(first_, first_ + count_, part_of<T>(g, chunk_, 0) + k_);
        std::copy(second_, second_ + count_, part_of<T>(g, chunk_, 1) + k_);
        return;
      }
    }
    if (is_loss) {
      if (chunk_ == 0)
        for (int64_t c = 0; c < count_; ++c) write_loss<T, E>(g, k_ + c, first_[c], second_[c]);
      return;
    }
    if (g.op == SoftmaxOp::log_softmax) {
      for (int64_t c = 0; c < g.columns; ++c) sum[c] = log_of_row(sum[c]);
      write_with([=](T& x, int64_t, int64_t c) CT_ROW_BODY { x = x - largest[c] - sum[c]; });
    } else {
      for (int64_t c = 0; c < g.columns; ++c) sum[c] = 1 / sum[c];
      if (phase_ == RowPhase::whole) {
        write_with([=](T& x, int64_t, int64_t c) CT_ROW_BODY { x *= sum[c]; });
      } else {
        write_with([=](T& x, int64_t, int64_t c) CT_ROW_BODY { x = exp_of_low(x - largest[c]) * sum[c]; });
      }
    }
  }
  /// Replaces the elements of the tile by results of f and writes them.
  template <class F>
  void write_with(const F& f) const {
    write(tile_, [&](int64_t j) { for_row(tile_, j, f); });
  }
  /// Sums of exponentials, which replace the elements if a softmax needs them.
  void sum_exponentials() {
    const int64_t columns = g.columns;
    T *const largest = first_, *const tile = tile_, *const shift = factor_;
    const bool is_partial = phase_ == RowPhase::partial;
    for (int64_t c = 0; c < columns; ++c) shift[c] = is_partial ? shift_of_chunk(largest[c]) : largest[c];
    if (phase_ == RowPhase::whole && g.op == SoftmaxOp::softmax) {
      sum_of_columns(rows_, columns, second_, group_, [=](int64_t j, int64_t c) CT_ROW_BODY {
        const T e = exp_of_low(tile[j * columns + c] - shift[c]);
        tile[j * columns + c] = e;
        return e;
      });
    } else {
      sum_of_columns(rows_, columns, second_, group_,
                     [=](int64_t j, int64_t c) CT_ROW_BODY { return exp_of_low(tile[j * columns + c] - shift[c]); });
    }
  }

  void back() {
    const bool is_log = g.op == SoftmaxOp::log_softmax_back;
    const int64_t columns = g.columns;
    T *const grad = other_, *const y = tile_, *const sum = first_;
    if (!is_log || phase_ != RowPhase::partial) read(g.x, y);
    if (phase_ == RowPhase::finish) {
      read(g.gy, grad);
      for (int64_t c = 0; c < count_; ++c) sum[c] = sum_of_parts<T>(g, k_ + c);
      std::fill(sum + count_, sum + columns, T(0));
    } else {
      ColumnSums<T> sums(sum, group_, columns, rows_);
      if (is_log) {
        read(g.gy, grad, [&](int64_t j) { sums.add(j, [=](int64_t c) CT_ROW_BODY { return grad[j * columns + c]; }); });
      } else {
        read(g.gy, grad, [&](int64_t j) {
          sums.add(j, [=](int64_t c) CT_ROW_BODY { return grad[j * columns + c] * y[j * columns + c]; });
        });
      }
    }
    if (phase_ == RowPhase::partial) {
      std::copy(sum, sum + count_, part_of<T>(g, chunk_, 0) + k_);
      return;
    }
    if (is_log) {
      write_with([=](T& x, int64_t i, int64_t c) CT_ROW_BODY { x = grad[i] - exp_of_low(x) * sum[c]; });
    } else {
      write_with([=](T& x, int64_t i, int64_t c) CT_ROW_BODY { x = (grad[i] - sum[c]) * x; });
    }
  }

  void cross_entropy_back() {
    read(g.x, tile_);
    T *const log_z = first_, *const factor = factor_;
    Label* const label = label_;
    std::copy(static_cast<const T*>(g.log_z) + k_, static_cast<const T*>(g.log_z) + k_ + count_, log_z);
    std::copy(static_cast<const T*>(g.factors) + k_, static_cast<const T*>(g.factors) + k_ + count_, factor);
    for (int64_t c = 0; c < count_; ++c) label[c] = static_cast<Label>(g.labels[k_ + c]);
    std::fill(log_z + count_, log_z + g.columns, T(0));
    std::fill(factor + count_, factor + g.columns, T(0));
    std::fill(label + count_, label + g.columns, Label(-1));
    write(tile_, [&](int64_t j) {
      T* const row = tile_ + j * g.columns;
      const Label here = static_cast<Label>(row_ + j);
      CT_INDEPENDENT for (int64_t c = 0; c < g.columns; ++c) {
        const T gradient = (exp_of_low(row[c] - log_z[c]) - (label[c] == here ? T(1) : T(0))) * factor[c];
        row[c] = label[c] < 0 ? T(0) : gradient;
      }
    });
  }

  const SoftmaxArgs& g;
  RowPhase phase_;
  int64_t k_, chunk_, row_, rows_, count_;
  T *tile_, *other_, *first_, *second_, *group_, *factor_;
  Label* label_;
};

template <class T, class E>
void run_softmax(const SoftmaxArgs& g, RowPhase phase, int64_t unit, void* scratch) {
  if (g.columns == 1) {
    Row<T, E>(g, phase, unit, static_cast<T*>(scratch)).run();
  } else {
    Columns<T, E>(g, phase, unit, static_cast<T*>(scratch)).run();
  }
}

}  // namespace

SoftmaxUnit softmax_unit(Dtype dtype) {
  return loop_for(dtype, []<class T, class E>() -> SoftmaxUnit { return run_softmax<T, E>; });
}

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
