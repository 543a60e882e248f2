#pragma once
// The description of Chainer's functions that the library implements, and the parsing of their arguments.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/array/indexing.h"
#include "catenary/autograd/attributes.h"
#include "catenary/core/per_axis.h"
#include "catenary/functions/signature.h"
#include "objects.h"

namespace catenary_python {

/// The result of Chainer's function: a variable, a tuple, one or two variables and a tuple of the others, or a variable
/// with one optional array or a list of arrays.
enum class Gives : std::uint8_t { one, all, one_and_rest, two_and_rest, one_and_array, one_and_arrays };
/// Calls a function with one object or null for each argument.
using Call = bool (*)(PyObject* const*, unsigned, ct::Variables&);
/// A function of Chainer's. A row without parameters has those of the library's signature. If the call finds
/// unsupported arguments, it returns an undefined Variable, or no Variables.
struct Row {
  const char* name;  // Chainer's module and function
  // Chainer's parameter names, those without a default first. "*xs" takes all as a tuple, "=r" is keyword-only.
  std::array<const char*, 10> parameters;
  int required;
  Call call;
  Gives gives = Gives::one;
  // the argument of `call` for each parameter
  std::array<std::uint8_t, 10> places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const ct::functions::Signature* signature = nullptr;  // of a function of the library, in place of `call`
  bool refuses_labels = false;                          // as in the signature
};
/// The maximum number of arguments of a call.
inline constexpr std::size_t kMostArguments = 12;
/// Returns all rows.
std::span<const Row> rows();
/// Returns the row of a function of the library.
Row row_of(const ct::functions::Signature& signature);
/// Calls a function of the library with one object or null for each argument. Returns false for unsupported arguments.
bool call_signature(const ct::functions::Signature& signature, PyObject* const* arguments, ct::Variables& results);

/// Reads the key of an index: integers, slices, None, Ellipsis, arrays and lists. Returns false for other keys.
bool read_key(PyObject* key, const ct::Variable& x, std::vector<ct::Index>& to);
/// Is this an integer of Python's or NumPy's?
bool is_whole(PyObject* o);
/// Is this a scalar of NumPy's or a 0-d array, real or bool?
bool is_number(PyObject* o);

inline bool of_one_dtype(const ct::Variable& a, const ct::Variable& b) {
  return a.dtype() == b.dtype() && a.device() == b.device();
}

/// A variable of a floating dtype, or with Any of any dtype.
struct Floats {
  ct::Variable v;
};
struct Any {
  ct::Variable v;
};
/// A variable of any dtype over the given object, which keeps its identity.
struct Values {
  ct::Variable v;
};

// Readers of arguments. They return false if the row does not support the argument.

inline bool read(PyObject* o, Any& to) {
  if (is_variable(o)) {
    const ct::Variable& v = variable_of(o);
    if (!v.defined() || !v.array().defined()) return false;
    // the library's functions give no gradient to labels and ids, whatever their variables request
    to.v = ct::is_floating(v.dtype()) ? v : ct::Variable(v.array(), false);
    return true;
  }
  Array a;
  if (!array_over(o, a)) return false;
  to.v = ct::Variable(a, false);
  return true;
}
inline bool read(PyObject* o, Floats& to) {
  Any any;
  if (!read(o, any) || !ct::is_floating(any.v.dtype())) return false;
  to.v = std::move(any.v);
  return true;
}
inline bool read(PyObject* o, Values& to) {
  Any any;
  if (!read(o, any)) return false;
  to.v = is_variable(o) ? std::move(any.v) : variable_over(o, false);  // keeps the array's object
  return true;
}
inline bool read(PyObject* o, bool& to) {
  to = o == Py_True;
  return PyBool_Check(o);
}
inline bool read(PyObject* o, std::int64_t& to) {
  if (!is_whole(o)) return false;
  int overflow;
  to = PyLong_AsLongLongAndOverflow(PyLong_CheckExact(o) ? o : checked(PyNumber_Index(o)).ptr(), &overflow);
  return overflow == 0;
}
inline bool read(PyObject* o, int& to) {
  std::int64_t wide;
  if (!read(o, wide) || wide != static_cast<int>(wide)) return false;
  to = static_cast<int>(wide);
  return true;
}
inline bool read(PyObject* o, double& to) {
  if (!PyFloat_CheckExact(o) && !PyLong_CheckExact(o) && !is_number(o)) return false;
  to = PyFloat_AsDouble(o);
  if (to != -1 || !PyErr_Occurred()) return true;
  PyErr_Clear();
  return false;
}
inline bool read(PyObject* o, ct::Dims& to) {
  if (PyTuple_Check(o) || PyLong_CheckExact(o)) return nb::try_cast(nb::handle(o), to);
  std::int64_t one;
  if (!read(o, one)) return false;
  to = {one};
  return true;
}
/// Reads a string.
inline bool read(PyObject* o, std::string& to) { return PyUnicode_Check(o) && nb::try_cast(nb::handle(o), to); }
/// Reads an enumerator by its name.
template <class E>
requires(std::is_enum_v<E>) bool read(PyObject* o, E& to) {
  Py_ssize_t size = 0;
  const char* const word = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, &size) : nullptr;
  if (!word) PyErr_Clear();
  const auto found = ct::detail::enumerator_named<E>(word ? std::string_view(word, size) : std::string_view());
  if (found) to = *found;
  return found.has_value();
}
/// Reads an array that the function may write.
inline bool read(PyObject* o, Array& to) {
  return (is_ndarray(o) || PyObject_HasAttrString(o, "__array_interface__")) && array_over(o, to, true);
}
inline bool read(PyObject* o, ct::Variable& to) {
  Any any;
  const bool taken = read(o, any);
  to = std::move(any.v);
  return taken;
}
bool read(PyObject* o, std::vector<ct::Variable>& to);
/// Reads lists and tuples.
template <class T>
bool read(PyObject* o, std::vector<T>& to) {
  if (!PyTuple_Check(o) && !PyList_Check(o)) return false;
  for (nb::handle item : nb::handle(o))
    if (!read(item.ptr(), to.emplace_back())) return false;
  return !to.empty();
}
inline bool read(PyObject* o, std::vector<ct::Variable>& to) {
  if (!PyTuple_Check(o) && !PyList_Check(o)) return false;
  for (nb::handle item : nb::handle(o)) {
    Floats one;
    if (!read(item.ptr(), one)) return false;
    to.push_back(std::move(one.v));
  }
  return !to.empty();
}
/// Reads an optional argument, which may be None or missing.
template <class T>
inline bool read(PyObject* o, std::optional<T>& to) {
  if (!o || o == Py_None) return true;
  return read(o, to.emplace());
}

inline ct::Variables results(ct::Variable&& y) {
  ct::Variables all;
  if (y.defined()) all.push_back(std::move(y));
  return all;
}
inline ct::Variables results(std::pair<ct::Variable, ct::Variable>&& y) {
  ct::Variables all(std::move(y.first));
  all.push_back(std::move(y.second));
  return all;
}
inline ct::Variables results(ct::Variables&& ys) { return std::move(ys); }

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;

using ct::detail::IsOptional;
using ct::detail::WithFields;

/// Reads a member of options, or leaves its default if it is not given.
template <class T>
requires(!IsOptional<T>) && requires(PyObject* o, T& to) { read(o, to); }
bool read_member(PyObject* o, T& to) {
  constexpr bool may_be_undefined = std::is_same_v<T, Array> || std::is_same_v<T, ct::Variable>;
  return !o || (may_be_undefined && o == Py_None) || read(o, to);
}
/// Is it None, or None for each axis, as L.Deconvolution2D passes it?
inline bool is_none(PyObject* o) {
  Py_ssize_t nones = 0;
  for (Py_ssize_t i = 0; PyTuple_Check(o) && i < PyTuple_Size(o); ++i) nones += PyTuple_GetItem(o, i) == Py_None;
  return o == Py_None || (nones > 0 && nones == PyTuple_Size(o));
}
template <IsOptional T>
requires requires(PyObject* o, typename T::value_type& to) { read(o, to); }
bool read_member(PyObject* o, T& to) {
  if (!o) return true;
  if (is_none(o)) {
    to.reset();
    return true;
  }
  if constexpr (std::is_default_constructible_v<typename T::value_type>)
    return read(o, to.emplace());
  else
    return read(o, to.emplace(0));
}

/// Reads the next argument.
template <class T>
bool read_next(PyObject* const*& next, unsigned& no_none, T& to) {
  bool taken = true;
  if constexpr (WithFields<T>) {
    visit_fields(to, [&](const std::string&, auto& member) {
      if constexpr (requires { read_member(*next, member); }) {
        taken = taken && read_member(*next++, member);
        no_none >>= 1;
      }
    });
  } else {
    PyObject* const o = *next++;
    taken = !(is_optional<T> && o == Py_None && (no_none & 1) != 0) && read(o, to);
    no_none >>= 1;
  }
  return taken;
}

/// Reads the arguments of a function of the library's and calls it. False where it does not take them. `no_none` has a
/// bit for each of them whose default is not None: to an optional one None would say that it is not given.
template <class R, class... A>
bool called(R (*f)(A...), PyObject* const* arguments, unsigned no_none, ct::Variables& result) {
  std::tuple<std::remove_cvref_t<A>...> values;
  const bool taken = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return (read_next(arguments, no_none, std::get<i>(values)) && ...);
  }
  (std::index_sequence_for<A...>());
  if (!taken) return false;
  result = results(std::apply(f, std::move(values)));
  return true;
}

}  // namespace catenary_python
