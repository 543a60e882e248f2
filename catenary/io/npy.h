#pragma once
// NumPy's .npy files (numpy.lib.format, versions 1.0, 2.0 and 3.0).

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// Python's None. Chainer's snapshots store it as a pickled 0-d object array, the only pickle that Catenary reads.
struct None {
  friend bool operator==(None, None) { return true; }
};

/// An array of strings (NumPy's `<U…` as UTF-8, or `|S…` as bytes) with one or more axes, C-ordered.
struct StringArray {
  Shape shape;
  std::vector<std::string> values;
};

/// The content of a .npy file. A 0-d array of strings is a std::string.
using NpyValue = std::variant<HostArray, std::string, StringArray, None>;

/// How to read an NPY file.
struct NpyOptions {
  /// NPY has no bfloat16. True reads `<V2`/`|V2` as bfloat16 and writes bfloat16 as `<V2`, like the Python package
  /// ml_dtypes.
  bool bfloat16_as_void = false;
};

/// Reads .npy content. `name` is used in messages. Converts Fortran order and big-endian, and makes bools 0 or 1.
/// Throws FileError for damaged content and for unsupported dtypes (complex, structured, object, datetime), with the
/// descr.
CT_API NpyValue read_npy_value(std::span<const std::byte> bytes, const std::string& name,
                               const NpyOptions& options = {});
CT_API NpyValue read_npy_value(const std::string& path, const NpyOptions& options = {});

/// Reads .npy content that must be an array of numbers. Throws FileError for strings and None, too (numpy.load).
CT_API HostArray read_npy(std::span<const std::byte> bytes, const std::string& name, const NpyOptions& options = {});
CT_API HostArray read_npy(const std::string& path, const NpyOptions& options = {});

/// Writes a file for numpy.load atomically (numpy.save, version 1.0). Throws FileError, and DtypeError for bfloat16
/// unless the options allow it.
CT_API void write_npy(const std::string& path, const HostArray& array, const NpyOptions& options = {});

/// Return the header before an array's elements, and the whole content for a `str` scalar and None.
CT_API std::string npy_header(const HostArray& array, const NpyOptions& options = {});
CT_API std::string npy_string(const std::string& utf8);
CT_API std::string npy_none();

}  // namespace catenary::io
