// Functions that change the form of arrays, or pick elements.

#include "catenary/array/manipulation.h"

#include "bind.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/indexing.h"
#include "catenary/core/error.h"

namespace catenary_python {

namespace {

using namespace nb::literals;

/// Arguments `reshape(2, 3)` or `reshape((2, 3))`.
Shape extents_of(const nb::args& args) {
  if (args.size() == 1) return dims_from(nb::handle(args[0]).ptr(), "shape");
  return dims_from(args.ptr(), "shape");
}

nb::object reshape(Self self, const Shape& shape, nb::handle order) {
  const Order o = order_from(order.ptr(), true);
  if (PyUnicode_Check(order.ptr()) && PyUnicode_CompareWithASCIIString(order.ptr(), "K") == 0)
    raise(PyExc_ValueError, "reshape: order 'K' is not permitted");
  const Array& a = self.array();
  const bool fortran = o == Order::F || (o == Order::K && is_f_contiguous(a) && !a.is_contiguous());
  if (!fortran) return checked(wrap_view(a.reshape(shape), self.o));
  Shape reversed;
  for (int i = shape.size() - 1; i >= 0; --i) reversed.push_back(shape[i]);
  return checked(wrap_view(a.transpose().reshape(reversed).transpose(), self.o));
}

ct::IndexMode mode_from(const std::string& mode, const char* function) {
  if (mode == "raise") return ct::IndexMode::raise;
  if (mode == "wrap") return ct::IndexMode::wrap;
  if (mode == "clip") return ct::IndexMode::clip;
  raise(PyExc_ValueError, std::string(function) + ": mode must be 'raise', 'wrap' or 'clip', not '" + mode + "'");
}

/// Index arrays may be lists and NumPy's arrays here.
Array positions_from(nb::handle o, const Array& beside) {
  if (is_ndarray(o.ptr())) return array_of(o.ptr());
  return from_numpy(o.ptr(), std::nullopt, beside.device());
}

ct::Sections sections_from(nb::handle o) {
  if (PyIndex_Check(o.ptr()) && !PySequence_Check(o.ptr())) return nb::cast<std::int64_t>(o);
  std::vector<std::int64_t> positions;
  for (nb::handle position : nb::list(nb::borrow(o))) positions.push_back(nb::cast<std::int64_t>(nb::int_(position)));
  return positions;
}

template <class F>
auto splitting(F f) {
  return [f](Self self, nb::handle sections, int axis) {
    nb::list views;
    for (Array& view : f(self.array(), sections_from(sections), axis))
      views.append(checked(wrap_view(std::move(view), self.o)));
    return views;
  };
}

/// The arguments of pad as NumPy broadcasts them: one number, one pair, or a pair for each axis.
template <class T, class Read>
ct::PerSide<T> per_side(nb::handle o, int ndim, Read read) {
  const nb::object pairs =
      numpy().attr("broadcast_to")(numpy().attr("asarray")(o), nb::make_tuple(ndim, 2)).attr("tolist")();
  std::vector<std::pair<T, T>> result;
  for (nb::handle pair : nb::list(pairs)) result.emplace_back(read(pair[0]), read(pair[1]));
  return result;
}

/// 0-d arrays are taken to have an axis 0, as NumPy does in a few functions.
bool zero_of_none(const Array& a, const ct::AxisArg& axis) {
  return a.ndim() == 0 && !axis.all() && axis.axes().size() == 1 && (axis.axes()[0] == 0 || axis.axes()[0] == -1);
}

Scalar number(nb::handle o) {
  Argument argument;
  if (!argument.parse(o.ptr()) || argument.array) refuse_argument(o.ptr(), "pad");
  return argument.scalar;
}

ct::PadMode pad_mode(const std::string& mode) {
  static constexpr std::pair<const char*, ct::PadMode> modes[] = {
      {"constant", ct::PadMode::constant}, {"edge", ct::PadMode::edge},       {"linear_ramp", ct::PadMode::linear_ramp},
      {"maximum", ct::PadMode::maximum},   {"mean", ct::PadMode::mean},       {"median", ct::PadMode::median},
      {"minimum", ct::PadMode::minimum},   {"reflect", ct::PadMode::reflect}, {"symmetric", ct::PadMode::symmetric},
      {"wrap", ct::PadMode::wrap},         {"empty", ct::PadMode::empty}};
  for (const auto& [name, value] : modes)
    if (mode == name) return value;
  raise(PyExc_ValueError, "pad: mode '" + mode + "' is not supported");
}

Array pad(const Array& a, nb::handle width, const std::string& mode, nb::handle constant_values, nb::handle end_values,
          nb::handle stat_length, const std::string& reflect_type) {
  const auto integer = [](nb::handle o) { return nb::cast<std::int64_t>(o); };
  ct::PadOptions options;
  options.mode = pad_mode(mode);
  if (!constant_values.is_none()) options.constant_value = per_side<Scalar>(constant_values, a.ndim(), number);
  if (!end_values.is_none()) options.end_value = per_side<Scalar>(end_values, a.ndim(), number);
  if (!stat_length.is_none()) options.stat_length = per_side<std::int64_t>(stat_length, a.ndim(), integer);
  if (reflect_type != "even" && reflect_type != "odd")
    raise(PyExc_ValueError, "pad: reflect_type must be 'even' or 'odd', not '" + reflect_type + "'");
  options.odd = reflect_type == "odd";
  return ct::pad(a, per_side<std::int64_t>(width, a.ndim(), integer), options);
}

}  // namespace

void register_manipulation(nb::module_& m) {
  const auto no_axis = nb::arg("axis").none() = nb::none();
  const nb::handle type(reinterpret_cast<PyObject*>(ndarray_type));
  const auto method = [&](const char* name, auto f, const auto&... extra) {
    nb::cpp_function_def<NdArray>(f, nb::scope(type), nb::name(name), nb::is_method(), extra...);
  };

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
      "a"_a, "axes"_a.none() = nb::none());
  method("transpose", [](Self self, nb::args axes) {
    const bool none = axes.size() == 0 || (axes.size() == 1 && axes[0].is_none());
    return checked(wrap_view(self.array().transpose(none ? ct::Axes{} : extents_of(axes)), self.o));
  });
  method(
      "flatten",
      [](const Array& a, nb::handle order) {
        return order_from(order.ptr(), true) == Order::F ? a.transpose().flatten() : a.flatten();
      },
      nb::arg("order") = "C");
  both(m, "squeeze",
       viewing(+[](const Array& a, const ct::AxisArg& axis) { return zero_of_none(a, axis) ? a : a.squeeze(axis); }),
       "a", no_axis);
  both(m, "swapaxes", viewing(ct::swapaxes), "a", nb::arg("axis1"), nb::arg("axis2"));
  m.def("moveaxis", viewing(static_cast<Array (*)(const Array&, const ct::Axes&, const ct::Axes&)>(ct::moveaxis)),
        "a"_a, "source"_a, "destination"_a);
  m.def("rollaxis", viewing(ct::rollaxis), "a"_a, "axis"_a, "start"_a = 0);
  m.def("expand_dims", viewing(ct::expand_dims), "a"_a, "axis"_a);
  m.def("broadcast_to", viewing(ct::broadcast_to), "array"_a, "shape"_a);
  m.def("_broadcast_arrays", ct::broadcast_arrays);
  m.def("_broadcast_shapes", [](const std::vector<Shape>& shapes) { return ct::broadcast_shapes(shapes); });
  m.def("_atleast", [](Self self, int ndim) {
    const Array& a = self.array();
    return checked(wrap_view(ndim == 1   ? ct::atleast_1d(a)
                             : ndim == 2 ? ct::atleast_2d(a)
                                         : ct::atleast_3d(a),
                             self.o));
  });
  m.def("flip", viewing(ct::flip), "m"_a, no_axis);
  m.def("fliplr", viewing(ct::fliplr), "m"_a);
  m.def("flipud", viewing(ct::flipud), "m"_a);
  m.def("rot90", viewing(ct::rot90), "m"_a, "k"_a = 1, "axes"_a = nb::make_tuple(0, 1));
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
      "x"_a, "shape"_a.none() = nb::none(), "strides"_a.none() = nb::none());

  m.def("_concatenate",
        freed(static_cast<Array (*)(const std::vector<Array>&, const std::optional<int>&)>(ct::concatenate)));
  m.def("_stack", freed(ct::stack));
  m.def("vstack", freed(ct::vstack), "tup"_a);
  m.def("hstack", freed(ct::hstack), "tup"_a);
  m.def("dstack", freed(ct::dstack), "tup"_a);
  m.def("column_stack", freed(ct::column_stack), "tup"_a);
  m.def("append", freed(ct::append), "arr"_a, "values"_a, no_axis);
  m.def("split", splitting(ct::split), "ary"_a, "indices_or_sections"_a, "axis"_a = 0);
  m.def("array_split", splitting(ct::array_split), "ary"_a, "indices_or_sections"_a, "axis"_a = 0);
  m.def(
      "hsplit", [](Self self, nb::handle s) { return splitting(ct::split)(self, s, self.array().ndim() == 1 ? 0 : 1); },
      "ary"_a, "indices_or_sections"_a);
  for (const auto& [name, axis] : {std::pair("vsplit", 0), std::pair("dsplit", 2)})
    m.def(
        name, [axis = axis](Self self, nb::handle s) { return splitting(ct::split)(self, s, axis); }, "ary"_a,
        "indices_or_sections"_a);
  m.def("tile", freed(static_cast<Array (*)(const Array&, const Shape&)>(ct::tile)), "A"_a, "reps"_a);
  both(
      m, "repeat",
      [](const Array& a, nb::handle repeats, std::optional<int> axis) {
        if (PyIndex_Check(repeats.ptr()) && !PySequence_Check(repeats.ptr()))
          return ct::repeat(a, nb::cast<std::int64_t>(nb::int_(repeats)), axis);
        return ct::repeat(a, positions_from(repeats, a), axis);
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
        const auto spread = [](const ct::Axes& x, int n) { return x.size() == 1 ? ct::Axes::filled(n, x[0]) : x; };
        const int n = std::max(shift.size(), axis->size());
        return ct::roll(a, spread(shift, n), spread(*axis, n));
      },
      "a"_a, "shift"_a, no_axis);
  m.def("resize", freed(ct::resize), "a"_a, "new_shape"_a);
  m.def("trim_zeros", viewing(ct::trim_zeros), "filt"_a, "trim"_a = "fb");
  m.def(
      "insert",
      [](const Array& arr, nb::handle obj, const Value& values, std::optional<int> axis) {
        return ct::insert(arr, parse_key(obj.ptr(), arr).at(0), values.operand(), axis);
      },
      "arr"_a, "obj"_a, "values"_a, no_axis);
  m.def(
      "delete",
      [](const Array& arr, nb::handle obj, std::optional<int> axis) {
        return ct::delete_(arr, parse_key(obj.ptr(), arr).at(0), axis);
      },
      "arr"_a, "indices"_a, no_axis);
  m.def("pad", pad, "array"_a, "pad_width"_a, "mode"_a = "constant", nb::kw_only(),
        "constant_values"_a.none() = nb::none(), "end_values"_a.none() = nb::none(),
        "stat_length"_a.none() = nb::none(), "reflect_type"_a = "even");

  // picking elements
  both(
      m, "take",
      [](const Array& a, nb::handle indices, std::optional<int> axis, Out out, const std::string& mode) {
        const Array at = positions_from(indices, a);
        if (axis && zero_of_none(a, *axis)) axis.reset();
        return out(without_gil(is_large(a), [&] { return ct::take(a, at, axis, mode_from(mode, "take")); }), "take");
      },
      "a", nb::arg("indices"), no_axis, out_argument(), nb::arg("mode") = "raise");
  m.def("take_along_axis", freed(ct::take_along_axis), "a"_a, "indices"_a, "axis"_a);
  m.def(
      "put_along_axis",
      [](const Array& a, const Array& indices, const Value& values, int axis) {
        ct::put_along_axis(a, indices, values.operand(), axis);
      },
      "arr"_a, "indices"_a, "values"_a, "axis"_a);
  both(
      m, "put",
      [](const Array& a, nb::handle indices, const Value& v, const std::string& mode) {
        ct::put(a, positions_from(indices, a), v.operand(), mode_from(mode, "put"));
      },
      "a", nb::arg("indices"), nb::arg("values"), nb::arg("mode") = "wrap");
  for (const auto& [name, f] : {std::pair("scatter_add", &ct::scatter_add), std::pair("scatter_max", &ct::scatter_max),
                                std::pair("scatter_min", &ct::scatter_min)})
    both(
        m, name,
        [f = f](const Array& a, nb::handle slices, nb::handle value) {
          const std::vector<ct::Index> indices = parse_key(slices.ptr(), a);
          Argument argument;
          argument.parse_values(value.ptr(), a.device());
          without_gil(is_large(a), [&] { f(a, indices, argument.operand()); });
        },
        "a", nb::arg("slices"), nb::arg("value"));
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
      "condition"_a, "x"_a.none() = nb::none(), "y"_a.none() = nb::none());
  m.def(
      "unravel_index",
      [](const ArrayLike& indices, const Shape& dims) {
        return nb::tuple(nb::cast(ct::unravel_index(indices.array, dims)));
      },
      "indices"_a, "dims"_a);
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
  m.def(
      "select",
      [](const std::vector<Array>& conditions, const std::vector<Array>& choices, const Value& fallback) {
        return ct::select(conditions, choices, fallback.operand());
      },
      "condlist"_a, "choicelist"_a, "default"_a = 0);
  m.def(
      "compress",
      [](const Array& condition, const Array& a, std::optional<int> axis, Out out) {
        return out(ct::compress(condition, a, axis), "compress");
      },
      "condition"_a, "a"_a, no_axis, out_argument());
  method(
      "compress",
      [](const Array& a, const Array& condition, std::optional<int> axis, Out out) {
        return out(ct::compress(condition, a, axis), "compress");
      },
      nb::arg("condition"), no_axis, out_argument());
  m.def("extract", freed(ct::extract), "condition"_a, "a"_a);
  m.def(
      "place", [](const Array& a, const Array& mask, const Value& v) { ct::place(a, mask, v.operand()); }, "arr"_a,
      "mask"_a, "vals"_a);
  m.def(
      "putmask", [](const Array& a, const Array& mask, const Value& v) { ct::putmask(a, mask, v.operand()); }, "a"_a,
      "mask"_a, "values"_a);
  m.def(
      "diag", [](Self self, std::int64_t k) { return checked(wrap_view(ct::diag(self.array(), k), self.o)); }, "v"_a,
      "k"_a = 0);
  m.def("diagflat", freed(ct::diagflat), "v"_a, "k"_a = 0);
  both(m, "diagonal", viewing(ct::diagonal), "a", nb::arg("offset") = 0, nb::arg("axis1") = 0, nb::arg("axis2") = 1);
  m.def(
      "fill_diagonal", [](const Array& a, const Value& v, bool wrap) { ct::fill_diagonal(a, v.operand(), wrap); },
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
        "n"_a, "k"_a = 0, "m"_a.none() = nb::none());
}

}  // namespace catenary_python
