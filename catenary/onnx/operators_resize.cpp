// Resize: each output element is a weighted sum of input elements along each axis.

#include <algorithm>
#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

/// The attributes of Resize, and the sizes of one axis.
struct Axis {
  std::string mode, coordinates, rounding;
  double a;  ///< the cubic coefficient
  bool exclude_outside, antialias;
  std::int64_t in, out;
  double scale, start, end;  ///< start and end are of tf_crop_and_resize

  /// Returns the position in the input of output `o`.
  double position(std::int64_t o) const {
    const auto x = static_cast<double>(o), n = static_cast<double>(in), m = static_cast<double>(out);
    if (coordinates == "asymmetric") return x / scale;
    if (coordinates == "align_corners") return out == 1 ? 0 : x * (n - 1) / (n * scale - 1);
    if (coordinates == "pytorch_half_pixel") return out == 1 ? 0 : (x + 0.5) / scale - 0.5;
    if (coordinates == "tf_crop_and_resize")
      return out == 1 ? 0.5 * (start + end) * (n - 1) : start * (n - 1) + x * (end - start) * (n - 1) / (m - 1);
    if (coordinates == "half_pixel_symmetric") {
      const double adjusted = m / (scale * n), center = n / 2;
      return center * (1 - adjusted) + (x + 0.5) / scale - 0.5;
    }
    return (x + 0.5) / scale - 0.5;
  }
  std::int64_t nearest(double x) const {
    if (rounding == "floor") return static_cast<std::int64_t>(std::floor(x));
    if (rounding == "ceil") return static_cast<std::int64_t>(std::ceil(x));
    const bool half_down = rounding == "round_prefer_floor" && x - std::floor(x) == 0.5;
    return static_cast<std::int64_t>(half_down ? std::floor(x) : std::floor(x + 0.5));
  }
  double kernel(double t) const {
    t = std::abs(t);
    if (mode == "linear") return std::max(0.0, 1 - t);
    if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
  }
};

/// The inputs and weights of all outputs along an axis, `taps` for each.
struct Taps {
  std::size_t taps = 1;
  Integers index;
  std::vector<float> weight;
  std::vector<bool> outside;  ///< outputs that tf_crop_and_resize fills
};

Taps taps_of(const Axis& axis) {
  constexpr double kMost = 1e15;
  Taps result;
  const double shrink = axis.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const double reach = (axis.mode == "cubic" ? 2 : 1) / shrink;
  if (axis.mode != "nearest") result.taps = static_cast<std::size_t>(2 * std::min(std::ceil(reach), kMost));
  check_count(2 * static_cast<double>(axis.out) * static_cast<double>(result.taps));
  const auto count = static_cast<std::int64_t>(result.taps);
  for (std::int64_t o = 0; o < axis.out; ++o) {
    const double x = axis.position(o);
    result.outside.push_back(axis.coordinates == "tf_crop_and_resize" &&
                             (x < 0 || x > static_cast<double>(axis.in - 1)));
    if (axis.mode == "nearest") {
      result.index.push_back(std::clamp<std::int64_t>(axis.nearest(x), 0, axis.in - 1));
      result.weight.push_back(1);
      continue;
    }
    const std::int64_t first = static_cast<std::int64_t>(std::floor(x)) - count / 2 + 1;
    double sum = 0;
    std::vector<double> weights;
    for (std::int64_t k = first; k < first + count; ++k) {
      const bool is_outside = k < 0 || k >= axis.in;
      weights.push_back(is_outside && axis.exclude_outside ? 0 : axis.kernel((static_cast<double>(k) - x) * shrink));
      sum += weights.back();
      result.index.push_back(std::clamp<std::int64_t>(k, 0, axis.in - 1));
    }
    const double by = axis.exclude_outside || axis.antialias ? sum : 1;
    for (const double w : weights) result.weight.push_back(static_cast<float>(w / by));
  }
  return result;
}

/// Replaces axis `at` of x by weighted sums of its elements.
Variable interpolated(const Call& c, const Variable& x, int at, const Taps& taps, double fill) {
  const auto out = static_cast<std::int64_t>(taps.outside.size());
  const Shape one = shape_along(x.ndim(), at, out);
  Variable result;
  for (std::size_t k = 0; k < taps.taps; ++k) {
    Integers index;
    std::vector<float> weight;
    for (std::size_t o = k; o < taps.index.size(); o += taps.taps) {
      index.push_back(taps.index[o]);
      weight.push_back(taps.weight[o]);
    }
    const Array which = Array::from_host(index.data(), {out}, Dtype::int64, Device()).to_device(c.device());
    const Variable picked = F::get_item(x, along(at, Index(which)));
    if (taps.taps == 1) {
      result = picked;
      break;
    }
    const Array weights =
        Array::from_host(weight.data(), one, Dtype::float32, Device()).to_device(c.device()).astype(x.dtype());
    result = result.defined() ? result + picked * Variable(weights) : picked * Variable(weights);
  }
  if (std::find(taps.outside.begin(), taps.outside.end(), true) == taps.outside.end()) return result;
  const std::vector<std::uint8_t> mask(taps.outside.begin(), taps.outside.end());
  const Array outside = Array::from_host(mask.data(), one, Dtype::bool_, Device()).to_device(c.device());
  return F::where(Variable(broadcast_to(outside, result.shape())), result * 0 + fill, result);
}

/// Returns a size rounded down. Throws ValueError if it is impossible.
std::int64_t size_of(const Call& c, double size) {
  if (!(size >= 0 && size < 1e15)) c.fail("an axis would have {} elements", size);
  return static_cast<std::int64_t>(std::floor(size));
}

/// Sets the output sizes and scales of all axes, from input `scales` or `sizes`.
std::vector<Axis> axes_of(const Call& c, const Shape& shape, int scales_at) {
  const int ndim = shape.size();
  const std::string mode = c.text("mode", "nearest"),
                    default_coordinates = c.opset() >= 11 ? "half_pixel" : "asymmetric";
  Axis general{mode,
               c.text("coordinate_transformation_mode", default_coordinates),
               c.text("nearest_mode", c.opset() >= 11 ? "round_prefer_floor" : "floor"),
               c.real("cubic_coeff_a", -0.75),
               c.integer("exclude_outside", 0) != 0,
               c.integer("antialias", 0) != 0,
               0,
               0,
               1,
               0,
               1};
  std::vector<Axis> axes(static_cast<std::size_t>(ndim), general);
  Integers which = c.list("axes").value_or(Integers());
  if (which.empty())
    for (int i = 0; i < ndim; ++i) which.push_back(i);
  for (int i = 0; i < ndim; ++i)
    axes[static_cast<std::size_t>(i)].in = axes[static_cast<std::size_t>(i)].out = shape[i];
  const std::string policy = c.text("keep_aspect_ratio_policy", "stretch");
  const bool has_scales = c.has(scales_at) && c.x(scales_at).size() > 0;
  const std::optional<Integers> sizes = has_scales ? std::nullopt : c.integers(scales_at + 1);
  const std::vector<float> scales = has_scales ? c.array(scales_at).to_vector<float>() : std::vector<float>();
  const std::vector<float> roi = c.opset() >= 11 && c.has(1) ? c.array(1).to_vector<float>() : std::vector<float>();
  if (has_scales ? scales.size() != which.size() : !sizes || sizes->size() != which.size())
    c.fail("expected a scale or size for each of the {} axes", which.size());
  double ratio = policy == "not_larger" ? 1e300 : 0;
  for (std::size_t k = 0; k < which.size(); ++k) {
    Axis& axis = axes[static_cast<std::size_t>(axis_of(c, which[k], ndim))];
    axis.scale =
        has_scales ? static_cast<double>(scales[k]) : static_cast<double>(sizes->at(k)) / static_cast<double>(axis.in);
    axis.out = has_scales ? size_of(c, static_cast<double>(axis.in) * axis.scale) : sizes->at(k);
    if (roi.size() == 2 * which.size()) {
      axis.start = static_cast<double>(roi[k]);
      axis.end = static_cast<double>(roi[k + which.size()]);
    }
    ratio = policy == "not_larger" ? std::min(ratio, axis.scale) : std::max(ratio, axis.scale);
  }
  if (policy != "stretch")
    for (const std::int64_t k : which) {
      Axis& axis = axes[static_cast<std::size_t>(axis_of(c, k, ndim))];
      axis.scale = ratio;
      axis.out = size_of(c, static_cast<double>(axis.in) * ratio + 0.5);
    }
  return axes;
}

Values resized(const Call& c) {
  const Variable given = c.x(0);
  const double fill = c.real("extrapolation_value", 0.0);
  const std::vector<Axis> axes = axes_of(c, given.shape(), c.opset() >= 11 ? 2 : 1);
  const bool nearest = axes.empty() || axes[0].mode == "nearest";
  Variable x = nearest || is_floating(given.dtype()) ? given : Variable(given.array().astype(Dtype::float32));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].out < 1) c.fail("axis {} would have {} elements", i, axes[i].out);
    if (axes[i].out == axes[i].in && axes[i].scale == 1 && axes[i].coordinates != "tf_crop_and_resize") continue;
    x = interpolated(c, x, static_cast<int>(i), taps_of(axes[i]), fill);
  }
  return {x.dtype() == given.dtype() ? x : Variable(x.array().astype(given.dtype()))};
}

}  // namespace

std::span<const Operator> resize_operators() {
  static const Operator rows[] = {{"Resize", 10, resized}, {"Upsample", 9, resized}};
  return rows;
}

}  // namespace catenary::onnx
