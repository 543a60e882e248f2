#pragma once
// The error of an axis that is not there, apart from error.h: only who tells it from other ShapeErrors includes it.

#include "catenary/core/error.h"

namespace catenary {

/// An axis that an array does not have. (numpy.exceptions.AxisError)
class CT_API AxisError : public ShapeError {
 public:
  using ShapeError::ShapeError;
  ~AxisError() override;
};

}  // namespace catenary
