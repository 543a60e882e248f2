// Winograd's transforms and the products between them, for one thread's share. Vectors hold channels, in any layout of
// the arrays. The numbers of a transformed tile are far apart, one in each of n * n matrices (tiles × channels), which
// the micro-kernel of products reads in place. This file is compiled with -ffp-contract=fast, as products are.

#include "catenary/backends/cpu/convolution/winograd.h"

#include <algorithm>
#include <cstdint>

#include "catenary/backends/cpu/gemm/gemm_micro.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

using V = Vector<float>;
constexpr int L = kLanes<float>, NR = kColumns<float>;
constexpr int64_t kRun = 8;              // adjacent tiles that are transformed together
constexpr int64_t kInputsAtATime = 128;  // inputs whose filters are transformed on demand, few enough to stay cached
constexpr int64_t kSumInputs = 3 * L;    // input channels that are summed at a time: whole tiles of the micro-kernel
constexpr int64_t kSumPanels = 2;

// ---- the transforms of one axis, for polynomials evaluated at some points and infinity ----

// Points 0, ±sqrt(1/2), ±sqrt(2): products of such points stay near 1, so errors are small.
struct Points4 {
  static constexpr int m = 4, n = 6;
  static constexpr float a = 0.70710678118654752f, b = 1.41421356237309505f;

  /// Transforms the input.
  CT_INLINE void input(const V (&d)[6], V (&v)[6]) {
    const V even_a = d[4] - 2.0f * d[2], odd_a = a * d[3] - b * d[1];
    const V even_b = d[4] - 0.5f * d[2], odd_b = b * d[3] - a * d[1];
    v[0] = d[0] - 2.5f * d[2] + d[4];
    v[1] = even_a + odd_a;
    v[2] = even_a - odd_a;
    v[3] = even_b + odd_b;
    v[4] = even_b - odd_b;
    v[5] = d[1] - 2.5f * d[3] + d[5];
  }
  /// Transforms a filter.
  CT_INLINE void filter(const V (&g)[3], V (&u)[6]) {
    const V even_a = (-2.0f / 3) * g[0] - (1.0f / 3) * g[2], odd_a = (-2.0f / 3 * a) * g[1];
    const V even_b = (1.0f / 6) * g[0] + (1.0f / 3) * g[2], odd_b = (b / 6) * g[1];
    u[0] = g[0];
    u[1] = even_a + odd_a;
    u[2] = even_a - odd_a;
    u[3] = even_b + odd_b;
    u[4] = even_b - odd_b;
    u[5] = g[2];
  }
  /// Transforms products to outputs.
  CT_INLINE void output(const V (&p)[6], V (&y)[4]) {
    const V sum_a = p[1] + p[2], sum_b = p[3] + p[4], odd_a = a * (p[1] - p[2]), odd_b = b * (p[3] - p[4]);
    y[0] = p[0] + sum_a + sum_b;
    y[1] = odd_a + odd_b;
    y[2] = 0.5f * sum_a + 2.0f * sum_b;
    y[3] = 0.5f * odd_a + 2.0f * odd_b + p[5];
  }
  /// The transposes of the last two: transform an output's gradient, and products to a filter's gradient.
  CT_INLINE void output_back(const V (&y)[4], V (&p)[6]) {
    const V even_a = y[0] + 0.5f * y[2], odd_a = a * y[1] + (0.5f * a) * y[3];
    const V even_b = y[0] + 2.0f * y[2], odd_b = b * y[1] + (2.0f * b) * y[3];
    p[0] = y[0];
    p[1] = even_a + odd_a;
    p[2] = even_a - odd_a;
    p[3] = even_b + odd_b;
    p[4] = even_b - odd_b;
    p[5] = y[3];
  }
  CT_INLINE void filter_back(const V (&u)[6], V (&g)[3]) {
    const V sum_a = u[1] + u[2], sum_b = u[3] + u[4];
    g[0] = u[0] - (2.0f / 3) * sum_a + (1.0f / 6) * sum_b;
    g[1] = (b / 6) * (u[3] - u[4]) - (2.0f / 3 * a) * (u[1] - u[2]);
    g[2] = u[5] + (1.0f / 3) * (sum_b - sum_a);
  }
};

// Points 0, ±1.
struct Points2 {
  static constexpr int m = 2, n = 4;

  CT_INLINE void input(const V (&d)[4], V (&v)[4]) {
    v[0] = d[0] - d[2];
    v[1] = d[1] + d[2];
    v[2] = d[2] - d[1];
    v[3] = d[3] - d[1];
  }
  CT_INLINE void filter(const V (&g)[3], V (&u)[4]) {
    const V even = 0.5f * (g[0] + g[2]), odd = 0.5f * g[1];
    u[0] = g[0];
    u[1] = even + odd;
    u[2] = even - odd;
    u[3] = g[2];
  }
  CT_INLINE void output(const V (&p)[4], V (&y)[2]) {
    y[0] = p[0] + p[1] + p[2];
    y[1] = p[1] - p[2] + p[3];
  }
  CT_INLINE void output_back(const V (&y)[2], V (&p)[4]) {
    p[0] = y[0];
    p[1] = y[0] + y[1];
    p[2] = y[0] - y[1];
    p[3] = y[1];
  }
  CT_INLINE void filter_back(const V (&u)[4], V (&g)[3]) {
    const V sum = 0.5f * (u[1] + u[2]);
    g[0] = u[0] + sum;
    g[1] = 0.5f * (u[1] - u[2]);
    g[2] = sum + u[3];
  }
};

// The transformed part of an image: n * n numbers around a tile, or m * m of its outputs' gradient.
template <class P>
struct InputTile {
  static constexpr int from = P::n, to = P::n, step = P::m;
  CT_INLINE void apply(const V (&x)[P::n], V (&v)[P::n]) { P::input(x, v); }
};
template <class P>
struct GradientTile {
  static constexpr int from = P::m, to = P::n, step = P::m;
  CT_INLINE void apply(const V (&y)[P::m], V (&v)[P::n]) { P::output_back(y, v); }
};

// ---- images ----

// Adjacent tiles in a row of an image.
struct Run {
  int64_t image, row, column, count;
};

// Calls f(run, index of its first tile relative to `first`).
template <class F>
void each_run(const WinogradTiles& tiles, int64_t first, int64_t last, F&& f) {
  for (int64_t tile = first; tile < last;) {
    const int64_t row = tile / tiles.columns, column = tile % tiles.columns;
    const int64_t count = std::min({kRun, tiles.columns - column, last - tile});
    f(Run{row / tiles.rows, row % tiles.rows, column, count}, tile - first);
    tile += count;
  }
}

// Some rows of an image, pixels as vectors of channels: pixel j of row r is at start[r] + j * step[r].
template <int kLines>
struct Lines {
  const float* start[kLines];
  int64_t step[kLines];
};

constexpr int kMostColumns = kRun * 4 + 2;  // in a run
alignas(64) constexpr float kZeros[L] = {};

// Finds columns [x0, x1) of rows from y on. Rows outside the image are zeros, and so are lanes from `lanes` on. Images
// without contiguous channels are transposed into `buffer`.
template <int kLines>
CT_INLINE void find_lines(const WinogradImages& from, const float* channels, int lanes, int64_t y, int64_t x0,
                          int64_t x1, float* buffer, Lines<kLines>& lines) {
  const int64_t columns = x1 - x0;
  for (int r = 0; r < kLines; ++r) {
    const int64_t row = y + r;
    if (row < 0 || row >= from.height) {
      lines.start[r] = kZeros;
      lines.step[r] = 0;
      continue;
    }
    const float* source = channels + row * from.row_stride + x0 * from.column_stride;
    if (from.channel_stride == 1 && lanes == L) {
      lines.start[r] = source;
      lines.step[r] = from.column_stride;
      continue;
    }
    float* to = buffer + r * kMostColumns * L;
    lines.start[r] = to;
    lines.step[r] = L;
    if (from.channel_stride == 1) {
      for (int64_t j = 0; j < columns; ++j) store(to + j * L, load_some(source + j * from.column_stride, lanes));
    } else if (from.column_stride == 1) {
      int64_t j = 0;
      for (; j + L <= columns; j += L) transpose_block(source + j, from.channel_stride, lanes, to + j * L, L);
      if (j == columns) continue;
      if (j > 0) {  // the last block overlaps the previous one
        transpose_block(source + columns - L, from.channel_stride, lanes, to + (columns - L) * L, L);
      } else {
        alignas(64) float block[L * L] = {};
        for (int l = 0; l < lanes; ++l)
          store(block + l * L, load_some(source + l * from.channel_stride, static_cast<int>(columns)));
        transpose_block(block, L, L, to, L);
      }
    } else {
      for (int64_t j = 0; j < columns; ++j)
        for (int l = 0; l < L; ++l)
          to[j * L + l] = l < lanes ? source[j * from.column_stride + l * from.channel_stride] : 0.0f;
    }
  }
}

// Transforms a run's tiles for the channels from c on. Number (i, j) of tile t is stored at out + (i * to + j) * plane
// + t * tile_stride.
template <class T>
static void transform_run(const WinogradImages& from, const Run& run, int64_t pad_y, int64_t pad_x, int64_t c,
                          float* out, int64_t plane, int64_t tile_stride) {
  alignas(64) float buffer[T::from * kMostColumns * L];
  alignas(64) float half[T::to * kMostColumns * L];  // transformed along columns
  const int lanes = static_cast<int>(std::min<int64_t>(L, from.channels - c));
  const int64_t y = run.row * T::step - pad_y, x = run.column * T::step - pad_x;
  const int64_t columns = run.count * T::step + T::from - T::step;
  const int64_t begin = std::clamp<int64_t>(-x, 0, columns), end = std::clamp(from.width - x, begin, columns);
  Lines<T::from> lines;
  find_lines(from, from.data + run.image * from.image_stride + c * from.channel_stride, lanes, y, x + begin, x + end,
             buffer, lines);
  const auto zeros = [&](int64_t j0, int64_t j1) {
    for (int i = 0; i < T::to; ++i)
      for (int64_t j = j0; j < j1; ++j) store(half + (i * kMostColumns + j) * L, V{});
  };
  zeros(0, begin);
  zeros(end, columns);
  for (int64_t j = begin; j < end; ++j) {
    V in[T::from], result[T::to];
    CT_UNROLL for (int i = 0; i < T::from; ++i) {
      in[i] = load(lines.start[i]);
      lines.start[i] += lines.step[i];
    }
    T::apply(in, result);
    CT_UNROLL for (int i = 0; i < T::to; ++i) store(half + (i * kMostColumns + j) * L, result[i]);
  }
  for (int64_t t = 0; t < run.count; ++t) {
    for (int i = 0; i < T::to; ++i) {
      const float* row = half + (i * kMostColumns + t * T::step) * L;
      float* to = out + i * T::to * plane + t * tile_stride;
      V in[T::from], result[T::to];
      CT_UNROLL for (int j = 0; j < T::from; ++j) in[j] = load(row + j * L);
      T::apply(in, result);
      CT_UNROLL for (int j = 0; j < T::to; ++j) store(to + j * plane, result[j]);
    }
  }
}

// Stores kM rows of `columns` pixels, as far as they are inside the image, for the channels from c on. `pixels` are
// rows of kRun * kM vectors.
template <int kM>
CT_INLINE void store_pixels(const WinogradImages& to, const WinogradStore& how, int64_t image, int64_t y, int64_t x,
                            int64_t columns, int64_t c, const float* pixels) {
  const int lanes = static_cast<int>(std::min<int64_t>(L, to.channels - c));
  alignas(64) float bias[L] = {};
  if (how.bias)
    for (int l = 0; l < lanes; ++l) bias[l] = how.bias[(c + l) * how.bias_stride];
  const auto finish = [&](V value, V before) __attribute__((always_inline)) {
    if (how.accumulate) value += before;
    if (how.relu) value = value < 0.0f ? V{} : value;
    return value;
  };
  const int64_t rows = std::min<int64_t>(kM, to.height - y);
  columns = std::min(columns, to.width - x);
  for (int64_t i = 0; i < rows; ++i) {
    float* out = to.data + image * to.image_stride + (y + i) * to.row_stride + x * to.column_stride;
    out += c * to.channel_stride;
    const float* from = pixels + i * kRun * kM * L;
    if (to.channel_stride == 1) {
      const V add = load(bias);
      for (int64_t j = 0; j < columns; ++j) {
        float* pixel = out + j * to.column_stride;
        if (lanes == L) {
          store(pixel, finish(load(from + j * L) + add, how.accumulate ? load(pixel) : V{}));
        } else {
          store_some(pixel, finish(load(from + j * L) + add, how.accumulate ? load_some(pixel, lanes) : V{}), lanes);
        }
      }
    } else if (to.column_stride == 1) {
      alignas(64) float block[L * L];
      for (int64_t j = 0; j < columns; j += L) {
        const int n = static_cast<int>(std::min<int64_t>(L, columns - j));
        transpose_block(from + j * L, L, L, block, L);
        for (int l = 0; l < lanes; ++l) {
          float* line = out + l * to.channel_stride + j;
          const V value = load(block + l * L) + splat(bias[l]);
          if (n == L) {
            store(line, finish(value, how.accumulate ? load(line) : V{}));
          } else {
            store_some(line, finish(value, how.accumulate ? load_some(line, n) : V{}), n);
          }
        }
      }
    } else {
      for (int64_t j = 0; j < columns; ++j) {
        for (int l = 0; l < lanes; ++l) {
          float* element = out + j * to.column_stride + l * to.channel_stride;
          float value = from[j * L + l] + bias[l];
          if (how.accumulate) value += *element;
          *element = how.relu && value < 0.0f ? 0.0f : value;
        }
      }
    }
  }
}

// Transforms subtract, so an infinity would become NaN, and a NaN would spread to the whole tile. Tiles with values
// that are not finite are detected here and recomputed by direct sums of the terms that other convolutions use. Checks
// the first `lanes`.
CT_INLINE bool is_finite(V value, int64_t lanes = L) {
  value *= 0.0f;  // 0 if finite, otherwise NaN
  for (int l = 0; l < lanes; ++l)
    if (value[l] != 0.0f) return false;
  return true;
}

// Loads taps of filters for output channels from k on: tap t of input i at out + (i * 9 + t) * L, for count <= L
// inputs. Lanes from `lanes` on are zeros.
CT_INLINE void load_taps(const WinogradFilters& f, int64_t input, int64_t count, int64_t k, int lanes, float* out);

// Computes the outputs of a run's tile t by direct sums, for the channels from c on, into `pixels`.
template <class P>
[[gnu::noinline]] static void direct_tile(const WinogradLevel::Forward& w, const Run& run, int64_t t, int64_t c,
                                          float* pixels) {
  alignas(64) float taps[9 * L * L];
  V sums[P::m][P::m] = {};
  const int lanes = static_cast<int>(std::min<int64_t>(L, w.y.channels - c));
  const int64_t y = run.row * P::m - w.tiles.pad_y, x = (run.column + t) * P::m - w.tiles.pad_x;
  for (int64_t first = 0; first < w.x.channels; first += L) {
    const int64_t count = std::min<int64_t>(L, w.x.channels - first);
    load_taps(w.filters, first, count, c, lanes, taps);
    for (int64_t input = 0; input < count; ++input) {
      const float* from = w.x.data + run.image * w.x.image_stride + (first + input) * w.x.channel_stride;
      float around[P::n][P::n];
      for (int64_t i = 0; i < P::n; ++i) {
        for (int64_t j = 0; j < P::n; ++j) {
          const bool inside = y + i >= 0 && y + i < w.x.height && x + j >= 0 && x + j < w.x.width;
          around[i][j] = inside ? from[(y + i) * w.x.row_stride + (x + j) * w.x.column_stride] : 0.0f;
        }
      }
      for (int tap = 0; tap < 9; ++tap) {
        const V weight = load(taps + (input * 9 + tap) * L);
        for (int i = 0; i < P::m; ++i)
          for (int j = 0; j < P::m; ++j) sums[i][j] += splat(around[i + tap / 3][j + tap % 3]) * weight;
      }
    }
  }
  for (int i = 0; i < P::m; ++i)
    for (int j = 0; j < P::m; ++j) store(pixels + (i * kRun * P::m + t * P::m + j) * L, sums[i][j]);
}

// Transforms products, stored like transforms, to the outputs of a run.
template <class P>
static void output_run(const WinogradLevel::Forward& w, const Run& run, int64_t c, const float* from, int64_t plane,
                       int64_t tile_stride) {
  alignas(64) float pixels[P::m * kRun * P::m * L];
  V zero{};  // unless something is not finite
  for (int64_t t = 0; t < run.count; ++t) {
    V half[P::n][P::m];
    CT_UNROLL for (int i = 0; i < P::n; ++i) {
      V in[P::n];
      CT_UNROLL for (int j = 0; j < P::n; ++j) in[j] = load(from + (i * P::n + j) * plane + t * tile_stride);
      P::output(in, half[i]);
    }
    CT_UNROLL for (int j = 0; j < P::m; ++j) {
      V in[P::n], result[P::m];
      CT_UNROLL for (int i = 0; i < P::n; ++i) in[i] = half[i][j];
      P::output(in, result);
      CT_UNROLL for (int i = 0; i < P::m; ++i) store(pixels + (i * kRun * P::m + t * P::m + j) * L, result[i]);
      V sum = result[0];
      CT_UNROLL for (int i = 1; i < P::m; ++i) sum += result[i];
      zero += sum * 0.0f;
    }
  }
  for (int64_t t = 0; !is_finite(zero) && t < run.count; ++t) {
    bool finite = true;
    for (int i = 0; i < P::m; ++i)
      for (int j = 0; j < P::m; ++j) finite &= is_finite(load(pixels + (i * kRun * P::m + t * P::m + j) * L));
    if (!finite) direct_tile<P>(w, run, t, c, pixels);
  }
  store_pixels<P::m>(w.y, w.store, run.image, run.row * P::m, run.column * P::m, run.count * P::m, c, pixels);
}

// ---- matrices ----

// Returns the distance between rows of channels: whole vectors, spread over the sets of a cache.
constexpr int64_t row_of_channels(int64_t channels) {
  const int64_t row = ceil_div(channels, 16) * 16;
  return row % 128 == 0 ? row + 16 : row;
}
// Returns the distance between matrices, spread over the sets of a cache.
constexpr int64_t plane_of(int64_t elements) { return ceil_div(elements, 32) * 32 + 16; }

// Products in one chain of sums. The rounding of these sums, which the transforms magnify, is most of the error.
// Shorter chains are more accurate but slower.
constexpr int64_t kChain = 64;

// c[i, j] = (or +=) sum over p < depth of a[i, p] b[p, j] for one panel of b, whose rows are NR elements.
CT_INLINE void multiply(int64_t rows, int64_t columns, int64_t depth, const float* a, int64_t a_rs, int64_t a_cs,
                        const float* b, float* c, int64_t c_rs, bool add) {
  const int vectors = static_cast<int>(ceil_div(columns, L));
  const int64_t step = ceil_div(rows, ceil_div(rows, kRows)), chain = ceil_div(depth, ceil_div(depth, kChain));
  for (int64_t i = 0; i < rows; i += step) {
    const int64_t height = std::min(step, rows - i);
    const Kernel<float> kernel = kKernels<float, false>.of[height - 1][vectors - 1];
    for (int64_t p = 0; p < depth; p += chain) {
      kernel({std::min(chain, depth - p), a + i * a_rs + p * a_cs, a_rs, a_cs, b + p * NR, NR, c + i * c_rs, c_rs,
              vectors * L, nullptr, nullptr, add || p > 0});
    }
  }
}

int64_t filter_plane_of(int64_t inputs) { return plane_of(inputs * NR); }

template <class P>
int64_t panel_size(int64_t inputs) {
  return P::n * P::n * filter_plane_of(inputs);
}

CT_INLINE void load_taps(const WinogradFilters& f, int64_t input, int64_t count, int64_t k, int lanes, float* out) {
  const float* from = f.data + input * f.input_stride + k * f.output_stride;
  const auto tap = [&](int t) { return from + t / 3 * f.row_stride + t % 3 * f.column_stride; };
  const bool straight = f.column_stride == 1 && f.row_stride == 3, turned = f.column_stride == -1 && f.row_stride == -3;
  if (f.output_stride == 1) {
    for (int64_t i = 0; i < count; ++i) {
      for (int t = 0; t < 9; ++t) {
        const float* x = tap(t) + i * f.input_stride;
        store(out + (i * 9 + t) * L, lanes == L ? load(x) : load_some(x, lanes));
      }
    }
  } else if (f.input_stride == 1 && count == L) {
    for (int t = 0; t < 9; ++t) transpose_block(tap(t), f.output_stride, lanes, out + t * L, 9 * L);
  } else if (straight || turned) {
    for (int64_t i = 0; i < count; ++i) {
      const float* nine = (turned ? tap(8) : from) + i * f.input_stride;
      alignas(64) float block[std::max(9, L) * L] = {};
      if constexpr (L > 9) {
        alignas(64) float lines[L * L];
        for (int l = 0; l < lanes; ++l) store(lines + l * L, load_some(nine + l * f.output_stride, 9));
        transpose_block(lines, L, lanes, block, L);
      } else {
        for (int t = 0; t + L <= 9; t += L) transpose_block(nine + t, f.output_stride, lanes, block + t * L, L);
        for (int l = 0; l < lanes; ++l) block[8 * L + l] = nine[8 + l * f.output_stride];
      }
      for (int t = 0; t < 9; ++t) store(out + (i * 9 + t) * L, load(block + (turned ? 8 - t : t) * L));
    }
  } else {
    for (int64_t i = 0; i < count; ++i)
      for (int t = 0; t < 9; ++t)
        for (int l = 0; l < L; ++l)
          out[(i * 9 + t) * L + l] = l < lanes ? tap(t)[i * f.input_stride + l * f.output_stride] : 0.0f;
  }
}

// Transforms filters of one panel and inputs [begin, end) to n * n matrices, `plane` apart.
template <class P>
CT_INLINE void transform_panel(const WinogradFilters& f, int64_t panel, int64_t begin, int64_t end, float* out,
                               int64_t plane) {
  alignas(64) float taps[9 * L * L];
  for (int64_t first = begin; first < end; first += L) {
    const int64_t count = std::min<int64_t>(L, end - first);
    for (int v = 0; v < kVectors; ++v) {
      const int64_t k = panel * NR + v * L;
      load_taps(f, first, count, k, static_cast<int>(std::clamp<int64_t>(f.outputs - k, 0, L)), taps);
      for (int64_t input = 0; input < count; ++input) {
        float* to = out + (first - begin + input) * NR + v * L;
        V half[P::n][3];
        CT_UNROLL for (int s = 0; s < 3; ++s) {
          V g[3], u[P::n];
          CT_UNROLL for (int r = 0; r < 3; ++r) g[r] = load(taps + (input * 9 + r * 3 + s) * L);
          P::filter(g, u);
          CT_UNROLL for (int i = 0; i < P::n; ++i) half[i][s] = u[i];
        }
        CT_UNROLL for (int i = 0; i < P::n; ++i) {
          V u[P::n];
          P::filter(half[i], u);
          CT_UNROLL for (int j = 0; j < P::n; ++j) store(to + (i * P::n + j) * plane, u[j]);
        }
      }
    }
  }
}

template <class P>
void transform_filters(const WinogradFilters& f, int64_t panel, int64_t begin, int64_t end, float* out) {
  transform_panel<P>(f, panel, begin, end, out + begin * NR, filter_plane_of(f.inputs));
}

// ---- one thread's share ----

using Forward = WinogradLevel::Forward;
using Backward = WinogradLevel::Backward;

// Layout of the scratch memory of a block of tiles.
struct ForwardPlan {
  explicit ForwardPlan(const Forward& w)
      : tiles(w.last_tile - w.first_tile),
        x_row(row_of_channels(w.x.channels)),
        x_plane(plane_of(tiles * x_row)),
        y_row(std::min(w.panels_at_a_time, w.last_panel - w.first_panel) * NR),
        y_plane(plane_of(tiles * y_row)),
        blocks(ceil_div(w.x.channels, w.transformed ? kBlockK : kInputsAtATime)),
        block(ceil_div(w.x.channels, blocks)),
        filter_plane(w.transformed ? filter_plane_of(w.x.channels) : filter_plane_of(block)) {}
  int64_t tiles, x_row, x_plane, y_row, y_plane;
  int64_t blocks, block;  // blocks of inputs, which bits depend on
  int64_t filter_plane;
};

template <class P>
int64_t forward_scratch(const Forward& w) {
  const ForwardPlan plan(w);
  return P::n * P::n * (plan.x_plane + plan.y_plane + (w.transformed ? 0 : plan.filter_plane));
}

template <class P>
void forward(const Forward& w, float* scratch) {
  const ForwardPlan plan(w);
  const int64_t tile_size = P::n * P::n;
  float* const x = scratch;
  float* const y = x + tile_size * plan.x_plane;
  float* const filters = y + tile_size * plan.y_plane;
  each_run(w.tiles, w.first_tile, w.last_tile, [&](const Run& run, int64_t place) {
    for (int64_t c = 0; c < w.x.channels; c += L)
      transform_run<InputTile<P>>(w.x, run, w.tiles.pad_y, w.tiles.pad_x, c, x + place * plan.x_row + c, plan.x_plane,
                                  plan.x_row);
  });
  for (int64_t p0 = w.first_panel; p0 < w.last_panel; p0 += w.panels_at_a_time) {
    const int64_t p1 = std::min(p0 + w.panels_at_a_time, w.last_panel);
    for (int64_t c = 0; c < w.x.channels; c += plan.block) {
      const int64_t inputs = std::min(plan.block, w.x.channels - c);
      const auto products = [&](int64_t i, int64_t p, const float* filters) {
        multiply(plan.tiles, std::min<int64_t>(NR, w.y.channels - p * NR), inputs, x + i * plan.x_plane + c, plan.x_row,
                 1, filters + i * plan.filter_plane, y + i * plan.y_plane + (p - p0) * NR, plan.y_row, c > 0);
      };
      if (w.transformed) {
        for (int64_t i = 0; i < tile_size; ++i)
          for (int64_t p = p0; p < p1; ++p)
            products(i, p, w.transformed + (p - w.first_panel) * panel_size<P>(w.x.channels) + c * NR);
        continue;
      }
      for (int64_t p = p0; p < p1; ++p) {
        transform_panel<P>(w.filters, p, c, c + inputs, filters, plan.filter_plane);
        for (int64_t i = 0; i < tile_size; ++i) products(i, p, filters);
      }
    }
    each_run(w.tiles, w.first_tile, w.last_tile, [&](const Run& run, int64_t place) {
      for (int64_t c = p0 * NR; c < std::min(p1 * NR, w.y.channels); c += L)
        output_run<P>(w, run, c, y + place * plan.y_row + c - p0 * NR, plan.y_plane, plan.y_row);
    });
  }
}

// Layout: tiles as panels of channels, kSumInputs of x's and NR of y's gradient, then their products.
struct BackwardPlan {
  explicit BackwardPlan(const Backward& w)
      : tiles(std::min(kWinogradSumTiles, w.last_tile - w.first_tile)),
        x_plane(plane_of(ceil_div(w.x.channels, kSumInputs) * kSumInputs * tiles)),
        y_plane(plane_of((w.last_panel - w.first_panel) * NR * tiles)),
        sum_plane(plane_of(kSumInputs * kSumPanels * NR)) {}
  int64_t tiles, x_plane, y_plane, sum_plane;
};

template <class P>
int64_t backward_scratch(const Backward& w) {
  const BackwardPlan plan(w);
  return P::n * P::n * (plan.x_plane + plan.y_plane + plan.sum_plane);
}

// Transforms `products` of kSumInputs × panels and adds them to the sums of all taps.
template <class P>
static void add_products(const float* products, int64_t plane, int64_t inputs, int64_t vectors, float* sums,
                         int64_t tap_stride, int64_t panel_stride, bool add) {
  for (int64_t c = 0; c < inputs; ++c) {
    for (int64_t v = 0; v < vectors; ++v) {
      const float* from = products + (c * kSumPanels * NR) + v * L;
      float* to = sums + v / kVectors * panel_stride + c * NR + v % kVectors * L;
      V half[P::n][3];
      CT_UNROLL for (int i = 0; i < P::n; ++i) {
        V u[P::n];
        CT_UNROLL for (int j = 0; j < P::n; ++j) u[j] = load(from + (i * P::n + j) * plane);
        P::filter_back(u, half[i]);
      }
      CT_UNROLL for (int s = 0; s < 3; ++s) {
        V u[P::n], g[3];
        CT_UNROLL for (int i = 0; i < P::n; ++i) u[i] = half[i][s];
        P::filter_back(u, g);
        CT_UNROLL for (int r = 0; r < 3; ++r) {
          float* tap = to + (r * 3 + s) * tap_stride;
          store(tap, add ? load(tap) + g[r] : g[r]);
        }
      }
    }
  }
}

template <class P>
void backward(const Backward& w, float* scratch) {
  const BackwardPlan plan(w);
  const int64_t tile_size = P::n * P::n;
  float* const x = scratch;
  float* const y = x + tile_size * plan.x_plane;
  float* const products = y + tile_size * plan.y_plane;
  const int64_t first_channel = w.first_panel * NR, last_channel = std::min(w.last_panel * NR, w.y.channels);
  const int64_t tap_stride = w.x.channels * NR, panel_stride = 9 * tap_stride;
  for (int64_t first = w.first_tile; first < w.last_tile; first += kWinogradSumTiles) {
    const int64_t last = std::min(first + kWinogradSumTiles, w.last_tile), tiles = last - first;
    each_run(w.tiles, first, last, [&](const Run& run, int64_t place) {
      // address of channel c of the run's first tile in panels of `width` channels
      const auto at = [&](float* panels, int64_t c, int64_t width) {
        return panels + (c / width * plan.tiles + place) * width + c % width;
      };
      for (int64_t c = 0; c < w.x.channels; c += L)
        transform_run<InputTile<P>>(w.x, run, w.tiles.pad_y, w.tiles.pad_x, c, at(x, c, kSumInputs), plan.x_plane,
                                    kSumInputs);
      for (int64_t c = first_channel; c < last_channel; c += L)
        transform_run<GradientTile<P>>(w.y, run, 0, 0, c, at(y, c - first_channel, NR), plan.y_plane, NR);
    });
    for (int64_t p0 = w.first_panel; p0 < w.last_panel; p0 += kSumPanels) {
      const int64_t p1 = std::min(p0 + kSumPanels, w.last_panel);
      for (int64_t c = 0; c < w.x.channels; c += kSumInputs) {
        const int64_t inputs = std::min(kSumInputs, w.x.channels - c);
        for (int64_t i = 0; i < tile_size; ++i) {
          for (int64_t p = p0; p < p1; ++p) {
            multiply(inputs, std::min<int64_t>(NR, w.y.channels - p * NR), tiles, x + i * plan.x_plane + c * plan.tiles,
                     1, kSumInputs, y + i * plan.y_plane + (p - w.first_panel) * plan.tiles * NR,
                     products + i * plan.sum_plane + (p - p0) * NR, kSumPanels * NR, false);
          }
        }
        add_products<P>(products, plan.sum_plane, inputs, ceil_div(std::min(p1 * NR, last_channel) - p0 * NR, L),
                        w.sums + (p0 - w.first_panel) * panel_stride + c * NR, tap_stride, panel_stride,
                        first > w.first_tile);
      }
    }
  }
}

// Stores one panel's filters of inputs [begin, end), from sums of `parts` parts.
void store_filters(const WinogradFilters& w, const float* sums, int64_t parts, int64_t part_size, int64_t panel,
                   int64_t begin, int64_t end, bool accumulate, std::uint8_t* missing) {
  alignas(64) float total[9 * L * NR], block[L * L];  // total: row i * 9 + t belongs to tap t of input i
  const bool side_by_side = w.column_stride == 1 && w.row_stride == 3 && w.input_stride == 9;
  for (int64_t c = begin; c < end; c += L) {
    const int64_t inputs = std::min<int64_t>(L, end - c);
    for (int64_t i = 0; i < inputs; ++i) {
      V zero[kVectors] = {};  // zero unless a valid output is not finite
      for (int64_t tap = 0; tap < 9; ++tap) {
        const float* from = sums + ((panel * 9 + tap) * w.inputs + c + i) * NR;
        for (int v = 0; v < kVectors; ++v) {
          V sum = load(from + v * L);
          for (int64_t part = 1; part < parts; ++part) sum += load(from + part * part_size + v * L);
          store(total + (i * 9 + tap) * NR + v * L, sum);
          zero[v] += sum * 0.0f;
        }
      }
      bool finite = true;
      for (int v = 0; v < kVectors; ++v)
        finite &= is_finite(zero[v], std::clamp<int64_t>(w.outputs - panel * NR - v * L, 0, L));
      if (finite) continue;
      missing[panel * w.inputs + c + i] = 1;
      for (int64_t j = 0; j < 9 * NR; j += L) store(total + i * 9 * NR + j, V{});
    }
    for (int v = 0; v < kVectors; ++v) {
      const int64_t k = panel * NR + v * L, lanes = std::clamp<int64_t>(w.outputs - k, 0, L);
      float* const to = w.data + k * w.output_stride + c * w.input_stride;
      const auto tap_place = [&](int64_t tap) { return tap / 3 * w.row_stride + tap % 3 * w.column_stride; };
      // n <= L rows of `total`, `distance` apart, become n contiguous elements of each filter
      const auto transpose = [&](int64_t row, int64_t distance, int n, int64_t place) {
        transpose_block(total + row * NR + v * L, distance * NR, L, block, L);
        for (int64_t l = 0; l < lanes; ++l) {
          float* line = to + l * w.output_stride + place;
          const V value = load(block + l * L);
          if (n == L) {
            store(line, accumulate ? load(line) + value : value);
          } else {
            store_some(line, accumulate ? load_some(line, n) + value : value, n);
          }
        }
      };
      if (side_by_side) {
        for (int64_t t = 0; t < 9 * inputs; t += L)
          transpose(t, 1, static_cast<int>(std::min<int64_t>(L, 9 * inputs - t)), t);
      } else if (w.input_stride == 1) {
        for (int64_t tap = 0; tap < 9; ++tap) transpose(tap, 9, static_cast<int>(inputs), tap_place(tap));
      } else {
        for (int64_t row = 0; row < 9 * inputs; ++row) {
          for (int64_t l = 0; l < lanes; ++l) {
            float& element = to[row / 9 * w.input_stride + tap_place(row % 9) + l * w.output_stride];
            const float value = total[row * NR + v * L + l];
            element = accumulate ? element + value : value;
          }
        }
      }
    }
  }
}

template <class P>
constexpr WinogradLevel kLevel = {
    {P::m, P::n, kRows, NR}, transform_filters<P>, panel_size<P>, forward_scratch<P>, forward<P>,
    backward_scratch<P>,     backward<P>,          store_filters};

}  // namespace

extern const WinogradLevel winograd_2;
extern const WinogradLevel winograd_4;
const WinogradLevel winograd_2 = kLevel<Points2>;
const WinogradLevel winograd_4 = kLevel<Points4>;

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
