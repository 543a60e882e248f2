// Parsing of the key in a[key] for reading, writing and scattering.

#include "catenary/array/indexing.h"

#include <string>

#include "catenary/array/creation.h"
#include "catenary/core/error.h"
#include "core.h"

namespace catenary_python {

namespace {

std::int64_t index_from(PyObject* o) {
  const Py_ssize_t value = PyNumber_AsSsize_t(o, PyExc_IndexError);
  if (value == -1 && PyErr_Occurred()) raise_set();
  return static_cast<std::int64_t>(value);
}

ct::Index slice_from(PyObject* o) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(o, &start, &stop, &step) < 0) raise_set();
  return ct::Slice{start, stop, step};
}

ct::Index array_index(Array a) {
  if (ct::is_floating(a.dtype()))
    throw ct::IndexError(std::string("arrays used as indices must be of integer or boolean type, not ") +
                         ct::dtype_name(a.dtype()));
  return ct::Index(a);
}

/// Returns a bool as an index: a new axis of size 1 or 0.
ct::Index bool_index(bool value, const ct::Device& device) {
  const std::uint8_t host = value;
  return ct::Index(Array::from_host(&host, {}, Dtype::bool_, device));
}

ct::Index element_from(PyObject* o, const Array& a) {
  if (PySlice_Check(o)) return slice_from(o);
  if (PyBool_Check(o)) return bool_index(o == Py_True, a.device());
  if (PyLong_Check(o)) return ct::Index(index_from(o));
  if (o == Py_None) return ct::newaxis;
  if (o == Py_Ellipsis) return ct::ellipsis;
  if (is_ndarray(o)) return array_index(array_of(o));
  if (Argument like; has_protocol(o) && like.parse(o)) return array_index(*like.array);
  if (!PyUnicode_Check(o) && !PyBytes_Check(o) && (PySequence_Check(o) || nb::hasattr(o, "__array__"))) {
    // numpy.bool and 0-d arrays count as their value, and an empty list as integers
    const nb::object given = numpy().attr("asarray")(nb::handle(o));
    if (nb::cast<int>(given.attr("ndim")) == 0) {
      if (nb::cast<std::string>(given.attr("dtype").attr("kind")) == "b")
        return bool_index(nb::cast<bool>(given.attr("item")()), a.device());
      if (PyIndex_Check(o)) return ct::Index(index_from(o));
    }
    if (nb::cast<std::int64_t>(given.attr("size")) == 0 && !nb::hasattr(o, "dtype"))
      return array_index(from_numpy(given.ptr(), Dtype::int64, a.device()));
    return array_index(from_numpy(given.ptr(), std::nullopt, a.device()));
  }
  if (PyIndex_Check(o)) return ct::Index(index_from(o));
  throw ct::IndexError(
      "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
      "arrays are valid indices, not <class '" +
      nb::cast<std::string>(nb::handle((PyObject*)Py_TYPE(o)).attr("__name__")) + "'>");
}

}  // namespace

std::vector<ct::Index> parse_key(PyObject* key, const Array& a) {
  if (!PyTuple_Check(key)) return {element_from(key, a)};
  std::vector<ct::Index> indices;
  for (Py_ssize_t i = 0; i < PyTuple_Size(key); ++i) indices.push_back(element_from(PyTuple_GetItem(key, i), a));
  return indices;
}

}  // namespace catenary_python
