#include "catenary/backends/cpu/gemm.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "catenary/backends/cpu/copy.h"
#include "catenary/backends/cpu/gemm_kernel.h"
#include "catenary/backends/cpu/gemm_onednn.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/backends/cpu/scratch.h"
#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/core/os/memory.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {
namespace {

using std::int64_t;

// CATENARY_ONEDNN=1 asks for oneDNN, and not to find it is an error then.
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

thread_local KeptScratch panels;    // packed A and B
thread_local KeptScratch operands;  // operands that were copied or converted as a whole

const GemmLevel<float>& level(float) { return CT_SIMD_SELECT(gemm_float); }
const GemmLevel<double>& level(double) { return CT_SIMD_SELECT(gemm_double); }

// The same product as C^T = B^T A^T.
template <class T>
GemmArgs<T> transposed(const GemmArgs<T>& g) {
  return {g.n,    g.m, g.k,    g.b,    g.b_cs,   g.b_rs,   g.a,         g.a_cs,
          g.a_rs, g.c, g.c_cs, g.c_rs, g.bias_m, g.bias_n, g.accumulate};
}

// The part of g that is rows [i0, i1) and columns [j0, j1) of C.
template <class T>
GemmArgs<T> part(GemmArgs<T> g, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
  g.m = i1 - i0;
  g.n = j1 - j0;
  g.a += i0 * g.a_rs;
  g.b += j0 * g.b_cs;
  g.c += i0 * g.c_rs + j0 * g.c_cs;
  if (g.bias_m) g.bias_m += i0;
  if (g.bias_n) g.bias_n += j0;
  return g;
}

template <class T>
void blocked_gemm(const GemmArgs<T>& g, const GemmLevel<T>& level) {
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
      const GemmArgs<T> mine =
          part(g, bound(rows, grid.tm, im, tiling.mr, g.m), bound(rows, grid.tm, im + 1, tiling.mr, g.m),
               bound(columns, grid.tn, in, tiling.nr, g.n), bound(columns, grid.tn, in + 1, tiling.nr, g.n));
      level.blocked(mine, cache, panels.get<T>(level.scratch(mine, cache)));
    }
  });
}

// Does `thin` take it, bar the strides of B if there is but one column?
template <class T>
bool is_thin(const GemmArgs<T>& g) {
  return g.n == 1 ? g.a_cs == 1 || g.a_rs == 1 : g.n <= 10 && g.m >= 32 && g.a_cs == 1 && g.b_rs == 1;
}

template <class T>
void thin_gemm(GemmArgs<T> g, const GemmLevel<T>& level) {
  if (g.b_rs != 1) {
    T* x = operands.get<T>(g.k);
    for (int64_t p = 0; p < g.k; ++p) x[p] = g.b[p * g.b_rs];
    g.b = x;
    g.b_rs = 1;
  }
  const int64_t grain = std::max<int64_t>(64, 65536 / std::max<int64_t>(g.k, 1));
  parallel_for(g.m, grain, [&](int64_t begin, int64_t end) { level.thin(part(g, begin, end, 0, g.n)); });
}

// Which way a product goes depends on its sizes and strides alone, so that its bits do too.
template <class T>
void float_gemm(GemmArgs<T> g) {
  const GemmLevel<T>& level = cpu::level(T{});
  if (is_thin(g)) return thin_gemm(g, level);
  if (is_thin(transposed(g))) return thin_gemm(transposed(g), level);
  if (g.c_rs == 1 && g.c_cs != 1) g = transposed(g);
  constexpr int64_t kSmall = 32;
  if (g.m <= kSmall && g.n <= kSmall && g.k <= kSmall && g.c_cs == 1) {
    alignas(64) T b[kSmall * kSmall];
    if (g.b_cs != 1) {
      for (int64_t p = 0; p < g.k; ++p)
        for (int64_t j = 0; j < g.n; ++j) b[p * g.n + j] = g.b[p * g.b_rs + j * g.b_cs];
      g.b = b;
      g.b_rs = g.n;
      g.b_cs = 1;
    }
    return level.direct(g);
  }
  // A few rows times a transposed matrix, as in a linear layer: packing that matrix would cost as much as the product.
  // As the left operand of the transposed product it is read where it lies.
  if (g.m <= 128 && g.n >= 2 * g.m && g.b_cs != 1 && g.b_rs == 1) g = transposed(g);
  blocked_gemm(g, level);
}

// Our own kernels measured between 0.9 and 2 times oneDNN's speed at every size that was tried, and their bits do not
// depend on the number of threads: oneDNN computes only where it is asked to.
void gemm_of(const GemmArgs<float>& g) {
  if (!float_providers().run(g)) float_gemm(g);
}
void gemm_of(const GemmArgs<double>& g) { float_gemm(g); }

// ---- 16-bit floats: operands become float32 as a whole, which costs little beside the product ----

using Convert = void (*)(const std::uint16_t*, float*, int64_t, bool);

// rows × columns as contiguous rows of float32.
void widen_matrix(const std::uint16_t* x, int64_t rows, int64_t columns, int64_t rs, int64_t cs, float* y,
                  bool bfloat) {
  const Convert widen = CT_SIMD_SELECT(widen);
  parallel_for(rows, 1 + 65536 / columns, [&](int64_t begin, int64_t end) {
    std::uint16_t line[256];
    for (int64_t i = begin; i < end; ++i) {
      if (cs == 1) {
        widen(x + i * rs, y + i * columns, columns, bfloat);
        continue;
      }
      for (int64_t j = 0; j < columns; j += 256) {
        const int64_t n = std::min<int64_t>(256, columns - j);
        for (int64_t l = 0; l < n; ++l) line[l] = x[i * rs + (j + l) * cs];
        widen(line, y + i * columns + j, n, bfloat);
      }
    }
  });
}

void half_gemm(const GemmArgs<std::uint16_t>& g, bool bfloat) {
  float* a = operands.get<float>(g.m * g.k + g.k * g.n + g.m * g.n + g.m + g.n);
  float* b = a + g.m * g.k;
  float* c = b + g.k * g.n;
  float* bias_m = c + g.m * g.n;
  float* bias_n = bias_m + g.m;
  GemmArgs<float> f = {g.m, g.n, g.k, a, g.k, 1, b, g.n, 1, c, g.n, 1, nullptr, nullptr, g.accumulate};
  // Rows of whichever order is contiguous.
  const auto operand = [&](const std::uint16_t* x, int64_t rows, int64_t columns, int64_t rs, int64_t cs, float* y,
                           int64_t& out_rs, int64_t& out_cs) {
    if (rows == 0 || columns == 0) return;
    if (rs == 1 && cs != 1) {
      widen_matrix(x, columns, rows, cs, rs, y, bfloat);
      out_rs = 1, out_cs = rows;
    } else {
      widen_matrix(x, rows, columns, rs, cs, y, bfloat);
    }
  };
  operand(g.a, g.m, g.k, g.a_rs, g.a_cs, a, f.a_rs, f.a_cs);
  operand(g.b, g.k, g.n, g.b_rs, g.b_cs, b, f.b_rs, f.b_cs);
  if (g.accumulate) widen_matrix(g.c, g.m, g.n, g.c_rs, g.c_cs, c, bfloat);
  if (g.bias_m) CT_SIMD_SELECT(widen)(g.bias_m, bias_m, g.m, bfloat), f.bias_m = bias_m;
  if (g.bias_n) CT_SIMD_SELECT(widen)(g.bias_n, bias_n, g.n, bfloat), f.bias_n = bias_n;
  // A vector's copy would take the place of the operands: its strides are 1 or it goes through the panels.
  gemm_of(f);
  const auto narrow = CT_SIMD_SELECT(narrow);
  parallel_for(g.m, 1 + 65536 / g.n, [&](int64_t begin, int64_t end) {
    std::uint16_t line[256];
    for (int64_t i = begin; i < end; ++i) {
      std::uint16_t* row = g.c + i * g.c_rs;
      if (g.c_cs == 1) {
        narrow(c + i * g.n, row, g.n, bfloat);
        continue;
      }
      for (int64_t j = 0; j < g.n; j += 256) {
        const int64_t n = std::min<int64_t>(256, g.n - j);
        narrow(c + i * g.n + j, line, n, bfloat);
        for (int64_t l = 0; l < n; ++l) row[(j + l) * g.c_cs] = line[l];
      }
    }
  });
}

// p moved by some elements of a dtype.
template <class P>
P* at(P* p, int64_t offset, Dtype dtype) {
  using Byte = std::conditional_t<std::is_const_v<P>, const char, char>;
  return p ? static_cast<Byte*>(p) + offset * static_cast<int64_t>(itemsize(dtype)) : p;
}

void integer_gemm(const IntegerGemm& g, Dtype from, Dtype to) {
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
}

// The arguments of gemm with types instead of void.
template <class T>
GemmArgs<T> typed(const IntegerGemm& g) {
  const auto in = [](const void* p) { return static_cast<const T*>(p); };
  return {g.m,    g.n,     g.k,          in(g.a),      g.a_rs,
          g.a_cs, in(g.b), g.b_rs,       g.b_cs,       static_cast<T*>(g.c),
          g.c_rs, g.c_cs,  in(g.bias_n), in(g.bias_m), g.accumulate};
}

void run(Dtype dtype, Dtype to, const IntegerGemm& g) {
  switch (dtype) {
    case Dtype::float32:
      return gemm_of(typed<float>(g));
    case Dtype::float64:
      return gemm_of(typed<double>(g));
    case Dtype::float16:
      return half_gemm(typed<std::uint16_t>(g), false);
    case Dtype::bfloat16:
      return half_gemm(typed<std::uint16_t>(g), true);
    default:
      return integer_gemm(g, dtype, to);
  }
}

void check(const char* function, int64_t batch, int64_t m, int64_t n, int64_t k) {
  if (batch < 0 || m < 0 || n < 0 || k < 0)
    fail<ValueError>("{}: sizes must not be negative, got batch={} m={} n={} k={}", function, batch, m, n, k);
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

void gemm(Dtype dtype, int64_t m, int64_t n, int64_t k, const void* a, int64_t a_rs, int64_t a_cs, const void* b,
          int64_t b_rs, int64_t b_cs, void* c, int64_t c_rs, int64_t c_cs, const GemmEpilogue& epilogue) {
  check("gemm", 1, m, n, k);
  if (m == 0 || n == 0) return;
  run(dtype, epilogue.to_int32 ? Dtype::int32 : dtype,
      {m, n, k, a, a_rs, a_cs, b, b_rs, b_cs, c, c_rs, c_cs, epilogue.bias_n, epilogue.bias_m, epilogue.accumulate});
}

void batched_gemm(Dtype dtype, int64_t batch, int64_t m, int64_t n, int64_t k, const void* a, int64_t a_bs,
                  int64_t a_rs, int64_t a_cs, const void* b, int64_t b_bs, int64_t b_rs, int64_t b_cs, void* c,
                  int64_t c_bs, int64_t c_rs, int64_t c_cs, const GemmEpilogue& epilogue) {
  check("batched_gemm", batch, m, n, k);
  if (batch == 0 || m == 0 || n == 0) return;
  const Dtype to = epilogue.to_int32 ? Dtype::int32 : dtype;
  const auto one = [&](int64_t i) {
    run(dtype, to,
        {m, n, k, at(a, i * a_bs, dtype), a_rs, a_cs, at(b, i * b_bs, dtype), b_rs, b_cs, at(c, i * c_bs, to), c_rs,
         c_cs, epilogue.bias_n, epilogue.bias_m, epilogue.accumulate});
  };
  // One B for all, and the A and C of the batch in one column: a single taller product.
  if (b_bs == 0 && !epilogue.bias_m && a_bs == m * a_rs && c_bs == m * c_rs) {
    m *= batch;
    one(0);
    return;
  }
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::max<int64_t>(k, 1));
  // Each thread takes whole products, unless there are few and they are large.
  if (batch < num_threads() && work > 1e6) {
    for (int64_t i = 0; i < batch; ++i) one(i);
    return;
  }
  parallel_for(batch, 1 + static_cast<int64_t>(1e5 / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) one(i);
  });
}

template <>
void compute(const Matmul& p) {
  const View &a = p.a, &b = p.b, &c = p.c;
  GemmEpilogue epilogue{.accumulate = p.accumulate, .to_int32 = a.dtype != c.dtype};
  std::vector<char> packed;  // a bias whose elements lie apart
  if (const View* bias = p.bias) {
    epilogue.bias_n = bias->data();
    if (bias->strides.size() == 1 && bias->strides[0] != 1 && bias->size() > 1) {
      packed.resize(static_cast<std::size_t>(bias->nbytes()));
      strided_copy(contiguous_view(packed.data(), bias->dtype, bias->shape), strided(*bias));
      epilogue.bias_n = packed.data();
    }
  }
  batched_gemm(a.dtype, c.shape[0], c.shape[1], c.shape[2], a.shape[2], a.data(), a.strides[0], a.strides[1],
               a.strides[2], b.data(), b.strides[0], b.strides[1], b.strides[2], c.data(), c.strides[0], c.strides[1],
               c.strides[2], epilogue);
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
