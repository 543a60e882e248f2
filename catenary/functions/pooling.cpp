#include "catenary/functions/pooling.h"

#include <utility>
#include <vector>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/attributes.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/function_node.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/core/window.h"
#include "catenary/functions/array.h"
#include "catenary/functions/labels.h"
#include "catenary/functions/signature_row.h"
#include "catenary/functions/window_axes.h"

namespace catenary::functions {

namespace {

/// The geometry of a pooling's windows and elements.
struct Geometry {
  Window window;
  Shape elements, windows;  ///< shapes of the whole arrays
  Strides lie = {};         ///< layout of the pooled elements, and so of their gradient, empty without pooling
};
CT_FIELDS(Geometry, window, elements, windows, lie)

/// From elements to windows. `places` receives the indices of a max pooling.
Array pool(Pooling op, const Geometry& g, const Array& x, Array* places = nullptr) {
  const Array y = empty_beside(x, g.windows, x.dtype());
  if (places) *places = empty_beside(x, g.windows, Dtype::int32);
  if (y.size() == 0) return y;
  const View to = writable(y), taps = places ? writable(*places) : View();
  compute(x.device(), primitives::Pool{op, g.window, readable(x), to, places ? &taps : nullptr});
  return y;
}
/// Returns whether a single window covers all elements, each once.
bool is_global(const Geometry& g) {
  for (int a = 0; a < g.window.axes(); ++a)
    if (g.windows[a + 2] != 1 || g.window.size[a] != g.elements[a + 2] || g.window.pad[a] != 0 ||
        g.window.dilate[a] != 1)
      return false;
  return true;
}
/// From windows to elements.
Array unpool(Pooling op, const Geometry& g, Array gy, const Array& places = {}) {
  const Strides& lie = g.lie.empty() ? gy.strides() : g.lie;
  const Array gx =
      Array::empty(g.elements, gy.dtype(), gy.device()).as_strided(g.elements, strides_like(g.elements, lie));
  if (gx.size() == 0) return gx;
  if (gy.size() == 0) {
    gx.fill(0);
    return gx;
  }
  // bring a gradient with another layout, for instance from a reshape, into this layout: windows are few
  if (const Strides in_order = strides_like(g.windows, lie); in_order != gy.strides()) {
    const Array ordered = Array::empty(g.windows, gy.dtype(), gy.device()).as_strided(g.windows, in_order);
    copyto(ordered, gy);
    gy = ordered;
  }
  if (op != Pooling::max && gx.device().is_cpu() && is_global(g)) {
    copyto(gx, (op == Pooling::sum ? gy : gy / static_cast<double>(g.window.taps())).broadcast_to(g.elements));
    return gx;
  }
  const View from = readable(gy), taps = places.defined() ? readable(places) : View();
  compute(gy.device(), primitives::PoolBack{op, g.window, from, writable(gx), places.defined() ? &taps : nullptr});
  return gx;
}

// Sums and averages are linear, and to_windows and to_elements are each other's derivatives. So are the two functions
// below, with the indices of a max pooling given.
Variable to_windows(Pooling op, const Geometry& g, const Variable& x);
Variable to_elements(Pooling op, const Geometry& g, const Variable& y);
Variable picked(const Geometry& g, const Array& places, const Variable& x);
Variable placed(const Geometry& g, const Array& places, const Variable& y, const char* name = "MaxPoolingNDGrad");

class LinearPooling : public FunctionNode {
 public:
  LinearPooling(Pooling op, const Geometry& geometry) : op_(op), geometry_(geometry) {}
  const char* name() const override { return op_ == Pooling::sum ? "UnpoolingNDGrad" : "AveragePoolingND"; }
  CT_ATTRIBUTES(op_, geometry_)

 protected:
  Arrays forward(Inputs x) override { return pool(op_, geometry_, x[0]); }
  Variables backward(Targets, Grads gys) override { return to_elements(op_, geometry_, gys[0]); }

 private:
  Pooling op_;
  Geometry geometry_;
};

class LinearUnpooling : public FunctionNode {
 public:
  LinearUnpooling(Pooling op, const Geometry& geometry) : op_(op), geometry_(geometry) {}
  const char* name() const override { return op_ == Pooling::sum ? "UnpoolingND" : "AveragePoolingNDGrad"; }
  CT_ATTRIBUTES(op_, geometry_)

 protected:
  Arrays forward(Inputs x) override { return unpool(op_, geometry_, x[0]); }
  Variables backward(Targets, Grads gys) override { return to_windows(op_, geometry_, gys[0]); }

 private:
  Pooling op_;
  Geometry geometry_;
};

class PickPlaces : public FunctionNode {
 public:
  PickPlaces(const Geometry& geometry, const Array& places) : geometry_(geometry), places_(places) {}
  const char* name() const override { return "MaxPoolingNDWithIndexes"; }
  CT_ATTRIBUTES(geometry_, places_)

 protected:
  Arrays forward(Inputs x) override {
    const Array y = empty_beside(x[0], geometry_.windows, x[0].dtype());
    if (y.size() > 0)
      compute(y.device(), primitives::PoolPick{geometry_.window, readable(x[0]), readable(places_), writable(y)});
    return y;
  }
  Variables backward(Targets, Grads gys) override { return placed(geometry_, places_, gys[0]); }

 private:
  Geometry geometry_;
  Array places_;
};

class PutAtPlaces : public FunctionNode {
 public:
  PutAtPlaces(const char* name, const Geometry& geometry, const Array& places)
      : name_(name), geometry_(geometry), places_(places) {}
  const char* name() const override { return name_; }
  CT_ATTRIBUTES(name_, geometry_, places_)

 protected:
  Arrays forward(Inputs x) override { return unpool(Pooling::max, geometry_, x[0], places_); }
  Variables backward(Targets, Grads gys) override { return picked(geometry_, places_, gys[0]); }

 private:
  const char* name_;
  Geometry geometry_;
  Array places_;
};

class MaxPooling : public FunctionNode {
 public:
  explicit MaxPooling(const Geometry& geometry, Array* indices = nullptr) : geometry_(geometry), indices_(indices) {}
  const char* name() const override { return "MaxPoolingND"; }
  CT_ATTRIBUTES(geometry_)

 protected:
  Arrays forward(Inputs x) override {
    const bool with_places = config.enable_backprop || indices_;
    const Array y = pool(Pooling::max, geometry_, x[0], with_places ? &places_ : nullptr);
    if (indices_) *std::exchange(indices_, nullptr) = places_.astype(Dtype::int64);
    return y;
  }
  Variables backward(Targets, Grads gys) override { return placed(geometry_, places_, gys[0]); }

 private:
  Geometry geometry_;
  Array* indices_;
  Array places_;
};

Variable to_windows(Pooling op, const Geometry& g, const Variable& x) { return apply(node<LinearPooling>(op, g), x); }
Variable to_elements(Pooling op, const Geometry& g, const Variable& y) {
  return apply(node<LinearUnpooling>(op, g), y);
}
Variable picked(const Geometry& g, const Array& places, const Variable& x) {
  return apply(node<PickPlaces>(g, places), x);
}
Variable placed(const Geometry& g, const Array& places, const Variable& y, const char* name) {
  return apply(node<PutAtPlaces>(name, g, places), y);
}

/// The spatial axes.
Shape slid(const Shape& shape) { return Shape(shape.data() + 2, shape.size() - 2); }
/// n and channels of `shape`, with other spatial axes.
Shape with(const Shape& shape, const Shape& extents) {
  Shape all{shape[0], shape[1]};
  for (const std::int64_t extent : extents) all.push_back(extent);
  return all;
}

Window checked_window(const char* function, int axes, const Variable& x, const PerAxis& ksize,
                      const OptionalPerAxis& stride, const PerAxis& pad) {
  detail::check_window_axes(function, axes, x);
  if (!is_floating(x.dtype())) fail<DtypeError>("{}: x must be floating, not {}", function, x.dtype());
  return Window::make(function, axes, ksize, stride.value_or(ksize), pad);
}

Geometry pooling(const char* function, const Variable& x, const Window& window, bool cover_all) {
  return {window, x.shape(), with(x.shape(), window.counts(function, slid(x.shape()), cover_all)), x.array().strides()};
}

Geometry unpooling(const char* function, const Variable& x, const Window& window, const UnpoolingOptions& options) {
  const Shape windows = slid(x.shape());
  if (!options.outsize)
    return {window, with(x.shape(), window.extents(function, windows, options.cover_all)), x.shape()};
  const Shape& outsize = *options.outsize;
  if (outsize.size() != windows.size())
    fail<ShapeError>("{}: outsize must have {} entries, not {}", function, windows.size(), outsize);
  const Shape needed = window.counts(function, outsize, options.cover_all);
  if (needed != windows)
    fail<ShapeError>("{}: for an outsize of {} x must have {} windows, not {}", function, outsize, needed, windows);
  return {window, with(x.shape(), outsize), x.shape()};
}

constexpr int kWindowAxes = 3;  ///< the most axes of a window

/// Pools over more axes than a window has: over the last three axes, and then over the others. `step` pools once and
/// receives x, ksize, stride and pad.
template <class Step>
Variable in_steps(const char* function, const Variable& x, const Shape& ksize, const Shape& stride, const Shape& pad,
                  const Step& step) {
  const int axes = x.ndim() - 2, others = axes - kWindowAxes;
  const auto last = [&](const Shape& all) { return all.size() == 1 ? all : Shape(all.data() + others, kWindowAxes); };
  // the second step sees the last three axes as one, which its window does not cross
  const auto first = [&](const Shape& all, std::int64_t of_last) {
    Shape some = all.size() == 1 ? Shape::filled(others, all[0]) : Shape(all.data(), others);
    some.push_back(of_last);
    return some;
  };
  for (const Shape* const given : {&ksize, &stride, &pad})
    if (given->size() != 1 && given->size() != axes)
      fail<ValueError>("{}: ksize, stride and pad must be one number or {}, not {}", function, axes, *given);
  const Shape& shape = x.shape();
  Shape merged{shape[0], Shape(shape.data() + 1, others + 1).product()};
  for (int a = others + 2; a < x.ndim(); ++a) merged.push_back(shape[a]);
  const Variable y = step(reshape(x, merged), last(ksize), last(stride), last(pad));
  const Shape pooled = slid(y.shape());
  Shape of_second(shape.data(), others + 2);
  of_second.push_back(pooled.product());
  const Variable z = step(reshape(y, of_second), first(ksize, 1), first(stride, 1), first(pad, 0));
  Shape result(z.shape().data(), z.ndim() - 1);
  for (const std::int64_t extent : pooled) result.push_back(extent);
  return reshape(z, result);
}

Variable max_pooling(const char* function, int axes, const Variable& x, const PerAxis& ksize,
                     const MaxPoolingOptions& options) {
  if (axes > kWindowAxes) {
    if (options.return_indices)
      fail<ValueError>("{}: return_indices needs at most {} axes, not {}", function, kWindowAxes, axes);
    const auto step = [&](const Variable& part, const Shape& size, const Shape& stride, const Shape& pad) {
      const MaxPoolingOptions of_part{.stride = stride, .pad = pad, .cover_all = options.cover_all};
      return max_pooling(function, part.ndim() - 2, part, size, of_part);
    };
    return in_steps(function, x, ksize, options.stride.value_or(ksize), options.pad, step);
  }
  const Window window = checked_window(function, axes, x, ksize, options.stride, options.pad);
  return apply(node<MaxPooling>(pooling(function, x, window, options.cover_all), options.return_indices), x);
}

Variable average_pooling(const char* function, int axes, const Variable& x, const PerAxis& ksize,
                         const AveragePoolingOptions& options) {
  if (axes > kWindowAxes) {
    const auto step = [&](const Variable& part, const Shape& size, const Shape& stride, const Shape& pad) {
      const AveragePoolingOptions of_part{.stride = stride, .pad = pad, .pad_value = options.pad_value};
      return average_pooling(function, part.ndim() - 2, part, size, of_part);
    };
    return in_steps(function, x, ksize, options.stride.value_or(ksize), options.pad, step);
  }
  const Window window = checked_window(function, axes, x, ksize, options.stride, options.pad);
  if (options.pad_value && *options.pad_value != 0)
    fail<ValueError>("{}: pad_value must be 0 or none, not {}", function, *options.pad_value);
  const Pooling op = options.pad_value ? Pooling::average : Pooling::average_inside;
  return to_windows(op, pooling(function, x, window, false), x);
}

Variable unpooling(const char* function, int axes, const Variable& x, const PerAxis& ksize,
                   const UnpoolingOptions& options) {
  const Window window = checked_window(function, axes, x, ksize, options.stride, options.pad);
  return to_elements(Pooling::sum, unpooling(function, x, window, options), x);
}

}  // namespace

Variable max_pooling_1d(const Variable& x, const PerAxis& ksize, const MaxPoolingOptions& options) {
  CT_DEFINED(x);
  return max_pooling("max_pooling_1d", 1, x, ksize, options);
}
Variable max_pooling_2d(const Variable& x, const PerAxis& ksize, const MaxPoolingOptions& options) {
  CT_DEFINED(x);
  return max_pooling("max_pooling_2d", 2, x, ksize, options);
}
Variable max_pooling_3d(const Variable& x, const PerAxis& ksize, const MaxPoolingOptions& options) {
  CT_DEFINED(x);
  return max_pooling("max_pooling_3d", 3, x, ksize, options);
}
Variable max_pooling_nd(const Variable& x, const PerAxis& ksize, const MaxPoolingOptions& options) {
  CT_DEFINED(x);
  return max_pooling("max_pooling_nd", x.ndim() - 2, x, ksize, options);
}

Variable average_pooling_1d(const Variable& x, const PerAxis& ksize, const AveragePoolingOptions& options) {
  CT_DEFINED(x);
  return average_pooling("average_pooling_1d", 1, x, ksize, options);
}
Variable average_pooling_2d(const Variable& x, const PerAxis& ksize, const AveragePoolingOptions& options) {
  CT_DEFINED(x);
  return average_pooling("average_pooling_2d", 2, x, ksize, options);
}
Variable average_pooling_3d(const Variable& x, const PerAxis& ksize, const AveragePoolingOptions& options) {
  CT_DEFINED(x);
  return average_pooling("average_pooling_3d", 3, x, ksize, options);
}
Variable average_pooling_nd(const Variable& x, const PerAxis& ksize, const AveragePoolingOptions& options) {
  CT_DEFINED(x);
  return average_pooling("average_pooling_nd", x.ndim() - 2, x, ksize, options);
}

Variable unpooling_1d(const Variable& x, const PerAxis& ksize, const UnpoolingOptions& options) {
  CT_DEFINED(x);
  return unpooling("unpooling_1d", 1, x, ksize, options);
}
Variable unpooling_2d(const Variable& x, const PerAxis& ksize, const UnpoolingOptions& options) {
  CT_DEFINED(x);
  return unpooling("unpooling_2d", 2, x, ksize, options);
}
Variable unpooling_3d(const Variable& x, const PerAxis& ksize, const UnpoolingOptions& options) {
  CT_DEFINED(x);
  return unpooling("unpooling_3d", 3, x, ksize, options);
}
Variable unpooling_nd(const Variable& x, const PerAxis& ksize, const UnpoolingOptions& options) {
  CT_DEFINED(x);
  return unpooling("unpooling_nd", x.ndim() - 2, x, ksize, options);
}

Variable upsampling_2d(const Variable& x, const Array& indexes, const PerAxis& ksize, const UnpoolingOptions& options) {
  CT_DEFINED(x);
  const char* const function = "upsampling_2d";
  const Window window = checked_window(function, 2, x, ksize, options.stride, options.pad);
  if (indexes.shape() != x.shape())
    fail<ShapeError>("{}: indexes must be {} as x, not {}", function, x.shape(), indexes.shape());
  if (indexes.device() != x.device())
    fail<DeviceError>("{}: x is on {}, indexes on {}", function, x.device().name(), indexes.device().name());
  detail::Labels{function, "indexes", indexes, window.taps()}.check();
  return placed(unpooling(function, x, window, options), indexes.astype(Dtype::int32).contiguous(), x, "Upsampling2D");
}

Variable spatial_pyramid_pooling_2d(const Variable& x, int pyramid_height, const std::string& pooling) {
  CT_DEFINED(x);
  const char* const function = "spatial_pyramid_pooling_2d";
  if (pooling != "max") fail<ValueError>("{}: pooling must be \"max\", not \"{}\"", function, pooling);
  if (pyramid_height < 1) fail<ValueError>("{}: pyramid_height must be at least 1, not {}", function, pyramid_height);
  if (x.ndim() != 4) fail<ShapeError>("{}: x must have 4 axes (n, c, h, w), not {}", function, x.shape());
  std::vector<Variable> levels;
  for (int level = 0; level < pyramid_height; ++level) {
    const std::int64_t bins = std::int64_t{1} << level;
    Shape ksize, pad;
    for (const std::int64_t extent : slid(x.shape())) {
      ksize.push_back((extent + bins - 1) / bins);
      pad.push_back((ksize.back() * bins - extent) / 2);
    }
    const Variable y = max_pooling(function, 2, x, ksize, {.pad = pad});
    levels.push_back(reshape(y, {y.shape(0), y.size() / std::max<std::int64_t>(y.shape(0), 1), 1, 1}));
  }
  return concat(levels);
}

std::span<const Signature> detail::pooling_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("pooling.max_pooling_nd", max_pooling_1d, "x", "ksize", options("...")),
      CT_SIGNATURE("pooling.max_pooling_nd", max_pooling_2d, "x", "ksize", options("...")),
      CT_SIGNATURE("pooling.max_pooling_nd", max_pooling_3d, "x", "ksize", options("...")),
      CT_SIGNATURE("pooling.max_pooling_nd", max_pooling_nd, "x", "ksize", options("...")),
      CT_SIGNATURE("pooling.average_pooling_nd", average_pooling_1d, "x", "ksize", options("...")),
      CT_SIGNATURE("pooling.average_pooling_2d", average_pooling_2d, "x", "ksize", options("stride, pad")),
      CT_SIGNATURE("pooling.average_pooling_nd", average_pooling_3d, "x", "ksize", options("...")),
      CT_SIGNATURE("pooling.average_pooling_nd", average_pooling_nd, "x", "ksize", options("...")),
      CT_SIGNATURE("pooling.unpooling_nd", unpooling_1d, "x", "ksize", options("...")),
      CT_SIGNATURE("pooling.unpooling_2d", unpooling_2d, "x", "ksize", options("...")),
      CT_SIGNATURE("pooling.unpooling_nd", unpooling_3d, "x", "ksize", options("...")),
      CT_SIGNATURE("pooling.unpooling_nd", unpooling_nd, "x", "ksize", options("...")),
      signature_of(
          "chainer.functions.pooling.upsampling_2d.upsampling_2d",
          [](const Variable& x, const Variable& indexes, const PerAxis& ksize, const UnpoolingOptions& options) {
            return upsampling_2d(x, indexes.array(), ksize, options);
          },
          "x", labels("indexes"), "ksize", options("...")),
      CT_SIGNATURE("pooling.spatial_pyramid_pooling_2d", spatial_pyramid_pooling_2d, "x", "pyramid_height", "pooling"),
  };
  return all;
}

}  // namespace catenary::functions
