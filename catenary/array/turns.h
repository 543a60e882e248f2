#pragma once
// Private to the library: plane rotations of vectors that are stored as rows.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "catenary/array/factor_loops.h"
#include "catenary/array/reflections.h"
#include "catenary/core/parallel.h"

namespace catenary::factor {

/// Computes the rotation that maps (f, g) to (r, 0).
inline double rotation(double f, double g, double& cosine, double& sine) {
  if (g == 0) {
    cosine = 1;
    sine = 0;
    return f;
  }
  // Scale up: subnormal numbers have too few digits for an accurate rotation.
  const double scale = std::max(std::abs(f), std::abs(g)) < 0x1p-500 ? 0x1p500 : 1;
  f *= scale;
  g *= scale;
  const double r = std::copysign(std::hypot(f, g), f);
  cosine = f / r;
  sine = g / r;
  return r / scale;
}

/// Rotations that are delayed and applied together. Columns are independent: a few at a time stay in the cache through
/// all rotations, and threads share the columns.
template <class T>
class Turns {
 public:
  explicit Turns(const Matrix<T>& of) : of_(of) {}
  void add(std::int64_t row, double cosine, double sine) {
    if (of_.rows == 0) return;
    turns_.push_back({row, cosine, sine});
    if (turns_.size() == std::size_t{1} << 18) apply();
  }
  void apply() {
    constexpr std::int64_t kColumns = 64;
    const auto turn = CT_SIMD_SELECT(turn_rows);
    const std::int64_t chunks = (of_.columns + kColumns - 1) / kColumns;
    parallel_for(chunks, 1, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t chunk = from; chunk < to; ++chunk) {
        const std::int64_t first = chunk * kColumns, n = std::min(kColumns, of_.columns - first);
        turn(turns_.data(), static_cast<std::int64_t>(turns_.size()), parts(of_.data + first), of_.columns * kParts<T>,
             n * kParts<T>);
      }
    });
    turns_.clear();
  }

 private:
  Matrix<T> of_;
  std::vector<Turn> turns_;
};

}  // namespace catenary::factor
