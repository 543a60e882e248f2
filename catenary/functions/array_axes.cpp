// Functions of functions/array.h that change axes, repeat and pad.

#include "catenary/array/creation.h"
#include "catenary/array/pad.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/core/axis_error.h"
#include "catenary/core/format.h"
#include "catenary/functions/array.h"
#include "catenary/functions/linear_map.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

/// 0, 1, …, n - 1 on x's device.
Array positions(const Variable& x, std::int64_t n) { return arange(n, Dtype::int64).to_device(x.device()); }

struct Flip : Unary<Flip, keep::nothing> {
  explicit Flip(int axis) : axis(axis) {}
  static constexpr const char* kName = "Flip";
  CT_ATTRIBUTES(axis)
  Array f(const Array& x) { return catenary::flip(x, axis); }
  Variable df(const Variable& gy, const Variable&, const Variable&) { return flip(gy, axis); }
  int axis;
};

struct Tile : Unary<Tile, keep::nothing> {
  explicit Tile(const Shape& repetitions) : repetitions(repetitions) {}
  static constexpr const char* kName = "Tile";
  CT_ATTRIBUTES(repetitions)
  Array f(const Array& x) { return catenary::tile(x, repetitions); }
  /// Adds the gradients of the copies.
  Variable df(const Variable& gy, const Variable&, const Variable&) {
    const Shape& shape = input_shape(0);
    const int n = gy.ndim();
    Shape copies;
    Axes axes;
    for (int i = 0; i < n; ++i) {
      const int r = i - (n - repetitions.size()), s = i - (n - shape.size());
      axes.push_back(copies.size());
      copies.push_back(r < 0 ? 1 : repetitions[r]);
      copies.push_back(s < 0 ? 1 : shape[s]);
    }
    return reshape(sum(reshape(gy, copies), axes), shape);
  }
  Shape repetitions;
};

struct Repeat : Unary<Repeat, keep::nothing> {
  Repeat(std::int64_t count, int axis) : count(count), axis(axis) {}
  static constexpr const char* kName = "Repeat";
  CT_ATTRIBUTES(count, axis)
  Array f(const Array& x) { return catenary::repeat(x, count, axis); }
  Variable df(const Variable& gy, const Variable&, const Variable&) {
    Shape copies = input_shape(0);
    copies.insert(axis + 1, count);
    return sum(reshape(gy, copies), axis + 1);
  }
  std::int64_t count;
  int axis;
};

struct Pad : Unary<Pad, keep::nothing> {
  Pad(const PerSide<std::int64_t>& width, const PadOptions& options) : width(width), options(options) {}
  static constexpr const char* kName = "Pad";
  CT_ATTRIBUTES(width, options)
  Array f(const Array& x) { return catenary::pad(x, width, options); }
  Variable df(const Variable& gy, const Variable&, const Variable&) {
    std::vector<Index> inner;
    for (int i = 0; i < gy.ndim(); ++i) {
      const auto& pairs = width.pairs();
      const std::int64_t before = pairs[pairs.size() == 1 ? 0 : static_cast<std::size_t>(i)].first;
      inner.emplace_back(slice(before, before + input_shape(0)[i]));
    }
    return get_item(gy, inner);
  }
  PerSide<std::int64_t> width;
  PadOptions options;
};

/// Borders that repeat elements of the array.
struct RepeatingPad {
  static constexpr const char *kName = "Pad", *kBackName = "PadGrad";
  Shape shape;
  PerSide<std::int64_t> width;
  PadOptions options;

  Array forward(const Array& x) const { return catenary::pad(x, width, options); }
  Array back(const Array& gy) const { return catenary::detail::pad_back(gy, shape, width, options.mode); }
};
CT_FIELDS(RepeatingPad, shape, width, options)

/// The axes of x in order.
Axes axes_of(const Variable& x) {
  Axes axes;
  for (int i = 0; i < x.ndim(); ++i) axes.push_back(i);
  return axes;
}

}  // namespace

Variable swapaxes(const Variable& x, int axis1, int axis2) {
  CT_DEFINED(x);
  Axes axes = axes_of(x);
  const int i = normalize_axis(axis1, x.ndim(), "swapaxes"), j = normalize_axis(axis2, x.ndim(), "swapaxes");
  std::swap(axes[i], axes[j]);
  return transpose(x, axes);
}

Variable moveaxis(const Variable& x, const Axes& source, const Axes& destination) {
  CT_DEFINED(x);
  if (source.size() != destination.size())
    fail<ArgumentShapeError>("moveaxis: source {} and destination {} must have equal lengths", source, destination);
  const Axes from = normalize_axes(source, x.ndim(), "moveaxis"),
             to = normalize_axes(destination, x.ndim(), "moveaxis");
  Axes axes = Axes::filled(x.ndim(), -1);
  std::vector<bool> moved(static_cast<std::size_t>(x.ndim()));
  for (int i = 0; i < from.size(); ++i) {
    axes[static_cast<int>(to[i])] = from[i];
    moved[static_cast<std::size_t>(from[i])] = true;
  }
  int next = 0;
  for (std::int64_t& axis : axes) {
    if (axis >= 0) continue;
    while (moved[static_cast<std::size_t>(next)]) ++next;
    axis = next++;
  }
  return transpose(x, axes);
}

Variable rollaxis(const Variable& x, int axis, int start) {
  CT_DEFINED(x);
  const int from = normalize_axis(axis, x.ndim(), "rollaxis");
  int to = start == x.ndim() ? start : normalize_axis(start, x.ndim(), "rollaxis");
  if (from < to) --to;
  return moveaxis(x, from, to);
}

Variable expand_dims(const Variable& x, int axis) {
  CT_DEFINED(x);
  Shape shape = x.shape();
  shape.insert(normalize_axis(axis, x.ndim() + 1, "expand_dims"), 1);
  return reshape(x, shape);
}

Variable squeeze(const Variable& x, const AxisArg& axis) {
  CT_DEFINED(x);
  std::vector<bool> dropped(static_cast<std::size_t>(x.ndim()));
  for (const std::int64_t i : axis.normalized(x.ndim(), "squeeze")) {
    if (x.shape(static_cast<int>(i)) == 1) {
      dropped[static_cast<std::size_t>(i)] = true;
    } else if (!axis.all()) {
      fail<ArgumentShapeError>("squeeze: axis {} of {} must have size 1", i, x.shape());
    }
  }
  Shape shape;
  for (int i = 0; i < x.ndim(); ++i)
    if (!dropped[static_cast<std::size_t>(i)]) shape.push_back(x.shape(i));
  return reshape(x, shape);
}

Variable flatten(const Variable& x) {
  CT_DEFINED(x);
  return reshape(x, {x.size()});
}

Variable flip(const Variable& x, int axis) {
  CT_DEFINED(x);
  return apply(node<Flip>(normalize_axis(axis, x.ndim(), "flip")), x);
}
Variable fliplr(const Variable& x) {
  CT_DEFINED(x);
  if (x.ndim() < 2) fail<ShapeError>("fliplr: x must have two axes at least, not {}", x.shape());
  return flip(x, 1);
}
Variable flipud(const Variable& x) {
  CT_DEFINED(x);
  if (x.ndim() < 1) fail<ShapeError>("flipud: x must have an axis at least");
  return flip(x, 0);
}

Variables broadcast(const std::vector<Variable>& xs) {
  CT_DEFINED(xs);
  std::vector<Shape> shapes;
  for (const Variable& x : xs) shapes.push_back(x.shape());
  const Shape shape = broadcast_shapes(shapes);
  Variables ys;
  for (const Variable& x : xs) ys.push_back(broadcast_to(x, shape));
  return ys;
}

Variable as_strided(const Variable& x, const Shape& shape, const Strides& strides, std::int64_t offset) {
  CT_DEFINED(x);
  if (shape.size() != strides.size())
    fail<ShapeError>("as_strided: shape {} and strides {} must have equal lengths", shape, strides);
  std::int64_t first = offset, last = offset;
  for (int i = 0; i < shape.size(); ++i) (strides[i] < 0 ? first : last) += strides[i] * (shape[i] - 1);
  if (shape.product() > 0 && (first < 0 || last >= x.size()))
    fail<IndexError>("as_strided: elements {} to {} of x {}, which has {}", first, last, x.shape(), x.size());
  const Array picked = positions(x, x.size()).as_strided(shape, strides, offset);
  return get_item(flatten(x), {picked.copy()});
}

Variable depth2space(const Variable& x, int r) {
  CT_DEFINED(x);
  if (r < 1 || x.ndim() != 4 || x.shape(1) % (std::int64_t{r} * r) != 0)
    fail<ShapeError>("depth2space: x must be (n, channels, h, w) with channels a multiple of r² ({}²), not {}", r,
                     x.shape());
  const std::int64_t n = x.shape(0), c = x.shape(1) / (std::int64_t{r} * r), h = x.shape(2), w = x.shape(3);
  return reshape(transpose(reshape(x, {n, r, r, c, h, w}), {0, 3, 4, 1, 5, 2}), {n, c, h * r, w * r});
}

Variable space2depth(const Variable& x, int r) {
  CT_DEFINED(x);
  if (r < 1 || x.ndim() != 4 || x.shape(2) % r != 0 || x.shape(3) % r != 0)
    fail<ShapeError>("space2depth: x must be (n, channels, h, w) with h and w multiples of r ({}), not {}", r,
                     x.shape());
  const std::int64_t n = x.shape(0), c = x.shape(1), h = x.shape(2) / r, w = x.shape(3) / r;
  return reshape(transpose(reshape(x, {n, c, h, r, w, r}), {0, 3, 5, 1, 2, 4}), {n, c * r * r, h, w});
}

Variable tile(const Variable& x, const Shape& repetitions) {
  CT_DEFINED(x);
  for (const std::int64_t r : repetitions)
    if (r < 0) fail<ValueError>("tile: repetitions must not be negative, as in {}", repetitions);
  return apply(node<Tile>(repetitions), x);
}

Variable repeat(const Variable& x, const Shape& repeats, std::optional<int> axis) {
  CT_DEFINED(x);
  if (!axis) return repeat(flatten(x), repeats, 0);
  const int along = normalize_axis(*axis, x.ndim(), "repeat");
  for (const std::int64_t r : repeats)
    if (r < 0) fail<ValueError>("repeat: counts must not be negative, as in {}", repeats);
  if (repeats.size() == 1) return apply(node<Repeat>(repeats[0], along), x);
  if (repeats.size() != x.shape(along))
    fail<ValueError>("repeat: {} counts for the {} positions on axis {} of {}", repeats.size(), x.shape(along), along,
                     x.shape());
  std::vector<std::int64_t> picked;
  for (int i = 0; i < repeats.size(); ++i) picked.insert(picked.end(), static_cast<std::size_t>(repeats[i]), i);
  std::vector<Index> indices(static_cast<std::size_t>(along), Index(slice()));
  indices.emplace_back(array(picked).to_device(x.device()));
  return get_item(x, indices);
}

Variable pad(const Variable& x, const PerSide<std::int64_t>& width, const PadOptions& options) {
  CT_DEFINED(x);
  if (options.mode == PadMode::constant) return apply(node<Pad>(width, options), x);
  if (!catenary::detail::pad_repeats(options.mode) || options.odd)
    fail<ValueError>(
        "pad: this mode computes new values, which have no gradient; use constant, edge, reflect, symmetric or wrap");
  return detail::apply_linear(RepeatingPad{x.shape(), width, options}, x);
}

std::span<const Signature> detail::array_axes_signatures() {
  static const Signature all[] = {
      signature_of(
          "chainer.functions.array.reshape.reshape",
          [](const Variable& x, const Shape& shape) {
            return x.defined() && x.shape() == shape ? x : reshape(x, shape);
          },
          values("x"), "shape"),
      signature_of(
          "chainer.functions.array.broadcast.broadcast_to",
          [](const Variable& x, const Shape& shape) {
            return x.defined() && x.shape() == shape ? x : broadcast_to(x, shape);
          },
          values("x"), "shape"),
      signature_of(
          "chainer.functions.array.transpose.transpose",
          [](const Variable& x, const std::optional<Axes>& axes) { return axes ? transpose(x, *axes) : transpose(x); },
          values("x"), otherwise("axes", std::nullopt)),
      CT_SIGNATURE("array.swapaxes", swapaxes, values("x"), "axis1", "axis2"),
      signature_of(
          "chainer.functions.array.moveaxis.moveaxis",
          [](const Variable& x, const Axes& source, const Axes& destination) {
            return moveaxis(x, source, destination);
          },
          values("x"), "source", "destination"),
      CT_SIGNATURE("array.rollaxis", rollaxis, values("x"), "axis", "start"),
      CT_SIGNATURE("array.expand_dims", expand_dims, values("x"), "axis"),
      signature_of(
          "chainer.functions.array.squeeze.squeeze",
          // a new variable even if no axis is removed
          [](const Variable& x, const AxisArg& axis) {
            const Variable y = squeeze(x, axis);
            return y.is(x) ? identity(y) : y;
          },
          values("x"), otherwise("axis", AxisArg())),
      CT_SIGNATURE("array.flatten", flatten, values("x")),
      CT_SIGNATURE("array.flip", flip, values("x"), "axis"),
      CT_SIGNATURE("array.fliplr", fliplr, values("a")),
      CT_SIGNATURE("array.flipud", flipud, values("a")),
      signature_of(
          "chainer.functions.array.broadcast.broadcast",  // of a single array Chainer returns the array, not a tuple
          [](const std::vector<Variable>& xs) { return xs.size() > 1 ? broadcast(xs) : Variables(); }, values("*args")),
      signature_of(
          "chainer.functions.array.as_strided.as_strided",  // Chainer's strides are those of memory
          [](const Variable& x, const Shape& shape, const Strides& strides, std::int64_t offset) {
            const bool taken = !x.defined() || (x.array().is_contiguous() && is_floating(x.dtype()));
            return taken ? as_strided(x, shape, strides, offset) : Variable();
          },
          values("x"), "shape", "strides", otherwise("storage_offset", 0)),
      CT_SIGNATURE("array.depth2space", depth2space, values("X"), "r"),
      CT_SIGNATURE("array.space2depth", space2depth, values("X"), "r"),
      signature_of(
          "chainer.functions.array.tile.tile", [](const Variable& x, const Shape& reps) { return tile(x, reps); },
          values("x"), "reps"),
      signature_of(
          "chainer.functions.array.repeat.repeat",
          [](const Variable& x, const Shape& repeats, std::optional<int> axis) { return repeat(x, repeats, axis); },
          values("x"), "repeats", otherwise("axis", std::nullopt)),
  };
  return all;
}

}  // namespace catenary::functions
