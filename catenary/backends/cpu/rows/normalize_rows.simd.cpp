// Normalisation by the statistics of groups of elements (device/row_functions.h). A chunk's mean and squared
// differences are computed in the cache and joined in float64 (Chan, Golub and LeVeque 1983), so memory is read once
// for statistics.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "catenary/backends/cpu/rows/row_vectors.h"
#include "catenary/backends/cpu/rows/rows.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

constexpr int64_t kChunk = kStandardizeChunk;

/// Two sums over a row, in lanes and blocks as sum_of_row.
template <class T>
struct TwoSums {
  T first = 0, second = 0;
};
template <class T, class F>
CT_ROW_INLINE TwoSums<T> two_sums_of_row(int64_t n, const F& f) {
  TwoSums<T> total;
  for (int64_t begin = 0; begin < n; begin += kSumBlock) {
    const int64_t end = std::min(n, begin + kSumBlock);
    T a[kSumLanes] = {}, b[kSumLanes] = {};
    int64_t i = begin;
    for (; i + kSumLanes <= end; i += kSumLanes) {
      CT_INDEPENDENT for (int64_t j = 0; j < kSumLanes; ++j) f(i + j, a[j], b[j]);
    }
    const int64_t rest = end - i;
    CT_INDEPENDENT for (int64_t j = 0; j < rest; ++j) f(i + j, a[j], b[j]);
    for (int64_t half = kSumLanes / 2; half > 0; half /= 2)
      for (int64_t j = 0; j < half; ++j) a[j] += a[j + half], b[j] += b[j + half];
    total.first += a[0], total.second += b[0];
  }
  return total;
}

/// The count, the mean and the sum of squared differences of the elements so far.
struct Moments {
  double count = 0, mean = 0, squares = 0;
};
template <class T>
CT_ROW_INLINE void add_moments(Moments& m, const T* x, int64_t n) {
  const T center = sum_of_row<T>(n, [=](int64_t i) CT_ROW_BODY { return x[i]; }) / static_cast<T>(n);
  const TwoSums<T> sums = two_sums_of_row<T>(n, [=](int64_t i, T& a, T& b) CT_ROW_BODY {
    const T d = x[i] - center;
    a += d;
    b += d * d;
  });
  // the sum of differences corrects the rounding of the center
  const double size = static_cast<double>(n), rest = static_cast<double>(sums.first) / size;
  const double mean = static_cast<double>(center) + rest,
               squares = static_cast<double>(sums.second) - rest * rest * size;
  const double all = m.count + size, delta = mean - m.mean;
  m.squares += (squares < 0 ? 0 : squares) + (m.count == 0 ? 0 : delta * delta * m.count * size / all);
  m.mean = m.count == 0 ? mean : m.mean + delta * size / all;
  m.count = all;
}

template <class T, class E>
class Group {
 public:
  Group(const StandardizeArgs& args, int64_t group, void* scratch)
      : g(args), group_(group), scratch_(static_cast<T*>(scratch)) {}

  void forward() {
    const Moments m = moments();
    const T mean = static_cast<T>(m.mean), var = static_cast<T>(m.squares / m.count);
    const T inv_std = 1 / std::sqrt(var + static_cast<T>(g.eps));
    static_cast<T*>(g.mean)[group_] = mean;
    static_cast<T*>(g.var)[group_] = var;
    static_cast<T*>(g.inv_std)[group_] = inv_std;
    for (int64_t q = 0; q < g.pieces; ++q) {
      const int64_t at = piece(q), w = g.elementwise ? 0 : weight(q);
      const T gamma = gammas()[w], beta = static_cast<const T*>(g.beta)[w];
      for (int64_t i = 0; i < g.length; i += kChunk) {
        const int64_t n = std::min(kChunk, g.length - i);
        const T* const x = row_as(static_cast<const E*>(g.x) + at + i, scratch_, n);
        T* const y = memory_for(g.y, at + i);
        if (g.elementwise) {
          const T *const scale = gammas() + i, *const shift = static_cast<const T*>(g.beta) + i;
          CT_INDEPENDENT for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - mean) * (inv_std * scale[j]) + shift[j];
        } else {
          const T scale = inv_std * gamma;
          CT_INDEPENDENT for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - mean) * scale + beta;
        }
        store(y, g.y, at + i, n);
      }
    }
  }

  /// The gradient if gamma has an element for each piece.
  void backward() {
    const T mean = static_cast<const T*>(g.mean)[group_], inv_std = static_cast<const T*>(g.inv_std)[group_];
    double of_gamma = 0, of_beta = 0;  // sums over the group
    for (int64_t q = 0; q < g.pieces; ++q) {
      const TwoSums<T> sums = piece_sums(piece(q), mean);
      const T gamma = gammas()[weight(q)];
      of_gamma += static_cast<double>(gamma) * static_cast<double>(sums.first);
      of_beta += static_cast<double>(gamma) * static_cast<double>(sums.second);
      static_cast<T*>(g.ggamma)[group_ * g.pieces + q] = sums.first * inv_std;
      static_cast<T*>(g.gbeta)[group_ * g.pieces + q] = sums.second;
    }
    const T count = static_cast<T>(g.pieces * g.length);
    const T by_x = inv_std * inv_std * inv_std * static_cast<T>(of_gamma) / count,
            constant = inv_std * static_cast<T>(of_beta) / count;
    for (int64_t q = 0; q < g.pieces; ++q) {
      const int64_t at = piece(q);
      const T scale = gammas()[weight(q)] * inv_std;
      for (int64_t i = 0; i < g.length; i += kChunk) {
        const int64_t n = std::min(kChunk, g.length - i);
        const Both in = both(at + i, n);
        T* const gx = memory_for(g.gx, at + i);
        CT_INDEPENDENT for (int64_t j = 0; j < n; ++j) gx[j] = in.gy[j] * scale - (in.x[j] - mean) * by_x - constant;
        store(gx, g.gx, at + i, n);
      }
    }
  }

  /// The gradient if gamma has an element for each element. Adds to the gradients of gamma and beta.
  void backward_elementwise(T* __restrict__ ggamma, T* __restrict__ gbeta) {
    const T mean = static_cast<const T*>(g.mean)[group_], inv_std = static_cast<const T*>(g.inv_std)[group_];
    const int64_t at = group_ * g.length;
    double of_gamma = 0, of_beta = 0;
    for (int64_t i = 0; i < g.length; i += kChunk) {
      const int64_t n = std::min(kChunk, g.length - i);
      const Both in = both(at + i, n);
      const T* const gamma = gammas() + i;
      const TwoSums<T> sums = two_sums_of_row<T>(n, [=](int64_t j, T& a, T& b) CT_ROW_BODY {
        const T h = in.gy[j] * gamma[j];
        a += h * (in.x[j] - mean);
        b += h;
      });
      of_gamma += static_cast<double>(sums.first), of_beta += static_cast<double>(sums.second);
    }
    const T count = static_cast<T>(g.length);
    const T by_x = inv_std * inv_std * inv_std * static_cast<T>(of_gamma) / count,
            constant = inv_std * static_cast<T>(of_beta) / count;
    for (int64_t i = 0; i < g.length; i += kChunk) {
      const int64_t n = std::min(kChunk, g.length - i);
      const Both in = both(at + i, n);
      const T* const gamma = gammas() + i;
      T* const gx = memory_for(g.gx, at + i);
      T *const to_gamma = ggamma + i, *const to_beta = gbeta + i;
      CT_INDEPENDENT for (int64_t j = 0; j < n; ++j) {
        const T d = in.x[j] - mean, h = in.gy[j];
        to_gamma[j] += h * (d * inv_std);
        to_beta[j] += h;
        gx[j] = h * gamma[j] * inv_std - d * by_x - constant;
      }
      store(gx, g.gx, at + i, n);
    }
  }

 private:
  const T* gammas() const { return static_cast<const T*>(g.gamma); }
  int64_t piece(int64_t q) const { return ((group_ / g.inner * g.pieces + q) * g.inner + group_ % g.inner) * g.length; }
  int64_t weight(int64_t q) const { return (group_ * g.pieces + q) / g.gamma_span % g.gammas; }
  T* memory_for(void* array, int64_t at) const { return results_of_row(static_cast<E*>(array) + at, scratch_); }
  void store(const T* results, void* array, int64_t at, int64_t n) const {
    finish_row(results, static_cast<E*>(array) + at, n);
  }
  /// Elements of x and of gy.
  struct Both {
    const T *x, *gy;
  };
  Both both(int64_t at, int64_t n) const {
    return {row_as(static_cast<const E*>(g.x) + at, scratch_, n),
            row_as(static_cast<const E*>(g.gy) + at, scratch_ + kChunk, n)};
  }

  Moments moments() const {
    Moments m;
    const E* const from = static_cast<const E*>(g.x);
    const bool is_one_piece = g.inner == 1;
    const int64_t length = is_one_piece ? g.pieces * g.length : g.length, pieces = is_one_piece ? 1 : g.pieces;
    if (pieces > 1 && length < kChunk / 2) {  // joins short pieces
      const int64_t together = kChunk / length;
      for (int64_t q = 0; q < pieces; q += together) {
        const int64_t count = std::min(together, pieces - q);
        for (int64_t i = 0; i < count; ++i) read_row(from + piece(q + i), scratch_ + i * length, length);
        add_moments(m, scratch_, count * length);
      }
      return m;
    }
    for (int64_t q = 0; q < pieces; ++q)
      for (int64_t i = 0; i < length; i += kChunk) {
        const int64_t n = std::min(kChunk, length - i);
        add_moments(m, row_as(from + piece(q) + i, scratch_, n), n);
      }
    return m;
  }
  /// The sums of gy * (x - mean) and of gy.
  TwoSums<T> piece_sums(int64_t at, T mean) const {
    TwoSums<T> total;
    for (int64_t i = 0; i < g.length; i += kChunk) {
      const int64_t n = std::min(kChunk, g.length - i);
      const Both in = both(at + i, n);
      const TwoSums<T> sums = two_sums_of_row<T>(n, [=](int64_t j, T& a, T& b) CT_ROW_BODY {
        a += in.gy[j] * (in.x[j] - mean);
        b += in.gy[j];
      });
      total.first += sums.first, total.second += sums.second;
    }
    return total;
  }

  const StandardizeArgs& g;
  int64_t group_;
  T* scratch_;
};

/// Computes groups [begin, end), which are rows of one part, and their part of the gradients of gamma and beta.
template <class T, class E>
void run_part(const StandardizeArgs& g, int64_t part, void* scratch) {
  const int64_t begin = part * g.rows_of_part, end = std::min(g.groups, begin + g.rows_of_part), n = g.length;
  T *const ggamma = static_cast<T*>(g.ggamma) + part * n, *const gbeta = static_cast<T*>(g.gbeta) + part * n;
  T *const few_gamma = static_cast<T*>(scratch) + 2 * kChunk, *const few_beta = few_gamma + n;
  std::fill(ggamma, ggamma + n, T(0));
  std::fill(gbeta, gbeta + n, T(0));
  for (int64_t group = begin; group < end;) {
    const int64_t stop = std::min(end, group + kSumRows);
    std::fill(few_gamma, few_gamma + 2 * n, T(0));
    for (; group < stop; ++group) Group<T, E>(g, group, scratch).backward_elementwise(few_gamma, few_beta);
    for (int64_t i = 0; i < n; ++i) ggamma[i] += few_gamma[i];
    for (int64_t i = 0; i < n; ++i) gbeta[i] += few_beta[i];
  }
}

template <class T, class E>
void run_standardize(const StandardizeArgs& g, int64_t unit, void* scratch) {
  if (!g.gy) {
    Group<T, E>(g, unit, scratch).forward();
  } else if (g.elementwise) {
    run_part<T, E>(g, unit, scratch);
  } else {
    Group<T, E>(g, unit, scratch).backward();
  }
}

}  // namespace

StandardizeUnit standardize_unit(Dtype dtype) {
  return loop_for(dtype, []<class T, class E>() -> StandardizeUnit { return run_standardize<T, E>; });
}

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
