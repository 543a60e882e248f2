#include "catenary/functions/resampling.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "catenary/array/axes.h"
#include "catenary/array/creation.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/run_text.h"
#include "catenary/autograd/attributes.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/format.h"
#include "catenary/core/window.h"
#include "catenary/functions/array.h"
#include "catenary/functions/in_float32.h"
#include "catenary/functions/linear_map.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

using catenary::detail::empty_as;
using catenary::detail::filled;
using catenary::detail::reads;
using catenary::detail::reads_bits;
using catenary::detail::run_text;
using catenary::detail::writes;
using catenary::detail::writes_bits;

namespace {

constexpr const char* kDeformable = "deformable_convolution_2d_sampler";

void check_images(const Variable& x, const char* function) {
  if (x.ndim() != 4) fail<ShapeError>("{}: x must be (n, c, h, w), not {}", function, x.shape());
  if (!is_floating(x.dtype())) fail<DtypeError>("{}: x must be floating, not {}", function, x.dtype());
}

void check_output_shape(const Shape& shape, const char* function) {
  constexpr std::int64_t most =
      std::numeric_limits<std::int32_t>::max();  // kernels/resize.kernel reads tables of int32
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > most || shape[1] > most)
    fail<ValueError>("{}: output_shape must be two numbers from 1 to {}, not {}", function, most, shape);
}

/// For each row (or column) of y, the two adjacent ones of x, for kernels/resize.kernel.
class ResizeTables {
 public:
  /// As many entries as two axes have. In arrays, because memory may run out.
  explicit ResizeTables(std::int64_t counts)
      : lows(Array::empty({counts}, Dtype::int32, Device())),
        weights(Array::empty({counts}, Dtype::float64, Device())) {}
  void add_axis(std::int64_t extent, std::int64_t count, const ResizeOptions& options) {
    std::int32_t* const begin = lows.mutable_data<std::int32_t>() + filled_;
    double* const weights_of_axis = weights.mutable_data<double>() + filled_;
    for (std::int64_t i = 0; i < count; ++i) {
      const double place = place_of(i, extent, count, options), low = std::floor(place);
      begin[i] = static_cast<std::int32_t>(low);
      weights_of_axis[i] = place - low;
    }
    for (std::int64_t at = 0; at <= extent; ++at)
      firsts.push_back(static_cast<std::int32_t>(std::lower_bound(begin, begin + count, at) - begin));
    filled_ += count;
  }
  Array lows, weights;
  std::vector<std::int32_t> firsts;

 private:
  /// Uses Chainer's formula in float64, so that rounding never selects another pixel.
  static double place_of(std::int64_t i, std::int64_t extent, std::int64_t count, const ResizeOptions& options) {
    const double last = static_cast<double>(extent - 1),
                 scale = static_cast<double>(extent) / static_cast<double>(count), at = static_cast<double>(i);
    if (options.mode == ResizeMode::nearest) return std::min(std::floor(at * scale), last);
    if (!options.align_corners) return std::max((at + 0.5) * scale - 0.5, 0.0);
    if (count == 1) return 0;
    return i == count - 1 ? last : at * (last / static_cast<double>(count - 1));
  }

  std::int64_t filled_ = 0;
};

struct Resize {
  static constexpr const char *kName = "ResizeImages", *kBackName = "ResizeImagesGrad";
  Shape from, to;               // shapes of the images
  Array lows, firsts, weights;  // without weights, y repeats pixels

  Resize(const Array& x, const Shape& output_shape, const ResizeOptions& options)
      : from({x.shape(2), x.shape(3)}), to(output_shape) {
    ResizeTables tables(to[0] + to[1]);
    for (int axis = 0; axis < 2; ++axis) tables.add_axis(from[axis], to[axis], options);
    lows = tables.lows.to_device(x.device());
    firsts = Array::from_host(tables.firsts.data(), {static_cast<std::int64_t>(tables.firsts.size())}, Dtype::int32,
                              x.device());
    if (options.mode == ResizeMode::nearest) return;
    weights = tables.weights.astype(promote(x.dtype(), Dtype::float32)).to_device(x.device());
  }

  Array forward(const Array& x) const {
    const Array y = empty_as(x, {x.shape(0), x.shape(1), to[0], to[1]});
    if (weights.defined()) {
      run_text("resize", "resize", y.size(),
               {reads(x), writes(y), reads(lows), reads(weights), x.shape(1), from, to, x.strides(), y.strides()});
    } else {
      run_text("resize", "repeat", y.size(),
               {reads_bits(x), writes_bits(y), reads(lows), x.shape(1), from, to, x.strides(), y.strides()});
    }
    return y;
  }
  Array back(const Array& gy) const {
    const Array gx = empty_as(gy, {gy.shape(0), gy.shape(1), from[0], from[1]});
    if (weights.defined()) {
      run_text("resize", "resize_back", gx.size(),
               {reads(gy), writes(gx), reads(lows), reads(firsts), reads(weights), gy.shape(1), from, to, gy.strides(),
                gx.strides()});
    } else {
      run_text("resize", "repeat_back", gx.size(),
               {reads(gy), writes(gx), reads(firsts), gy.shape(1), from, to, gy.strides(), gx.strides()});
    }
    return gx;
  }
};
CT_FIELDS(Resize, from, to, lows, firsts, weights)

/// The gradients of x and of the grid.
class SpatialTransformerSamplerGrad : public FunctionNode {
 public:
  const char* name() const override { return "SpatialTransformerSamplerGrad"; }
  CT_ATTRIBUTES()

 protected:
  Arrays forward(Inputs in) override {
    const Array &x = in[0], &grid = in[1], &gy = in[2];
    const Shape points = {grid.shape(2), grid.shape(3)};
    const Array gx = empty_as(x, x.shape()), ggrid = empty_as(grid, grid.shape());
    gx.fill(0);
    // a processor finds the pixels of a point once for several channels
    const std::int64_t block = x.device().is_cpu() ? 8 : 1, blocks = (x.shape(1) + block - 1) / block;
    run_text("sampler", "sample_back_to_x", x.shape(0) * blocks,
             {reads(grid), reads(gy), writes(gx), block, x.shape(1), x.shape(2), x.shape(3), points, grid.strides(),
              gy.strides(), gx.strides()});
    run_text("sampler", "sample_back_to_grid", x.shape(0) * points.product(),
             {reads(x), reads(grid), reads(gy), writes(ggrid), x.shape(1), x.shape(2), x.shape(3), points, x.strides(),
              grid.strides(), gy.strides(), ggrid.strides()});
    return {gx, ggrid};
  }
  Variables backward(Targets, Grads) override {
    fail<ValueError>("spatial_transformer_sampler: its gradient cannot be differentiated");
  }
};

class SpatialTransformerSampler : public FunctionNode {
 public:
  const char* name() const override { return "SpatialTransformerSampler"; }
  CT_ATTRIBUTES()

 protected:
  Arrays forward(Inputs in) override {
    retain_inputs({0, 1});
    const Array &x = in[0], &grid = in[1];
    const Array y = empty_as(x, {x.shape(0), x.shape(1), grid.shape(2), grid.shape(3)});
    const Shape points = {grid.shape(2), grid.shape(3)};
    run_text("sampler", "sample", x.shape(0) * points.product(),
             {reads(x), reads(grid), writes(y), x.shape(1), x.shape(2), x.shape(3), points, x.strides(), grid.strides(),
              y.strides()});
    return y;
  }
  Variables backward(Targets targets, Grads gys) override {
    const Variables both =
        apply_all(node<SpatialTransformerSamplerGrad>(), retained_input(0), retained_input(1), gys[0]);
    return gradients(targets, [&](int i) { return both[static_cast<std::size_t>(i)]; });
  }
};

/// 0, step, 2 step, …
Array steps(std::int64_t n, std::int64_t step, Dtype dtype, const Device& device) {
  return (catenary::detail::iota(n, device) * step).astype(dtype);
}

}  // namespace

Variable resize_images(const Variable& x, const Shape& output_shape, const ResizeOptions& options) {
  CT_DEFINED(x);
  check_images(x, "resize_images");
  check_output_shape(output_shape, "resize_images");
  if (x.shape(2) == 0 || x.shape(3) == 0) fail<ShapeError>("resize_images: images of {} have no pixels", x.shape());
  return detail::apply_linear(Resize(x.array(), output_shape, options), x);
}

Variable spatial_transformer_grid(const Variable& theta, const Shape& output_shape) {
  CT_DEFINED(theta);
  const char* const function = "spatial_transformer_grid";
  if (theta.ndim() != 3 || theta.shape(1) != 2 || theta.shape(2) != 3)
    fail<ShapeError>("{}: theta must be (n, 2, 3), not {}", function, theta.shape());
  if (!is_floating(theta.dtype())) fail<DtypeError>("{}: theta must be floating, not {}", function, theta.dtype());
  check_output_shape(output_shape, function);
  const std::int64_t n = theta.shape(0), h = output_shape[0], w = output_shape[1];
  if (const auto narrow =
          detail::in_float32([&](const Variable& t) { return spatial_transformer_grid(t, output_shape); }, theta))
    return *narrow;
  const auto from_edge_to_edge = [&](std::int64_t count) {
    return catenary::linspace(-1, 1, count, {.dtype = theta.dtype()}).to_device(theta.device());
  };
  const Array xs = from_edge_to_edge(w).reshape({1, w}).broadcast_to({h, w}),
              ys = from_edge_to_edge(h).reshape({h, 1}).broadcast_to({h, w}),
              ones = filled({h, w}, 1, theta.dtype(), theta.device());
  const Array points = catenary::stack({xs, ys, ones}).reshape({3, h * w});
  return reshape(matmul(reshape(theta, {n * 2, 3}), points), {n, 2, h, w});
}

Variable spatial_transformer_sampler(const Variable& x, const Variable& grid) {
  CT_DEFINED(x, grid);
  const char* const function = "spatial_transformer_sampler";
  check_images(x, function);
  if (grid.ndim() != 4 || grid.shape(0) != x.shape(0) || grid.shape(1) != 2)
    fail<ShapeError>("{}: grid must be ({}, 2, h, w) to fit x, not {}", function, x.shape(0), grid.shape());
  if (grid.dtype() != x.dtype())
    fail<DtypeError>("{}: grid must be {} as x, not {}", function, x.dtype(), grid.dtype());
  catenary::detail::check_same_device(x.array(), grid.array(), function);
  // gradients of 16-bit pixels sum many values
  if (is_16bit_float(x.dtype()))
    return cast(apply(node<SpatialTransformerSampler>(), cast(x, Dtype::float32), cast(grid, Dtype::float32)),
                x.dtype());
  return apply(node<SpatialTransformerSampler>(), x, grid);
}

Variable deformable_convolution_2d_sampler(const Variable& x, const Variable& offset, const Variable& W,
                                           const DeformableConvolutionOptions& options) {
  CT_DEFINED(x, offset, W);
  check_images(x, kDeformable);
  if (W.ndim() != 4 || W.shape(1) != x.shape(1))
    fail<ShapeError>("{}: W must be (out, {}, kh, kw) to fit x, not {}", kDeformable, x.shape(1), W.shape());
  const Window window = Window::make(kDeformable, 2, {W.shape(2), W.shape(3)}, options.stride, options.pad);
  const std::int64_t n = x.shape(0), channels = W.shape(0), taps = window.taps();
  if (offset.ndim() != 4 || offset.shape(0) != n || offset.shape(1) != 2 * taps)
    fail<ShapeError>("{}: offset must be ({}, {}, h, w) to fit x and W, not {}", kDeformable, n, 2 * taps,
                     offset.shape());
  if (W.dtype() != x.dtype() || offset.dtype() != x.dtype())
    fail<DtypeError>("{}: offset and W must be {} as x, not {} and {}", kDeformable, x.dtype(), offset.dtype(),
                     W.dtype());

  // An axis with a single pixel gets a second pixel of zero, because -1 and 1 are the outermost pixels.
  PerSide<std::int64_t>::Pair pads[2];
  std::int64_t last_pixel[2];
  for (int axis = 0; axis < 2; ++axis) {
    const std::int64_t pad = window.pad[axis], extent = x.shape(2 + axis) + 2 * pad;
    pads[axis] = {pad, pad + (extent == 1)};
    last_pixel[axis] = extent == 1 ? 1 : extent - 1;
  }

  // The coordinates of all taps in the padded image along one axis: regular position plus displacement. 16-bit floats
  // cannot represent fractions of pixels in large images.
  const Dtype wide = promote(x.dtype(), Dtype::float32);
  const std::int64_t h = offset.shape(2), w = offset.shape(3);
  const auto coordinates = [&](const Variable& moved, int axis) {
    const std::int64_t counts[] = {h, w};
    Shape tap_axis = {1, 1, 1}, window_axis = {1, 1, 1, 1};
    tap_axis[1 + axis] = window.size[axis];
    window_axis[2 + axis] = counts[axis];
    const Array tap = steps(window.size[axis], 1, wide, x.device())
                          .reshape(tap_axis)
                          .broadcast_to({1, window.size[0], window.size[1]})
                          .reshape({1, taps, 1, 1});
    const Array place = tap + steps(counts[axis], window.stride[axis], wide, x.device()).reshape(window_axis);
    return ((moved + place) / static_cast<double>(last_pixel[axis]) - 0.5) * 2.0;
  };
  const Variables halves = split_axis(cast(offset, wide), 2, 1);  // along x, along y
  const Variable grid = stack({coordinates(halves[0], 1), coordinates(halves[1], 0)}, 1);

  const Variable padded = functions::pad(x, {{0, 0}, {0, 0}, pads[0], pads[1]});
  const Variable samples =
      cast(spatial_transformer_sampler(cast(padded, wide), reshape(grid, {n, 2, taps, h * w})), x.dtype());
  const Variable rows = reshape(samples, {n, x.shape(1) * taps, h * w});
  const Variable filters = broadcast_to(reshape(W, {1, channels, x.shape(1) * taps}), {n, channels, x.shape(1) * taps});
  return reshape(matmul(filters, rows), {n, channels, h, w});
}

Variable deformable_convolution_2d_sampler(const Variable& x, const Variable& offset, const Variable& W,
                                           const Variable& b, const DeformableConvolutionOptions& options) {
  CT_DEFINED(x, offset, W, b);
  const Variable y = deformable_convolution_2d_sampler(x, offset, W, options);
  if (b.shape() != Shape{y.shape(1)})
    fail<ShapeError>("{}: b must be ({},) to fit W {}, not {}", kDeformable, y.shape(1), W.shape(), b.shape());
  if (b.dtype() != x.dtype()) fail<DtypeError>("{}: b must be {} as x, not {}", kDeformable, x.dtype(), b.dtype());
  return y + reshape(b, {1, y.shape(1), 1, 1});
}

std::span<const Signature> detail::resampling_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("array.resize_images", resize_images, "x", "output_shape", options("=...")),
      CT_SIGNATURE("array.spatial_transformer_grid", spatial_transformer_grid, "theta", "output_shape"),
      CT_SIGNATURE("array.spatial_transformer_sampler", spatial_transformer_sampler, "x", "grid"),
      signature_of(
          "chainer.functions.connection.deformable_convolution_2d_sampler.deformable_convolution_2d_sampler",
          [](const Variable& x, const Variable& offset, const Variable& W, const std::optional<Variable>& b,
             const DeformableConvolutionOptions& options) {
            return b ? deformable_convolution_2d_sampler(x, offset, W, *b, options)
                     : deformable_convolution_2d_sampler(x, offset, W, options);
          },
          "x", "offset", "W", otherwise("b", std::nullopt), options("...")),
  };
  return all;
}

}  // namespace catenary::functions
