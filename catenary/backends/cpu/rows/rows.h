#pragma once
// Private to the CPU backend: functions of rows (device/row_functions.h). rows.cpp divides the work into units, and
// the *.simd.cpp files compute a unit.

#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/device/row_functions.h"

namespace catenary::cpu {

void run(const SoftmaxRows& request);
void run(const StandardizeRows& request);
void run(const GeluElements& request);
void run(const RecurrentStep& request);
void run(const PackedBits& request);

/// The division of a softmax along the middle axis of [outer, n, inner]. A unit is a chunk of a contiguous row
/// (`columns` is 1), or a tile of adjacent columns, which are counted over outer and inner.
struct SoftmaxArgs {
  SoftmaxOp op;
  const void *x, *gy;
  void* out;
  const std::int64_t* labels;
  void *log_z, *losses;
  const void* factors;
  std::int64_t outer, n, inner;
  std::int64_t columns;        ///< of a tile
  std::int64_t chunk, chunks;  ///< parts of the axis
  void* parts;                 ///< statistics of chunks: [chunks, 2, outer * inner]

  std::int64_t tiles() const { return (outer * inner + columns - 1) / columns; }
};

/// Unit `tile * chunks + chunk`. A single chunk is computed as a whole. Otherwise, all units compute partial statistics
/// first, and then their results.
enum class RowPhase : std::uint8_t { whole, partial, finish };
using SoftmaxUnit = void (*)(const SoftmaxArgs& args, RowPhase phase, std::int64_t unit, void* scratch);

/// Returns the statistics' elements of scratch memory that a unit needs.
inline std::int64_t softmax_scratch(const SoftmaxArgs& args) {
  return 2 * args.chunk * args.columns + 8 * args.columns;
}

/// The members of StandardizeRows. A unit is a group, or a part of the rows if the gradient is `elementwise`, or a
/// chunk of the rows of a tile of columns.
struct StandardizeArgs : RowGroups {
  std::int64_t gammas;
  double eps;
  const void *x, *gy, *gamma, *beta;
  void *mean, *inv_std, *var, *y, *gx, *ggamma, *gbeta;
  std::int64_t rows_of_part;
  std::int64_t chunk, chunks;  ///< rows of a chunk of columns
  double* parts;               ///< statistics of chunks: [chunks, 2, groups]
};
inline constexpr std::int64_t kStandardizeChunk = 4096;   // elements in the first-level cache
inline constexpr std::int64_t kStandardizeColumns = 256;  // of a tile
using StandardizeUnit = void (*)(const StandardizeArgs& args, std::int64_t unit, void* scratch);
using StandardizeColumns = void (*)(const StandardizeArgs& args, RowPhase phase, std::int64_t unit, void* scratch);

/// Computes n elements; gy is null in the forward pass.
using GeluLoop = void (*)(const void* x, const void* gy, void* out, std::int64_t n);

/// The members of RecurrentStep. A unit is a row.
struct RecurrentArgs {
  /// Rows of adjacent elements, and the distance between them in elements. Null if not given.
  struct Rows {
    void* data = nullptr;
    std::int64_t stride = 0;
  };
  RecurrentCell cell;
  std::int64_t units;
  Rows p, before, q, h, c, gy, gh, gc, dp, dq;
};
using RecurrentUnit = void (*)(const RecurrentArgs& args, std::int64_t row);

// clang-format off
CT_SIMD_DECLARE(
  /// Return null for other dtypes.
  SoftmaxUnit softmax_unit(Dtype dtype);
  StandardizeUnit standardize_unit(Dtype dtype);
  StandardizeColumns standardize_columns(Dtype dtype);
  GeluLoop gelu_loop(Dtype dtype);
  RecurrentUnit recurrent_unit(Dtype dtype);
  /// Packs n elements.
  void pack_bits(const std::uint8_t* from, std::uint8_t* to, std::int64_t n, bool is_little);
  /// Unpacks eight elements from each byte.
  void unpack_bits(const std::uint8_t* from, std::uint8_t* to, std::int64_t bytes, bool is_little);
)
// clang-format on

}  // namespace catenary::cpu
