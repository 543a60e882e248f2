// Products of one thread whose panels are converted: 16-bit floats, summed in float32 and rounded once, and float32 by
// AMX. The loops are those of gemm_kernel.simd.cpp, except that both operands are always packed, and the sums of a
// block of columns stay in float32 until the whole depth is summed. A Machine defines a panel and multiplies two of
// them.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "catenary/backends/cpu/gemm/gemm_dots.h"
#include "catenary/backends/cpu/gemm/gemm_elements.h"
#include "catenary/backends/cpu/gemm/gemm_kernel.h"
#include "catenary/backends/cpu/gemm/gemm_micro.h"
#include "catenary/backends/cpu/gemm/gemm_pairs.h"
#include "catenary/backends/cpu/gemm/gemm_pieces.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

// Panels are float32, multiplied by float32's micro-kernel.
template <class E>
struct Widened {
  using Panel = float;
  static constexpr int64_t rows = kRows, columns = kColumns<float>, step = 1, depth = kBlockK;
  static constexpr int64_t columns_in_place = std::numeric_limits<int64_t>::max();
  static constexpr int64_t spill = kLanes<float>;  // elements that packing may write past the end of a panel
  static void begin() {}
  static void end() {}
  template <class G>
  static bool in_place(const G&, int64_t) {
    return false;
  }
  static void pack_a(const E* x, int64_t rs, int64_t cs, int64_t count, int64_t k, float* out) {
    for (int64_t i = 0; i < count; i += rows)
      pack_panel<float, kRows>(x + i * rs, rs, cs, static_cast<int>(std::min(rows, count - i)), k, out + i * k);
  }
  static void pack_b(const E* x, int64_t rs, int64_t cs, int64_t count, int64_t k, float* out) {
    for (int64_t j = 0; j < count; j += columns)
      pack_panel<float, columns>(x + j * cs, cs, rs, static_cast<int>(std::min(columns, count - j)), k, out + j * k);
  }
  static Rows<float> packed(const float* panel) { return {panel}; }
  static Rows<float> placed(const E*, int64_t) { return {}; }
  static void multiply(Rows<float> a, const float* b, int64_t k, int m, int n, float* c, int64_t ld, bool accumulate) {
    kKernels<float, true>.of[m - 1][(n - 1) / kLanes<float>](
        {k, a.at, 1, kRows, b, columns, c, ld, n, nullptr, nullptr, accumulate});
  }
};

// Memory layout of a block's panels and sums. Packing costs about as much as a few hundred rows on a matrix unit, so a
// block of A is packed once for all columns, and B once for many rows. The sums, which every block of the depth
// updates, stay in the L2 cache beside B's panels.
template <class M>
struct Room {
  static constexpr int64_t kRowsAtOnce = 1024, kPackedA = 4 << 20;

  Depth depth;
  int64_t rows, columns;  // in a block of C
  bool keeps_a;           // keeps the whole depth for the next columns
  int64_t b, a, sums;     // bytes

  template <class G>
  Room(const G& g, int64_t cache) : depth(g.k, M::depth) {
    constexpr auto size = static_cast<int64_t>(sizeof(typename M::Panel));
    depth.size = round_up(std::max<int64_t>(depth.size, 1), M::step);
    if (M::in_place(g, g.k)) depth.size = round_up(g.k, M::step);  // rows are read sequentially
    depth.blocks = std::max<int64_t>(1, ceil_div(g.k, depth.size));
    const int64_t most = std::clamp(kPackedA / (depth.size * depth.blocks * size), kRowsAtOnce / 4, kRowsAtOnce);
    rows = round_up(ceil_div(g.m, ceil_div(g.m, most)), M::rows);
    const int64_t fits = std::min(cache / 4 / (depth.size * size), cache / 2 / (rows * 4));
    columns = std::min(round_up(g.n, M::columns), std::max<int64_t>(4, fits / M::columns) * M::columns);
    const int64_t block = rows * depth.size * size;
    keeps_a = columns < g.n && block * depth.blocks <= kPackedA;
    b = round_up((columns * depth.size + M::spill) * size, 64);
    a = round_up(block * (keeps_a ? depth.blocks : 1) + M::spill * size, 64);
    sums = Sums<M>::size(rows, columns) * 4;
  }
  int64_t total() const { return b + a + sums; }
};

template <class M, class G>
static int64_t scratch(const G& g, int64_t cache) {
  return Room<M>(g, cache).total();
}

// Adds bias and C to row `row` of the sums and rounds it to columns [j, j + n) of row i of C.
template <class M, class G>
static void round_row(const G& g, int64_t i, int64_t row, int64_t j, int64_t n, const Sums<M>& sums) {
  constexpr int64_t kLine = 256;
  static_assert(kLine % M::columns == 0);
  typename G::Result line[kLine];
  float x[kLine], wide[kLine];
  for (int64_t from = 0; from < n; from += kLine) {
    const int64_t count = std::min(kLine, n - from);
    sums.row(row, from, count, x);
    auto* c = g.c + i * g.c_rs + (j + from) * g.c_cs;
    const auto add = [&](const typename G::Result* y) {
      if constexpr (std::is_same_v<typename G::Result, float>) {
        for (int64_t l = 0; l < count; ++l) x[l] += y[l];
      } else {
        widen(y, wide, count);
        for (int64_t l = 0; l < count; ++l) x[l] += wide[l];
      }
    };
    if (g.accumulate) {
      if (g.c_cs != 1)
        for (int64_t l = 0; l < count; ++l) line[l] = c[l * g.c_cs];
      add(g.c_cs == 1 ? c : line);
    }
    if (g.bias_n) add(g.bias_n + j + from);
    if (g.bias_m) {
      const float shift = widened(g.bias_m[i]);
      for (int64_t l = 0; l < count; ++l) x[l] += shift;
    }
    if constexpr (std::is_same_v<typename G::Result, float>) {
      std::memcpy(g.c_cs == 1 ? c : line, x, static_cast<std::size_t>(count) * sizeof(float));
    } else {
      narrow(x, g.c_cs == 1 ? c : line, count);
    }
    if (g.c_cs != 1)
      for (int64_t l = 0; l < count; ++l) c[l * g.c_cs] = line[l];
  }
}

// Stores a row of the sums without rounding, to a row of C with unit stride.
template <class M, class G>
static void store_row(const G& g, int64_t i, int64_t row, int64_t j, int64_t n, const Sums<M>& sums) {
  constexpr int64_t L = kLanes<float>;
  float* const c = g.c + i * g.c_rs + j;
  const float* from = sums.of(row, 0) + row % M::rows * M::columns;
  const auto vector = [&](int64_t l, auto&& some, auto&& store_it) __attribute__((always_inline)) {
    Vector<float> x = load(from + l % M::columns);
    if (g.accumulate) x += some(c + l);
    if (g.bias_n) x += some(g.bias_n + j + l);
    if (g.bias_m) x += splat(g.bias_m[i]);
    store_it(c + l, x);
  };
  for (int64_t l = 0; l < n; l += L) {
    if (l > 0 && l % M::columns == 0) from += Sums<M>::tile;
    const int left = static_cast<int>(n - l);
    if (left >= L) {
      vector(
          l, [](const float* p) { return load(p); }, [](float* p, Vector<float> x) { store(p, x); });
    } else {
      vector(
          l, [&](const float* p) { return load_some(p, left); },
          [&](float* p, Vector<float> x) { store_some(p, x, left); });
    }
  }
}

// Stores rows [0, m) and columns [0, n) of the sums to C from (i, j) on.
template <class M, class G>
static void finish(const G& g, int64_t i, int64_t j, int64_t m, int64_t n, const Sums<M>& sums) {
  for (int64_t r = 0; r < m; ++r) {
    if constexpr (std::is_same_v<typename G::Result, float>) {
      if (g.c_cs == 1) {
        store_row(g, i + r, r, j, n, sums);
        continue;
      }
    }
    round_row(g, i + r, r, j, n, sums);
  }
}

template <class M, class G>
static void blocked(const G& g, int64_t cache, char* memory) {
  using P = typename M::Panel;
  const Room<M> room(g, cache);
  P* const b_panels = reinterpret_cast<P*>(memory);
  P* const a_panels = reinterpret_cast<P*>(memory + room.b);
  const Sums<M> sums{reinterpret_cast<float*>(memory + room.b + room.a), room.columns};
  // If a tile needs one block of the depth and no rounding, store it while it is cached.
  const bool at_once = std::is_same_v<typename G::Result, float> && room.depth.blocks == 1;
  const Sums<M> one{sums.data, M::columns};
  M::begin();
  for (int64_t i0 = 0; i0 < g.m; i0 += room.rows) {
    const int64_t m = std::min(room.rows, g.m - i0);
    for (int64_t j0 = 0; j0 < g.n; j0 += room.columns) {
      const int64_t n = std::min(room.columns, g.n - j0);
      for (int64_t p0 = 0, block = 0; block < room.depth.blocks; ++block, p0 += room.depth.size) {
        const int64_t k = std::min(room.depth.size, g.k - p0), whole = round_up(k, M::step);
        M::pack_b(g.b + p0 * g.b_rs + j0 * g.b_cs, g.b_rs, g.b_cs, n, k, b_panels);
        const auto* const a = g.a + i0 * g.a_rs + p0 * g.a_cs;
        P* const panels = a_panels + (room.keeps_a ? p0 * room.rows : 0);
        // the last panel may have fewer rows, so pack it
        const int64_t in_place = M::in_place(g, k) ? m / M::rows * M::rows : 0;
        if (j0 == 0 || !room.keeps_a)
          M::pack_a(a + in_place * g.a_rs, g.a_rs, g.a_cs, m - in_place, k, panels + in_place * whole);
        for (int64_t i = 0; i < m; i += M::rows) {
          const auto rows = i < in_place ? M::placed(a + i * g.a_rs, g.a_rs) : M::packed(panels + i * whole);
          for (int64_t j = 0; j < n; j += M::columns) {
            const int64_t height = std::min(M::rows, m - i), width = std::min(M::columns, n - j);
            M::multiply(rows, b_panels + j * whole, whole, height, width, at_once ? one.data : sums.of(i, j),
                        M::columns, block > 0);
            if (at_once) finish(g, i0 + i, j0 + j, height, width, one);
          }
        }
      }
      if (!at_once) finish(g, i0, j0, m, n, sums);
    }
  }
  M::end();
}

// Computes all of it in float32 on the stack.
template <class E>
static void small(const GemmArgs<float, E>& g) {
  constexpr int64_t side = kSmallSide;
  alignas(64) float a[side * side], b[side * side], c[side * side], bias[2 * side];
  E line[side];
  const auto rows = [&](const E* x, int64_t rs, int64_t cs, int64_t count, int64_t n, float* y) {
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < n; ++j) line[j] = x[i * rs + j * cs];
      widen(line, y + i * n, n);
    }
  };
  rows(g.a, g.a_rs, g.a_cs, g.m, g.k, a);
  rows(g.b, g.b_rs, g.b_cs, g.k, g.n, b);
  if (g.accumulate) rows(g.c, g.c_rs, g.c_cs, g.m, g.n, c);
  if (g.bias_n) widen(g.bias_n, bias, g.n);
  if (g.bias_m) widen(g.bias_m, bias + side, g.m);
  gemm_float.direct({g.m, g.n, g.k, a, g.k, 1, b, g.n, 1, c, g.n, 1, g.bias_n ? bias : nullptr,
                     g.bias_m ? bias + side : nullptr, g.accumulate});
  for (int64_t i = 0; i < g.m; ++i) {
    narrow(c + i * g.n, line, g.n);
    for (int64_t j = 0; j < g.n; ++j) g.c[i * g.c_rs + j * g.c_cs] = line[j];
  }
}

template <class M, class E>
constexpr HalfLevel<E> kHalf = {
    {M::rows, M::columns},
    M::columns_in_place,
    M::step,
    scratch<M, GemmArgs<float, E>>,
    blocked<M, GemmArgs<float, E>>,
    {{M::rows, M::columns}, scratch<M, GemmArgs<float, E, float>>, blocked<M, GemmArgs<float, E, float>>},
    small<E>,
    thin<GemmArgs<float, E>>};

}  // namespace

extern const HalfLevel<float16> gemm_float16;
extern const HalfLevel<bfloat16> gemm_bfloat16;
const HalfLevel<float16> gemm_float16 = kHalf<Widened<float16>, float16>;
const HalfLevel<bfloat16> gemm_bfloat16 = kHalf<Widened<bfloat16>, bfloat16>;
#if defined(CT_SIMD_v4)
extern const HalfLevel<bfloat16> gemm_bfloat16_avx512, gemm_bfloat16_amx;
const HalfLevel<bfloat16> gemm_bfloat16_avx512 = kHalf<DotPairs, bfloat16>;
const HalfLevel<bfloat16> gemm_bfloat16_amx = kHalf<TilePairs, bfloat16>;
extern const BlockedLevel<GemmArgs<float>> gemm_float_amx;
const BlockedLevel<GemmArgs<float>> gemm_float_amx = {{SplitTiles::rows, SplitTiles::columns},
                                                      scratch<SplitTiles, GemmArgs<float>>,
                                                      blocked<SplitTiles, GemmArgs<float>>};
#endif

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
