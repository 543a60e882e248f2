#pragma once

#include <vector>

#include "catenary/array/array.h"

namespace catenary::test {

/// An array with the given elements; 1-d when no shape is given.
template <class T>
Array array(const std::vector<T>& elements) {
  return Array::from_host(elements.data(), Shape{static_cast<std::int64_t>(elements.size())}, dtype_of<T>);
}
template <class T>
Array array(const std::vector<T>& elements, const Shape& shape) {
  return Array::from_host(elements.data(), shape, dtype_of<T>);
}
inline std::vector<double> values(const Array& a) { return a.to_vector<double>(); }

}  // namespace catenary::test
