// Attention and its gradient on the CPU: divides the work among threads.

#include "catenary/backends/cpu/attention/attention.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "catenary/backends/cpu/gemm/gemm.h"
#include "catenary/backends/cpu/movement/move.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {
namespace {

using std::int64_t;

constexpr int64_t kFewGroups = 16, kMostParts = 4;  // splits keys so that there is work for all threads

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

const AttentionLevel<float, float>& level(float) { return CT_SIMD_SELECT(attention_float32); }
const AttentionLevel<double, double>& level(double) { return CT_SIMD_SELECT(attention_float64); }
const AttentionLevel<float, float16>& level(float16) { return CT_SIMD_SELECT(attention_float16); }
const AttentionLevel<float, bfloat16>& level(bfloat16) { return CT_SIMD_SELECT(attention_bfloat16); }

template <class E>
using SumOf = std::conditional_t<sizeof(E) == 8, double, float>;

template <class E>
HeadRows<E> heads_of(const View& v) {
  return {static_cast<E*>(v.data()), v.strides[0], v.strides[1], v.strides[2], v.strides[3]};
}

// Arguments shared by Attention and AttentionBack.
template <class E, class P>
AttentionArgs<SumOf<E>, E> arguments(const P& p) {
  using Args = AttentionArgs<SumOf<E>, E>;
  Args g{};
  g.batches = p.q.shape[0], g.heads = p.q.shape[1], g.groups = p.k.shape[1];
  g.queries = p.q.shape[2], g.keys = p.k.shape[2], g.depth = p.q.shape[3], g.width = p.v.shape[3];
  g.q = heads_of<const E>(p.q), g.k = heads_of<const E>(p.k), g.v = heads_of<const E>(p.v), g.y = heads_of<E>(p.y);
  g.sums = static_cast<SumOf<E>*>(p.sums.data());
  if (p.mask) {
    g.mask_kind = p.mask->dtype == Dtype::bool_ ? Args::Mask::flags : Args::Mask::numbers;
    g.mask = heads_of<const E>(*p.mask);
  }
  g.scale = static_cast<SumOf<E>>(p.rules.scale);
  g.causal = p.rules.causal, g.first = p.rules.first, g.window = p.rules.window;
  return g;
}

template <class E>
void forward(const Attention& p) {
  using T = SumOf<E>;
  const auto& level = cpu::level(E{});
  const AttentionArgs<T, E> g = arguments<E>(p);
  if (g.sharing() * g.queries <= kFewQueries) {
    const int64_t work = g.sharing() * g.queries * g.keys * (g.depth + g.width);
    parallel_for(g.batches * g.groups, 1 + 65536 / (work + 1), [&](int64_t begin, int64_t end) {
      const Scratch memory(level.few_scratch(g) * static_cast<int64_t>(sizeof(T)));
      for (int64_t i = begin; i < end; ++i) level.few(g, i / g.groups, i % g.groups, memory.as<T>());
    });
    return;
  }
  const auto in_parts = [&](int64_t queries, int64_t scratch, const auto& compute) {
    const int64_t parts = ceil_div(g.queries, queries);
    parallel_for(g.batches * g.heads * parts, 1, [&](int64_t begin, int64_t end) {
      const Scratch memory(scratch * static_cast<int64_t>(sizeof(T)));
      for (int64_t i = begin; i < end; ++i) {
        const int64_t head = i / parts, first = i % parts * queries;
        compute(g, head / g.heads, head % g.heads, first, std::min(first + queries, g.queries), memory.as<T>());
      }
    });
  };
#if defined(__x86_64__) && !defined(CT_SIMD_NO_V4)
  if constexpr (std::is_same_v<E, bfloat16>) {
    if (const auto& tiles = simd_v4::attention_tiles; multiplies_in_tiles(Dtype::bfloat16))
      return in_parts(tiles.queries, tiles.scratch(g), tiles.forward);
  }
#endif
  in_parts(level.queries, level.forward_scratch(g), level.forward);
}

template <class E>
void backward(const AttentionBack& p) {
  using T = SumOf<E>;
  const auto& level = cpu::level(E{});
  AttentionArgs<T, E> g = arguments<E>(p);
  g.gy = heads_of<const E>(p.gy), g.gk = heads_of<E>(p.gk), g.gv = heads_of<E>(p.gv);
  const int64_t groups = g.batches * g.groups, blocks = ceil_div(g.keys, level.keys);
  // The number of parts depends on the shape only, because each part has separate sums for the queries' gradients.
  const int64_t parts = std::clamp<int64_t>(groups < kFewGroups ? blocks / 4 : 1, 1, kMostParts);
  // Process only as many groups at once as there are threads. All at once would take four times the memory of gq.
  const int64_t at_once = std::min<int64_t>(groups, num_threads());
  const int64_t rows_of_group = g.sharing() * g.queries, size = at_once * rows_of_group * g.depth;
  const Scratch sums(parts * size * static_cast<int64_t>(sizeof(T)));
  T* const gq = sums.as<T>();
  const HeadRows<E> to = heads_of<E>(p.gq);
  for (int64_t first = 0; first < groups; first += at_once) {
    const int64_t count = std::min(at_once, groups - first);
    parallel_for(count * parts, 1, [&](int64_t begin, int64_t end) {
      const Scratch memory(level.backward_scratch(g) * static_cast<int64_t>(sizeof(T)));
      for (int64_t i = begin; i < end; ++i) {
        const int64_t group = first + i / parts, part = i % parts;
        level.backward(g, group / g.groups, group % g.groups, blocks * part / parts * level.keys,
                       std::min(blocks * (part + 1) / parts * level.keys, g.keys),
                       gq + part * size + i / parts * rows_of_group * g.depth, memory.as<T>());
      }
    });
    parallel_for(count * rows_of_group, 1 + 32768 / (g.depth + 1), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t head = first * g.sharing() + row / g.queries;
        const HeadRows<E> of_head = to.at(head / g.heads, head % g.heads);
        const T* const from = gq + row * g.depth;
        for (int64_t c = 0; c < g.depth; ++c) {
          T sum = from[c];
          for (int64_t part = 1; part < parts; ++part) sum += from[part * size + c];
          of_head.data[row % g.queries * of_head.row + c * of_head.column] = static_cast<E>(sum * g.scale);
        }
      }
    });
  }
}

template <class F>
void of_dtype(Dtype dtype, const F& f) {
  switch (dtype) {
    case Dtype::float64:
      return f(double{});
    case Dtype::float16:
      return f(float16{});
    case Dtype::bfloat16:
      return f(bfloat16{});
    default:
      return f(float{});
  }
}

}  // namespace

template <>
void compute(const Attention& p) {
  if (p.y.size() == 0 && p.sums.size() == 0) return;
  of_dtype(p.q.dtype, [&](auto element) { forward<decltype(element)>(p); });
}

template <>
void compute(const AttentionBack& p) {
  if (p.k.shape[1] == 0) return;  // no groups, hence no heads
  of_dtype(p.q.dtype, [&](auto element) { backward<decltype(element)>(p); });
}

}  // namespace catenary::cpu
