#pragma once
// Private to the *.simd.cpp files of convolutions: where windows are, and copies of what they cover.

#include <algorithm>
#include <cstdint>

#include "catenary/backends/cpu/convolution_kernel.h"
#include "catenary/backends/cpu/gemm_micro.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

template <class T>
using Args = ConvolutionArgs<T>;

// Where a window is.
struct Place {
  int64_t x, y;   // offsets of its first tap, which may be in a pad, and of its result
  int64_t at[3];  // coordinates of its first tap
};

// Windows one after the other.
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
  /// How many there are from here to the end of the last axis.
  int64_t left() const { return g_.axes[2].count - c_; }
  /// n <= left().
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

inline bool inside(const ConvolutionAxis& axis, int64_t at) { return at >= 0 && at < axis.extent; }
struct Range {
  int64_t begin, end;
};
// Of `count` windows from one whose tap is at `at` of the last axis: those whose tap is inside the image.
inline Range windows_inside(const ConvolutionAxis& axis, int64_t at, int64_t count) {
  int64_t begin = -at, end = axis.extent - at;
  if (axis.stride != 1) begin = ceil_div(begin, axis.stride), end = ceil_div(end, axis.stride);
  begin = std::clamp<int64_t>(begin, 0, count);
  return {begin, std::clamp(end, begin, count)};
}
// From one line of a panel of k elements to the next, in whole cache lines.
constexpr int64_t line_length(int64_t k) { return (k + 31) / 16 * 16; }

// Up to a vector past the end of `to` is written.
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

// Every second element of two vectors.
template <class T, std::size_t... i>
CT_INLINE Vector<T> evens(Vector<T> a, Vector<T> b, std::index_sequence<i...>) {
  return __builtin_shufflevector(a, b, (2 * i)...);
}
template <class T>
CT_INLINE Vector<T> evens(Vector<T> a, Vector<T> b) {
  return evens<T>(a, b, std::make_index_sequence<kLanes<T>>());
}

// Elements `stride` apart, as copied().
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

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
