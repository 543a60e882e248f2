#pragma once
// Private to the *.simd.cpp files of convolutions: positions of windows, and copies of the elements that they cover.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "catenary/backends/cpu/convolution/convolution_kernel.h"
#include "catenary/backends/cpu/gemm/gemm_micro.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

template <class T>
using Args = ConvolutionArgs<T>;

// Position of a window.
struct Place {
  int64_t x, y;   // offsets of its first tap, possibly in padding, and of its result
  int64_t at[3];  // coordinates of its first tap
};

// Iterates over windows in order.
template <class T>
class Walk {
 public:
  Walk(const Args<T>& g, int64_t window) : g_(g), c_(window) {
    b_ = c_ / g.axes[2].count, c_ %= g.axes[2].count;
    a_ = b_ / g.axes[1].count, b_ %= g.axes[1].count;
    image_ = a_ / g.axes[0].count, a_ %= g.axes[0].count;
    place();
  }
  const Place& operator*() const { return now_; }
  /// Returns the number of windows up to the end of the last axis.
  int64_t left() const { return g_.axes[2].count - c_; }
  /// Advances by n <= left() windows.
  void advance(int64_t n) {
    const ConvolutionAxis& axis = g_.axes[2];
    c_ += n;
    if (c_ < axis.count) {
      now_.x += n * axis.stride * axis.x_step;
      now_.y += n * axis.y_step;
      now_.at[2] += n * axis.stride;
      return;
    }
    c_ = 0;
    if (++b_ == g_.axes[1].count) {
      b_ = 0;
      if (++a_ == g_.axes[0].count) a_ = 0, ++image_;
    }
    place();
  }

 private:
  void place() {
    const int64_t index[3] = {a_, b_, c_};
    now_.x = image_ * g_.x_image;
    now_.y = image_ * g_.y_image;
    for (int i = 0; i < 3; ++i) {
      const ConvolutionAxis& axis = g_.axes[i];
      now_.at[i] = index[i] * axis.stride - axis.pad;
      now_.x += now_.at[i] * axis.x_step;
      now_.y += index[i] * axis.y_step;
    }
  }
  const Args<T>& g_;
  int64_t image_ = 0, a_ = 0, b_ = 0, c_;
  Place now_;
};

// Adjacent windows along the last axis.
struct Row {
  Place first;
  int64_t count;
};

// Divides the windows [p0, p0 + k), k <= kBlockK, into rows.
template <class T>
static int rows_of(const Args<T>& g, int64_t p0, int64_t k, Row* rows) {
  int n = 0;
  for (Walk<T> walk(g, p0); k > 0; ++n) {
    const int64_t count = std::min(k, walk.left());
    rows[n] = {*walk, count};
    walk.advance(count);
    k -= count;
  }
  return n;
}

inline bool inside(const ConvolutionAxis& axis, int64_t at) { return at >= 0 && at < axis.extent; }
struct Range {
  int64_t begin, end;
};
// Among `count` windows, the first with a tap at coordinate `at` of the last axis, returns those whose tap is inside
// the image.
inline Range windows_inside(const ConvolutionAxis& axis, int64_t at, int64_t count) {
  int64_t begin = -at, end = axis.extent - at;
  if (axis.stride != 1) begin = ceil_div(begin, axis.stride), end = ceil_div(end, axis.stride);
  begin = std::clamp<int64_t>(begin, 0, count);
  return {begin, std::clamp(end, begin, count)};
}
// Distance between lines of a panel with k elements, in whole cache lines.
constexpr int64_t line_length(int64_t k) { return (k + 31) / 16 * 16; }

// Writes up to one vector past the end of `to`.
template <class T>
CT_INLINE T* zeros(T* to, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes<T>) store(to + i, Vector<T>{});
  return to + n;
}
template <class T>
CT_INLINE T* copied(T* to, const T* from, int64_t n) {
  constexpr int L = kLanes<T>;
  int64_t i = 0;
  for (; i + L <= n; i += L) store(to + i, load(from + i));
  if (i < n) store(to + i, load_some(from + i, static_cast<int>(n - i)));
  return to + n;
}

#if defined(__AVX512BW__)
CT_INLINE bfloat16* zeros(bfloat16* to, int64_t n) {
  for (int64_t i = 0; i < n; i += 32) _mm512_storeu_si512(to + i, _mm512_setzero_si512());
  return to + n;
}
CT_INLINE bfloat16* copied(bfloat16* to, const bfloat16* from, int64_t n) {
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) _mm512_storeu_si512(to + i, _mm512_loadu_si512(from + i));
  if (i < n) _mm512_storeu_si512(to + i, _mm512_maskz_loadu_epi16((1u << (n - i)) - 1, from + i));
  return to + n;
}
#endif

// Every second element of two vectors.
template <class T, std::size_t... i>
CT_INLINE Vector<T> evens(Vector<T> a, Vector<T> b, std::index_sequence<i...>) {
  return __builtin_shufflevector(a, b, (2 * i)...);
}
template <class T>
CT_INLINE Vector<T> evens(Vector<T> a, Vector<T> b) {
  return evens<T>(a, b, std::make_index_sequence<kLanes<T>>());
}

// copied() for elements `stride` apart.
template <class T>
static T* copied(T* to, const T* from, int64_t n, int64_t stride) {
  constexpr int L = kLanes<T>;
  if (stride == 1) return copied(to, from, n);
  int64_t i = 0;
  if (stride == 2) {
    for (; i + L < n; i += L) store(to + i, evens<T>(load(from + 2 * i), load(from + 2 * i + L)));
  }
  for (; i < n; ++i) to[i] = from[i * stride];
  return to + n;
}

// A tap or, with channels last, all taps along the last axis if their channels are one contiguous run.
struct Tap {
  int64_t x;      // offset from a window's first tap
  int64_t at[3];  // coordinates of this offset
};
template <class T>
struct Taps {
  std::vector<Tap> of;
  int64_t merged = 1;  // number of taps merged into each
  int64_t run;         // channels last: length of the contiguous run

  explicit Taps(const Args<T>& g) {
    const ConvolutionAxis &a = g.axes[0], &b = g.axes[1], &c = g.axes[2];
    if (g.channels_last && c.dilate == 1 && c.x_step == g.inputs) merged = std::max<int64_t>(1, c.taps);
    run = merged * g.inputs;
    of.reserve(static_cast<std::size_t>(g.taps() / merged));
    for (int64_t i = 0; i < a.taps; ++i)
      for (int64_t j = 0; j < b.taps; ++j)
        for (int64_t k = 0; k < c.taps; k += merged)
          of.push_back({i * a.dilate * a.x_step + j * b.dilate * b.x_step + k * c.dilate * c.x_step,
                        {i * a.dilate, j * b.dilate, k * c.dilate}});
  }
};

// Returns whether a window's tap is inside the image, ignoring the last axis.
template <class T>
inline bool inside(const Args<T>& g, const Place& place, const Tap& tap) {
  return inside(g.axes[0], place.at[0] + tap.at[0]) && inside(g.axes[1], place.at[1] + tap.at[1]);
}

// Returns the elements inside the image for a run of taps whose first tap is at `at` of the last axis.
template <class T>
inline Range elements_inside(const Args<T>& g, const Taps<T>& taps, int64_t at) {
  const int64_t begin = std::clamp<int64_t>(-at, 0, taps.merged);
  return {begin * g.inputs, std::clamp(g.axes[2].extent - at, begin, taps.merged) * g.inputs};
}

// Copies elements [p0, p0 + k) of window r to row r of `out`.
template <class T>
static void gather_windows(const Args<T>& g, const Taps<T>& taps, const Place* places, int rows, int64_t p0, int64_t k,
                           T* out, int64_t ld) {
  for (int r = 0; r < rows; ++r, out += ld) {
    const Place& place = places[r];
    const T* const x = g.x + place.x;
    T* to = out;
    int64_t begin = p0 % taps.run;
    const Tap* tap = taps.of.data() + p0 / taps.run;
    for (int64_t left = k; left > 0; begin = 0, ++tap) {
      const int64_t end = std::min(taps.run, begin + left);
      left -= end - begin;
      Range in{begin, begin};
      if (inside(g, place, *tap)) {
        in = elements_inside(g, taps, place.at[2] + tap->at[2]);
        in = {std::clamp(in.begin, begin, end), std::clamp(in.end, begin, end)};
      }
      if (in.begin > begin) to = zeros(to, in.begin - begin);
      to = copied(to, x + tap->x + in.begin, in.end - in.begin);
      if (in.end < end) to = zeros(to, end - in.end);
    }
  }
}

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
