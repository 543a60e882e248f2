// Compares poolings on the current device with sums over single windows in float64.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/indexing.h"
#include "catenary/core/parallel.h"
#include "catenary/core/window.h"
#include "catenary/device/device.h"
#include "tests/device/same.h"

namespace catenary {
namespace {

using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class Lie { c_order, channels_last, backwards };

/// Returns an array with these values in a memory layout.
Array laid(const Shape& shape, const Values& values, Dtype dtype, Lie lie) {
  Array a;
  if (lie == Lie::channels_last) {
    Axes order{0}, back{0, shape.size() - 1};
    for (int i = 2; i < shape.size(); ++i) order.push_back(i);
    for (int i = 2; i < shape.size(); ++i) back.push_back(i - 1);
    order.push_back(1);
    a = Array::empty(permuted(shape, order), dtype).transpose(back);
  } else if (lie == Lie::backwards) {
    Shape wide = shape;
    wide[shape.size() - 1] *= 2;
    a = Array::empty(wide, dtype)(ellipsis, slice(none, none, -1), slice(none, none, -2));
  } else {
    a = Array::empty(shape, dtype);
  }
  EXPECT_EQ(a.shape(), shape);
  const std::vector<float> floats(values.begin(), values.end());
  a.set_at({ellipsis}, Array::from_host(floats.data(), shape, Dtype::float32).astype(dtype));
  return a;
}

/// Returns multiples of 1/8, many of them equal, whose sums are exact in 16-bit floats too.
Values eighths(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  Values values(static_cast<std::size_t>(n));
  for (double& value : values) value = (static_cast<int>(random() % 33) - 16) / 8.0;
  return values;
}

struct PoolingCase {
  const char* name;
  Shape x;
  Window window;
  bool cover_all = false;

  Shape y() const {
    Shape shape{x[0], x[1]};
    for (std::int64_t n : window.counts("test", Shape(x.data() + 2, x.size() - 2), cover_all)) shape.push_back(n);
    return shape;
  }
  /// Calls f(flat index of y, tap, flat index of x) for each tap inside x of each window.
  void each(const std::function<void(std::size_t, std::int32_t, std::size_t)>& f) const {
    const Shape windows = y();
    const int axes = window.axes();
    for (std::int64_t i = 0; i < windows.product(); ++i)
      for (std::int64_t tap = 0; tap < window.taps(); ++tap) {
        std::int64_t rest = i, rest_tap = tap, at = 0, below = 1;
        bool inside = true;
        for (int a = axes - 1; a >= 0; --a) {
          const std::int64_t o = rest % windows[a + 2], t = rest_tap % window.size[a],
                             e = o * window.stride[a] - window.pad[a] + t * window.dilate[a];
          inside = inside && e >= 0 && e < x[a + 2];
          at += e * below;
          below *= x[a + 2];
          rest /= windows[a + 2];
          rest_tap /= window.size[a];
        }
        if (inside)
          f(static_cast<std::size_t>(i), static_cast<std::int32_t>(tap), static_cast<std::size_t>(rest * below + at));
      }
  }
};

std::vector<PoolingCase> poolings() {
  return {{"halves", {2, 3, 8, 34}, Window::make("test", 2, {2}, {2}, {0})},
          {"overlap", {2, 5, 9, 37}, Window::make("test", 2, {3}, {2}, {1})},
          {"cover_all", {1, 19, 8, 6}, Window::make("test", 2, {3, 2}, {2, 3}, {0, 1}), true},
          {"dilate", {2, 3, 9, 21}, Window::make("test", 2, {2, 3}, {1, 2}, {1, 2}, {2, 2})},
          {"gaps", {2, 2, 7, 40}, Window::make("test", 2, {1, 2}, {3, 3}, {0})},
          {"one axis", {2, 4, 45}, Window::make("test", 1, {4}, {3}, {2})},
          {"three axes", {1, 3, 5, 4, 7}, Window::make("test", 3, {2, 3, 2}, {2, 1, 2}, {0, 1, 1}), true},
          {"all", {2, 18, 5, 4}, Window::make("test", 2, {5, 4}, {1}, {0})},
          {"only pads", {1, 1, 2, 2}, Window::make("test", 2, {1}, {1}, {1})},
          {"rows", {1, 1, 1, 70}, Window::make("test", 2, {1, 3}, {1}, {0, 1})}};
}

std::vector<Dtype> dtypes() {
  return testing_devices::small() ? std::vector{Dtype::float32} : testing_devices::float_dtypes();
}

void expect_near(const Array& actual, const Values& expected, const std::string& what) {
  const Values values = actual.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size()) << what;
  const double tolerance = actual.dtype() == Dtype::float32 ? 1e-6 : actual.dtype() == Dtype::float64 ? 1e-14 : 8e-3;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected[i])
            ? std::isnan(values[i])
            : values[i] == expected[i] || std::abs(values[i] - expected[i]) <= tolerance * (1 + std::abs(expected[i])))
      continue;
    FAIL() << what << ": " << values[i] << " at " << i << ", expected " << expected[i];
  }
}

/// Runs f for each case, dtype and pair of layouts. Uses only one pair for dtypes that share kernels.
void for_all(const std::function<void(const PoolingCase&, Dtype, Lie, Lie, const std::string&)>& f) {
  for (const PoolingCase& c : poolings())
    for (const Dtype dtype : dtypes())
      for (const auto& [from, to] : {std::pair(Lie::c_order, Lie::c_order),
                                     {Lie::channels_last, Lie::channels_last},
                                     {Lie::backwards, Lie::c_order},
                                     {Lie::channels_last, Lie::backwards}}) {
        const bool own_loads = is_16bit_float(dtype) && current_device().is_cpu();
        if (dtype != Dtype::float32 && !own_loads && (from != Lie::channels_last || to != Lie::backwards)) continue;
        f(c, dtype, from, to,
          std::string(c.name) + " " + std::string(dtype_name(dtype)) + " " + std::to_string(static_cast<int>(from)) +
              std::to_string(static_cast<int>(to)));
      }
}

struct Maxima {
  Values y;
  std::vector<std::int32_t> places;
};
Maxima maxima(const PoolingCase& c, const Values& x) {
  Maxima found{Values(static_cast<std::size_t>(c.y().product()), -kInfinity), {}};
  found.places.resize(found.y.size());
  c.each([&](std::size_t i, std::int32_t tap, std::size_t at) {
    if (x[at] <= found.y[i] || std::isnan(found.y[i])) return;
    found.y[i] = x[at];
    found.places[i] = tap;
  });
  return found;
}

TEST(Pooling, MaximaWithTheirPlacesAndBack) {
  for_all([](const PoolingCase& c, Dtype dtype, Lie from, Lie to, const std::string& what) {
    Values values = eighths(c.x.product(), 1);
    for (std::size_t i = 3; i < values.size(); i += 17) values[i] = i % 2 ? std::nan("") : -kInfinity;
    const Maxima expected = maxima(c, values);
    const Values zeros(expected.y.size());
    const Array x = laid(c.x, values, dtype, from), y = laid(c.y(), zeros, dtype, to),
                places = laid(c.y(), zeros, Dtype::int32, to), alone = laid(c.y(), zeros, dtype, from);
    const View taps = writable(places);
    compute(x.device(), primitives::Pool{Pooling::max, c.window, readable(x), writable(y), &taps});
    compute(x.device(), primitives::Pool{Pooling::max, c.window, readable(x), writable(alone)});
    expect_near(y, expected.y, what);
    expect_near(alone, expected.y, what + " without places");
    EXPECT_EQ(places.to_vector<std::int32_t>(), expected.places) << what;

    const Values gradients = eighths(c.y().product(), 2);
    const Array gy = laid(c.y(), gradients, dtype, to);
    for (const bool accumulate : {false, true}) {
      Values expected_gx(values.size(), accumulate ? 1 : 0);
      c.each([&](std::size_t i, std::int32_t tap, std::size_t at) {
        if (expected.places[i] == tap) expected_gx[at] += gradients[i];
      });
      const Array gx = laid(c.x, Values(values.size(), 1), dtype, from);
      compute(x.device(), primitives::PoolBack{Pooling::max, c.window, readable(gy), writable(gx), &taps, accumulate});
      expect_near(gx, expected_gx, what + " back");
    }

    const Values others = eighths(c.x.product(), 3);
    Values picked(expected.y.size());
    c.each([&](std::size_t i, std::int32_t tap, std::size_t at) {
      if (expected.places[i] == tap) picked[i] = others[at];
    });
    const Array other = laid(c.x, others, dtype, from);
    compute(x.device(), primitives::PoolPick{c.window, readable(other), taps, writable(y)});
    expect_near(y, picked, what + " picked");
  });
}

TEST(Pooling, SumsAndAveragesAndBack) {
  for_all([](const PoolingCase& c, Dtype dtype, Lie from, Lie to, const std::string& what) {
    const Values values = eighths(c.x.product(), 4), gradients = eighths(c.y().product(), 5);
    const Array x = laid(c.x, values, dtype, from), gy = laid(c.y(), gradients, dtype, to);
    Values inside(gradients.size());
    c.each([&](std::size_t i, std::int32_t, std::size_t) { ++inside[i]; });
    for (const Pooling op : {Pooling::average, Pooling::average_inside, Pooling::sum}) {
      const auto divisor = [&](std::size_t i) {
        return op == Pooling::average ? static_cast<double>(c.window.taps()) : op == Pooling::sum ? 1 : inside[i];
      };
      Values expected(gradients.size()), expected_gx(values.size(), 1);
      c.each([&](std::size_t i, std::int32_t, std::size_t at) {
        expected[i] += values[at];
        expected_gx[at] += gradients[i] / divisor(i);
      });
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] /= divisor(i);
      const Array y = laid(c.y(), Values(expected.size()), dtype, to),
                  gx = laid(c.x, Values(values.size(), 1), dtype, from);
      compute(x.device(), primitives::Pool{op, c.window, readable(x), writable(y)});
      expect_near(y, expected, what);
      compute(x.device(), primitives::PoolBack{op, c.window, readable(gy), writable(gx), nullptr, true});
      expect_near(gx, expected_gx, what + " back");
    }
  });
}

TEST(Pooling, HasTheSameBitsForAnyNumberOfThreads) {
  const int threads = num_threads();
  const PoolingCase c{"threads", {4, 16, 33, 32}, Window::make("test", 2, {3}, {2}, {1})};
  const Values values = eighths(c.x.product(), 6), gradients = eighths(c.y().product(), 7);
  for (const Lie lie : {Lie::c_order, Lie::channels_last}) {
    std::vector<Array> results;
    for (const int n : {1, 3}) {
      set_num_threads(n);
      const Array x = laid(c.x, values, Dtype::float32, lie) * 0.37, y = laid(c.y(), gradients, Dtype::float32, lie),
                  gx = laid(c.x, values, Dtype::float32, lie);
      const Array gy = y * 0.73;
      compute(x.device(), primitives::Pool{Pooling::average_inside, c.window, readable(x), writable(y)});
      compute(x.device(), primitives::PoolBack{Pooling::average_inside, c.window, readable(gy), writable(gx)});
      results.push_back(y);
      results.push_back(gx);
    }
    set_num_threads(threads);
    EXPECT_TRUE(testing_devices::same(results[0], results[2]));
    EXPECT_TRUE(testing_devices::same(results[1], results[3]));
  }
}

}  // namespace
}  // namespace catenary
