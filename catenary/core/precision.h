#pragma once
// The precision of new parameters: one dtype, or 16 bits with float32 for statistics.

#include <string>
#include <string_view>

#include "catenary/core/dtype.h"

namespace catenary {

/// A floating dtype, mixed16 or mixed_bf16: the type of config.dtype. (the dtypes that chainer.config.dtype takes)
class Precision {
 public:
  constexpr Precision(Dtype dtype) : dtype_(dtype) {}
  constexpr Precision(Dtype dtype, bool mixed) : dtype_(dtype), mixed_(mixed) {}
  /// Returns the dtype of new parameters, and of floating results of integers.
  constexpr operator Dtype() const { return dtype_; }
  /// Returns the dtype of normalisation layers' parameters and statistics.
  constexpr Dtype wide() const { return mixed_ ? Dtype::float32 : dtype_; }
  constexpr bool is_mixed() const { return mixed_; }
  friend constexpr bool operator==(const Precision&, const Precision&) = default;

 private:
  Dtype dtype_;
  bool mixed_ = false;
};

/// float16, but float32 for the parameters and statistics of normalisation layers. (chainer.mixed16)
inline constexpr Precision mixed16{Dtype::float16, true};
/// bfloat16, but float32 for the parameters and statistics of normalisation layers.
inline constexpr Precision mixed_bf16{Dtype::bfloat16, true};

/// Returns "mixed16", "mixed_bf16", or the dtype's name.
CT_API std::string precision_name(Precision precision);
/// Returns the precision with a name. Throws DtypeError for a name that is no precision.
CT_API Precision precision_from_name(std::string_view name);

}  // namespace catenary
