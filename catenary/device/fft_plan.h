#pragma once
// Private to the library: how backends compute a Fourier transform of a given length.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "catenary/core/dtype.h"

namespace catenary {

/// Complex factors with real and imaginary parts interleaved, computed in float64 and rounded once.
struct FftTable {
  std::vector<double> f64;
  std::vector<float> f32;

  explicit FftTable(std::vector<double> values = {});
  const void* data(Dtype dtype) const {
    return dtype == Dtype::float64 ? static_cast<const void*>(f64.data()) : f32.data();
  }
};

/// A transform of length n. If n has only small prime factors, it runs in passes (Stockham, decimation in frequency). A
/// pass of radix r takes transforms of `length` elements with distance `stride` and makes r times as many of length /
/// r:
///
///   m = length / r
///   y[q + stride (r p + k)] = w^(n / length * p k) sum over j of x[q + stride (p + m j)] w^(n / r * j k),
///                             w = exp(-2 pi i / n), for p < m, q < stride, k < r
///
/// Other lengths use Bluestein's algorithm, a convolution with a chirp: multiply x by the chirp, pad with zeros to
/// `inner->n`, transform, multiply by the spectrum, transform back without a factor, multiply by the chirp again.
struct FftPlan {
  std::int64_t n;
  std::vector<int> radices;              ///< of passes; empty for n = 1 and for plans with a chirp
  FftTable roots;                        ///< w^j for j < n
  std::shared_ptr<const FftPlan> inner;  ///< null for plans without a chirp
  FftTable chirp, spectrum;
};

/// Passes of these radices are compiled. A pass of another radix, up to kMostRadix, is a loop.
inline constexpr int kMostRadix = 127;

/// Returns the plan of a length of at least 1, from a cache of recent plans or a new one.
std::shared_ptr<const FftPlan> fft_plan(std::int64_t n);

/// Returns the two factors of n that are nearest to its square root, the smaller one first: the lengths of the two
/// steps of a long transform.
std::pair<std::int64_t, std::int64_t> factors_at_root(std::int64_t n);

/// Returns exp(-2 pi i j / n) for j < n, each nearly exact in float64: computed by octants, without recurrences.
std::vector<double> roots_of_unity(std::int64_t n);

}  // namespace catenary
