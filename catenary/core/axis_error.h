#pragma once
// Kinds of ShapeError, IndexError and ValueError that clients distinguish. They are apart from error.h because few
// files do.

#include "catenary/core/error.h"

namespace catenary {

/// An axis that an array does not have. (numpy.exceptions.AxisError)
class CT_API AxisError : public ShapeError {
 public:
  using ShapeError::ShapeError;
  ~AxisError() override;
};

/// Shapes or axes for which Chainer raises ValueError, not InvalidType: an axis that is named twice, lists of different
/// lengths, or another number of axes than the function's name says.
class CT_API ArgumentShapeError : public ShapeError {
 public:
  using ShapeError::ShapeError;
  ~ArgumentShapeError() override;
};

/// More indices than the array has axes. (Python's IndexError; our chainer raises InvalidType)
class CT_API IndexCountError : public IndexError {
 public:
  using IndexError::IndexError;
  ~IndexCountError() override;
};

/// Several ellipses among the indices of an array. (Python's IndexError; our chainer raises ValueError)
class CT_API EllipsisError : public IndexError {
 public:
  using IndexError::IndexError;
  ~EllipsisError() override;
};

/// A NaN in a result in debug mode. (Python's RuntimeError)
class CT_API NanError : public ValueError {
 public:
  using ValueError::ValueError;
  ~NanError() override;
};

}  // namespace catenary
