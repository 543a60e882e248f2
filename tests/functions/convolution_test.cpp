#include "catenary/functions/convolution.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/core/memory_order.h"
#include "catenary/core/window.h"
#include "catenary/functions/functions.h"
#include "tests/arrays.h"
#include "tests/functions/helpers.h"
#include "tests/gradients.h"

namespace catenary {
namespace {

namespace F = functions;
using gradient_check::assert_allclose;
using V = std::vector<Variable>;
using test::numbers;
using tests::channels_last;

void check_convolution(const char* name, const gradient_check::Function& f, const std::vector<Array>& x) {
  test::check(name, f, x, {.eps = 1e-3, .atol = 1e-7, .rtol = 1e-5});
}

bool is_channels_last(const Array& x) { return moveaxis(x, 1, -1).is_contiguous(); }

/// A convolution as plain sums in float64 on the CPU, one position at a time. x and W have 3 spatial axes.
Array plain_convolution(const Array& x0, const Array& W0, const Shape& stride, const Shape& pad, const Shape& dilate,
                        std::int64_t groups, bool cover_all = false) {
  const auto x = x0.to_vector<double>(), W = W0.to_vector<double>();
  const Shape xs = x0.shape(), ws = W0.shape();
  Shape ys = {xs[0], ws[0], 0, 0, 0};
  for (int a = 0; a < 3; ++a) {
    const std::int64_t room = xs[a + 2] + 2 * pad[a] - dilate[a] * (ws[a + 2] - 1) - 1;
    ys[a + 2] = (cover_all ? (room + stride[a] - 1) / stride[a] : room / stride[a]) + 1;
  }
  const auto at = [](const Shape& s, std::int64_t i, std::int64_t j, std::int64_t p, std::int64_t q, std::int64_t r) {
    return static_cast<std::size_t>((((i * s[1] + j) * s[2] + p) * s[3] + q) * s[4] + r);
  };
  std::vector<double> y(static_cast<std::size_t>(ys.product()), 0);
  for (std::int64_t n = 0; n < ys[0]; ++n)
    for (std::int64_t k = 0; k < ys[1]; ++k)
      for (std::int64_t p = 0; p < ys[2] * ys[3] * ys[4]; ++p)
        for (std::int64_t t = 0; t < ws[1] * ws[2] * ws[3] * ws[4]; ++t) {
          const std::int64_t place[] = {p / (ys[3] * ys[4]), p / ys[4] % ys[3], p % ys[4]};
          const std::int64_t tap[] = {t / (ws[3] * ws[4]) % ws[2], t / ws[4] % ws[3], t % ws[4]};
          const std::int64_t c = t / (ws[2] * ws[3] * ws[4]);
          std::int64_t from[3];
          bool inside = true;
          for (int a = 0; a < 3; ++a) {
            from[a] = place[a] * stride[a] - pad[a] + tap[a] * dilate[a];
            inside = inside && from[a] >= 0 && from[a] < xs[a + 2];
          }
          if (!inside) continue;
          const std::int64_t channel = k / (ws[0] / groups) * ws[1] + c;
          y[at(ys, n, k, place[0], place[1], place[2])] +=
              x[at(xs, n, channel, from[0], from[1], from[2])] * W[at(ws, k, c, tap[0], tap[1], tap[2])];
        }
  return Array::from_host(y.data(), ys, Dtype::float64);
}

TEST(Convolution, EqualsThePlainSum) {
  struct Case {
    Shape x, W, stride, pad, dilate;
    std::int64_t groups;
    bool cover_all;
  };
  for (const Case& c : {Case{{2, 3, 5, 6, 7}, {4, 3, 3, 2, 1}, {1, 2, 3}, {1, 0, 2}, {1, 1, 1}, 1, false},
                        Case{{1, 4, 6, 7, 5}, {6, 2, 2, 3, 2}, {2, 2, 2}, {0, 1, 1}, {2, 1, 3}, 2, true},
                        Case{{2, 4, 3, 3, 4}, {4, 1, 3, 3, 3}, {1, 1, 1}, {2, 2, 3}, {1, 2, 1}, 4, false},
                        Case{{3, 2, 1, 9, 8}, {3, 2, 1, 5, 4}, {1, 3, 2}, {0, 4, 3}, {1, 1, 1}, 1, true}}) {
    const Array x = numbers(c.x), W = numbers(c.W, 2), b = numbers({c.W[0]}, 3);
    const Array expected = plain_convolution(x, W, c.stride, c.pad, c.dilate, c.groups, c.cover_all);
    const F::ConvolutionOptions options = {c.stride, c.pad, c.cover_all, c.dilate, c.groups};
    assert_allclose(F::convolution_3d(x, W, options).array(), expected, 1e-12, 1e-12);
    assert_allclose(F::convolution_nd(channels_last(x), channels_last(W), b, options).array(),
                    expected + b.reshape({c.W[0], 1, 1, 1}), 1e-12, 1e-12);
    const Array narrow = F::convolution_3d(x.astype(Dtype::float16), W.astype(Dtype::float16), options).array();
    EXPECT_EQ(narrow.dtype(), Dtype::float16);
    assert_allclose(narrow.astype(Dtype::float64), expected, 2e-2, 1e-2);
  }
}

TEST(Convolution, FewerAxesAreTheSameSum) {
  const Array x = numbers({2, 4, 7, 6}), W = numbers({6, 2, 3, 2}, 2), b = numbers({6}, 3);
  const F::ConvolutionOptions options = {.stride = {2, 1}, .pad = 1, .dilate = {1, 2}, .groups = 2};
  const Array expected =
      plain_convolution(x.reshape({2, 4, 1, 7, 6}), W.reshape({6, 2, 1, 3, 2}), {1, 2, 1}, {0, 1, 1}, {1, 1, 2}, 2);
  const Array y = F::convolution_2d(x, W, b, options).array();
  assert_allclose(y, expected.reshape(y.shape()) + b.reshape({6, 1, 1}), 1e-12, 1e-12);
  assert_allclose(F::dilated_convolution_2d(x, W, b, options).array(), y, 0, 0);
  const Array line = F::convolution_1d(x(slice(), slice(), 2), W(slice(), slice(), 1), {.pad = 2, .groups = 2}).array();
  const Array expected_line =
      plain_convolution(x(slice(), slice(), slice(2, 3), newaxis), W(slice(), slice(), slice(1, 2), newaxis), {1, 1, 1},
                        {0, 0, 2}, {1, 1, 1}, 2);
  assert_allclose(line, expected_line.reshape(line.shape()), 1e-12, 1e-12);
}

TEST(Convolution, Gradients) {
  check_convolution("2d",
                    [](const V& v) -> V { return {F::convolution_2d(v[0], v[1], v[2], {.stride = 2, .pad = 1})}; },
                    {numbers({2, 3, 5, 4}), numbers({4, 3, 3, 3}, 2), numbers({4}, 3)});
  check_convolution(
      "cover_all, groups, dilation",
      [](const V& v) -> V {
        return {F::convolution_2d(v[0], v[1],
                                  {.stride = {2, 3}, .pad = {1, 0}, .cover_all = true, .dilate = {1, 2}, .groups = 2})};
      },
      {numbers({1, 4, 4, 6}), numbers({4, 2, 3, 2}, 2)});
  check_convolution("1d", [](const V& v) -> V { return {F::convolution_1d(v[0], v[1], {.stride = 2, .dilate = 2})}; },
                    {numbers({2, 2, 8}), numbers({3, 2, 3}, 2)});
  check_convolution("3d",
                    [](const V& v) -> V {
                      return {F::convolution_3d(v[0], v[1], v[2], {.pad = {1, 0, 1}})};
                    },
                    {numbers({1, 2, 3, 3, 2}), numbers({2, 2, 2, 2, 3}, 2), numbers({2}, 3)});
  check_convolution("rows that no window reaches",
                    [](const V& v) -> V { return {F::convolution_2d(v[0], v[1], {.stride = 3})}; },
                    {numbers({1, 2, 7, 6}), numbers({2, 2, 2, 2}, 2)});
  check_convolution("channels last", [](const V& v) -> V { return {F::convolution_2d(v[0], v[1], {.pad = 1})}; },
                    {channels_last(numbers({2, 3, 4, 3})), channels_last(numbers({2, 3, 3, 3}, 2))});
  check_convolution("depthwise",
                    [](const V& v) -> V { return {F::depthwise_convolution_2d(v[0], v[1], v[2], {.pad = 1})}; },
                    {numbers({1, 3, 4, 4}), numbers({2, 3, 3, 3}, 2), numbers({6}, 3)});
  check_convolution("local", [](const V& v) -> V { return {F::local_convolution_2d(v[0], v[1], v[2], 2)}; },
                    {numbers({2, 2, 5, 4}), numbers({3, 2, 2, 2, 3, 2}, 2), numbers({3, 2, 2}, 3)});
}

TEST(Deconvolution, Gradients) {
  check_convolution("2d",
                    [](const V& v) -> V { return {F::deconvolution_2d(v[0], v[1], v[2], {.stride = 2, .pad = 1})}; },
                    {numbers({2, 3, 3, 4}), numbers({3, 2, 3, 4}, 2), numbers({2}, 3)});
  check_convolution("outsize, groups",
                    [](const V& v) -> V {
                      return {F::deconvolution_2d(v[0], v[1], {.stride = 2, .pad = 1, .outsize = {6, 7}, .groups = 2})};
                    },
                    {numbers({1, 4, 3, 4}), numbers({4, 1, 3, 3}, 2)});
  check_convolution("1d", [](const V& v) -> V { return {F::deconvolution_1d(v[0], v[1], {.stride = 2, .dilate = 2})}; },
                    {numbers({2, 2, 4}), numbers({2, 3, 3}, 2)});
  check_convolution("3d",
                    [](const V& v) -> V {
                      return {F::deconvolution_3d(v[0], v[1], {.stride = {2, 1, 2}})};
                    },
                    {numbers({1, 2, 2, 2, 2}), numbers({2, 2, 2, 2, 3}, 2)});
}

/// <gy, conv(x)> = <deconv(gy), x>
TEST(Deconvolution, IsTheTransposeOfTheConvolution) {
  const Array x = numbers({2, 4, 8, 9}), W = numbers({6, 2, 3, 2}, 2);
  const F::ConvolutionOptions options = {.stride = {3, 2}, .pad = {1, 2}, .dilate = {2, 1}, .groups = 2};
  const Array y = F::convolution_2d(x, W, options).array(), gy = numbers(y.shape(), 3);
  const Variable gx =
      F::deconvolution_2d(gy, W, {.stride = {3, 2}, .pad = {1, 2}, .outsize = {8, 9}, .dilate = {2, 1}, .groups = 2});
  EXPECT_EQ(gx.shape(), x.shape());
  EXPECT_NEAR((gx.array() * x).sum().item<double>(), (gy * y).sum().item<double>(), 1e-10);
  assert_allclose(
      F::deconvolution_nd(gy, W, {.stride = {3, 2}, .pad = {1, 2}, .outsize = {8, 9}, .dilate = {2, 1}, .groups = 2})
          .array(),
      gx.array(), 0, 0);
}

TEST(Convolution, ResultsLieAsTheirOperandsDo) {
  const Array x = channels_last(numbers({2, 4, 6, 5})), W = channels_last(numbers({6, 4, 3, 3}, 2));
  const auto lies = [](const Array& a, bool last) {
    EXPECT_EQ(is_channels_last(a), last) << a.shape() << " " << a.strides();
    EXPECT_EQ(a.is_contiguous(), !last) << a.shape() << " " << a.strides();
  };
  const auto gradients_of = [](const Variable& y, const Variable& v, const Variable& w) {
    return grad({y}, {v, w}, {.grad_outputs = {Variable(catenary::ones_like(y.array()))}});
  };
  for (const bool last : {false, true})
    for (const bool W_last : {false, true}) {
      const Variable v(last ? x : x.copy()), w(W_last ? W : W.copy()), b(numbers({6}, 3));
      const Variable y = F::convolution_2d(v, w, b, {.pad = 1});
      lies(y.array(), last);
      const auto g = gradients_of(y, v, w);
      lies(g[0].array(), last);
      lies(g[1].array(), W_last);
      lies(F::deconvolution_2d(y, w).array(), last);
      // where x fits both layouts, W decides
      lies(F::convolution_2d(x(slice(), slice(0, 1)).copy(),
                             W_last ? channels_last(numbers({5, 1, 2, 2})) : numbers({5, 1, 2, 2}))
               .array(),
           false);
      lies(F::convolution_2d(numbers({2, 4, 1, 1}), w, {.pad = 2}).array(), W_last);
    }
  // a slice of a channels-last array
  lies(F::convolution_2d(x(slice(), slice(1, 3)), W(slice(), slice(0, 2))).array(), true);
}

TEST(Convolution, WithoutElements) {
  const Array none = F::convolution_2d(zeros({0, 3, 5, 5}), zeros({4, 3, 3, 3}), zeros({4})).array();
  EXPECT_EQ(none.shape(), (Shape{0, 4, 3, 3}));
  // no images: the gradient of W is zero, no channels: the result is the bias
  const Variable x(zeros({0, 3, 5, 5})), W(ones({4, 3, 3, 3}));
  const auto g = grad({F::convolution_2d(x, W)}, {x, W}, {.grad_outputs = {Variable(zeros({0, 4, 3, 3}))}});
  EXPECT_EQ(g[0].shape(), x.shape());
  assert_allclose(g[1].array(), zeros({4, 3, 3, 3}), 0, 0);
  const Array biased = F::convolution_2d(zeros({2, 0, 3, 3}), zeros({2, 0, 2, 2}), ones({2}) * 3).array();
  assert_allclose(biased, full({2, 2, 2, 2}, 3.0f), 0, 0);
}

template <class E>
std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing of this kind was thrown";
}

// Windows so large that computing offsets would overflow, in all functions with windows.
TEST(Windows, HaveAMostOfTaps) {
  const Variable x(zeros({1, 1, 5, 5}));
  std::string message;
  try {
    F::max_pooling_2d(x, {1 << 15, 1 << 15}, {.pad = {1 << 14, 1 << 14}});
  } catch (const ValueError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("taps"), std::string::npos) << message;
}

TEST(Windows, AbsurdNumbersAreRefused) {
  const Variable x(zeros({1, 4, 5, 5})), line(zeros({1, 4, 5})), W(zeros({4, 4, 3, 3})), W1(zeros({4, 1, 3, 3}));
  const Array offset = zeros({1, 18, 3, 3});
  const std::function<void(std::int64_t)> takers[] = {
      [&](std::int64_t n) { F::convolution_2d(x, W, {.stride = n}); },
      [&](std::int64_t n) { F::convolution_2d(x, W, {.pad = n}); },
      [&](std::int64_t n) { F::convolution_2d(x, W, {.pad = n, .dilate = n}); },
      [&](std::int64_t n) {
        F::convolution_2d(x, W, {.dilate = {1, n}});
      },
      [&](std::int64_t n) {
        F::convolution_1d(line, zeros({4, 4, 3}), {.stride = n, .cover_all = true});
      },
      [&](std::int64_t n) { F::dilated_convolution_2d(x, W, {.dilate = n}); },
      [&](std::int64_t n) {
        F::depthwise_convolution_2d(x, zeros({1, 4, 3, 3}), {.pad = n});
      },
      [&](std::int64_t n) {
        F::local_convolution_2d(x, zeros({1, 1, 1, 4, 3, 3}), n);
      },
      [&](std::int64_t n) { F::deconvolution_2d(x, W, {.stride = n}); },
      [&](std::int64_t n) { F::deconvolution_2d(x, W, {.pad = n}); },
      [&](std::int64_t n) { F::deconvolution_2d(x, W, {.dilate = n}); },
      [&](std::int64_t n) {
        F::deconvolution_2d(x, W, {.outsize = {n, n}});
      },
      [&](std::int64_t n) { F::max_pooling_2d(x, n); },
      [&](std::int64_t n) { F::max_pooling_2d(x, 2, {.stride = n}); },
      [&](std::int64_t n) { F::max_pooling_2d(x, 2, {.pad = n}); },
      [&](std::int64_t n) { F::average_pooling_2d(x, n, {.pad = n}); },
      [&](std::int64_t n) { F::average_pooling_1d(line, 2, {.stride = n}); },
      [&](std::int64_t n) { F::unpooling_2d(x, 2, {.stride = n}); },
      [&](std::int64_t n) { F::unpooling_2d(x, 2, {.pad = n}); },
      [&](std::int64_t n) {
        F::unpooling_2d(x, 2, {.outsize = {n, n}});
      },
      [&](std::int64_t n) { F::upsampling_2d(x, zeros(x.shape(), Dtype::int32), 2, {.stride = n}); },
      [&](std::int64_t n) { F::im2col(x, 2, {.stride = n}); },
      [&](std::int64_t n) { F::im2col(x, 2, {.pad = n}); },
      [&](std::int64_t n) { F::im2col(x, 2, {.pad = n, .dilate = n}); },
      [&](std::int64_t n) { F::shift(x, n + 1); },
      [&](std::int64_t n) { F::deformable_convolution_2d_sampler(x, offset, W, {.stride = n}); },
      [&](std::int64_t n) { F::deformable_convolution_2d_sampler(x, offset, W, {.pad = n}); },
      [&](std::int64_t n) { F::pad(x, n); },
      [&](std::int64_t n) {
        F::pad(x, {{0, 0}, {0, 0}, {0, 0}, {n, n}});
      },
      [&](std::int64_t n) {
        F::resize_images(x, {n, n});
      },
      [&](std::int64_t n) {
        F::resize_images(x, {n, 1});
      },
      [&](std::int64_t n) {
        F::resize_images(x, {1, n});
      },
      [&](std::int64_t n) {
        F::spatial_transformer_grid(zeros({1, 2, 3}), {n, 1});
      },
  };
  for (std::size_t i = 0; i < std::size(takers); ++i) {
    for (const std::int64_t n : {std::int64_t{1} << 60, std::int64_t{1} << 62, (std::int64_t{1} << 62) - 2,
                                 std::numeric_limits<std::int64_t>::max() - 1}) {
      try {
        takers[i](n);
        ADD_FAILURE() << "taker " << i << " takes " << n;
      } catch (const ShapeError&) {
      } catch (const ValueError&) {
      }
    }
  }
  EXPECT_EQ(message<ValueError>([&] { F::convolution_2d(x, W, {.pad = std::int64_t{1} << 62}); }),
            "convolution_2d: pad must be at most 268435456, not (4611686018427387904,)");
  EXPECT_EQ(
      message<ValueError>([&] { F::convolution_2d(x, W, {.pad = 1 << 28, .dilate = 1 << 28}); }),
      "convolution_2d: a window must reach over at most 268435456 elements, not (3, 3) taps at a distance (dilate) "
      "of (268435456, 268435456)");
  EXPECT_EQ(message<ValueError>([&] {
              F::resize_images(x, {std::int64_t{1} << 40, 1});
            }),
            "resize_images: output_shape must be two numbers from 1 to 2147483647, not (1099511627776, 1)");
  EXPECT_EQ(message<ValueError>([&] {
              F::resize_images(x, {1, std::int64_t{1} << 40});
            }),
            "resize_images: output_shape must be two numbers from 1 to 2147483647, not (1, 1099511627776)");
  // large but valid
  EXPECT_EQ(F::convolution_2d(x, W, {.stride = 1 << 28}).shape(), (Shape{1, 4, 1, 1}));
  EXPECT_EQ(F::convolution_2d(x, W, {.pad = {1 << 26, 0}, .dilate = {1 << 26, 1}}).shape(), (Shape{1, 4, 5, 3}));
  // four steps of 2^62 overflow 64 bits, only the middle group stays
  const Variable moved = F::shift(zeros({1, 9, 2, 2}) + 1, {9, 1}, std::int64_t{1} << 62);
  EXPECT_EQ(F::sum(moved).array().item<double>(), 4);
}

// The largest allowed number of each kind works, and the next one is refused.
TEST(Windows, LimitsAreWhereTheyAreSaidToBe) {
  const std::int64_t most = Window::most, half = std::int64_t{1} << 14;  // half the digits of most
  const auto takes = [](const Shape& size, const Shape& stride, const Shape& pad, const Shape& dilate) {
    try {
      Window::make("test", size.size(), size, stride, pad, dilate);
      return true;
    } catch (const ValueError&) {
      return false;
    }
  };
  for (const std::int64_t more : {0, 1}) {
    EXPECT_EQ(takes({most + more}, {1}, {0}, {1}), !more);
    EXPECT_EQ(takes({2}, {most + more}, {0}, {1}), !more);
    EXPECT_EQ(takes({2}, {1}, {most + more}, {1}), !more);
    EXPECT_EQ(takes({1}, {1}, {0}, {most + more}), !more);      // a window of one tap
    EXPECT_EQ(takes({2}, {1}, {0}, {most - 1 + more}), !more);  // its reach
    EXPECT_EQ(takes({1, 2}, {1}, {0}, {1, most - 1 + more}), !more);
    EXPECT_EQ(takes({half, half + more}, {1}, {0}, {1}), !more);  // its taps
  }
  // sizes and counts whose products with a stride do not overflow
  const std::int64_t longest = std::numeric_limits<std::int64_t>::max() / most;
  const Window far = Window::make("test", 1, {2}, {most}, {0}, {most - 1}),
               padded = Window::make("test", 1, {1}, {1}, {most});
  EXPECT_EQ(far.counts("test", {longest}), (Shape{(longest - most) / most + 1}));
  EXPECT_EQ(far.extents("test", {longest}), (Shape{most * (longest - 1) + most}));
  EXPECT_EQ(padded.counts("test", {longest}), (Shape{longest + 2 * most}));
  EXPECT_THROW(far.counts("test", {longest + 1}), ShapeError);
  EXPECT_THROW(far.extents("test", {longest + 1}), ShapeError);
}

// Windows that reach far beyond the image, with offsets that kernels hold in 32 bits.
TEST(Windows, ThatReachFar) {
  const Array x = numbers({1, 8, 6, 6}), W = numbers({8, 8, 3, 3}, 2);
  const std::int64_t far = 1 << 26;
  const Variable y = F::convolution_2d(x, W, {.pad = far, .dilate = far});
  assert_allclose(y.array(), F::convolution_2d(x, W(slice(), slice(), slice(1, 2), slice(1, 2))).array(), 1e-12);
}

TEST(Convolution, WrongArgumentsAreNamed) {
  const Array x = zeros({2, 4, 5, 5}), W = zeros({6, 4, 3, 3});
  EXPECT_EQ(message<ShapeError>([&] {
              F::convolution_2d(zeros({4, 5, 5}), W);
            }),
            "convolution_2d: x must have 4 axes (n, channels, sizes...), not (4, 5, 5)");
  EXPECT_EQ(message<ShapeError>([&] {
              F::convolution_2d(x, zeros({6, 4, 3}));
            }),
            "convolution_2d: W must have 4 axes (out channels, channels / groups, taps...), not (6, 4, 3)");
  EXPECT_EQ(message<ShapeError>([&] {
              F::convolution_2d(x, zeros({6, 3, 3, 3}));
            }),
            "convolution_2d: x (2, 4, 5, 5) has 4 channels, W (6, 3, 3, 3) and 1 groups take 3");
  EXPECT_EQ(message<ShapeError>([&] {
              F::convolution_2d(x, zeros({5, 2, 3, 3}), {.groups = 2});
            }),
            "convolution_2d: axis 0 of W (5, 2, 3, 3) must be a multiple of 2 groups");
  EXPECT_EQ(message<ShapeError>([&] { F::convolution_2d(x, W, zeros({4})); }),
            "convolution_2d: b must be (6,), an element for each channel of the result, not (4,)");
  EXPECT_EQ(message<ShapeError>([&] {
              F::convolution_2d(x, zeros({6, 4, 7, 7}));
            }),
            "convolution_2d: a window of (7, 7) (stride (1, 1), pad (0, 0), dilate (1, 1)) does not fit on (5, 5)");
  EXPECT_EQ(message<DtypeError>([&] { F::convolution_2d(x, W.astype(Dtype::float16)); }),
            "convolution_2d: x and W must have one floating dtype, not float64 and float16");
  EXPECT_EQ(message<DtypeError>([&] { F::convolution_2d(x, W, zeros({6}, Dtype::float16)); }),
            "convolution_2d: b must be float64 as x, not float16");
  EXPECT_EQ(message<ValueError>([&] { F::convolution_2d(x, W, {.groups = 0}); }),
            "convolution_2d: groups must be at least 1, not 0");
  EXPECT_EQ(message<ValueError>([&] {
              F::convolution_2d(x, W, {.stride = {1, 2, 3}});
            }),
            "convolution_2d: stride must be one number or 2, not (1, 2, 3)");
  EXPECT_EQ(message<ValueError>([&] {
              F::convolution_nd(zeros({2, 3}), zeros({2, 3}));
            }),
            "convolution_nd: windows slide over 1 to 3 axes, not 0");
  EXPECT_EQ(message<ShapeError>([&] { F::deconvolution_2d(x, W); }),
            "deconvolution_2d: x (2, 4, 5, 5) has 4 channels, W (6, 4, 3, 3) takes 6");
  EXPECT_EQ(message<ShapeError>([&] {
              F::deconvolution_2d(x, zeros({4, 2, 3, 3}), {.outsize = {9, 7}});
            }),
            "deconvolution_2d: outsize (9, 7) has from (7, 5) to (7, 5) windows, x (2, 4, 5, 5) has (5, 5)");
  EXPECT_EQ(message<ShapeError>([&] {
              F::depthwise_convolution_2d(x, zeros({2, 3}));
            }),
            "depthwise_convolution_2d: W must be (multiplier, channels, kh, kw), not (2, 3)");
  EXPECT_EQ(message<ShapeError>([&] {
              F::local_convolution_2d(x, zeros({2, 2, 3, 4, 3, 3}));
            }),
            "local_convolution_2d: x (2, 4, 5, 5) has (3, 3) windows, W (2, 2, 3, 4, 3, 3) has filters for (2, 3)");
}

}  // namespace
}  // namespace catenary
