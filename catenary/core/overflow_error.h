#pragma once
// The error for a number that a dtype cannot hold. It is apart from error.h because few files distinguish it from
// ValueError.

#include "catenary/core/error.h"

namespace catenary {

/// A literal outside the range of the integer dtype that it would be converted to. (Python's OverflowError)
class CT_API OverflowError : public ValueError {
 public:
  using ValueError::ValueError;
  ~OverflowError() override;
};

}  // namespace catenary
