// Convolutions of bfloat16 of one thread, by AMX: products of tiles, summed in float32 and rounded once. Channels are
// contiguous. Windows are gathered into panels as in convolution_kernel.simd.cpp, and a panel of the filter stays in
// the L1 cache for several panels of windows. Every element is summed in the order of the depth.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "catenary/backends/cpu/convolution/convolution_kernel.h"
#include "catenary/backends/cpu/convolution/convolution_walk.h"
#include "catenary/backends/cpu/gemm/gemm_pairs.h"

#if defined(CT_SIMD_v4)

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

using E = bfloat16;
using M = TilePairs;

constexpr int64_t kWidth = 512;            // columns in a block of sums
constexpr int64_t kWindows = 8 * M::rows;  // windows gathered at a time
constexpr int64_t kDepth = 512;            // depth of the gathered windows at a time
constexpr int64_t kLine = kDepth + 32;     // distance between gathered windows
constexpr int64_t kOutputs = 512;          // outputs of a filter's gradient at a time
constexpr int64_t kSums = 512 * 512;       // sums of a filter's gradient at a time

/// Scratch memory: gathered windows, packed panels, and sums.
struct Room {
  E *gathered, *a, *b;
  float* sums;
  explicit Room(E* memory)
      : gathered(memory),
        a(gathered + kWindows * kLine),
        b(a + kWindows * kOutputs),
        sums(reinterpret_cast<float*>(b + kWindows * M::columns)) {}
  static constexpr int64_t elements = kWindows * (kLine + kOutputs + M::columns) + 2 * kSums;
};
static_assert(kWindows * kWidth <= kSums);

int64_t scratch(int64_t) { return Room::elements; }

void pack_filter(const Args<E>& g, const E* w, int64_t w_output, const int64_t* taps, int64_t panel, E* packed) {
  const int64_t depth = g.inputs * g.taps(), first = panel * M::columns;
  const int count = static_cast<int>(std::min(M::columns, g.outputs - first));
  alignas(64) E rows[M::columns][kDepth];
  E* to = packed + first * round_up(depth, M::step);
  for (int64_t p0 = 0; p0 < depth; p0 += kDepth, to += M::columns * kDepth) {
    const int64_t k = std::min(kDepth, depth - p0);
    for (int64_t p = 0, n = 0; p < k; p += n) {
      const int64_t tap = (p0 + p) / g.inputs, input = (p0 + p) % g.inputs;
      n = std::min(g.inputs - input, k - p);
      for (int r = 0; r < count; ++r)
        std::memcpy(&rows[r][p], w + (first + r) * w_output + taps[tap] + input,
                    static_cast<std::size_t>(n) * sizeof(E));
    }
    M::pack_b(rows[0], 1, kDepth, count, k, to);
  }
}

CT_BFLOAT_UNITS __m512 load(const E* y, __mmask16 mask) { return wide_bfloat(_mm256_maskz_loadu_epi16(mask, y)); }
CT_BFLOAT_UNITS __m512 load(const float* y, __mmask16 mask) { return _mm512_maskz_loadu_ps(mask, y); }
CT_BFLOAT_UNITS void store(E* y, __mmask16 mask, __m512 x) {
  _mm256_mask_storeu_epi16(y, mask, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
}
CT_BFLOAT_UNITS void store(float* y, __mmask16 mask, __m512 x) { _mm512_mask_storeu_ps(y, mask, x); }

// y[0 … n) (+)= the sums and the bias, then relu, rounded to R.
template <class R>
CT_BFLOAT_UNITS void finish_line(const Args<E>& g, const float* sums, const E* bias, R* y, int64_t n) {
  constexpr int L = kLanes<float>;
  for (int64_t i = 0; i < n; i += L) {
    const int some = static_cast<int>(std::min<int64_t>(L, n - i));
    const __mmask16 mask = static_cast<__mmask16>((1u << some) - 1);
    __m512 x = load(sums + i, mask);
    if (g.accumulate) x += load(y + i, mask);
    if (bias) x += load(bias + i, mask);
    if (g.relu) x = _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ), _mm512_setzero_ps());
    store(y + i, mask, x);
  }
}

void forward(const Args<E>& g, const E* w, int64_t, const ProductPart& part, int64_t, E* scratch) {
  const Taps<E> taps(g);
  const int64_t depth = g.inputs * g.taps(), whole = round_up(depth, M::step);
  const Room room(scratch);
  const Sums<M> sums{room.sums, kWidth};
  Place places[kWindows];
  alignas(64) float line[kWidth];
  M::begin();
  for (int64_t j0 = part.j0; j0 < part.j1; j0 += kWidth) {
    const int64_t n = std::min(kWidth, part.j1 - j0);
    Walk<E> walk(g, part.i0);
    for (int64_t i0 = part.i0; i0 < part.i1; i0 += kWindows) {
      const int rows = static_cast<int>(std::min(kWindows, part.i1 - i0));
      for (int r = 0; r < rows; ++r, walk.advance(1)) places[r] = *walk;
      int64_t p0 = 0;
      do {  // runs once even without depth, to write zeros
        const int64_t k = std::min(kDepth, depth - p0), padded = round_up(k, M::step);
        if (k > 0) gather_windows(g, taps, places, rows, p0, k, room.gathered, kLine);
        for (int r = 0; r < rows && k < padded; ++r) zeros(room.gathered + r * kLine + k, padded - k);
        for (int64_t j = 0; j < n; j += M::columns)
          for (int64_t i = 0; i < rows; i += M::rows)
            M::multiply(M::placed(room.gathered + i * kLine, kLine), w + (j0 + j) * whole + p0 * M::columns, padded,
                        M::rows, M::columns, sums.of(i, j), M::columns, p0 > 0);
        p0 += kDepth;
      } while (p0 < depth);
      for (int r = 0; r < rows; ++r) {
        sums.row(r, 0, n, line);
        const E* const bias = g.bias ? g.bias + j0 : nullptr;
        const int64_t at = places[r].y + j0;
        g.wide_y ? finish_line(g, line, bias, g.wide_y + at, n) : finish_line(g, line, bias, g.y + at, n);
      }
    }
  }
  M::end();
}

// A panel of B, read in place: its rows are windows, its 32 columns some channels of a tap.
class TapPanels {
 public:
  /// Windows [first, first + k), k <= kWindows, padded to whole steps.
  TapPanels(const Args<E>& g, const Taps<E>& taps, int64_t first, int64_t k)
      : g_(g), taps_(taps), rows_count_(rows_of(g, first, k, rows_)), padded_(round_up(k, M::step)) {
    std::fill(masks_ + k, masks_ + padded_, 0);
    std::fill(at_ + k, at_ + padded_, g.x);
  }

  void pack(int64_t column, E* out) {
    if (column / g_.inputs != tap_) look(column / g_.inputs);
    const int64_t channel = column % g_.inputs;
    const PairUp pair_up;
    for (int64_t p = 0; p < padded_; p += 2) {
      const __m512i even = _mm512_maskz_loadu_epi16(masks_[p], at_[p] + channel),
                    odd = _mm512_maskz_loadu_epi16(masks_[p + 1], at_[p + 1] + channel);
      E* const to = out + p / M::step * 2 * M::tile + p % M::step / 2 * 32;
      pair_up(even, odd, to, to + M::tile);
    }
  }

 private:
  // Finds the address of the tap's first channel in each window, and whether the tap is inside the image.
  void look(int64_t tap) {
    tap_ = tap;
    const ConvolutionAxis& axis = g_.axes[2];
    const int64_t along = tap % taps_.merged, step = axis.stride * axis.x_step;
    const Tap& of = taps_.of[static_cast<std::size_t>(tap / taps_.merged)];
    std::uint32_t* mask = masks_;
    const E** at = at_;
    for (const Row* row = rows_; row < rows_ + rows_count_; ++row) {
      Range in{0, 0};
      if (inside(g_, row->first, of)) in = windows_inside(axis, row->first.at[2] + of.at[2] + along, row->count);
      const E* const x = g_.x + row->first.x + of.x + along * g_.inputs;
      for (int64_t q = 0; q < row->count; ++q) {
        const bool there = q >= in.begin && q < in.end;
        mask[q] = there ? ~0u : 0;
        at[q] = there ? x + q * step : g_.x;
      }
      at += row->count;
      mask += row->count;
    }
  }

  const Args<E>& g_;
  const Taps<E>& taps_;
  Row rows_[kWindows];
  const int rows_count_;
  const int64_t padded_;
  int64_t tap_ = -1;
  std::uint32_t masks_[kWindows];
  const E* at_[kWindows];
};

void to_filter(const Args<E>& g, float* w, int64_t w_row, const ProductPart& part, int64_t, E* scratch) {
  const Taps<E> taps(g);
  const Room room(scratch);
  const int64_t step = g.axes[2].y_step;
  const bool in_place = g.inputs % M::columns == 0;
  Place places[kWindows];
  M::begin();
  for (int64_t i0 = part.i0; i0 < part.i1; i0 += kOutputs) {
    const int64_t m = std::min(kOutputs, part.i1 - i0), width = kSums / round_up(m, M::rows) / M::columns * M::columns;
    for (int64_t j0 = part.j0; j0 < part.j1; j0 += width) {
      const int64_t n = std::min(width, part.j1 - j0);
      const Sums<M> sums{room.sums, round_up(n, M::columns)};
      Walk<E> walk(g, part.p0);
      for (int64_t p0 = part.p0; p0 < part.p1; p0 += kWindows) {
        const int64_t k = std::min(kWindows, part.p1 - p0), padded = round_up(k, M::step);
        for (int64_t r = 0; r < k && !in_place; ++r, walk.advance(1)) places[r] = *walk;
        M::pack_a(g.y + p0 * step + i0, 1, step, m, k, room.a);
        std::optional<TapPanels> panels;
        if (in_place) panels.emplace(g, taps, p0, k);
        for (int64_t j = 0; j < n; j += M::columns) {
          if (in_place) {
            panels->pack(j0 + j, room.b);
          } else {
            if (j % kDepth == 0)
              gather_windows(g, taps, places, static_cast<int>(k), j0 + j, std::min(kDepth, n - j), room.gathered,
                             kLine);
            M::pack_b(room.gathered + j % kDepth, kLine, 1, std::min(M::columns, n - j), k, room.b);
          }
          for (int64_t i = 0; i < m; i += M::rows)
            M::multiply(M::packed(room.a + i * padded), room.b, padded, M::rows, M::columns, sums.of(i, j), M::columns,
                        p0 > part.p0);
        }
      }
      for (int64_t i = 0; i < m; ++i) {
        float* const to = w + (i0 + i) * w_row + j0;
        const int64_t whole = n / M::columns * M::columns;
        sums.row(i, 0, whole, to);
        if (whole < n)
          std::memcpy(to + whole, sums.of(i, whole) + i % M::rows * M::columns,
                      static_cast<std::size_t>(n - whole) * sizeof(float));
      }
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
