// Rows of functions of shapes whose arguments are Python's own: keys, devices, dtypes, widths.

#include "catenary/core/config.h"
#include "catenary/functions/functions.h"
#include "rows.h"

namespace catenary_python {

namespace {

namespace F = ct::functions;

/// An argument of split_axis.
struct SplitAt {
  std::int64_t parts = 0;
  std::optional<std::vector<std::int64_t>> places;
};
bool read(PyObject* o, SplitAt& to) {
  if (is_whole(o)) return catenary_python::read(o, to.parts);
  return (PyTuple_Check(o) || PyList_Check(o)) && nb::try_cast(nb::handle(o), to.places.emplace());
}
/// The key of an index. It is parsed when its array is known.
struct Key {
  PyObject* o = nullptr;
};
bool read(PyObject* o, Key& to) {
  to.o = o;
  return true;
}
/// A device of Chainer's, or an object that names one.
struct Place {
  ct::Device device;
  bool is_cupy = false;
};
bool read(PyObject* o, Place& to) {
  try {
    const nb::object device = nb::module_::import_("chainer").attr("get_device")(nb::handle(o));
    const std::string kind = nb::cast<std::string>(device.type().attr("__name__"));
    if (kind != "CpuDevice" && kind != "GpuDevice") return false;
    to.is_cupy = kind == "GpuDevice";
    to.device = !to.is_cupy
                    ? ct::Device()
                    : device_of_ordinal(nb::cast<std::int64_t>(nb::int_(nb::object(device.attr("device").attr("id")))));
    return true;
  } catch (const nb::python_error&) {
    return false;
  }
}
/// numpy.pad's width: a number, a pair, or one pair per axis.
struct Borders {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
};
bool read(PyObject* o, Borders& to) {
  std::int64_t all;
  if (catenary_python::read(o, all)) {
    to.pairs = {{all, all}};
    return true;
  }
  std::pair<std::int64_t, std::int64_t> pair;
  if (PyTuple_Check(o) && PyTuple_Size(o) == 2 && PyLong_CheckExact(PyTuple_GetItem(o, 0)) &&
      nb::try_cast(nb::handle(o), pair)) {
    to.pairs = {pair};
    return true;
  }
  return (PyTuple_Check(o) || PyList_Check(o)) && nb::try_cast(nb::handle(o), to.pairs) && !to.pairs.empty();
}
struct Type {
  Dtype dtype = Dtype::float32;
};
bool read(PyObject* o, Type& to) {
  try {
    to.dtype = dtype_from(o);
    return true;
  } catch (const nb::python_error&) {
    return false;
  }
}

/// Splits an axis into equal parts or at indices.
ct::Variables split_axis(Values x, SplitAt at, int axis, std::optional<bool> force_tuple) {
  if (!force_tuple.value_or(true)) return {};
  return at.places ? F::split_axis(x.v, ct::Sections(*at.places), axis) : F::split_axis(x.v, at.parts, axis);
}
Variable cast(Values x, Type typ) {
  const bool is_same = x.v.dtype() == typ.dtype;
  if (is_same && (!ct::config.enable_backprop || !x.v.requires_grad())) return x.v;
  if (is_same) return F::identity(x.v);  // a node of its own, as in Chainer
  if (ct::is_floating(x.v.dtype()) && ct::is_floating(typ.dtype)) return F::cast(x.v, typ.dtype);
  return Variable(x.v.array().astype(typ.dtype), false);
}
Variable get_item(Values x, Key slices) {
  std::vector<ct::Index> indices;
  return read_key(slices.o, x.v, indices) ? F::get_item(x.v, indices) : Variable();
}
Variable scatter_add(Floats a, Key slices, Floats b) {
  std::vector<ct::Index> indices;
  return of_one_dtype(a.v, b.v) && read_key(slices.o, a.v, indices) ? F::scatter_add(a.v, indices, b.v) : Variable();
}
Variable copy(Values x, Place dst) {
  if (x.v.device() != dst.device) return F::copy(x.v, dst.device);
  return is_ndarray(array_object(x.v.node())) == dst.is_cupy ? x.v : Variable();
}
Variable pad(Values x, Borders width, std::string mode, std::optional<double> value) {
  if (mode != "constant") return {};
  ct::PadOptions options;
  options.constant_value = value.value_or(0);
  return F::pad(x.v, width.pairs, options);
}

constexpr Row table[] = {
    {"chainer.functions.array.scatter_add.scatter_add", {"a", "slices", "b"}, 3, call<scatter_add>},
    {"chainer.functions.array.split_axis.split_axis",
     {"x", "indices_or_sections", "axis", "force_tuple"},
     3,
     call<split_axis>,
     Gives::all},
    {"chainer.functions.array.cast.cast", {"x", "typ"}, 2, call<cast>},
    {"chainer.functions.array.copy.copy", {"x", "dst"}, 2, call<copy>},
    {"chainer.functions.array.get_item.get_item", {"x", "slices"}, 2, call<get_item>},
    {"chainer.functions.array.pad.pad", {"x", "pad_width", "mode", "=constant_values"}, 3, call<pad>},
};

}  // namespace

std::span<const Row> rows_of_shapes() { return table; }

}  // namespace catenary_python
