#pragma once
// Making arrays: from values in C++, filled, ranges and grids. They are made on the current device (`Device::use`); the
// dtype when none is given is NumPy's default, float64, or that of the C++ values: `array({1.f, 2.f})` is float32,
// `array({1, 2})` int32.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "catenary/array/array.h"

namespace catenary {

/// A C++ type that is an element type of arrays.
template <class T>
concept Element = requires {
  dtype_traits<T>::value;
};

namespace detail {
[[noreturn]] CT_API void throw_ragged(int depth);
/// Collects the values of nested lists; throws ShapeError when rows differ in length.
template <class T>
struct Nested {
  std::vector<T> values;
  Shape shape;

  template <class List>
  void add(const List& list, int depth = 0) {
    if (shape.size() <= depth) {
      shape.push_back(static_cast<std::int64_t>(list.size()));
    } else if (shape[depth] != static_cast<std::int64_t>(list.size())) {
      throw_ragged(depth);
    }
    for (const auto& element : list) {
      if constexpr (Element<std::remove_cvref_t<decltype(element)>>) {
        values.push_back(element);
      } else {
        add(element, depth + 1);
      }
    }
  }
};
/// An array of host values, cast to `dtype` when one is given.
CT_API Array array_from(const void* values, std::size_t count, const Shape& shape, Dtype dtype,
                        const std::optional<Dtype>& wanted);
template <class T>
Array array_from(const std::vector<T>& values, const Shape& shape, const std::optional<Dtype>& wanted) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<std::uint8_t> bytes(values.begin(), values.end());
    return array_from(bytes.data(), bytes.size(), shape, Dtype::bool_, wanted);
  } else {
    return array_from(values.data(), values.size(), shape, dtype_of<T>, wanted);
  }
}
template <class T, class List>
Array array_from_nested(const List& list, const std::optional<Dtype>& dtype) {
  Nested<T> nested;
  nested.add(list);
  return array_from(nested.values, nested.shape, dtype);
}
/// Nested lists whose values have several C++ types: one value, or a list.
struct AnyValues {
  template <Element T>
  AnyValues(T value) : dtype(dtype_of<T>), real(static_cast<double>(value)) {
    if constexpr (std::is_integral_v<T>) integer = static_cast<std::int64_t>(value);
  }
  AnyValues(std::initializer_list<AnyValues> values) : is_list(true), list(values) {}

  Dtype dtype = Dtype::float64;
  std::int64_t integer = 0;
  double real = 0;
  bool is_list = false;
  std::vector<AnyValues> list = {};
};
}  // namespace detail

/// An array of the values in nested braces, up to four levels deep: `array({{1.f, 2.f}, {3.f, 4.f}})`. Throws
/// ShapeError when rows differ in length. (numpy.array)
template <Element T>
Array array(std::initializer_list<T> values, const std::optional<Dtype>& dtype = {}) {
  return detail::array_from_nested<T>(values, dtype);
}
// Rows of rows are spelt out: through an alias Clang does not deduce T.
template <Element T>
Array array(std::initializer_list<std::initializer_list<T>> values, const std::optional<Dtype>& dtype = {}) {
  return detail::array_from_nested<T>(values, dtype);
}
template <Element T>
Array array(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
            const std::optional<Dtype>& dtype = {}) {
  return detail::array_from_nested<T>(values, dtype);
}
template <Element T>
Array array(std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>> values,
            const std::optional<Dtype>& dtype = {}) {
  return detail::array_from_nested<T>(values, dtype);
}
/// The same of values of several C++ types, `array({1.5, NAN})`, to any depth; its dtype is what NumPy promotes theirs
/// to.
CT_API Array array(std::initializer_list<detail::AnyValues> values, const std::optional<Dtype>& dtype = {});
/// An array of the values of a vector, or of vectors of vectors.
template <Element T>
Array array(const std::vector<T>& values, const std::optional<Dtype>& dtype = {}) {
  return detail::array_from(values, {static_cast<std::int64_t>(values.size())}, dtype);
}
template <Element T>
Array array(const std::vector<std::vector<T>>& values, const std::optional<Dtype>& dtype = {}) {
  return detail::array_from_nested<T>(values, dtype);
}
/// The same in C order with a shape; throws ShapeError when the number of values does not fit.
template <Element T>
Array array(const std::vector<T>& values, const Shape& shape, const std::optional<Dtype>& dtype = {}) {
  return detail::array_from(values, shape, dtype);
}
/// An array of values in memory, with a shape.
template <Element T>
Array array(std::span<const T> values, const Shape& shape, const std::optional<Dtype>& dtype = {}) {
  return detail::array_from(values.data(), values.size(), shape, dtype_of<T>, dtype);
}
/// A 0-d array.
template <Element T>
Array array(T value, const std::optional<Dtype>& dtype = {}) {
  return detail::array_from(&value, 1, {}, dtype_of<T>, dtype);
}
/// A copy that lies in memory as a does, cast when a dtype is given.
CT_API Array array(const Array& a, const std::optional<Dtype>& dtype = {});
/// The array itself where dtype and device are right, else a copy. (numpy.asarray)
CT_API const Array asarray(const Array& a, const std::optional<Dtype>& dtype = {});
/// The same, C-ordered. (numpy.ascontiguousarray)
CT_API const Array ascontiguousarray(const Array& a, const std::optional<Dtype>& dtype = {});
/// A copy that lies in memory as a does; a.copy() is C-ordered. (numpy.copy)
CT_API Array copy(const Array& a);

/// An array whose elements have any value. (numpy.empty)
CT_API Array empty(const Shape& shape, Dtype dtype = Dtype::float64);
/// Zeros. (numpy.zeros)
CT_API Array zeros(const Shape& shape, Dtype dtype = Dtype::float64);
/// Ones. (numpy.ones)
CT_API Array ones(const Shape& shape, Dtype dtype = Dtype::float64);
/// An array filled with a value; its dtype is the value's default (bool, int64 or float64) when none is given. An array
/// as value is broadcast. (numpy.full)
CT_API Array full(const Shape& shape, const Operand& value, const std::optional<Dtype>& dtype = {});
/// The like-functions take shape, dtype, device and the order in memory of another array. (numpy.empty_like,
/// zeros_like, ones_like, full_like)
CT_API Array empty_like(const Array& a, const std::optional<Dtype>& dtype = {});
CT_API Array zeros_like(const Array& a, const std::optional<Dtype>& dtype = {});
CT_API Array ones_like(const Array& a, const std::optional<Dtype>& dtype = {});
CT_API Array full_like(const Array& a, const Operand& value, const std::optional<Dtype>& dtype = {});

/// (rows, columns) zeros with ones on diagonal k; columns is rows when left out. (numpy.eye)
CT_API Array eye(std::int64_t rows, const std::optional<std::int64_t>& columns = {}, std::int64_t k = 0,
                 Dtype dtype = Dtype::float64);
/// (n, n) zeros with ones on the diagonal. (numpy.identity)
CT_API Array identity(std::int64_t n, Dtype dtype = Dtype::float64);
/// Ones at and below diagonal k. (numpy.tri)
CT_API Array tri(std::int64_t rows, const std::optional<std::int64_t>& columns = {}, std::int64_t k = 0,
                 Dtype dtype = Dtype::float64);

/// 0, 1, … before `stop`; or start, start + step, … before `stop`. The dtype is that of the arguments, int64 or
/// float64, when none is given; the length is ceil((stop - start) / step). Throws ValueError for a step of zero or a
/// length that cannot be told. (numpy.arange)
CT_API Array arange(const Scalar& stop, const std::optional<Dtype>& dtype = {});
CT_API Array arange(const Scalar& start, const Scalar& stop, const Scalar& step = 1,
                    const std::optional<Dtype>& dtype = {});
inline Array arange(const Scalar& start, const Scalar& stop, Dtype dtype) { return arange(start, stop, 1, dtype); }

/// Options of linspace.
struct LinspaceOptions {
  bool endpoint = true;             ///< is `stop` the last value?
  std::optional<Dtype> dtype = {};  ///< float64 when not given, or that of arrays; integers are rounded down
  int axis = 0;                     ///< of arrays: along which the values lie in the result
};
/// `num` values evenly spaced from start to stop. Throws ValueError for a negative number. (numpy.linspace)
CT_API Array linspace(double start, double stop, std::int64_t num = 50, const LinspaceOptions& options = {});
/// The same for each element of arrays, which broadcast: the values lie along a new axis.
CT_API Array linspace(const Operand& start, const Operand& stop, std::int64_t num = 50,
                      const LinspaceOptions& options = {});
/// Options of logspace.
struct LogspaceOptions {
  bool endpoint = true;
  double base = 10;
  std::optional<Dtype> dtype = {};
};
/// base ** linspace(start, stop). (numpy.logspace)
CT_API Array logspace(double start, double stop, std::int64_t num = 50, const LogspaceOptions& options = {});
/// `num` values from start to stop with equal quotients; both must have one sign and not be zero. (numpy.geomspace)
CT_API Array geomspace(double start, double stop, std::int64_t num = 50, const LinspaceOptions& options = {});

/// Options of meshgrid.
struct MeshgridOptions {
  std::string indexing = "xy";  ///< "xy": the first two axes are swapped; "ij": axis i belongs to array i
  bool sparse = false;          ///< leaves the other axes at extent 1
};
/// Coordinate arrays of the grid that 1-d arrays span. (numpy.meshgrid)
CT_API std::vector<Array> meshgrid(const std::vector<Array>& axes, const MeshgridOptions& options = {});
/// result[axis, …] is the coordinate on that axis: shape (ndim, …). (numpy.indices)
CT_API Array indices(const Shape& shape, Dtype dtype = Dtype::int64);
/// Powers of the 1-d `x` in columns, the highest first unless `increasing`; as many as x has elements when `columns` is
/// left out. (numpy.vander)
CT_API Array vander(const Array& x, const std::optional<std::int64_t>& columns = {}, bool increasing = false);

}  // namespace catenary
