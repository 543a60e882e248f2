#pragma once
// Attention as cuDNN's fused form takes it.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catenary/device/primitives.h"

namespace catenary::gpu {

/// Attention or its gradient: 16-bit arrays whose rows lie side by side and begin at multiples of 16 bytes; every query
/// sees a key.
struct AttentionSpec {
  using Extents = std::array<std::int64_t, 4>;  ///< batch, head, row, column
  enum class Diagonal : std::uint8_t {
    none,          ///< all queries see all keys
    top_left,      ///< query i sees the keys up to i
    bottom_right,  ///< the last query sees all keys, the one before it all but one, …
  };
  struct Array {
    View view;
    Extents shape{}, strides{};  ///< strides of axes of one element are not the view's
  };

  bool backward = false;
  Dtype dtype = Dtype::float16;
  double scale = 1;
  Diagonal diagonal = Diagonal::none;
  std::int64_t window = 0;  ///< of the keys up to the diagonal the last so many; 0: all
  Array q, k, v, y;
  View sums;
  std::optional<Array> gy, gq, gk, gv;  ///< of a gradient
  /// What the library asked says of one that it does not take; a literal.
  mutable const char* declined = nullptr;

  std::int64_t batch() const { return q.shape[0]; }
  std::int64_t heads() const { return q.shape[1]; }
  std::int64_t groups() const { return k.shape[1]; }
  std::int64_t queries() const { return q.shape[2]; }
  std::int64_t keys() const { return k.shape[2]; }
  std::int64_t depth() const { return q.shape[3]; }
  std::int64_t width() const { return v.shape[3]; }
  /// All that a library's plan depends on, as numbers.
  std::vector<std::int64_t> key() const;
};

/// Attention in that form. Nothing for what no library takes: `why` says what it is, a literal.
std::optional<AttentionSpec> as_spec(const primitives::Attention& attention, const char*& why);
std::optional<AttentionSpec> as_spec(const primitives::AttentionBack& attention, const char*& why);

/// For messages.
std::string describe(const AttentionSpec& spec);

}  // namespace catenary::gpu
