// Functions that resample images and displace windows: compared with sums in float64, gradients with finite
// differences, and channels-last operands with C order.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/reduction.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/functions/functions.h"
#include "tests/arrays.h"
#include "tests/autograd/helpers.h"
#include "tests/functions/helpers.h"
#include "tests/gradients.h"

namespace catenary {
namespace {

namespace F = functions;
using gradient_check::assert_allclose;
using V = std::vector<Variable>;
using test::numbers;
using tests::channels_last;

/// f gives equal values and gradients for x in C order, channels-last and in another dtype.
void check_layouts(const std::function<Variable(const Variable&)>& f, const Array& x) {
  const auto both = [&](const Array& a) {
    const Variable v(a);
    const Variable y = f(v);
    y.set_grad(numbers(y.shape(), 5).astype(a.dtype()));
    y.backward();
    return std::pair(y.array(), v.grad());
  };
  const auto [y, gx] = both(x);
  const auto [y_last, gx_last] = both(channels_last(x));
  EXPECT_EQ(y_last.strides(), channels_last(y).strides());
  assert_allclose(y_last, y, 0, 0);
  assert_allclose(gx_last, gx, 0, 0);
  const auto [y16, gx16] = both(x.astype(Dtype::float16));
  EXPECT_EQ(y16.dtype(), Dtype::float16);
  assert_allclose(y16.astype(Dtype::float64), y, 1e-2, 1e-2);
  assert_allclose(gx16.astype(Dtype::float64), gx, 1e-2, 1e-2);
}
void check_gradients(const std::function<Variable(const Variable&)>& f, const Array& x) {
  tests::check_gradients([&](const V& v) { return V{f(v[0])}; }, {x});
}

TEST(ResizeImages, GradientsAndLayouts) {
  const Array x = numbers({2, 3, 4, 5});
  for (const Shape& size : {Shape{7, 3}, Shape{2, 9}, Shape{1, 1}, Shape{4, 5}}) {
    for (const F::ResizeOptions& options : {F::ResizeOptions{}, F::ResizeOptions{.align_corners = false},
                                            F::ResizeOptions{.mode = F::ResizeMode::nearest}}) {
      const auto f = [&](const Variable& v) { return F::resize_images(v, size, options); };
      check_gradients(f, x);
      check_layouts(f, x);
    }
  }
}

TEST(ResizeImages, Values) {
  const Array x = arange(6, Dtype::float64).reshape({1, 1, 2, 3});
  EXPECT_EQ(test::values(F::resize_images(x, {3, 5}).array()),
            (std::vector<double>{0, 0.5, 1, 1.5, 2, 1.5, 2, 2.5, 3, 3.5, 3, 3.5, 4, 4.5, 5}));
  EXPECT_EQ(test::values(F::resize_images(x, {1, 2}, {.align_corners = false}).array()),
            (std::vector<double>{1.75, 3.25}));
  EXPECT_EQ(test::values(F::resize_images(x, {4, 2}, {.mode = F::ResizeMode::nearest}).array()),
            (std::vector<double>{0, 1, 0, 1, 3, 4, 3, 4}));
  // as NumPy rounds: 49 * (2 / 98) is less than 1
  const Array two = arange(2, Dtype::float64).reshape({1, 1, 1, 2});
  EXPECT_EQ(F::resize_images(two, {1, 98}, {.mode = F::ResizeMode::nearest}).array().sum().item<double>(), 48);
  EXPECT_EQ(F::resize_images(zeros({0, 2, 3, 3}), {2, 2}).shape(), (Shape{0, 2, 2, 2}));
}

// Rows longer than a kernel's segment, in every dtype.
TEST(ResizeImages, WideRows) {
  const Array x = numbers({1, 2, 3, 611});
  for (const F::ResizeOptions& options :
       {F::ResizeOptions{.align_corners = false}, F::ResizeOptions{.mode = F::ResizeMode::nearest}}) {
    check_layouts([&](const Variable& v) { return F::resize_images(v, {5, 1301}, options); }, x);
    const auto f = [&](const Array& a) { return F::resize_images(a, {5, 1301}, options); };
    // the columns of a row, each resized on its own as an image of one row
    const Array row = x(slice(), slice(), slice(1, 2));
    assert_allclose(F::resize_images(row, {1, 1301}, options).array(),
                    f(row.broadcast_to({1, 2, 3, 611})).array()(slice(), slice(), slice(2, 3)), 1e-12, 1e-12);
    // <f(x), gy> = <x, f'(gy)>
    const Variable v(x);
    const Variable y = f(x), z = F::resize_images(v, {5, 1301}, options);
    const Array gy = numbers(y.shape(), 3);
    z.set_grad(gy);
    z.backward();
    EXPECT_NEAR((y.array() * gy).sum().item<double>(), (x * v.grad()).sum().item<double>(), 1e-8);
  }
}

TEST(ResizeImages, NearestRepeatsPixelsBesideInfinity) {
  const double inf = std::numeric_limits<double>::infinity();
  const Array x = array<double>({1, inf, 2, std::nan(""), 3, 4}, {1, 1, 2, 3});
  const Array y = F::resize_images(x, {2, 6}, {.mode = F::ResizeMode::nearest}).array();
  for (const std::int64_t column : {0, 1, 4, 5})
    EXPECT_EQ(y(0, 0, 0, column).item<double>(), column < 2 ? 1 : 2) << column;
  EXPECT_EQ(y(0, 0, 0, 2).item<double>(), inf);
}

TEST(SpatialTransformer, ValuesAndGradients) {
  // the identity, and half of it on one axis with the other axis reversed
  const Array theta = array<double>({1, 0, 0, 0, 1, 0, -1, 0, 0, 0, 0.5, 0.25}, {2, 2, 3});
  const Variable grid = F::spatial_transformer_grid(theta, {3, 4});
  EXPECT_EQ(grid.shape(), (Shape{2, 2, 3, 4}));
  const Array x = numbers({2, 3, 3, 4});
  const Array y = F::spatial_transformer_sampler(x, grid).array();
  assert_allclose(y(0), x(0), 1e-12);
  assert_allclose(y(1, slice(), 2),
                  catenary::flip(x(1), -1)(slice(), 1) * 0.25 + catenary::flip(x(1), -1)(slice(), 2) * 0.75, 1e-12);
  tests::check_gradients([](const V& v) { return V{F::spatial_transformer_grid(v[0], {3, 2})}; }, {theta});
  EXPECT_EQ(F::spatial_transformer_grid(theta, {1, 1}).array()(0, 0, 0).item<double>(), -1);
}

TEST(SpatialTransformer, PointsOutsideSeeZeros) {
  const Array x = ones({1, 1, 3, 3});
  const auto at = [&](double u, double v) {
    const Variable point(array<double>({u, v}, {1, 2, 1, 1}));
    const Variable y = F::spatial_transformer_sampler(x, point);
    y.backward();
    return std::pair(y.array().item<double>(), test::values(point.grad()));
  };
  EXPECT_EQ(at(0, 0), (std::pair(1.0, std::vector<double>{0, 0})));
  EXPECT_EQ(at(1.5, 0), (std::pair(0.5, std::vector<double>{-1, 0})));  // half a pixel outside
  EXPECT_EQ(at(-1.5, 0), (std::pair(0.5, std::vector<double>{1, 0})));
  EXPECT_EQ(at(0, 7), (std::pair(0.0, std::vector<double>{0, 0})));
  EXPECT_EQ(at(0, -1e30), (std::pair(0.0, std::vector<double>{0, 0})));
  EXPECT_TRUE(std::isnan(at(std::nan(""), 0).first));
}

TEST(SpatialTransformer, SamplerGradientsAndLayouts) {
  const Array x = numbers({2, 3, 4, 5}), grid = numbers({2, 2, 3, 4}, 2) * 1.2;
  const auto scope = tests::one_by_one_on_devices();
  gradient_check::check_backward([](const V& v) { return V{F::spatial_transformer_sampler(v[0], v[1])}; }, {x, grid},
                                 {}, {}, {.eps = 1e-5, .atol = 1e-4, .rtol = 1e-3});
  check_layouts([&](const Variable& v) { return F::spatial_transformer_sampler(v, grid.astype(v.dtype())); }, x);
  // many points on one pixel of a 16-bit image: their sum needs more than 16 bits
  const Variable half(zeros({1, 1, 2, 2}, Dtype::float16));
  const Variable y = F::spatial_transformer_sampler(half, zeros({1, 2, 64, 64}, Dtype::float16) - 1.0);
  y.set_grad(ones(y.shape(), Dtype::float16));
  y.backward();
  EXPECT_EQ(test::values(half.grad()), (std::vector<double>{4096, 0, 0, 0}));
}

TEST(SpatialTransformer, SecondGradientsAreRefused) {
  const Variable x(numbers({1, 1, 3, 3})), grid(numbers({1, 2, 2, 2}));
  const Variable y = F::sum(F::spatial_transformer_sampler(x, grid));
  const std::vector<Variable> gx = grad({y}, {x}, {.enable_double_backprop = true});
  EXPECT_THROW(grad({F::sum(gx[0] * gx[0])}, {grid}), ValueError);
}

TEST(DeformableConvolution2D, WithoutOffsetsIsAConvolution) {
  const Array x = numbers({2, 3, 5, 6}), W = numbers({4, 3, 3, 2}, 2), b = numbers({4}, 3);
  const Array cols = F::im2col(x, {3, 2}, {.stride = {2, 1}, .pad = {1, 0}}).array();
  const Shape out = {2, 4, cols.shape(2), cols.shape(3)};
  const Array offset = zeros({2, 12, out[2], out[3]});
  const Array expected =
      F::matmul(F::broadcast_to(W.reshape({1, 4, 18}), {2, 4, 18}), cols.reshape({2, 18, -1})).array();
  const Variable y = F::deformable_convolution_2d_sampler(x, offset, W, b, {.stride = {2, 1}, .pad = {1, 0}});
  assert_allclose(y.array(), expected.reshape(out) + b.reshape({1, 4, 1, 1}), 1e-10);

  const auto scope = tests::one_by_one_on_devices();
  gradient_check::check_backward(
      [](const V& v) {
        return V{F::deformable_convolution_2d_sampler(v[0], v[1], v[2], v[3], {.stride = {2, 1}, .pad = {1, 0}})};
      },
      {x, numbers(offset.shape(), 4) * 0.4, W, b}, {}, {}, {.eps = 1e-5, .atol = 1e-4, .rtol = 1e-3});
}

// An axis with a single pixel has no place between the first and the last pixel.
TEST(DeformableConvolution2D, OfOneRowOrColumnOfPixels) {
  for (const Shape& extents : {Shape{1, 6}, Shape{5, 1}, Shape{1, 1}}) {
    const Array x = numbers({2, 3, extents[0], extents[1]}), W = numbers({4, 3, 1, 1}, 2);
    const Array offset = zeros({2, 2, extents[0], extents[1]});
    assert_allclose(F::deformable_convolution_2d_sampler(x, offset, W).array(), F::convolution_2d(x, W).array(), 1e-10);
    // half a pixel along an axis of one pixel gives half of it, on either side, and a whole pixel gives 0
    for (const int axis : {0, 1}) {
      if (extents[axis] > 1) continue;
      for (const double by : {0.5, -0.5, 1.0, -1.0, 1.5, -3.0}) {
        const Array moved = zeros(offset.shape());
        moved(slice(), 1 - axis).fill(by);
        assert_allclose(F::deformable_convolution_2d_sampler(x, moved, W).array(),
                        F::convolution_2d(x, W).array() * std::max(0.0, 1 - std::abs(by)), 1e-10);
      }
    }
    const auto scope = tests::one_by_one_on_devices();
    gradient_check::check_backward([](const V& v) { return V{F::deformable_convolution_2d_sampler(v[0], v[1], v[2])}; },
                                   {x, numbers(offset.shape(), 4) * 0.4, W}, {}, {},
                                   {.eps = 1e-5, .atol = 1e-4, .rtol = 1e-3});
  }
}

// In a wide image 16 bits cannot distinguish pixels, so coordinates are float32.
TEST(DeformableConvolution2D, OfAWideImageIn16Bits) {
  const Array x = numbers({1, 1, 2, 500}), W = numbers({1, 1, 1, 3});
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    const Array a = x.astype(dtype), w = W.astype(dtype), offset = full({1, 6, 2, 498}, 0.25, dtype);
    const Variable y = F::deformable_convolution_2d_sampler(a, offset, w);
    EXPECT_EQ(y.dtype(), dtype);
    const Array wide = F::deformable_convolution_2d_sampler(a.astype(Dtype::float32), offset.astype(Dtype::float32),
                                                            w.astype(Dtype::float32))
                           .array();
    const double unit = dtype == Dtype::float16 ? 0x1p-10 : 0x1p-7;
    assert_allclose(y.array().astype(Dtype::float32), wide, 2 * unit, 0);
  }
}

// Rows longer than a kernel's segment. The transpose counts the windows of each element.
TEST(Im2Col, WideRows) {
  const Array x = numbers({1, 2, 3, 1101});
  for (const F::Im2ColOptions& options : {F::Im2ColOptions{.pad = 1}, F::Im2ColOptions{.stride = {1, 3}, .pad = 2}}) {
    const Variable v(x);
    const Variable y = F::im2col(v, 3, options);
    const Array gy = numbers(y.shape(), 4);
    y.set_grad(gy);
    y.backward();
    EXPECT_NEAR((y.array() * gy).sum().item<double>(), (x * v.grad()).sum().item<double>(), 1e-8);
  }
  const Array shifted = F::im2col(x, {1, 3}, {.pad = {0, 1}}).array();  // the taps of each channel
  assert_allclose(shifted(slice(), 1), x(slice(), 0), 0, 0);
  assert_allclose(shifted(slice(), 0, slice(), slice(1, none)), x(slice(), 0, slice(), slice(0, 1100)), 0, 0);
  assert_allclose(shifted(slice(), 5, slice(), slice(0, 1100)), x(slice(), 1, slice(), slice(1, none)), 0, 0);
}

TEST(Im2Col, ValuesGradientsAndLayouts) {
  const Array x = numbers({2, 3, 6, 5});
  const F::Im2ColOptions options{.stride = {2, 1}, .pad = {1, 2}, .dilate = {1, 2}};
  const Array y = F::im2col(x, {3, 2}, options).array();
  EXPECT_EQ(y.shape(), (Shape{2, 18, 3, 7}));
  const std::vector<double> in = test::values(x), out = test::values(y);
  std::size_t i = 0;
  for (int n = 0; n < 2; ++n)
    for (int c = 0; c < 3; ++c)
      for (int kh = 0; kh < 3; ++kh)
        for (int kw = 0; kw < 2; ++kw)
          for (int row = 0; row < 3; ++row)
            for (int column = 0; column < 7; ++column) {
              const int h = row * 2 + kh - 1, w = column + kw * 2 - 2;
              const bool inside = h >= 0 && h < 6 && w >= 0 && w < 5;
              EXPECT_EQ(out[i++], inside ? in[static_cast<std::size_t>(((n * 3 + c) * 6 + h) * 5 + w)] : 0);
            }
  const auto f = [&](const Variable& v) { return F::im2col(v, {3, 2}, options); };
  check_gradients(f, x);
  check_layouts(f, x);
  // the last windows extend over the edge
  EXPECT_EQ(F::im2col(x, {2}, {.stride = {3}, .cover_all = true}).shape(), (Shape{2, 12, 3, 2}));
  check_gradients([](const Variable& v) { return F::im2col(v, {2}, {.stride = {3}, .cover_all = true}); }, x);
}

TEST(Shift, ValuesGradientsAndLayouts) {
  const Array x = numbers({2, 11, 4, 5});  // nine groups, the last with three channels
  const Array y = F::shift(x).array();
  const auto moved = [&](int c, int down, int right) {
    Array expected = zeros({2, 4, 5});
    for (int h = std::max(0, down); h < std::min(4, 4 + down); ++h)
      for (int w = std::max(0, right); w < std::min(5, 5 + right); ++w)
        expected.set(x(slice(), c, h - down, w - right), slice(), h, w);
    return expected;
  };
  for (int c = 0; c < 11; ++c) {
    const int place = c >= 8 ? 4 : c == 4 ? 8 : c;
    assert_allclose(y(slice(), c), moved(c, place / 3 - 1, place % 3 - 1), 0, 0);
  }
  // to the edge, and beyond, where all elements are zero
  for (const int by : {3, 4, 5, 6, -3, -4, -5, -6, 1 << 30}) {
    const Array down = F::shift(x, {11, 1}, by).array(), right = F::shift(x, {1, 11}, by).array();
    for (int c = 0; c < 11; ++c) {
      const int place = c == 10 ? 5 : c == 5 ? 10 : c;
      const std::int64_t distance = std::int64_t{place - 5} * by;
      const int step = static_cast<int>(std::clamp<std::int64_t>(distance, -9, 9));
      assert_allclose(down(slice(), c), moved(c, step, 0), 0, 0);
      assert_allclose(right(slice(), c), moved(c, 0, step), 0, 0);
    }
  }
  const auto f = [](const Variable& v) { return F::shift(v, {1, 3}, {1, -2}); };
  check_gradients(f, x);
  check_layouts(f, x);
}

TEST(Resampling, InvalidArgumentsAreNamed) {
  const Array x = zeros({1, 2, 3, 4}), theta = zeros({1, 2, 3}), grid = zeros({1, 2, 5, 5});
  EXPECT_THROW(F::resize_images(zeros({2, 3, 4}), {2, 2}), ShapeError);
  EXPECT_THROW(F::resize_images(zeros({1, 2, 0, 4}), {2, 2}), ShapeError);
  EXPECT_THROW(F::resize_images(x, {2}), ValueError);
  EXPECT_THROW(F::resize_images(x, {0, 2}), ValueError);
  EXPECT_THROW(F::resize_images(x.astype(Dtype::int32), {2, 2}), DtypeError);
  EXPECT_THROW(F::spatial_transformer_grid(zeros({1, 3, 3}), {2, 2}), ShapeError);
  EXPECT_THROW(F::spatial_transformer_sampler(x, zeros({2, 2, 5, 5})), ShapeError);
  EXPECT_THROW(F::spatial_transformer_sampler(x, grid.astype(Dtype::float32)), DtypeError);
  EXPECT_THROW(F::deformable_convolution_2d_sampler(x, grid, zeros({1, 2, 3, 3})), ShapeError);
  EXPECT_THROW(F::deformable_convolution_2d_sampler(x, grid, zeros({1, 3, 1, 1})), ShapeError);
  EXPECT_THROW(F::im2col(x, {5}), ShapeError);
  EXPECT_THROW(F::im2col(x, {1, 1, 1}), ValueError);
  EXPECT_THROW(F::shift(zeros({1, 9, 3, 3}), {2}), ValueError);
  EXPECT_THROW(F::shift(zeros({1, 9, 3, 3}), {3}, {0}), ValueError);
  EXPECT_THROW(F::shift(x), ShapeError);
}

}  // namespace
}  // namespace catenary
