// Convolutions of bfloat16 of one thread, by AMX: products of tiles, summed in float32 and rounded once. Channels lie
// side by side; windows are gathered into panels as in convolution_kernel.simd.cpp, and a panel of the filter stays in
// the nearest cache for several of theirs. Every element is summed in the order of the depth.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "catenary/backends/cpu/convolution_kernel.h"
#include "catenary/backends/cpu/convolution_walk.h"
#include "catenary/backends/cpu/gemm_pairs.h"

#if defined(CT_SIMD_v4)

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

using E = bfloat16;
using M = TilePairs;

constexpr int64_t kWidth = 512;            // of a block of sums
constexpr int64_t kWindows = 8 * M::rows;  // gathered at a time
constexpr int64_t kDepth = 512;            // of them, at a time
constexpr int64_t kOutputs = 512;          // of a filter's gradient, at a time
constexpr int64_t kLine = kDepth + 32;     // from one gathered window to the next
static_assert(kWidth == kDepth, "a gathered block serves both passes");

/// Scratch memory: what is gathered, packed panels, and sums.
struct Room {
  E *gathered, *b, *a;
  float* sums;
  explicit Room(E* memory)
      : gathered(memory),
        b(gathered + kWindows * kLine),
        a(b + kWindows * kWidth),
        sums(reinterpret_cast<float*>(a + kWindows * M::rows)) {}
  static constexpr int64_t elements = kWindows * (kLine + kWidth + M::rows) + 2 * kOutputs * kWidth;
};

int64_t scratch(int64_t) { return Room::elements; }

void pack_filter(const Args<E>& g, const E* w, int64_t w_output, int64_t w_input, const int64_t* taps, int64_t panel,
                 E* packed) {
  const int64_t depth = g.inputs * g.taps(), first = panel * M::columns;
  const int count = static_cast<int>(std::min(M::columns, g.outputs - first));
  alignas(64) E rows[M::columns][kDepth];
  E* to = packed + first * round_up(depth, M::step);
  for (int64_t p0 = 0; p0 < depth; p0 += kDepth, to += M::columns * kDepth) {
    const int64_t k = std::min(kDepth, depth - p0);
    for (int r = 0; r < count; ++r) {
      const E* const from = w + (first + r) * w_output;
      for (int64_t p = 0; p < k;) {
        const int64_t tap = (p0 + p) / g.inputs, input = (p0 + p) % g.inputs, n = std::min(g.inputs - input, k - p);
        const E* const x = from + taps[tap] + input * w_input;
        if (w_input == 1) {
          std::memcpy(&rows[r][p], x, static_cast<std::size_t>(n) * sizeof(E));
        } else {
          for (int64_t i = 0; i < n; ++i) rows[r][p + i] = x[i * w_input];
        }
        p += n;
      }
    }
    M::pack_b(rows[0], 1, kDepth, count, k, to);
  }
}

// y[0 … n) (+)= the sums and the bias, then relu; rounded.
void round_line(const Args<E>& g, float* sums, const E* bias, E* y, int64_t n) {
  constexpr int L = kLanes<float>;
  for (int64_t i = 0; i < n; i += L) {
    const int some = static_cast<int>(std::min<int64_t>(L, n - i));
    Vector<float> x = load(sums + i);
    if (g.accumulate) x += load_wide_some(y + i, some);
    if (bias) x += load_wide_some(bias + i, some);
    if (g.relu) x = x < Vector<float>{} ? Vector<float>{} : x;
    store(sums + i, x);
  }
  narrow(sums, y, n);
}

void forward(const Args<E>& g, const E* w, int64_t, const ProductPart& part, int64_t, E* scratch) {
  const Taps<E> taps(g);
  const int64_t depth = g.inputs * g.taps(), whole = round_up(depth, M::step);
  const Room room(scratch);
  Place places[kWindows];
  M::begin();
  for (int64_t j0 = part.j0; j0 < part.j1; j0 += kWidth) {
    const int64_t n = std::min(kWidth, part.j1 - j0);
    Walk<E> walk(g, part.i0);
    for (int64_t i0 = part.i0; i0 < part.i1; i0 += kWindows) {
      const int rows = static_cast<int>(std::min(kWindows, part.i1 - i0));
      for (int r = 0; r < rows; ++r, walk.advance(1)) places[r] = *walk;
      int64_t p0 = 0;
      do {  // without depth, once: zeros
        const int64_t k = std::min(kDepth, depth - p0), padded = round_up(k, M::step);
        if (k > 0) gather_windows(g, taps, places, rows, p0, k, room.gathered, kLine);
        for (int r = 0; r < rows && k < padded; ++r) zeros(room.gathered + r * kLine + k, padded - k);
        for (int64_t j = 0; j < n; j += M::columns)
          for (int64_t i = 0; i < rows; i += M::rows)
            M::multiply(M::placed(room.gathered + i * kLine, kLine), w + (j0 + j) * whole + p0 * M::columns, padded,
                        M::rows, M::columns, room.sums + i * kWidth + j, kWidth, p0 > 0);
        p0 += kDepth;
      } while (p0 < depth);
      for (int r = 0; r < rows; ++r)
        round_line(g, room.sums + r * kWidth, g.bias ? g.bias + j0 : nullptr, g.y + places[r].y + j0, n);
    }
  }
  M::end();
}

void to_filter(const Args<E>& g, float* w, int64_t w_row, const ProductPart& part, int64_t, E* scratch) {
  const Taps<E> taps(g);
  const Room room(scratch);
  const int64_t step = g.axes[2].y_step;
  Place places[kWindows];
  M::begin();
  for (int64_t j0 = part.j0; j0 < part.j1; j0 += kWidth) {
    const int64_t n = std::min(kWidth, part.j1 - j0);
    for (int64_t i0 = part.i0; i0 < part.i1; i0 += kOutputs) {
      const int64_t m = std::min(kOutputs, part.i1 - i0);
      Walk<E> walk(g, part.p0);
      for (int64_t p0 = part.p0; p0 < part.p1; p0 += kWindows) {
        const int64_t k = std::min(kWindows, part.p1 - p0), padded = round_up(k, M::step);
        for (int r = 0; r < k; ++r, walk.advance(1)) places[r] = *walk;
        gather_windows(g, taps, places, static_cast<int>(k), j0, n, room.gathered, kLine);
        for (int64_t j = 0; j < n; j += M::columns)
          M::pack_b(room.gathered + j, kLine, 1, static_cast<int>(std::min(M::columns, n - j)), k, room.b + j * padded);
        for (int64_t i = 0; i < m; i += M::rows) {
          M::pack_a(g.y + p0 * step + i0 + i, 1, step, static_cast<int>(std::min(M::rows, m - i)), k, room.a);
          for (int64_t j = 0; j < n; j += M::columns)
            M::multiply(M::packed(room.a), room.b + j * padded, padded, M::rows, M::columns, room.sums + i * kWidth + j,
                        kWidth, p0 > part.p0);
        }
      }
      for (int64_t i = 0; i < m; ++i)
        std::memcpy(w + (i0 + i) * w_row + j0, room.sums + i * kWidth, static_cast<std::size_t>(n) * sizeof(float));
    }
  }
  M::end();
}

}  // namespace

extern const ConvolutionLevel<bfloat16> convolution_bfloat16_amx;
const ConvolutionLevel<bfloat16> convolution_bfloat16_amx = {{M::rows, M::columns}, M::step, scratch,
                                                             pack_filter,           forward, to_filter};

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE

#endif
