// Chainer's functions of array shapes that the library implements.

#include "catenary/core/config.h"
#include "catenary/functions/functions.h"
#include "rows.h"

namespace catenary_python {

namespace {

namespace F = ct::functions;

/// A list of variables of any dtype that Values takes.
struct Arrays {
  std::vector<Variable> all;
};
bool read(PyObject* o, Arrays& to) {
  if (!PyTuple_Check(o) && !PyList_Check(o)) return false;
  for (nb::handle item : nb::handle(o)) {
    Values one;
    if (!catenary_python::read(item.ptr(), one)) return false;
    to.all.push_back(std::move(one.v));
  }
  return !to.all.empty();
}

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
};
bool read(PyObject* o, Place& to) {
  try {
    const nb::object device = nb::module_::import_("chainer").attr("get_device")(nb::handle(o));
    const std::string kind = nb::cast<std::string>(device.type().attr("__name__"));
    if (kind != "CpuDevice" && kind != "GpuDevice") return false;
    to.device = kind == "CpuDevice"
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

// For an unchanged shape Chainer returns the variable itself.
Variable reshape(Values x, ct::Dims shape) { return x.v.shape() == shape ? unchanged(x.v) : F::reshape(x.v, shape); }
Variable transpose(Values x, std::optional<ct::Dims> axes) {
  return axes ? F::transpose(x.v, *axes) : F::transpose(x.v);
}
template <Variable (*f)(const Variable&, int)>
Variable with_axis(Values x, int axis) {
  return f(x.v, axis);
}
Variable broadcast_to(Values x, ct::Dims shape) {
  return x.v.shape() == shape ? unchanged(x.v) : F::broadcast_to(x.v, shape);
}
Variable rollaxis(Values x, int axis, std::optional<int> start) { return F::rollaxis(x.v, axis, start.value_or(0)); }
Variable swapaxes(Values x, int axis1, int axis2) { return F::swapaxes(x.v, axis1, axis2); }
// Chainer returns a new variable even if no axis is removed.
Variable squeeze(Values x, std::optional<ct::Dims> axis) {
  const Variable y = F::squeeze(x.v, axes_of(axis));
  return !y.is(x.v) ? y : chainer_is_own ? F::identity(y) : Variable();
}
Variable concat(Arrays xs, std::optional<int> axis) {
  return of_one_kind(xs.all) ? F::concat(xs.all, axis.value_or(1)) : Variable();
}
Variable stack(Arrays xs, std::optional<int> axis) {
  return of_one_kind(xs.all) ? F::stack(xs.all, axis.value_or(0)) : Variable();
}

/// Splits an axis into equal parts or at indices.
ct::Variables split_axis(Values x, SplitAt at, int axis, std::optional<bool> force_tuple) {
  if (!force_tuple.value_or(true)) return {};
  return at.places ? F::split_axis(x.v, ct::Sections(*at.places), axis) : F::split_axis(x.v, at.parts, axis);
}
ct::Variables separate(Values x, std::optional<int> axis) { return F::separate(x.v, axis.value_or(0)); }
Variable select_item(Values x, Any t) { return are_labels(t, {x.v}) ? F::select_item(x.v, t.v) : Variable(); }
Variable where(Any condition, Values x, Values y) {
  return of_one_dtype(x.v, y.v) && condition.v.dtype() == Dtype::bool_ ? F::where(condition.v, x.v, y.v) : Variable();
}

Variable as_strided(Values x, ct::Dims shape, ct::Dims strides, std::optional<std::int64_t> offset) {
  return x.v.array().is_contiguous() ? F::as_strided(x.v, shape, strides, offset.value_or(0)) : Variable();
}
ct::Variables broadcast(std::vector<Variable> xs) {
  for (const Variable& x : xs)
    if (!of_one_dtype(x, xs[0])) return {};
  return xs.size() > 1 ? F::broadcast(xs) : ct::Variables();
}
Variable cast(Values x, Type typ) {
  const bool is_same = x.v.dtype() == typ.dtype;
  if (is_same && (!ct::config.enable_backprop || !x.v.requires_grad())) return unchanged(x.v);
  if (is_same) return chainer_is_own ? F::identity(x.v) : Variable();  // a node of its own, as in Chainer
  if (ct::is_floating(x.v.dtype()) && ct::is_floating(typ.dtype)) return F::cast(x.v, typ.dtype);
  return chainer_is_own ? Variable(x.v.array().astype(typ.dtype), false) : Variable();
}
template <Variable (*f)(const Variable&, int)>
Variable blocks(Values x, int r) {
  return f(x.v, r);
}
Variable diagonal(Values x, std::optional<std::int64_t> offset, std::optional<int> axis1, std::optional<int> axis2) {
  return F::diagonal(x.v, offset.value_or(0), axis1.value_or(0), axis2.value_or(1));
}
Variable get_item(Values x, Key slices) {
  std::vector<ct::Index> indices;
  return read_key(slices.o, x.v, indices) ? F::get_item(x.v, indices) : Variable();
}
Variable scatter_add(Floats a, Key slices, Floats b) {
  std::vector<ct::Index> indices;
  return of_one_dtype(a.v, b.v) && read_key(slices.o, a.v, indices) ? F::scatter_add(a.v, indices, b.v) : Variable();
}
Variable copy(Values x, Place dst) { return x.v.device() == dst.device ? unchanged(x.v) : F::copy(x.v, dst.device); }
Variable im2col(Floats x, ct::Dims ksize, const F::Im2ColOptions& options) { return F::im2col(x.v, ksize, options); }
Variable moveaxis(Values x, ct::Dims source, ct::Dims destination) { return F::moveaxis(x.v, source, destination); }
Variable pad(Values x, Borders width, std::string mode, std::optional<double> value) {
  if (mode != "constant") return {};
  ct::PadOptions options;
  options.constant_value = value.value_or(0);
  return F::pad(x.v, width.pairs, options);
}
Variable pad_sequence(Arrays xs, std::optional<std::int64_t> length, std::optional<double> padding) {
  return of_one_kind(xs.all) ? F::pad_sequence(xs.all, length, padding.value_or(0)) : Variable();
}
Variable permutate(Values x, Any indices, std::optional<int> axis, std::optional<bool> inv) {
  return are_labels(indices, {x.v}) ? F::permutate(x.v, indices.v, axis.value_or(0), inv.value_or(false)) : Variable();
}
Variable repeat(Values x, ct::Dims repeats, std::optional<int> axis) { return F::repeat(x.v, repeats, axis); }
Variable resize_images(Floats x, ct::Dims output_shape, const F::ResizeOptions& options) {
  return F::resize_images(x.v, output_shape, options);
}
Variable transformer_grid(Floats theta, ct::Dims output_shape) {
  return F::spatial_transformer_grid(theta.v, output_shape);
}
Variable tile(Values x, ct::Dims reps) { return F::tile(x.v, reps); }
ct::Variables transpose_sequence(Arrays xs) {
  return of_one_kind(xs.all) ? F::transpose_sequence(xs.all) : ct::Variables();
}
template <Variable (*f)(const Variable&)>
Variable of_values(Values x) {
  return f(x.v);
}
template <Variable (*f)(const std::vector<Variable>&)>
Variable of_arrays(Arrays xs) {
  return of_one_kind(xs.all) ? f(xs.all) : Variable();
}

constexpr Row table[] = {
    {"chainer.functions.array.concat.concat", {"xs", "axis"}, 1, call<concat>},
    {"chainer.functions.array.reshape.reshape", {"x", "shape"}, 2, call<reshape>},
    {"chainer.functions.array.transpose.transpose", {"x", "axes"}, 1, call<transpose>},
    {"chainer.functions.array.broadcast.broadcast_to", {"x", "shape"}, 2, call<broadcast_to>},
    {"chainer.functions.array.dstack.dstack", {"xs"}, 1, call<of_arrays<F::dstack>>},
    {"chainer.functions.array.expand_dims.expand_dims", {"x", "axis"}, 2, call<with_axis<F::expand_dims>>},
    {"chainer.functions.array.flatten.flatten", {"x"}, 1, call<of_values<F::flatten>>},
    {"chainer.functions.array.flip.flip", {"x", "axis"}, 2, call<with_axis<F::flip>>},
    {"chainer.functions.array.fliplr.fliplr", {"a"}, 1, call<of_values<F::fliplr>>},
    {"chainer.functions.array.flipud.flipud", {"a"}, 1, call<of_values<F::flipud>>},
    {"chainer.functions.array.hstack.hstack", {"xs"}, 1, call<of_arrays<F::hstack>>},
    {"chainer.functions.array.rollaxis.rollaxis", {"x", "axis", "start"}, 2, call<rollaxis>},
    {"chainer.functions.array.select_item.select_item", {"x", "t"}, 2, call<select_item>},
    {"chainer.functions.array.scatter_add.scatter_add", {"a", "slices", "b"}, 3, call<scatter_add>},
    {"chainer.functions.array.separate.separate", {"x", "axis"}, 1, call<separate>, Gives::all},
    {"chainer.functions.array.split_axis.split_axis",
     {"x", "indices_or_sections", "axis", "force_tuple"},
     3,
     call<split_axis>,
     Gives::all},
    {"chainer.functions.array.squeeze.squeeze", {"x", "axis"}, 1, call<squeeze>},
    {"chainer.functions.array.stack.stack", {"xs", "axis"}, 1, call<stack>},
    {"chainer.functions.array.swapaxes.swapaxes", {"x", "axis1", "axis2"}, 3, call<swapaxes>},
    {"chainer.functions.array.vstack.vstack", {"xs"}, 1, call<of_arrays<F::vstack>>},
    {"chainer.functions.array.where.where", {"condition", "x", "y"}, 3, call<where>},
    {"chainer.functions.array.as_strided.as_strided", {"x", "shape", "strides", "storage_offset"}, 3, call<as_strided>},
    {"chainer.functions.array.broadcast.broadcast", {"*args"}, 1, call<broadcast>, Gives::all},
    {"chainer.functions.array.cast.cast", {"x", "typ"}, 2, call<cast>},
    {"chainer.functions.array.depth2space.depth2space", {"X", "r"}, 2, call<blocks<F::depth2space>>},
    {"chainer.functions.array.space2depth.space2depth", {"X", "r"}, 2, call<blocks<F::space2depth>>},
    {"chainer.functions.array.copy.copy", {"x", "dst"}, 2, call<copy>},
    {"chainer.functions.array.diagonal.diagonal", {"x", "offset", "axis1", "axis2"}, 1, call<diagonal>},
    {"chainer.functions.array.get_item.get_item", {"x", "slices"}, 2, call<get_item>},
    {"chainer.functions.array.im2col.im2col", {"x", "ksize", "...", "dilate"}, 2, call<im2col>},
    {"chainer.functions.array.moveaxis.moveaxis", {"x", "source", "destination"}, 3, call<moveaxis>},
    {"chainer.functions.array.pad.pad", {"x", "pad_width", "mode", "=constant_values"}, 3, call<pad>},
    {"chainer.functions.array.pad_sequence.pad_sequence", {"xs", "length", "padding"}, 1, call<pad_sequence>},
    {"chainer.functions.array.permutate.permutate", {"x", "indices", "axis", "inv"}, 2, call<permutate>},
    {"chainer.functions.array.repeat.repeat", {"x", "repeats", "axis"}, 2, call<repeat>},
    {"chainer.functions.array.resize_images.resize_images", {"x", "output_shape", "=..."}, 2, call<resize_images>},
    {"chainer.functions.array.spatial_transformer_grid.spatial_transformer_grid",
     {"theta", "output_shape"},
     2,
     call<transformer_grid>},
    {"chainer.functions.array.spatial_transformer_sampler.spatial_transformer_sampler",
     {"x", "grid"},
     2,
     call<of_two<F::spatial_transformer_sampler>>},
    {"chainer.functions.array.tile.tile", {"x", "reps"}, 2, call<tile>},
    {"chainer.functions.array.transpose_sequence.transpose_sequence", {"xs"}, 1, call<transpose_sequence>, Gives::all},
};

}  // namespace

std::span<const Row> rows_of_shapes() { return table; }

}  // namespace catenary_python
