#pragma once
// Private to the *.simd.cpp files of the CPU's products: products with few rows or columns, whose operands are read
// once, in place.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "catenary/backends/cpu/gemm/gemm_elements.h"
#include "catenary/backends/cpu/gemm/gemm_kernel.h"
#include "catenary/backends/cpu/gemm/gemm_micro.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

// ---- dot products ----

template <class G>
CT_INLINE void finish(const G& g, int64_t i, int64_t j, typename G::Sum sum) {
  auto* c = g.c + i * g.c_rs + j * g.c_cs;
  if (g.accumulate) sum += widened(*c);
  if (g.bias_n) sum += widened(g.bias_n[j]);
  if (g.bias_m) sum += widened(g.bias_m[i]);
  if constexpr (std::is_same_v<typename G::Element, typename G::Sum>) {
    *c = sum;
  } else {
    narrow(&sum, c, 1);
  }
}

// Adds pairs at `distance`, then at half that distance, …
template <class T, int distance, std::size_t... i>
CT_INLINE T sum_lanes(Vector<T> x, std::index_sequence<i...> lanes) {
  x += __builtin_shufflevector(x, x, (i ^ distance)...);
  if constexpr (distance > 1) {
    return sum_lanes<T, distance / 2>(x, lanes);
  } else {
    return x[0];
  }
}

// Multiplies kM rows of A by kN columns of B, all contiguous. Each pair has a separate vector sum, so that bits do not
// depend on the grouping.
template <int kM, int kN, class G>
static void dots(const G& g, int64_t i, int64_t j) {
  using T = typename G::Sum;
  using E = typename G::Element;
  constexpr int L = kLanes<T>;
  const E* a = g.a + i * g.a_rs;
  const E* b = g.b + j * g.b_cs;
  Vector<T> acc[kM][kN] = {};
  const auto step = [&](auto&& get) __attribute__((always_inline)) {
    Vector<T> x[kN];
    CT_UNROLL for (int c = 0; c < kN; ++c) x[c] = get(b + c * g.b_cs);
    CT_UNROLL for (int r = 0; r < kM; ++r) {
      const Vector<T> y = get(a + r * g.a_rs);
      CT_UNROLL for (int c = 0; c < kN; ++c) acc[r][c] += y * x[c];
    }
  };
  int64_t p = 0;
  if constexpr (kByParity<E>) {
    for (; p + 2 * L <= g.k; p += 2 * L) {
      step([&](const E* from) __attribute__((always_inline)) { return load_pairs<false>(from + p); });
      step([&](const E* from) __attribute__((always_inline)) { return load_pairs<true>(from + p); });
    }
    if (const int rest = g.k - p; rest > 0) {
      step([&](const E* from) __attribute__((always_inline)) { return load_pairs_some<false>(from + p, rest); });
      step([&](const E* from) __attribute__((always_inline)) { return load_pairs_some<true>(from + p, rest); });
    }
  } else {
    for (; p + L <= g.k; p += L)
      step([&](const E* from) __attribute__((always_inline)) { return load_wide(from + p); });
    if (const int rest = g.k - p; rest > 0)
      step([&](const E* from) __attribute__((always_inline)) { return load_wide_some(from + p, rest); });
  }
  CT_UNROLL for (int r = 0; r < kM; ++r) {
    CT_UNROLL for (int c = 0; c < kN; ++c)
        finish(g, i + r, j + c, sum_lanes<T, L / 2>(acc[r][c], std::make_index_sequence<L>()));
  }
}

template <int kM, class G>
static void dots_of_rows(const G& g, int64_t i) {
  int64_t j = 0;
  for (; j + 4 <= g.n; j += 4) dots<kM, 4>(g, i, j);
  if (g.n - j == 3) dots<kM, 3>(g, i, j);
  if (g.n - j == 2) dots<kM, 2>(g, i, j);
  if (g.n - j == 1) dots<kM, 1>(g, i, j);
}

template <class G>
static void all_dots(const G& g) {
  constexpr int kM = kVectorBytes == 64 ? 4 : 2;  // limited by the registers
  int64_t i = 0;
  for (; i + kM <= g.m; i += kM) dots_of_rows<kM>(g, i);
  for (; i < g.m; ++i) dots_of_rows<1>(g, i);
}

// ---- matrix times vector ----

// y[0 … n) += sum of kP columns of A times their x, in the order of the columns.
template <int kP, class E, class T>
CT_INLINE void add_columns(const E* a, int64_t a_cs, const E* x, T* y, int64_t n) {
  constexpr int L = kLanes<T>;
  Vector<T> factor[kP];
  for (int p = 0; p < kP; ++p) factor[p] = splat(widened(x[p]));
  int64_t i = 0;
  for (; i + L <= n; i += L) {
    Vector<T> sum = load(y + i);
    CT_UNROLL for (int p = 0; p < kP; ++p) sum += load_wide(a + p * a_cs + i) * factor[p];
    store(y + i, sum);
  }
  if (i < n) {
    Vector<T> sum = load(y + i);  // y has room for a whole vector
    CT_UNROLL for (int p = 0; p < kP; ++p) sum += load_wide_some(a + p * a_cs + i, n - i) * factor[p];
    store(y + i, sum);
  }
}

template <class G>
static void thin(const G& g) {
  using T = typename G::Sum;
  if (g.a_cs == 1) return all_dots(g);
  constexpr int64_t kChunk = 8192 / sizeof(T);
  alignas(64) T y[kChunk];
  for (int64_t i = 0; i < g.m; i += kChunk) {
    const int64_t n = std::min(kChunk, g.m - i);
    std::fill(y, y + ceil_div(n, kLanes<T>) * kLanes<T>, T(0));
    const auto* a = g.a + i;
    int64_t p = 0;
    for (; p + 8 <= g.k; p += 8) add_columns<8>(a + p * g.a_cs, g.a_cs, g.b + p, y, n);
    for (; p < g.k; ++p) add_columns<1>(a + p * g.a_cs, g.a_cs, g.b + p, y, n);
    for (int64_t r = 0; r < n; ++r) finish(g, i + r, 0, y[r]);
  }
}

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
