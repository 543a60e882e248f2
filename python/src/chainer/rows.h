#pragma once
// Shared by the rows of Python's own.

#include "catenary/core/error.h"
#include "functions.h"

namespace catenary_python {

using ct::Variable;

/// Rows of Python's own. rows() has all of them, and those of the library's signatures.
std::span<const Row> rows_of_layers();
std::span<const Row> rows_of_shapes();

template <auto f>
constexpr Call call = [](PyObject* const* arguments, unsigned no_none, ct::Variables& result) {
  return called(+f, arguments, no_none, result);
};

/// Returns the library's array over a NumPy array that nobody else sees, so that writes to it need not be tracked.
std::optional<Array> unshared(const nb::object& array);

/// Are these labels or ids for a variable: integers, on its device?
inline bool are_labels(const Any& t, const Floats& x) {
  return !ct::is_floating(t.v.dtype()) && x.v.device() == t.v.device();
}
/// Do all have one dtype, one device and one number of axes?
inline bool of_one_kind(const std::vector<Variable>& xs) {
  for (const Variable& x : xs)
    if (!of_one_dtype(x, xs[0]) || x.ndim() != xs[0].ndim()) return false;
  return true;
}
/// Are all of one dtype, and on one device?
inline bool of_one_dtype(std::initializer_list<const Variable*> all) {
  for (const Variable* v : all)
    if (!of_one_dtype(*v, **all.begin())) return false;
  return true;
}

/// Draws noise from NumPy's generator, which users seed, into an array that nobody else sees.
template <class... Parameters>
std::optional<Array> drawn(const char* distribution, const Shape& shape, Parameters... parameters) {
  const nb::object sizes = nb::steal(tuple_of(shape));
  return unshared(nb::object(numpy().attr("random")).attr(distribution)(parameters..., sizes));
}

}  // namespace catenary_python
