// Functions that reshape arrays or select elements.

#include "catenary/array/manipulation.h"

#include "bind.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/indexing.h"
#include "catenary/core/error.h"
#include "catenary/core/memory_order.h"

namespace catenary_python {

namespace {

using namespace nb::literals;

/// Reads the shape in `reshape(2, 3)` or `reshape((2, 3))`.
Shape extents_of(const nb::args& args) {
  if (args.size() == 1) return dims_from(nb::handle(args[0]).ptr(), "shape");
  return dims_from(args.ptr(), "shape");
}

/// Checks take's out before the indices, as NumPy does: its shape, and whether its dtype casts safely to the array's.
void check_taken(const Array& a, const Shape& indices, std::optional<int> axis, const Array& out) {
  check_cast("take: out", out.dtype(), a.dtype(), "safe");
  Shape shape;
  const int at = axis ? ct::normalize_axis(*axis, a.ndim(), "take") : 0;
  for (int i = 0; i < at; ++i) shape.push_back(a.shape()[i]);
  for (const std::int64_t n : indices) shape.push_back(n);
  for (int i = at + 1; axis && i < a.ndim(); ++i) shape.push_back(a.shape()[i]);
  if (!(out.shape() == shape))
    raise(PyExc_ValueError, "take: out has shape " + out.shape().str() + ", the result has " + shape.str());
}

nb::object reshape(Self self, const Shape& shape, nb::handle order) {
  const Array& a = self.array();
  const Order o = order_from(order.ptr(), Order::C, {&a});
  if (o == Order::K) raise(PyExc_ValueError, "reshape: order 'K' is not permitted");
  if (o == Order::C) return checked(wrap_view(a.reshape(shape), self.o));
  Shape reversed;
  for (int i = shape.size() - 1; i >= 0; --i) reversed.push_back(shape[i]);
  return checked(wrap_view(a.transpose().reshape(reversed).transpose(), self.o));
}

/// Transposes `a` so that C order of the result is `order` of `a`.
Array in_order(const Array& a, nb::handle order) {
  const Order o = order_from(order.ptr(), Order::C, {&a});
  if (o != Order::K) return o == Order::F ? a.transpose() : a;
  const ct::Strides* strides[] = {&a.strides()};
  return a.transpose(ct::memory_order(a.ndim(), strides));
}

/// Values to be written into an array: an array, a number, or a list or NumPy array, which is copied to its device.
struct Values {
  nb::object v;
  Argument argument;
  Values(nb::object given, const Array& into) : v(std::move(given)) {
    argument.parse_values(v.ptr(), into.device(), into.dtype());
  }
  ct::Operand operand() const { return argument.operand(); }
};

ct::IndexMode mode_from(const std::string& mode, const char* function) {
  if (mode == "raise") return ct::IndexMode::raise;
  if (mode == "wrap") return ct::IndexMode::wrap;
  if (mode == "clip") return ct::IndexMode::clip;
  raise(PyExc_ValueError, std::string(function) + ": mode must be 'raise', 'wrap' or 'clip', not '" + mode + "'");
}

ct::Sections sections_from(nb::handle o) {
  if (PyIndex_Check(o.ptr()) && !PySequence_Check(o.ptr())) return nb::cast<std::int64_t>(o);
  std::vector<std::int64_t> positions;
  for (nb::handle position : nb::list(nb::borrow(o))) positions.push_back(nb::cast<std::int64_t>(nb::int_(position)));
  return positions;
}

/// Wraps a function that splits an array into views.
template <class... A>
auto splitting(std::vector<Array> (*f)(const Array&, const ct::Sections&, A...)) {
  return [f](Self self, nb::handle sections, A... axis) { return viewing(f)(self, sections_from(sections), axis...); };
}

/// Reads pad's arguments as NumPy broadcasts them: one number, one pair, or one pair per axis.
template <class T, class Read>
ct::PerSide<T> per_side(nb::handle o, int ndim, Read read) {
  const nb::object pairs =
      numpy().attr("broadcast_to")(numpy().attr("asarray")(o), nb::make_tuple(ndim, 2)).attr("tolist")();
  std::vector<std::pair<T, T>> result;
  for (nb::handle pair : nb::list(pairs)) result.emplace_back(read(pair[0]), read(pair[1]));
  return result;
}

/// Accepts axis 0 of a 0-d array, as a few of NumPy's functions do.
bool zero_of_none(const Array& a, const ct::AxisArg& axis) {
  return a.ndim() == 0 && !axis.all() && axis.axes().size() == 1 && (axis.axes()[0] == 0 || axis.axes()[0] == -1);
}

Scalar number(nb::handle o) {
  Argument argument;
  if (!argument.parse(o.ptr()) || argument.array) refuse_argument(o.ptr(), "pad");
  return argument.operand().scalar();
}

ct::PadMode pad_mode(const std::string& mode) {
  static constexpr const char* modes[] = {"constant", "edge",    "linear_ramp", "maximum", "mean", "median",
                                          "minimum",  "reflect", "symmetric",   "wrap",    "empty"};  // as in the enum
  if (const auto found = named<ct::PadMode>(modes, mode)) return *found;
  raise(PyExc_ValueError, "pad: mode '" + mode + "' is not supported");
}

Array pad(const Array& a, nb::handle width, const std::string& mode, nb::kwargs given) {
  const auto integer = [](nb::handle o) { return nb::cast<std::int64_t>(o); };
  ct::PadOptions options;
  options.mode = pad_mode(mode);
  for (auto [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    if (name == "reflect_type") {
      const std::string type = nb::cast<std::string>(nb::str(value));
      if (type != "even" && type != "odd")
        raise(PyExc_ValueError, "pad: reflect_type must be 'even' or 'odd', not '" + type + "'");
      options.odd = type == "odd";
    } else if (name != "constant_values" && name != "end_values" && name != "stat_length") {
      raise(PyExc_ValueError, "pad: unsupported keyword argument '" + name + "' for mode '" + mode + "'");
    } else if (value.is_none()) {
    } else if (name == "stat_length") {
      options.stat_length = per_side<std::int64_t>(value, a.ndim(), integer);
    } else {
      (name == "end_values" ? options.end_value : options.constant_value) = per_side<Scalar>(value, a.ndim(), number);
    }
  }
  return ct::pad(a, per_side<std::int64_t>(width, a.ndim(), integer), options);
}

/// Registers reshapes, transpositions and parts of complex numbers.
void register_shapes(nb::module_& m) {
  method("reshape", [](Self self, nb::args shape, nb::kwargs options) {
    nb::object order = nb::str("C"), copy = nb::none();
    for (auto [key, value] : options) {
      const std::string name = nb::cast<std::string>(key);
      if (name != "order" && name != "copy")
        raise(PyExc_TypeError, "reshape: unexpected keyword argument '" + name + "'");
      (name == "order" ? order : copy) = nb::borrow(value);
    }
    if (nb::isinstance<nb::str>(copy)) raise(PyExc_ValueError, "reshape: strings are not allowed for copy");
    nb::object result = reshape(self, extents_of(shape), order);
    const Array& a = array_of(result.ptr());
    if (copy.is_none()) return result;
    if (nb::cast<bool>(copy)) return checked(wrap(ct::copy(a)));
    if (!a.shares_memory(self.array()))
      raise(PyExc_ValueError, "reshape: Unable to avoid creating a copy as requested");
    return result;
  });
  m.def(
      "transpose",
      [](Self self, std::optional<ct::Axes> axes) {
        return checked(wrap_view(self.array().transpose(axes.value_or(ct::Axes{})), self.o));
      },
      "a"_a, optional("axes"));
  method("transpose", [](Self self, nb::args axes) {
    const bool none = axes.size() == 0 || (axes.size() == 1 && axes[0].is_none());
    return checked(wrap_view(self.array().transpose(none ? ct::Axes{} : extents_of(axes)), self.o));
  });
  method(
      "flatten", [](const Array& a, nb::handle order) { return in_order(a, order).flatten(); },
      nb::arg("order").none() = "C");
  method(
      "ravel",
      [](Self self, nb::handle order) {
        const Array flat = in_order(self.array(), order).reshape({-1});
        return checked(wrap_view(flat.is_contiguous() ? flat : flat.copy(), self.o));
      },
      nb::arg("order").none() = "C");
  // the parts of complex numbers, as views
  m.def("_real", viewing(+[](const Array& a) { return ct::real(a); }), "a"_a);
  m.def("_imag", viewing(+[](const Array& a) { return ct::imag(a); }), "a"_a);
}

/// Registers functions that return views with other axes.
void register_axes(nb::module_& m) {
  const auto no_axis = optional("axis");
  both(m, "squeeze",
       viewing(+[](const Array& a, const ct::AxisArg& axis) { return zero_of_none(a, axis) ? a : a.squeeze(axis); }),
       "a", no_axis);
  both(m, "swapaxes", viewing<int, int>(ct::swapaxes), "a", nb::arg("axis1"), nb::arg("axis2"));
  m.def("moveaxis", viewing<const ct::Axes&, const ct::Axes&>(ct::moveaxis), "a"_a, "source"_a, "destination"_a);
  m.def("rollaxis", viewing<int, int>(ct::rollaxis), "a"_a, "axis"_a, "start"_a = 0);
  m.def("expand_dims", viewing<const ct::AxisArg&>(ct::expand_dims), "a"_a, "axis"_a);
  m.def("broadcast_to", viewing(ct::broadcast_to), "array"_a, "shape"_a);
  m.def("_broadcast_shapes", [](nb::sequence given) {
    std::vector<Shape> shapes;
    for (nb::handle shape : given) shapes.push_back(dims_from(shape.ptr(), "broadcast_shapes: a shape"));
    return ct::broadcast_shapes(shapes);
  });
  m.def("_atleast_1d", viewing(ct::atleast_1d));
  m.def("_atleast_2d", viewing(ct::atleast_2d));
  m.def("_atleast_3d", viewing(ct::atleast_3d));
  m.def("flip", viewing<const ct::AxisArg&>(ct::flip), "m"_a, no_axis);
  m.def("fliplr", viewing(ct::fliplr), "m"_a);
  m.def("flipud", viewing(ct::flipud), "m"_a);
  m.def("rot90", viewing<int, const ct::Axes&>(ct::rot90), "m"_a, "k"_a = 1, "axes"_a = nb::make_tuple(0, 1));
  m.def("sliding_window_view", viewing(ct::sliding_window_view), "x"_a, "window_shape"_a, no_axis);
  m.def(
      "as_strided",
      [](Self self, std::optional<Shape> shape, std::optional<Shape> strides) {
        const Array& a = self.array();
        ct::Strides steps = a.strides();
        if (strides) {
          const auto size = static_cast<std::int64_t>(a.itemsize());
          steps = *strides;
          for (int i = 0; i < steps.size(); ++i) {
            if (steps[i] % size != 0)
              raise(PyExc_ValueError, "as_strided: strides must be multiples of the " + std::to_string(size) +
                                          " bytes of an element, got " + strides->str());
            steps[i] /= size;
          }
        }
        return checked(wrap_view(a.as_strided(shape.value_or(a.shape()), steps), self.o));
      },
      "x"_a, optional("shape"), optional("strides"));
}

/// Registers functions that join, split, repeat, trim and pad arrays.
void register_joining(nb::module_& m) {
  const auto no_axis = optional("axis");
  m.def("_concatenate",
        freed(static_cast<Array (*)(const std::vector<Array>&, const std::optional<int>&)>(ct::concatenate)));
  m.def("_stack", freed(ct::stack));
  m.def("_vstack", freed(ct::vstack));
  m.def("_hstack", freed(ct::hstack));
  m.def("dstack", freed(ct::dstack), "tup"_a);
  m.def("column_stack", freed(ct::column_stack), "tup"_a);
  m.def("append", freed(ct::append), "arr"_a, "values"_a, no_axis);
  m.def("split", splitting(ct::split), "ary"_a, "indices_or_sections"_a, "axis"_a = 0);
  m.def("array_split", splitting(ct::array_split), "ary"_a, "indices_or_sections"_a, "axis"_a = 0);
  m.def("hsplit", splitting(ct::hsplit), "ary"_a, "indices_or_sections"_a);
  m.def("vsplit", splitting(ct::vsplit), "ary"_a, "indices_or_sections"_a);
  m.def("dsplit", splitting(ct::dsplit), "ary"_a, "indices_or_sections"_a);
  m.def("tile", freed(static_cast<Array (*)(const Array&, const Shape&)>(ct::tile)), "A"_a, "reps"_a);
  both(
      m, "repeat",
      [](const Array& a, nb::handle repeats, std::optional<int> axis) {
        if (PyIndex_Check(repeats.ptr()) && !PySequence_Check(repeats.ptr()))
          return ct::repeat(a, nb::cast<std::int64_t>(nb::int_(repeats)), axis);
        return ct::repeat(a, array_from(repeats.ptr(), a.device()), axis);
      },
      "a", nb::arg("repeats"), no_axis);
  m.def(
      "roll",
      [](const Array& a, const ct::Axes& shift, const std::optional<ct::Axes>& axis) {
        if (!axis) {
          std::int64_t total = 0;
          for (std::int64_t s : shift) total += s;
          return ct::roll(a, total);
        }
        return ct::roll(a, shift, *axis);
      },
      "a"_a, "shift"_a, no_axis);
  m.def("resize", freed(ct::resize), "a"_a, "new_shape"_a);
  m.def("trim_zeros", viewing<const std::string&>(ct::trim_zeros), "filt"_a, "trim"_a = "fb");
  m.def(
      "insert",
      [](const Array& arr, nb::handle obj, nb::object values, std::optional<int> axis) {
        return ct::insert(arr, parse_key(obj.ptr(), arr).at(0), Values(values, arr).operand(), axis);
      },
      "arr"_a, "obj"_a, "values"_a, no_axis);
  m.def(
      "delete",
      [](const Array& arr, nb::handle obj, std::optional<int> axis) {
        return ct::delete_(arr, parse_key(obj.ptr(), arr).at(0), axis);
      },
      "arr"_a, "indices"_a, no_axis);
  m.def("pad", pad, "array"_a, "pad_width"_a, "mode"_a, "options"_a);
}

/// Registers functions that take and store elements by their indices.
void register_picking(nb::module_& m) {
  const auto no_axis = optional("axis");
  both(
      m, "take",
      [](const Array& a, nb::handle indices, std::optional<int> axis, Out out, const std::string& mode) {
        const Array at = array_from(indices.ptr(), a.device());
        if (axis && zero_of_none(a, *axis)) axis.reset();
        if (out.given()) check_taken(a, at.shape(), axis, *out.array());
        return out(without_gil(is_large(a), [&] { return ct::take(a, at, axis, mode_from(mode, "take")); }), "take");
      },
      "a", nb::arg("indices"), no_axis, out_argument(), nb::arg("mode") = "raise");
  m.def("take_along_axis", freed(ct::take_along_axis), "a"_a, "indices"_a, "axis"_a);
  m.def(
      "put_along_axis",
      [](const Array& a, const Array& indices, nb::object values, int axis) {
        ct::put_along_axis(a, indices, Values(values, a).operand(), axis);
      },
      "arr"_a, "indices"_a, "values"_a, "axis"_a);
  both(
      m, "put",
      [](const Array& a, nb::handle indices, nb::object v, const std::string& mode) {
        ct::put(a, array_from(indices.ptr(), a.device()), Values(v, a).operand(), mode_from(mode, "put"));
      },
      "a", nb::arg("ind"), nb::arg("v"), nb::arg("mode") = "wrap");
  for (const auto& [name, f] : {std::pair("scatter_add", &ct::scatter_add), std::pair("scatter_max", &ct::scatter_max),
                                std::pair("scatter_min", &ct::scatter_min)})
    both(
        m, name,
        [f = f](const Array& a, nb::handle slices, nb::handle value) {
          const std::vector<ct::Index> indices = parse_key(slices.ptr(), a);
          Argument argument;
          argument.parse_values(value.ptr(), a.device(), a.dtype());
          without_gil(is_large(a), [&] { f(a, indices, argument.operand()); });
        },
        "a", nb::arg("slices"), nb::arg("value"));
}

/// Registers functions of conditions and choices.
void register_choosing(nb::module_& m) {
  const auto no_axis = optional("axis");
  const auto positions = [](const Array& a) { return nb::tuple(nb::cast(freed(ct::nonzero)(a))); };
  both(m, "nonzero", positions, "a");
  m.def("argwhere", freed(ct::argwhere), "a"_a);
  m.def("flatnonzero", freed(ct::flatnonzero), "a"_a);
  m.def(
      "where",
      [positions](nb::object condition, nb::object x, nb::object y) -> nb::object {
        Argument c, a, b;
        if (!c.parse(condition.ptr())) refuse_argument(condition.ptr(), "where");
        if (x.is_none() != y.is_none()) raise(PyExc_ValueError, "where: must provide both 'x' and 'y' or neither.");
        if (x.is_none()) return positions(c.as_array());
        if (!a.parse(x.ptr())) refuse_argument(x.ptr(), "where");
        if (!b.parse(y.ptr())) refuse_argument(y.ptr(), "where");
        settle(a, b);
        return checked(wrap(ct::where(c.as_array(), a.operand(), b.operand())));
      },
      "condition"_a, optional("x"), optional("y"));
  m.def("_unravel_index", freed(ct::unravel_index), "indices"_a, "dims"_a);
  m.def(
      "ravel_multi_index",
      [](const std::vector<Array>& index, const Shape& dims, const std::string& mode) {
        return ct::ravel_multi_index(index, dims, mode_from(mode, "ravel_multi_index"));
      },
      "multi_index"_a, "dims"_a, "mode"_a = "wrap");
  m.def("_ix", ct::ix_);
  both(
      m, "choose",
      [](const Array& a, const std::vector<Array>& choices, Out out, const std::string& mode) {
        return out(ct::choose(a, choices, mode_from(mode, "choose")), "choose");
      },
      "a", nb::arg("choices"), out_argument(), nb::arg("mode") = "raise");
  m.def("select", freed(ct::select), "condlist"_a, "choicelist"_a, "default"_a = 0);
  const auto compress = delivered(ct::compress, "compress");
  m.def("compress", compress, "condition"_a, "a"_a, no_axis, out_argument());
  method(
      "compress",
      [compress](const Array& a, nb::handle condition, std::optional<int> axis, Out out) {
        return compress(array_from(condition.ptr(), a.device()), a, axis, out);
      },
      nb::arg("condition"), no_axis, out_argument());
  m.def("extract", freed(ct::extract), "condition"_a, "a"_a);
  m.def(
      "place",
      [](const Array& a, const Array& mask, nb::object values) { ct::place(a, mask, Values(values, a).operand()); },
      "arr"_a, "mask"_a, "vals"_a);
  m.def(
      "putmask",
      [](const Array& a, const Array& mask, nb::object values) { ct::putmask(a, mask, Values(values, a).operand()); },
      "a"_a, "mask"_a, "values"_a);
}

/// Registers functions of diagonals and triangles.
void register_diagonals(nb::module_& m) {
  m.def("diag", viewing(ct::diag), "v"_a, "k"_a = 0);
  m.def("diagflat", freed(ct::diagflat), "v"_a, "k"_a = 0);
  both(m, "diagonal", viewing<std::int64_t, int, int>(ct::diagonal), "a", nb::arg("offset") = 0, nb::arg("axis1") = 0,
       nb::arg("axis2") = 1);
  m.def(
      "fill_diagonal",
      [](const Array& a, nb::object value, bool wrap) { ct::fill_diagonal(a, Values(value, a).operand(), wrap); },
      "a"_a, "val"_a, "wrap"_a = false);
  m.def("tril", freed(ct::tril), "m"_a, "k"_a = 0);
  m.def("triu", freed(ct::triu), "m"_a, "k"_a = 0);
  for (const auto& [name, f] :
       {std::pair("tril_indices", &ct::tril_indices), std::pair("triu_indices", &ct::triu_indices)})
    m.def(
        name,
        [f = f](std::int64_t n, std::int64_t k, std::optional<std::int64_t> columns) {
          current_device();
          return nb::tuple(nb::cast(f(n, k, columns)));
        },
        "n"_a, "k"_a = 0, optional("m"));
}

}  // namespace

void register_manipulation(nb::module_& m) {
  register_shapes(m);
  register_axes(m);
  register_joining(m);
  register_picking(m);
  register_choosing(m);
  register_diagonals(m);
}

}  // namespace catenary_python
