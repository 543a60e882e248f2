#include "catenary/core/axis_error.h"
#include "catenary/core/overflow_error.h"

namespace catenary {

// The destructors are key functions. They pin one copy of each type's vtable, so that exceptions thrown inside the
// library are caught by type outside of it.
Error::~Error() = default;
ShapeError::~ShapeError() = default;
AxisError::~AxisError() = default;
ArgumentShapeError::~ArgumentShapeError() = default;
DtypeError::~DtypeError() = default;
IndexError::~IndexError() = default;
IndexCountError::~IndexCountError() = default;
EllipsisError::~EllipsisError() = default;
ValueError::~ValueError() = default;
NanError::~NanError() = default;
OverflowError::~OverflowError() = default;
LinAlgError::~LinAlgError() = default;
DeviceError::~DeviceError() = default;
FileError::~FileError() = default;

}  // namespace catenary
