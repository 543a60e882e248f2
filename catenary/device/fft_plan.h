#pragma once
// Private to the library: how a Fourier transform of a length is computed, for all backends.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "catenary/core/dtype.h"

namespace catenary {

/// Complex factors, real and imaginary parts in turn. They are computed in float64 and rounded once.
struct FftTable {
  std::vector<double> f64;
  std::vector<float> f32;

  explicit FftTable(std::vector<double> values = {});
  const void* data(Dtype dtype) const {
    return dtype == Dtype::float64 ? static_cast<const void*>(f64.data()) : f32.data();
  }
};

/// A transform of length n. One of small primes goes by passes (Stockham's order, by falling frequency): a pass of
/// radix r takes what is there as transforms of `length` elements, `stride` apart, and makes r times as many of length
/// / r:
///
///   m = length / r
///   y[q + stride (r p + k)] = w^(n / length * p k) sum over j of x[q + stride (p + m j)] w^(n / r * j k),
///                             w = exp(-2 pi i / n), for p < m, q < stride, k < r
///
/// Another one is a convolution with a chirp (Bluestein's): x times the chirp, of length `inner->n` with zeros, its
/// transform times the spectrum, back without a factor, times the chirp again.
struct FftPlan {
  std::int64_t n;
  std::vector<int> radices;              ///< of passes; empty for n = 1 and where there is a chirp
  FftTable roots;                        ///< w^j for j < n
  std::shared_ptr<const FftPlan> inner;  ///< null where there is no chirp
  FftTable chirp, spectrum;
};

/// Radices of compiled passes; a pass of another one is a loop. None is larger than kMostRadix.
inline constexpr int kMostRadix = 127;

/// The plan of a length of at least 1, of those that were lately in use or a new one.
std::shared_ptr<const FftPlan> fft_plan(std::int64_t n);

/// The two factors of n that are nearest to its root, the smaller one first: the lengths of the steps of a long
/// transform.
std::pair<std::int64_t, std::int64_t> factors_at_root(std::int64_t n);

/// exp(-2 pi i j / n) for j < n, each to about the last bit of float64: by octants, without recurrences.
std::vector<double> roots_of_unity(std::int64_t n);

}  // namespace catenary
