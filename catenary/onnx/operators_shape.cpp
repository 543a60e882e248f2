// Operators that change shapes, dtypes and order, and operators that make arrays.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/io.h"
#include "catenary/array/manipulation.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

/// Returns integers in host memory.
Value host_integers(const Integers& values, const Shape& shape) {
  return Variable(Array::from_host(values.data(), shape, Dtype::int64, Device()));
}

Value host_integers(const Integers& values) {
  return host_integers(values, Shape{static_cast<std::int64_t>(values.size())});
}

Integers extents(const Shape& shape) { return {shape.begin(), shape.end()}; }

Values shape_of(const Call& c) {
  const Shape shape = c.x(0).shape();
  const std::int64_t ndim = shape.size();
  const auto end = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + ndim : i, 0, ndim); };
  const std::int64_t from = end(c.integer("start", 0)), to = std::max(from, end(c.integer("end", ndim)));
  const Integers all = extents(shape);
  return {host_integers(Integers(all.begin() + from, all.begin() + to))};
}

Values reshaped(const Call& c) {
  const Variable x = c.x(0);
  Integers wanted = c.integers(1).value_or(Integers());
  if (!c.has(1)) c.fail("input 1, the shape, is missing");
  const bool keeps_zero = c.integer("allowzero", 0) != 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] == 0 && !keeps_zero) {
      if (static_cast<int>(i) >= x.ndim()) c.fail("the shape copies axis {} of an array with {} axes", i, x.ndim());
      wanted[i] = x.shape(static_cast<int>(i));
    }
  return {F::reshape(x, Shape(wanted))};
}

Values transposed(const Call& c) {
  const std::optional<Integers> order = c.list("perm");
  return {order ? F::transpose(c.x(0), Axes(*order)) : F::transpose(c.x(0))};
}

Values squeezed(const Call& c) {
  const std::optional<Integers> axes = c.axes(1, 13);
  return {axes ? F::squeeze(c.x(0), AxisArg(Axes(*axes))) : F::squeeze(c.x(0))};
}

Values unsqueezed(const Call& c) {
  const std::optional<Integers> given = c.axes(1, 13);
  if (!given) c.fail("axes are missing");
  const Variable x = c.x(0);
  const int ndim = x.ndim() + static_cast<int>(given->size());
  Integers axes;
  for (const std::int64_t axis : *given) axes.push_back(axis_of(c, axis, ndim));
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) c.fail("an axis is there twice");
  Integers shape = extents(x.shape());
  for (const std::int64_t axis : axes) shape.insert(shape.begin() + axis, 1);
  return {F::reshape(x, Shape(shape))};
}

Values flattened(const Call& c) {
  const Variable x = c.x(0);
  std::int64_t axis = c.integer("axis", 1);
  if (axis < -x.ndim() || axis > x.ndim()) c.fail("axis {} is out of range for an array with {} axes", axis, x.ndim());
  if (axis < 0) axis += x.ndim();
  return {as_rows(x, static_cast<int>(axis))};
}

Values concatenated(const Call& c) {
  std::vector<Variable> xs;
  for (int i = 0; i < c.count(); ++i) xs.push_back(c.x(i));
  const std::int64_t axis = c.integer("axis");
  if (xs.empty()) c.fail("there is no input");
  return {F::concat(xs, axis_of(c, axis, xs[0].ndim()))};
}

Values split(const Call& c) {
  const Variable x = c.x(0);
  const int axis = axis_of(c, c.integer("axis", 0), x.ndim());
  std::optional<Integers> sizes = c.axes(1, 13, "split");
  const std::int64_t parts = c.opset() >= 18 ? c.integer("num_outputs", c.outputs()) : c.outputs();
  const std::int64_t length = x.shape(axis);
  if (!sizes) {
    if (parts < 1) c.fail("{} parts are impossible", parts);
    check_arrays(parts);
    const std::int64_t size = (length + parts - 1) / parts;
    sizes.emplace();
    for (std::int64_t i = 0; i < parts; ++i) sizes->push_back(std::clamp<std::int64_t>(length - i * size, 0, size));
  }
  Values result;
  std::int64_t at = 0;
  for (const std::int64_t size : *sizes) {
    if (size < 0 || size > length - at) c.fail("the parts do not fit axis {} of {} elements", axis, length);
    result.push_back(F::get_item(x, along(axis, slice(at, at + size))));
    at += size;
  }
  if (at != length) c.fail("the parts have {} elements together, axis {} has {}", at, axis, length);
  return result;
}

Values sliced(const Call& c) {
  const Variable x = c.x(0);
  const bool by_inputs = c.opset() >= 10;
  const auto given = [&](int i, const char* name) { return by_inputs ? c.integers(i) : c.list(name); };
  const std::optional<Integers> starts = given(1, "starts"), ends = given(2, "ends"), axes = given(3, "axes");
  const std::optional<Integers> steps = by_inputs ? c.integers(4) : std::nullopt;
  if (!starts || !ends || starts->size() != ends->size()) c.fail("expected as many ends as starts");
  if ((axes && axes->size() != starts->size()) || (steps && steps->size() != starts->size()))
    c.fail("expected an axis and a step for each of the {} starts", starts->size());
  std::vector<Index> index(static_cast<std::size_t>(x.ndim()), Index(slice()));
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const int axis = axis_of(c, axes ? axes->at(i) : static_cast<std::int64_t>(i), x.ndim());
    const std::int64_t step = steps ? steps->at(i) : 1, length = x.shape(axis);
    if (step == 0) c.fail("a step is 0");
    const auto bound = [&](std::int64_t k) {
      if (k < 0) k += length;
      return step > 0 ? std::clamp<std::int64_t>(k, 0, length) : std::clamp<std::int64_t>(k, -1, length - 1);
    };
    const std::int64_t from = bound(starts->at(i)), to = bound(ends->at(i));
    Slice s{from, to, step};
    if (step < 0 && to < 0) s.stop.reset();  // to the first element
    if (step < 0 && from < 0) s = Slice{0, 0, 1};
    index[static_cast<std::size_t>(axis)] = Index(s);
  }
  return {index.empty() ? x : F::get_item(x, index)};
}

Values expanded(const Call& c) {
  const Variable x = c.x(0);
  const std::optional<Integers> shape = c.integers(1);
  if (!shape) c.fail("input 1, the shape, is missing");
  return {F::broadcast_to(x, broadcast_shapes({x.shape(), Shape(*shape)}))};
}

Values tiled(const Call& c) {
  const std::optional<Integers> repeats = c.integers(1);
  if (!repeats) c.fail("input 1, the repeats, is missing");
  return {F::tile(c.x(0), Shape(*repeats))};
}

Values padded(const Call& c) {
  static constexpr std::pair<const char*, PadMode> kModes[] = {
      {"constant", PadMode::constant}, {"reflect", PadMode::reflect}, {"edge", PadMode::edge}, {"wrap", PadMode::wrap}};
  const Variable x = c.x(0);
  const std::string mode = c.text("mode", "constant");
  const auto found = std::find_if(std::begin(kModes), std::end(kModes), [&](const auto& m) { return mode == m.first; });
  const std::optional<Integers> pads = c.axes(1, 11, "pads");
  if (!pads) c.fail("the widths are missing");
  Integers axes(static_cast<std::size_t>(x.ndim()));
  std::iota(axes.begin(), axes.end(), 0);
  if (c.opset() >= 18)
    if (const auto given = c.integers(3)) axes = *given;
  if (pads->size() != 2 * axes.size()) c.fail("{} widths are given for {} axes", pads->size(), axes.size());
  std::vector<PerSide<std::int64_t>::Pair> widths(static_cast<std::size_t>(x.ndim()), {0, 0});
  std::vector<Index> kept(static_cast<std::size_t>(x.ndim()), Index(slice()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = axis_of(c, axes[i], x.ndim());
    const std::int64_t before = pads->at(i), after = pads->at(i + axes.size());
    widths[static_cast<std::size_t>(axis)] = {std::max<std::int64_t>(before, 0), std::max<std::int64_t>(after, 0)};
    constexpr std::int64_t kMost = std::int64_t{1} << 48;
    if (before < -kMost || before > kMost || after < -kMost || after > kMost)
      c.fail("widths {} and {} are out of range", before, after);
    if (before < 0 || after < 0)  // negative widths cut elements off
      kept[static_cast<std::size_t>(axis)] =
          Index(Slice{std::max<std::int64_t>(-before, 0), x.shape(axis) + std::min<std::int64_t>(after, 0), 1});
  }
  PadOptions options;
  options.mode = found->second;
  if (c.opset() < 11)
    options.constant_value = PerSide<Scalar>(c.real("value", 0.0));
  else if (c.has(2) && c.array(2).size() > 0)
    options.constant_value = is_inexact(x.dtype())
                                 ? PerSide<Scalar>(c.array(2).astype(Dtype::float64).item<double>())
                                 : PerSide<Scalar>(c.array(2).astype(Dtype::int64).item<std::int64_t>());
  return {F::pad(F::get_item(x, kept), PerSide<std::int64_t>(widths), options)};
}

Values cast_to(const Call& c, Dtype dtype) {
  const Variable x = c.x(0);
  if (is_inexact(x.dtype()) && is_inexact(dtype)) return {F::cast(x, dtype)};
  return {Variable(dtype == Dtype::bool_ ? not_equal(x.array(), 0) : x.array().astype(dtype))};
}

Values cast(const Call& c) {
  c.integer("saturate", 1);  // for 8-bit floats only
  c.text("round_mode", "up");
  return cast_to(c, dtype_to(c, c.integer("to")));
}

Values cast_like(const Call& c) {
  c.integer("saturate", 1);
  c.text("round_mode", "up");
  return cast_to(c, c.x(1).dtype());
}

/// The attribute's tensor as an array in host memory.
Array tensor_of(const Call& c, const Tensor& tensor) {
  if (!tensor.external.empty()) c.fail("a constant with external data is not supported");
  return from_host(read_tensor_elements(tensor, c.node().label()), Device());
}

Values constant(const Call& c) {
  if (const Attribute* a = c.find("value")) {
    if (!a->tensor) c.fail("attribute 'value' is not a tensor");
    return {Variable(tensor_of(c, *a->tensor))};
  }
  if (c.find("value_int")) return {host_integers({c.integer("value_int")}, Shape{})};
  if (const auto values = c.list("value_ints")) return {host_integers(*values)};
  if (c.find("value_float"))
    return {Variable(full(Shape{}, c.real("value_float"), Dtype::float32).to_device(Device()))};
  if (const auto values = c.reals("value_floats"))
    return {Variable(
        Array::from_host(values->data(), Shape{static_cast<std::int64_t>(values->size())}, Dtype::float32, Device()))};
  c.fail("a constant of this type is not supported (strings and sparse tensors)");
}

Values constant_of_shape(const Call& c) {
  const std::optional<Integers> shape = c.integers(0);
  if (!shape) c.fail("input 0, the shape, is missing");
  const Attribute* a = c.find("value");
  if (!a || !a->tensor) return {Variable(zeros(Shape(*shape), Dtype::float32).to_device(c.device()))};
  const Array value = tensor_of(c, *a->tensor).reshape({});
  return {Variable(copy(broadcast_to(value, Shape(*shape))))};
}

Values range(const Call& c) {
  const Array start = c.array(0), limit = c.array(1), step = c.array(2);
  if (is_inexact(start.dtype())) {
    const double from = start.astype(Dtype::float64).item<double>(), to = limit.astype(Dtype::float64).item<double>(),
                 by = step.astype(Dtype::float64).item<double>();
    const double elements = std::max(0.0, std::ceil((to - from) / by));
    if (!(elements < 1e15)) c.fail("a range from {} to {} by {} has too many elements", from, to, by);
    const auto count = static_cast<std::int64_t>(elements);
    const Array numbers = add(multiply(arange(count, Dtype::float64), by), from);
    return {Variable(numbers.astype(start.dtype()).to_device(c.device()))};
  }
  const auto number = [](const Array& a) { return a.astype(Dtype::int64).item<std::int64_t>(); };
  if (number(step) == 0) c.fail("the step is 0");
  return {Variable(arange(number(start), number(limit), number(step), start.dtype()).to_device(c.device()))};
}

Values one_hot(const Call& c) {
  const Array indices = c.array(0).astype(Dtype::int64), values = c.array(2);
  const std::optional<Integers> depth =
      c.has(1) ? std::optional(Integers{c.array(1).reshape({}).astype(Dtype::int64).item<std::int64_t>()})
               : std::nullopt;
  if (!depth) c.fail("input 1, the depth, is missing");
  if (depth->at(0) < 0) c.fail("the depth is {}", depth->at(0));
  const int axis = axis_of(c, c.integer("axis", -1), indices.ndim() + 1);
  const Array kinds = arange(depth->at(0)).to_device(c.device());
  const Array wrapped = where(less(indices, 0), add(indices, depth->at(0)), indices);
  const Array hot =
      equal(expand_dims(wrapped, axis), kinds.reshape(shape_along(indices.ndim() + 1, axis, depth->at(0))));
  return {Variable(where(hot, values(1), values(0)))};
}

Values eye_like(const Call& c) {
  const Array x = c.array(0);
  const Dtype dtype = c.find("dtype") ? dtype_to(c, c.integer("dtype")) : x.dtype();
  if (x.ndim() != 2) c.fail("the input has {} axes instead of 2", x.ndim());
  return {Variable(eye(x.shape(0), x.shape(1), c.integer("k", 0), dtype).to_device(c.device()))};
}

Values triangle(const Call& c) {
  const bool upper = c.integer("upper", 1) != 0;
  const std::int64_t k = c.has(1) ? c.integers(1)->at(0) : 0;
  const Array x = c.array(0);
  return {Variable(upper ? triu(x, k) : tril(x, k))};
}

/// Moves blocks of channels into space, or back.
Values depth_to_space(const Call& c) {
  const Variable x = c.x(0);
  const std::int64_t b = c.integer("blocksize");
  const std::string mode = c.text("mode", "DCR");
  if (x.ndim() != 4 || b < 1 || x.shape(1) % (b * b) != 0)
    c.fail("an array of shape {} has no blocks of {}", x.shape(), b);
  const std::int64_t n = x.shape(0), depth = x.shape(1) / (b * b), h = x.shape(2), w = x.shape(3);
  const Variable blocks = mode == "CRD" ? F::transpose(F::reshape(x, {n, depth, b, b, h, w}), {0, 1, 4, 2, 5, 3})
                                        : F::transpose(F::reshape(x, {n, b, b, depth, h, w}), {0, 3, 4, 1, 5, 2});
  return {F::reshape(blocks, {n, depth, h * b, w * b})};
}

Values space_to_depth(const Call& c) {
  const Variable x = c.x(0);
  const std::int64_t b = c.integer("blocksize");
  if (x.ndim() != 4 || b < 1 || x.shape(2) % b != 0 || x.shape(3) % b != 0)
    c.fail("an array of shape {} has no blocks of {}", x.shape(), b);
  const std::int64_t n = x.shape(0), depth = x.shape(1), h = x.shape(2) / b, w = x.shape(3) / b;
  const Axes order = c.text("mode", "DCR") == "CRD" ? Axes{0, 1, 3, 5, 2, 4} : Axes{0, 3, 5, 1, 2, 4};
  const Variable blocks = F::transpose(F::reshape(x, {n, depth, h, b, w, b}), order);
  return {F::reshape(blocks, {n, depth * b * b, h, w})};
}

/// Cuts or pads axes on both sides to given sizes.
Values centred(const Call& c) {
  const Variable x = c.x(0);
  const Integers sizes = c.integers(1).value_or(Integers());
  Integers axes(static_cast<std::size_t>(x.ndim()));
  std::iota(axes.begin(), axes.end(), 0);
  axes = c.list("axes").value_or(axes);
  if (sizes.size() != axes.size()) c.fail("{} sizes are given for {} axes", sizes.size(), axes.size());
  std::vector<PerSide<std::int64_t>::Pair> widths(static_cast<std::size_t>(x.ndim()), {0, 0});
  std::vector<Index> kept(static_cast<std::size_t>(x.ndim()), Index(slice()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = axis_of(c, axes[i], x.ndim());
    if (sizes[i] < 0) c.fail("size {} is negative", sizes[i]);
    const std::int64_t more = sizes[i] - x.shape(axis);
    if (more > 0)
      widths[static_cast<std::size_t>(axis)] = {more / 2, more - more / 2};
    else
      kept[static_cast<std::size_t>(axis)] = Index(slice(-more / 2, -more / 2 + sizes[i]));
  }
  return {F::pad(F::get_item(x, kept), PerSide<std::int64_t>(widths))};
}

Values size_of(const Call& c) { return {host_integers({c.x(0).size()}, Shape{})}; }

}  // namespace

std::span<const Operator> shape_operators() {
  static const Operator rows[] = {
      {"Shape", 1, shape_of},
      {"Size", 1, size_of},
      {"Reshape", 5, reshaped},
      {"Transpose", 1, transposed},
      {"Squeeze", 1, squeezed},
      {"Unsqueeze", 1, unsqueezed},
      {"Flatten", 1, flattened},
      {"Concat", 4, concatenated},
      {"Split", 2, split},
      {"Slice", 1, sliced},
      {"Expand", 8, expanded},
      {"Tile", 6, tiled},
      {"Pad", 2, padded},
      {"CenterCropPad", 18, centred},
      {"Cast", 6, cast},
      {"CastLike", 15, cast_like},
      {"Constant", 1, constant},
      {"ConstantOfShape", 9, constant_of_shape},
      {"Range", 11, range},
      {"OneHot", 9, one_hot},
      {"EyeLike", 9, eye_like},
      {"Trilu", 14, triangle},
      {"DepthToSpace", 1, depth_to_space},
      {"SpaceToDepth", 1, space_to_depth},
  };
  return rows;
}

}  // namespace catenary::onnx
