// Attention of one thread: the micro-kernel of products makes and uses tiles of scores, with running maxima and sums
// (Milakov and Gimelshein 2018; Dao et al. 2022, also for the gradient). A query sums over its keys in order, in tiles
// at fixed positions, so bits depend on shapes only. This file is compiled with -ffp-contract=fast, as products are.

#include "catenary/backends/cpu/attention/attention.h"

#include <algorithm>
#include <cstdint>

#include "catenary/backends/cpu/attention/attention_softmax.h"
#include "catenary/backends/cpu/gemm/gemm_kernel.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

constexpr int64_t kTileQueries = kRows * (64 / kRows), kTileKeys = 256;
constexpr int64_t kPartQueries = 8 * kTileQueries;

// Returns the size of a row of n elements in scratch memory: whole vectors, never a multiple of 4096 bytes.
template <class T>
constexpr int64_t padded(int64_t n) {
  return (n + 2 * kLanes<T> - 1) / kLanes<T> * kLanes<T> | 16;
}
// Returns the size of panels of n columns and depth k, including elements that packing may write past the end.
template <class T>
constexpr int64_t panels_of(int64_t n, int64_t k) {
  return (ceil_div(n, kColumns<T>) * kColumns<T> * k + kLanes<T> + 15) / 16 * 16;
}

// to[r * ld + c] = factor * x[r, c].
template <class T, class E>
static void scaled_rows(const HeadRows<const E>& x, int64_t first, int64_t rows, int64_t n, T factor, T* to,
                        int64_t ld) {
  constexpr int L = kLanes<T>;
  for (int64_t r = 0; r < rows; ++r, to += ld) {
    const E* const from = x.data + (first + r) * x.row;
    int64_t c = 0;
    if (x.column == 1) {
      for (; c + L <= n; c += L) store(to + c, load_wide(from + c) * factor);
    }
    for (; c < n; ++c) to[c] = widened(from[c * x.column]) * factor;
  }
}

// Packs panels of `rows` rows from `first` on: as columns of a product, whose depth is n, or as its rows.
template <class T, class E>
static void pack_columns(const HeadRows<const E>& x, int64_t first, int64_t rows, int64_t n, T* out) {
  constexpr int64_t NR = kColumns<T>;
  for (int64_t j = 0; j < rows; j += NR)
    pack_panel<T, NR>(x.data + (first + j) * x.row, x.row, x.column, static_cast<int>(std::min(NR, rows - j)), n,
                      out + j * n);
}
template <class T, class E>
static void pack_rows(const HeadRows<const E>& x, int64_t first, int64_t rows, int64_t n, T* out) {
  constexpr int64_t NR = kColumns<T>;
  for (int64_t j = 0; j < n; j += NR)
    pack_panel<T, NR>(x.data + first * x.row + j * x.column, x.column, x.row, static_cast<int>(std::min(NR, n - j)),
                      rows, out + j * rows);
}

// c (+)= a b for m × n and a depth of k, with panels of b that are `panel` deep.
template <class T>
static void product(const T* a, int64_t a_rs, int64_t a_cs, int64_t m, const T* b, int64_t panel, int64_t n, int64_t k,
                    T* c, int64_t ld, bool accumulate) {
  constexpr int64_t NR = kColumns<T>;
  for (int64_t j = 0; j < n; j += NR) {
    const int columns = static_cast<int>(std::min(NR, n - j));
    for (int64_t i = 0; i < m; i += kRows) {
      const int rows = static_cast<int>(std::min<int64_t>(kRows, m - i));
      kKernels<T, false>.of[rows - 1][(columns - 1) / kLanes<T>](
          {k, a + i * a_rs, a_rs, a_cs, b + j * panel, NR, c + i * ld + j, ld, columns, nullptr, nullptr, accumulate});
    }
  }
}

// ---- many queries ----

template <class T>
struct ForwardRoom {
  int64_t q_row, p_row, y_row, q, k, v, p, y, most, total;
  template <class E>
  explicit ForwardRoom(const Args<T, E>& g)
      : q_row(padded<T>(g.depth)), p_row(padded<T>(kTileKeys)), y_row(padded<T>(g.width)) {
    q = 0;
    k = q + kTileQueries * q_row;
    v = k + panels_of<T>(kTileKeys, g.depth);
    p = v + panels_of<T>(g.width, kTileKeys);
    y = p + kTileQueries * p_row;
    most = y + kPartQueries * y_row;
    total = most + 2 * kPartQueries;
  }
};
template <class T, class E>
static int64_t forward_scratch(const Args<T, E>& g) {
  return ForwardRoom<T>(g).total;
}

template <class T, class E>
static void forward(const Args<T, E>& g, int64_t b, int64_t h, int64_t i0, int64_t i1, T* scratch) {
  const ForwardRoom<T> room(g);
  const HeadRows<const E> q = g.q.at(b, h), k = g.k.at(b, h / g.sharing()), v = g.v.at(b, h / g.sharing());
  T *const scores = scratch + room.p, *const out = scratch + room.y, *const most = scratch + room.most,
           *const sums = most + kPartQueries;
  std::fill(out, out + (i1 - i0) * room.y_row, T(0));
  std::fill(most, most + (i1 - i0), kNone<T>);
  std::fill(sums, sums + (i1 - i0), T(0));
  const int64_t begin = g.first_key(i0) / kTileKeys * kTileKeys, end = g.last_key(i1 - 1);
  for (int64_t j = begin; j < end; j += kTileKeys) {
    const int64_t keys = std::min(kTileKeys, end - j);
    pack_columns(k, j, keys, g.depth, scratch + room.k);
    pack_rows(v, j, keys, g.width, scratch + room.v);
    for (int64_t i = i0; i < i1; i += kTileQueries) {
      const int64_t rows = std::min(kTileQueries, i1 - i), seen = std::min(keys, g.last_key(i + rows - 1) - j);
      if (seen <= 0 || g.first_key(i) >= j + keys) continue;
      scaled_rows(q, i, rows, g.depth, g.scale, scratch + room.q, room.q_row);
      product<T>(scratch + room.q, room.q_row, 1, rows, scratch + room.k, g.depth, seen, g.depth, scores, room.p_row,
                 false);
      for (int64_t r = 0; r < rows; ++r) {
        T* const line = scores + r * room.p_row;
        const int64_t from = std::clamp<int64_t>(g.first_key(i + r) - j, 0, seen),
                      upto = std::clamp<int64_t>(g.last_key(i + r) - j, from, seen), at = i - i0 + r;
        std::fill(line, line + from, T(0));
        std::fill(line + upto, line + seen, T(0));
        apply_mask(g, b, h, i + r, j + from, upto - from, line + from);
        const T factor = soften(line + from, upto - from, most[at], sums[at]);
        if (factor != 1) multiply(out + at * room.y_row, g.width, factor);
      }
      product<T>(scores, room.p_row, 1, rows, scratch + room.v, keys, g.width, seen, out + (i - i0) * room.y_row,
                 room.y_row, true);
    }
  }
  for (int64_t i = i0; i < i1; ++i) finish_row(g, b, h, i, out + (i - i0) * room.y_row, most[i - i0], sums[i - i0]);
}

// ---- few queries ----

template <class T, class E>
static int64_t few_scratch(const Args<T, E>& g) {
  return g.sharing() * g.queries * (padded<T>(g.depth) + padded<T>(g.keys) + padded<T>(g.width)) +
         padded<T>(std::max(g.depth, g.width));
}

// Returns a row of keys or values as contiguous T.
template <class T, class E>
CT_INLINE const T* row_of(const HeadRows<const E>& x, int64_t i, int64_t n, T* memory) {
  if constexpr (std::is_same_v<T, E>) {
    if (x.column == 1) return x.data + i * x.row;
  }
  scaled_rows(x, i, 1, n, T(1), memory, n);
  return memory;
}

template <class T, class E>
static void few(const Args<T, E>& g, int64_t b, int64_t group, T* scratch) {
  constexpr int L = kLanes<T>;
  const int64_t sharing = g.sharing(), rows = sharing * g.queries;
  const int64_t q_row = padded<T>(g.depth), p_row = padded<T>(g.keys), y_row = padded<T>(g.width);
  T *const q = scratch, *const scores = q + rows * q_row, *const out = scores + rows * p_row,
           *const memory = out + rows * y_row;
  const HeadRows<const E> k = g.k.at(b, group), v = g.v.at(b, group);
  for (int64_t s = 0; s < sharing; ++s)
    scaled_rows(g.q.at(b, group * sharing + s), 0, g.queries, g.depth, g.scale, q + s * g.queries * q_row, q_row);
  const int64_t begin = g.first_key(0), end = g.last_key(g.queries - 1);
  for (int64_t j = begin; j < end; ++j) {
    const T* const key = row_of<T>(k, j, g.depth, memory);
    for (int64_t r = 0; r < rows; ++r) {
      const T* const query = q + r * q_row;
      Vector<T> sum{};
      int64_t c = 0;
      for (; c + L <= g.depth; c += L) sum += load(query + c) * load(key + c);
      T total = 0;
      for (int l = 0; l < L; ++l) total += sum[l];
      for (; c < g.depth; ++c) total += query[c] * key[c];
      scores[r * p_row + j] = total;
    }
  }
  std::fill(out, out + rows * y_row, T(0));
  T most[kFewQueries], sums[kFewQueries];
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t h = group * sharing + r / g.queries, i = r % g.queries, from = g.first_key(i), upto = g.last_key(i);
    T* const line = scores + r * p_row;
    most[r] = kNone<T>;
    sums[r] = 0;
    std::fill(line + begin, line + std::max(begin, from), T(0));
    std::fill(line + upto, line + std::max(upto, end), T(0));
    apply_mask(g, b, h, i, from, upto - from, line + from);
    soften(line + from, upto - from, most[r], sums[r]);
  }
  for (int64_t j = begin; j < end; ++j) {
    const T* const value = row_of<T>(v, j, g.width, memory);
    for (int64_t r = 0; r < rows; ++r) {
      const T factor = scores[r * p_row + j];
      T* const to = out + r * y_row;
      for (int64_t c = 0; c < g.width; ++c) to[c] += factor * value[c];
    }
  }
  for (int64_t r = 0; r < rows; ++r)
    finish_row(g, b, group * sharing + r / g.queries, r % g.queries, out + r * y_row, most[r], sums[r]);
}

// ---- gradients ----

template <class T>
struct BackwardRoom {
  int64_t q_row, y_row, p_row, q, gy, q_panels, gy_panels, k, v, k_rows, p, gp, gk, gv, dots, total;
  template <class E>
  explicit BackwardRoom(const Args<T, E>& g)
      : q_row(padded<T>(g.depth)), y_row(padded<T>(g.width)), p_row(padded<T>(kTileKeys)) {
    q = 0;
    gy = q + kTileQueries * q_row;
    q_panels = gy + kTileQueries * y_row;
    gy_panels = q_panels + panels_of<T>(g.depth, kTileQueries);
    k = gy_panels + panels_of<T>(g.width, kTileQueries);
    v = k + panels_of<T>(kTileKeys, g.depth);
    k_rows = v + panels_of<T>(kTileKeys, g.width);
    p = k_rows + panels_of<T>(g.depth, kTileKeys);
    gp = p + kTileQueries * p_row;
    gk = gp + kTileQueries * p_row;
    gv = gk + kTileKeys * q_row;
    dots = gv + kTileKeys * y_row;
    total = dots + (g.sharing() * g.queries + 15) / 16 * 16;
  }
};
template <class T, class E>
static int64_t backward_scratch(const Args<T, E>& g) {
  return BackwardRoom<T>(g).total;
}

template <class T, class E>
static void store_rows(const HeadRows<E>& to, int64_t first, int64_t rows, int64_t n, const T* from, int64_t ld) {
  for (int64_t r = 0; r < rows; ++r, from += ld) {
    E* const line = to.data + (first + r) * to.row;
    if constexpr (std::is_same_v<T, E>) {
      for (int64_t c = 0; c < n; ++c) line[c * to.column] = from[c];
    } else {
      E some[64];
      for (int64_t begin = 0; begin < n; begin += 64) {
        const int64_t count = std::min<int64_t>(64, n - begin);
        narrow(from + begin, some, count);
        for (int64_t c = 0; c < count; ++c) line[(begin + c) * to.column] = some[c];
      }
    }
  }
}

// For each query of a head, the inner product of its result's gradient and its result.
template <class T, class E>
static void result_dots(const Args<T, E>& g, int64_t b, int64_t head, T* dots) {
  const HeadRows<const E> of_gy = g.gy.at(b, head);
  const HeadRows<E> of_y = g.y.at(b, head);
  for (int64_t i = 0; i < g.queries; ++i) {
    T sum = 0;
    for (int64_t c = 0; c < g.width; ++c)
      sum += widened(of_gy.data[i * of_gy.row + c * of_gy.column]) * widened(of_y.data[i * of_y.row + c * of_y.column]);
    dots[i] = sum;
  }
}

// Turns the scores of query i with `seen` keys from j on into probabilities, and the gradients of the probabilities in
// `of_p` into those of the scores.
template <class T, class E>
static void score_gradients(const Args<T, E>& g, int64_t b, int64_t head, int64_t i, int64_t j, int64_t seen, T dot,
                            T* line, T* of_p) {
  const T sum = g.sums[(b * g.heads + head) * g.queries + i];
  const int64_t from = std::clamp<int64_t>(g.first_key(i) - j, 0, seen),
                upto = sum == kNone<T> ? from : std::clamp<int64_t>(g.last_key(i) - j, from, seen);
  std::fill(line, line + from, T(0));
  std::fill(line + upto, line + seen, T(0));
  std::fill(of_p, of_p + from, T(0));
  std::fill(of_p + upto, of_p + seen, T(0));
  apply_mask(g, b, head, i, j + from, upto - from, line + from);
  exponentials(line + from, upto - from, sum);
  for (int64_t c = from; c < upto; ++c) of_p[c] = line[c] * (of_p[c] - dot);
}

template <class T, class E>
static void backward(const Args<T, E>& g, int64_t b, int64_t group, int64_t j0, int64_t j1, T* gq, T* scratch) {
  const BackwardRoom<T> room(g);
  const int64_t sharing = g.sharing(), first_head = group * sharing;
  const HeadRows<const E> k = g.k.at(b, group), v = g.v.at(b, group);
  T *const p = scratch + room.p, *const gp = scratch + room.gp, *const gk = scratch + room.gk,
           *const gv = scratch + room.gv, *const dots = scratch + room.dots, *const q = scratch + room.q,
           *const gy = scratch + room.gy;
  std::fill(gq, gq + sharing * g.queries * g.depth, T(0));
  for (int64_t s = 0; s < sharing; ++s) result_dots(g, b, first_head + s, dots + s * g.queries);
  for (int64_t j = j0; j < j1; j += kTileKeys) {
    const int64_t keys = std::min(kTileKeys, j1 - j);
    pack_columns(k, j, keys, g.depth, scratch + room.k);
    pack_columns(v, j, keys, g.width, scratch + room.v);
    pack_rows(k, j, keys, g.depth, scratch + room.k_rows);
    std::fill(gk, gk + keys * room.q_row, T(0));
    std::fill(gv, gv + keys * room.y_row, T(0));
    for (int64_t s = 0; s < sharing; ++s) {
      const int64_t h = first_head + s;
      for (int64_t i = 0; i < g.queries; i += kTileQueries) {
        const int64_t rows = std::min(kTileQueries, g.queries - i), seen = std::min(keys, g.last_key(i + rows - 1) - j);
        if (seen <= 0 || g.first_key(i) >= j + keys) continue;
        scaled_rows(g.q.at(b, h), i, rows, g.depth, g.scale, q, room.q_row);
        scaled_rows(g.gy.at(b, h), i, rows, g.width, T(1), gy, room.y_row);
        const HeadRows<const T> q_tile{q, 0, 0, room.q_row, 1}, gy_tile{gy, 0, 0, room.y_row, 1};
        pack_rows(q_tile, 0, rows, g.depth, scratch + room.q_panels);
        pack_rows(gy_tile, 0, rows, g.width, scratch + room.gy_panels);
        product<T>(q, room.q_row, 1, rows, scratch + room.k, g.depth, seen, g.depth, p, room.p_row, false);
        product<T>(gy, room.y_row, 1, rows, scratch + room.v, g.width, seen, g.width, gp, room.p_row, false);
        for (int64_t r = 0; r < rows; ++r)
          score_gradients(g, b, h, i + r, j, seen, dots[s * g.queries + i + r], p + r * room.p_row,
                          gp + r * room.p_row);
        product<T>(p, 1, room.p_row, seen, scratch + room.gy_panels, rows, g.width, rows, gv, room.y_row, true);
        product<T>(gp, 1, room.p_row, seen, scratch + room.q_panels, rows, g.depth, rows, gk, room.q_row, true);
        product<T>(gp, room.p_row, 1, rows, scratch + room.k_rows, keys, g.depth, seen,
                   gq + (s * g.queries + i) * g.depth, g.depth, true);
      }
    }
    store_rows(g.gk.at(b, group), j, keys, g.depth, gk, room.q_row);
    store_rows(g.gv.at(b, group), j, keys, g.width, gv, room.y_row);
  }
}

template <class T, class E>
constexpr AttentionLevel<T, E> kLevel = {
    kPartQueries,  kTileKeys, forward_scratch<T, E>, few_scratch<T, E>, backward_scratch<T, E>,
    forward<T, E>, few<T, E>, backward<T, E>};

}  // namespace

CT_ATTENTION_LEVELS
const AttentionLevel<float, float> attention_float32 = kLevel<float, float>;
const AttentionLevel<double, double> attention_float64 = kLevel<double, double>;
const AttentionLevel<float, float16> attention_float16 = kLevel<float, float16>;
const AttentionLevel<float, bfloat16> attention_bfloat16 = kLevel<float, bfloat16>;

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
