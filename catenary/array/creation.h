#pragma once
// Creation of arrays: from C++ values, filled, ranges and grids. Arrays are made on the current device (`Device::use`).
// The default dtype is float64, as in NumPy, or the dtype of the C++ values: `array({1.f, 2.f})` is float32, `array({1,
// 2})` is int32.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "catenary/array/array.h"

namespace catenary {

/// A C++ type that can be an element type of arrays.
template <class T>
concept Element = requires {
  dtype_traits<T>::value;
};

namespace detail {
[[noreturn]] CT_API void throw_ragged(int depth);
/// Collects the values of nested lists. Throws ShapeError if rows differ in length.
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
/// Returns an array of host values, cast to `wanted` if that is given.
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
/// Nested lists with values of several C++ types: a single value, or a list.
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

/// Returns an array of the values in nested braces, up to four levels deep: `array({{1.f, 2.f}, {3.f, 4.f}})`. Throws
/// ShapeError if rows differ in length. (numpy.array)
template <Element T>
Array array(std::initializer_list<T> values, const std::optional<Dtype>& dtype = {}) {
  return detail::array_from_nested<T>(values, dtype);
}
// Nested lists are spelt out: Clang does not deduce T through an alias.
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
/// Returns an array of values of several C++ types, nested to any depth: `array({1.5, NAN})`. NumPy's promotion of
/// their types gives the dtype.
CT_API Array array(std::initializer_list<detail::AnyValues> values, const std::optional<Dtype>& dtype = {});
/// Returns an array of the values of a vector, or of nested vectors.
template <Element T>
Array array(const std::vector<T>& values, const std::optional<Dtype>& dtype = {}) {
  return detail::array_from(values, {static_cast<std::int64_t>(values.size())}, dtype);
}
template <Element T>
Array array(const std::vector<std::vector<T>>& values, const std::optional<Dtype>& dtype = {}) {
  return detail::array_from_nested<T>(values, dtype);
}
/// Returns an array of a vector's values in C order with the given shape. Throws ShapeError if their number does not
/// fit.
template <Element T>
Array array(const std::vector<T>& values, const Shape& shape, const std::optional<Dtype>& dtype = {}) {
  return detail::array_from(values, shape, dtype);
}
/// Returns an array of values in memory, in C order with the given shape.
template <Element T>
Array array(std::span<const T> values, const Shape& shape, const std::optional<Dtype>& dtype = {}) {
  return detail::array_from(values.data(), values.size(), shape, dtype_of<T>, dtype);
}
/// Returns a 0-d array.
template <Element T>
Array array(T value, const std::optional<Dtype>& dtype = {}) {
  return detail::array_from(&value, 1, {}, dtype_of<T>, dtype);
}
/// Returns a copy with the memory order of a, cast if a dtype is given.
CT_API Array array(const Array& a, const std::optional<Dtype>& dtype = {});
/// Returns the array unchanged if it already has the dtype, else a cast copy. (numpy.asarray)
CT_API const Array asarray(const Array& a, const std::optional<Dtype>& dtype = {});
/// Returns the array unchanged if it has the dtype and is C-ordered, else a C-ordered copy. A 0-d array becomes 1-d.
/// (numpy.ascontiguousarray)
CT_API const Array ascontiguousarray(const Array& a, const std::optional<Dtype>& dtype = {});
/// Returns a copy with the memory order of a; a.copy() is always C-ordered. (numpy.copy)
CT_API Array copy(const Array& a);

/// Returns an uninitialised array. (numpy.empty)
CT_API Array empty(const Shape& shape, Dtype dtype = Dtype::float64);
/// Returns an array of zeros. (numpy.zeros)
CT_API Array zeros(const Shape& shape, Dtype dtype = Dtype::float64);
/// Returns an array of ones. (numpy.ones)
CT_API Array ones(const Shape& shape, Dtype dtype = Dtype::float64);
/// Returns an array filled with a value, which may be an array that is broadcast. The default dtype is the value's:
/// bool, int64 or float64 for literals. (numpy.full)
CT_API Array full(const Shape& shape, const Operand& value, const std::optional<Dtype>& dtype = {});
/// Return a new array with the shape, dtype, device and memory order of another array. (numpy.empty_like, zeros_like,
/// ones_like, full_like)
CT_API Array empty_like(const Array& a, const std::optional<Dtype>& dtype = {});
CT_API Array zeros_like(const Array& a, const std::optional<Dtype>& dtype = {});
CT_API Array ones_like(const Array& a, const std::optional<Dtype>& dtype = {});
CT_API Array full_like(const Array& a, const Operand& value, const std::optional<Dtype>& dtype = {});

/// Returns a (rows, columns) array with ones on diagonal k and zeros elsewhere; `columns` defaults to `rows`.
/// (numpy.eye)
CT_API Array eye(std::int64_t rows, const std::optional<std::int64_t>& columns = {}, std::int64_t k = 0,
                 Dtype dtype = Dtype::float64);
/// Returns an (n, n) array with ones on the diagonal and zeros elsewhere. (numpy.identity)
CT_API Array identity(std::int64_t n, Dtype dtype = Dtype::float64);
/// Returns an array with ones at and below diagonal k and zeros above it. (numpy.tri)
CT_API Array tri(std::int64_t rows, const std::optional<std::int64_t>& columns = {}, std::int64_t k = 0,
                 Dtype dtype = Dtype::float64);

/// Returns 0, 1, … before `stop`, or start, start + step, … before `stop`: ceil((stop - start) / step) numbers. The
/// default dtype is that of the arguments: int64 or float64. Throws ValueError for a step of zero or an undefined
/// length. (numpy.arange)
CT_API Array arange(const Scalar& stop, const std::optional<Dtype>& dtype = {});
CT_API Array arange(const Scalar& start, const Scalar& stop, const Scalar& step = 1,
                    const std::optional<Dtype>& dtype = {});
inline Array arange(const Scalar& start, const Scalar& stop, Dtype dtype) { return arange(start, stop, 1, dtype); }

/// Options of linspace.
struct LinspaceOptions {
  bool endpoint = true;             ///< includes `stop` as the last value
  std::optional<Dtype> dtype = {};  ///< default: float64, or the dtype of array arguments; integers are rounded down
  int axis = 0;                     ///< axis of the result along which the values lie, for array arguments
};
/// Returns `num` evenly spaced values from start to stop. Throws ValueError for a negative number. (numpy.linspace)
CT_API Array linspace(double start, double stop, std::int64_t num = 50, const LinspaceOptions& options = {});
/// Returns evenly spaced values for each element of start and stop, which broadcast. The values lie along a new axis.
CT_API Array linspace(const Operand& start, const Operand& stop, std::int64_t num = 50,
                      const LinspaceOptions& options = {});
/// Options of logspace.
struct LogspaceOptions {
  bool endpoint = true;
  double base = 10;
  std::optional<Dtype> dtype = {};
};
/// Returns base ** linspace(start, stop). (numpy.logspace)
CT_API Array logspace(double start, double stop, std::int64_t num = 50, const LogspaceOptions& options = {});
/// Returns `num` values from start to stop with a constant ratio. Both must have the same sign and not be zero.
/// (numpy.geomspace)
CT_API Array geomspace(double start, double stop, std::int64_t num = 50, const LinspaceOptions& options = {});

/// Options of meshgrid.
struct MeshgridOptions {
  std::string indexing = "xy";  ///< "xy": the first two axes are swapped; "ij": axis i belongs to array i
  bool sparse = false;          ///< gives the other axes size 1
};
/// Returns the coordinate arrays of the grid that 1-d arrays span. (numpy.meshgrid)
CT_API std::vector<Array> meshgrid(const std::vector<Array>& axes, const MeshgridOptions& options = {});
/// Returns the coordinates of each position: result[axis, …], of shape (ndim, …). (numpy.indices)
CT_API Array indices(const Shape& shape, Dtype dtype = Dtype::int64);
/// Returns powers of the 1-d `x` in columns, the highest first unless `increasing`. `columns` defaults to the size of
/// x. (numpy.vander)
CT_API Array vander(const Array& x, const std::optional<std::int64_t>& columns = {}, bool increasing = false);

}  // namespace catenary
