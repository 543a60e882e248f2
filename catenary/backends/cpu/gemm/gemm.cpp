#include "catenary/backends/cpu/gemm/gemm.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "catenary/backends/cpu/computations.h"
#include "catenary/backends/cpu/gemm/gemm_kernel.h"
#include "catenary/backends/cpu/gemm/gemm_onednn.h"
#include "catenary/backends/cpu/movement/copy.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/backends/cpu/scratch.h"
#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/core/os/memory.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {
namespace {

using std::int64_t;

// With CATENARY_ONEDNN=1, a missing oneDNN is an error.
Providers<GemmArgs<float>>& float_providers() {
  static auto* providers = [] {
    auto made = std::make_unique<Providers<GemmArgs<float>>>(
        "blas", "cpu", std::vector<std::pair<const char*, Providers<GemmArgs<float>>::Open>>{{"oneDNN", open_onednn}},
        "our own kernels are about as fast, and their bits do not depend on the number of threads");
    made->choose(environment::flag("CATENARY_ONEDNN") ? "onednn" : "", "CATENARY_ONEDNN=1");
    return made.release();
  }();
  return *providers;
}

thread_local KeptScratch panels;  // packed A and B
thread_local KeptScratch vector;  // a contiguous copy of a strided vector

const GemmLevel<float>& level(float) { return CT_SIMD_SELECT(gemm_float); }
const GemmLevel<double>& level(double) { return CT_SIMD_SELECT(gemm_double); }

// Returns the product as C^T = B^T A^T.
template <class T, class E, class R>
GemmArgs<T, E, R> transposed(const GemmArgs<T, E, R>& g) {
  return {g.n,    g.m, g.k,    g.b,    g.b_cs,   g.b_rs,   g.a,         g.a_cs,
          g.a_rs, g.c, g.c_cs, g.c_rs, g.bias_m, g.bias_n, g.accumulate};
}

// Returns the part of g with rows [i0, i1) and columns [j0, j1) of C.
template <class T, class E, class R>
GemmArgs<T, E, R> part(GemmArgs<T, E, R> g, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
  g.m = i1 - i0;
  g.n = j1 - j0;
  g.a += i0 * g.a_rs;
  g.b += j0 * g.b_cs;
  g.c += i0 * g.c_rs + j0 * g.c_cs;
  if (g.bias_m) g.bias_m += i0;
  if (g.bias_n) g.bias_n += j0;
  return g;
}

template <class G, class Level>
void blocked_gemm(const G& g, const Level& level) {
  const int64_t cache = gemm_cache();
  const GemmTiling tiling = level.tiling;
  const int64_t rows = (g.m + tiling.mr - 1) / tiling.mr, columns = (g.n + tiling.nr - 1) / tiling.nr;
  const double work = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  const int64_t threads = static_cast<int64_t>(std::clamp(work / 2e5, 1.0, static_cast<double>(num_threads())));
  const GemmGrid grid(rows, columns, tiling, threads);
  parallel_for(grid.tm * grid.tn, 1, [&](int64_t begin, int64_t end) {
    const auto bound = [](int64_t units, int64_t of, int64_t i, int64_t size, int64_t limit) {
      return std::min(units * i / of * size, limit);
    };
    for (int64_t t = begin; t < end; ++t) {
      const int64_t im = t / grid.tn, in = t % grid.tn;
      const G mine = part(g, bound(rows, grid.tm, im, tiling.mr, g.m), bound(rows, grid.tm, im + 1, tiling.mr, g.m),
                          bound(columns, grid.tn, in, tiling.nr, g.n), bound(columns, grid.tn, in + 1, tiling.nr, g.n));
      level.blocked(mine, cache, panels.get<typename Level::Scratch>(level.scratch(mine, cache)));
    }
  });
}

// Returns whether `thin` accepts the product. With a single column, B may have any stride.
template <class G>
bool is_thin(const G& g) {
  return g.n == 1 ? g.a_cs == 1 || g.a_rs == 1 : g.n <= 10 && g.m >= 32 && g.a_cs == 1 && g.b_rs == 1;
}

template <class G, class Level>
void thin_gemm(G g, const Level& level) {
  if (g.b_rs != 1) {
    auto* x = vector.get<typename G::Element>(g.k);
    for (int64_t p = 0; p < g.k; ++p) x[p] = g.b[p * g.b_rs];
    g.b = x;
    g.b_rs = 1;
  }
  const int64_t grain = std::max<int64_t>(64, 65536 / std::max<int64_t>(g.k, 1));
  parallel_for(g.m, grain, [&](int64_t begin, int64_t end) { level.thin(part(g, begin, end, 0, g.n)); });
}

template <class G, class Level>
bool computed_thin(const G& g, const Level& level) {
  const bool as_it_is = is_thin(g);
  if (!as_it_is && !is_thin(transposed(g))) return false;
  thin_gemm(as_it_is ? g : transposed(g), level);
  return true;
}

// Computes float32 by AMX, if it is available and the product is large enough to justify packing.
bool computed_in_tiles(const GemmArgs<double>&) { return false; }
bool computed_in_tiles([[maybe_unused]] const GemmArgs<float>& g) {
#if defined(__x86_64__) && !defined(CT_SIMD_NO_V4)
  // Packing an element costs about as much as 64 products.
  if (!multiplies_in_tiles(Dtype::float32) || g.k < 64 || g.m * g.n < 64 * (g.m + g.n)) return false;
  blocked_gemm(g, simd_v4::gemm_float_amx);
  return true;
#else
  return false;
#endif
}

// The implementation of a product depends on sizes and strides only, and so do its bits. (With gemm_float_amx, the
// values also decide which panels are plain.)
template <class T>
Way float_gemm(GemmArgs<T> g) {
  const GemmLevel<T>& level = cpu::level(T{});
  if (computed_thin(g, level)) return Way::columns;
  if (g.c_rs == 1 && g.c_cs != 1) g = transposed(g);
  if (g.m <= kSmallSide && g.n <= kSmallSide && g.k <= kSmallSide && g.c_cs == 1) {
    alignas(64) T b[kSmallSide * kSmallSide];
    if (g.b_cs != 1) {
      for (int64_t p = 0; p < g.k; ++p)
        for (int64_t j = 0; j < g.n; ++j) b[p * g.n + j] = g.b[p * g.b_rs + j * g.b_cs];
      g.b = b;
      g.b_rs = g.n;
      g.b_cs = 1;
    }
    level.direct(g);
    return Way::small;
  }
  if (computed_in_tiles(g)) return Way::tiles;
  // A few rows times a transposed matrix, as in a linear layer: packing that matrix would cost as much as the product.
  // As the left operand of the transposed product it is read in place.
  if (g.m <= 128 && g.n >= 2 * g.m && g.b_cs != 1 && g.b_rs == 1) g = transposed(g);
  blocked_gemm(g, level);
  return Way::panels;
}

// Our kernels reached 0.9 to 2 times oneDNN's speed at every measured size, and their bits do not depend on the number
// of threads. So oneDNN is used on request only.
Way gemm_of(const GemmArgs<float>& g) { return float_providers().run(g) ? Way::onednn : float_gemm(g); }
Way gemm_of(const GemmArgs<double>& g) { return float_gemm(g); }

// ---- 16-bit floats ----

const HalfLevel<float16>& half_level(float16) { return CT_SIMD_SELECT(gemm_float16); }
const HalfLevel<bfloat16>& half_level(bfloat16) {
#if defined(__x86_64__) && !defined(CT_SIMD_NO_V4)
  if (simd_level() == SimdLevel::v4) {
    if (bfloat_unit() == BfloatUnit::tiles) return simd_v4::gemm_bfloat16_amx;
    if (bfloat_unit() == BfloatUnit::dots) return simd_v4::gemm_bfloat16_avx512;
  }
#endif
  return CT_SIMD_SELECT(gemm_bfloat16);
}

// C is written by rows. A few rows are better transposed to columns, because the other matrix is then read in place.
template <class G>
G by_rows(const G& g) {
  return (g.c_rs == 1 && g.c_cs != 1) || (g.m <= 64 && g.n >= 2 * g.m && g.b_rs == 1) ? transposed(g) : g;
}

template <class E>
Way gemm_of(const GemmArgs<float, E>& g) {
  const HalfLevel<E>& level = half_level(E{});
  const auto in_place = [&](const auto& a) {
    return a.a_cs == 1 && a.n >= level.columns_in_place && a.m >= 2 * a.n && a.k % level.row_step == 0;
  };
  if (!in_place(g) && !in_place(transposed(g)) && computed_thin(g, level)) return Way::columns;
  if (g.m <= kSmallSide && g.n <= kSmallSide && g.k <= kSmallSide) {
    level.small(g);
    return Way::small;
  }
  blocked_gemm(by_rows(g), level);
  return Way::panels;
}

Way gemm_of(const GemmArgs<float, bfloat16, float>& g) {
  blocked_gemm(by_rows(g), half_level(bfloat16()).wide);
  return Way::panels;
}

// Returns p advanced by `offset` elements of a dtype.
template <class P>
P* at(P* p, int64_t offset, Dtype dtype) {
  using Byte = std::conditional_t<std::is_const_v<P>, const char, char>;
  return p ? static_cast<Byte*>(p) + offset * static_cast<int64_t>(itemsize(dtype)) : p;
}

Way integer_gemm(const IntegerGemm& g, Dtype from, Dtype to) {
  const auto kernel = CT_SIMD_SELECT(gemm_integer);
  const int64_t grain = 1 + 65536 / std::max<int64_t>(1, g.n * g.k);
  parallel_for(g.m, grain, [&](int64_t begin, int64_t end) {
    IntegerGemm mine = g;
    mine.m = end - begin;
    mine.a = at(g.a, begin * g.a_rs, from);
    mine.c = at(g.c, begin * g.c_rs, to);
    mine.bias_m = at(g.bias_m, begin, to);
    kernel(mine, from, to);
  });
  return from == to ? Way::integers : Way::widened_integers;
}

// Returns the first product of the batch, with types instead of void.
template <class T, class E = T, class R = E>
GemmArgs<T, E, R> typed(const Gemm& g) {
  const auto in = [](const void* p) { return static_cast<const E*>(p); };
  const auto added = [](const void* p) { return static_cast<const R*>(p); };
  return {g.m,
          g.n,
          g.k,
          in(g.a.data),
          g.a.row_stride,
          g.a.column_stride,
          in(g.b.data),
          g.b.row_stride,
          g.b.column_stride,
          static_cast<R*>(g.c.data),
          g.c.row_stride,
          g.c.column_stride,
          added(g.bias_n),
          added(g.bias_m),
          g.accumulate};
}

Way run(const Gemm& g) {
  switch (g.a.dtype) {
    case Dtype::float32:
      return gemm_of(typed<float>(g));
    case Dtype::float64:
      return gemm_of(typed<double>(g));
    case Dtype::float16:
      return gemm_of(typed<float, float16>(g));
    case Dtype::bfloat16:
      return g.c.dtype == Dtype::float32 ? gemm_of(typed<float, bfloat16, float>(g))
                                         : gemm_of(typed<float, bfloat16>(g));
    default:
      return integer_gemm(
          {g.m, g.n, g.k, g.a.data, g.a.row_stride, g.a.column_stride, g.b.data, g.b.row_stride, g.b.column_stride,
           g.c.data, g.c.row_stride, g.c.column_stride, g.bias_n, g.bias_m, g.accumulate},
          g.a.dtype, g.c.dtype);
  }
}

}  // namespace

int64_t gemm_cache() {
  static const int64_t cache = [] {
    const auto bytes = static_cast<int64_t>(os::second_level_cache_bytes());
    return bytes >= 128 << 10 && bytes <= 16 << 20 ? bytes : 512 << 10;
  }();
  return cache;
}

GemmGrid::GemmGrid(int64_t rows, int64_t columns, GemmTiling tiling, int64_t threads) {
  double best = 0;
  for (int64_t m = 1; m <= std::min(threads, rows); ++m) {
    const int64_t n = std::min(threads / m, columns);
    const double part_m = static_cast<double>((rows + m - 1) / m * tiling.mr);
    const double part_n = static_cast<double>((columns + n - 1) / n * tiling.nr);
    const double cost = part_m * part_n + 8 * (part_m + part_n);
    if (best == 0 || cost < best) best = cost, tm = m, tn = n;
  }
}

void gemm(const Gemm& product) {
  Gemm g = product;
  if (g.batch < 0 || g.m < 0 || g.n < 0 || g.k < 0)
    fail<ValueError>("gemm: sizes must not be negative, got batch={} m={} n={} k={}", g.batch, g.m, g.n, g.k);
  const bool widens = ((g.a.dtype == Dtype::int8 || g.a.dtype == Dtype::uint8) && g.c.dtype == Dtype::int32) ||
                      (g.a.dtype == Dtype::bfloat16 && g.c.dtype == Dtype::float32);
  if (g.a.dtype != g.b.dtype || (g.a.dtype != g.c.dtype && !widens))
    fail<DtypeError>("gemm: {} and {} are not multiplied into {}", g.a.dtype, g.b.dtype, g.c.dtype);
  if (g.batch == 0 || g.m == 0 || g.n == 0) return;
  Way way{};
  const auto one = [&](int64_t i) {
    Gemm at_i = g;
    at_i.a.data = at(g.a.data, i * g.a.batch_stride, g.a.dtype);
    at_i.b.data = at(g.b.data, i * g.b.batch_stride, g.b.dtype);
    at_i.c.data = at(g.c.data, i * g.c.batch_stride, g.c.dtype);
    const Way mine = run(at_i);
    if (i == 0) way = mine;  // equal for all products
  };
  if (g.batch == 1) {
    one(0);
    return note_product(way, g.a.dtype);
  }
  // If all products share B, and the A and C of the batch are stacked rows, compute a single taller product.
  if (g.b.batch_stride == 0 && !g.bias_m && g.a.batch_stride == g.m * g.a.row_stride &&
      g.c.batch_stride == g.m * g.c.row_stride) {
    g.m *= g.batch;
    one(0);
    return note_product(way, g.a.dtype);
  }
  const double work =
      static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(std::max<int64_t>(g.k, 1));
  // Each thread computes whole products, unless there are only a few large ones.
  if (g.batch < num_threads() && work > 1e6) {
    for (int64_t i = 0; i < g.batch; ++i) one(i);
  } else {
    parallel_for(g.batch, 1 + static_cast<int64_t>(1e5 / work), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) one(i);
    });
  }
  note_product(way, g.a.dtype);
}

template <>
void compute(const Matmul& p) {
  const View &a = p.a, &b = p.b, &c = p.c;
  Gemm g = {.m = c.shape[1],
            .n = c.shape[2],
            .k = a.shape[2],
            .a = {a.data(), a.dtype, a.strides[1], a.strides[2], a.strides[0]},
            .b = {b.data(), b.dtype, b.strides[1], b.strides[2], b.strides[0]},
            .c = {c.data(), c.dtype, c.strides[1], c.strides[2], c.strides[0]},
            .accumulate = p.accumulate,
            .batch = c.shape[0]};
  std::vector<char> packed;  // a contiguous copy of a strided bias
  if (const View* bias = p.bias) {
    g.bias_n = bias->data();
    if (bias->strides.size() == 1 && bias->strides[0] != 1 && bias->size() > 1) {
      packed.resize(static_cast<std::size_t>(bias->nbytes()));
      strided_copy(contiguous_view(packed.data(), bias->dtype, bias->shape), strided(*bias));
      g.bias_n = packed.data();
    }
  }
  gemm(g);
}

void set_gemm_provider(GemmProvider chosen) {
  float_providers().choose(chosen == GemmProvider::onednn ? "onednn" : "own", "set_gemm_provider");
}

bool onednn_available() {
  std::string why;
  return open_onednn(why) != nullptr;
}

std::vector<LibraryInfo> gemm_libraries() { return float_providers().info(); }

std::string gemm_provider_info() { return onednn_info(); }

}  // namespace catenary::cpu
