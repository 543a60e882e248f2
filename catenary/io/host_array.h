#pragma once
// Room io: files that hold arrays and tables, read into and written from plain host memory (HostArray). Every file read
// is hostile until proven: lengths are checked before they are believed, memory is asked for only when the file could
// fill it, and errors are FileErrors that name file and byte offset. Everything written is written atomically. Array,
// devices and training may not come in.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "catenary/core/dtype.h"
#include "catenary/core/export.h"
#include "catenary/core/shape.h"

namespace catenary::io {

/// An array in host memory, C-ordered and in the byte order of the machine (little-endian). Copies share the data.
struct CT_API HostArray {
  Dtype dtype = Dtype::float32;
  Shape shape{0};
  std::shared_ptr<std::byte[]> data;

  /// Memory for `shape`, not initialised; throws ShapeError for an impossible shape, DeviceError when there is no
  /// memory.
  static HostArray empty(Dtype dtype, const Shape& shape);
  /// A copy of `values`; throws ShapeError when their number is not that of `shape`.
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

  /// Number of elements.
  std::int64_t size() const { return shape.product(); }
  /// Number of bytes.
  std::size_t nbytes() const { return static_cast<std::size_t>(size()) * itemsize(dtype); }
  std::span<const std::byte> bytes() const { return {data.get(), nbytes()}; }
  /// The elements; throws DtypeError when T is not the array's dtype.
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
