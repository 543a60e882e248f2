#pragma once
// Private: the loops of Fourier transforms (fft.cpp).

#include <cstdint>
#include <limits>

#include "catenary/core/cpu_features.h"

namespace catenary::cpu {

/// A pass (device/fft_plan.h) over several adjacent transforms, whose number is part of `stride`. The first pass may
/// multiply its input by factors: element t by factors[t] for t < count, and the rest is zero. Sign -1 conjugates the
/// factors.
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

/// Memory of the real or imaginary parts of complex numbers: element t of transform q is at offset `t * step + at(q)`.
/// Within a run of `run` transforms the distance is `near`, and runs are `far` apart. A null pointer means zeros.
struct FftPart {
  void* first;
  std::int64_t step, near;
  std::int64_t run = std::numeric_limits<std::int64_t>::max(), far = 0,
               begin = 0;  ///< begin: position of q = 0 in its run
  std::int64_t at(std::int64_t q) const { return (begin + q) / run * far + (begin + q) % run * near - begin * near; }
};
struct FftPlace {
  FftPart re, im;
};

// clang-format off
CT_SIMD_DECLARE(
  // Arrays are of double (f64) or float. In adjacent transforms, element t of transform q is at t * beside + q.

  /// Returns the elements of a vector.
  std::int64_t fft_lanes(bool f64);
  void fft_pass(bool f64, const FftPass& pass);
  void fft_load(bool f64, const FftPlace& from, std::int64_t n, std::int64_t beside, void* re, void* im);
  void fft_store(bool f64, const void* re, const void* im, std::int64_t n, std::int64_t beside, double scale,
                 const FftPlace& to);
  /// Multiplies element k of all transforms by table[k], for k < n.
  void fft_multiply(bool f64, void* re, void* im, const void* table, std::int64_t n, std::int64_t beside);
  /// Multiplies element k of transform q by table[k * step] and (turn_re, turn_im)[k * beside + q], for k < n.
  void fft_turn(bool f64, void* re, void* im, const void* table, std::int64_t step, const void* turn_re,
                const void* turn_im, std::int64_t n, std::int64_t beside);
)
// clang-format on

}  // namespace catenary::cpu
