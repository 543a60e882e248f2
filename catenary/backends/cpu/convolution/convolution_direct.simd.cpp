// Depthwise convolutions of one thread. They do little work per element, so speed depends on memory access. With
// contiguous channels, vectors hold channels, for several windows at once. Otherwise vectors hold windows, and the rows
// of a channel are first copied into the cache, with zeros for padding and, for a stride s, with every s-th element
// contiguous. This file is compiled with -ffp-contract=fast.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "catenary/backends/cpu/convolution/convolution_kernel.h"
#include "catenary/backends/cpu/convolution/convolution_walk.h"
#include "catenary/backends/cpu/gemm/gemm_micro.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

// The offset of a filter's element, and of the input that it multiplies in a row's first window.
struct Read {
  int64_t x, w;
};

// Calls f(i, j) for the taps of the first two axes that are inside the image for a window at `place`.
template <class T, class F>
CT_INLINE void each_tap_row(const Args<T>& g, const Place& place, const F& f) {
  for (int64_t i = 0; i < g.axes[0].taps; ++i) {
    if (!inside(g.axes[0], place.at[0] + i * g.axes[0].dilate)) continue;
    for (int64_t j = 0; j < g.axes[1].taps; ++j)
      if (inside(g.axes[1], place.at[1] + j * g.axes[1].dilate)) f(i, j);
  }
}

template <class T>
CT_INLINE Vector<T> positive(Vector<T> x) {
  return x < Vector<T>{} ? Vector<T>{} : x;
}

// ---- contiguous channels ----

// Channels are processed in chunks. Pixels of a chunk are spaced so that they do not share sets of the cache.
template <class T>
constexpr int64_t kChunk = 128 / sizeof(T);
template <class T>
constexpr int64_t kPixel = 192 / sizeof(T);

// Computes a chunk of the channels of kQ windows.
template <class T, int kQ>
static void windows_of_channels(const Args<T>& g, const Read* reads, int count, const T* x, const T* w, int64_t c,
                                int64_t channels, T* y) {
  constexpr int L = kLanes<T>;
  const int64_t x_step = g.axes[2].stride * kPixel<T>, y_step = g.axes[2].y_step;
  for (int64_t i = 0; i < channels; i += L) {
    Vector<T> sum[kQ] = {};
    for (const Read* read = reads; read < reads + count; ++read) {
      const Vector<T> factor = load(w + read->w + i);
      CT_UNROLL for (int q = 0; q < kQ; ++q) sum[q] += load(x + read->x + q * x_step + i) * factor;
    }
    const int n = static_cast<int>(std::min<int64_t>(L, channels - i));
    CT_UNROLL for (int q = 0; q < kQ; ++q) {
      T* const to = y + q * y_step + c + i;
      if (g.bias) sum[q] += n == L ? load(g.bias + c + i) : load_some(g.bias + c + i, n);
      if (g.accumulate) sum[q] += n == L ? load(to) : load_some(to, n);
      if (g.relu) sum[q] = positive<T>(sum[q]);
      n == L ? store(to, sum[q]) : store_some(to, sum[q], n);
    }
  }
}

// Cached rows of one chunk of an image's channels, with zeros for padding.
template <class T>
class Pixels {
 public:
  Pixels(const Args<T>& g, int64_t cache) : g_(g) {
    const ConvolutionAxis &b = g.axes[1], &c = g.axes[2];
    row_ = ((c.count - 1) * c.stride + std::max<int64_t>(0, c.taps - 1) * c.dilate + 1);
    const int64_t reach = std::max<int64_t>(0, b.taps - 1) * b.dilate + 1;
    const int64_t budget =
        cache / 2 / static_cast<int64_t>(sizeof(T)) / (row_ * kPixel<T> * std::max<int64_t>(1, g.axes[0].taps));
    rows = std::clamp<int64_t>((budget - reach) / b.stride + 1, 1, std::max<int64_t>(1, b.count));
    height_ = (rows - 1) * b.stride + reach;
  }
  int64_t scratch() const { return g_.axes[0].taps * height_ * row_ * kPixel<T> + kLanes<T>; }
  /// Copies the inputs of `row_count` rows of windows, the first at `place`, for channels [c, c + n).
  void fill(const Place& place, int64_t row_count, int64_t c, int64_t n, T* memory) {
    const ConvolutionAxis &a = g_.axes[0], &b = g_.axes[1], &axis = g_.axes[2];
    const int64_t begin = std::clamp<int64_t>(-place.at[2], 0, row_),
                  end = std::clamp<int64_t>(axis.extent - place.at[2], begin, row_);
    for (int64_t i = 0; i < a.taps; ++i) {
      if (!inside(a, place.at[0] + i * a.dilate)) continue;
      for (int64_t r = 0; r < height_ - (rows - row_count) * b.stride; ++r) {
        if (!inside(b, place.at[1] + r)) continue;
        const T* const x = g_.x + place.x + c + i * a.dilate * a.x_step + r * b.x_step;
        T* const to = memory + (i * height_ + r) * row_ * kPixel<T>;
        for (int64_t q = 0; q < begin; ++q) zeros(to + q * kPixel<T>, kChunk<T>);
        for (int64_t q = begin; q < end; ++q) copied(to + q * kPixel<T>, x + q * axis.x_step, n);
        for (int64_t q = end; q < row_; ++q) zeros(to + q * kPixel<T>, kChunk<T>);
      }
    }
  }
  /// Returns the offset at which the first window of a row reads a tap.
  int64_t at(int64_t row, int64_t i, int64_t j, int64_t k) const {
    return ((i * height_ + row * g_.axes[1].stride + j * g_.axes[1].dilate) * row_ + k * g_.axes[2].dilate) * kPixel<T>;
  }
  int64_t rows;  // number of rows of windows that fit

 private:
  const Args<T>& g_;
  int64_t row_, height_;
};

// Calls f(place, row) for the rows of windows of an image, once `pixels` contains their inputs for channels [c, c + n).
template <class T, class F>
CT_INLINE void each_row(const Args<T>& g, Pixels<T>& pixels, int64_t image, int64_t c, int64_t n, T* memory,
                        const F& f) {
  const int64_t planes = g.axes[0].count, rows = g.axes[1].count, windows = g.axes[2].count;
  for (int64_t p = 0; p < planes; ++p) {
    for (int64_t first = 0; first < rows; first += pixels.rows) {
      const int64_t count = std::min(pixels.rows, rows - first);
      Walk<T> walk(g, ((image * planes + p) * rows + first) * windows);
      pixels.fill(*walk, count, c, n, memory);
      for (int64_t row = 0; row < count; ++row, walk.advance(windows)) f(*walk, row);
    }
  }
}

template <class T>
static int64_t scratch_last(const Args<T>& g, int64_t cache) {
  return Pixels<T>(g, cache).scratch() + g.taps() * kChunk<T>;
}

// Computes one chunk of the channels, from c on, of one image.
template <class T>
static void forward_last(const Args<T>& g, int64_t channels, const T* w, int64_t image, int64_t c, int64_t cache,
                         T* scratch) {
  const ConvolutionAxis &b = g.axes[1], &axis = g.axes[2];
  const int64_t n = std::min(kChunk<T>, channels - c), x_step = axis.stride * kPixel<T>;
  T* const factors = scratch;  // [taps][chunk]
  T* const memory = scratch + g.taps() * kChunk<T>;
  for (int64_t t = 0; t < g.taps(); ++t) copied(factors + t * kChunk<T>, w + t * channels + c, n);
  Pixels<T> pixels(g, cache);
  std::vector<Read> reads;
  each_row(g, pixels, image, c, n, memory, [&](const Place& place, int64_t row) {
    reads.clear();
    each_tap_row(g, place, [&](int64_t i, int64_t j) {
      for (int64_t k = 0; k < axis.taps; ++k)
        reads.push_back({pixels.at(row, i, j, k), ((i * b.taps + j) * axis.taps + k) * kChunk<T>});
    });
    const int count = static_cast<int>(reads.size());
    T* const y = g.y + place.y;
    int64_t q = 0;
    for (; q + 4 <= axis.count; q += 4)
      windows_of_channels<T, 4>(g, reads.data(), count, memory + q * x_step, factors, c, n, y + q * axis.y_step);
    for (; q < axis.count; ++q)
      windows_of_channels<T, 1>(g, reads.data(), count, memory + q * x_step, factors, c, n, y + q * axis.y_step);
  });
}

// sums[k][c] += sum over n windows of y[c] x[k * tap_step + c], for two vectors of channels, of which `channels` are
// valid.
template <class T, int kTaps>
static void add_taps(T* sums, const T* y, int64_t y_step, const T* x, int64_t x_step, int64_t tap_step, int64_t n,
                     int channels) {
  constexpr int L = kLanes<T>;
  Vector<T> sum[kTaps][2];
  CT_UNROLL for (int k = 0; k < kTaps; ++k) {
    CT_UNROLL for (int v = 0; v < 2; ++v) sum[k][v] = load(sums + k * kChunk<T> + v * L);
  }
  const auto run = [&](auto&& get) __attribute__((always_inline)) {
    for (int64_t q = 0; q < n; ++q) {
      CT_UNROLL for (int v = 0; v < 2; ++v) {
        const Vector<T> gy = get(y + q * y_step + v * L, v);
        CT_UNROLL for (int k = 0; k < kTaps; ++k) sum[k][v] += gy * load(x + q * x_step + k * tap_step + v * L);
      }
    }
  };
  if (channels >= 2 * L) {
    run([](const T* p, int) __attribute__((always_inline)) { return load(p); });
  } else {
    const int real[2] = {std::min(channels, L), std::max(channels - L, 0)};
    run([&](const T* p, int v) __attribute__((always_inline)) { return load_some(p, real[v]); });
  }
  CT_UNROLL for (int k = 0; k < kTaps; ++k) {
    CT_UNROLL for (int v = 0; v < 2; ++v) store(sums + k * kChunk<T> + v * L, sum[k][v]);
  }
}

// Computes sums[taps][channels] of an image for a chunk of the channels from c.
template <class T>
static void to_filter_last(const Args<T>& g, int64_t channels, int64_t image, int64_t c, T* sums, int64_t cache,
                           T* scratch) {
  constexpr decltype(&add_taps<T, 1>) of[] = {add_taps<T, 1>, add_taps<T, 2>, add_taps<T, 3>, add_taps<T, 4>};
  const ConvolutionAxis &b = g.axes[1], &axis = g.axes[2];
  const int64_t n = std::min(kChunk<T>, channels - c);
  T* const mine = scratch;  // [taps][chunk]
  T* const memory = scratch + g.taps() * kChunk<T>;
  zeros(mine, g.taps() * kChunk<T>);
  Pixels<T> pixels(g, cache);
  each_row(g, pixels, image, c, n, memory, [&](const Place& place, int64_t row) {
    each_tap_row(g, place, [&](int64_t i, int64_t j) {
      for (int64_t k = 0; k < axis.taps; k += 4) {
        const int64_t taps = std::min<int64_t>(4, axis.taps - k);
        for (int64_t v = 0; v < n; v += 2 * kLanes<T>)
          of[taps - 1](mine + ((i * b.taps + j) * axis.taps + k) * kChunk<T> + v, g.y + place.y + c + v, axis.y_step,
                       memory + pixels.at(row, i, j, k) + v, axis.stride * kPixel<T>, axis.dilate * kPixel<T>,
                       axis.count, static_cast<int>(n - v));
      }
    });
  });
  for (int64_t t = 0; t < g.taps(); ++t)
    std::copy(mine + t * kChunk<T>, mine + t * kChunk<T> + n, sums + t * channels + c);
}

// ---- contiguous pixels along the last axis ----

// Cached rows of one group's inputs: for each phase of the stride, its elements from the first padding on.
template <class T>
class Band {
 public:
  explicit Band(const Args<T>& g, int64_t cache) : g_(g) {
    const ConvolutionAxis &b = g.axes[1], &c = g.axes[2];
    phases_ = std::clamp<int64_t>((c.taps - 1) * c.dilate + 1, 1, c.stride);
    columns_ =
        (c.count + std::max<int64_t>(0, c.taps - 1) * c.dilate / c.stride + 5 * kLanes<T>) / kLanes<T> * kLanes<T>;
    step = phases_ * columns_;
    planes_ = g.inputs * g.axes[0].taps;
    const int64_t reach = std::max<int64_t>(0, b.taps - 1) * b.dilate + 1;
    const int64_t budget = cache / 3 / static_cast<int64_t>(sizeof(T)) / (std::max<int64_t>(1, planes_) * step);
    rows = std::clamp<int64_t>((budget - reach) / b.stride + 1, 1, std::max<int64_t>(1, b.count));
    height_ = (rows - 1) * b.stride + reach;
  }
  int64_t scratch() const { return planes_ * height_ * step + kLanes<T>; }
  /// Copies the inputs of `row_count` rows of windows, the first at `place`.
  void fill(const Place& place, int64_t row_count, T* memory) {
    const ConvolutionAxis &a = g_.axes[0], &b = g_.axes[1], &c = g_.axes[2];
    const int64_t height = height_ - (rows - row_count) * b.stride;
    for (int64_t plane = 0; plane < planes_; ++plane) {
      const int64_t i = plane % a.taps;
      if (!inside(a, place.at[0] + i * a.dilate)) continue;
      // An index rather than a pointer: in padding there is no element to point at, and an input may be empty.
      const int64_t x = plane / a.taps * g_.x_channel + place.x - place.at[2] + i * a.dilate * a.x_step;
      for (int64_t r = 0; r < height; ++r) {
        if (!inside(b, place.at[1] + r)) continue;
        for (int64_t phase = 0; phase < phases_; ++phase) {
          const int64_t at = place.at[2] + phase;
          const Range in = windows_inside(c, at, columns_);
          T* const to = memory + (plane * height_ + r) * step + phase * columns_;
          std::fill(to, to + in.begin, T(0));
          if (in.begin < in.end)
            copied(to + in.begin, g_.x + (x + r * b.x_step + at + in.begin * c.stride), in.end - in.begin, c.stride);
          std::fill(to + in.end, to + columns_, T(0));
        }
      }
    }
  }
  /// Returns the offset at which the first window of the band's first row reads a tap. Later windows' elements follow.
  int64_t at(int64_t channel, int64_t i, int64_t j, int64_t k) const {
    const int64_t tap = k * g_.axes[2].dilate, stride = g_.axes[2].stride;
    return ((channel * g_.axes[0].taps + i) * height_ + j * g_.axes[1].dilate) * step + tap % stride * columns_ +
           tap / stride;
  }
  int64_t rows;  // number of rows of windows that fit
  int64_t step;  // distance between rows of elements

 private:
  const Args<T>& g_;
  int64_t phases_, columns_, planes_, height_;
};

// Stores results that are not contiguous.
template <class T>
[[gnu::noinline]] static void put_apart(const T* from, int n, T* to, int64_t step, bool accumulate, bool relu) {
  for (int i = 0; i < n; ++i, to += step) {
    const T value = accumulate ? *to + from[i] : from[i];
    *to = relu && value < 0 ? T(0) : value;
  }
}

// Computes a row of windows of kM outputs, kV vectors at a time.
template <class T, int kM, int kV>
static void outputs_of_row(const Args<T>& g, const Read* reads, int count, const T* x, const T* w, int64_t w_row,
                           const T* bias, T* y) {
  constexpr int L = kLanes<T>;
  const int64_t windows = g.axes[2].count, y_step = g.axes[2].y_step;
  for (int64_t q = 0; q < windows; q += kV * L) {
    Vector<T> sum[kM][kV] = {};
    for (const Read* read = reads; read < reads + count; ++read) {
      Vector<T> row[kV];
      CT_UNROLL for (int v = 0; v < kV; ++v) row[v] = load(x + read->x + q + v * L);
      CT_UNROLL for (int m = 0; m < kM; ++m) {
        const Vector<T> factor = splat(w[m * w_row + read->w]);
        CT_UNROLL for (int v = 0; v < kV; ++v) sum[m][v] += row[v] * factor;
      }
    }
    CT_UNROLL for (int m = 0; m < kM; ++m) {
      CT_UNROLL for (int v = 0; v < kV; ++v) {
        const int n = static_cast<int>(std::min<int64_t>(windows - q - v * L, L));
        if (n <= 0) continue;
        T* const to = y + m * g.y_channel + (q + v * L) * y_step;
        Vector<T> value = sum[m][v] + splat(bias ? bias[m] : T(0));
        if (y_step == 1) {
          if (g.accumulate) value += n == L ? load(to) : load_some(to, n);
          if (g.relu) value = positive<T>(value);
          n == L ? store(to, value) : store_some(to, value, n);
          continue;
        }
        alignas(64) T lanes[L];
        store(lanes, value);
        put_apart(lanes, n, to, y_step, g.accumulate, g.relu);
      }
    }
  }
}

// Computes outputs [begin, end) of one image and one group.
template <class T>
static void forward_first(const Args<T>& g, const T* w, int64_t w_row, int64_t image, int64_t begin, int64_t end,
                          int64_t cache, T* scratch) {
  constexpr decltype(&outputs_of_row<T, 1, 1>) narrow[] = {outputs_of_row<T, 1, 1>, outputs_of_row<T, 2, 1>,
                                                           outputs_of_row<T, 3, 1>, outputs_of_row<T, 4, 1>,
                                                           outputs_of_row<T, 5, 1>, outputs_of_row<T, 6, 1>},
                                               wide[] = {outputs_of_row<T, 1, 4>, outputs_of_row<T, 2, 2>,
                                                         outputs_of_row<T, 3, 2>, outputs_of_row<T, 4, 2>,
                                                         outputs_of_row<T, 5, 2>, outputs_of_row<T, 6, 2>};
  const ConvolutionAxis &a = g.axes[0], &b = g.axes[1], &c = g.axes[2];
  const auto& kernels = c.count <= kLanes<T> ? narrow : wide;
  Band<T> band(g, cache);
  std::vector<Read> reads;
  for (int64_t p = 0; p < a.count; ++p) {
    Range of_reads{-1, -1};  // the range of the second axis's taps that `reads` is for
    for (int64_t first = 0; first < b.count; first += band.rows) {
      const int64_t rows = std::min(band.rows, b.count - first);
      Walk<T> walk(g, ((image * a.count + p) * b.count + first) * c.count);
      band.fill(*walk, rows, scratch);
      for (int64_t row = 0; row < rows; ++row, walk.advance(c.count)) {
        const Place& place = *walk;
        Range taps{0, b.taps};
        while (taps.begin < taps.end && place.at[1] + taps.begin * b.dilate < 0) ++taps.begin;
        while (taps.end > taps.begin && place.at[1] + (taps.end - 1) * b.dilate >= b.extent) --taps.end;
        if (taps.begin != of_reads.begin || taps.end != of_reads.end) {
          of_reads = taps;
          reads.clear();
          for (int64_t channel = 0; channel < g.inputs; ++channel)
            for (int64_t i = 0; i < a.taps; ++i)
              for (int64_t j = taps.begin; j < taps.end && inside(a, place.at[0] + i * a.dilate); ++j)
                for (int64_t k = 0; k < c.taps; ++k)
                  reads.push_back({band.at(channel, i, j, k), ((channel * a.taps + i) * b.taps + j) * c.taps + k});
        }
        for (int64_t m = begin; m < end; m += 6) {
          const int64_t outputs = std::min<int64_t>(6, end - m);
          kernels[outputs - 1](g, reads.data(), static_cast<int>(reads.size()), scratch + row * b.stride * band.step,
                               w + m * w_row, w_row, g.bias ? g.bias + m : nullptr, g.y + m * g.y_channel + place.y);
        }
      }
    }
  }
}

// sums[k] += sum over n windows of y x[k].
template <class T, int kTaps>
static void add_dots(T* sums, const T* y, const T* const* x, int64_t n) {
  constexpr int L = kLanes<T>;
  Vector<T> sum[kTaps] = {};
  const T* from[kTaps];
  CT_UNROLL for (int k = 0; k < kTaps; ++k) from[k] = x[k];
  int64_t q = 0;
  for (; q + L <= n; q += L) {
    const Vector<T> gy = load(y + q);
    CT_UNROLL for (int k = 0; k < kTaps; ++k) sum[k] += gy * load(from[k] + q);
  }
  if (q < n) {
    const int rest = static_cast<int>(n - q);
    const Vector<T> gy = load_some(y + q, rest);
    CT_UNROLL for (int k = 0; k < kTaps; ++k) sum[k] += gy * load_some(from[k] + q, rest);
  }
  CT_UNROLL for (int k = 0; k < kTaps; ++k) {
    for (int l = 0; l < L; ++l) sums[k] += sum[k][l];
  }
}

// Computes sums[taps] of a group with one channel, for one image.
template <class T>
static void to_filter_first(const Args<T>& g, int64_t image, T* sums, int64_t cache, T* scratch) {
  const ConvolutionAxis &a = g.axes[0], &b = g.axes[1], &c = g.axes[2];
  constexpr decltype(&add_dots<T, 1>) of[] = {add_dots<T, 1>, add_dots<T, 2>, add_dots<T, 3>, add_dots<T, 4>};
  Band<T> band(g, cache);
  std::fill(sums, sums + g.taps(), T(0));
  for (int64_t p = 0; p < a.count; ++p) {
    for (int64_t first = 0; first < b.count; first += band.rows) {
      const int64_t rows = std::min(band.rows, b.count - first);
      Walk<T> walk(g, ((image * a.count + p) * b.count + first) * c.count);
      band.fill(*walk, rows, scratch);
      for (int64_t row = 0; row < rows; ++row, walk.advance(c.count)) {
        each_tap_row(g, *walk, [&](int64_t i, int64_t j) {
          for (int64_t k0 = 0; k0 < c.taps; k0 += 4) {
            const int taps = static_cast<int>(std::min<int64_t>(4, c.taps - k0));
            const T* x[4] = {};
            for (int k = 0; k < taps; ++k) x[k] = scratch + row * b.stride * band.step + band.at(0, i, j, k0 + k);
            of[taps - 1](sums + (i * b.taps + j) * c.taps + k0, g.y + (*walk).y, x, c.count);
          }
        });
      }
    }
  }
}

template <class T>
static int64_t scratch(const Args<T>& g, int64_t cache) {
  return Band<T>(g, cache).scratch();
}

template <class T>
constexpr DirectLevel<T> kLevel = {kChunk<T>,  scratch_last<T>,  forward_last<T>,   to_filter_last<T>,
                                   scratch<T>, forward_first<T>, to_filter_first<T>};

}  // namespace

extern const DirectLevel<float> direct_float;
extern const DirectLevel<double> direct_double;
const DirectLevel<float> direct_float = kLevel<float>;
const DirectLevel<double> direct_double = kLevel<double>;

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
