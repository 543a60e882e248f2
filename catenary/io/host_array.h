#pragma once
// io/: reads and writes files of arrays and tables in host memory (HostArray). Files are not trusted: lengths are
// checked before use, and memory is allocated only if the file can fill it. Errors are FileErrors with the file and
// byte offset. All writing is atomic. io/ must not include Array, devices or training.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "catenary/core/dtype.h"
#include "catenary/core/export.h"
#include "catenary/core/shape.h"

namespace catenary::io {

/// An array in host memory, C-ordered and little-endian. Copies share the data.
struct CT_API HostArray {
  Dtype dtype = Dtype::float32;
  Shape shape{0};
  std::shared_ptr<std::byte[]> data;

  /// Allocates an uninitialised array. Throws ShapeError for an impossible shape, and DeviceError if memory runs out.
  static HostArray empty(Dtype dtype, const Shape& shape);
  /// Copies `values`. Throws ShapeError unless their number matches `shape`.
  template <class T>
  static HostArray from(const Shape& shape, std::span<const T> values) {
    HostArray a = empty(dtype_of<T>, shape);
    a.copy_from(values.data(), values.size());
    return a;
  }
  template <class T>
  static HostArray scalar(T value) {
    return from<T>(Shape{}, std::span<const T>(&value, 1));
  }

  /// Returns the number of elements.
  std::int64_t size() const { return shape.product(); }
  /// Returns the number of bytes.
  std::size_t nbytes() const { return static_cast<std::size_t>(size()) * itemsize(dtype); }
  std::span<const std::byte> bytes() const { return {data.get(), nbytes()}; }
  /// Returns the elements. Throws DtypeError unless T is the array's dtype.
  template <class T>
  T* as() const {
    check_dtype(dtype_of<T>);
    return reinterpret_cast<T*>(data.get());
  }

 private:
  void check_dtype(Dtype wanted) const;
  void copy_from(const void* values, std::size_t count);
};

}  // namespace catenary::io
