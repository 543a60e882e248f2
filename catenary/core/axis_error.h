#pragma once
// The error for an axis that does not exist. It is apart from error.h because few files distinguish it from other
// ShapeErrors.

#include "catenary/core/error.h"

namespace catenary {

/// An axis that an array does not have. (numpy.exceptions.AxisError)
class CT_API AxisError : public ShapeError {
 public:
  using ShapeError::ShapeError;
  ~AxisError() override;
};

}  // namespace catenary
