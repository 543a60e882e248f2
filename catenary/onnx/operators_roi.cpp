// Regions of images: MaxRoiPool, RoiAlign, NonMaxSuppression.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "catenary/array/boxes.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

Values max_roi_pooling(const Call& c) {
  const Integers size = c.list("pooled_shape").value_or(Integers());
  if (size.size() != 2) c.fail("pooled_shape has {} entries instead of 2", size.size());
  return {F::roi_pooling_2d(c.x(0), c.x(1), size[0], size[1], c.real("spatial_scale", 1.0))};
}

/// The attributes of RoiAlign.
struct Alignment {
  bool is_max, half_pixel;
  std::int64_t height, width, ratio;
  double scale;
};

/// The points of some regions along one axis: [regions, bins * points]. Each lies between two elements.
struct Points {
  Integers below, above;
  std::vector<double> part;    ///< of the element above
  std::vector<double> inside;  ///< 0 for points outside of the image, else 1
};

void add_points(Points& to, double from, double length, std::int64_t bins, std::int64_t points, std::int64_t size) {
  for (std::int64_t i = 0; i < bins * points; ++i) {
    const double at = from + (static_cast<double>(i) + 0.5) * length / static_cast<double>(bins * points);
    const double edge = std::clamp(at, 0.0, static_cast<double>(size - 1));
    const auto below = static_cast<std::int64_t>(edge);
    to.below.push_back(below);
    to.above.push_back(std::min(below + 1, size - 1));
    to.part.push_back(edge - static_cast<double>(below));
    to.inside.push_back(at >= -1 && at <= static_cast<double>(size) ? 1 : 0);
  }
}

/// Regions with equal numbers of points in a bin.
struct Group {
  std::int64_t tall = 0, wide = 0;  ///< points in a bin
  Integers regions, images;
  Points rows, columns;
};

/// Reads the regions and computes their points.
std::vector<Group> groups_of(const Call& c, const Alignment& how, const Shape& shape) {
  const std::vector<double> rois = c.array(1).to_vector<double>();
  const Integers images = *c.integers(2);
  std::map<std::pair<std::int64_t, std::int64_t>, Group> groups;
  const double shift = how.half_pixel ? 0.5 : 0;
  for (std::size_t r = 0; r < images.size(); ++r) {
    if (images[r] < 0 || images[r] >= shape[0]) c.fail("region {} is of image {} of {}", r, images[r], shape[0]);
    const double left = rois[4 * r] * how.scale - shift, top = rois[4 * r + 1] * how.scale - shift;
    double width = rois[4 * r + 2] * how.scale - shift - left, height = rois[4 * r + 3] * how.scale - shift - top;
    if (!how.half_pixel) {
      width = std::max(width, 1.0);
      height = std::max(height, 1.0);
    }
    constexpr double kMost = 1 << 20;
    if (!(std::abs(width) <= kMost && std::abs(height) <= kMost && std::abs(left) <= kMost && std::abs(top) <= kMost))
      c.fail("region {} reaches further than {} elements", r, kMost);
    const auto count = [&](double length, std::int64_t bins) {
      return how.ratio > 0 ? how.ratio : static_cast<std::int64_t>(std::ceil(length / static_cast<double>(bins)));
    };
    const std::int64_t tall = count(height, how.height), wide = count(width, how.width);
    Group& group = groups[{tall, wide}];
    group.tall = tall;
    group.wide = wide;
    group.regions.push_back(static_cast<std::int64_t>(r));
    group.images.push_back(images[r]);
    if (tall < 1 || wide < 1) continue;
    check_count(4 * (static_cast<double>(tall * how.height) + static_cast<double>(wide * how.width)));
    add_points(group.rows, top, height, how.height, tall, shape[2]);
    add_points(group.columns, left, width, how.width, wide, shape[3]);
  }
  std::vector<Group> all;
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

/// Returns the results of a group: [regions, channels, height, width].
Variable aligned(const Call& c, const Variable& x, const Alignment& how, const Group& g) {
  const auto n = static_cast<std::int64_t>(g.regions.size());
  if (g.tall < 1 || g.wide < 1)
    return Variable(zeros({n, x.shape(1), how.height, how.width}, x.dtype()).to_device(c.device()));
  const Shape tall{n, how.height * g.tall, 1}, wide{n, 1, how.width * g.wide};
  const auto indices = [&](const Integers& values, const Shape& shape) {
    return Array::from_host(values.data(), shape, Dtype::int64, Device()).to_device(c.device());
  };
  const auto weights = [&](const Points& p, bool above, const Shape& shape) {
    std::vector<double> w;
    for (std::size_t i = 0; i < p.part.size(); ++i) w.push_back(p.inside[i] * (above ? p.part[i] : 1 - p.part[i]));
    const Array all = Array::from_host(w.data(), {shape[0], shape[1], shape[2], 1}, Dtype::float64, Device());
    return Variable(all.astype(x.dtype()).to_device(c.device()));
  };
  const Array images = indices(g.images, {n, 1, 1});
  Variable sum;
  for (const bool down : {false, true})
    for (const bool right : {false, true}) {
      const Array row = indices(down ? g.rows.above : g.rows.below, tall),
                  column = indices(right ? g.columns.above : g.columns.below, wide);
      const Variable picked = F::get_item(x, {Index(images), Index(slice()), Index(row), Index(column)});
      const Variable term = picked * weights(g.rows, down, tall) * weights(g.columns, right, wide);
      // ONNX and its runtime take the maximum of the weighted elements
      sum = !sum.defined() ? term : how.is_max ? F::maximum(sum, term) : sum + term;
    }
  const Variable points = F::reshape(sum, {n, how.height, g.tall, how.width, g.wide, x.shape(1)});
  const AxisArg both(Axes{2, 4});
  return F::transpose(how.is_max ? F::max(points, both) : F::mean(points, both), {0, 3, 1, 2});
}

Values roi_align(const Call& c) {
  const Variable x = c.x(0), rois = c.x(1);
  const std::string mode = c.text("mode", "avg"),
                    coordinates =
                        c.opset() < 16 ? "output_half_pixel" : c.text("coordinate_transformation_mode", "half_pixel");
  const Alignment how{mode == "max",
                      coordinates == "half_pixel",
                      c.integer("output_height", 1),
                      c.integer("output_width", 1),
                      c.integer("sampling_ratio", 0),
                      c.real("spatial_scale", 1.0)};
  if (x.ndim() != 4 || x.size() == 0 || rois.ndim() != 2 || rois.shape(1) != 4 ||
      c.x(2).shape() != Shape{rois.shape(0)} || how.height < 1 || how.width < 1 || how.ratio < 0)
    c.fail("regions of shape {} of images of shape {} have no {} x {} bins", rois.shape(), x.shape(), how.height,
           how.width);
  if (!how.is_max && !how.half_pixel) {
    const Array order = array({std::int64_t{1}, 0, 3, 2}).to_device(c.device());
    const Variable corners(take(rois.array(), order, 1));
    return {F::roi_average_align_2d(x, corners, c.x(2), {how.height, how.width}, how.scale, how.ratio)};
  }
  std::vector<Variable> parts;
  Integers order(static_cast<std::size_t>(rois.shape(0)));
  std::int64_t done = 0;
  for (const Group& group : groups_of(c, how, x.shape())) {
    parts.push_back(aligned(c, x, how, group));
    for (const std::int64_t region : group.regions) order[static_cast<std::size_t>(region)] = done++;
  }
  if (parts.empty()) return {Variable(zeros({0, x.shape(1), how.height, how.width}, x.dtype()).to_device(c.device()))};
  if (parts.size() == 1) return {parts[0]};
  const Array back = Array::from_host(order.data(), {done}, Dtype::int64, Device()).to_device(c.device());
  return {F::get_item(F::concat(parts, 0), {Index(back)})};
}

/// Returns boxes as (low, low, high, high) from two corners, or from a centre and sizes.
Array corners_of(const Array& boxes, bool centred) {
  const Array a = boxes(ellipsis, slice(0, 2)), b = boxes(ellipsis, slice(2, 4));
  const Array half = multiply(b, 0.5);
  return centred ? concatenate({subtract(a, half), add(a, half)}, -1) : concatenate({minimum(a, b), maximum(a, b)}, -1);
}

Values suppressed(const Call& c) {
  const bool centred = c.integer("center_point_box", 0) != 0;
  const Array given = c.array(0), scores = c.array(1);
  if (given.ndim() != 3 || given.shape(2) != 4 || scores.ndim() != 3 || scores.shape(0) != given.shape(0) ||
      scores.shape(2) != given.shape(1))
    c.fail("boxes of shape {} and scores of shape {} do not match", given.shape(), scores.shape());
  const Array boxes = corners_of(given, centred);
  const auto real = [&](int i) { return c.array(i).reshape({}).item<float>(); };
  const std::int64_t limit = c.integers(2).value_or(Integers{0}).at(0);
  // boxes overlap too much above the threshold, where the function means at the threshold
  const float above = std::nextafter(c.has(3) ? real(3) : 0.0F, std::numeric_limits<float>::infinity());
  std::vector<Array> rows{zeros({0, 3}, Dtype::int64).to_device(c.device())};
  for (std::int64_t b = 0; limit > 0 && scores.size() > 0 && b < scores.shape(0); ++b)
    for (std::int64_t k = 0; k < scores.shape(1); ++k) {
      const Array all = scores(b, k);
      const Array which = c.has(4) ? flatnonzero(greater(all, real(4))) : arange(all.size()).to_device(c.device());
      if (which.size() == 0) continue;
      const Array best = take(
          which,
          non_maximum_suppression(take(boxes(b), which, 0), static_cast<double>(above), take(all, which, 0), limit), 0);
      rows.push_back(stack({full_like(best, b), full_like(best, k), best}, 1));
    }
  return {Variable(concatenate(rows, 0))};
}

}  // namespace

std::span<const Operator> roi_operators() {
  static const Operator rows[] = {
      {"MaxRoiPool", 1, max_roi_pooling},
      {"RoiAlign", 10, roi_align},
      {"NonMaxSuppression", 10, suppressed},
  };
  return rows;
}

}  // namespace catenary::onnx
