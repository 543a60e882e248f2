#pragma once
// Private: the loops of Fourier transforms (fft.cpp).

#include <cstdint>

#include "catenary/core/cpu_features.h"

namespace catenary::cpu {

/// A pass (device/fft_plan.h) over several transforms side by side, which are counted in `stride`.
struct FftPass {
  int radix;
  std::int64_t n, length, stride;
  const void* roots;
  const void *x_re, *x_im;
  void *y_re, *y_im;
};

// clang-format off
CT_SIMD_DECLARE(
  /// Arrays are of double (f64) or float.
  void fft_pass(bool f64, const FftPass& pass);
  /// (re, im)[k * beside + q] *= table[k] for k < n, q < beside.
  void fft_multiply(bool f64, void* re, void* im, const void* table, std::int64_t n, std::int64_t beside);
)
// clang-format on

}  // namespace catenary::cpu
