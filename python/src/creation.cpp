// Functions that make arrays.

#include "catenary/array/creation.h"

#include <complex>

#include "bind.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/indexing.h"
#include "catenary/core/error.h"
#include "catenary/core/memory_order.h"
#include "catenary/datasets/datasets.h"

namespace catenary_python {

/// The dtype of a new array on the current device.
template <>
struct Parameter<Dtype> {
  using Given = DtypeArg;
  static Dtype value(DtypeArg x) {
    current_device();
    return x.value_or(Dtype::float64);
  }
};

namespace {

using namespace nb::literals;

/// Returns the Scalar of a Python or NumPy number.
Scalar scalar_from(PyObject* o, const char* function) {
  Argument argument;
  if (!argument.parse(o)) refuse_argument(o, function);
  if (argument.array) {
    if (argument.array->size() != 1 || argument.array->ndim() != 0)
      raise(PyExc_TypeError,
            std::string(function) + ": expected a number, not an array of shape " + argument.array->shape().str());
    if (ct::is_complex(argument.array->dtype())) return Scalar(argument.array->item<std::complex<double>>());
    return ct::is_floating(argument.array->dtype()) ? Scalar(argument.array->item<double>())
                                                    : Scalar(argument.array->item<std::int64_t>());
  }
  return argument.operand().scalar();
}

/// Returns an uninitialised array like `a`, on its device, and with order K in its layout.
Array like(const Array& a, const DtypeArg& dtype, nb::handle order, nb::handle subok,
           const std::optional<Shape>& shape) {
  if (!subok.is_none() && nb::cast<bool>(subok))
    raise(PyExc_TypeError, "subok=True is not supported: cupy.ndarray has no subclasses");
  const Dtype d = dtype.value_or(a.dtype());
  const Order o = order_from(order.ptr(), Order::K, {&a});
  if (o == Order::K && !shape) return ct::empty_like(a, d);
  if (o == Order::K && shape->size() == a.ndim())
    return Array::empty(*shape, d, a.device()).as_strided(*shape, ct::strides_like(*shape, a.strides()));
  return ct::empty(shape.value_or(a.shape()), d, o, a.device());
}

Array empty(const Shape& shape, Dtype dtype, nb::handle order) {
  return ct::empty(shape, dtype, order_from(order.ptr(), Order::C), current_device());
}

Array filled(Array a, std::optional<int> value) {
  if (value) a.fill(*value);
  return a;
}

/// Returns a number, or the element of a 0-d NumPy array.
Scalar number_of(nb::handle o) {
  if (!is_ndarray(o.ptr()) && nb::hasattr(o, "__array_interface__") && nb::cast<int>(o.attr("ndim")) == 0)
    return scalar_from(nb::object(o[nb::tuple()]).ptr(), "arange");
  return scalar_from(o.ptr(), "arange");
}

/// Is it an integer beyond int64, or of uint64, which has such?
bool is_wide(nb::handle o) {
  if (o.is_none() || PyFloat_CheckExact(o.ptr())) return false;
  int overflow = 0;
  if (PyLong_CheckExact(o.ptr())) {
    PyLong_AsLongLongAndOverflow(o.ptr(), &overflow);
    return overflow != 0;
  }
  return nb::hasattr(o, "dtype") && nb::object(o.attr("dtype")).equal(nb::handle(numpy_dtype(Dtype::uint64)));
}

/// Is it a Python integer from 0 on?
bool is_count(nb::handle o) {
  int overflow = 0;
  return PyLong_CheckExact(o.ptr()) && PyLong_AsLongLongAndOverflow(o.ptr(), &overflow) >= 0;
}

/// Implements numpy.arange: int64, or float64 if an argument is a float of Python or NumPy, or beyond int64.
nb::object arange(nb::handle start, nb::handle stop, nb::handle step, const DtypeArg& dtype) {
  const bool only_stop = stop.is_none();
  const std::optional<Dtype> wanted = dtype.get();
  if (is_wide(start) || is_wide(stop) || is_wide(step) || (wanted == Dtype::uint64 && !(only_stop && is_count(start))))
    return nb::module_::import_("catenary.cupy._functions.creation")
        .attr("wide_arange")(start, stop, step, nb::handle(wanted ? numpy_dtype(*wanted) : Py_None));
  const Scalar from = only_stop ? Scalar(0) : number_of(start);
  const Scalar to = number_of(only_stop ? start : stop);
  const Scalar by = step.is_none() ? Scalar(1) : number_of(step);
  current_device();
  return checked(wrap(ct::arange(from, to, by, wanted)));
}

/// Fills with a number, or with an array or list that broadcasts. Floats are cast like elements.
Array full_of(Array a, nb::handle value) {
  Argument v;
  v.parse_values(value.ptr(), a.device(), ct::is_inexact(a.dtype()) ? std::optional(a.dtype()) : std::nullopt,
                 a.dtype());
  const int more = v.array ? v.array->ndim() - a.ndim() : 0;
  if (more > 0 && v.array->size() > 0) {  // as in NumPy, leading axes of size 1 are dropped
    Shape shape, leading;
    for (int i = 0; i < v.array->ndim(); ++i) (i < more ? leading : shape).push_back(v.array->shape()[i]);
    if (leading.product() == 1) {
      v.kept = v.array->reshape(shape);
      v.array = &v.kept;
    }
  }
  ct::copyto(a, v.operand());
  return a;
}

/// Registers functions for constants.
void register_making(nb::module_& m) {
  const auto no_dtype = optional("dtype");
  const auto order = nb::arg("order").none() = "C";
  const auto like_order = nb::arg("order").none() = "K";
  const auto like_shape = optional("shape");

  const std::pair<std::string, std::optional<int>> constants[] = {{"empty", {}}, {"zeros", 0}, {"ones", 1}};
  for (const auto& [name, value] : constants) {
    m.def(
        name.c_str(),
        [value = value](const Shape& shape, DtypeArg dtype, nb::handle order) {
          return filled(empty(shape, dtype.value_or(Dtype::float64), order), value);
        },
        "shape"_a, no_dtype, order);
    m.def((name + "_like").c_str(),
          [value = value](const Array& a, DtypeArg dtype, nb::handle order, nb::handle subok,
                          std::optional<Shape> shape) { return filled(like(a, dtype, order, subok, shape), value); },
          name == "empty" ? "prototype"_a : "a"_a, no_dtype, like_order, optional("subok"), like_shape);
  }
  m.def(
      "full",
      [](const Shape& shape, nb::handle fill_value, DtypeArg dtype, nb::handle order) {
        Argument v;
        const std::optional<Dtype> wanted = dtype.get();
        if (wanted) return full_of(empty(shape, *wanted, order), fill_value);
        v.parse_values(fill_value.ptr(), current_device());
        const Dtype own = v.array ? v.array->dtype() : v.strong.value_or(v.scalar.default_dtype());
        return full_of(empty(shape, own, order), fill_value);
      },
      "shape"_a, "fill_value"_a, no_dtype, order, "Returns a new array filled with a value.");
  m.def(
      "full_like",
      [](const Array& a, nb::handle fill_value, DtypeArg dtype, nb::handle order, nb::handle subok,
         std::optional<Shape> shape) { return full_of(like(a, dtype, order, subok, shape), fill_value); },
      "a"_a, "fill_value"_a, no_dtype, like_order, optional("subok"), like_shape);
  m.def(
      "eye",
      [](std::int64_t n, std::optional<std::int64_t> columns, std::int64_t k, DtypeArg dtype, nb::handle order) {
        const bool f = order_from(order.ptr(), Order::C) == Order::F;
        current_device();
        return f ? ct::eye(columns.value_or(n), n, -k, dtype.value_or(Dtype::float64)).transpose()
                 : ct::eye(n, columns, k, dtype.value_or(Dtype::float64));
      },
      "N"_a, optional("M"), "k"_a = 0, no_dtype, order,
      "Returns a matrix with ones on diagonal k and zeros elsewhere.");
  m.def("identity", freed(ct::identity), "n"_a, no_dtype);
  m.def("tri", freed(ct::tri), "N"_a, optional("M"), "k"_a = 0, no_dtype);
}

/// Registers ranges and grids.
void register_ranges(nb::module_& m) {
  const auto no_dtype = optional("dtype");
  m.def("arange", arange, "start"_a, optional("stop"), optional("step"), no_dtype);
  m.def(
      "linspace",
      [](Value& start, Value& stop, std::int64_t num, bool endpoint, bool retstep, DtypeArg dtype, int axis) {
        current_device();
        const ct::LinspaceOptions options{endpoint, dtype.get(), axis};
        const double steps = num > endpoint ? static_cast<double>(num - endpoint) : 0.0 / 0.0;
        nb::object values, step;
        if (start.argument.array || stop.argument.array) {
          const Array &from = start.argument.as_array(), &to = stop.argument.as_array();
          values = nb::cast(ct::linspace(from, to, num, options));
          step = nb::cast((to - from) / steps);
        } else {
          const double from = start.argument.scalar.real(), to = stop.argument.scalar.real();
          values = nb::cast(ct::linspace(from, to, num, options));
          step = nb::float_((to - from) / steps);
        }
        return retstep ? nb::make_tuple(values, step) : values;
      },
      "start"_a, "stop"_a, "num"_a = 50, "endpoint"_a = true, "retstep"_a = false, no_dtype, "axis"_a = 0);
  m.def(
      "logspace",
      [](double start, double stop, std::int64_t num, bool endpoint, double base, DtypeArg dtype) {
        current_device();
        return ct::logspace(start, stop, num, {endpoint, base, dtype.get()});
      },
      "start"_a, "stop"_a, "num"_a = 50, "endpoint"_a = true, "base"_a = 10.0, no_dtype);
  m.def(
      "geomspace",
      [](double start, double stop, std::int64_t num, bool endpoint, DtypeArg dtype) {
        current_device();
        return ct::geomspace(start, stop, num, {endpoint, dtype.get()});
      },
      "start"_a, "stop"_a, "num"_a = 50, "endpoint"_a = true, no_dtype);
  m.def(
      "_meshgrid",
      [](const std::vector<Array>& xi, const std::string& indexing, bool sparse) {
        return ct::meshgrid(xi, {indexing, sparse});
      },
      "xi"_a, "indexing"_a, "sparse"_a);
  m.def("indices", freed(ct::indices), "dimensions"_a, "dtype"_a = "int64");
  m.def("vander", freed(ct::vander), "x"_a, optional("N"), "increasing"_a = false);
}

void register_copies(nb::module_& m) {
  both(
      m, "astype",
      [](Self self, DtypeArg dtype, nb::handle order, const std::string& casting, nb::object, bool copy) {
        const Array& a = self.array();
        const Dtype d = dtype.value_or(Dtype::float64);
        check_cast("astype", a.dtype(), d, casting);
        warn_of_lost_parts(a.dtype(), d);
        const Order o = order_from(order.ptr(), Order::K, {&a});
        if (d != a.dtype()) return checked(wrap(ct::in_order(a.astype(d), o)));
        return !copy && ct::is_in_order(a, o) ? nb::borrow(self.o) : checked(wrap(ct::copy(a, o)));
      },
      "a", nb::arg("dtype"), nb::arg("order").none() = "K", nb::arg("casting") = "unsafe", optional("subok"),
      nb::arg("copy") = true);
  m.def(
      "_copy", [](const Array& a, nb::handle order) { return ct::copy(a, order_from(order.ptr(), Order::K, {&a})); },
      "a"_a, "order"_a);
  m.def("_to_current_device", [](Self self) {
    const ct::Device device = current_device();
    if (self.array().device() == device) return nb::borrow(self.o);
    return checked(wrap(self.array().to_device(device)));
  });
  m.def("_contiguous", [](Self self, bool fortran) {
    const Array a = ct::in_order(self.array(), fortran ? Order::F : Order::C);
    return a.is(self.array()) ? nb::borrow(self.o) : checked(wrap(a));
  });
  both(
      m, "fill",
      [](const Array& a, nb::handle value) {
        Argument v;
        v.parse_values(value.ptr(), a.device(), a.dtype());
        if (v.array && v.array->ndim() != 0)
          raise(PyExc_ValueError, "fill: expected one value, not an array of shape " + v.array->shape().str());
        ct::copyto(a, v.operand());
      },
      "a", nb::arg("value"));
  m.def(
      "copyto",
      [](const Array& dst, Value& src, const std::string& casting, nb::object where) {
        Argument& v = src.argument;
        v.bring_to(dst.device());
        const Dtype from = v.array ? v.array->dtype() : v.strong.value_or(v.scalar.default_dtype());
        const bool weak = !v.array && !v.strong;
        if (!weak || ct::result_type(dst, v.scalar) != dst.dtype()) check_cast("copyto", from, dst.dtype(), casting);
        v.without_parts(dst.dtype());
        if (v.array) v.stored_as(dst.dtype());
        if (where.ptr() == Py_True) return ct::copyto(dst, src.operand());
        if (!is_ndarray(where.ptr())) raise(PyExc_TypeError, "copyto: where must be an ndarray of bool");
        ct::copyto(dst, src.operand(), array_of(where.ptr()));
      },
      "dst"_a, "src"_a, "casting"_a = "same_kind", "where"_a = true);
}

}  // namespace

void register_creation(nb::module_& m) {
  register_making(m);
  register_ranges(m);
  register_copies(m);
  m.def(
      "_mnist",
      [] {
        const auto [train, test] = ct::datasets::get_mnist({.scale = 255});
        nb::list parts;
        for (const ct::Dataset& part : {train, test}) {
          const auto& columns = dynamic_cast<const ct::datasets::TupleDataset&>(part.implementation()).columns();
          parts.append(
              nb::make_tuple(to_numpy(columns[0].astype(Dtype::uint8)), to_numpy(columns[1].astype(Dtype::uint8))));
        }
        return parts;
      },
      "Returns (training images, training labels, test images, test labels) as uint8.");
}

}  // namespace catenary_python
