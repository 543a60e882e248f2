#pragma once
// The error of a number that a dtype cannot hold, apart from error.h: only who tells it from ValueErrors includes it.

#include "catenary/core/error.h"

namespace catenary {

/// A literal that lies outside the range of the integer dtype it would have to become. (Python's OverflowError)
class CT_API OverflowError : public ValueError {
 public:
  using ValueError::ValueError;
  ~OverflowError() override;
};

}  // namespace catenary
