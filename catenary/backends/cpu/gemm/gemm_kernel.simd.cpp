// Matrix products of one thread, after Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication"
// (2008), and BLIS. Panels of A and B are packed so that the micro-kernel, which keeps a tile of C in registers, reads
// them in order. Every element of C is summed in the order of k, in blocks that depend on k only, so its bits depend on
// neither tiles nor threads. This file is compiled with -ffp-contract=fast: a * b + c is a fused instruction if the
// level has it.

#include "catenary/backends/cpu/gemm/gemm_kernel.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "catenary/backends/cpu/gemm/gemm_dots.h"
#include "catenary/backends/cpu/gemm/gemm_elements.h"
#include "catenary/backends/cpu/gemm/gemm_micro.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

// ---- the loops around the micro-kernel ----

// Tiles of a C without contiguous columns go through a buffer. Copies from C to `buffer` or back, by vectors if C's
// rows have unit stride.
template <class T>
static void copy_tile(T* c, int64_t c_rs, int64_t c_cs, int rows, int columns, T* buffer, bool to_c) {
  constexpr int L = kLanes<T>, NR = kColumns<T>;
  if (c_rs != 1) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        T& x = c[i * c_rs + j * c_cs];
        T& y = buffer[i * NR + j];
        to_c ? x = y : y = x;
      }
    }
    return;
  }
  alignas(64) T block[L * L] = {};
  for (int i = 0; i < rows; i += L) {
    const int lanes = std::min(L, rows - i);
    for (int j = 0; j < columns; j += L) {
      const int lines = std::min(L, columns - j);
      if (to_c) {
        transpose_block(buffer + i * NR + j, NR, L, block, L);
        for (int l = 0; l < lines; ++l) store_some(c + i + (j + l) * c_cs, load(block + l * L), lanes);
      } else {
        for (int l = 0; l < lines; ++l) store(block + l * L, load_some(c + i + (j + l) * c_cs, lanes));
        transpose_block(block, L, L, buffer + i * NR + j, NR);
      }
    }
  }
}

template <class T>
static void run_tile(Kernel<T> kernel, Tile<T> t, int rows, T* c, int64_t c_rs, int64_t c_cs) {
  if (c_cs == 1) {
    t.c = c;
    t.c_rs = c_rs;
    kernel(t);
    return;
  }
  alignas(64)
      T buffer[(kRows + kLanes<T> - 1) / kLanes<T> * kLanes<T> * kColumns<T>];  // whole square blocks of vectors
  t.c = buffer;
  t.c_rs = kColumns<T>;
  if (t.accumulate) copy_tile(c, c_rs, c_cs, rows, t.n, buffer, false);
  kernel(t);
  copy_tile(c, c_rs, c_cs, rows, t.n, buffer, true);
}

// The packed operands, and the order of the loops. Bits do not depend on it.
template <class T>
struct Plan {
  Depth depth;
  bool pack_a, pack_b;
  bool rows_outside;  // a panel of A stays in the L1 cache while B's panels pass; otherwise the other way round
  int64_t columns;    // in a block of B, which stays in the L2 cache
  int64_t rest;       // last columns that would waste most of a tile; computed by dot products

  Plan(const GemmArgs<T>& g, int64_t cache) : depth(g.k) {
    // B is read in place if it is small for the L2 cache, or if too few rows of A would use a packed copy.
    const int64_t bytes = depth.size * g.n * static_cast<int64_t>(sizeof(T));
    const bool small = bytes <= cache / 8;
    pack_b = g.b_cs != 1 || g.m > (collides<T>(g.b_rs) ? 2 * kRows : small ? g.m : 64);
    pack_a = g.a_cs != 1 || collides<T>(g.a_rs) || (pack_b && g.n >= 448);
    rows_outside = pack_b || small;
    const int64_t panel = depth.size * kColumns<T> * static_cast<int64_t>(sizeof(T));
    columns = std::max<int64_t>(4, cache * 3 / 4 / std::max<int64_t>(panel, 1)) * kColumns<T>;
    // Bits depend on this choice, so it may depend on n only through n % kColumns, and not on m.
    rest = g.n % kColumns<T>;
    if (rest > kColumns<T> / 8 || g.a_cs != 1 || g.b_rs != 1 || g.b_cs == 1 || g.k < 8 * kLanes<T>) rest = 0;
  }
  int64_t b_panels(const GemmArgs<T>& g) const {
    return pack_b ? ceil_div(std::min(columns, g.n), kColumns<T>) * kColumns<T> * depth.size : 0;
  }
  int64_t a_panels(const GemmArgs<T>& g) const {
    return pack_a ? (rows_outside ? 1 : ceil_div(g.m, kRows)) * kRows * depth.size : 0;
  }
};

template <class T>
static int64_t blocked_scratch(const GemmArgs<T>& g, int64_t cache) {
  const Plan<T> plan(g, cache);
  return plan.b_panels(g) + plan.a_panels(g) + 64;
}

template <class T>
static void blocked(const GemmArgs<T>& g, int64_t cache, T* scratch) {
  constexpr int64_t NR = kColumns<T>;
  const Plan<T> plan(g, cache);
  const auto& kernels = plan.pack_a && plan.pack_b ? kKernels<T, true> : kKernels<T, false>;
  T* const b_panels = scratch;
  T* const a_panels = scratch + plan.b_panels(g);
  const int64_t n = g.n - plan.rest;
  // Tiles of nearly equal height: a low tile takes as long as the latency of its chain of sums.
  const int64_t height = ceil_div(g.m, ceil_div(g.m, kRows));
  for (int64_t j0 = 0; j0 == 0 || j0 < n; j0 += plan.columns) {
    const int64_t j1 = std::min(n, j0 + plan.columns);
    for (int64_t p0 = 0, block = 0; block < plan.depth.blocks; ++block, p0 += plan.depth.size) {
      const int64_t k = std::min(plan.depth.size, g.k - p0);
      const auto pack_rows = [&](int64_t i, T* panel) {
        pack_panel<T, kRows>(g.a + i * g.a_rs + p0 * g.a_cs, g.a_rs, g.a_cs, std::min(height, g.m - i), k, panel);
      };
      const auto tile = [&](int64_t i, int64_t j, const T* a_panel) {
        const int rows = std::min(height, g.m - i), columns = std::min(NR, j1 - j);
        Tile<T> t;
        t.k = k;
        t.a = plan.pack_a ? a_panel : g.a + i * g.a_rs + p0 * g.a_cs;
        t.a_rs = plan.pack_a ? 1 : g.a_rs;
        t.a_cs = plan.pack_a ? kRows : g.a_cs;
        t.b = plan.pack_b ? b_panels + (j - j0) * k : g.b + p0 * g.b_rs + j;
        t.b_rs = plan.pack_b ? NR : g.b_rs;
        t.n = columns;
        t.bias_n = block == 0 && g.bias_n ? g.bias_n + j : nullptr;
        t.bias_m = block == 0 && g.bias_m ? g.bias_m + i : nullptr;
        t.accumulate = g.accumulate || block > 0;
        run_tile(kernels.of[rows - 1][(columns - 1) / kLanes<T>], t, rows, g.c + i * g.c_rs + j * g.c_cs, g.c_rs,
                 g.c_cs);
      };
      const auto rest_of_rows = [&](int64_t i) {
        GemmArgs<T> r = g;
        r.a += i * g.a_rs + p0;
        r.b += p0 + n * g.b_cs;
        r.c += i * g.c_rs + n * g.c_cs;
        r.m = std::min(height, g.m - i);
        r.n = plan.rest;
        r.k = k;
        r.bias_n = block == 0 && g.bias_n ? g.bias_n + n : nullptr;
        r.bias_m = block == 0 && g.bias_m ? g.bias_m + i : nullptr;
        r.accumulate = g.accumulate || block > 0;
        all_dots(r);
      };
      if (plan.pack_b) {
        for (int64_t j = j0; j < j1; j += NR)
          pack_panel<T, NR>(g.b + p0 * g.b_rs + j * g.b_cs, g.b_cs, g.b_rs, std::min(NR, j1 - j), k,
                            b_panels + (j - j0) * k);
      }
      if (plan.rows_outside) {
        for (int64_t i = 0; i < g.m; i += height) {
          if (plan.pack_a) pack_rows(i, a_panels);
          for (int64_t j = j0; j < j1; j += NR) tile(i, j, a_panels);
          if (plan.rest > 0 && j1 == n) rest_of_rows(i);
        }
      } else {
        if (plan.pack_a)
          for (int64_t i = 0; i < g.m; i += height) pack_rows(i, a_panels + i / height * kRows * k);
        for (int64_t j = j0; j < j1; j += NR)
          for (int64_t i = 0; i < g.m; i += height) tile(i, j, a_panels + i / height * kRows * k);
      }
    }
  }
}

// Computes small products without packing or blocks.
template <class T>
static void direct(const GemmArgs<T>& g) {
  constexpr int64_t NR = kColumns<T>;
  const int64_t step = ceil_div(g.m, ceil_div(g.m, kRows));
  for (int64_t i = 0; i < g.m; i += step) {
    const int rows = std::min(step, g.m - i);
    for (int64_t j = 0; j < g.n; j += NR) {
      const int columns = std::min(NR, g.n - j);
      kKernels<T, false>.of[rows - 1][(columns - 1) / kLanes<T>](
          {g.k, g.a + i * g.a_rs, g.a_rs, g.a_cs, g.b + j, g.b_rs, g.c + i * g.c_rs + j, g.c_rs, columns,
           g.bias_n ? g.bias_n + j : nullptr, g.bias_m ? g.bias_m + i : nullptr, g.accumulate});
    }
  }
}

template <class T>
constexpr GemmLevel<T> kLevel = {{kRows, kColumns<T>}, blocked_scratch<T>, blocked<T>, direct<T>, thin<GemmArgs<T>>};

}  // namespace

extern const GemmLevel<float> gemm_float;
extern const GemmLevel<double> gemm_double;
const GemmLevel<float> gemm_float = kLevel<float>;
const GemmLevel<double> gemm_double = kLevel<double>;

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
