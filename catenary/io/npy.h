#pragma once
// NumPy's .npy files (numpy.lib.format, versions 1.0, 2.0 and 3.0).

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// Python's None: Chainer's snapshots hold it as a pickled 0-d object array, the one pickle that is understood.
struct None {
  friend bool operator==(None, None) { return true; }
};

/// An array of strings (NumPy's `<U…`, as UTF-8, or `|S…`, as bytes) of one or more dimensions, C-ordered.
struct StringArray {
  Shape shape;
  std::vector<std::string> values;
};

/// What a .npy file may hold here. A 0-d array of strings is a std::string.
using NpyValue = std::variant<HostArray, std::string, StringArray, None>;

/// How an NPY file is read.
struct NpyOptions {
  /// NPY has no bfloat16. True: read `<V2`/`|V2` as bfloat16 and write bfloat16 as `<V2`, as the Python package
  /// ml_dtypes does.
  bool bfloat16_as_void = false;
};

/// Reads .npy content; `name` is for messages. Fortran order and big-endian are converted, bools are made 0 or 1.
/// Throws FileError for damaged content and for dtypes that are not ours (complex, structured, object, datetime),
/// naming the descr.
CT_API NpyValue read_npy_value(std::span<const std::byte> bytes, const std::string& name,
                               const NpyOptions& options = {});
CT_API NpyValue read_npy_value(const std::string& path, const NpyOptions& options = {});

/// As read_npy_value, but only for arrays of numbers: strings and None are a FileError too (numpy.load).
CT_API HostArray read_npy(std::span<const std::byte> bytes, const std::string& name, const NpyOptions& options = {});
CT_API HostArray read_npy(const std::string& path, const NpyOptions& options = {});

/// Writes a file that numpy.load reads (numpy.save, version 1.0), atomically. Throws FileError; DtypeError for bfloat16
/// when the options do not say how.
CT_API void write_npy(const std::string& path, const HostArray& array, const NpyOptions& options = {});

/// The header that stands before the elements of an array; those of a `str` scalar and of None in whole.
CT_API std::string npy_header(const HostArray& array, const NpyOptions& options = {});
CT_API std::string npy_string(const std::string& utf8);
CT_API std::string npy_none();

}  // namespace catenary::io
