#pragma once
// Private: the loops of Fourier transforms (fft.cpp).

#include <cstdint>
#include <limits>

#include "catenary/core/cpu_features.h"

namespace catenary::cpu {

/// A pass (device/fft_plan.h) over several transforms side by side, which are counted in `stride`. A first one may have
/// factors of what it loads: element t times factors[t] for t < count, and zeros behind. A sign of -1 conjugates them.
struct FftPass {
  int radix;
  std::int64_t n, length, stride;
  const void* roots;
  const void *x_re, *x_im;
  void *y_re, *y_im;
  const void* factors = nullptr;
  std::int64_t count = 0;
  int sign = 1;
};

/// Where one part of complex numbers lies: element t of transform q is `t * step + at(q)` behind the first one: `run`
/// transforms lie `near` apart, and the next ones `far` behind. A part that is nowhere is zeros.
struct FftPart {
  void* first;
  std::int64_t step, near;
  std::int64_t run = std::numeric_limits<std::int64_t>::max(), far = 0, begin = 0;  ///< begin: of the run, where q is 0
  std::int64_t at(std::int64_t q) const { return (begin + q) / run * far + (begin + q) % run * near - begin * near; }
};
struct FftPlace {
  FftPart re, im;
};

// clang-format off
CT_SIMD_DECLARE(
  // Arrays are of double (f64) or float. Those of transforms side by side have element t of transform q at t * beside + q.

  /// Elements of a vector.
  std::int64_t fft_lanes(bool f64);
  void fft_pass(bool f64, const FftPass& pass);
  void fft_load(bool f64, const FftPlace& from, std::int64_t n, std::int64_t beside, void* re, void* im);
  void fft_store(bool f64, const void* re, const void* im, std::int64_t n, std::int64_t beside, double scale,
                 const FftPlace& to);
  /// Element k of all transforms times table[k], for k < n.
  void fft_multiply(bool f64, void* re, void* im, const void* table, std::int64_t n, std::int64_t beside);
  /// Element k of transform q times table[k * step] times (turn_re, turn_im)[k * beside + q], for k < n.
  void fft_turn(bool f64, void* re, void* im, const void* table, std::int64_t step, const void* turn_re,
                const void* turn_im, std::int64_t n, std::int64_t beside);
)
// clang-format on

}  // namespace catenary::cpu
