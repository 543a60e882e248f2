// Normalisation of groups whose elements are columns of [outer, n, inner]: batch normalisation of rows, and of images
// with channels last. Statistics of blocks in the cache are joined in float64, as in normalize_rows.simd.cpp.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "catenary/backends/cpu/rows/row_vectors.h"
#include "catenary/backends/cpu/rows/rows.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

constexpr int64_t kMostColumnsOfTile = kStandardizeColumns, kBlockElements = kStandardizeChunk, kMostRowsOfBlock = 64;

/// Rows [begin, end) of a tile of adjacent columns.
template <class T, class E>
class TileOfColumns {
 public:
  TileOfColumns(const StandardizeArgs& args, int64_t unit, void* scratch)
      : g(args),
        tiles_((args.inner + kMostColumnsOfTile - 1) / kMostColumnsOfTile),
        scratch_(static_cast<T*>(scratch)) {
    chunk_ = unit % g.chunks;
    const int64_t tile = unit / g.chunks % tiles_, outer = unit / g.chunks / tiles_;
    column_ = tile * kMostColumnsOfTile;
    columns_ = std::min(kMostColumnsOfTile, g.inner - column_);
    group_ = outer * g.inner + column_;
    at_ = outer * g.pieces * g.inner + column_;
    begin_ = chunk_ * g.chunk;
    end_ = std::min(g.pieces, begin_ + g.chunk);
    rows_of_block_ = std::clamp(kBlockElements / columns_, int64_t(1), kMostRowsOfBlock);
  }

  void run(RowPhase phase) {
    if (phase != RowPhase::finish) g.gy ? gradient_sums() : moments();
    if (phase != RowPhase::partial) g.gy ? finish_backward() : finish_forward();
  }

 private:
  struct Rows {
    const T* data;
    int64_t stride;
  };
  /// Rows of an array: in place, or widened.
  Rows rows(const void* array, int64_t begin, int64_t count, T* memory) const {
    const E* const from = static_cast<const E*>(array) + at_ + begin * g.inner;
    if constexpr (std::is_same_v<T, E>) {
      return {from, g.inner};
    } else {
      for (int64_t r = 0; r < count; ++r) widen(from + r * g.inner, memory + r * columns_, columns_);
      return {memory, columns_};
    }
  }
  double* part(int64_t chunk, int which) const { return g.parts + (2 * chunk + which) * g.groups + group_; }
  /// Calls f(first row, number of rows) for blocks in the cache.
  template <class F>
  void for_each_block(const F& f) const {
    for (int64_t r = begin_; r < end_; r += rows_of_block_) f(r, std::min(rows_of_block_, end_ - r));
  }
  T* memory_of_gy() const { return scratch_ + kBlockElements; }

  void moments() const {
    const int64_t columns = columns_;
    double *const mean = part(chunk_, 0), *const squares = part(chunk_, 1);
    std::fill(mean, mean + columns, 0.0);
    std::fill(squares, squares + columns, 0.0);
    for_each_block([&](int64_t first, int64_t count) {
      alignas(64) T center[kMostColumnsOfTile], sum[kMostColumnsOfTile], square[kMostColumnsOfTile];
      std::fill(center, center + columns, T(0));
      std::fill(sum, sum + columns, T(0));
      std::fill(square, square + columns, T(0));
      const Rows x = rows(g.x, first, count, scratch_);
      for (int64_t r = 0; r < count; ++r) {
        const T* const row = x.data + r * x.stride;
        CT_INDEPENDENT for (int64_t c = 0; c < columns; ++c) center[c] += row[c];
      }
      const T factor = 1 / static_cast<T>(count);
      for (int64_t c = 0; c < columns; ++c) center[c] *= factor;
      for (int64_t r = 0; r < count; ++r) {
        const T* const row = x.data + r * x.stride;
        CT_INDEPENDENT for (int64_t c = 0; c < columns; ++c) {
          const T d = row[c] - center[c];
          sum[c] += d;
          square[c] += d * d;
        }
      }
      const double size = static_cast<double>(count), before = static_cast<double>(first - begin_),
                   weight = size / (before + size);
      CT_INDEPENDENT for (int64_t c = 0; c < columns; ++c) {
        // the sum of differences corrects the rounding of the center
        const double rest = static_cast<double>(sum[c]) / size;
        const double own = static_cast<double>(square[c]) - rest * rest * size;
        const double delta = static_cast<double>(center[c]) + rest - mean[c];
        mean[c] += delta * weight;
        squares[c] += (own < 0 ? 0 : own) + delta * delta * before * weight;
      }
    });
  }

  void finish_forward() const {
    const int64_t columns = columns_;
    alignas(64) T mean[kMostColumnsOfTile], scale[kMostColumnsOfTile], shift[kMostColumnsOfTile];
    for (int64_t c = 0; c < columns; ++c) {
      double m = 0, squares = 0, before = 0;
      for (int64_t k = 0; k < g.chunks; ++k) {
        const double size = static_cast<double>(std::min(g.chunk, g.pieces - k * g.chunk));
        const double delta = part(k, 0)[c] - m, weight = size / (before + size);
        squares += part(k, 1)[c] + delta * delta * before * weight;
        m += delta * weight;
        before += size;
      }
      const T var = static_cast<T>(squares / before), inv_std = 1 / std::sqrt(var + static_cast<T>(g.eps));
      mean[c] = static_cast<T>(m);
      scale[c] = inv_std * gammas()[c];
      shift[c] = (static_cast<const T*>(g.beta) + column_)[c];
      if (chunk_ > 0) continue;
      (static_cast<T*>(g.mean) + group_)[c] = mean[c];
      (static_cast<T*>(g.var) + group_)[c] = var;
      (static_cast<T*>(g.inv_std) + group_)[c] = inv_std;
    }
    for_each_block([&](int64_t first, int64_t count) {
      const Rows x = rows(g.x, first, count, scratch_);
      for (int64_t r = 0; r < count; ++r) {
        const T* const from = x.data + r * x.stride;
        E* const out = static_cast<E*>(g.y) + at_ + (first + r) * g.inner;
        T* const to = results_of_row(out, scratch_ + r * columns);
        CT_INDEPENDENT for (int64_t c = 0; c < columns; ++c) to[c] = (from[c] - mean[c]) * scale[c] + shift[c];
        finish_row(to, out, columns);
      }
    });
  }

  /// Sums of gy * (x - mean) and of gy.
  void gradient_sums() const {
    const int64_t columns = columns_;
    double *const of_gamma = part(chunk_, 0), *const of_beta = part(chunk_, 1);
    std::fill(of_gamma, of_gamma + columns, 0.0);
    std::fill(of_beta, of_beta + columns, 0.0);
    const T* const mean = static_cast<const T*>(g.mean) + group_;
    for_each_block([&](int64_t first, int64_t count) {
      alignas(64) T a[kMostColumnsOfTile], b[kMostColumnsOfTile];
      std::fill(a, a + columns, T(0));
      std::fill(b, b + columns, T(0));
      const Rows x = rows(g.x, first, count, scratch_), gy = rows(g.gy, first, count, memory_of_gy());
      for (int64_t r = 0; r < count; ++r) {
        const T *const value = x.data + r * x.stride, *const gradient = gy.data + r * gy.stride;
        CT_INDEPENDENT for (int64_t c = 0; c < columns; ++c) {
          a[c] += gradient[c] * (value[c] - mean[c]);
          b[c] += gradient[c];
        }
      }
      CT_INDEPENDENT for (int64_t c = 0; c < columns; ++c) {
        of_gamma[c] += static_cast<double>(a[c]);
        of_beta[c] += static_cast<double>(b[c]);
      }
    });
  }

  void finish_backward() const {
    const int64_t columns = columns_;
    alignas(64) T scale[kMostColumnsOfTile], by_x[kMostColumnsOfTile], constant[kMostColumnsOfTile];
    const T *const mean = static_cast<const T*>(g.mean) + group_, *const inv_std =
                                                                      static_cast<const T*>(g.inv_std) + group_;
    const T count_of_rows = static_cast<T>(g.pieces);
    for (int64_t c = 0; c < columns; ++c) {
      double of_gamma = 0, of_beta = 0;
      for (int64_t k = 0; k < g.chunks; ++k) of_gamma += part(k, 0)[c], of_beta += part(k, 1)[c];
      const T inv = inv_std[c], sum = static_cast<T>(of_gamma), gradients = static_cast<T>(of_beta);
      scale[c] = gammas()[c] * inv;
      by_x[c] = scale[c] * inv * inv * sum / count_of_rows;
      constant[c] = scale[c] * gradients / count_of_rows;
      if (chunk_ > 0) continue;
      (static_cast<T*>(g.ggamma) + group_)[c] = sum * inv;
      (static_cast<T*>(g.gbeta) + group_)[c] = gradients;
    }
    for_each_block([&](int64_t first, int64_t count) {
      const Rows x = rows(g.x, first, count, scratch_), gy = rows(g.gy, first, count, memory_of_gy());
      for (int64_t r = 0; r < count; ++r) {
        const T *const value = x.data + r * x.stride, *const gradient = gy.data + r * gy.stride;
        E* const out = static_cast<E*>(g.gx) + at_ + (first + r) * g.inner;
        T* const to = results_of_row(out, scratch_ + r * columns);
        CT_INDEPENDENT for (int64_t c = 0; c < columns; ++c) to[c] =
            gradient[c] * scale[c] - (value[c] - mean[c]) * by_x[c] - constant[c];
        finish_row(to, out, columns);
      }
    });
  }

  const T* gammas() const { return static_cast<const T*>(g.gamma) + column_; }

  const StandardizeArgs& g;
  int64_t tiles_, chunk_, column_, columns_, group_, at_, begin_, end_, rows_of_block_;
  T* scratch_;
};

template <class T, class E>
void run_columns(const StandardizeArgs& g, RowPhase phase, int64_t unit, void* scratch) {
  TileOfColumns<T, E>(g, unit, scratch).run(phase);
}

}  // namespace

StandardizeColumns standardize_columns(Dtype dtype) {
  return loop_for(dtype, []<class T, class E>() -> StandardizeColumns { return run_columns<T, E>; });
}

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
