// The callables of Chainer's functions (rows.cpp), and operators of variables. Unsupported arguments go to a function
// of the package catenary/chainer, which computes them or raises the error.

#include "functions.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "catenary/array/indexing.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/axis_error.h"
#include "catenary/functions/math_basic.h"

namespace catenary_python {

namespace {

using ct::Variable;
namespace F = ct::functions;

PyTypeObject* call_type = nullptr;

struct CallObject {
  PyObject ob_base;
  const Row* row;
  PyObject* original;
  unsigned no_none;  // once is_known, a bit for each parameter whose default is not None
  bool is_known;
};

CallObject& self(PyObject* o) { return *reinterpret_cast<CallObject*>(o); }

/// Returns a bit for each argument of a row's call whose default in Chainer is not None.
unsigned without_none(const Row& row, PyObject* original) {
  const nb::module_ inspect = nb::module_::import_("inspect");
  const nb::object known = inspect.attr("signature")(nb::handle(original)).attr("parameters");
  const nb::object empty = inspect.attr("Parameter").attr("empty");
  unsigned bits = 0;
  for (std::size_t i = 0; i < row.parameters.size() && row.parameters[i]; ++i) {
    const nb::object parameter = known.attr("get")(row.parameters[i] + (row.parameters[i][0] == '='));
    if (parameter.is_none()) continue;  // **kwargs
    const nb::object value = parameter.attr("default");
    if (!value.is_none() && !value.is(empty)) bits |= 1u << row.places[i];
  }
  return bits;
}

/// Returns no_none, and computes it when an argument is None for the first time, which is rare.
unsigned no_none(CallObject& call, std::span<PyObject* const> places) {
  if (!call.is_known && std::find(places.begin(), places.end(), Py_None) != places.end()) {
    call.no_none = without_none(*call.row, call.original);
    call.is_known = true;
  }
  return call.no_none;
}

/// Binds arguments to the parameters of a row. Returns false if they do not fit.
bool placed(const Row& row, PyObject* arguments, PyObject* keywords, PyObject** places) {
  const Py_ssize_t count = PyTuple_Size(arguments);
  if (row.parameters[0][0] == '*') {
    places[0] = arguments;
    return !keywords || PyDict_Size(keywords) == 0;
  }
  std::size_t all = 0, by_place = 0;
  for (; all < row.parameters.size() && row.parameters[all]; ++all) by_place += row.parameters[all][0] != '=';
  if (count > static_cast<Py_ssize_t>(by_place)) return false;
  for (Py_ssize_t i = 0; i < count; ++i)
    places[row.places[static_cast<std::size_t>(i)]] = PyTuple_GetItem(arguments, i);
  if (keywords) {
    PyObject *name, *value;
    for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &name, &value);) {
      std::size_t i = 0;
      while (i < all && PyUnicode_CompareWithASCIIString(name, row.parameters[i] + (i >= by_place)) != 0) ++i;
      if (i == all || places[row.places[i]]) return false;
      places[row.places[i]] = value;
    }
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(row.required); ++i)
    if (!places[row.places[i]]) return false;
  return true;
}

PyObject* invalid_type = nullptr;  // raises InvalidType with the name of a function and a message

[[noreturn]] void raise_invalid_type(const char* function, const ct::Error& error) {
  (void)nb::handle(kept(invalid_type))(function, error.what());
  throw error;
}

/// Returns f's result. Raises Chainer's InvalidType for shapes and dtypes, and Python's exception for other errors.
template <class Compute>
auto or_raise(const char* function, bool refuses_labels, Compute&& f) -> decltype(f()) {
  try {
    return with_hooks(f);
  } catch (const ct::ArgumentShapeError&) {
    throw;
  } catch (const ct::ShapeError& error) {
    raise_invalid_type(function, error);
  } catch (const ct::DtypeError& error) {
    raise_invalid_type(function, error);
  } catch (const ct::IndexCountError& error) {
    raise_invalid_type(function, error);
  } catch (const ct::EllipsisError& error) {
    raise(PyExc_ValueError, error.what());
  } catch (const ct::IndexError& error) {
    if (refuses_labels) raise(PyExc_ValueError, error.what());
    throw;
  }
}
template <class Compute>
auto or_raise(const char* function, Compute&& f) -> decltype(f()) {
  return or_raise(function, false, f);
}

/// Returns the position of an uninitialised Variable in an argument: "xs", or "xs[1]" in a list, or empty.
std::string without_values(PyObject* o, const std::string& name) {
  if (is_variable(o)) {
    const Variable& v = variable_of(o);
    return !v.defined() || !has_values(v.node()) ? name : std::string();
  }
  if (!PyTuple_Check(o) && !PyList_Check(o)) return {};
  for (Py_ssize_t i = 0, count = PySequence_Size(o); i < count; ++i) {
    const nb::object item = checked(PySequence_GetItem(o, i));
    if (std::string found = without_values(item.ptr(), name + '[' + std::to_string(i) + ']'); !found.empty())
      return found;
  }
  return {};
}

/// Returns the result of Chainer's code. If it raises and an argument is an uninitialised Variable, which Chainer's
/// message does not mention, the error names the argument. `find` returns its name or an empty string.
template <class Find>
PyObject* by_original(PyObject* result, const std::string& function, Find&& find) {
  if (result || !PyErr_ExceptionMatches(PyExc_Exception)) return result;
  nb::python_error error;
  if (const std::string name = find(); !name.empty())
    nb::raise_from(error, PyExc_ValueError,
                   "%s: %s is a Variable without values (Variable(None), or a parameter that is not initialized)",
                   function.c_str(), name.c_str());
  error.restore();
  return nullptr;
}

/// Returns the name of the first argument that is an uninitialised Variable.
std::string without_values(const Row& row, PyObject* arguments, PyObject* keywords) {
  const char* const first = row.parameters[0];
  if (first[0] == '*') return without_values(arguments, first + 1);
  for (Py_ssize_t i = 0, count = PyTuple_Size(arguments); i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const char* const name = at < row.parameters.size() ? row.parameters[at] : nullptr;
    const std::string found =
        without_values(PyTuple_GetItem(arguments, i), name && name[0] != '=' ? name : "argument " + std::to_string(i));
    if (!found.empty()) return found;
  }
  PyObject *name, *value;
  for (Py_ssize_t at = 0; keywords && PyDict_Next(keywords, &at, &name, &value);)
    if (std::string found = without_values(value, nb::cast<std::string>(nb::handle(name))); !found.empty())
      return found;
  return {};
}
/// Returns the function's name in its module.
const char* name_of(const Row& row) { return std::strrchr(row.name, '.') + 1; }

PyObject* given_as(Gives gives, const ct::Variables& ys) {
  if (gives == Gives::one) return wrap_variable(ys[0]);
  if (gives == Gives::all) return wrap_variables(ys).release().ptr();
  if (gives == Gives::one_and_array || gives == Gives::one_and_arrays) {
    if (gives == Gives::one_and_array && ys.size() == 1) return wrap_variable(ys[0]);
    const nb::object y = checked(wrap_variable(ys[0]));
    nb::list arrays;
    for (std::size_t i = 1; i < ys.size(); ++i) arrays.append(nb::borrow(array_object(ys[i].node())));
    return nb::make_tuple(y, gives == Gives::one_and_array ? nb::object(arrays[0]) : nb::object(arrays))
        .release()
        .ptr();
  }
  const std::size_t alone = gives == Gives::one_and_rest ? 1 : 2;
  const nb::object all = checked(PyTuple_New(static_cast<Py_ssize_t>(alone + 1)));
  for (std::size_t i = 0; i < alone; ++i) PyTuple_SetItem(all.ptr(), static_cast<Py_ssize_t>(i), wrap_variable(ys[i]));
  PyTuple_SetItem(all.ptr(), static_cast<Py_ssize_t>(alone),
                  wrap_variables(std::span<const Variable>(ys.begin(), ys.end()).subspan(alone)).release().ptr());
  return nb::object(all).release().ptr();
}

PyObject* call_function(PyObject* o, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    const Row& row = *self(o).row;
    PyObject* places[kMostArguments] = {};
    if (placed(row, arguments, keywords, places)) {
      const unsigned refusing = row.signature ? 0 : no_none(self(o), places);
      const ct::Variables ys = or_raise(name_of(row), row.refuses_labels, [&] {
        ct::Variables result;
        const bool taken =
            row.signature ? call_signature(*row.signature, places, result) : row.call(places, refusing, result);
        return taken ? std::move(result) : ct::Variables();
      });
      share_owner(ys, places);
      if (!ys.empty()) return given_as(row.gives, ys);
    }
    return by_original(PyObject_Call(self(o).original, arguments, keywords), name_of(row),
                       [&] { return without_values(row, arguments, keywords); });
  });
}

PyObject* get_attribute(PyObject* o, PyObject* name) {
  if (PyUnicode_CompareWithASCIIString(name, "__wrapped__") == 0) return Py_NewRef(self(o).original);
  if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0)
    return Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(o)));
  if (PyUnicode_CompareWithASCIIString(name, "__reduce_ex__") == 0 ||
      PyUnicode_CompareWithASCIIString(name, "__reduce__") == 0)
    return PyObject_GenericGetAttr(o, name);
  return PyObject_GetAttr(self(o).original, name);
}

/// Binds the callable to an object, as Python binds functions of a class (Variable.__abs__).
PyObject* bind(PyObject* o, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return Py_NewRef(o);
  static PyObject* const method = nb::object(nb::module_::import_("types").attr("MethodType")).release().ptr();
  return PyObject_CallFunctionObjArgs(method, o, object, nullptr);
}

/// Pickles the callable by its name, as functions are.
PyObject* reduce(PyObject* o, PyObject*) { return PyObject_GetAttrString(self(o).original, "__qualname__"); }
PyMethodDef call_methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};

PyObject* represent(PyObject* o) { return PyUnicode_FromFormat("<%s by Catenary>", self(o).row->name); }

PyObject* new_call(PyTypeObject* type, PyObject* arguments, PyObject*) {
  return guarded([&]() -> PyObject* {
    const char* name;
    PyObject* original;
    if (!PyArg_ParseTuple(arguments, "sO", &name, &original)) return nullptr;
    for (const Row& row : rows()) {
      if (std::strcmp(row.name, name) != 0) continue;
      PyObject* o = allocate(type);
      self(o).row = &row;
      self(o).original = Py_NewRef(original);
      return o;
    }
    raise(PyExc_KeyError, name);
  });
}

void free_call(PyObject* o) {
  PyObject_GC_UnTrack(o);
  Py_CLEAR(self(o).original);
  free_object(o);
}
int traverse_call(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(self(o).original);
  return 0;
}
int clear_call(PyObject* o) {
  Py_CLEAR(self(o).original);
  return 0;
}

// ---- operators of variables

enum Operator : std::size_t { kAdd, kSubtract, kMultiply, kDivide, kPower, kNegative, kGetItem, kMatmul, kOperators };
/// Chainer's methods: `__add__`, `__radd__` and so on.
constexpr const char* kSymbols[kOperators] = {"+", "-", "*", "/", "**", "-", "[]", "@"};
PyObject* methods[kOperators] = {};
PyObject* reflected[kOperators] = {};

/// Is this a numpy.float64 or numpy.float32?
bool is_numpy_float(PyObject* o) {
  static PyObject* const wide = nb::object(numpy().attr("float64")).release().ptr();
  static PyObject* const narrow = nb::object(numpy().attr("float32")).release().ptr();
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(o));
  return type == wide || type == narrow;
}

/// Reads a Python number or NumPy float as a weak literal, since Chainer casts it to the variable's dtype.
bool number(PyObject* o, Scalar& to) {
  if (PyFloat_CheckExact(o)) {
    to = Scalar(PyFloat_AsDouble(o));
    return true;
  }
  if (is_numpy_float(o)) {
    to = Scalar(PyFloat_AsDouble(checked(PyNumber_Float(o)).ptr()));
    return true;
  }
  std::int64_t whole;
  if (!read(o, whole)) return false;
  to = Scalar(whole);
  return true;
}

template <Operator op, class A, class B>
Variable computed(const A& a, const B& b) {
  switch (op) {
    case kAdd:
      return F::add(a, b);
    case kSubtract:
      return F::subtract(a, b);
    case kMultiply:
      return F::multiply(a, b);
    case kDivide:
      return F::divide(a, b);
    default:
      return F::power(a, b);
  }
}

/// Returns a NumPy array as the operand of a variable on the processor, or an undefined variable.
Variable operand(PyObject* o, const Variable& beside) {
  static PyObject* const type = nb::object(numpy().attr("ndarray")).release().ptr();
  Floats array;
  const bool taken = reinterpret_cast<PyObject*>(Py_TYPE(o)) == type && beside.device() == ct::Device();
  return taken && read(o, array) ? array.v : Variable();
}

bool usable(PyObject* o) {
  const Variable& v = variable_of(o);
  return v.defined() && v.array().defined() && ct::is_floating(v.dtype());
}

/// Calls Chainer's operator. `b` is null for unary operators.
PyObject* by_chainer(Operator op, PyObject* a, PyObject* b) {
  const bool left = is_variable(a);
  PyObject* const method = left ? methods[op] : reflected[op];
  if (!method) Py_RETURN_NOTIMPLEMENTED;
  return by_original(PyObject_CallFunctionObjArgs(method, left ? a : b, left ? b : a, nullptr), kSymbols[op], [&] {
    const std::string found = without_values(a, b ? "the left operand" : "the operand");
    return found.empty() && b ? without_values(b, "the right operand") : found;
  });
}

PyObject* wrap_result(const Variable& y, PyObject* a, PyObject* b = nullptr) {
  PyObject* const operands[] = {a, b};
  share_owner({&y, 1}, operands);
  return wrap_variable(y);
}

template <Operator op>
PyObject* binary(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    const bool left = is_variable(a);
    Variable y;
    Scalar literal(false);
    if (left && is_variable(b)) {
      if (usable(a) && usable(b) && of_one_dtype(variable_of(a), variable_of(b)))
        y = or_raise(kSymbols[op], [&] { return computed<op>(variable_of(a), variable_of(b)); });
    } else if (PyObject* const self = left ? a : b; usable(self)) {
      const Variable& v = variable_of(self);
      if (number(left ? b : a, literal)) {
        y = or_raise(kSymbols[op], [&] { return left ? computed<op>(v, literal) : computed<op>(literal, v); });
      } else if (const Variable other = operand(left ? b : a, v); other.defined() && of_one_dtype(v, other)) {
        y = or_raise(kSymbols[op], [&] { return left ? computed<op>(v, other) : computed<op>(other, v); });
      }
    }
    if (y.defined()) return wrap_result(y, a, b);
    return by_chainer(op, a, b);
  });
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulo) {
  if (modulo != Py_None) {
    PyErr_SetString(PyExc_TypeError, "pow: a third argument is not supported");
    return nullptr;
  }
  return binary<kPower>(a, b);
}

PyObject* negative(PyObject* a) {
  return guarded([&]() -> PyObject* {
    if (usable(a)) return wrap_result(with_hooks([&] { return F::negative(variable_of(a)); }), a);
    kept(methods[kNegative]);
    return by_chainer(kNegative, a, nullptr);
  });
}

PyObject* matrix_product(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (is_variable(a) && is_variable(b) && usable(a) && usable(b) && of_one_dtype(variable_of(a), variable_of(b))) {
      const Variable y = or_raise(kSymbols[kMatmul], [&] { return F::matmul(variable_of(a), variable_of(b)); });
      if (y.defined()) return wrap_result(y, a, b);
    }
    return by_chainer(kMatmul, a, b);
  });
}

PyObject* get_item(PyObject* a, PyObject* key) {
  return guarded([&]() -> PyObject* {
    if (usable(a)) {
      const Variable y = or_raise(kSymbols[kGetItem], [&] {
        std::vector<ct::Index> indices;
        return read_key(key, variable_of(a), indices) ? F::get_item(variable_of(a), indices) : Variable();
      });
      if (y.defined()) return wrap_result(y, a);
    }
    kept(methods[kGetItem]);
    return by_chainer(kGetItem, a, key);
  });
}

PyType_Slot operator_slots[] = {{Py_nb_add, slot(binary<kAdd>)},
                                {Py_nb_subtract, slot(binary<kSubtract>)},
                                {Py_nb_multiply, slot(binary<kMultiply>)},
                                {Py_nb_true_divide, slot(binary<kDivide>)},
                                {Py_nb_power, slot(power)},
                                {Py_nb_negative, slot(negative)},
                                {Py_nb_matrix_multiply, slot(matrix_product)},
                                {Py_mp_subscript, slot(get_item)},
                                {0, nullptr}};

}  // namespace

bool is_whole(PyObject* o) {
  static PyObject* const integer = nb::object(numpy().attr("integer")).release().ptr();
  return PyLong_CheckExact(o) || (!PyFloat_CheckExact(o) && !PyBool_Check(o) && PyObject_IsInstance(o, integer) == 1);
}

bool is_number(PyObject* o) {
  static PyObject* const scalar = nb::object(numpy().attr("generic")).release().ptr();
  static PyObject* const ndarray = nb::object(numpy().attr("ndarray")).release().ptr();
  if (PyObject_IsInstance(o, scalar) != 1 &&
      (PyObject_IsInstance(o, ndarray) != 1 || nb::cast<int>(nb::handle(o).attr("ndim")) != 0))
    return false;
  const auto kind = nb::cast<std::string>(nb::handle(o).attr("dtype").attr("kind"));
  return kind == "f" || kind == "i" || kind == "u" || kind == "b";
}

bool read_key(PyObject* key, const Variable& x, std::vector<ct::Index>& to) {
  static PyObject* const ndarray = nb::object(numpy().attr("ndarray")).release().ptr();
  // as in Chainer, a list of integers is an array, and any other list a tuple
  const auto is_array = [&](PyObject* o) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(o)) == ndarray) return x.device() == ct::Device();
    if (is_ndarray(o)) return array_of(o).device() == x.device();
    if (!PyList_CheckExact(o) || PyList_Size(o) == 0) return false;
    for (Py_ssize_t i = 0; i < PyList_Size(o); ++i)
      if (!PyLong_CheckExact(PyList_GetItem(o, i))) return false;
    return true;
  };
  const auto taken = [&](PyObject* o) {
    return PySlice_Check(o) || o == Py_Ellipsis || o == Py_None || is_whole(o) || is_array(o);
  };
  bool all = PyTuple_Check(key) || taken(key);
  if (PyTuple_Check(key))
    for (Py_ssize_t i = 0; i < PyTuple_Size(key); ++i) all = all && taken(PyTuple_GetItem(key, i));
  if (!all) return false;
  to = parse_key(key, x.array());
  return true;
}

PyType_Slot* variable_operators() { return operator_slots; }

void register_functions(nb::module_& m) {
  PyType_Slot slots[] = {{Py_tp_new, slot(new_call)},           {Py_tp_dealloc, slot(free_call)},
                         {Py_tp_traverse, slot(traverse_call)}, {Py_tp_clear, slot(clear_call)},
                         {Py_tp_call, slot(call_function)},     {Py_tp_getattro, slot(get_attribute)},
                         {Py_tp_descr_get, slot(bind)},         {Py_tp_repr, slot(represent)},
                         {Py_tp_methods, call_methods},         {0, nullptr}};
  call_type = new_type(m, "_Call", sizeof(CallObject), Py_TPFLAGS_HAVE_GC, slots);
  m.def("_chainer_rows", [] {
    nb::dict all;
    for (const Row& row : rows()) {
      nb::list parameters;
      for (const char* const name : row.parameters)
        if (name) parameters.append(name);
      all[row.name] = parameters;
    }
    return all;
  });
  m.def("_chainer_takers", [] {
    nb::set labels, lists;  // the names of functions of labels, and of those whose first argument is a list
    for (const F::Signature& signature : F::signatures()) {
      const nb::object name = nb::cast(std::string(signature.name()));
      for (const F::Argument& argument : signature.arguments)
        if (argument.takes == F::Takes::labels) labels.add(name);
      if (signature.arguments[0].is_list && signature.arguments[0].name[0] != '*') lists.add(name);
    }
    return nb::make_tuple(labels, lists);
  });
  m.def("_chainer_errors", [](nb::object raise) { keep(invalid_type, std::move(raise)); });
  m.def("_chainer_operators", [](nb::list own, nb::list other) {
    for (std::size_t i = 0; i < kOperators; ++i) {
      if (!own[i].is_none()) keep(methods[i], nb::object(own[i]));
      if (!other[i].is_none()) keep(reflected[i], nb::object(other[i]));
    }
  });
}

void register_chainer(nb::module_& m) {
  register_kept(m);
  register_arrays(m);
  register_graph(m);
  register_variables(m);
  register_function_nodes(m);
  register_functions(m);
  register_optimizers(m);
  register_plots(m);
}

}  // namespace catenary_python
