#pragma once
// Attention in the form of cuDNN's fused operation.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catenary/device/primitives.h"

namespace catenary::gpu {

/// Attention or its gradient. Arrays are 16-bit with contiguous rows that begin at multiples of 16 bytes, and every
/// query sees a key.
struct AttentionSpec {
  using Extents = std::array<std::int64_t, 4>;  ///< batch, head, row, column
  enum class Diagonal : std::uint8_t {
    none,          ///< all queries see all keys
    top_left,      ///< query i sees the keys up to i
    bottom_right,  ///< the last query sees all keys, the one before it all but one, …
  };
  struct Array {
    View view;
    Extents shape{}, strides{};  ///< strides of axes of size 1 differ from the view's
  };

  bool backward = false;
  Dtype dtype = Dtype::float16;
  double scale = 1;
  Diagonal diagonal = Diagonal::none;
  std::int64_t window = 0;  ///< number of last keys up to the diagonal that a query sees, or 0 for all
  Array q, k, v, y;
  View sums;
  std::optional<Array> gy, gq, gk, gv;  ///< for a gradient
  /// The reason of the library that declined the computation, a literal.
  mutable const char* declined = nullptr;

  std::int64_t batch() const { return q.shape[0]; }
  std::int64_t heads() const { return q.shape[1]; }
  std::int64_t groups() const { return k.shape[1]; }
  std::int64_t queries() const { return q.shape[2]; }
  std::int64_t keys() const { return k.shape[2]; }
  std::int64_t depth() const { return q.shape[3]; }
  std::int64_t width() const { return v.shape[3]; }
  /// Returns everything that a library's plan depends on, as numbers.
  std::vector<std::int64_t> key() const;
};

/// Converts attention to this form. Returns nothing if no library supports it, with the reason in `why`, a literal.
std::optional<AttentionSpec> as_spec(const primitives::Attention& attention, const char*& why);
std::optional<AttentionSpec> as_spec(const primitives::AttentionBack& attention, const char*& why);

/// Describes the computation, for messages.
std::string describe(const AttentionSpec& spec);

}  // namespace catenary::gpu
