// cupy.ndarray: its slots and attributes. Methods that also exist as functions are registered with these.

#include <complex>
#include <string>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/core/error.h"
#include "catenary/ops/op_names.h"
#include "core.h"

namespace catenary_python {

PyTypeObject* ndarray_type = nullptr;

PyObject* wrap(Array array) {
  PyObject* o = nb::inst_alloc(reinterpret_cast<PyObject*>(ndarray_type)).release().ptr();
  new (nb::inst_ptr<NdArray>(o)) NdArray{std::move(array)};
  nb::inst_mark_ready(o);
  if (memory_watchers == 0) return o;
  const nb::object kept = nb::steal(o);
  tell_memory();
  return kept.inc_ref().ptr();
}

void note_temporary(PyObject* o) {
#if PY_VERSION_HEX >= 0x030e0000 && !defined(Py_LIMITED_API)
  const bool is_temporary = PyUnstable_Object_IsUniqueReferencedTemporary(o);
#else
  // from 3.14 on, the stack borrows references of variables
  const bool is_temporary = Py_REFCNT(o) == 1 && Py_Version < 0x030e0000;
#endif
  if (is_temporary) array_of(o).body().leaving.store(true, std::memory_order_relaxed);
}

PyObject* wrap_view(Array array, PyObject* of) {
  const bool shares = array.shares_memory(array_of(of));
  PyObject* o = wrap(std::move(array));
  if (shares) {
    PyObject* owner = handle_of(of).base ? handle_of(of).base : of;
    Py_INCREF(owner);
    handle_of(o).base = owner;
  }
  return o;
}

namespace {

using ct::ops::Op;

bool is_numpy_array(PyObject* o) { return nb::isinstance(nb::handle(o), numpy().attr("ndarray")); }

/// Handles an operator whose operand is neither an array nor a number.
PyObject* not_implemented(PyObject* a, PyObject* b, const char* name) {
  for (PyObject* o : {a, b})
    if (is_numpy_array(o)) refuse_argument(o, name);
  Py_RETURN_NOTIMPLEMENTED;
}

/// Is the object convertible to an array, but its class has operators that take precedence, as in NumPy?
bool stands_back(const Argument& argument, PyObject* o) {
  if (!argument.by_protocol) return false;
  const nb::object ufunc = nb::steal(PyObject_GetAttrString(o, "__array_ufunc__"));
  if (!ufunc.is_valid()) PyErr_Clear();
  return ufunc.is_valid() && ufunc.is_none();
}

template <Op op>
PyObject* binary(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (Py_TYPE(a) == ndarray_type && Py_TYPE(b) == ndarray_type)
      return wrap(ct::apply(op, Operand(array_of(a)), Operand(array_of(b))));
    Argument x, y;
    if (!x.parse(a) || !y.parse(b)) return not_implemented(a, b, ct::ops::info(op).name);
    if (stands_back(x, a) || stands_back(y, b)) Py_RETURN_NOTIMPLEMENTED;
    settle(x, y, ct::ops::info(op).rule == ct::ops::Rule::COMPARE);
    return wrap(ct::apply(op, x.operand(), y.operand()));
  });
}

template <Op op>
PyObject* in_place(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Argument x, y;
    x.parse(a);
    if (!y.parse(b)) return not_implemented(a, b, ct::ops::info(op).name);
    settle(x, y);
    ct::apply_to(array_of(a), op, x.operand(), y.operand());
    return Py_NewRef(a);
  });
}

template <Op op>
PyObject* unary(PyObject* a) {
  return guarded([&] { return wrap(ct::apply(op, Operand(array_of(a)))); });
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulo) {
  if (modulo != Py_None) {
    PyErr_SetString(PyExc_TypeError, "pow: a third argument is not supported");
    return nullptr;
  }
  return binary<Op::power>(a, b);
}
PyObject* in_place_power(PyObject* a, PyObject* b, PyObject*) { return in_place<Op::power>(a, b); }

PyObject* positive(PyObject* a) {
  return guarded([&] { return wrap(ct::positive(array_of(a))); });
}

PyObject* divmod(PyObject* a, PyObject* b) {
  const nb::object quotient = nb::steal(binary<Op::floor_divide>(a, b));
  if (!quotient.is_valid() || quotient.ptr() == Py_NotImplemented) return nb::object(quotient).release().ptr();
  const nb::object rest = nb::steal(binary<Op::remainder>(a, b));
  return rest.is_valid() ? PyTuple_Pack(2, quotient.ptr(), rest.ptr()) : nullptr;
}

PyObject* matmul(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (!is_ndarray(a) || !is_ndarray(b)) return not_implemented(a, b, "matmul");
    const Array &x = array_of(a), &y = array_of(b);
    return wrap(without_gil(x.size() + y.size() >= kReleaseFrom, [&] { return ct::matmul(x, y); }));
  });
}

PyObject* in_place_matmul(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (!is_ndarray(b)) return not_implemented(a, b, "matmul");
    Out{a}(ct::matmul(array_of(a), array_of(b)), "matmul");
    return Py_NewRef(a);
  });
}

/// Handles comparisons with objects that compare by identity: they equal no element.
PyObject* compare_object(const Array& a, PyObject* b, int op) {
  const bool by_identity =
      PyType_GetSlot(Py_TYPE(b), Py_tp_richcompare) == PyType_GetSlot(&PyBaseObject_Type, Py_tp_richcompare);
  if (!by_identity || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return guarded([&] { return wrap(ct::full_like(a, op == Py_NE, Dtype::bool_)); });
}

PyObject* compare_numbers(PyObject* a, PyObject* b, int op) {
  switch (op) {
    case Py_LT:
      return binary<Op::less>(a, b);
    case Py_LE:
      return binary<Op::less_equal>(a, b);
    case Py_EQ:
      return binary<Op::equal>(a, b);
    case Py_NE:
      return binary<Op::not_equal>(a, b);
    case Py_GT:
      return binary<Op::greater>(a, b);
    default:
      return binary<Op::greater_equal>(a, b);
  }
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
  PyObject* result = compare_numbers(a, b, op);
  return result == Py_NotImplemented ? compare_object(array_of(a), b, op) : result;
}

/// Returns the only element as a Python number.
nb::object item_of(const Array& a, const char* function) {
  if (a.size() != 1)
    raise(PyExc_TypeError, std::string(function) +
                               ": only arrays of one element can be converted to Python scalars, "
                               "the shape is " +
                               a.shape().str());
  const auto read = [&]<class T>(T) {
    const Released released;
    return a.item<T>();
  };
  switch (ct::kind(a.dtype())) {
    case ct::Kind::boolean:
      return nb::bool_(read(bool{}));
    case ct::Kind::floating:
      return nb::float_(read(double{}));
    case ct::Kind::complex: {
      const auto value = read(std::complex<double>{});
      return checked(PyComplex_FromDoubles(value.real(), value.imag()));
    }
    case ct::Kind::signed_int:
      return nb::int_(read(std::int64_t{}));
    default:
      return nb::int_(read(std::uint64_t{}));
  }
}

int truth(PyObject* o) {
  return guarded_int([&]() -> int {
    const Array& a = array_of(o);
    if (a.size() == 0) raise(PyExc_ValueError, "The truth value of an empty array is ambiguous. Use `array.size > 0`.");
    if (a.size() > 1)
      raise(PyExc_ValueError,
            "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()");
    const nb::object value = item_of(a, "bool");
    return PyObject_IsTrue(value.ptr());
  });
}
PyObject* as_int(PyObject* o) {
  return guarded([&] { return PyNumber_Long(item_of(array_of(o), "int").ptr()); });
}
PyObject* as_float(PyObject* o) {
  return guarded([&] { return PyNumber_Float(item_of(array_of(o), "float").ptr()); });
}
PyObject* as_index(PyObject* o) {
  return guarded([&] {
    const Array& a = array_of(o);
    if (a.ndim() != 0 || !ct::is_integer(a.dtype()))
      raise(PyExc_TypeError, "only integer scalar arrays can be converted to a scalar index, not an array of " +
                                 std::string(ct::dtype_name(a.dtype())) + " of shape " + a.shape().str());
    return item_of(a, "index").release().ptr();
  });
}

Py_ssize_t length(PyObject* o) {
  const Array& a = array_of(o);
  if (a.ndim() > 0) return static_cast<Py_ssize_t>(a.shape()[0]);
  PyErr_SetString(PyExc_TypeError, "len() of unsized object");
  return -1;
}

PyObject* get_item(PyObject* o, PyObject* key) {
  return guarded([&]() -> PyObject* {
    const Array& a = array_of(o);
    const std::vector<ct::Index> indices = parse_key(key, a);
    return wrap_view(without_gil(a.size() >= kReleaseFrom, [&] { return Array(a.get(indices)); }), o);
  });
}
PyObject* get_row(PyObject* o, Py_ssize_t i) {
  return guarded([&]() -> PyObject* {
    const Array& a = array_of(o);
    if (a.ndim() == 0) raise(PyExc_IndexError, "a 0-d array cannot be indexed by an integer");
    return wrap_view(a[static_cast<std::int64_t>(i)], o);
  });
}
PyObject* iterate(PyObject* o) {
  if (array_of(o).ndim() > 0) return PySeqIter_New(o);
  PyErr_SetString(PyExc_TypeError, "iteration over a 0-d array");
  return nullptr;
}
int set_item(PyObject* o, PyObject* key, PyObject* value) {
  return guarded_int([&]() -> int {
    if (!value) raise(PyExc_ValueError, "cannot delete array elements");
    const Array& a = array_of(o);
    const std::vector<ct::Index> indices = parse_key(key, a);
    Argument argument;
    argument.parse_values(value, a.device(), a.dtype());
    without_gil(a.size() >= kReleaseFrom, [&] { a.set_at(indices, argument.operand()); });
    return 0;
  });
}

PyObject* represent(PyObject* o) {
  return guarded([&] { return PyUnicode_FromString(ct::repr(array_of(o)).c_str()); });
}
PyObject* print(PyObject* o) {
  return guarded([&] { return PyUnicode_FromString(ct::to_string(array_of(o)).c_str()); });
}

PyObject* shape_of(PyObject* o, void*) {
  return guarded([&] { return tuple_of(array_of(o).shape()); });
}
int set_shape(PyObject* o, PyObject* value, void*) {
  return guarded_int([&]() -> int {
    if (!value) raise(PyExc_AttributeError, "cannot delete the shape of an array");
    Array& a = handle_of(o).array;
    Array reshaped = a.reshape(dims_from(value, "shape"));
    if (!reshaped.shares_memory(a))
      raise(PyExc_AttributeError, "incompatible shape for a non-contiguous array; use reshape, which copies");
    a = std::move(reshaped);
    return 0;
  });
}
PyObject* strides_of_slot(PyObject* o, void*) {
  return guarded([&] {
    const Array& a = array_of(o);
    return tuple_of(a.strides(), static_cast<std::int64_t>(a.itemsize()));
  });
}
PyObject* dtype_of(PyObject* o, void*) {
  return guarded([&] { return Py_NewRef(numpy_dtype(array_of(o).dtype())); });
}
PyObject* ndim_of(PyObject* o, void*) { return PyLong_FromLong(array_of(o).ndim()); }
PyObject* size_of(PyObject* o, void*) { return PyLong_FromLongLong(array_of(o).size()); }
PyObject* itemsize_of(PyObject* o, void*) { return PyLong_FromSize_t(array_of(o).itemsize()); }
PyObject* nbytes_of(PyObject* o, void*) { return PyLong_FromSize_t(array_of(o).nbytes()); }
PyObject* transposed(PyObject* o, void*) {
  return guarded([&] { return wrap_view(array_of(o).transpose(), o); });
}
PyObject* matrix_transposed(PyObject* o, void*) {
  return guarded([&] { return wrap_view(ct::matrix_transpose(array_of(o)), o); });
}
PyObject* base_of(PyObject* o, void*) {
  PyObject* base = handle_of(o).base;
  return Py_NewRef(base ? base : Py_None);
}
PyObject* c_contiguous(PyObject* o, void*) { return PyBool_FromLong(array_of(o).is_contiguous()); }
PyObject* f_contiguous(PyObject* o, void*) { return PyBool_FromLong(ct::is_in_order(array_of(o), Order::F)); }

PyGetSetDef attributes[] = {
    {"shape", shape_of, set_shape, "The shape: the sizes of the axes.", nullptr},
    {"strides", strides_of_slot, nullptr, "Bytes from one element to the next along each axis.", nullptr},
    {"dtype", dtype_of, nullptr, "The numpy.dtype of the elements.", nullptr},
    {"ndim", ndim_of, nullptr, "Number of axes.", nullptr},
    {"size", size_of, nullptr, "Number of elements.", nullptr},
    {"itemsize", itemsize_of, nullptr, "Size of an element in bytes.", nullptr},
    {"nbytes", nbytes_of, nullptr, "Size of all elements in bytes.", nullptr},
    {"T", transposed, nullptr, "A view with the axes reversed.", nullptr},
    {"mT", matrix_transposed, nullptr, "A view with the last two axes swapped.", nullptr},
    {"base", base_of, nullptr, "The array whose memory a view shows, or None.", nullptr},
    {"_c_contiguous", c_contiguous, nullptr, "Do the elements lie in C order without gaps?", nullptr},
    {"_f_contiguous", f_contiguous, nullptr, "Do the elements lie in Fortran order without gaps?", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

template <class F>
constexpr void* slot(F* f) {
  return reinterpret_cast<void*>(f);
}

PyType_Slot slots[] = {{Py_nb_add, slot(binary<Op::add>)},
                       {Py_nb_subtract, slot(binary<Op::subtract>)},
                       {Py_nb_multiply, slot(binary<Op::multiply>)},
                       {Py_nb_true_divide, slot(binary<Op::divide>)},
                       {Py_nb_floor_divide, slot(binary<Op::floor_divide>)},
                       {Py_nb_remainder, slot(binary<Op::remainder>)},
                       {Py_nb_divmod, slot(divmod)},
                       {Py_nb_power, slot(power)},
                       {Py_nb_matrix_multiply, slot(matmul)},
                       {Py_nb_and, slot(binary<Op::bitwise_and>)},
                       {Py_nb_or, slot(binary<Op::bitwise_or>)},
                       {Py_nb_xor, slot(binary<Op::bitwise_xor>)},
                       {Py_nb_lshift, slot(binary<Op::left_shift>)},
                       {Py_nb_rshift, slot(binary<Op::right_shift>)},
                       {Py_nb_inplace_add, slot(in_place<Op::add>)},
                       {Py_nb_inplace_subtract, slot(in_place<Op::subtract>)},
                       {Py_nb_inplace_multiply, slot(in_place<Op::multiply>)},
                       {Py_nb_inplace_true_divide, slot(in_place<Op::divide>)},
                       {Py_nb_inplace_floor_divide, slot(in_place<Op::floor_divide>)},
                       {Py_nb_inplace_remainder, slot(in_place<Op::remainder>)},
                       {Py_nb_inplace_power, slot(in_place_power)},
                       {Py_nb_inplace_matrix_multiply, slot(in_place_matmul)},
                       {Py_nb_inplace_and, slot(in_place<Op::bitwise_and>)},
                       {Py_nb_inplace_or, slot(in_place<Op::bitwise_or>)},
                       {Py_nb_inplace_xor, slot(in_place<Op::bitwise_xor>)},
                       {Py_nb_inplace_lshift, slot(in_place<Op::left_shift>)},
                       {Py_nb_inplace_rshift, slot(in_place<Op::right_shift>)},
                       {Py_nb_negative, slot(unary<Op::negative>)},
                       {Py_nb_positive, slot(positive)},
                       {Py_nb_absolute, slot(unary<Op::absolute>)},
                       {Py_nb_invert, slot(unary<Op::invert>)},
                       {Py_nb_bool, slot(truth)},
                       {Py_nb_int, slot(as_int)},
                       {Py_nb_float, slot(as_float)},
                       {Py_nb_index, slot(as_index)},
                       {Py_tp_richcompare, slot(compare)},
                       {Py_tp_hash, slot(PyObject_HashNotImplemented)},
                       {Py_mp_length, slot(length)},
                       {Py_mp_subscript, slot(get_item)},
                       {Py_mp_ass_subscript, slot(set_item)},
                       {Py_sq_length, slot(length)},
                       {Py_sq_item, slot(get_row)},
                       {Py_tp_iter, slot(iterate)},
                       {Py_tp_repr, slot(represent)},
                       {Py_tp_str, slot(print)},
                       {Py_tp_getset, attributes},
                       {0, nullptr}};

/// Do the byte ranges from first to last element overlap? OpenCL memory is compared by its handle.
bool may_share_memory(const Array& a, const Array& b) {
  if (a.size() == 0 || b.size() == 0 || a.device() != b.device()) return false;
  const ct::View x = ct::readable(a), y = ct::readable(b);
  const bool opencl = is_opencl(a.device());
  if (opencl && x.handle != y.handle) return false;
  const auto bytes = [&](const Array& array, const ct::View& view) {
    const auto [low, high] = reach(array.shape(), array.strides());
    const auto size = static_cast<std::int64_t>(ct::itemsize(array.dtype()));
    const auto start = opencl ? 0 : static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(view.handle));
    return std::pair(start + (view.offset + low) * size, start + (view.offset + high + 1) * size);
  };
  const auto [first, end] = bytes(a, x);
  const auto [other_first, other_end] = bytes(b, y);
  return first < other_end && other_first < end;
}

/// Returns the distance in bytes from the first element of a to that of b, or nothing if their bytes cannot overlap.
std::optional<std::int64_t> bytes_between(const Array& a, const Array& b) {
  if (!may_share_memory(a, b)) return std::nullopt;
  const auto place = [](const Array& array) {
    const ct::View view = ct::readable(array);
    const auto start =
        is_opencl(array.device()) ? 0 : static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(view.handle));
    return start + view.offset * static_cast<std::int64_t>(ct::itemsize(array.dtype()));
  };
  return place(b) - place(a);
}

/// Converts strides in bytes to strides in elements.
ct::Strides strides_from(nb::handle given, const Shape& shape, Dtype dtype) {
  ct::Strides steps = dims_from(given.ptr(), "ndarray: strides");
  if (steps.size() != shape.size())
    raise(PyExc_ValueError, "ndarray: shape " + shape.str() + " and strides " + steps.str() + " differ in length");
  const auto size = static_cast<std::int64_t>(ct::itemsize(dtype));
  for (std::int64_t& step : steps) {
    if (step % size != 0) raise(PyExc_ValueError, "ndarray: strides must be multiples of the itemsize");
    step /= size;
  }
  return steps;
}

/// Implements ndarray.__init__: new memory, or the memory that memptr points to.
void construct(NdArray* self, const Shape& shape, DtypeArg dtype, nb::object memptr, nb::object strides,
               nb::object order) {
  const Dtype d = dtype.value_or(Dtype::float64);
  if (memptr.is_none()) {
    const Array fresh = ct::empty(shape, d, order_from(order.ptr(), Order::C), current_device());
    const ct::Strides steps = strides.is_none() ? fresh.strides() : strides_from(strides, shape, d);
    const auto [low, high] = reach(shape, steps);
    if (low < 0 || high >= fresh.size())
      raise(PyExc_ValueError, "ndarray() with strides and without memptr: strides " + steps.str() +
                                  " (in elements) reach beyond the elements of shape " + shape.str());
    new (self) NdArray{strides.is_none() ? fresh : fresh.as_strided(shape, steps)};
    return;
  }
  if (!nb::hasattr(memptr, "mem"))
    raise(PyExc_TypeError,
          "ndarray: memptr must be a cupy.cuda.MemoryPointer, not " + nb::cast<std::string>(nb::repr(memptr.type())));
  // the whole block, as negative strides reach elements before the pointer
  const Array memory = array_of(nb::object(memptr.attr("mem").attr("_array")).ptr());
  const auto begin = nb::cast<std::int64_t>(memptr.attr("offset"));
  const auto size = static_cast<std::int64_t>(ct::itemsize(d));
  const Order in_order = order_from(order.ptr(), Order::C);
  const ct::Strides steps = strides.is_none() ? ct::strides_of(shape, in_order) : strides_from(strides, shape, d);
  const auto [low, high] = reach(shape, steps);
  if (begin + low * size < 0 || begin + (high + 1) * size > memory.size())
    raise(PyExc_ValueError, "ndarray: shape " + shape.str() + " with strides " + steps.str() +
                                " (in elements) does not lie in the " + std::to_string(memory.size()) +
                                " bytes of memory that memptr points into, at " + std::to_string(begin));
  const std::int64_t first = begin % size, whole = (memory.size() - first) / size * size;
  const Array elements = ct::view(memory(ct::slice(first, first + whole)), d);
  new (self) NdArray{elements.as_strided(shape, steps, begin / size)};
}

}  // namespace

void register_ndarray(nb::module_& m) {
  nb::class_<NdArray> type(m, "ndarray", nb::type_slots(slots), nb::pooled(256), nb::is_weak_referenceable(),
                           "An n-dimensional array on a device.");
  ndarray_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.attr("__array_priority__") = 100;
  type.def("__init__", construct, nb::arg("shape"), nb::arg("dtype").none() = nb::none(),
           nb::arg("memptr").none() = nb::none(), nb::arg("strides").none() = nb::none(), nb::arg("order").none() = "C")
      .def(
          "item",
          [](const NdArray& a, nb::args index) {
            if (index.size() == 0) {
              if (a.array.size() != 1)
                raise(PyExc_ValueError, "item: can only convert an array of size 1 to a Python scalar, the shape is " +
                                            a.array.shape().str());
              return item_of(a.array, "item");
            }
            const nb::object key = index.size() == 1 ? nb::object(index[0]) : nb::object(index);
            if (index.size() == 1 && nb::isinstance<nb::int_>(key) && a.array.ndim() != 1)
              return item_of(a.array.ravel()[nb::cast<std::int64_t>(key)], "item");
            return item_of(a.array.get(parse_key(key.ptr(), a.array)), "item");
          },
          "Returns the only element, or the one at an index, as a Python number.")
      .def("_to_numpy", [](const NdArray& a) { return to_numpy(a.array); })
      .def("_set_numpy",
           [](const NdArray& a, nb::object values) {
             ct::copyto(a.array, from_numpy(values.ptr(), a.array.dtype(), a.array.device()));
           })
      .def(
          "_view",
          [](Self self, DtypeArg dtype) {
            return checked(wrap_view(ct::view(self.array(), dtype.value_or(self.array().dtype())), self.o));
          },
          nb::arg("dtype").none())
      .def("_is_owner", [](const NdArray& a) { return a.base == nullptr; });
  m.def("_byteswap", &ct::byteswap);
  m.def("_bytes_between", [](const Array& a, const Array& b) { return bytes_between(a, b); });
  m.def("_may_share_memory", [](const Array& a, const Array& b) { return may_share_memory(a, b); });
  m.def(
      "from_numpy",
      [](nb::object values, DtypeArg dtype) { return from_numpy(values.ptr(), dtype.get(), current_device()); },
      nb::arg("values"), nb::arg("dtype").none() = nb::none());
}

}  // namespace catenary_python
