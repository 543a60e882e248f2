// Convolutions of one thread with a filter for each channel: they do so little with each element that all depends on
// how memory is read. Channels side by side: vectors are channels, of several windows at once. Else vectors are
// windows, and the rows of a channel that are read are first copied into the cache, with zeros for the pads and, for a
// stride s, each s-th element side by side. This file is compiled with -ffp-contract=fast.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "catenary/backends/cpu/convolution_kernel.h"
#include "catenary/backends/cpu/convolution_walk.h"
#include "catenary/backends/cpu/gemm_micro.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

// A tap that a window reads: its offset in x, and its element of the filter.
template <class T>
struct Read {
  int64_t x;
  const T* w;
  int64_t at;  // coordinate along the last axis
};

// Calls f(i, j) for the taps of the first two axes that are inside the image for a window there.
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

// ---- channels side by side ----

// All channels of kQ windows.
template <class T, int kQ>
static void windows_of_channels(const Args<T>& g, int64_t channels, const Read<T>* reads, int count, const T* x,
                                int64_t x_step, T* y, int64_t y_step) {
  constexpr int L = kLanes<T>;
  const auto vector = [&](int64_t c, auto&& get, auto&& put) __attribute__((always_inline)) {
    Vector<T> sum[kQ] = {};
    if (g.accumulate) {
      CT_UNROLL for (int q = 0; q < kQ; ++q) sum[q] = get(y + q * y_step + c);
    }
    if (g.bias) {
      CT_UNROLL for (int q = 0; q < kQ; ++q) sum[q] += get(g.bias + c);
    }
    for (const Read<T>* read = reads; read < reads + count; ++read) {
      const Vector<T> w = get(read->w + c);
      CT_UNROLL for (int q = 0; q < kQ; ++q) sum[q] += get(x + read->x + q * x_step + c) * w;
    }
    if (g.relu) {
      CT_UNROLL for (int q = 0; q < kQ; ++q) sum[q] = positive<T>(sum[q]);
    }
    CT_UNROLL for (int q = 0; q < kQ; ++q) put(y + q * y_step + c, sum[q]);
  };
  int64_t c = 0;
  for (; c + L <= channels; c += L)
    vector(
        c, [](const T* p) __attribute__((always_inline)) { return load(p); },
        [](T * p, Vector<T> v) __attribute__((always_inline)) { store(p, v); });
  const int rest = static_cast<int>(channels - c);
  if (rest > 0)
    vector(
        c, [&](const T* p) __attribute__((always_inline)) { return load_some(p, rest); },
        [&](T * p, Vector<T> v) __attribute__((always_inline)) { store_some(p, v, rest); });
}

// Rows of windows [begin, end).
template <class T>
static void forward_last(const Args<T>& g, int64_t channels, const T* w, int64_t begin, int64_t end) {
  const ConvolutionAxis& axis = g.axes[2];
  const int64_t x_step = axis.stride * axis.x_step, y_step = axis.y_step;
  std::vector<Read<T>> all, some;
  for (int64_t row = begin; row < end; ++row) {
    const Place place = *Walk<T>(g, row * axis.count);
    all.clear();
    Range in{0, axis.count};  // windows with all of their taps inside
    each_tap_row(g, place, [&](int64_t i, int64_t j) {
      for (int64_t k = 0; k < axis.taps; ++k) {
        const int64_t tap = (i * g.axes[1].taps + j) * axis.taps + k;
        all.push_back({i * g.axes[0].dilate * g.axes[0].x_step + j * g.axes[1].dilate * g.axes[1].x_step +
                           k * axis.dilate * axis.x_step,
                       w + tap * channels, place.at[2] + k * axis.dilate});
        const Range windows = windows_inside(axis, all.back().at, axis.count);
        in = {std::max(in.begin, windows.begin), std::min(in.end, windows.end)};
      }
    });
    in.end = std::max(in.begin, in.end);
    const T* const x = g.x + place.x;
    T* const y = g.y + place.y;
    const auto border = [&](int64_t q) {
      some.clear();
      for (const Read<T>& read : all)
        if (inside(axis, read.at + q * axis.stride)) some.push_back(read);
      windows_of_channels<T, 1>(g, channels, some.data(), static_cast<int>(some.size()), x + q * x_step, x_step,
                                y + q * y_step, y_step);
    };
    int64_t q = 0;
    for (; q < in.begin; ++q) border(q);
    const int count = static_cast<int>(all.size());
    for (; q + 4 <= in.end; q += 4)
      windows_of_channels<T, 4>(g, channels, all.data(), count, x + q * x_step, x_step, y + q * y_step, y_step);
    for (; q < in.end; ++q)
      windows_of_channels<T, 1>(g, channels, all.data(), count, x + q * x_step, x_step, y + q * y_step, y_step);
    for (; q < axis.count; ++q) border(q);
  }
}

// sums[k * sums_step + c] += the sum over n windows of y[c] x[k * tap_step + c], for two vectors of channels,
// `channels` of them real.
template <class T, int kTaps>
static void add_taps(T* sums, int64_t sums_step, const T* y, int64_t y_step, const T* x, int64_t x_step,
                     int64_t tap_step, int64_t n, int channels) {
  constexpr int L = kLanes<T>;
  const auto run = [&](auto&& get, auto&& put) __attribute__((always_inline)) {
    Vector<T> sum[kTaps][2];
    CT_UNROLL for (int k = 0; k < kTaps; ++k) {
      CT_UNROLL for (int v = 0; v < 2; ++v) sum[k][v] = get(sums + k * sums_step + v * L, v);
    }
    for (int64_t q = 0; q < n; ++q) {
      CT_UNROLL for (int v = 0; v < 2; ++v) {
        const Vector<T> gy = get(y + q * y_step + v * L, v);
        CT_UNROLL for (int k = 0; k < kTaps; ++k) sum[k][v] += gy * get(x + q * x_step + k * tap_step + v * L, v);
      }
    }
    CT_UNROLL for (int k = 0; k < kTaps; ++k) {
      CT_UNROLL for (int v = 0; v < 2; ++v) put(sums + k * sums_step + v * L, sum[k][v], v);
    }
  };
  if (channels >= 2 * L)
    return run(
        [](const T* p, int) __attribute__((always_inline)) { return load(p); },
        [](T * p, Vector<T> x, int) __attribute__((always_inline)) { store(p, x); });
  const int real[2] = {std::min(channels, L), std::max(channels - L, 0)};
  run(
      [&](const T* p, int v) __attribute__((always_inline)) { return load_some(p, real[v]); },
      [&](T * p, Vector<T> x, int v) __attribute__((always_inline)) { store_some(p, x, real[v]); });
}

template <class T>
static void add_taps(int taps, T* sums, int64_t sums_step, const T* y, int64_t y_step, const T* x, int64_t x_step,
                     int64_t tap_step, int64_t n, int channels) {
  constexpr decltype(&add_taps<T, 1>) of[] = {add_taps<T, 1>, add_taps<T, 2>, add_taps<T, 3>, add_taps<T, 4>};
  if (n > 0) of[taps - 1](sums, sums_step, y, y_step, x, x_step, tap_step, n, channels);
}

// sums[taps][channels] of an image, for two vectors of channels from c.
template <class T>
static void to_filter_last(const Args<T>& g, int64_t channels, int64_t image, int64_t c, T* sums) {
  const ConvolutionAxis& axis = g.axes[2];
  const int64_t x_step = axis.stride * axis.x_step, tap_step = axis.dilate * axis.x_step;
  const int real = static_cast<int>(std::min<int64_t>(2 * kLanes<T>, channels - c));
  const int64_t rows = g.windows() / axis.count;
  for (int64_t t = 0; t < g.taps(); ++t) std::fill(sums + t * channels + c, sums + t * channels + c + real, T(0));
  for (int64_t row = 0; row < rows; ++row) {
    const Place place = *Walk<T>(g, (image * rows + row) * axis.count);
    const T* const y = g.y + place.y + c;
    each_tap_row(g, place, [&](int64_t i, int64_t j) {
      for (int64_t k0 = 0; k0 < axis.taps; k0 += 4) {
        const int taps = static_cast<int>(std::min<int64_t>(4, axis.taps - k0));
        const T* const x = g.x + place.x + c + i * g.axes[0].dilate * g.axes[0].x_step +
                           j * g.axes[1].dilate * g.axes[1].x_step + k0 * tap_step;
        T* const to = sums + ((i * g.axes[1].taps + j) * axis.taps + k0) * channels + c;
        Range each[4], all{0, axis.count};
        for (int k = 0; k < taps; ++k) {
          each[k] = windows_inside(axis, place.at[2] + (k0 + k) * axis.dilate, axis.count);
          all = {std::max(all.begin, each[k].begin), std::min(all.end, each[k].end)};
        }
        all.end = std::max(all.begin, all.end);
        const auto add = [&](int k, int n, int64_t begin, int64_t end) {
          add_taps(n, to + k * channels, channels, y + begin * axis.y_step, axis.y_step,
                   x + begin * x_step + k * tap_step, x_step, tap_step, end - begin, real);
        };
        add(0, taps, all.begin, all.end);
        for (int k = 0; k < taps; ++k) {
          add(k, 1, each[k].begin, std::min(each[k].end, all.begin));
          add(k, 1, std::max(each[k].begin, all.end), each[k].end);
        }
      }
    });
  }
}

// ---- neighbours along the last axis side by side ----

// Rows of one group's inputs in the cache: for each phase of the stride the elements that it meets, from the first pad
// on.
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
  /// Copies what `row_count` rows of windows read, of which the first begins at `place`.
  void fill(const Place& place, int64_t row_count, T* memory) {
    const ConvolutionAxis &a = g_.axes[0], &b = g_.axes[1], &c = g_.axes[2];
    const int64_t height = height_ - (rows - row_count) * b.stride;
    for (int64_t plane = 0; plane < planes_; ++plane) {
      const int64_t i = plane % a.taps;
      if (!inside(a, place.at[0] + i * a.dilate)) continue;
      const T* const x = g_.x + plane / a.taps * g_.x_channel + place.x - place.at[2] + i * a.dilate * a.x_step;
      for (int64_t r = 0; r < height; ++r) {
        if (!inside(b, place.at[1] + r)) continue;
        const T* const from = x + r * b.x_step;
        for (int64_t phase = 0; phase < phases_; ++phase) {
          const int64_t at = place.at[2] + phase;
          const Range in = windows_inside(c, at, columns_);
          T* const to = memory + (plane * height_ + r) * step + phase * columns_;
          std::fill(to, to + in.begin, T(0));
          copied(to + in.begin, from + at + in.begin * c.stride, in.end - in.begin, c.stride);
          std::fill(to + in.end, to + columns_, T(0));
        }
      }
    }
  }
  /// Where the first window of the band's first row reads a tap; the next windows' elements follow.
  int64_t at(int64_t channel, int64_t i, int64_t j, int64_t k) const {
    const int64_t tap = k * g_.axes[2].dilate, stride = g_.axes[2].stride;
    return ((channel * g_.axes[0].taps + i) * height_ + j * g_.axes[1].dilate) * step + tap % stride * columns_ +
           tap / stride;
  }
  int64_t rows;  // of windows that fit
  int64_t step;  // from one row of elements to the next

 private:
  const Args<T>& g_;
  int64_t phases_, columns_, planes_, height_;
};

// An element of the filter, and where in a band it meets a row's first window.
struct Line {
  int64_t x, w;
};

// A row of windows of kM outputs, by kV vectors at once.
template <class T, int kM, int kV>
static void outputs_of_row(const Args<T>& g, const Line* lines, int count, const T* x, const T* w, int64_t w_row,
                           const T* bias, T* y) {
  constexpr int L = kLanes<T>;
  const int64_t windows = g.axes[2].count, y_step = g.axes[2].y_step;
  for (int64_t q = 0; q < windows; q += kV * L) {
    Vector<T> sum[kM][kV] = {};
    for (const Line* line = lines; line < lines + count; ++line) {
      Vector<T> row[kV];
      CT_UNROLL for (int v = 0; v < kV; ++v) row[v] = load(x + line->x + q + v * L);
      CT_UNROLL for (int m = 0; m < kM; ++m) {
        const Vector<T> factor = splat(w[m * w_row + line->w]);
        CT_UNROLL for (int v = 0; v < kV; ++v) sum[m][v] += row[v] * factor;
      }
    }
    CT_UNROLL for (int m = 0; m < kM; ++m) {
      CT_UNROLL for (int v = 0; v < kV; ++v) {
        const int n = static_cast<int>(std::clamp<int64_t>(windows - q - v * L, 0, L));
        T* const to = y + m * g.y_channel + (q + v * L) * y_step;
        Vector<T> value = sum[m][v] + splat(bias ? bias[m] : T(0));
        if (y_step == 1) {
          if (g.accumulate) value += n == L ? load(to) : load_some(to, n);
          if (g.relu) value = positive<T>(value);
          n == L ? store(to, value) : store_some(to, value, n);
          continue;
        }
        for (int l = 0; l < n; ++l) {
          const T element = g.accumulate ? to[l * y_step] + value[l] : value[l];
          to[l * y_step] = g.relu && element < 0 ? T(0) : element;
        }
      }
    }
  }
}

// Outputs [begin, end) of one image, of one group.
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
  std::vector<Line> lines;
  for (int64_t p = 0; p < a.count; ++p) {
    Range of_lines{-1, -1};  // the taps of the second axis that they are for
    for (int64_t first = 0; first < b.count; first += band.rows) {
      const int64_t rows = std::min(band.rows, b.count - first);
      Walk<T> walk(g, ((image * a.count + p) * b.count + first) * c.count);
      band.fill(*walk, rows, scratch);
      for (int64_t row = 0; row < rows; ++row, walk.advance(c.count)) {
        const Place& place = *walk;
        Range taps{0, b.taps};
        while (taps.begin < taps.end && place.at[1] + taps.begin * b.dilate < 0) ++taps.begin;
        while (taps.end > taps.begin && place.at[1] + (taps.end - 1) * b.dilate >= b.extent) --taps.end;
        if (taps.begin != of_lines.begin || taps.end != of_lines.end) {
          of_lines = taps;
          lines.clear();
          for (int64_t channel = 0; channel < g.inputs; ++channel)
            for (int64_t i = 0; i < a.taps; ++i)
              for (int64_t j = taps.begin; j < taps.end && inside(a, place.at[0] + i * a.dilate); ++j)
                for (int64_t k = 0; k < c.taps; ++k)
                  lines.push_back({band.at(channel, i, j, k), ((channel * a.taps + i) * b.taps + j) * c.taps + k});
        }
        for (int64_t m = begin; m < end; m += 6) {
          const int64_t outputs = std::min<int64_t>(6, end - m);
          kernels[outputs - 1](g, lines.data(), static_cast<int>(lines.size()), scratch + row * b.stride * band.step,
                               w + m * w_row, w_row, g.bias ? g.bias + m : nullptr, g.y + m * g.y_channel + place.y);
        }
      }
    }
  }
}

// sums[k] += the sum over n windows of y x[k].
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

// sums[taps] of one group of one channel, of one image.
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
constexpr DirectLevel<T> kLevel = {2 * kLanes<T>, forward_last<T>,  to_filter_last<T>,
                                   scratch<T>,    forward_first<T>, to_filter_first<T>};

}  // namespace

extern const DirectLevel<float> direct_float;
extern const DirectLevel<double> direct_double;
const DirectLevel<float> direct_float = kLevel<float>;
const DirectLevel<double> direct_double = kLevel<double>;

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
