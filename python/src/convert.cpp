// Conversions between Python's values and the library's: dtypes, numbers, shapes, arrays in host memory.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/view.h"
#include "catenary/device/backend.h"
#include "core.h"

namespace catenary_python {

namespace {

/// NumPy objects needed for frequent comparisons. They live as long as the process.
struct NumPy {
  PyObject* module = nullptr;
  PyTypeObject *generic = nullptr, *ndarray = nullptr;
  std::array<PyObject*, ct::kDtypes> dtypes{}, scalars{};
};
NumPy np;

PyObject* attribute(PyObject* of, const char* name) {
  return checked(PyObject_GetAttrString(of, name)).release().ptr();
}

std::string text_of(PyObject* o) { return nb::cast<std::string>(nb::str(nb::handle(o))); }

[[noreturn]] void refuse_dtype(const std::string& name) {
  raise(PyExc_TypeError,
        "dtype " + name + ": expected bool, an integer dtype, float16, float32, float64, complex64 or complex128");
}

Scalar complex_scalar(PyObject* o) {
  // The stable ABI has no Py_complex. NumPy's complex64 is no Python complex number, but has __complex__.
  nb::object number = nb::borrow(o);
  if (!PyComplex_Check(o)) number = nb::handle(reinterpret_cast<PyObject*>(&PyComplex_Type))(number);
  return Scalar(std::complex<double>(PyComplex_RealAsDouble(number.ptr()), PyComplex_ImagAsDouble(number.ptr())));
}

/// Reads a Python integer as a literal, or as a 0-d uint64 array if no signed type holds it.
void set_integer(Argument& argument, PyObject* o) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (value == -1 && !overflow && PyErr_Occurred()) raise_set();
  if (!overflow) {
    argument.scalar = Scalar(static_cast<std::int64_t>(value));
    return;
  }
  argument.beyond_int64 = true;
  const double real = PyLong_AsDouble(o);
  if (real == -1 && PyErr_Occurred()) raise_set();
  argument.scalar = Scalar(real);
  const unsigned long long wide = overflow > 0 ? PyLong_AsUnsignedLongLong(o) : 0;
  if (overflow < 0 || PyErr_Occurred()) {
    PyErr_Clear();
    argument.beyond_uint64 = o;
    return;
  }
  const std::uint64_t host = wide;
  argument.kept = Array::from_host(&host, {}, Dtype::uint64, current_device());
  argument.array = &argument.kept;
}

void set_numpy_scalar(Argument& argument, PyObject* o) {
  const nb::object dtype = checked(PyObject_GetAttrString(o, "dtype"));
  argument.strong = dtype_from(dtype.ptr());
  switch (ct::kind(*argument.strong)) {
    case ct::Kind::boolean:
      argument.scalar = Scalar(PyObject_IsTrue(o) == 1);
      return;
    case ct::Kind::floating: {
      const double value = PyFloat_AsDouble(o);
      if (value == -1 && PyErr_Occurred()) raise_set();
      argument.scalar = Scalar(value);
      return;
    }
    case ct::Kind::complex:
      argument.scalar = complex_scalar(o);
      return;
    default:
      set_integer(argument, checked(PyNumber_Index(o)).ptr());
      if (argument.array) argument.strong.reset();
      argument.beyond_int64 = false;
  }
}

/// Reads an index (any object with __index__ except bool arrays). Returns false for other objects.
bool read_index(PyObject* o, std::int64_t* value) {
  if (!PyIndex_Check(o)) return false;
  PyObject* index = PyNumber_Index(o);
  if (!index) {
    PyErr_Clear();
    return false;
  }
  *value = PyLong_AsLongLong(index);
  Py_DECREF(index);
  if (*value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return false;
  }
  return true;
}

/// Reads an int or a sequence of ints. Returns their number, or -1 for other objects. `dims` is empty if there are too
/// many.
int read_dims(PyObject* o, ct::Dims* dims) {
  std::int64_t one = 0;
  *dims = ct::Dims();
  if (!PySequence_Check(o) || catenary_python::is_ndarray(o)) {
    if (!read_index(o, &one)) return -1;
    dims->push_back(one);
    return 1;
  }
  const Py_ssize_t n = PySequence_Size(o);
  if (n < 0) {
    PyErr_Clear();
    return -1;
  }
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PySequence_GetItem(o, i);
    if (!item) PyErr_Clear();
    const bool fits = item && read_index(item, &one);
    Py_XDECREF(item);
    if (!fits) return -1;
    if (n <= ct::kMaxDims) dims->push_back(one);
  }
  return static_cast<int>(std::min<Py_ssize_t>(n, std::numeric_limits<int>::max()));
}

}  // namespace

nb::module_ numpy() { return nb::borrow<nb::module_>(np.module); }

PyObject* numpy_dtype(Dtype dtype) {
  PyObject*& known = np.dtypes[static_cast<std::size_t>(dtype)];
  if (known) return known;
  // NumPy itself has no bfloat16
  const nb::object module = checked(PyImport_ImportModule("ml_dtypes"));
  return known =
             checked(PyObject_CallMethod(np.module, "dtype", "N", attribute(module.ptr(), "bfloat16"))).release().ptr();
}

Dtype dtype_from(PyObject* o) {
  for (std::size_t i = 0; i < np.dtypes.size(); ++i)
    if (o == np.dtypes[i] || o == np.scalars[i]) return static_cast<Dtype>(i);
  const nb::object dtype = checked(PyObject_CallMethod(np.module, "dtype", "(O)", o));
  for (std::size_t i = 0; i < np.dtypes.size(); ++i) {
    if (!np.dtypes[i]) continue;
    const int equal = PyObject_RichCompareBool(dtype.ptr(), np.dtypes[i], Py_EQ);
    if (equal < 0) raise_set();
    if (equal) return static_cast<Dtype>(i);
  }
  const std::string name = nb::cast<std::string>(dtype.attr("name"));
  if (name == "bfloat16") return Dtype::bfloat16;
  if (nb::cast<std::string>(dtype.attr("kind")) != "V" && !nb::cast<bool>(dtype.attr("isnative")))
    return dtype_from(dtype.attr("newbyteorder")("=").ptr());
  refuse_dtype(name);
}

bool has_protocol(PyObject* o) {
  return PyObject_HasAttrString(o, "__cuda_array_interface__") || PyObject_HasAttrString(o, "__cupy_get_ndarray__");
}

bool Argument::parse(PyObject* o) {
  if (is_ndarray(o)) {
    array = &array_of(o);
  } else if (PyFloat_CheckExact(o)) {
    scalar = Scalar(PyFloat_AsDouble(o));
  } else if (PyBool_Check(o)) {
    scalar = Scalar(o == Py_True);
  } else if (PyLong_CheckExact(o)) {
    set_integer(*this, o);
  } else if (PyObject_TypeCheck(o, np.generic)) {
    set_numpy_scalar(*this, o);
  } else if (PyLong_Check(o)) {
    set_integer(*this, o);
  } else if (PyFloat_Check(o)) {
    scalar = Scalar(PyFloat_AsDouble(o));
  } else if (PyComplex_Check(o)) {
    scalar = complex_scalar(o);
  } else if (has_protocol(o)) {
    kept = array_of(nb::module_::import_("catenary.cupy._array").attr("asarray")(nb::handle(o)).ptr());
    array = &kept;
    by_protocol = true;
  } else {
    return false;
  }
  return true;
}

void Argument::refuse_integer() const {
  raise(PyExc_OverflowError, "Python integer " + text_of(beyond_uint64) + " is out of bounds for int64 and uint64");
}

void Argument::parse_values(PyObject* o, const ct::Device& device, std::optional<Dtype> into,
                            std::optional<Dtype> cast) {
  if (!parse(o)) {
    kept = from_numpy(o, std::nullopt, device);
    array = &kept;
  }
  if (cast) without_parts(*cast);
  if (into) stored_as(*into);
  if (beyond_uint64) refuse_integer();
  bring_to(device);
}

void warn_of_lost_parts(Dtype from, Dtype into) {
  if (!ct::loses_parts(from, into)) return;
  const nb::object warning = numpy().attr("exceptions").attr("ComplexWarning");
  if (PyErr_WarnEx(warning.ptr(), "Casting complex values to real discards the imaginary part", 1) < 0) raise_set();
}

Array stored_parts(const Array& a, std::optional<Dtype> into) {
  if (!into || !ct::loses_parts(a.dtype(), *into)) return a;
  warn_of_lost_parts(a.dtype(), *into);
  return ct::real(a);
}

void Argument::without_parts(Dtype into) {
  if (array && ct::loses_parts(array->dtype(), into)) {
    kept = stored_parts(*array, into);
    array = &kept;
  } else if (!array && scalar.kind() == Scalar::Kind::complex && ct::loses_parts(Dtype::complex128, into)) {
    warn_of_lost_parts(Dtype::complex128, into);
    scalar = Scalar(scalar.real());
    if (strong) strong = ct::part_dtype(*strong);
  }
}

void Argument::stored_as(Dtype into) {
  if (ct::is_inexact(into)) beyond_uint64 = nullptr;
  if (!array && !strong && scalar.kind() == Scalar::Kind::complex && ct::loses_parts(Dtype::complex128, into))
    raise(PyExc_TypeError,
          std::string("cannot convert a complex number to ") + ct::dtype_name(into) + "; take its real or imag");
  without_parts(into);
  if (array || beyond_int64 || !ct::is_integer(into) || !ct::is_floating(strong.value_or(scalar.default_dtype())))
    return;
  const double value = std::trunc(scalar.real());
  if (std::isnan(value)) raise(PyExc_ValueError, "cannot convert float NaN to integer");
  if (std::isinf(value)) raise(PyExc_OverflowError, "cannot convert float infinity to integer");
  const bool is_unsigned = into == Dtype::uint64 && value >= 0x1p63;
  if (value < -0x1p63 || value >= (is_unsigned ? 0x1p64 : 0x1p63))
    raise(PyExc_OverflowError, "float " + text_of(checked(PyFloat_FromDouble(value)).ptr()) + " is out of bounds for " +
                                   ct::dtype_name(into));
  strong.reset();
  scalar = Scalar(is_unsigned ? 0 : static_cast<std::int64_t>(value));
  if (!is_unsigned) return;
  const auto host = static_cast<std::uint64_t>(value);
  kept = Array::from_host(&host, {}, Dtype::uint64, current_device());
  array = &kept;
}

void Argument::bring_to(const ct::Device& device) {
  if (!array || array->device() == device) return;
  kept = array->to_device(device);
  array = &kept;
}

const Array& Argument::as_array() {
  if (!array) {
    if (beyond_uint64) refuse_integer();
    const Dtype dtype = strong.value_or(scalar.default_dtype());
    kept = Array::empty({}, dtype, current_device());
    kept.fill(scalar);
    array = &kept;
  }
  return *array;
}

void settle(Argument& x, Argument& y, bool compared) {
  for (auto [wide, beside] : {std::pair(&x, &y), std::pair(&y, &x)}) {
    if (!wide->beyond_int64 || !beside->array || beside->beyond_int64) continue;
    const Dtype dtype = beside->array->dtype();
    const bool floating = ct::is_inexact(dtype);
    if (!floating && !(compared && (wide->beyond_uint64 || dtype != Dtype::uint64))) {
      if (compared || dtype == Dtype::uint64 || dtype == Dtype::bool_ || wide->beyond_uint64) continue;
      raise(PyExc_OverflowError, "Python integer " + std::to_string(wide->array->item<std::uint64_t>()) +
                                     " is out of bounds for " + ct::dtype_name(dtype));
    }
    wide->array = nullptr;
    wide->beyond_uint64 = nullptr;
    if (!floating) wide->scalar = Scalar(std::copysign(std::numeric_limits<double>::infinity(), wide->scalar.real()));
  }
  if (!x.array && !y.array) {
    // of two numbers, the one with the significant dtype becomes the array, and of two weak ones the first
    if (x.strong || !y.strong) x.as_array();
    if (y.strong) y.as_array();
    return;
  }
  Argument& number = x.array ? y : x;
  if (number.array || !number.strong) return;
  Argument& other = x.array ? x : y;
  const Dtype dtype = ct::promote(other.array->dtype(), *number.strong);
  if (dtype == other.array->dtype()) return;
  other.kept = other.array->astype(dtype);
  other.array = &other.kept;
}

void refuse_argument(PyObject* o, const char* function) {
  std::string message =
      std::string(function) + ": Unsupported type " + nb::cast<std::string>(nb::repr(nb::handle(o).type()));
  if (PyObject_TypeCheck(o, np.ndarray)) message += "; numpy.ndarray is not converted implicitly, use cupy.asarray";
  raise(PyExc_TypeError, message);
}

ct::Dims dims_from(PyObject* o, const char* what) {
  ct::Dims dims;
  const int count = read_dims(o, &dims);
  if (count > ct::kMaxDims) ct::Dims::filled(count, 0);  // throws
  if (count >= 0) return dims;
  raise(PyExc_TypeError, std::string(what) + " must be an int or a sequence of at most " +
                             std::to_string(ct::kMaxDims) + " ints, not " +
                             nb::cast<std::string>(nb::repr(nb::handle(o))));
}

nb::object to_numpy(const Array& a) {
  const nb::object shape = checked(tuple_of(a.shape()));
  nb::object result = checked(PyObject_CallMethod(np.module, "empty", "OO", shape.ptr(), numpy_dtype(a.dtype())));
  Py_buffer buffer;
  // bfloat16 has no buffer format, so its bytes are copied
  const nb::object bytes = a.dtype() == Dtype::bfloat16 ? result.attr("view")("uint16") : result;
  if (PyObject_GetBuffer(bytes.ptr(), &buffer, PyBUF_CONTIG) != 0) raise_set();
  try {
    const Released released;
    a.copy_to_host(buffer.buf);
  } catch (...) {
    PyBuffer_Release(&buffer);
    throw;
  }
  PyBuffer_Release(&buffer);
  return result;
}

Array from_numpy(PyObject* o, std::optional<Dtype> dtype, const ct::Device& device) {
  nb::object given = dtype && !(*dtype == Dtype::bfloat16)
                         ? checked(PyObject_CallMethod(np.module, "asarray", "OO", o, numpy_dtype(*dtype)))
                         : checked(PyObject_CallMethod(np.module, "asarray", "(O)", o));
  const Dtype from = dtype_from(given.attr("dtype").ptr());
  const nb::object flags = given.attr("flags");
  const bool transposed = !nb::cast<bool>(flags.attr("c_contiguous")) && nb::cast<bool>(flags.attr("f_contiguous"));
  if (transposed) given = given.attr("T");
  given = checked(PyObject_CallMethod(np.module, "asarray", "OOs", given.ptr(), numpy_dtype(from), "C"));
  if (from == Dtype::bfloat16) given = given.attr("view")("uint16");
  Py_buffer buffer;
  if (PyObject_GetBuffer(given.ptr(), &buffer, PyBUF_C_CONTIGUOUS) != 0) raise_set();
  Array result;
  try {
    Shape shape;
    const nb::object extents = given.attr("shape");
    for (nb::handle extent : extents) shape.push_back(nb::cast<std::int64_t>(extent));
    const Released released;
    result = Array::from_host(buffer.buf, shape, from, device);
  } catch (...) {
    PyBuffer_Release(&buffer);
    throw;
  }
  PyBuffer_Release(&buffer);
  if (transposed) result = result.transpose();
  return dtype && *dtype != from ? result.astype(*dtype) : result;
}

std::pair<std::int64_t, std::int64_t> reach(const Shape& shape, const ct::Strides& strides) {
  if (shape.product() == 0) return {0, -1};
  std::int64_t low = 0, high = 0;
  for (int i = 0; i < shape.size(); ++i) (strides[i] < 0 ? low : high) += strides[i] * (shape[i] - 1);
  return {low, high};
}

PyObject* tuple_of(const ct::Dims& dims, std::int64_t factor) {
  PyObject* tuple = PyTuple_New(dims.size());
  if (!tuple) raise_set();
  for (int i = 0; i < dims.size(); ++i) PyTuple_SetItem(tuple, i, PyLong_FromLongLong(dims[i] * factor));
  return tuple;
}

nb::object Out::operator()(Array result, const char* function) const {
  if (!given()) return checked(wrap(std::move(result)));
  const Array& out = *array();
  if (!(out.shape() == result.shape()))
    raise(PyExc_ValueError,
          std::string(function) + ": out has shape " + out.shape().str() + ", the result has " + result.shape().str());
  if (!ct::can_cast_same_kind(result.dtype(), out.dtype()))
    raise(PyExc_TypeError, std::string(function) + ": cannot cast the result from " + ct::dtype_name(result.dtype()) +
                               " to out's " + ct::dtype_name(out.dtype()) + " (same_kind casting)");
  ct::copyto(out, result);
  return nb::borrow(o);
}

Order order_from(PyObject* o, Order otherwise, std::initializer_list<const Array*> of) {
  if (!o || o == Py_None) return otherwise;
  if (PyUnicode_Check(o)) {
    const std::string text = text_of(o);
    if (text == "C" || text == "c") return Order::C;
    if (text == "F" || text == "f") return Order::F;
    if (text == "K" || text == "k") return Order::K;
    const auto all = [&](Order order) {
      return std::ranges::all_of(of, [=](const Array* a) { return ct::is_in_order(*a, order); });
    };
    if (text == "A" || text == "a")
      return of.size() == 0 ? Order::K : all(Order::F) && !all(Order::C) ? Order::F : Order::C;
  }
  raise(PyExc_ValueError, "order must be one of 'C', 'F', 'A', or 'K' (got " + text_of(o) + ")");
}

bool is_opencl(const ct::Device& device) { return std::strcmp(device.backend().name(), "opencl") == 0; }

void register_conversions(nb::module_&) {
  np.module = checked(PyImport_ImportModule("numpy")).release().ptr();
  np.generic = reinterpret_cast<PyTypeObject*>(attribute(np.module, "generic"));
  np.ndarray = reinterpret_cast<PyTypeObject*>(attribute(np.module, "ndarray"));
  for (int i = 0; i < ct::kDtypes; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    const auto at = static_cast<std::size_t>(i);
    if (dtype == Dtype::bfloat16) continue;
    np.dtypes[at] = checked(PyObject_CallMethod(np.module, "dtype", "s", ct::dtype_name(dtype))).release().ptr();
    np.scalars[at] = attribute(np.dtypes[at], "type");
  }
}

void check_cast(const std::string& what, Dtype from, Dtype to, const std::string& casting) {
  if (casting == "unsafe" || (casting == "same_kind" && ct::can_cast_same_kind(from, to))) return;
  const nb::object fits = numpy().attr("can_cast")(nb::handle(numpy_dtype(from)), nb::handle(numpy_dtype(to)), casting);
  if (casting == "same_kind" || !nb::cast<bool>(fits))
    raise(PyExc_TypeError, what + ": cannot cast from " + ct::dtype_name(from) + " to " + ct::dtype_name(to) +
                               " with casting rule '" + casting + "'");
}

}  // namespace catenary_python

namespace nanobind::detail {

bool type_caster<ct::Dims>::from_python(handle src, uint32_t, cleanup_list*) noexcept {
  count = catenary_python::read_dims(src.ptr(), &value);
  return count >= 0;
}
handle type_caster<ct::Dims>::from_cpp(const ct::Dims& dims, rv_policy, cleanup_list*) noexcept {
  return catenary_python::tuple_of(dims);
}

bool type_caster<std::optional<ct::Dims>>::from_python(handle src, uint32_t, cleanup_list*) noexcept {
  if (src.is_none()) return true;
  count = catenary_python::read_dims(src.ptr(), &value.emplace());
  return count >= 0;
}

bool type_caster<ct::AxisArg>::from_python(handle src, uint32_t, cleanup_list*) noexcept {
  if (src.is_none()) return true;
  ct::Axes axes;
  count = catenary_python::read_dims(src.ptr(), &axes);
  if (count >= 0) value = ct::AxisArg(axes);
  return count >= 0;
}

bool type_caster<catenary_python::DtypeArg>::from_python(handle src, uint32_t, cleanup_list*) noexcept {
  value.o = src.ptr();
  return true;
}

bool type_caster<catenary_python::Out>::from_python(handle src, uint32_t, cleanup_list*) noexcept {
  value.o = src.ptr();
  return src.is_none() || catenary_python::is_ndarray(src.ptr());
}

bool type_caster<catenary_python::Self>::from_python(handle src, uint32_t, cleanup_list*) noexcept {
  value.o = src.ptr();
  return catenary_python::is_ndarray(src.ptr());
}

bool type_caster<catenary_python::Value>::from_python(handle src, uint32_t, cleanup_list*) noexcept {
  try {
    return value.argument.parse(src.ptr());
  } catch (...) {
    PyErr_Clear();
    return false;
  }
}

bool type_caster<catenary_python::ArrayLike>::from_python(handle src, uint32_t, cleanup_list*) noexcept {
  try {
    catenary_python::Argument argument;
    if (!argument.parse(src.ptr())) return false;
    value.array = argument.as_array();
    return true;
  } catch (...) {
    PyErr_Clear();
    return false;
  }
}

}  // namespace nanobind::detail
