#pragma once
// Private to links/: what files say of quantised weights.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "catenary/core/dtype.h"
#include "catenary/core/export.h"
#include "catenary/core/quantization.h"
#include "catenary/core/shape.h"

namespace catenary::links::detail {

/// What the numbers of W_kind tell, and which blocks go with it.
struct CT_API QuantizedForm {
  using Refuse = std::function<void(const std::string& why)>;

  Quantization kind = Quantization::q8_0;
  Shape shape;
  /// Calls `refuse` with what is wrong with the numbers; it throws.
  QuantizedForm(const std::vector<std::int64_t>& numbers, const Refuse& refuse);
  /// Calls `refuse` where blocks of this dtype and shape do not go with it.
  void check_blocks(Dtype dtype, const Shape& blocks, const Refuse& refuse) const;
};

}  // namespace catenary::links::detail
