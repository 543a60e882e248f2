// Regions of interest: compared with loops in float64, gradients with finite differences, and channels-last images with
// C order.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/functions/functions.h"
#include "tests/autograd/helpers.h"
#include "tests/functions/helpers.h"
#include "tests/gradients.h"

namespace catenary {
namespace {

namespace F = functions;
using gradient_check::assert_allclose;
using test::values;
using V = std::vector<Variable>;
using test::numbers;

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Images of 9 by 8 pixels, and regions: inside, over an edge, outside, upside down, smaller than a pixel.
struct Regions {
  Array x = numbers({2, 3, 9, 8});
  Array rois = array<double>(
      {1, 1, 12.5, 10, 0, 3, 8, 9.5, -6, -4, 5, 7, 30, 30, 40, 40, 8, 8, 2, 2, 3.2, 3.2, 3.4, 3.4}, {6, 4});
  Array images = array<std::int32_t>({0, 1, 1, 0, 1, 0});
  double scale = 0.75;
};

using Pooling = std::function<Variable(const Variable& x, const Array& rois, const Array& images)>;

/// Bins of whole pixels, as f(largest, sum, number of pixels).
template <class Result>
Array pooled(const Regions& e, std::int64_t rows, std::int64_t columns, Result&& f) {
  const std::vector<double> x = values(e.x), rois = values(e.rois), images = values(e.images);
  const auto edge = [](double v, double low, double high) { return std::min(std::max(v, low), high); };
  std::vector<double> out;
  for (std::size_t r = 0; r < images.size(); ++r) {
    double begin[2], size[2];
    for (std::size_t axis = 0; axis < 2; ++axis) {
      begin[axis] = std::nearbyint(rois[r * 4 + axis] * e.scale);
      size[axis] = std::max(std::nearbyint(rois[r * 4 + 2 + axis] * e.scale) - begin[axis], 1.0);
    }
    for (int c = 0; c < 3; ++c)
      for (double row = 0; row < static_cast<double>(rows); ++row)
        for (double column = 0; column < static_cast<double>(columns); ++column) {
          const double h_bin = size[0] / static_cast<double>(rows), w_bin = size[1] / static_cast<double>(columns);
          double largest = -kInf, sum = 0, count = 0;
          for (double h = edge(std::floor(row * h_bin) + begin[0], 0, 9);
               h < edge(std::ceil((row + 1) * h_bin) + begin[0], 0, 9); ++h)
            for (double w = edge(std::floor(column * w_bin) + begin[1], 0, 8);
                 w < edge(std::ceil((column + 1) * w_bin) + begin[1], 0, 8); ++w) {
              const double value = x[static_cast<std::size_t>(((images[r] * 3 + c) * 9 + h) * 8 + w)];
              largest = std::max(largest, value);
              sum += value;
              ++count;
            }
          out.push_back(f(largest, sum, count));
        }
  }
  return array(out, {static_cast<std::int64_t>(images.size()), 3, rows, columns});
}

void check_roi(const Pooling& f, const Regions& e) {
  tests::check_gradients([&](const V& v) { return V{f(v[0], e.rois, e.images)}; }, {e.x}, {.eps = 1e-4});
  const auto both = [&](const Array& x) {
    const Variable v(x);
    const Variable y = f(v, e.rois.astype(x.dtype()), e.images);
    y.set_grad(numbers(y.shape()).astype(x.dtype()));
    y.backward();
    return std::pair(y.array(), v.grad());
  };
  const auto [y, gx] = both(e.x);
  const auto [y_last, gx_last] = both(e.x.transpose({0, 2, 3, 1}).copy().transpose({0, 3, 1, 2}));
  assert_allclose(y_last, y, 0, 0);
  assert_allclose(gx_last, gx, 0, 0);
  const auto [y16, gx16] = both(e.x.astype(Dtype::bfloat16));
  EXPECT_EQ(y16.dtype(), Dtype::bfloat16);
  EXPECT_EQ(gx16.dtype(), Dtype::bfloat16);
}

TEST(Roi, MaxPooling) {
  Regions e;
  const Pooling f = [&](const Variable& x, const Array& rois, const Array& images) {
    return F::roi_max_pooling_2d(x, rois, images, {3, 2}, e.scale);
  };
  EXPECT_EQ(values(f(e.x, e.rois, e.images).array()),
            values(pooled(e, 3, 2, [](double largest, double, double) { return largest; })));
  e.rois = e.rois(slice(0, 3));  // -inf has no finite differences
  e.images = e.images(slice(0, 3));
  e.rois.set(0.0, 2, slice(0, 2));
  check_roi(f, e);
}

TEST(Roi, AveragePooling) {
  const Regions e;
  const Pooling f = [&](const Variable& x, const Array& rois, const Array& images) {
    return F::roi_average_pooling_2d(x, rois, images, {2}, e.scale);
  };
  assert_allclose(f(e.x, e.rois, e.images).array(),
                  pooled(e, 2, 2, [](double, double sum, double count) { return count > 0 ? sum / count : 0; }), 1e-12);
  check_roi(f, e);
}

TEST(Roi, PoolingWithTheLastPixels) {
  const Regions e;
  // (image, left, top, right, bottom)
  const Array five = array<double>({0, 1, 1, 4, 6, 1, 0, 2, 7, 3, 1, 20, 20, 30, 30}, {3, 5});
  const Pooling f = [&](const Variable& x, const Array&, const Array&) {
    return F::roi_pooling_2d(x, five.astype(x.dtype()), 2, 3, 1);
  };
  Regions ends;  // regions for a pooling that excludes the last pixels
  ends.rois = array<double>({1, 1, 7, 5, 2, 0, 4, 8, 20, 20, 31, 31}, {3, 4});
  ends.images = array<std::int32_t>({0, 1, 1});
  ends.scale = 1;
  assert_allclose(f(e.x, {}, {}).array(),
                  pooled(ends, 2, 3, [](double largest, double, double count) { return count > 0 ? largest : 0; }), 0,
                  0);
  check_roi(f, e);
}

/// The interpolated value between pixels' centres.
double at(const std::vector<double>& x, double plane, double h, double w) {
  if (h < -1 || h > 9 || w < -1 || w > 8) return std::nan("");
  h = std::min(std::max(h, 0.0), 8.0), w = std::min(std::max(w, 0.0), 7.0);
  const double top = std::floor(h), left = std::floor(w);
  const auto pixel = [&](double y, double z) {
    return x[static_cast<std::size_t>((plane * 9 + std::min(y, 8.0)) * 8 + std::min(z, 7.0))];
  };
  const double v = h - top, u = w - left;
  return (1 - v) * ((1 - u) * pixel(top, left) + u * pixel(top, left + 1)) +
         v * ((1 - u) * pixel(top + 1, left) + u * pixel(top + 1, left + 1));
}

Array aligned(const Regions& e, std::int64_t bins, int asked, bool is_max) {
  const std::vector<double> x = values(e.x), rois = values(e.rois), images = values(e.images);
  std::vector<double> out;
  for (std::size_t r = 0; r < images.size(); ++r) {
    double begin[2], bin[2], points[2];
    for (std::size_t axis = 0; axis < 2; ++axis) {
      begin[axis] = rois[r * 4 + axis] * e.scale;
      bin[axis] = std::max(rois[r * 4 + 2 + axis] * e.scale - begin[axis], 1.0) / static_cast<double>(bins);
      points[axis] = asked ? asked : std::ceil(bin[axis]);
    }
    for (int c = 0; c < 3; ++c)
      for (double row = 0; row < static_cast<double>(bins); ++row)
        for (double column = 0; column < static_cast<double>(bins); ++column) {
          double largest = -kInf, sum = 0;
          for (double p = 0; p < points[0]; ++p)
            for (double q = 0; q < points[1]; ++q) {
              const double value = at(x, images[r] * 3 + c, begin[0] + (row + (p + 0.5) / points[0]) * bin[0],
                                      begin[1] + (column + (q + 0.5) / points[1]) * bin[1]);
              if (std::isnan(value)) continue;
              largest = std::max(largest, value);
              sum += value;
            }
          out.push_back(is_max ? largest : sum / (points[0] * points[1]));
        }
  }
  return array(out, {static_cast<std::int64_t>(images.size()), 3, bins, bins});
}

TEST(Roi, Align) {
  Regions e;
  for (const int asked : {0, 2}) {
    const Pooling average = [&](const Variable& x, const Array& rois, const Array& images) {
      return F::roi_average_align_2d(x, rois, images, {2}, e.scale, {asked});
    };
    const Pooling largest = [&](const Variable& x, const Array& rois, const Array& images) {
      return F::roi_max_align_2d(x, rois, images, {2}, e.scale, {asked});
    };
    assert_allclose(average(e.x, e.rois, e.images).array(), aligned(e, 2, asked, false), 1e-12);
    // -inf equals -inf, but has no distance from it
    assert_allclose(catenary::maximum(largest(e.x, e.rois, e.images).array(), -9.0),
                    catenary::maximum(aligned(e, 2, asked, true), -9.0), 1e-12);
    check_roi(average, e);
    Regions inside = e;
    inside.rois = e.rois(slice(0, 2));
    inside.images = e.images(slice(0, 2));
    inside.rois.set(9.0, 0, slice(2, 4));
    check_roi(largest, inside);
  }
}

TEST(Roi, NoRegions) {
  const Variable x(numbers({1, 2, 4, 4}));
  const Variable y = F::roi_average_align_2d(x, zeros({0, 4}), zeros({0}, Dtype::int32), {3}, 1);
  EXPECT_EQ(y.shape(), (Shape{0, 2, 3, 3}));
  F::sum(y).backward();
  EXPECT_EQ(values(x.grad()), std::vector<double>(32, 0));
}

TEST(Roi, InvalidArgumentsAreNamed) {
  const Array x = zeros({2, 3, 4, 4}), rois = zeros({2, 4}), images = zeros({2}, Dtype::int32);
  EXPECT_THROW(F::roi_max_pooling_2d(x, zeros({2, 5}), images, {2}, 1), ShapeError);
  EXPECT_THROW(F::roi_max_pooling_2d(x, rois, zeros({3}, Dtype::int32), {2}, 1), ShapeError);
  EXPECT_THROW(F::roi_max_pooling_2d(x, rois, zeros({2}), {2}, 1), DtypeError);
  EXPECT_THROW(F::roi_max_pooling_2d(x, rois.astype(Dtype::float32), images, {2}, 1), DtypeError);
  EXPECT_THROW(F::roi_average_pooling_2d(x, rois, images, {2, 0}, 1), ValueError);
  EXPECT_THROW(F::roi_average_pooling_2d(x, rois, images, {2}, 0), ValueError);
  EXPECT_THROW(F::roi_max_align_2d(x, rois, images, {2}, 1, {-1}), ValueError);
  EXPECT_THROW(F::roi_pooling_2d(x, rois, 2, 2, 1), ShapeError);
  // GPUs report wrong indices when the host waits for them
  EXPECT_THROW(values(F::roi_max_pooling_2d(x, rois, images + 2, {2}, 1).array()), IndexError);
}

}  // namespace
}  // namespace catenary
