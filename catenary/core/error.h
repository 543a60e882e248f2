#pragma once
// The hierarchy of errors. A message names the fault, the expected and the given value, and the place.

#include <stdexcept>
#include <string>

#include "catenary/core/export.h"

namespace catenary {

/// The base of all exceptions that Catenary throws.
class CT_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~Error() override;
};

/// Shapes that do not fit together, or an axis that does not exist.
class CT_API ShapeError : public Error {
 public:
  using Error::Error;
  ~ShapeError() override;
};

/// A dtype that an operation does not support, or a cast that is not allowed.
class CT_API DtypeError : public Error {
 public:
  using Error::Error;
  ~DtypeError() override;
};

/// An index that is out of range or of an invalid form.
class CT_API IndexError : public Error {
 public:
  using Error::Error;
  ~IndexError() override;
};

/// An argument with an invalid value.
class CT_API ValueError : public Error {
 public:
  using Error::Error;
  ~ValueError() override;
};

/// A matrix that a decomposition cannot handle: singular, not positive definite, not finite. (numpy.linalg.LinAlgError)
class CT_API LinAlgError : public ValueError {
 public:
  using ValueError::ValueError;
  ~LinAlgError() override;
};

/// A device that is not available, is out of memory, or failed.
class CT_API DeviceError : public Error {
 public:
  using Error::Error;
  ~DeviceError() override;
};

/// A file that cannot be read or written, or has invalid content. The message names the file and the offset.
class CT_API FileError : public Error {
 public:
  using Error::Error;
  ~FileError() override;
};

}  // namespace catenary
