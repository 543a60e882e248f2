#pragma once
// What new parameters are made of: one dtype, or 16 bits with float32 where statistics need it.

#include <string>
#include <string_view>

#include "catenary/core/dtype.h"

namespace catenary {

/// A floating dtype, mixed16 or mixed_bf16: what config.dtype is. (the dtypes that chainer.config.dtype takes)
class Precision {
 public:
  constexpr Precision(Dtype dtype) : dtype_(dtype) {}
  constexpr Precision(Dtype dtype, bool mixed) : dtype_(dtype), mixed_(mixed) {}
  /// dtype of new parameters, and of float results of integers.
  constexpr operator Dtype() const { return dtype_; }
  /// dtype of what normalisation keeps: its parameters and its statistics.
  constexpr Dtype wide() const { return mixed_ ? Dtype::float32 : dtype_; }
  constexpr bool is_mixed() const { return mixed_; }
  friend constexpr bool operator==(const Precision&, const Precision&) = default;

 private:
  Dtype dtype_;
  bool mixed_ = false;
};

/// float16, with float32 for the parameters and the statistics of normalisation. (chainer.mixed16)
inline constexpr Precision mixed16{Dtype::float16, true};
/// The same with bfloat16.
inline constexpr Precision mixed_bf16{Dtype::bfloat16, true};

/// "mixed16", "mixed_bf16", or the dtype's name.
CT_API std::string precision_name(Precision precision);
/// The precision of such a name; throws DtypeError for what is no floating dtype either.
CT_API Precision precision_from_name(std::string_view name);

}  // namespace catenary
