#pragma once
// Private to links/: quantised weights in files.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "catenary/core/dtype.h"
#include "catenary/core/export.h"
#include "catenary/core/quantization.h"
#include "catenary/core/shape.h"

namespace catenary::links::detail {

/// The content of W_kind, and the blocks that match it.
struct CT_API QuantizedForm {
  using Refuse = std::function<void(const std::string& why)>;

  Quantization kind = Quantization::q8_0;
  Shape shape;
  /// Calls `refuse`, which throws, with the reason if the numbers are invalid.
  QuantizedForm(const std::vector<std::int64_t>& numbers, const Refuse& refuse);
  /// Calls `refuse` if blocks of this dtype and shape do not match.
  void check_blocks(Dtype dtype, const Shape& blocks, const Refuse& refuse) const;
};

}  // namespace catenary::links::detail
