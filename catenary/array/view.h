#pragma once
// The bytes of an array seen as another dtype.

#include "catenary/array/array.h"

namespace catenary {

/// A view of the same bytes as another dtype. Where the sizes differ the last axis takes them up, and its elements must
/// be neighbours: throws ShapeError where they are not, or where the bytes cannot be divided so. (numpy.ndarray.view)
CT_API Array view(const Array& a, Dtype dtype);

}  // namespace catenary
