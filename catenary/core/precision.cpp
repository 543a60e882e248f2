#include "catenary/core/precision.h"

#include "catenary/core/format.h"

namespace catenary {

std::string precision_name(Precision precision) {
  if (precision == mixed16) return "mixed16";
  if (precision == mixed_bf16) return "mixed_bf16";
  return dtype_name(precision);
}

Precision precision_from_name(std::string_view name) {
  if (name == "mixed16") return mixed16;
  if (name == "mixed_bf16") return mixed_bf16;
  const Dtype dtype = dtype_from_name(name);
  if (!is_floating(dtype))
    fail<DtypeError>("'{}' is not a precision; expected a floating dtype, mixed16 or mixed_bf16", name);
  return dtype;
}

}  // namespace catenary
