// Convolutions of one thread as products on gemm's micro-kernels. The matrix of all windows' elements is never stored:
// panels are gathered from the image block by block, with zeros for padding. With contiguous channels, windows are the
// rows of a product, and a tap's channels are copied at once. Otherwise windows are its columns, and pixels along the
// last axis form vectors. Every element is summed in the order of the depth, in blocks that depend on shapes only. This
// file is compiled with -ffp-contract=fast.

#include "catenary/backends/cpu/convolution/convolution_kernel.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "catenary/backends/cpu/convolution/convolution_walk.h"
#include "catenary/backends/cpu/gemm/gemm_elements.h"
#include "catenary/backends/cpu/gemm/gemm_micro.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

constexpr int64_t kMaxWindows = 512;  // in a block of columns

// Returns the number of B's columns in a block, chosen so that its panels stay in the L2 cache.
template <class T>
static int64_t block_columns(int64_t columns, int64_t k, int64_t cache, int64_t limit) {
  constexpr int64_t NR = kColumns<T>;
  const int64_t panels = ceil_div(std::max<int64_t>(columns, 1), NR);
  const int64_t most = std::clamp<int64_t>(
      cache * 3 / 4 / (std::max<int64_t>(k, 1) * NR * static_cast<int64_t>(sizeof(T))), 4, limit / NR);
  return ceil_div(panels, ceil_div(panels, most)) * NR;
}

// Computes a tile whose rows or columns are not evenly spaced, through a buffer. offset(r, c) is the offset of an
// element.
template <class T, class F>
static void run_scattered(Kernel<T> kernel, Tile<T> t, int rows, T* y, const F& offset) {
  constexpr int NR = kColumns<T>;
  alignas(64) T buffer[kRows * NR];
  t.c = buffer;
  t.c_rs = NR;
  if (t.accumulate) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < t.n; ++c) buffer[r * NR + c] = y[offset(r, c)];
  }
  kernel(t);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < t.n; ++c) y[offset(r, c)] = buffer[r * NR + c];
}

// Returns whether the offsets are evenly spaced, and sets `step` to their distance.
inline bool even(const Place* places, int n, int64_t Place::*offset, int64_t& step) {
  step = n > 1 ? places[1].*offset - places[0].*offset : 0;
  for (int i = 2; i < n; ++i)
    if (places[i].*offset - places[i - 1].*offset != step) return false;
  return true;
}

// ---- forward, channels last ----

template <class T>
static void forward_last(const Args<T>& g, const T* w, const ProductPart& part, int64_t cache, T* scratch) {
  constexpr int64_t NR = kColumns<T>;
  const Taps<T> taps(g);
  const int64_t depth = g.inputs * g.taps();
  const Depth blocks(depth);
  const int64_t ld = line_length(blocks.size);
  const int64_t width = block_columns<T>(part.j1 - part.j0, blocks.size, cache, int64_t{1} << 40);
  for (int64_t j0 = part.j0; j0 < part.j1; j0 += width) {
    const int64_t j1 = std::min(part.j1, j0 + width);
    for (int64_t p0 = 0, block = 0; block < blocks.blocks; ++block, p0 += blocks.size) {
      const int64_t k = std::min(blocks.size, depth - p0);
      Walk<T> walk(g, part.i0);
      for (int64_t i = part.i0; i < part.i1; i += kRows) {
        const int rows = static_cast<int>(std::min<int64_t>(kRows, part.i1 - i));
        Place places[kRows];
        bool in_place = taps.of.size() == 1 && taps.merged == 1;
        for (int r = 0; r < rows; ++r, walk.advance(1)) {
          places[r] = *walk;
          in_place = in_place && inside(g, places[r], taps.of[0]) && inside(g.axes[2], places[r].at[2]);
        }
        int64_t a_step, y_step;
        in_place = even(places, rows, &Place::x, a_step) && in_place && !collides<T>(a_step);
        const bool direct = even(places, rows, &Place::y, y_step);
        if (!in_place && k > 0) gather_windows(g, taps, places, rows, p0, k, scratch, ld);
        for (int64_t j = j0; j < j1; j += NR) {
          Tile<T> t;
          t.k = k;
          t.a = in_place ? g.x + places[0].x + p0 : scratch;
          t.a_rs = in_place ? a_step : ld;
          t.a_cs = 1;
          t.b = w + j * depth + p0 * NR;
          t.b_rs = NR;
          t.c = g.y + places[0].y + j;
          t.c_rs = y_step;
          t.n = static_cast<int>(std::min(NR, j1 - j));
          t.bias_n = block == 0 && g.bias ? g.bias + j : nullptr;
          t.bias_m = nullptr;
          t.accumulate = g.accumulate || block > 0;
          t.relu = g.relu && block == blocks.blocks - 1;
          const Kernel<T> kernel = kKernels<T, false>.of[rows - 1][(t.n - 1) / kLanes<T>];
          if (direct) {
            kernel(t);
          } else {
            run_scattered(kernel, t, rows, g.y + j, [&](int r, int c) { return places[r].y + c; });
          }
        }
      }
    }
  }
}

template <class T>
static void pack_filter(const Args<T>& g, const T* w, int64_t w_output, const int64_t* taps, int64_t panel, T* packed) {
  constexpr int64_t NR = kColumns<T>;
  T* to = packed + panel * NR * g.inputs * g.taps();
  const int rows = static_cast<int>(std::min(NR, g.outputs - panel * NR));
  for (int64_t t = 0; t < g.taps(); ++t, to += NR * g.inputs)
    pack_panel<T, NR>(w + panel * NR * w_output + taps[t], w_output, 1, rows, g.inputs, to);
}

// ---- forward, contiguous pixels along the last axis ----

// The lanes of a vector that are in one row of the image, and the position of the vector. `high`: the second of two
// vectors from which every second element is taken.
template <class T>
struct Piece {
  int64_t x;
  Mask<T> low, high;
  int begin, end;
};

// out[i * step] = the lanes of `count` channels.
template <class T>
[[gnu::noinline]] static void gather_lines(const Piece<T>* pieces, int n, bool whole, int64_t stride, const T* x,
                                           int64_t x_channel, T* out, int64_t step, int64_t count) {
  const auto lines = [&](auto&& value) __attribute__((always_inline)) {
    for (int64_t i = 0; i < count; ++i) store(out + i * step, value(x + i * x_channel));
  };
  if (n == 0) return lines([](const T*) __attribute__((always_inline)) { return Vector<T>{}; });
  const Piece<T> first = pieces[0], second = pieces[n > 1 ? 1 : 0];
  if (stride == 1) {
    const auto one = [](const T* p, const Piece<T>& piece) __attribute__((always_inline)) {
      return load_masked(p + piece.x, piece.low);
    };
    if (whole)
      return lines([&](const T* p) __attribute__((always_inline)) {
        __builtin_prefetch(p + first.x + kColumns<T>);  // the next panel, because channels are far apart
        return load(p + first.x);
      });
    if (n == 1) return lines([&](const T* p) __attribute__((always_inline)) { return one(p, first); });
    if (n == 2) return lines([&](const T* p) __attribute__((always_inline)) { return one(p, first) + one(p, second); });
    return lines([&](const T* p) __attribute__((always_inline)) {
      Vector<T> sum = one(p, first) + one(p, second);
      for (int i = 2; i < n; ++i) sum += one(p, pieces[i]);
      return sum;
    });
  }
  if (stride == 2) {
    const auto one = [](const T* p, const Piece<T>& piece) __attribute__((always_inline)) {
      return evens<T>(load_masked(p + piece.x, piece.low), load_masked(p + piece.x + kLanes<T>, piece.high));
    };
    if (n == 1) return lines([&](const T* p) __attribute__((always_inline)) { return one(p, first); });
    return lines([&](const T* p) __attribute__((always_inline)) {
      Vector<T> sum = one(p, first);
      for (int i = 1; i < n; ++i) sum += one(p, pieces[i]);
      return sum;
    });
  }
  for (int64_t i = 0; i < count; ++i, x += x_channel) {
    T* to = out + i * step;
    store(to, Vector<T>{});
    for (int l = 0; l < n; ++l)
      for (int lane = pieces[l].begin; lane < pieces[l].end; ++lane) to[lane] = x[pieces[l].x + lane * stride];
  }
}

// out[(p - p0) * kColumns + c] = element p of window c, for p < p0 + k and n windows. Elements are ordered as channels
// × taps.
template <class T>
static void gather_panel(const Args<T>& g, const Taps<T>& taps, const Place* places, int n, int64_t p0, int64_t k,
                         T* out) {
  constexpr int L = kLanes<T>, NR = kColumns<T>;
  const ConvolutionAxis& axis = g.axes[2];
  // Adjacent windows within a vector.
  struct Segment {
    const Place* first;
    int lane, count;
  } segments[kVectors][L];
  int segment_count[kVectors] = {};
  for (int c = 0; c < n; ++c) {
    const int v = c / L;
    const bool follows = c % L > 0 && places[c].at[2] == places[c - 1].at[2] + axis.stride &&
                         places[c].x == places[c - 1].x + axis.stride && places[c].at[1] == places[c - 1].at[1] &&
                         places[c].at[0] == places[c - 1].at[0];
    if (!follows) segments[v][segment_count[v]++] = {places + c, c % L, 0};
    ++segments[v][segment_count[v] - 1].count;
  }
  const auto count = static_cast<int64_t>(taps.of.size());
  for (int64_t t = 0; t < count; ++t) {
    const Tap& tap = taps.of[static_cast<std::size_t>(t)];
    const int64_t begin = t < p0 ? ceil_div(p0 - t, count) : 0, end = t < p0 + k ? ceil_div(p0 + k - t, count) : 0;
    if (begin >= end) continue;
    for (int v = 0; v * L < n; ++v) {
      Piece<T> pieces[L];
      int m = 0;
      for (int s = 0; s < segment_count[v]; ++s) {
        const Segment& segment = segments[v][s];
        if (!inside(g, *segment.first, tap)) continue;
        const Range in = windows_inside(axis, segment.first->at[2] + tap.at[2], segment.count);
        if (in.begin == in.end) continue;
        const int from = segment.lane + static_cast<int>(in.begin), to = segment.lane + static_cast<int>(in.end);
        Piece<T>& piece = pieces[m++];
        piece.x = segment.first->x + tap.x - segment.lane * axis.stride;
        piece.begin = from;
        piece.end = to;
        if (axis.stride == 2) {
          piece.low = Mask<T>{std::min(2 * from, L), std::min(2 * to - 1, L)};
          piece.high = Mask<T>{std::max(2 * from - L, 0), std::max(2 * to - 1 - L, 0)};
        } else {
          piece.low = Mask<T>{from, to};
        }
      }
      const bool whole = m == 1 && pieces[0].begin == 0 && pieces[0].end == L;
      gather_lines(pieces, m, whole, axis.stride, g.x + begin * g.x_channel, g.x_channel,
                   out + (begin * count + t - p0) * NR + v * L, count * NR, end - begin);
    }
  }
}

template <class T>
static void forward_first(const Args<T>& g, const T* w, int64_t w_row, const ProductPart& part, int64_t cache,
                          T* scratch) {
  constexpr int64_t NR = kColumns<T>;
  const Taps<T> taps(g);
  const int64_t depth = g.inputs * g.taps();
  const Depth blocks(depth);
  const int64_t width = block_columns<T>(part.j1 - part.j0, blocks.size, cache, kMaxWindows);
  Place places[kMaxWindows];
  int64_t steps[kMaxWindows / NR];  // 1 if a panel's results are contiguous
  Walk<T> walk(g, part.j0);
  for (int64_t j0 = part.j0; j0 < part.j1; j0 += width) {
    const int64_t j1 = std::min(part.j1, j0 + width);
    for (int64_t j = j0; j < j1; ++j, walk.advance(1)) places[j - j0] = *walk;
    for (int64_t j = j0; j < j1; j += NR) {
      int64_t& step = steps[(j - j0) / NR];
      const int n = static_cast<int>(std::min(NR, j1 - j));
      if (!even(places + (j - j0), n, &Place::y, step)) step = 0;
      if (n == 1) step = 1;
    }
    for (int64_t p0 = 0, block = 0; block < blocks.blocks; ++block, p0 += blocks.size) {
      const int64_t k = std::min(blocks.size, depth - p0);
      for (int64_t j = j0; j < j1; j += NR) {
        const int n = static_cast<int>(std::min(NR, j1 - j));
        gather_panel(g, taps, places + (j - j0), n, p0, k, scratch + (j - j0) * k);
      }
      for (int64_t i = part.i0; i < part.i1; i += kRows) {
        const int rows = static_cast<int>(std::min<int64_t>(kRows, part.i1 - i));
        for (int64_t j = j0; j < j1; j += NR) {
          const Place* const place = places + (j - j0);
          Tile<T> t;
          t.k = k;
          t.a = w + i * w_row + p0;
          t.a_rs = w_row;
          t.a_cs = 1;
          t.b = scratch + (j - j0) * k;
          t.b_rs = NR;
          t.c = g.y + i * g.y_channel + place->y;
          t.c_rs = g.y_channel;
          t.n = static_cast<int>(std::min(NR, j1 - j));
          t.bias_n = nullptr;
          t.bias_m = block == 0 && g.bias ? g.bias + i : nullptr;
          t.accumulate = g.accumulate || block > 0;
          t.relu = g.relu && block == blocks.blocks - 1;
          const Kernel<T> kernel = kKernels<T, false>.of[rows - 1][(t.n - 1) / kLanes<T>];
          if (steps[(j - j0) / NR] == 1) {
            kernel(t);
          } else {
            run_scattered(kernel, t, rows, g.y + i * g.y_channel,
                          [&](int r, int c) { return r * g.y_channel + place[c].y; });
          }
        }
      }
    }
  }
}

template <class T>
static void forward(const Args<T>& g, const T* w, int64_t w_row, const ProductPart& part, int64_t cache, T* scratch) {
  g.channels_last ? forward_last(g, w, part, cache, scratch) : forward_first(g, w, w_row, part, cache, scratch);
}

// ---- to the filter ----

// out[p * kColumns + c] = column j + c (< j1) for the p-th window of the rows. Columns are taps × channels.
template <class T>
static void gather_taps(const Args<T>& g, const Taps<T>& taps, const Row* rows, int row_count, int64_t j, int64_t j1,
                        T* out) {
  constexpr int L = kLanes<T>, NR = kColumns<T>;
  const ConvolutionAxis& axis = g.axes[2];
  const int64_t step = axis.stride * axis.x_step;
  struct Segment {
    const Tap* tap;
    int64_t begin, end;  // elements of the run of taps
    int lane;
    Mask<T> mask;
    const T* x;  // lane 0 of the row's first window
    int64_t at;  // offset of the run's first tap
  } segments[L], active[L];
  for (int v = 0; v < kVectors; ++v, out += L) {
    int count = 0;
    for (int64_t c = j + v * L; c < std::min(j1, j + v * L + L); ++count) {
      const int64_t begin = c % taps.run, lane = c - j - v * L;
      const int64_t n = std::min(std::min(taps.run - begin, j1 - c), L - lane);
      segments[count] = {taps.of.data() + c / taps.run,
                         begin,
                         begin + n,
                         static_cast<int>(lane),
                         Mask<T>{static_cast<int>(lane), static_cast<int>(lane + n)},
                         nullptr,
                         0};
      c += n;
    }
    const bool whole = count == 1 && segments[0].end - segments[0].begin == L;
    T* to = out;
    for (const Row* row = rows; row < rows + row_count; ++row) {
      int n = 0;
      int64_t begin = 0, end = row->count;  // windows whose taps are all inside
      for (int s = 0; s < count; ++s) {
        if (!inside(g, row->first, *segments[s].tap)) continue;
        Segment& a = active[n++] = segments[s];
        a.x = g.x + row->first.x + a.tap->x + a.begin - a.lane;
        a.at = row->first.at[2] + a.tap->at[2];
        begin = std::max(begin, windows_inside(axis, a.at, row->count).begin);
        end = std::min(end, windows_inside(axis, a.at + taps.merged - 1, row->count).end);
      }
      end = std::max(begin, end);
      const auto border = [&](int64_t q) {
        Vector<T> sum{};
        for (int s = 0; s < n; ++s) {
          const Segment& a = active[s];
          const Range in = elements_inside(g, taps, a.at + q * axis.stride);
          const int from = static_cast<int>(std::clamp(in.begin, a.begin, a.end) - a.begin),
                    upto = static_cast<int>(std::clamp(in.end, a.begin, a.end) - a.begin);
          if (from < upto) sum += load_masked(a.x + q * step, Mask<T>{a.lane + from, a.lane + upto});
        }
        store(to, sum);
        to += NR;
      };
      int64_t q = 0;
      for (; q < begin; ++q) border(q);
      const T* x = n > 0 ? active[0].x + q * step : nullptr;
      if (n == 0) {
        for (; q < end; ++q, to += NR) store(to, Vector<T>{});
      } else if (whole) {
        for (; q < end; ++q, to += NR, x += step) store(to, load(x));
      } else if (n == 1) {
        for (; q < end; ++q, to += NR, x += step) store(to, load_masked(x, active[0].mask));
      } else {
        for (; q < end; ++q, to += NR) {
          Vector<T> sum{};
          for (int s = 0; s < n; ++s) sum += load_masked(active[s].x + q * step, active[s].mask);
          store(to, sum);
        }
      }
      for (; q < row->count; ++q) border(q);
    }
  }
}

// Row r of `out` = row i + r of channels × taps, with one element for each window.
template <class T>
static void gather_channels(const Args<T>& g, const Taps<T>& taps, const Row* windows, int window_rows, int64_t i,
                            int rows, T* out, int64_t ld) {
  const auto count = static_cast<int64_t>(taps.of.size());
  const ConvolutionAxis& axis = g.axes[2];
  for (int r = 0; r < rows; ++r, out += ld) {
    const T* const x = g.x + (i + r) / count * g.x_channel;
    const Tap& tap = taps.of[static_cast<std::size_t>((i + r) % count)];
    T* to = out;
    for (const Row* row = windows; row < windows + window_rows; ++row) {
      if (!inside(g, row->first, tap)) {
        to = zeros(to, row->count);
        continue;
      }
      const Range in = windows_inside(axis, row->first.at[2] + tap.at[2], row->count);
      if (in.begin > 0) to = zeros(to, in.begin);
      to = copied(to, x + row->first.x + tap.x + in.begin * axis.stride, in.end - in.begin, axis.stride);
      if (in.end < row->count) to = zeros(to, row->count - in.end);
    }
  }
}

// Packs y as a panel of B: windows [p0, p0 + k) × channels [j, j + n).
template <class T>
static void pack_results(const Args<T>& g, int64_t j, int n, int64_t p0, int64_t k, T* out) {
  const int64_t windows = g.windows();
  while (k > 0) {
    const int64_t image = p0 / windows, first = p0 % windows, count = std::min(k, windows - first);
    pack_panel<T, kColumns<T>>(g.y + image * g.y_image + j * g.y_channel + first, g.y_channel, 1, n, count, out);
    out += count * kColumns<T>;
    p0 += count;
    k -= count;
  }
}

template <class T>
static void to_filter(const Args<T>& g, T* w, int64_t w_row, const ProductPart& part, int64_t cache, T* scratch) {
  constexpr int64_t NR = kColumns<T>;
  const Taps<T> taps(g);
  const Depth blocks(part.p1 - part.p0);
  const int64_t ld = line_length(blocks.size);
  const int64_t width = block_columns<T>(part.j1 - part.j0, blocks.size, cache, int64_t{1} << 40);
  T* const panels = scratch + kRows * ld;
  Row windows[kBlockK];
  const auto& kernels = g.channels_last ? kKernels<T, true> : kKernels<T, false>;
  for (int64_t j0 = part.j0; j0 < part.j1; j0 += width) {
    const int64_t j1 = std::min(part.j1, j0 + width);
    for (int64_t p0 = part.p0, block = 0; block < blocks.blocks; ++block, p0 += blocks.size) {
      const int64_t k = std::min(blocks.size, part.p1 - p0);
      const int window_rows = rows_of(g, p0, k, windows);
      for (int64_t j = j0; j < j1; j += NR) {
        T* const panel = panels + (j - j0) * k;
        g.channels_last ? gather_taps(g, taps, windows, window_rows, j, j1, panel)
                        : pack_results(g, j, static_cast<int>(std::min(NR, j1 - j)), p0, k, panel);
      }
      for (int64_t i = part.i0; i < part.i1; i += kRows) {
        const int rows = static_cast<int>(std::min<int64_t>(kRows, part.i1 - i));
        if (g.channels_last) {
          const int64_t step = g.axes[2].y_step;
          pack_panel<T, kRows>(g.y + p0 * step + i, 1, step, rows, k, scratch);
        } else {
          gather_channels(g, taps, windows, window_rows, i, rows, scratch, ld);
        }
        for (int64_t j = j0; j < j1; j += NR) {
          Tile<T> t;
          t.k = k;
          t.a = scratch;
          t.a_rs = g.channels_last ? 1 : ld;
          t.a_cs = g.channels_last ? kRows : 1;
          t.b = panels + (j - j0) * k;
          t.b_rs = NR;
          t.c = w + i * w_row + j;
          t.c_rs = w_row;
          t.n = static_cast<int>(std::min(NR, j1 - j));
          t.bias_n = t.bias_m = nullptr;
          t.accumulate = g.accumulate || block > 0;
          kernels.of[rows - 1][(t.n - 1) / kLanes<T>](t);
        }
      }
    }
  }
}

template <class T>
static int64_t scratch(int64_t cache) {
  // A panel of A, and panels of B: three quarters of the cache, or at least four.
  constexpr int64_t NR = kColumns<T>;
  const int64_t panel = kBlockK * NR;
  return kRows * line_length(kBlockK) + std::max<int64_t>(cache * 3 / 4 / static_cast<int64_t>(sizeof(T)), 4 * panel) +
         panel;
}

template <class T>
constexpr ConvolutionLevel<T> kLevel = {{kRows, kColumns<T>}, 1, scratch<T>, pack_filter<T>, forward<T>, to_filter<T>};

}  // namespace

extern const ConvolutionLevel<float> convolution_float;
extern const ConvolutionLevel<double> convolution_double;
const ConvolutionLevel<float> convolution_float = kLevel<float>;
const ConvolutionLevel<double> convolution_double = kLevel<double>;

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
