// Elementwise functions and reductions from the rows of ops/elementwise.def and ops/reductions.def. A new row becomes a
// new function here.

#include <array>
#include <cstring>
#include <string>

#include "bind.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/reduction.h"
#include "catenary/core/error.h"
#include "catenary/ops/op_names.h"

namespace catenary_python {

namespace {

using ct::ops::Op;
using ct::ops::Rule;

/// cupy.ufunc: a row, or a ufunc that a Python class defines.
struct Ufunc {
  std::optional<Op> known;
  Op op() const {
    if (!known) raise(PyExc_TypeError, "ufunc: not one of the library's functions; call it from Python");
    return *known;
  }
  const ct::ops::OpInfo& row() const { return ct::ops::info(op()); }
};
PyTypeObject* ufunc_type = nullptr;

/// The optional arguments of a call.
struct Options {
  PyObject *out = nullptr, *dtype = nullptr, *where = nullptr, *order = nullptr;
  std::string casting = "same_kind";
};

void read_option(Options& options, const char* name, const std::string& key, PyObject* value) {
  if (key == "out") {
    if (PyTuple_Check(value)) {
      if (PyTuple_Size(value) != 1) raise(PyExc_ValueError, std::string(name) + ": out must have one array");
      value = PyTuple_GetItem(value, 0);
    }
    options.out = value == Py_None ? nullptr : value;
  } else if (key == "dtype") {
    options.dtype = value == Py_None ? nullptr : value;
  } else if (key == "casting") {
    options.casting = nb::cast<std::string>(nb::handle(value));
    check_cast(name, Dtype::bool_, Dtype::bool_, options.casting);  // throws ValueError for an unknown casting rule
  } else if (key == "where" || key == "_where") {
    options.where = value == Py_True ? nullptr : value;
  } else if (key == "order") {
    options.order = value;
  } else {
    raise(PyExc_TypeError, std::string(name) + ": unexpected keyword argument '" + key + "'");
  }
}

/// Casts the inputs to the dtype that the caller requests for the operation.
void cast_inputs(const ct::ops::OpInfo& row, Argument* inputs, Dtype dtype, const std::string& casting) {
  const bool is_float_rule = row.rule == Rule::FLOAT || row.rule == Rule::DIVIDE;
  const bool is_bool_rule = row.rule == Rule::COMPARE || row.rule == Rule::PREDICATE;
  const bool is_count = row.rule == Rule::COUNT;
  if ((is_bool_rule && dtype == Dtype::bool_) || (is_count && dtype == Dtype::uint8)) return;
  if (is_bool_rule || is_count || (is_float_rule && !ct::is_inexact(dtype)))
    raise(PyExc_TypeError, std::string(row.name) + ": no loop with the result dtype " + ct::dtype_name(dtype));
  for (int i = 0; i < row.arity; ++i) {
    Argument& x = inputs[i];
    if (x.array) {
      check_cast(std::string(row.name) + ": input " + std::to_string(i), x.array->dtype(), dtype, casting);
      if (x.array->dtype() != dtype) {
        x.kept = stored_parts(*x.array, dtype).astype(dtype);
        x.array = &x.kept;
      }
    } else {
      x.strong = dtype;
    }
  }
}

/// Throws if an input cannot be cast to the dtype of the computation by this casting rule.
void check_inputs(const ct::ops::OpInfo& row, const Argument* inputs, Dtype result, const std::string& casting) {
  if (row.rule == Rule::PREDICATE || row.rule == Rule::COUNT) return;  // they have loops for all integers
  if (row.rule == Rule::COMPARE) result = ct::result_type(inputs[0].operand(), inputs[1].operand());
  for (int i = 0; i < row.arity; ++i)
    if (const Array* x = inputs[i].array)
      check_cast(std::string(row.name) + ": input " + std::to_string(i), x->dtype(), result, casting);
}

/// Reads `where=`: an array of bool, or a bool.
Array mask_of(PyObject* o, const char* name) {
  Argument where;
  if (!where.parse(o)) refuse_argument(o, name);
  check_cast(std::string(name) + ": where", where.as_array().dtype(), Dtype::bool_, "safe");
  return where.as_array();
}

/// Applies `order=` and `where=` to a new result. Elements that NumPy leaves uninitialised are 0.
Array in_form(const ct::ops::OpInfo& row, Array result, const Options& options, const Argument* inputs) {
  if (options.where) result = ct::where(mask_of(options.where, row.name), std::move(result), false);
  const Argument &x = inputs[0], &y = row.arity == 2 && inputs[1].array ? inputs[1] : x;
  return ct::in_order(result, order_from(options.order, Order::K, {(x.array ? x : y).array, y.array}));
}

PyObject* call(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    const Op op = nb::inst_ptr<Ufunc>(self)->op();
    const ct::ops::OpInfo& row = ct::ops::info(op);
    const Py_ssize_t given = PyTuple_Size(args);
    if (given < row.arity || given > row.arity + 1)
      raise(PyExc_TypeError, std::string(row.name) + "() takes from " + std::to_string(row.arity) + " to " +
                                 std::to_string(row.arity + 1) + " positional arguments but " + std::to_string(given) +
                                 " were given");
    Options options;
    if (given > row.arity) read_option(options, row.name, "out", PyTuple_GetItem(args, row.arity));
    if (kwargs) {
      PyObject *key = nullptr, *value = nullptr;
      Py_ssize_t position = 0;
      while (PyDict_Next(kwargs, &position, &key, &value))
        read_option(options, row.name, nb::cast<std::string>(nb::handle(key)), value);
    }
    Argument inputs[3];
    for (int i = 0; i < row.arity; ++i) {
      PyObject* o = PyTuple_GetItem(args, i);
      if (!inputs[i].parse(o)) refuse_argument(o, row.name);
    }
    if (options.dtype) cast_inputs(row, inputs, dtype_from(options.dtype), options.casting);
    if (row.arity != 2) {
      for (int i = 0; i < row.arity; ++i) inputs[i].as_array();
    } else {
      // in a float function each operand is converted to a float dtype by its own dtype, also a NumPy scalar
      if (row.rule == Rule::FLOAT)
        for (int i = 0; i < 2; ++i)
          if (inputs[i].strong) inputs[i].as_array();
      settle(inputs[0], inputs[1], row.rule == Rule::COMPARE);
    }
    const auto compute = [&] {
      Array result = row.arity == 1   ? ct::apply(op, inputs[0].operand())
                     : row.arity == 2 ? ct::apply(op, inputs[0].operand(), inputs[1].operand())
                                      : ct::apply(op, inputs[0].operand(), inputs[1].operand(), inputs[2].operand());
      if (options.casting != "same_kind") check_inputs(row, inputs, result.dtype(), options.casting);
      return result;
    };
    if (!options.out)
      return wrap(options.where || options.order ? in_form(row, compute(), options, inputs) : compute());
    if (!is_ndarray(options.out)) raise(PyExc_TypeError, std::string(row.name) + ": out must be an ndarray");
    const Array& out = array_of(options.out);
    if (options.where || options.casting != "same_kind" || row.arity == 3) {
      Array result = compute();
      check_cast(std::string(row.name) + ": the result", result.dtype(), out.dtype(), options.casting);
      result = stored_parts(result, out.dtype());
      options.where ? ct::copyto(out, result, mask_of(options.where, row.name)) : ct::copyto(out, result);
    } else if (row.arity == 1) {
      ct::apply_to(out, op, inputs[0].operand());
    } else {
      ct::apply_to(out, op, inputs[0].operand(), inputs[1].operand());
    }
    return Py_NewRef(options.out);
  });
}

PyObject* represent(PyObject* self) {
  return guarded([&] { return PyUnicode_FromFormat("<ufunc '%s'>", nb::inst_ptr<Ufunc>(self)->row().name); });
}

/// Returns the row's loops, such as "ff->f", found by applying it to empty arrays.
nb::list types_of(const Ufunc& f) {
  nb::list types;
  for (int i = 0; i < ct::kDtypes; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    if (dtype == Dtype::bfloat16) continue;
    const Array none = Array::empty({0}, dtype, ct::Device());
    try {
      const int arity = f.row().arity;
      const Array result = arity == 1   ? ct::apply(f.op(), none)
                           : arity == 2 ? ct::apply(f.op(), none, none)
                                        : ct::apply(f.op(), none, none, none);
      const auto letter = [](Dtype d) { return nb::cast<std::string>(nb::handle(numpy_dtype(d)).attr("char")); };
      types.append(std::string(static_cast<std::size_t>(arity), letter(dtype)[0]) + "->" + letter(result.dtype()));
    } catch (const ct::DtypeError&) {
    }
  }
  return types;
}

/// Returns the reduction that repeats an operation, as NumPy's ufunc.reduce.
std::optional<ct::ops::Reduce> reduction_of(Op op) {
  using ct::ops::Reduce;
  constexpr std::pair<Op, Reduce> known[] = {{Op::add, Reduce::sum},         {Op::multiply, Reduce::prod},
                                             {Op::maximum, Reduce::max},     {Op::minimum, Reduce::min},
                                             {Op::logical_and, Reduce::all}, {Op::logical_or, Reduce::any}};
  for (const auto& [repeated, reduction] : known)
    if (repeated == op) return reduction;
  return std::nullopt;
}

PyObject* name_of(PyObject* self, void*) {
  return guarded([&] { return PyUnicode_FromString(nb::inst_ptr<Ufunc>(self)->row().name); });
}
PyObject* doc_of(PyObject* self, void*) {
  return guarded([&] { return PyUnicode_FromString(nb::inst_ptr<Ufunc>(self)->row().description); });
}
PyGetSetDef attributes[] = {{"__name__", name_of, nullptr, nullptr, nullptr},
                            {"__doc__", doc_of, nullptr, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot slots[] = {{Py_tp_getset, attributes},
                       {Py_tp_call, reinterpret_cast<void*>(call)},
                       {Py_tp_repr, reinterpret_cast<void*>(represent)},
                       {0, nullptr}};

/// Returns the function of a row. Only rows of numbers take a dtype. For others the elements are cast first.
Array reduced(Array (*f)(Array, const ct::AxisArg&, bool, std::optional<Dtype>), const Array& a,
              const ct::AxisArg& axis, bool keepdims, std::optional<Dtype> dtype) {
  return f(a, axis, keepdims, dtype);
}
Array reduced(Array (*f)(Array, const ct::AxisArg&, bool), const Array& a, const ct::AxisArg& axis, bool keepdims,
              std::optional<Dtype> dtype) {
  return f(dtype ? a.astype(*dtype) : a, axis, keepdims);
}

nb::object reduce(ct::ops::Reduce op, const Array& given, const ct::AxisArg& axis, const DtypeArg& dtype,
                  const Out& out, bool keepdims) {
  const char* name = ct::ops::info(op).name;
  const std::optional<Dtype> wanted = dtype.get();
  const Array a = stored_parts(given, wanted);
  const auto run = [&] {
    switch (op) {
#define CT_REDUCE(name, ...)  \
  case ct::ops::Reduce::name: \
    return reduced(ct::name, a, axis, keepdims, wanted);
#include "catenary/ops/reductions.def"
#undef CT_REDUCE
      case ct::ops::Reduce::count:
        break;
    }
    throw ct::ValueError("reduce: unknown row");
  };
  // as NumPy, which sums in int64 and writes bools: a's dtype must be castable to out's
  const bool widened = !wanted && out.given() && ct::can_cast_same_kind(a.dtype(), out.array()->dtype());
  Array result = without_gil(is_large(a), run);
  return widened ? out.cast(result, name) : out(std::move(result), name);
}

/// Registers the reductions that are rows, and their names.
void register_reduction_rows(nb::module_& m) {
  nb::list reductions;
  for (int i = 0; i < static_cast<int>(ct::ops::Reduce::count); ++i) {
    const auto op = static_cast<ct::ops::Reduce>(i);
    const ct::ops::ReduceInfo& row = ct::ops::info(op);
    const auto keepdims = nb::arg("keepdims") = false;
    const auto axis = nb::arg("axis").none() = nb::none();
    const auto dtype = nb::arg("dtype").none() = nb::none();
    if (row.registers == ct::ops::NUM) {
      both(
          m, row.name,
          [op](const Array& a, const ct::AxisArg& axis, DtypeArg dtype, Out out, bool keepdims) {
            return reduce(op, a, axis, dtype, out, keepdims);
          },
          "a", axis, dtype, out_argument(), keepdims);
    } else {
      both(
          m, row.name,
          [op](const Array& a, const ct::AxisArg& axis, Out out, bool keepdims) {
            return reduce(op, a, axis, DtypeArg{}, out, keepdims);
          },
          "a", axis, out_argument(), keepdims);
    }
    reductions.append(row.name);
  }
  m.attr("reductions") = reductions;
}

}  // namespace

void register_ufuncs(nb::module_& m) {
  nb::class_<Ufunc> type(m, "ufunc", nb::type_slots(slots));
  ufunc_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def("__init__", [](Ufunc* self) { new (self) Ufunc(); })
      .def_prop_ro("nin", [](const Ufunc& f) { return f.row().arity; })
      .def_prop_ro("nout", [](const Ufunc&) { return 1; })
      .def_prop_ro("nargs", [](const Ufunc& f) { return f.row().arity + 1; })
      .def_prop_ro("types", types_of)
      .def(
          "_reduce",
          [](const Ufunc& f, const Array& a, const ct::AxisArg& axis, DtypeArg dtype, Out out, bool keepdims) {
            const auto op = reduction_of(f.op());
            if (!op) raise(PyExc_ValueError, std::string(f.row().name) + ".reduce is not supported");
            return reduce(*op, a, axis, dtype, out, keepdims);
          },
          nb::arg("array"), nb::arg("axis").none() = 0, nb::arg("dtype").none() = nb::none(), out_argument(),
          nb::arg("keepdims") = false)
      .def(
          "_at",
          [](const Ufunc& f, const Array& a, nb::handle indices, nb::handle b) {
            Argument value;
            if (!b.is_none()) value.parse_values(b.ptr(), a.device(), a.dtype());
            ct::apply_at(a, f.op(), parse_key(indices.ptr(), a),
                         b.is_none() ? std::nullopt : std::optional<Operand>(value.operand()));
          },
          nb::arg("a"), nb::arg("indices"), nb::arg("b").none() = nb::none());

  nb::dict ufuncs;
  constexpr Op rows[] = {
#define CT_OP(name, ...) Op::name,
#include "catenary/ops/elementwise.def"
#undef CT_OP
  };
  for (const Op op : rows) ufuncs[ct::ops::info(op).name] = nb::cast(Ufunc{op});
  m.attr("ufuncs") = ufuncs;
  register_reduction_rows(m);
}

}  // namespace catenary_python
